"""Figure 7: files of 100 kB, and of 10 kB."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import gaps

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
    wider = pl.col("small") - pl.col("reference")
    return {
        "figure-7/wider/most": per_seed(wide, wider.min(), share=[0.2, 0.6]),
        "figure-7/wider/150": per_seed(wide, wider, share=1.0),
        "figure-7/above": per_seed(at(gap, network="small"), pl.col("gap").min()),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Power against arrivals."""
    return drawn.pair(rows, ("reference", "small"))
