"""Charts as templates print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.page import _colours
from longfat.page._charts import bounded, drawable
from longfat.page._sketch import Sketch, sketch
from longfat.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.page._charts import Chart


@dataclass(frozen=True)
class Key:
    """A button of a chart, which switches lines on and off.

    Attributes:
        name: What stands on it.
        colour: The number of its colour.
        dashed: Whether its lines are dashed.
    """

    name: str
    colour: int
    dashed: bool


@dataclass(frozen=True)
class Drawn:
    """A chart on a page.

    Attributes:
        id: Of its data, once on a page.
        title: What is drawn.
        x: What is along it.
        sketch: Its drawing.
        keys: Its buttons.
        data: What the script reads.
    """

    id: str
    title: str
    x: str
    sketch: Sketch
    keys: list[Key]
    data: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """What its lines are."""
        return [key.name for key in self.keys]


def drawn(charts: Iterable[Chart], prefix: str = "chart") -> tuple[list[Drawn], str]:
    """Prepares charts for a page; those with nothing to draw are left out.

    Args:
        charts: The charts.
        prefix: Of their ids: each group of a page has its own.

    Returns:
        The charts, and a sentence that says what was thinned; empty where nothing was.
    """
    kept, limit = bounded(drawable(charts))
    found = [_drawn(chart, f"{prefix}-{index}") for index, chart in enumerate(kept, start=1)]
    if not limit:
        return found, ""
    return found, (
        "There are more samples than a page should hold: the longest lines are thinned to "
        f"{plural(limit, 'sample')}, the least and the largest of each stretch. The tables in the folder "
        "have all."
    )


def _drawn(chart: Chart, place: str) -> Drawn:
    keys: dict[str, Key] = {}
    for line in chart.lines:
        name = line.button or line.name
        colour, dashed = line.colour % _colours.COUNT, line.colour >= _colours.COUNT
        keys.setdefault(name, Key(name, colour, dashed))
    return Drawn(place, chart.title, chart.x, sketch(chart), list(keys.values()), chart.to_data())
