"""Block pacing on and off, which the paper did not test: bursts, losses, fairness."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
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
from setting import THREE, cw, dumbbell, shares

FIGURE = Experiment(
    id="pacing",
    title="CW-HSTCP with and without block pacing",
    question="Do blocks smooth bursts, and save losses?",
)
KINDS = {"none": "at once", "blocks": "in blocks", "spread": "spread"}
SAMPLE_MS = 10
QUIET = max(THREE) // SAMPLE_MS
"""Intervals without a drop that part two episodes of loss: the longest round trip."""


def points(scale: Scale) -> Iterator[Point]:
    """Blocks as the paper has them, none, and an even spread to compare."""
    for kind in KINDS:
        pacing = {} if kind == "blocks" else {"flow.fast.pacing": kind}
        point = dumbbell(
            scale,
            cw(10),
            seeds=5 if scale == "quick" else 10,
            set=pacing | {"sample": f"{SAMPLE_MS} ms"},
            pacing=kind,
        )
        yield replace(point, tables=("link_series",))


def measure(run: Measured) -> Row:
    """Losses and shares; how fast the queue rises, and how much is lost at a time."""
    long = run.flows("fast")[1:]
    lost, sent = (sum(flow[name] for flow in long) for name in ("data_dropped", "data_sent"))
    series = run.table("link_series").filter(
        pl.col("direction").cast(pl.String) == "forward", pl.col("time_s") > 50
    )
    rises = series["queue_packets"].diff().drop_nulls()
    when = np.flatnonzero(series["dropped"].to_numpy())
    episodes = 1 + int((np.diff(when) > QUIET).sum()) if len(when) else 0
    return shares(run) | {
        "long_loss": lost / sent,
        "rise": rises.quantile(0.99, interpolation="linear"),
        "episodes": episodes,
        "at_a_time": series["dropped"].sum() / episodes if episodes else 0.0,
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Blocks against none, run by run."""
    beside = {
        column: across(rows, "pacing", column, keep=[])
        for column in ("long_loss", "jain", "rise", "at_a_time")
    }
    ratio = pl.col("blocks") / pl.col("none")
    return {
        "pacing/bursts": per_seed(beside["rise"], ratio),
        "pacing/at-a-time": per_seed(beside["at_a_time"], ratio),
        "pacing/loss": per_seed(beside["long_loss"], ratio),
        "pacing/fairness": per_seed(beside["jain"], pl.col("blocks") - pl.col("none")),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Bursts, losses, fairness and use of the link."""
    figure, axes = plots.grid(1, 5, width=16, height=5.2)
    figure.subplots_adjust(wspace=0.42)
    for panel, (column, label, factor) in zip(
        axes[0],
        (
            ("rise", f"rise of the queue in {SAMPLE_MS} ms,\n99th percentile (packets)", 1),
            ("at_a_time", "lost in one episode (packets)", 1),
            ("long_loss", "lost of 140 and 200 ms (%)", 100),
            ("jain", "Jain's index", 1),
            ("utilisation", "link used (%)", 100),
        ),
        strict=True,
    ):
        for place, kind in enumerate(KINDS):
            mean, half = mean_and_half(at(rows, pacing=kind)[column].to_list())
            panel.errorbar(
                place, factor * mean, yerr=factor * half, color=plots.colour("cw-hstcp"), marker="<",
                markersize=8, capsize=4,
            )  # fmt: skip
        panel.set_xticks(range(3), list(KINDS.values()))
        panel.tick_params(axis="x", labelsize=9)
        panel.set(ylabel=label, xlim=(-0.5, 2.5))
        shares_axis = column in ("jain", "utilisation")
        panel.set_ylim(0, 1.05 * factor if shares_axis else None)
    return figure
