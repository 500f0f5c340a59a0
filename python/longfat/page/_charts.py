"""Charts as data: what the script of a page draws, and the drawing that is there without it."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.foreign import shown
from longfat.page import _colours
from longfat.units import COUNT, PLAIN, RATE, TIME, Units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Numbers = np.ndarray[Any, np.dtype[np.float64]]

MOST_NUMBERS = 6_000_000
"""So many numbers a page holds, some 32 MB; lines are thinned beyond."""

_UNITS: dict[str, Units] = {
    "bit/s": RATE,
    "s": TIME,
    "%": ((0.01, "%"),),
    "": COUNT,
    "segments": COUNT,
    "packets": COUNT,
}
_EVEN = 1e-9
_LARGEST = 1e38


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Attributes:
        name: What stands on its button.
        x: Where its samples are, ascending.
        y: Their values, in SI units, shares from 0 to 1; NaN where there is none.
        colour: The number of its colour, from 0; from `COUNT` on it is dashed as well.
        faint: Whether it is one of many, behind others.
        button: Lines with the same text share a button; by default the name.
    """

    name: str
    x: Numbers
    y: Numbers
    colour: int
    faint: bool = False
    button: str = ""


@dataclass(frozen=True)
class Chart:
    """Lines over a common axis.

    Attributes:
        title: What is drawn: `throughput`.
        unit: `bit/s`, `s`, `%` for shares, or a word: `segments`.
        lines: The lines.
        x: What is along it, with its unit.
        start: Where its axis begins at the latest; `None`: where the lines do.
        shaded: Up to here is the warm-up, which averages leave out.
        from_zero: Whether its axis begins at zero.
    """

    title: str
    unit: str
    lines: tuple[Line, ...]
    x: str = "time (s)"
    start: float | None = 0.0
    shaded: float = 0.0
    from_zero: bool = True

    @property
    def units(self) -> Units:
        """What its values are shown in, from large to small."""
        return _UNITS.get(self.unit, PLAIN)

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return sum(len(line.y) for line in self.lines)

    def to_data(self) -> dict[str, Any]:
        """What the script reads: plain data."""
        places: dict[bytes, int] = {}
        xs: list[Any] = []
        lines = []
        for line in self.lines:
            key = line.x.tobytes()
            if key not in places:
                places[key] = len(xs)
                xs.append(_encoded_places(line.x))
            lines.append(
                {
                    "name": shown(line.name),
                    "button": shown(line.button or line.name),
                    "colour": line.colour % _colours.COUNT,
                    "dashed": line.colour >= _colours.COUNT,
                    "faint": line.faint,
                    "x": places[key],
                    "y": _base64(line.y.astype("<f4")),
                }
            )
        return {
            "title": shown(self.title),
            "x": shown(self.x),
            "from": self.start,
            "unit": shown(self.unit),
            "units": self.units,
            "shaded": self.shaded,
            "fromZero": self.from_zero,
            "xs": xs,
            "lines": lines,
        }


def drawable(charts: Iterable[Chart]) -> list[Chart]:
    """Those charts that have something to draw, of their lines those that have.

    Values travel in single precision; what is beyond that is no value.
    """
    found = []
    for chart in charts:
        kept = (
            replace(line, y=np.where(np.abs(line.y) <= _LARGEST, line.y, np.nan))
            for line in chart.lines
        )
        lines = tuple(line for line in kept if np.isfinite(line.y).any())
        if lines:
            found.append(replace(chart, lines=lines))
    return found


def bounded(charts: Sequence[Chart], most: int = MOST_NUMBERS) -> tuple[list[Chart], int]:
    """Charts that fit on a page: where they hold more than `most` numbers, their longest lines are thinned.

    Returns:
        The charts, and to how many samples the longest lines were thinned; 0 if none was.
    """
    lengths = [len(line.y) for chart in charts for line in chart.lines]
    if sum(lengths) <= most:
        return list(charts), 0
    # The largest length for which all fit: short lines keep theirs.
    left, limit = most, 0
    for index, length in enumerate(sorted(lengths)):
        limit = left // (len(lengths) - index)
        if length > limit:
            break
        left -= length
    limit = max(limit, 2)
    return [
        replace(chart, lines=tuple(_thinned_line(line, limit) for line in chart.lines))
        for chart in charts
    ], limit


def thinned(x: Numbers, y: Numbers, columns: int) -> tuple[Numbers, Numbers]:
    """A line with at most two samples in each of so many columns: the least and the largest, where they are.

    A line drawn through these looks as one drawn through all, where a column is a pixel wide: no peak is lost.
    A column whose samples are all NaN keeps one of them, so that a gap stays a gap.
    """
    if len(x) <= 2 * columns:
        return x, y
    edges = np.linspace(x[0], x[-1], columns + 1)[1:-1]
    starts = [0, *np.searchsorted(x, edges).tolist(), len(x)]
    kept: list[int] = []
    for start, end in pairwise(starts):
        if start == end:
            continue
        part = y[start:end]
        finite = np.isfinite(part)
        if not finite.any():
            kept.append(start)
            continue
        low = start + int(np.argmin(np.where(finite, part, math.inf)))
        high = start + int(np.argmax(np.where(finite, part, -math.inf)))
        kept += sorted({low, high})
    return x[kept], y[kept]


def _thinned_line(line: Line, most: int) -> Line:
    x, y = thinned(line.x, line.y, most // 2)
    return replace(line, x=x, y=y)


def _encoded_places(x: Numbers) -> object:
    """Places that are evenly spaced as three numbers, others one by one."""
    if len(x) > 2:  # noqa: PLR2004 - two are as short
        step = (x[-1] - x[0]) / (len(x) - 1)
        even = x[0] + step * np.arange(len(x))
        if step > 0 and np.abs(x - even).max() <= _EVEN * abs(x[-1] - x[0]):
            return {"from": float(x[0]), "step": float(step), "count": len(x)}
    return _base64(x.astype("<f8"))


def _base64(numbers: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")
