"""What is along x in the picture of a study: numbers, on a linear or logarithmic axis, or words."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from longfat import foreign
from longfat.plot import style
from longfat.plot._labels import labels
from longfat.units import RATE, SIZE, TIME, amount, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 30.0
"""Positive numbers that span more than this factor are on a logarithmic axis."""

LETTER = 0.075
"""The inches that a letter takes on an axis and in a legend."""

_UNITS = {"rate": RATE, "time": TIME, "size": SIZE}
_MOST_TICKS = 9
_FEW_DECADES = 3.0
"""Over no more than so many there is a tick at 1, 2 and 5, otherwise one for each decade."""


class Across:
    """What is along x: numbers, on a linear or logarithmic axis, or words."""

    def __init__(self, values: Sequence[Any], size: float | None = None) -> None:
        """Takes the values.

        Args:
            values: What there is along x.
            size: That of their unit where they are results: such numbers lie where they like.
        """
        self.size = size or 1.0
        self._free = size is not None
        numbers = [number_of(value) for value in values if value is not None]
        kinds = {number[1] for number in numbers if number is not None}
        self._words: list[Any] | None = None
        self.kind = ""
        if None in numbers or len(kinds) != 1:
            self._words = list(dict.fromkeys(values))
            return
        self.kind = kinds.pop()
        self._numbers = sorted({number[0] / self.size for number in numbers if number is not None})
        low, high = self._numbers[0], self._numbers[-1]
        self.log = low > 0 and (high / low > WIDE or (not self._free and _geometric(self._numbers)))

    @property
    def crowded(self) -> bool:
        """Whether it is words, too many to stand side by side: names, with nothing between two of them."""
        return self._words is not None and len(self._words) > _MOST_TICKS

    @property
    def least_width(self) -> float:
        """The inches that words need."""
        return 1.2 + 0.19 * len(self._words or ())

    def at(self, value: object) -> float:
        """Where a value is."""
        if self._words is not None:
            return float(self._words.index(value))
        number = number_of(value)
        return math.nan if number is None else number[0] / self.size

    def apply(self, axes: Axes) -> None:
        """Sets up the axis."""
        if self._words is not None:
            names = [foreign.drawn(name) for name in labels(self._words).values()]
            axes.set_xticks(range(len(self._words)), names)
            axes.set_xlim(-0.4, len(self._words) - 0.6)
            if self.crowded:
                axes.tick_params(axis="x", labelrotation=90, labelsize=8)
                axes.grid(visible=True, axis="x", linewidth=0.4)
            return
        if self.log:
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
        if self._free:
            self._apply_free(axes)
            return
        if self._placed:
            axes.set_xticks(self._numbers)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: self._written(x)))
        if self.slanted:
            # Slanted numbers end at their ticks, so that those of the next panel have room.
            axes.tick_params(axis="x", labelrotation=30)
            for label in axes.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")

    @property
    def slanted(self) -> bool:
        """Whether what stands at the ticks is slanted: several quantities with their units."""
        several = self._words is None and len(self._numbers) > _MOST_TICKS // 2
        return several and not self._free and self.kind != ""

    @property
    def between(self) -> float:
        """The inches from the last tick of a panel to the first one of the next that keep them apart."""
        if self._words is not None or self._free or self.slanted:
            return 0.0
        first, last = self._written(self._numbers[0]), self._written(self._numbers[-1])
        return LETTER * 1.15 * (len(first) + len(last) + 2) / 2

    def _written(self, number: float) -> str:
        """A number on the axis."""
        units = _UNITS.get(self.kind)
        return amount(number, units) if units else f"{number:,.6g} {self.kind}".strip()

    def _apply_free(self, axes: Axes) -> None:
        """Round numbers, wherever the results are."""
        low, high = self._numbers[0], self._numbers[-1]
        if self.log:
            few = math.log10(high / low) <= _FEW_DECADES
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
            left, _ = axes.get_xlim()
            if low >= 0 > left:
                axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(FuncFormatter(style.thousands))

    @property
    def _placed(self) -> bool:
        """Whether each number has a tick."""
        count = len(self._numbers)
        return not self._free and (count < _MOST_TICKS or (self.log and count == _MOST_TICKS))

    def thin_out(self, axes: Axes, figure: Figure) -> None:
        """Leaves out numbers on the axis that would run into the one before."""
        if self._words is not None or self.kind or not self.log:
            return
        left, right = axes.get_xlim()
        ticks = [tick for tick in axes.get_xticks() if left <= tick <= right]
        label = axes.xaxis.get_major_formatter()
        inches = axes.get_position().width * figure.get_figwidth()
        low, high = math.log(left), math.log(right)
        kept: list[float] = []
        free = -math.inf
        for tick in ticks:
            at = (math.log(tick) - low) / (high - low) * inches
            half = LETTER * (len(label(tick)) + 1) / 2 * 1.15
            if at - half >= free:
                kept.append(tick)
                free = at + half
        axes.set_xticks(kept)


def _geometric(numbers: Sequence[float]) -> bool:
    """Whether positive numbers grow by factors rather than by steps.

    >>> _geometric([40, 80, 160, 320]), _geometric([10, 20, 30, 40, 50])
    (True, False)
    """
    if len(numbers) < 3:  # noqa: PLR2004 - two numbers tell nothing
        return False
    steps = [b - a for a, b in pairwise(numbers)]
    factors = [math.log(b / a) for a, b in pairwise(numbers)]
    return max(factors) / min(factors) < max(steps) / min(steps)
