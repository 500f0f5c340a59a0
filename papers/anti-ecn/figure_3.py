"""Figures 3 and 4: a lone flow's window and utilisation over time at 40 ms, four thresholds and none.

The paper sees windows that rise more steeply up to the threshold, like TCP's above it, and that a mark halves.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import evolution
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import LENGTH_S, THRESHOLDS, lone, product_s

FIGURE = Experiment(
    id="figure-3",
    title="Figures 3 and 4: a lone flow over time, 40 ms",
    question="How do window and utilisation evolve with and without AntiECN?",
    by=("time",),
)
RTT_MS = 40


def points(scale: Scale, rtt_ms: int = RTT_MS) -> Iterator[Point]:
    """The runs of Table I."""
    for threshold in (None, *THRESHOLDS):
        yield lone(scale, rtt_ms, threshold)


def measure(run: Measured) -> list[Row]:
    """Window, room and utilisation over time."""
    return evolution.evolution(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Slopes, cuts, and where packets find room."""
    return evolution.answers(rows, FIGURE.id)


def draw(rows: pl.DataFrame, rtt_ms: int = RTT_MS, names: tuple[str, str] = ("3", "4")) -> Figure:
    """Windows on the left, utilisation on the right; TCP grey; thresholds as thin lines across."""
    figure, axes = plots.grid(1, 2, width=13, height=5.8)
    figure.subplots_adjust(top=0.72)
    pipe = evolution.PRODUCT_S * rtt_ms / 1000
    for threshold, colour in evolution.COLOURS.items():
        line = at(rows, threshold=threshold).sort("time")
        line = line.with_columns(pl.col("window") * pipe)
        label = f"threshold {100 * threshold:.0f} %" if threshold else "TCP"
        for panel, what in zip(axes[0], ("window", "used"), strict=True):
            values = evolution.drawn(line, what)
            panel.plot(
                line["time"] * product_s(rtt_ms), values, color=colour, linewidth=1.7, label=label
            )
            if threshold:
                across = threshold * (pipe if what == "window" else 100)
                panel.axhline(across, color=colour, linewidth=0.7, linestyle=(0, (2, 3)), zorder=1)
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, 1.05 * pipe))
    axes[0, 1].set(ylabel="link used (%)", ylim=(0, 105))
    for panel, name in zip(axes[0], names, strict=True):
        panel.set_title(f"Figure {name}", loc="left", fontsize=12, fontweight="bold")
        panel.set(xlabel=f"time (s at {rtt_ms} ms)", xlim=(0, LENGTH_S[rtt_ms]))
    plots.legend(figure, axes[0, 0])
    return figure
