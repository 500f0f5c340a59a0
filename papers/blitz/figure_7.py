"""Figure 7: files of 100 kB, and of 10 kB."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import gaps, smallest

FIGURE = Experiment(
    id="figure-7",
    title="Small files never leave slow start",
    question="What does TCP's start cost a file of 20 packets?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """The reference network with both sizes."""
    return shared.sweep(scale, ("reference", "small"))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The gap for both sizes."""
    gap = gaps(rows)
    wide = across(gap, "network", "gap", keep=["share"])
    wide = wide.with_columns((pl.col("small") - pl.col("reference")).alias("wider"))
    return {
        "figure-7/wider/most": smallest(at(wide, share=[0.2, 0.6]), "wider", "share"),
        "figure-7/wider/150": per_seed(wide, "wider", share=1.0),
        "figure-7/above": smallest(at(gap, network="small"), "gap", "share"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Power against arrivals."""
    return drawn.pair(rows, ("reference", "small"))
