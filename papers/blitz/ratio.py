"""Section 3: the gain against the ratio of the file to what the path holds."""

import math
from collections.abc import Iterator
from itertools import pairwise

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Point
from shared import NETWORKS, READINGS, SHARES, gaps, largest, smallest, yardstick

FIGURE = Experiment(
    id="ratio",
    title="What bursts gain, over how many round trips a file fills",
    question="Is the gain a function of file over bandwidth-delay product?",
)
DELAYS = ("reference", "middle", "aurora")
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """All networks; and those that differ in delay under the other reading, too."""
    yield from shared.read("minimum", scale, tuple(NETWORKS))
    yield from shared.read("ample", scale, DELAYS, (1.0,))


def trips(network: str, share: float) -> float:
    """How many round trips a file fills at the rate of the bottleneck."""
    return NETWORKS[network].service_s(share) / NETWORKS[network].delay_ms * 1e3


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Rank correlation, and the order of the delays."""
    gap = gaps(at(rows, reading="minimum"))
    filled = [trips(n, s) for n, s in gap.select("network", "share").iter_rows()]
    ranked = gap.with_columns(pl.Series("trips", filled))
    found: dict[str, Answer] = {
        "ratio/size": per_seed(ranked, pl.corr("trips", "gap", method="spearman")),
        "ratio/abstract": largest(gap, "gap", "network", "share"),
    }
    for reading in READINGS:
        full = at(gaps(at(rows, reading=reading)), share=1.0, network=list(DELAYS))
        wide = across(full, "network", "gap", keep=[])
        falls = pl.concat(
            wide.select(
                "seed", (pl.col(far) - pl.col(near)).alias("fall"), pl.lit(near).alias("to")
            )
            for far, near in pairwise(DELAYS)
        )
        found[f"ratio/{reading}/delay"] = smallest(falls, "fall", "to")
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """The gap for each network and bottleneck, and that of processor sharing."""
    figure, axes = plots.grid(1, 1, width=11, height=6.6)
    panel = axes[0, 0]
    ample = gaps(at(rows, reading="ample"))
    rows = at(rows, reading="minimum")
    gap = gaps(rows)
    looks = ("o", "s", "^", "D", "v", "P", "X", "*")
    for (network, about), look in zip(NETWORKS.items(), looks, strict=True):
        where = [trips(network, share) for share in SHARES]
        found = [float(at(gap, network=network, share=s)["gap"].mean()) for s in SHARES]  # type: ignore[arg-type]
        (line,) = panel.plot(
            where, found, marker=look, markersize=8, linewidth=1.0, label=about.name
        )
        ideal = [
            yardstick(rows, network, s, "blitz").best_power_bit_s2
            / yardstick(rows, network, s, "reno").best_power_bit_s2
            for s in SHARES
        ]
        panel.plot(where, [math.log10(each) for each in ideal], color=line.get_color(),
                   marker=look, markersize=5, linestyle=":", linewidth=0.9, markerfacecolor="none")  # fmt: skip
    means = [
        (trips(network, 1.0), float(at(ample, network=network, share=1.0)["gap"].mean()))  # type: ignore[arg-type]
        for network in DELAYS
    ]
    panel.plot(*zip(*means, strict=True), color="#222222", marker="+", markersize=12, linewidth=1.0,
               linestyle="--", label="buffers of the reference,\nno delayed acknowledgments")  # fmt: skip
    panel.axhline(0, color="#888888", linewidth=0.8)
    panel.set(xscale="log", xlabel="round trips that a file fills: size / (bottleneck x D)",
              ylabel="largest power, Blitz over TCP (decades)")  # fmt: skip
    panel.annotate("hollow: processor sharing", (0.98, 0.95), xycoords="axes fraction", fontsize=9,
                   color=plots.FAINT, ha="right")  # fmt: skip
    panel.legend(frameon=True, framealpha=1.0, edgecolor="none", fontsize=9, loc="lower left")
    drawn.means(figure, rows)
    return figure
