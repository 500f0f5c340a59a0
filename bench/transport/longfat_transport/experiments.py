"""What is simulated, and what is measured in a run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from longfat.shipped import checkout
from longfat.study import Point
from longfat_forms.sampling import estimates, told
from longfat_peers._grid import GRID
from longfat_peers._runs import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from longfat.study import Cache, Measured

Row = dict[str, Any]

TIMERS: dict[str, dict[str, str]] = {
    "never": {"rto_restart": "never"},
    "first": {"rto_restart": "first"},
    "each": {"rto_restart": "each"},
    "linux": {"rto_restart": "first", "rto_estimator": "linux"},
}
"""The retransmission timers that are compared: what each sets in the flow."""

ROUND_TRIPS_S = (0.01, 0.1, 0.3, 1.0)
FLOWS = (1, 4, 16, 100)
BUFFERS = (0.1, 0.5, 1.0, 2.0)
"""Buffers in bandwidth-delay products."""

PACKET_TIME_S = 0.01
"""How long a packet takes on the slow link of the phase effects."""


@dataclass(frozen=True)
class Experiment:
    """A scenario, and what is measured.

    Attributes:
        part: The table or picture that it is for.
        at: What distinguishes it there.
        scenario: What is simulated.
        measure: What is measured in a run, by name.
        seeds: How many seeds.
        set: Fields to set first.
    """

    part: str
    at: dict[str, float | str]
    scenario: Path | Mapping[str, Any]
    measure: Callable[[Measured], dict[str, float]]
    seeds: int
    set: Mapping[str, Any] = field(default_factory=dict)


def measured(
    experiments: Sequence[Experiment],
    *,
    cache: Cache | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> list[Row]:
    """A row for each quantity of each experiment: mean, half of the 95 % interval, number of seeds."""
    points = [Point(each.scenario, set=each.set, seeds=each.seeds) for each in experiments]
    measures = [each.measure for each in experiments]
    found = estimates(points, measures, cache=cache, progress=progress)
    return [
        {"part": each.part, "at": each.at, "what": what, **told(value)}
        for each, values in zip(experiments, found, strict=True)
        for what, value in values.items()
    ]


def everything() -> list[Experiment]:
    """All experiments of both pages."""
    return [*grid(), *timers(), *shares(), *paced()]


def _timed(run: Measured) -> dict[str, float]:
    """Time-outs of all flows together, and the share of the link that is used."""
    (link,) = run.summary["links"].values()
    return {
        "timeouts": float(sum(flow["timeouts"] for flow in run.summary["flows"])),
        "utilisation": link["forward"]["utilisation"],
    }


def _settings(timer: str) -> dict[str, str]:
    return {f"flow.forward.{key}": value for key, value in TIMERS[timer].items()}


def grid(seeds: int = 4) -> list[Experiment]:
    """The scenarios in which longfat is compared with ns-2 and ns-3, with two timers."""
    made = []
    for cell, timer in product(GRID, ("never", "first")):
        changes = {key: tomllib.loads(f"x = {value}")["x"] for key, value in cell.changes().items()}
        at: dict[str, float | str] = {"name": cell.name, "timer": timer}
        change = {**changes, **_settings(timer)}
        made.append(Experiment("grid", at, checkout() / FILE, _timed, seeds, change))
    return made


def timers(seeds: int = 3) -> list[Experiment]:
    """Reno flows on 100 Mbit/s, from 10 ms to a second, from one flow to a hundred, for all timers."""
    made = []
    for rtt, flows, buffer, timer in product(ROUND_TRIPS_S, FLOWS, BUFFERS, TIMERS):
        duration = max(60.0, 200 * rtt)
        scenario = {
            "duration": f"{duration:g} s",
            "warmup": f"{duration / 4:g} s",
            "link": {"link": {"rate": "100 Mbit/s", "delay": "1 ms", "buffer": f"{buffer:g} bdp"}},
            "flow": [
                {
                    "name": "forward",
                    "control": "reno",
                    "count": flows,
                    "path": ["link"],
                    "rtt": f"{1e3 * rtt:g} ms",
                    "start": {"uniform": ["0 s", "5 s"]},
                }
            ],
        }
        at: dict[str, float | str] = {"rtt": rtt, "flows": flows, "buffer": buffer, "timer": timer}
        made.append(Experiment("timers", at, scenario, _timed, seeds, _settings(timer)))
    return made


def shares(step: float = 0.125, seeds: int = 5) -> list[Experiment]:
    """Two Reno flows on a slow link, one with a longer round trip: which share has that one?"""
    red = {"kind": "red", "ecn": False, "min": "3 packets", "max": "9 packets"}
    kinds: dict[str, tuple[str | dict[str, Any], str, int]] = {
        "drop tail": ("drop-tail", "none", 1),
        "drop tail, jitter": ("drop-tail", "10 ms", seeds),
        "RED": (red, "none", seeds),
    }
    made = []
    for (kind, (queue, jitter, runs)), place in product(kinds.items(), range(round(3 / step) + 1)):
        longer = step * place
        scenario = {
            "duration": "350 s",
            "warmup": "50 s",
            "link": {
                "slow": {"rate": "800 kbit/s", "delay": "5 ms", "buffer": "15 packets"},
            },
            "flow": [
                {
                    "name": name,
                    "control": "reno",
                    "path": ["slow"],
                    "rtt": f"{1e6 * rtt:.0f} us",
                    "start": start,
                    "packet": "1000 B",
                    "host_jitter": jitter,
                }
                for name, rtt, start in (
                    ("one", 0.223, "0 s"),
                    ("two", 0.223 + PACKET_TIME_S * longer, "1 s"),
                )
            ],
        }
        at: dict[str, float | str] = {"kind": kind, "longer": longer}
        made.append(Experiment("shares", at, scenario, _share, runs, {"link.slow.queue": queue}))
    return made


def _share(run: Measured) -> dict[str, float]:
    one, two = (flow["goodput_bit_s"] for flow in run.summary["flows"])
    return {"share": two / (one + two)}


def paced(seeds: int = 5) -> list[Experiment]:
    """A paced EXP flow on 200 Mbit/s and 40 ms, over the buffer: how often does it time out?"""
    made = []
    for jitter, buffer in product(("none", "60 us"), range(640, 725, 5)):
        scenario = {
            "duration": "300 s",
            "link": {
                "link": {"rate": "200 Mbit/s", "delay": "10 ms", "buffer": f"{buffer} packets"}
            },
            "flow": [
                {
                    "name": "forward",
                    "control": "exp",
                    "path": ["link"],
                    "rtt": "40 ms",
                    "host_jitter": jitter,
                }
            ],
        }
        at: dict[str, float | str] = {"jitter": jitter, "buffer": buffer}
        runs = 1 if jitter == "none" else seeds
        made.append(Experiment("paced", at, scenario, _timed, runs))
    return made
