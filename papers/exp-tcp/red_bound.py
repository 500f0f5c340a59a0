"""Sections II.B and III.A: how much of the link RED leaves to EXP-TCP, and how much acknowledgments cost."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import dumbbell

FIGURE = Experiment(
    id="red-bound",
    title="What is left when all give way at once",
    question="Does RED keep EXP-TCP's utilisation above the bound of synchronised decreases?",
)
TRAFFIC: Mapping[str, Mapping[str, Any]] = {
    "one way": {"flow.backward.count": 1, "flow.backward.size": "1 packets"},
    "both ways, bytes": {"link.bottleneck.queue.mode": "bytes"},
    "both ways, packets": {},
}
ALONE, MIXED = 0.9625, 0.9205
"""What a decrease by 1/8 leaves of a load of 1.1 bdp; and the same if half of the packets that the threshold
counts are acknowledgments, so that it holds only (1000 + 40) / 2000 as many bytes."""


def points(scale: Scale) -> Iterator[Point]:
    """EXP-TCP on links where windows are large: data one way, or both ways counted in bytes or packets."""
    for rate in (160e6,) if scale == "quick" else (160e6, 640e6, 2.56e9):
        for traffic, changes in TRAFFIC.items():
            yield dumbbell(rate, "exp", set=changes, traffic=traffic)


def measure(run: Measured) -> Row:
    """The forward direction of the bottleneck."""
    link = run.link()
    return {name: link[name] for name in ("utilisation", "queue_mean")}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The smallest utilisation over the capacities, run by run."""
    least = pl.col("utilisation").min()
    return {
        f"red-bound/{traffic.replace(', ', '/').replace(' ', '-')}": per_seed(
            rows, least, traffic=traffic
        )
        for traffic in TRAFFIC
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Bars of utilisation with the two bounds."""
    figure, axes = plots.grid(1, 1)
    panel = axes[0, 0]
    rates = sorted(rows["rate_bit_s"].unique())
    width = 0.26
    for index, (traffic, colour) in enumerate(
        zip(TRAFFIC, ("#e8a06d", "#d9772f", "#a84f00"), strict=True)
    ):
        for place, rate in enumerate(rates):
            part = rows.filter((pl.col("traffic") == traffic) & (pl.col("rate_bit_s") == rate))
            mean, half = plots.mean_and_half((100 * part["utilisation"]).to_list())
            panel.bar(
                place + (index - 1) * width,
                mean,
                0.92 * width,
                yerr=half,
                color=colour,
                capsize=3,
                label=traffic if not place else None,
                zorder=3,
            )
    for bound, text in ((ALONE, "bound"), (MIXED, "bound where half of the queue are ACKs")):
        panel.axhline(100 * bound, color="#222222", linestyle=plots.DOTTED, linewidth=1.4, zorder=4)
        panel.annotate(
            f"{text}: {100 * bound:.2f} %",
            (-0.48, 100 * bound),
            xytext=(0, 3),
            textcoords="offset points",
            fontsize=9,
            zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1},
        )
    panel.set_xlim(-0.5, len(rates) - 0.5)
    panel.set_ylim(90, 100.5)
    panel.grid(visible=False, axis="x")
    panel.set_xticks(range(len(rates)), [f"{rate / 1e6:g} Mbit/s" for rate in rates])
    panel.set_ylabel("utilisation (%), from 90")
    plots.legend(figure, panel)
    return figure
