"""Fairness, convergence and smoothness among flows of one kind."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import (
    FAIR,
    FLOWS,
    LOSS,
    USED,
    WAIT_P99,
    goodputs,
    lesser,
    of_path,
    ratio,
    variation,
    warmup_s,
)
from longfat.evaluate.cells._scenarios import GROUP as FLOW
from longfat.evaluate.cells._scenarios import LINK, dumbbell, flow, link, path, time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

SAME = Source(
    "RFC 9743",
    "it should be explored how flows with the same controller share the capacity",
    "5.1.4",
)
ROUND_TRIPS = Source(
    "RFC 5166",
    "fairness between flows of different round trips is a goal of many new protocols, without consensus on it; "
    "some are less fair in this than standard TCP",
    "2.3.3",
)
CONVERGENCE = Source(
    "RFC 5166",
    "the delta-fair convergence time is how long two flows of the same round trip take from 100/101 and 1/101 "
    "of the capacity to shares of (1 + delta)/2 and (1 - delta)/2",
    "2.3.3",
)
SMOOTH = Source(
    "RFC 5166",
    "oscillations may be measured by the coefficient of variation of a flow's rate, on several time scales",
    "2.2.2",
)

_BIT_S, _RTT = 100e6, 0.04
_DELTA = 0.1
_WINDOW_S = 1.0
_RATIOS = ((1, False), (2, True), (4, False), (8, True), (16, False))
_SHORT_RTT = 0.02


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [
        *(_shares(count, full_only) for count, full_only in ((2, True), (4, False), (16, True))),
        *(_round_trips(times, full_only) for times, full_only in _RATIOS),
        *(
            _joins(bit_s, full_only)
            for bit_s, full_only in ((20e6, True), (100e6, False), (1e9, True))
        ),
        *(
            _staggered(count, full_only)
            for count, full_only in ((2, True), (4, True), (8, False), (16, True))
        ),
        _smooth(),
    ]


def _shares(count: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(control, bit_s=_BIT_S, rtt=_RTT, duration_s=60.0, flows=count)
        return {"together": Scene(scenario, measure, ("flow_series", "link_series"))}

    def measure(run: Measured) -> Row:
        shares = goodputs(run)
        return {**of_path(run), "fair": run.summary["jain"][FLOW], "least": ratio(shares)}

    least = Measure("least", "the smallest goodput over the largest", "", "more", 0.05)
    return Cell(
        name=f"fairness/{count}-flows",
        title=f"{count} flows of the same kind",
        source=SAME,
        question=f"{count} flows share 100 Mbit/s with a round trip of 40 ms for 60 s, the first third left "
        "out: how evenly?",
        scenes=scenes,
        measures=(FAIR, least, USED, WAIT_P99),
        says="shares with its own kind at an index of {fair}, the smallest getting {least} of the largest",
        briefly="({fair}, {least})",
        charts=(FLOWS,),
        full_only=full_only,
    )


def _round_trips(times: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Two flows with a short round trip and two with a longer one, or for comparison with the same."""
    same = times == 1

    def scenes(control: Control) -> dict[str, Scene]:
        far = _SHORT_RTT * times
        scenario = path(
            90.0,
            30.0,
            {LINK: link(_BIT_S, _SHORT_RTT, bdp=time(far))},
            [
                flow(control, _SHORT_RTT, name="short", count=2),
                flow(control, far, name="long", count=2),
            ],
        )
        return {"together": Scene(scenario, measure, ("flow_series",))}

    def measure(run: Measured) -> Row:
        short, long = (math.fsum(goodputs(run, name)) for name in ("short", "long"))
        share = long / (short + long) if short + long else None
        return {"long": share, "lesser": lesser(share), "favour": short / long if long else None}

    if same:  # Which two are a pair is chance, so there is nothing to judge.
        whose = "two of the four flows"
        told, briefly = "leaves {long} to two of four flows with one round trip", "({long})"
        question = (
            f"Four flows with a round trip of {time(_SHORT_RTT)} share 100 Mbit/s: what do two of them get? "
            "Whatever is not a half is luck, which the cells with other ratios have as well."
        )
    else:
        whose = "the two flows with the long round trip"
        told = "leaves {long} to the flows with the longer round trip, and {lesser} to whoever gets less"
        briefly = "({long}, {lesser})"
        question = (
            f"Two flows with a round trip of 20 ms and two with {time(_SHORT_RTT * times)} share 100 "
            "Mbit/s: what do those with the longer one get? Half would be equal: more or less of it is "
            "judged by what the pair gets that gets less."
        )
    long = Measure("long", f"share of {whose}", "%")
    less = Measure("lesser", "share of the pair that gets less", "%", "more", 0.03)
    favour = Measure("favour", "goodput with the short round trip over that with the long one")
    return Cell(
        name=f"fairness/round-trips-{times}",
        title=f"round trips {times} : 1" if times > 1 else "round trips 1 : 1, for comparison",
        source=ROUND_TRIPS,
        question=question,
        scenes=scenes,
        measures=(long,) if same else (long, less, favour),
        says=told,
        briefly=briefly,
        charts=(FLOWS,),
        full_only=full_only,
    )


def _joins(bit_s: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """A flow that has the link, and one that joins it."""
    begin, duration = 20.0, 80.0
    limit = duration - begin

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = path(
            duration,
            begin,
            {LINK: link(bit_s, _RTT)},
            [
                flow(control, _RTT, name="first"),
                {
                    **flow(control, _RTT, name="second"),
                    "start": {"uniform": [time(begin), time(begin + 5 * _RTT)]},
                },
            ],
        )
        return {"together": Scene(scenario, measure, ("flow_series",))}

    def measure(run: Measured) -> Row:
        return {"until": _until_fair(run, begin, limit), "fair_after": _jain_at_end(run, duration)}

    until = Measure(
        "until",
        "until both are within a tenth of equal shares",
        "s",
        "less",
        1.0,
        0.1,
        censored=limit,
    )
    after = Measure("fair_after", "Jain's index over the last quarter", "", "more", 0.02)
    return Cell(
        name=f"fairness/join-{bit_s / 1e6:g}Mbit",
        title=f"a second flow joins at {bit_s / 1e6:g} Mbit/s",
        source=CONVERGENCE,
        question="One flow has the link and another joins it after 20 s: how long until both get, over a "
        "second, between 0.45 and 0.55 of what they get together (delta = 0.1)? The newcomer begins with "
        "nothing.",
        scenes=scenes,
        measures=(until, after),
        says="takes {until} to share equally with a newcomer of its kind",
        briefly="({until})",
        charts=(FLOWS,),
        full_only=full_only,
    )


def _until_fair(run: Measured, begin: float, limit: float) -> float:
    """When two flows first have nearly equal shares over a second, counted from `begin`."""
    series = {str(flow): rows for flow, rows in _by_flow(run).items()}
    (first, second) = (dict(series[name]) for name in ("first[0]", "second[0]"))
    times = sorted(set(first) & set(second))
    step = times[1] - times[0] if len(times) > 1 else _WINDOW_S
    width = max(1, round(_WINDOW_S / step))
    for end in range(width, len(times) + 1):
        window = times[end - width : end]
        a, b = (math.fsum(one[when] for when in window) for one in (first, second))
        if a + b > 0 and abs(a / (a + b) - 0.5) <= _DELTA / 2:
            return min(limit, max(0.0, window[-1] - begin))
    return limit


def _by_flow(run: Measured) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    series = run.table("flow_series")
    for name, when, got in zip(
        series["flow"].to_list(),
        series["time_s"].to_list(),
        series["throughput_bit_s"].to_list(),
        strict=True,
    ):
        found.setdefault(str(name), []).append((when, got))
    return found


def _jain_at_end(run: Measured, duration: float) -> float | None:
    from longfat.fairness import jain

    return jain(
        math.fsum(got for when, got in rows if when > 0.75 * duration)
        for rows in _by_flow(run).values()
    )


def _staggered(count: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Flows that come one after the other."""
    apart, rest = 5.0, 40.0
    last = apart * (count - 1)
    duration = last + rest

    def scenes(control: Control) -> dict[str, Scene]:
        starts = {"spread": ["0 s", time(last)]}
        scenario = path(
            duration,
            last + rest / 2,
            {LINK: link(_BIT_S, _RTT)},
            [{**flow(control, _RTT, count=count), "start": starts}],
        )
        return {"together": Scene(scenario, measure, ("flow_series",))}

    def measure(run: Measured) -> Row:
        shares = goodputs(run)
        newest, oldest = shares[-1], shares[0]
        both = newest + oldest
        return {
            "fair": run.summary["jain"][FLOW],
            "newest": newest / both if both else None,
            "loss": run.link()["drop_rate"],
        }

    newest = Measure("newest", "what the newest gets of what it and the oldest get", "%", None)
    return Cell(
        name=f"fairness/staggered-{count}",
        title=f"{count} flows, one every 5 s",
        source=SAME,
        question=f"{count} flows begin 5 s after one another on 100 Mbit/s: how even are they 20 to 40 s "
        "after the last has begun?",
        scenes=scenes,
        measures=(FAIR, newest, LOSS),
        says=f"shares at an index of {{fair}} when {count} flows have come one after the other",
        briefly="({fair})",
        charts=(FLOWS,),
        full_only=full_only,
    )


def _smooth() -> Cell:
    """How steady one flow among four is."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(control, bit_s=_BIT_S, rtt=_RTT, duration_s=60.0, flows=4, samples=600)
        return {"together": Scene(scenario, measure, ("flow_series",))}

    def measure(run: Measured) -> Row:
        rates = {
            name: [got for when, got in rows if when > warmup_s(run)]
            for name, rows in _by_flow(run).items()
        }
        short = [variation(values) for values in rates.values()]
        long = [variation(_averaged(values, 50)) for values in rates.values()]
        return {"short": _mean(short), "long": _mean(long)}

    short = Measure("short", "coefficient of variation over 0.1 s", "%", "less", 0.05, 0.1)
    long = Measure("long", "coefficient of variation over 5 s", "%", "less", 0.05, 0.1)
    return Cell(
        name="fairness/smoothness",
        title="smoothness of one flow among four",
        source=SMOOTH,
        question="Four flows share 100 Mbit/s with a round trip of 40 ms: how much does the throughput of "
        "each vary, over 0.1 s and over 5 s?",
        scenes=scenes,
        measures=(short, long),
        says="varies by {short} of its mean over 0.1 s, and by {long} over 5 s",
        briefly="({short}, {long})",
        charts=(FLOWS,),
    )


def _averaged(values: list[float], width: int) -> list[float]:
    return [
        math.fsum(values[at : at + width]) / width
        for at in range(0, len(values) - width + 1, width)
    ]


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


GROUP = Group(
    "fairness",
    "Fairness and convergence",
    "Flows of one kind: equal shares, different round trips, newcomers, smoothness.",
    _cells,
)
