"""Harm: what incumbents lose beside a controller, against what they lose beside their own kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat.evaluate.cells._cell import Cell, Chart, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import buffer_s, goodputs, total
from longfat.evaluate.cells._scenarios import (
    LINK,
    around,
    flow,
    link,
    name_of,
    packet_of,
    path,
    rate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Line, Row
    from longfat.study import Measured

WARE = Source(
    "Ware, Mukerjee, Seshan and Sherry, HotNets 2019",
    "harm is the share of its performance alone that a flow loses to another; a new controller may do as "
    "much harm to an incumbent as the incumbent does to itself",
)
FRIENDLY = Source(
    "RFC 9743",
    "a controller must be evaluated beside standard ones, and harm includes latency and loss",
    "5.2.1",
)

_RTT = 0.04
_OLD, _NEW, _SHORT = "incumbent", "newcomer", "short"
_PATHS = (
    (1e6, "1 bdp", 120.0, True),
    (10e6, "1 bdp", 60.0, False),
    (100e6, "0.2 bdp", 45.0, True),
    (100e6, "1 bdp", 45.0, False),
    (100e6, "5 bdp", 45.0, True),
    (1e9, "1 bdp", 20.0, False),
    (10e9, "1 bdp", 10.0, True),
)


def _cells(incumbents: Mapping[str, Control]) -> list[Cell]:
    return [_beside(name, control, on) for on in _PATHS for name, control in incumbents.items()]


def _beside(name: str, incumbent: Control, on: tuple[float, str, float, bool]) -> Cell:
    """Two flows of an incumbent and its short ones, alone and beside two flows of another controller."""
    bit_s, buffer, duration, full_only = on
    packet = f"{packet_of(bit_s)} B"

    def scenario(newcomer: Control | None) -> dict[str, Any]:
        flows = [flow(incumbent, _RTT, name=_OLD, count=2, packet=packet)]
        if newcomer is not None:
            flows.append(flow(newcomer, _RTT, name=_NEW, count=2, packet=packet))
        short = {
            "name": _SHORT,
            "control": incumbent,
            "path": [LINK],
            "arrivals": {"load": "5 %"},
            "size": f"{max(3, round(bit_s / 8 / 1500 / 50))} packets",
            "rtt": around(_RTT),
            "packet": packet,
        }
        return path(
            duration, duration / 3, {LINK: link(bit_s, _RTT, buffer=buffer)}, flows, traffic=[short]
        )

    def scenes(control: Control) -> dict[str, Scene]:
        return {
            "mixed": Scene(scenario(control), _measured, ("flow_series",)),
            "solo": Scene(scenario(None), _measured),
        }

    return Cell(
        name=f"harm/{_word(name)}-{name_of(bit_s)}-{buffer.replace(' ', '')}",
        title=f"beside {name}: {rate(bit_s)}, buffer of {buffer.upper()}",
        source=WARE if buffer == "1 bdp" else FRIENDLY,
        question=f"Two flows of {name}, and short ones of its kind, have {rate(bit_s)} with a round trip of "
        "40 ms; then two flows of the controller are beside them. Which share of their goodput do they lose, "
        "of their speed, and how much of the delay is new? Below zero is a gain. The yardstick is "
        f"{name} in the newcomer's place.",
        scenes=scenes,
        measures=_MEASURES,
        says=f"flows of {name} {{lose:goodput}} of their goodput beside {{name}}, and short ones "
        "{lose:completion} of their speed",
        briefly="beside {name} itself they {lose:goodput}, and short ones {lose:completion}",
        charts=(_CHART,),
        combine=_harm,
        beside=name,
        full_only=full_only,
    )


_MEASURES = (
    Measure("goodput", "harm to goodput", "%", "less", 0.05),
    Measure("delay", "harm to the 99th percentile of the delay", "%", "less", 0.05),
    Measure(
        "completion",
        "harm to the speed of short flows, by their mean completion time",
        "%",
        "less",
        0.05,
    ),
    Measure(
        "share",
        "what two flows of the incumbent keep of the goodput of all four",
        "%",
        "more",
        0.05,
    ),
)


def _measured(run: Measured) -> Row:
    """The performance of the incumbent: goodput (bit/s), delay (s), completion times (s)."""
    newcomers = [flow for flow in run.flows() if flow["name"].startswith(_NEW)]
    theirs = math.fsum(float(each["goodput_bit_s"]) for each in newcomers)
    ours = math.fsum(goodputs(run, _OLD))
    completion = run.summary["traffic"][_SHORT]["completion_s"]
    waiting = run.link()["queue_p99"]
    return {
        "goodput": ours,
        "delay": _RTT + (waiting or 0.0) * buffer_s(run),
        "completion": None if completion is None else completion["mean"],
        "share": ours / (ours + theirs) if ours + theirs else None,
    }


def _harm(scenes: Mapping[str, Row]) -> Row:
    """(solo - mixed)/solo where more is better, (mixed - solo)/mixed where less is."""
    mixed, solo = scenes["mixed"], scenes["solo"]
    return {
        "goodput": _lost(solo["goodput"], mixed["goodput"]),
        "delay": _lost(mixed["delay"], solo["delay"]),
        "completion": _lost(mixed["completion"], solo["completion"]),
        "share": mixed["share"],
    }


def _lost(more: float | None, less: float | None) -> float | None:
    """Which share of the first the second lacks."""
    return None if not more or less is None else (more - less) / more


def _both(run: Measured) -> Mapping[str, Line]:
    lines: dict[str, Line] = {}
    for group, name in ((_OLD, "incumbents"), (_NEW, "newcomers")):
        times, values = total(run, group, from_s=0.0)
        lines[name] = (times, list(values))
    return lines


_CHART = Chart("throughput", "bit/s", _both, alone=True)


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name).strip("-")


GROUP = Group(
    "harm",
    "Harm to incumbents",
    "What flows of each incumbent lose beside the controller, from 1 Mbit/s to 10 Gbit/s, against what they "
    "lose beside their own kind.",
    _cells,
)
