"""Starvation: two flows of one kind, one of which meets a delay that is not congestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import FLOWS, buffer_s, goodputs, lesser, warmup_s
from longfat.evaluate.cells._scenarios import LINK, dumbbell, flow, link, path, rate, time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

ARUN = Source(
    "Arun, Alizadeh and Balakrishnan, SIGCOMM 2022",
    "controllers that bound delay may starve flows where the delay varies, for reasons other than "
    "congestion, by more than twice the range that it has at equilibrium",
)

_BIT_S, _RTT = 50e6, 0.04
_JITTERS = ((0.001, True), (0.005, True), (0.02, False), (0.08, False))
_LOW, _HIGH = 0.01, 0.99


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [_jittery(*each) for each in _JITTERS]


def _jittery(most: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    def scenes(control: Control) -> dict[str, Scene]:
        shaky = {
            "rate": rate(20 * _BIT_S),
            "delay": "1 ms",
            "buffer": "unlimited",
            "jitter": time(most),
            "reverse": {"jitter": False},
        }
        both = path(
            60.0,
            20.0,
            {LINK: link(_BIT_S, _RTT, bdp=time(_RTT)), "shaky": shaky},
            [
                flow(control, _RTT, name="steady"),
                flow(control, _RTT, name="shaken", path=["shaky", LINK]),
            ],
        )
        alone = dumbbell(control, bit_s=_BIT_S, rtt=_RTT, duration_s=60.0)
        return {
            "both": Scene(both, _shares, ("flow_series",)),
            "alone": Scene(alone, _range, ("link_series",)),
        }

    def combine(found: Mapping[str, Row]) -> Row:
        span = found["alone"]["range"]
        return {**found["both"], "range": span, "over": most / span if span else None}

    share = Measure("share", "share of the flow with jitter", "%")
    less = Measure("lesser", "share of the flow that gets less", "%", "more", 0.05)
    span = Measure(
        "range", "range of the queueing delay of one flow alone, 1 % to 99 % of the time", "s"
    )
    over = Measure("over", "jitter over that range", "")
    return Cell(
        name=f"starvation/jitter-{time(most).replace(' ', '')}",
        title=f"jitter of up to {time(most)} for one of two flows",
        source=ARUN,
        question="Two flows share 50 Mbit/s with a round trip of 40 ms, and the packets of one are delayed "
        f"by up to {time(most)} more, at random and in order: what does it get? Half would be equal: "
        "more or less of it is judged by what the flow gets that gets less.",
        scenes=scenes,
        measures=(share, less, span, over),
        says="leaves {share} to the flow with jitter, which is {over} times the range of its delay alone, and "
        "{lesser} to whoever gets less",
        briefly="({share}, {over}, {lesser})",
        charts=(FLOWS,),
        combine=combine,
        full_only=full_only,
    )


def _shares(run: Measured) -> Row:
    steady, shaken = (sum(goodputs(run, name)) for name in ("steady", "shaken"))
    share = shaken / (steady + shaken) if steady + shaken else None
    return {"share": share, "lesser": lesser(share)}


def _range(run: Measured) -> Row:
    series = run.table("link_series").filter(link=LINK, direction="forward")
    after = sorted(series.filter(series["time_s"] > warmup_s(run))["queue"].to_list())
    low, high = (after[round(at * (len(after) - 1))] for at in (_LOW, _HIGH))
    return {"range": (high - low) * buffer_s(run)}


GROUP = Group(
    "starvation",
    "Starvation",
    "Two flows of one kind, one of which meets jitter: below and above twice the range of the delay at "
    "equilibrium.",
    _cells,
)
