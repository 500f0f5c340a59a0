"""Utilisation and fairness in the reference network, which the paper mentions."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Point
from shared import largest, smallest

FIGURE = Experiment(
    id="reference",
    title="Use of the bottleneck and fairness in the reference network",
    question="Does Blitz use the bottleneck well, and fairly?",
)
measure = shared.measure
COLUMNS = {
    "utilisation": "utilisation (%)",
    "carried": "completed per arrival (%)",
    "jain": "Jain's index of rates (%)",
    "sent_again": "packets sent again (%)",
}


def points(scale: Scale) -> Iterator[Point]:
    """The reference network."""
    return shared.sweep(scale, ("reference",), seeds=shared.MANY[scale])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The worst bottleneck, at the highest load that the network can carry."""
    high = at(rows, load=0.9)
    blitz = at(high, control="blitz")
    jain = across(high, "control", "jain", keep=["share"])
    jain = jain.with_columns((pl.col("blitz") - pl.col("reno")).alias("over"))
    return {
        "reference/utilisation": smallest(blitz, "utilisation", "share"),
        "reference/goodput": smallest(blitz, "carried", "share"),
        "reference/fairness": smallest(blitz, "jain", "share"),
        "reference/fairness/reno": smallest(jain, "over", "share"),
        "reference/duplicates": per_seed(
            rows, pl.col("sent_again").max(), control="blitz", load=0.6
        ),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Who waits for a timer, and fairness at moderate load."""
    high = at(rows, load=0.9)
    return {
        "reference/waits": largest(at(high, control="blitz"), "timed_out", "share"),
        "reference/waits/reno": largest(at(high, control="reno"), "timed_out", "share"),
        "reference/fairness/moderate": smallest(
            at(rows, control="blitz", load=0.6), "jain", "share"
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Each against the load: means over the seeds, a column for each bottleneck."""
    figure, axes = plots.grid(4, 3, sharex=True, sharey="row", width=12, height=11)
    figure.subplots_adjust(top=0.86)
    loaded = rows.filter(pl.col("load") > 0)
    for column, share in enumerate(shared.SHARES):
        for row, (what, name) in enumerate(COLUMNS.items()):
            panel = axes[row, column]
            drawn.over(panel, loaded, what, factor=100.0, share=share)
            panel.set(xlim=(0, None), ylim=(0, None if what == "sent_again" else 105))
            if column == 0:
                panel.set_ylabel(name)
        axes[0, column].set_title(
            f"bottleneck {150 * share:g} Mbit/s", loc="left", fontsize=12, fontweight="bold"
        )
        axes[3, column].set_xlabel("load: arrivals over capacity")
    plots.legend(figure, axes[0, 0])
    drawn.means(figure, rows, "; shaded: from the smallest to the largest")
    return figure
