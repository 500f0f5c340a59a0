"""Long fat paths: filling them, recovering and sharing, with the buffers and the errors that they have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat import fairness
from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import (
    FAIR,
    LOSS,
    QUEUE,
    SERIES,
    THROUGHPUT,
    USED,
    WAIT_P99,
    censored,
    first_above,
    of_path,
    total,
)
from longfat.evaluate.cells._scenarios import GROUP as FLOW
from longfat.evaluate.cells._scenarios import LINK, dumbbell, name_of, packet_of, rate, time
from longfat.units import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

FAT = Source(
    "RFC 9743",
    "some paths have long delays and large products of bandwidth and delay",
    "7.5",
)
TRANSIENT = Source(
    "RFC 9743", "it should be considered what happens at the sudden onset of congestion", "7.8"
)
CHANGE = Source("RFC 9743", "the effect of changes in the path must be evaluated", "7.9")
ERRORS = Source(
    "RFC 3649",
    "standard TCP fills 10 Gbit/s at 100 ms only where at most one packet in some five billion is lost, "
    "an unrealistic requirement of networks",
    "1",
)

_RTT = 0.1
_FULL = 0.9
"""The share of a rate from which on a path counts as filled."""


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [
        *(_fill(*each) for each in _FILLS),
        *(_recover(*each) for each in _RECOVERIES),
        *(_step(*each) for each in _STEPS),
        *(_residual(*each) for each in _ERRORS),
        *(_buffer(*each) for each in _BUFFERS),
        *(_streams(*each) for each in _STREAMS),
    ]


_FILLS = (
    (10e9, 0.01, 5.0, True),
    (10e9, 0.1, 10.0, False),
    (10e9, 0.2, 20.0, True),
    (40e9, 0.1, 6.0, True),
    (100e9, 0.01, 1.0, True),
    (100e9, 0.1, 4.0, False),
    (100e9, 0.2, 6.0, True),
)


def _fill(bit_s: float, rtt: float, duration: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """How long until a new flow has a path."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=rtt,
            duration_s=duration,
            warmup_s=0.0,
            buffer="25 MB",
            flow_keys={"start": "0 s"},
        )
        return {"alone": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        times, values = total(run, from_s=0.0)
        return {
            "until": censored(first_above(times, values, _FULL * bit_s), duration),
            "used": fairness.share(run, link=LINK),
            "loss": fairness.loss_rate(run),
        }

    until = Measure(
        "until", "until the path is filled to 90 %", "s", "less", 2 * rtt, 0.1, censored=duration
    )
    return Cell(
        name=f"long-fat/fill-{name_of(bit_s)}-{_word(time(rtt))}",
        title=f"a new flow at {rate(bit_s)}, {time(rtt)}",
        source=FAT,
        question=f"One flow begins on {rate(bit_s)} with a round trip of {time(rtt)} and a buffer of 25 MB: "
        f"how long until it uses 90 % of it, and how much of the first {duration:g} s?",
        scenes=scenes,
        measures=(until, USED, LOSS),
        says=f"takes {{until}} to fill the path, and uses {{used}} of it in the first {duration:g} s",
        briefly="({until}, {used})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


_RECOVERIES = (
    (1e9, 0.1, 30.0, True),
    (10e9, 0.1, 20.0, False),
    (40e9, 0.1, 10.0, True),
    (10e9, 0.2, 30.0, True),
)


def _recover(bit_s: float, rtt: float, after: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """How long one lost packet is felt."""
    packet = packet_of(bit_s)
    window = round(bit_s * rtt / 8 / packet)
    before = 150 * rtt
    lost_at, pulse = before, 1.5 * 8 * packet / bit_s

    def scenes(control: Control) -> dict[str, Scene]:
        losing: list[dict[str, Any]] = [
            {"at": time(lost_at), "loss": 1.0, "reverse": False},
            {"at": time(lost_at + pulse), "loss": 0.0, "reverse": False},
        ]
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=rtt,
            duration_s=before + after,
            warmup_s=before,
            buffer="1 bdp",
            link_keys={"change": losing},
            flow_keys={"start": "0 s", "initial_threshold": window},
        )
        return {"alone": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        times, values = total(run, from_s=0.0)
        usual = [
            value
            for when, value in zip(times, values, strict=True)
            if 0.75 * before < when <= lost_at
        ]
        level = 0.95 * math.fsum(usual) / len(usual)
        dip = _first_below(times, values, level, after=lost_at)
        back = None if dip is None else first_above(times, values, level, after=dip, over=3)
        return {
            "until": 0.0
            if dip is None
            else censored(None if back is None else back - lost_at, after),
            "used": fairness.share(run, link=LINK),
            "usual": min(math.fsum(usual) / len(usual) / bit_s, 1.0),
        }

    until = Measure(
        "until",
        "until the throughput is 95 % of what it was",
        "s",
        "less",
        2 * rtt,
        0.1,
        censored=after,
    )
    usual = Measure("usual", "capacity used before the loss", "%")
    return Cell(
        name=f"long-fat/recover-{name_of(bit_s)}-{_word(time(rtt))}",
        title=f"one loss at {rate(bit_s)}, {time(rtt)}",
        source=TRANSIENT,
        question=f"One flow has had {rate(bit_s)} with a round trip of {time(rtt)} and a buffer of one "
        f"bandwidth-delay product for {before:g} s, without a slow start beyond it, when a packet is "
        f"destroyed: how long until the throughput is what it was, and how much is used of the {after:g} s "
        "after the loss?",
        scenes=scenes,
        measures=(until, USED, usual),
        says="needs {until} to recover from one lost packet, and uses {used} of the link meanwhile",
        briefly="({until}, {used})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


def _first_below(
    times: list[float], values: list[float], level: float, *, after: float
) -> float | None:
    return next(
        (when for when, value in zip(times, values, strict=True) if when > after and value < level),
        None,
    )


_STEPS = (
    (1e9, 10.0, False),
    (5e9, 2.0, True),
    (10e9, 0.1, False),
    (10e9, 0.5, True),
)


def _step(bit_s: float, factor: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """A capacity that changes once."""
    begin, after, rtt = 10.0, 10.0, 0.05
    new = bit_s * factor
    settled = begin + 2 * rtt

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=rtt,
            duration_s=begin + after,
            warmup_s=settled,
            buffer="10 MB",
            link_keys={"change": [{"at": time(begin), "rate": rate(new)}]},
            flow_keys={"start": "0 s", "packet": "9000 B"},
        )
        return {"alone": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        times, values = total(run, from_s=begin)
        series = run.table("link_series").filter(link=LINK, direction="forward")
        dropped = series.filter(series["time_s"] > begin)["dropped"].sum()
        back = first_above(times, values, _FULL * new, after=settled, over=3)
        return {
            "until": censored(None if back is None else back - begin, after),
            "used": fairness.share(run, link=LINK),
            "dropped": float(dropped),
        }

    until = Measure(
        "until", "until 90 % of the new capacity is used", "s", "less", 4 * rtt, 0.1, censored=after
    )
    dropped = Measure("dropped", "packets dropped after the change", "packets", "less", 100, 0.1)
    up = factor > 1
    way, times = ("up", factor) if up else ("down", 1 / factor)
    asked = "how long until it uses 90 % of the new capacity, and how much" if up else "how much"
    return Cell(
        name=f"long-fat/step-{way}-{times:g}",
        title=f"capacity {way} from {rate(bit_s)} to {rate(new)}",
        source=CHANGE,
        question=f"The link of a flow goes from {rate(bit_s)} to {rate(new)}, with a round trip of 50 ms and a "
        f"buffer of 10 MB: {asked} of it does it use in the 10 s after the change, and how many packets are "
        "dropped in them?",
        scenes=scenes,
        measures=(until, USED, dropped) if up else (USED, dropped),
        says="takes {until} to use the new capacity, {used} of it in the first 10 s, and loses {dropped}"
        if up
        else "uses {used} of what is left in the first 10 s, and loses {dropped}",
        briefly="({until}, {used}, {dropped})" if up else "({used}, {dropped})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


_ERRORS = (
    (10e9, 1e-9, True),
    (10e9, 1e-8, True),
    (10e9, 1e-7, False),
    (10e9, 1e-6, True),
    (10e9, 1e-5, False),
    (40e9, 1e-7, True),
)


def _residual(bit_s: float, loss: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Errors of a fibre."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=_RTT,
            duration_s=20.0,
            flows=4,
            buffer="0.2 bdp",
            link_keys={"loss": loss},
        )
        return {"together": Scene(scenario, of_path, SERIES)}

    return Cell(
        name=f"long-fat/errors-{name_of(bit_s)}-{loss:.0e}".replace("e-0", "e-"),
        title=f"{rate(bit_s)}, 100 ms, one packet in {1 / loss:,.0f} lost",
        source=ERRORS,
        question=f"Four flows share {rate(bit_s)} with a round trip of 100 ms, which destroys one packet in "
        f"{1 / loss:,.0f}: how much do they use?",
        scenes=scenes,
        measures=(USED, WAIT_P99, LOSS),
        says="uses {used} of a path that errs",
        briefly="({used})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


_BUFFERS = ((1, False), (5, True), (50, True))


def _buffer(megabytes: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Buffers as switches have them."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control, bit_s=10e9, rtt=_RTT, duration_s=20.0, flows=4, buffer=f"{megabytes} MB"
        )
        return {"together": Scene(scenario, of_path, SERIES)}

    return Cell(
        name=f"long-fat/switch-{megabytes}MB",
        title=f"10 Gbit/s, 100 ms, a switch with {megabytes} MB",
        source=FAT,
        question=f"Four flows share 10 Gbit/s with a round trip of 100 ms through a switch with {megabytes} "
        f"MB, {percent(megabytes / 125)} of the bandwidth-delay product: how much do they use, and lose?",
        scenes=scenes,
        measures=(USED, LOSS, WAIT_P99),
        says="uses {used} of the path, and loses {loss} of its packets",
        briefly="({used}, {loss})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


_STREAMS = ((1, True), (16, False), (64, True))


def _streams(count: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """One transfer over several connections."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control, bit_s=10e9, rtt=_RTT, duration_s=20.0, flows=count, buffer="25 MB", samples=200
        )
        return {"together": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        return {**of_path(run), "fair": run.summary["jain"][FLOW]}

    return Cell(
        name=f"long-fat/streams-{count}",
        title=f"10 Gbit/s, 100 ms, {count} stream{'s' if count > 1 else ''}",
        source=FAT,
        question=f"{count} flow{'s' if count > 1 else ''} begin on 10 Gbit/s with a round trip of 100 ms "
        "and a buffer of 25 MB: how much do they use after 7 s, and how evenly?",
        scenes=scenes,
        measures=(USED, LOSS, WAIT_P99, FAIR),
        says="uses {used} of the path, at an index of fairness of {fair}",
        briefly="({used}, {fair})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


def _word(text: str) -> str:
    return text.replace(" ", "")


GROUP = Group(
    "long-fat",
    "Long fat paths",
    "10 to 100 Gbit/s over 10 to 200 ms: filling a path, one loss, changes of capacity, residual errors, "
    "buffers of switches, parallel streams.",
    _cells,
)
