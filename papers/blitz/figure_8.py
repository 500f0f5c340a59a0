"""Figure 8: the largest powers at 1 Gbit/s, on a linear scale."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Point, estimate
from shared import NETWORKS, SHARES, best, yardstick

FIGURE = Experiment(
    id="figure-8",
    title="What a faster bottleneck is worth, on a linear scale",
    question="How do the largest powers grow with the bottleneck?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """The network of 1 Gbit/s with files of 100 kB."""
    return shared.sweep(scale, ("faster",), seeds=shared.MANY[scale])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """What each gains from the slowest bottleneck to the fastest."""
    wide = across(best(rows), "control", "power", keep=["share"]).sort("share")
    gain = {c: pl.col(c).last() - pl.col(c).first() for c in ("blitz", "reno")}
    return {"figure-8/scales": per_seed(wide, gain["blitz"] / gain["reno"])}


def draw(rows: pl.DataFrame) -> Figure:
    """A bar for each bottleneck and controller, and the yardstick as a line across."""
    figure, axes = plots.grid(1, 1, width=9.5, height=5.6)
    panel = axes[0, 0]
    for index, control in enumerate(("reno", "blitz")):
        for place, share in enumerate(SHARES):
            values = at(best(rows), share=share, control=control)["power"]
            known = estimate([value / 1e3 for value in values])
            x = place + 0.36 * (index - 0.5)
            panel.bar(
                x, known.mean or 0.0, 0.33, yerr=known.half_width, color=plots.colour(control),
                error_kw={"elinewidth": 1.1, "capsize": 3},
                label=plots.name(control) if place == 0 else None,
            )  # fmt: skip
            ideal = yardstick(rows, "faster", share, control).best_power_bit_s2 / 1e9
            panel.hlines(ideal, x - 0.17, x + 0.17, color="#222222", linewidth=1.8, linestyle=":",
                         label="processor sharing" if place + index == 0 else None)  # fmt: skip
            panel.annotate(
                f"{known.mean:.1f}", (x, max((known.mean or 0.0) + (known.half_width or 0.0), ideal)),
                xytext=(0, 6),
                textcoords="offset points", ha="center", fontsize=10,
            )  # fmt: skip
    panel.set_xticks(range(3), [f"{round(s * NETWORKS['faster'].rate)} Mbit/s" for s in SHARES])
    panel.grid(visible=False, axis="x")
    panel.set(ylabel="largest power (Gbit/s per s)", xlabel="bottleneck")
    plots.legend(figure, panel)
    return figure
