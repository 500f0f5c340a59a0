"""Range: one flow on one path, over everything that paths of the Internet are.

One quantity at a time is varied around a path in the middle, 100 Mbit/s with a round trip of 50 ms and a
buffer of one bandwidth-delay product; corners combine extremes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import (
    FAIR,
    LOSS,
    PATH_MEASURES,
    QUEUE,
    SERIES,
    THROUGHPUT,
    USED,
    WAIT_P99,
    of_path,
)
from longfat.evaluate.cells._scenarios import GROUP as FLOWS
from longfat.evaluate.cells._scenarios import dumbbell, name_of, rate, time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

RANGE = Source(
    "RFC 9743",
    "criteria are to be evaluated over a representative range of bandwidths, delays and queue depths",
    "6",
)
BLOAT = Source(
    "RFC 9743", "a controller should not maintain excessive queues in the network", "5.1.2"
)
HIGH_DELAY = Source(
    "RFC 9743", "paths may have far longer delays than most, such as over satellites", "7.5"
)
SHALLOW = Source(
    "RFC 9743",
    "a controller should not cause high loss, as BBRv1 did where several flows met a buffer below about one "
    "and a half bandwidth-delay products",
    "5.1.3",
)
DATA_CENTRE = Source("RFC 9743", "data centres have latencies below 2 ms", "7.11")


@dataclass(frozen=True)
class _Path:
    bit_s: float
    rtt: float
    buffer: str
    duration_s: float
    source: Source = RANGE
    full_only: bool = False


_PATHS = (
    _Path(64e3, 0.1, "1250 ms", 240.0),
    _Path(1e6, 0.05, "1 bdp", 120.0, full_only=True),
    _Path(10e6, 0.05, "1 bdp", 90.0),
    _Path(100e6, 0.05, "1 bdp", 60.0),
    _Path(1e9, 0.05, "1 bdp", 30.0),
    _Path(10e9, 0.05, "1 bdp", 15.0, full_only=True),
    _Path(100e9, 0.05, "1 bdp", 6.0, full_only=True),
    _Path(100e6, 0.001, "1 bdp", 15.0, DATA_CENTRE, full_only=True),
    _Path(1e9, 0.001, "1 bdp", 6.0, DATA_CENTRE),
    _Path(100e6, 0.01, "1 bdp", 40.0, full_only=True),
    _Path(100e6, 0.2, "1 bdp", 90.0),
    _Path(100e6, 0.6, "1 bdp", 180.0, HIGH_DELAY, full_only=True),
    _Path(20e6, 1.0, "1 bdp", 300.0, HIGH_DELAY),
    _Path(100e6, 0.05, "0.01 bdp", 60.0),
    _Path(100e6, 0.05, "0.05 bdp", 60.0, full_only=True),
    _Path(100e6, 0.05, "0.2 bdp", 60.0),
    _Path(100e6, 0.05, "5 bdp", 60.0, BLOAT),
    _Path(100e6, 0.05, "20 bdp", 60.0, BLOAT, full_only=True),
    _Path(10e6, 0.02, "20 bdp", 60.0, BLOAT),
    _Path(1e6, 1.0, "5 bdp", 300.0, HIGH_DELAY, full_only=True),
    _Path(1e9, 0.2, "0.1 bdp", 60.0, full_only=True),
    _Path(10e9, 0.2, "0.05 bdp", 30.0, full_only=True),
)

_MANY = ((4, "0.5 bdp", False), (16, "0.5 bdp", True), (4, "0.1 bdp", True))


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [_one(path) for path in _PATHS] + [_several(*each) for each in _MANY]


def _one(path: _Path) -> Cell:
    """A cell with one flow."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control,
            bit_s=path.bit_s,
            rtt=path.rtt,
            duration_s=path.duration_s,
            buffer=path.buffer,
        )
        return {"alone": Scene(scenario, of_path, SERIES)}

    buffer = path.buffer.upper() if "bdp" in path.buffer else path.buffer
    return Cell(
        name=f"range/{name_of(path.bit_s)}-{_word(time(path.rtt))}-{_word(path.buffer)}",
        title=f"{rate(path.bit_s)}, {time(path.rtt)}, buffer of {buffer}",
        source=path.source,
        question=f"One flow for {path.duration_s:g} s, the first third left out: how much of the link does "
        "it use, how long do packets wait, how many are lost, and how steady is it?",
        scenes=scenes,
        measures=tuple(_scaled(measure, path.rtt) for measure in PATH_MEASURES),
        says="uses {used} of the link, and for 99 % of the time packets wait at most {wait_p99}",
        briefly="({used}, {wait_p99})",
        charts=(THROUGHPUT, QUEUE),
        full_only=path.full_only,
    )


def _scaled(measure: Measure, rtt: float) -> Measure:
    """A waiting time matters from a fiftieth of the round trip on."""
    return replace(measure, matters=rtt / 50) if measure.unit == "s" else measure


def _several(count: int, buffer: str, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """A cell with several flows in a shallow buffer."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control, bit_s=100e6, rtt=0.05, duration_s=60.0, flows=count, buffer=buffer
        )
        return {"together": Scene(scenario, _of_several, SERIES)}

    return Cell(
        name=f"range/{count}-flows-{_word(buffer)}",
        title=f"{count} flows, 100 Mbit/s, 50 ms, buffer of {buffer.upper()}",
        source=SHALLOW,
        question=f"{count} flows of the same kind in a shallow buffer for 60 s: how many packets do they lose?",
        scenes=scenes,
        measures=(LOSS, USED, WAIT_P99, FAIR),
        says="loses {loss} of its packets in a shallow buffer, and uses {used} of the link",
        briefly="({loss}, {used})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


def _of_several(run: Measured) -> Row:
    return {**of_path(run), "fair": run.summary["jain"][FLOWS]}


def _word(text: str) -> str:
    return text.replace(" ", "")


GROUP = Group(
    "range",
    "Range",
    "One flow on one link, from 64 kbit/s to 100 Gbit/s, from 1 ms to 1 s, with buffers from a hundredth of "
    "the bandwidth-delay product to twenty of them.",
    _cells,
)
