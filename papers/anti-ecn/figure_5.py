"""Figures 5 and 6: Figures 3 and 4 at 200 ms, where the paper says that similar conclusions hold."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import evolution
import figure_3
from longfat.paper import Answer, Experiment, Scale
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="figure-5",
    title="Figures 5 and 6: a lone flow over time, 200 ms",
    question="Is it the same where the round trip is longer?",
    by=("time",),
)
RTT_MS = 200


def points(scale: Scale) -> Iterator[Point]:
    """The runs of Table I."""
    yield from figure_3.points(scale, RTT_MS)


def measure(run: Measured) -> list[Row]:
    """Window, room and utilisation over time."""
    return evolution.evolution(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Slopes, cuts, and where packets find room."""
    return evolution.answers(rows, FIGURE.id)


def draw(rows: pl.DataFrame) -> Figure:
    """Windows on the left, utilisation on the right."""
    return figure_3.draw(rows, RTT_MS, ("5", "6"))
