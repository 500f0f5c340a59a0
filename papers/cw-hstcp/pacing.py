"""Block pacing on and off, which the paper did not test."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import mean_and_half
from longfat.paper import (
    Answer,
    Experiment,
    Measured,
    Point,
    Row,
    Scale,
    across,
    at,
    per_seed,
    plots,
)
from setting import cw, dumbbell, shares

FIGURE = Experiment(
    id="pacing",
    title="CW-HSTCP with and without block pacing",
    question="Do blocks save losses?",
)
KINDS = {"none": "at once", "blocks": "blocks, as the paper", "spread": "spread evenly"}


def points(_: Scale) -> Iterator[Point]:
    """Blocks as the paper has them, none, and an even spread to compare: at 100 Mbit/s at both scales."""
    for kind in KINDS:
        change = {} if kind == "blocks" else {"flow.fast.pacing": kind}
        yield dumbbell("quick", cw(10), set=change, pacing=kind)


def measure(run: Measured) -> Row:
    """Losses, shares, queue."""
    long = run.flows("fast")[1:]
    lost, sent = (sum(flow[name] for flow in long) for name in ("data_dropped", "data_sent"))
    return shares(run) | {"long_loss": lost / sent}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Blocks against none, run by run."""
    loss = across(rows, "pacing", "long_loss", keep=[])
    jain = across(rows, "pacing", "jain", keep=[])
    return {
        "pacing/loss": per_seed(loss, pl.col("blocks") / pl.col("none")),
        "pacing/fairness": per_seed(jain, pl.col("blocks") - pl.col("none")),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Losses, fairness and use of the link."""
    figure, axes = plots.grid(1, 3, width=13, height=5.2)
    for panel, column, label, factor in zip(
        axes[0],
        ("long_loss", "jain", "utilisation"),
        ("lost of 140 and 200 ms (%)", "Jain's index", "link used (%)"),
        (100, 1, 100),
        strict=True,
    ):
        for place, kind in enumerate(KINDS):
            mean, half = mean_and_half(at(rows, pacing=kind)[column].to_list())
            panel.errorbar(
                place, factor * mean, yerr=factor * half, color=plots.colour("cw-hstcp"), marker="<",
                markersize=8, capsize=4,
            )  # fmt: skip
        panel.set_xticks(range(3), ["at once", "blocks", "spread"])
        panel.set(ylabel=label, xlim=(-0.5, 2.5))
        panel.set_ylim(0, None if column == "long_loss" else 1.05 * factor)
    return figure
