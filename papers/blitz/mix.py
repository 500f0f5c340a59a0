"""Section 2.2: sizes as in real networks, which the paper leaves to future work."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import ALONE, CONTROLS, gaps

FIGURE = Experiment(
    id="mix",
    title="Files of many sizes: the short ones pass",
    question="Does the gain remain with a realistic mix of sizes?",
)
SIZES = {"traffic.files.size": {"lognormal": {"mean": "100 kB", "sigma": 1.5}}}


def points(scale: Scale) -> Iterator[Point]:
    """The reference network without a bottleneck; long-tailed sizes, 100 kB on average."""
    loads = tuple(load for load in shared.LOADS[scale] if load <= 1.0)
    controls = {control: (control, SIZES) for control in CONTROLS}
    seeds = shared.MANY[scale]
    for each in shared.sweep(scale, ("reference",), controls, (1.0,), loads, seeds=seeds):
        if each.labels["load"] != ALONE:
            yield each


def measure(run: Measured) -> Row:
    """Power, and the slowdown: completion time over what Blitz would take alone."""
    net = shared.NETWORKS["reference"]
    bit = 8.0 * pl.col("bytes")
    fixed = net.blitz_alone_s(1.0) - net.service_s(1.0)
    slow = run.table("transfers").with_columns(
        (pl.col("completion_s") / (fixed + bit / 150e6)).alias("slowdown")
    )
    classes = {
        "short": slow.filter(pl.col("bytes") < 10_000)["slowdown"],
        "medium": slow.filter(pl.col("bytes").is_between(10_000, 100_000))["slowdown"],
        "long": slow.filter(pl.col("bytes") > 100_000)["slowdown"],
    }
    return shared.measure(run) | {name: each.median() for name, each in classes.items()}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The gap, and who is slowed down."""
    return {
        "mix/gap": per_seed(gaps(rows), "gap"),
        "mix/short": per_seed(rows, pl.col("short") / pl.col("long"), control="blitz", load=0.8),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Power against the load, and slowdown by size."""
    figure, axes = plots.grid(1, 2, width=12.5, height=5.6)
    drawn.over(axes[0, 0], rows, "power")
    looks = {"color": plots.colour("blitz"), "linewidth": 1.0, "linestyle": (0, (1, 1.2)),
              "label": "lone bursts, processor sharing"}  # fmt: skip
    drawn.ideal(axes[0, 0], shared.lone_burst("reference", 1.0), looks)
    axes[0, 0].set(yscale="log", xlabel="load: arrivals over capacity",
                   ylabel="power (Mbit/s per s)")  # fmt: skip
    panel = axes[0, 1]
    names = ("short", "medium", "long")
    for index, control in enumerate(CONTROLS):
        here = at(rows, control=control, load=0.8)
        values = [float(here[name].mean()) for name in names]  # type: ignore[arg-type]
        places = np.arange(3) + 0.36 * (index - 0.5)
        panel.bar(places, values, 0.33, color=plots.colour(control))
        for place, value in zip(places, values, strict=True):
            panel.annotate(f"{value:.1f}", (place, value), xytext=(0, 4), ha="center", fontsize=10,
                           textcoords="offset points")  # fmt: skip
    panel.set_xticks(range(3), ["below 10 kB", "10 to 100 kB", "above 100 kB"])
    panel.grid(visible=False, axis="x")
    panel.set(ylabel="median time over that of a lone burst, load 0.8")
    plots.legend(figure, axes[0, 0])
    drawn.means(figure, rows, "; shaded: from the smallest to the largest")
    return figure
