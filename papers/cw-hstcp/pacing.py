"""Block pacing on and off, which the paper did not test: bursts, losses, fairness.

Blocks make bursts larger. On a full link, acknowledgments come at its rate and space the packets that they
release; blocks hold those back and then send them all at once.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import THREE, cw, dumbbell, more_losses, shares

FIGURE = Experiment(
    id="pacing",
    title="CW-HSTCP with and without block pacing",
    question="Do blocks smooth bursts, and save losses?",
)
HSTCP = "hstcp"
KINDS = {"none": "none", "blocks": "blocks", "loose": "loose\nblocks", "spread": "spread"}
SAMPLE_MS = 10
SHOWN = {
    "rise": (f"bursts: rise of the queue in\n{SAMPLE_MS} ms, 99th percentile (packets)", 1),
    "at_a_time": ("lost in an episode\nof loss (packets)", 1),
    "long_loss": ("lost of 140 and\n200 ms (%)", 100),
    "jain": ("Jain's index\nof the three flows", 1),
}
"""What is drawn: its name, and the factor that converts it to its unit."""
QUIET = max(THREE) // SAMPLE_MS
"""Intervals without a drop that separate two episodes of loss: the longest round trip."""


def points(scale: Scale) -> Iterator[Point]:
    """Blocks as in the text and as in the pseudo-code, none, and an even spread for comparison; HSTCP."""
    for kind in KINDS:
        pacing = {} if kind in ("blocks", "loose") else {"flow.fast.pacing": kind}
        point = dumbbell(
            scale,
            cw(10) | ({"blocks": "loose"} if kind == "loose" else {}),
            set=pacing | {"sample": f"{SAMPLE_MS} ms"},
            pacing=kind,
        )
        yield replace(point, tables=("link_series",))
    point = dumbbell(scale, "hstcp", set={"sample": f"{SAMPLE_MS} ms"}, pacing=HSTCP)
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
    """Blocks compared with none, run by run."""
    beside = {
        column: across(rows, "pacing", column, keep=[])
        for column in ("long_loss", "jain", "rise", "at_a_time")
    }
    ratio = pl.col("blocks") / pl.col("none")
    loose = pl.col("loose") / pl.col("none")
    return {
        "pacing/loose/bursts": per_seed(beside["rise"], loose),
        "pacing/loose/same": per_seed(beside["rise"], loose),
        "pacing/loose/loss": per_seed(beside["long_loss"], loose),
        "pacing/loose/fairness": per_seed(beside["jain"], pl.col("loose") - pl.col("none")),
        "pacing/spread/bursts": per_seed(beside["rise"], pl.col("spread") / pl.col("none")),
        "pacing/needed": per_seed(beside["rise"], pl.col("none") / pl.col(HSTCP)),
        "pacing/bursts": per_seed(beside["rise"], ratio),
        "pacing/at-a-time": per_seed(beside["at_a_time"], ratio),
        "pacing/loss": per_seed(beside["long_loss"], ratio),
        "pacing/fairness": per_seed(beside["jain"], pl.col("blocks") - pl.col("none")),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How much more often 200 ms loses than 80 ms."""
    return {f"pacing/events/{kind}": per_seed(rows, more_losses(), pacing=kind) for kind in KINDS}


def draw(rows: pl.DataFrame) -> Figure:
    """Bursts, losses and fairness."""
    figure, axes = plots.grid(1, len(SHOWN), width=15, height=5.2)
    figure.subplots_adjust(wspace=0.36)
    for panel, (column, (label, factor)) in zip(axes[0], SHOWN.items(), strict=True):
        for place, kind in enumerate(KINDS):
            mean, half = plots.mean_and_half(at(rows, pacing=kind)[column].to_list())
            panel.errorbar(
                place, factor * mean, yerr=factor * half, color=plots.colour("cw-hstcp"), marker="<",
                markersize=8, capsize=4,
            )  # fmt: skip
        panel.set_xticks(range(len(KINDS)), list(KINDS.values()))
        panel.set_title(label, loc="left", fontsize=11, fontweight="bold")
        panel.set(xlim=(-0.5, len(KINDS) - 0.5))
        panel.set_ylim(0, 1.05 if column == "jain" else None)
    return figure
