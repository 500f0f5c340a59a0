"""What is simulated for each law, and what is measured in a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.study import Point
from longfat_forms import laws
from longfat_forms.sampling import estimates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from longfat.study import Cache, Estimate, Measured

Scenario = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """A scenario and what the law says of it.

    Attributes:
        law: `queues`, `sharing`, `losses` or `buffers`.
        name: What distinguishes it, for tables.
        scenario: What is simulated.
        measure: What is measured in a run, by name.
        theory: What the law says, by the same names.
        at: Where it stands in a picture.
        tables: Tables to measure.
    """

    law: str
    name: str
    scenario: Scenario
    measure: Callable[[Measured], dict[str, float]]
    theory: dict[str, float]
    at: dict[str, float]
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """What an experiment gave.

    Attributes:
        experiment: Which one.
        values: Mean and interval of each measured quantity, by name.
    """

    experiment: Experiment
    values: dict[str, Estimate]


def run(
    experiments: Sequence[Experiment],
    seeds: int,
    *,
    cache: Cache | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> list[Found]:
    """Simulates experiments, each with seeds 1, 2, … and gives means and 95 % confidence intervals."""
    points = [Point(each.scenario, seeds=seeds, tables=each.tables) for each in experiments]
    measures = [each.measure for each in experiments]
    values = estimates(points, measures, cache=cache, progress=progress)
    return [Found(each, value) for each, value in zip(experiments, values, strict=True)]


# Queues: flows of one packet each on a link of 8 Mbit/s, on which a byte takes a microsecond.

BUFFER = 100_000
"""Packets; nothing is ever dropped."""

MEAN_B = 1000
"""Mean size of a packet."""

LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)


def queue(load: float, customers: str, seconds: int) -> Experiment:
    """Poisson arrivals of single packets, all alike (`M/D/1`) or with sizes as if exponential (`M/M/1`)."""
    sizes = ((1.0, 1.0),) if customers == "M/D/1" else laws.LAGUERRE
    packets = [(round(MEAN_B * size), share) for size, share in sizes]
    mean = sum(size * share for size, share in packets)
    rate = load * 1e6 / mean
    traffic = [
        {
            "name": f"size{size}",
            "control": "reno",
            "path": ["wire"],
            "arrivals": {"poisson": f"{rate * share:.9f} /s"},
            "size": "1 packets",
            "packet": f"{size} B",
            "rtt": "10 ms",
        }
        for size, share in packets
    ]
    scenario = {
        "duration": f"{seconds} s",
        "warmup": f"{seconds // 20} s",
        "link": {"wire": {"rate": "8 Mbit/s", "delay": "5 ms", "buffer": f"{BUFFER} packets"}},
        "traffic": traffic,
    }

    def measure(run: Measured) -> dict[str, float]:
        wait = arrived = 0.0
        for size, _ in packets:
            group = run.summary["traffic"][f"size{size}"]
            # Half a round trip of propagation, and its own transmission.
            mean_wait = (group["completion_s"]["mean"] or 0.0) - 5e-3 - size * 1e-6
            wait += group["completed"] * mean_wait
            arrived += group["completed"]
        return {"queue": run.link("wire")["queue_mean"] * BUFFER, "wait_s": wait / arrived}

    waiting = laws.waiting(load, packets)
    theory = {"queue": waiting, "wait_s": waiting / rate}
    return Experiment(
        "queues", f"{customers}, load {load:.0%}", scenario, measure, theory, {"load": load}
    )


def queues(loads: Iterable[float] = LOADS, seconds: int = 2000) -> list[Experiment]:
    """M/D/1 and M/M/1 at each load; busier queues take longer to tell, so their runs are longer."""
    return [
        queue(load, customers, seconds * (2 if load > 0.75 else 1))  # noqa: PLR2004
        for customers in ("M/D/1", "M/M/1")
        for load in loads
    ]


# Sharing: transfers on a link of 100 Mbit/s, where a packet takes 0.12 ms.

SERVICE_S = 1.2e-4

TRANSFER = 200
"""Mean length of a transfer in packets."""

SIZES: dict[str, Any] = {
    "equal sizes": f"{TRANSFER} packets",
    "exponential": {"exponential": {"mean": f"{TRANSFER} packets"}},
    "lognormal": {"lognormal": {"mean": f"{TRANSFER} packets", "sigma": 1.0}},
}


def sharing(load: float, sizes: str, window: int, rtt_ms: float, seconds: int) -> Experiment:
    """Transfers with a window that never changes, large enough to fill the link alone.

    Each active one has a window of packets in the queue, which is served in turns: a round for the window of
    each. A window as long as a transfer ends that: it is served as one, first come, first served.
    """
    scenario = {
        "duration": f"{seconds} s",
        "warmup": f"{seconds // 10} s",
        "link": {
            "wire": {
                "rate": "100 Mbit/s",
                "delay": "0 ms",
                "buffer": "unlimited",
                "reverse": {"rate": "10 Gbit/s"},
            }
        },
        "traffic": [
            {
                "name": "transfers",
                "control": "reno",
                "path": ["wire"],
                "arrivals": {"poisson": f"{load / (TRANSFER * SERVICE_S):.9f} /s"},
                "size": SIZES[sizes],
                "rtt": f"{rtt_ms} ms",
                "initial_window": window,
                "max_window": window,
            }
        ],
    }
    # Sizes are rounded up to whole packets: the exponential becomes geometric, of mean 1/(1 - exp(-1/200)).
    mean = TRANSFER if sizes == "equal sizes" else TRANSFER + 0.5
    load_found, mean_s = load * mean / TRANSFER, mean * SERVICE_S
    if window < TRANSFER:
        response = laws.shared(mean_s, load_found)
        discipline = f"window {window}"
    else:
        square = mean_s**2 * (1 if sizes == "equal sizes" else 2)
        response = mean_s + load_found / mean_s * square / (2 * (1 - load_found))
        discipline = "window ≥ transfer"

    def measure(run: Measured) -> dict[str, float]:
        told = run.summary["traffic"]["transfers"]["completion_s"]
        return {"response_s": told["mean"] - rtt_ms / 2e3}

    return Experiment(
        "sharing", f"{sizes}, load {load:.0%}, {discipline}", scenario, measure,
        {"response_s": response}, {"load": load, "window": window},
    )  # fmt: skip


def shares(loads: Iterable[float] = (0.5, 0.7), seconds: int = 2000) -> list[Experiment]:
    """Processor sharing for each distribution, then first come, first served for two of them."""
    turns = [sharing(load, sizes, 8, 0.5, seconds) for load in loads for sizes in SIZES]
    batch = [
        sharing(load, sizes, 100_000, 0.5, seconds)
        for load in loads
        for sizes in ("equal sizes", "exponential")
    ]
    return turns + batch


# Losses: a lone flow, a round trip of 0.1 s, time-outs of 1 s as RFC 6298 has them.

RTT_S, TIMEOUT_S = 0.1, 1.0

PROBABILITIES = (0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1)


def lossy(p: float, recovery: str, seconds: int) -> Experiment:
    """Independent losses on a link that is never the bottleneck."""
    link = {"rate": "100 Gbit/s", "delay": "0 ms", "buffer": "unlimited", "loss": p}
    scenario = {
        "duration": f"{seconds} s",
        "warmup": "100 s",
        "link": {"wire": {**link, "reverse": {"loss": 0}}},
        "flow": [
            {
                "name": "lone",
                "control": "reno",
                "path": ["wire"],
                "rtt": f"{RTT_S * 1e3:g} ms",
                "rto_min": f"{TIMEOUT_S:g} s",
                "recovery": recovery,
            }
        ],
    }

    def measure(run: Measured) -> dict[str, float]:
        (flow,) = run.flows()
        return {"packets_per_s": flow["data_sent"] / (seconds - 100)}

    theory = {"packets_per_s": laws.pftk(p, RTT_S, TIMEOUT_S)}
    return Experiment(
        "losses",
        recovery,
        scenario,
        measure,
        theory,
        {"p": p, "recovery": float(recovery == "sack")},
    )


def losses(seconds: int = 10_000) -> list[Experiment]:
    """Each way of recovery at each probability."""
    return [
        lossy(p, recovery, seconds)
        for p in PROBABILITIES
        for recovery in ("sack", "newreno", "reno")
    ]


# Small buffers: n flows with different round trips, whose share is a window of some packets.


def small(
    flows: int, buffers: float, window: int, *, paced: bool = False, seconds: int = 150
) -> Experiment:
    """Reno flows in drop tail, with a buffer of `buffers` bandwidth-delay products over √n."""
    product = flows * window
    scenario = {
        "duration": f"{seconds} s",
        "warmup": "50 s",
        "sample": "100 ms",
        "link": {
            "wire": {
                "rate": f"{product * 1500 * 8 * 10} bit/s",
                "delay": "10 ms",
                "buffer": f"{round(buffers * product / math.sqrt(flows))} packets",
            }
        },
        "flow": [
            {
                "name": "reno",
                "control": "reno",
                "count": flows,
                "path": ["wire"],
                "rtt": {"uniform": ["60 ms", "140 ms"]},
                "start": {"uniform": ["0 s", "20 s"]},
                "pacing": "spread" if paced else "none",
            }
        ],
    }

    def measure(run: Measured) -> dict[str, float]:
        import polars as pl

        series = run.table("flow_series").filter(pl.col("time_s") > 50)  # noqa: PLR2004 - the warm-up
        windows = series.group_by("time_s").agg(pl.col("window").sum())["window"]
        variation = pl.col("window").std() / pl.col("window").mean()
        alone = series.group_by("flow").agg(variation.alias("of"))["of"].mean()
        together = _number(windows.std()) / _number(windows.mean())
        return {
            "utilisation": run.link("wire")["utilisation"],
            "in_step": together * math.sqrt(flows) / _number(alone),
        }

    return Experiment(
        "buffers", f"{flows} flows, share {window} packets" + (", paced" if paced else ""), scenario, measure,
        {"utilisation": laws.small_buffer(flows, buffers), "in_step": 1.0},
        {"flows": flows, "buffers": buffers, "window": window, "paced": float(paced)}, ("flow_series",),
    )  # fmt: skip


def _number(value: object) -> float:
    if not isinstance(value, float):
        message = f"a mean or a deviation is a number, not {value!r}: the table of windows is empty"
        raise TypeError(message)
    return value


def buffers() -> list[Experiment]:
    """Small windows, which keep flows apart, and larger ones, which do not."""
    apart = [small(n, size, 12) for n in (16, 64, 256, 1024) for size in (0.5, 1.0, 2.0)]
    together = [small(n, 1.0, 50) for n in (16, 64, 256)]
    return [*apart, *together, small(256, 1.0, 50, paced=True)]
