"""Section 3: the gain against the ratio of the file to what the path holds."""

import math
from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Point
from shared import NETWORKS, SHARES, gaps, yardstick

FIGURE = Experiment(
    id="ratio",
    title="What bursts gain, over how many round trips a file fills",
    question="Is the gain a function of file over bandwidth-delay product?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """All networks."""
    return shared.sweep(scale, tuple(NETWORKS))


def trips(network: str, share: float) -> float:
    """How many round trips a file fills at the rate of the bottleneck."""
    return NETWORKS[network].service_s(share) / NETWORKS[network].delay_ms * 1e3


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Rank correlation, and the order of the delays."""
    gap = gaps(rows)
    filled = [trips(n, s) for n, s in gap.select("network", "share").iter_rows()]
    gap = gap.with_columns(pl.Series("trips", filled))
    wide = across(at(gap, share=1.0), "network", "gap", keep=[])
    return {
        "ratio/size": per_seed(gap, pl.corr("trips", "gap", method="spearman")),
        "ratio/delay": per_seed(
            wide,
            pl.min_horizontal(
                pl.col("reference") - pl.col("middle"), pl.col("middle") - pl.col("aurora")
            ),
        ),
        "ratio/abstract": per_seed(gap, pl.col("gap").max()),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The gap for each network and bottleneck, and that of processor sharing."""
    figure, axes = plots.grid(1, 1, width=11, height=6.6)
    panel = axes[0, 0]
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
    panel.axhline(0, color="#888888", linewidth=0.8)
    panel.set(xscale="log", xlabel="round trips that a file fills: size / (bottleneck x D)",
              ylabel="largest power, Blitz over TCP (decades)")  # fmt: skip
    panel.annotate("hollow: processor sharing", (0.98, 0.95), xycoords="axes fraction", fontsize=9,
                   color=plots.FAINT, ha="right")  # fmt: skip
    panel.legend(frameon=True, framealpha=1.0, edgecolor="none", fontsize=9, loc="lower left")
    return figure
