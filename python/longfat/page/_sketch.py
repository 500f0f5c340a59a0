"""Charts drawn as SVG: what stands on a page without its script, and what is printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from longfat.page import _colours
from longfat.page._charts import thinned
from longfat.units import ruler

if TYPE_CHECKING:
    from longfat.page._charts import Chart, Line, Numbers
    from longfat.units import Units

LEFT, RIGHT, TOP, BOTTOM = 150, 1780, 20, 420
AREA = {
    "width": 1800,
    "height": 470,
    "left": LEFT,
    "right": RIGHT,
    "top": TOP,
    "bottom": BOTTOM,
}
"""The drawing, and in it the place of the lines; whole numbers of its units are fine enough."""

_COLUMNS = 300
_TICKS = 5
_ROOM = 1.05
_STEPS = [1, 2, 2.5, 5, 10]


@dataclass(frozen=True)
class Tick:
    """A number on an axis.

    Attributes:
        at: Where, in units of the drawing.
        label: What stands there.
    """

    at: int
    label: str


@dataclass(frozen=True)
class Stroke:
    """A line.

    Attributes:
        path: As SVG has it.
        colour: The number of its colour.
        dashed: Whether it is dashed.
        faint: Whether it is one of many.
    """

    path: str
    colour: int
    dashed: bool
    faint: bool


@dataclass(frozen=True)
class Sketch:
    """A chart, ready to be written as SVG.

    Attributes:
        strokes: The lines.
        across: Numbers along it.
        up: Numbers at its left.
        shaded: The right end of the warm-up; 0 if there is none.
        unit: The unit of the numbers at its left.
    """

    strokes: list[Stroke]
    across: list[Tick]
    up: list[Tick]
    shaded: int
    unit: str


def sketch(chart: Chart) -> Sketch:
    """Draws a chart that has something to draw."""
    starts = [] if chart.start is None else [chart.start]
    x0 = min([*starts, *(float(line.x[0]) for line in chart.lines)])
    x1 = max(float(line.x[-1]) for line in chart.lines)
    x1 = x1 if x1 > x0 else x0 + 1.0
    values = [line.y[np.isfinite(line.y)] for line in chart.lines]
    low, high = min(float(y.min()) for y in values), max(float(y.max()) for y in values)
    low, high = _range(low, high, from_zero=chart.from_zero)
    across = _Scale(x0, x1, LEFT, RIGHT)
    up = _Scale(low, high, BOTTOM, TOP)
    size, unit, _ = ruler([low, high], chart.units)
    return Sketch(
        [_stroke(line, across, up) for line in chart.lines],
        across.ticks(((1.0, ""),), 2 * _TICKS),
        up.ticks(((size, ""),), _TICKS),
        round(across.at(min(chart.shaded, x1))) if chart.shaded > x0 else 0,
        unit or ("" if chart.unit == "%" else chart.unit),
    )


def _range(low: float, high: float, *, from_zero: bool) -> tuple[float, float]:
    """What the axis shows."""
    if from_zero and low >= 0:
        return 0.0, high * _ROOM or 1.0
    margin = (high - low) * (_ROOM - 1) or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


class _Scale:
    """From numbers to places of the drawing."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._high = low, high
        self._start, self._factor = start, (end - start) / (high - low)

    def at(self, value: float) -> float:
        return self._start + (value - self._low) * self._factor

    def all(self, values: Numbers) -> Numbers:
        return self._start + (values - self._low) * self._factor

    def ticks(self, units: Units, count: int) -> list[Tick]:
        from matplotlib.ticker import MaxNLocator

        size = units[0][0]
        locator = MaxNLocator(count, steps=_STEPS)
        values = np.asarray(locator.tick_values(self._low / size, self._high / size)).tolist()
        span = (self._high - self._low) / size
        shown = [v for v in values if -1e-9 * span <= v - self._low / size <= span * (1 + 1e-9)]
        return [Tick(round(self.at(v * size)), _label(v)) for v in shown]


def _label(value: float) -> str:
    """A round number without what rounding left of it.

    >>> _label(0.30000000000000004), _label(-0.0), _label(2500.0)
    ('0.3', '0', '2500')
    """
    return f"{value:.6g}" if value else "0"


def _stroke(line: Line, across: _Scale, up: _Scale) -> Stroke:
    x, y = thinned(line.x, line.y, _COLUMNS)
    xs, ys = np.rint(across.all(x)), up.all(y)
    parts: list[str] = []
    here: tuple[int, int] | None = None
    for px, py in zip(xs.tolist(), ys.tolist(), strict=True):
        if not math.isfinite(py):
            here = None
            continue
        place = (int(px), round(py))
        if here is None:
            parts.append(f"M{place[0]} {place[1]}h0")
        elif place != here:
            parts.append(f"l{place[0] - here[0]} {place[1] - here[1]}")
        here = place
    return Stroke(
        "".join(parts),
        line.colour % _colours.COUNT,
        line.colour >= _colours.COUNT,
        line.faint,
    )
