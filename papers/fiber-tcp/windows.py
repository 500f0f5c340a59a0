"""Shared by Figures 3 and 5: the window of one flow over time, and the averages of every seed."""

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import at, plots
from longfat.study import Measured, Row
from shared import QUEUES, outcome

SHOWN_S = 400
"""The beginning, which the pictures show."""


def windows(run: Measured) -> list[Row]:
    """The averages, at time -1, and the window of the first seed every second."""
    rows: list[Row] = [{"time_s": -1.0, **outcome(run)}]
    if run.seed == 1:
        series = run.table("flow_series").filter(pl.col("time_s") <= SHOWN_S)
        rows += [
            {"time_s": time, "window": window}
            for time, window in zip(series["time_s"], series["window"], strict=True)
        ]
    return rows


def drawn(rows: pl.DataFrame, product: float) -> Figure:
    """The windows of the first seed; the dashed line is what the path holds, in packets."""
    figure, axes = plots.grid(1, 2, sharey=True, height=5.2)
    for panel, queue in zip(axes[0], QUEUES, strict=True):
        for control in ("fiber", "reno"):
            line = at(rows, queue=queue, control=control, seed=1).filter(pl.col("time_s") >= 0)
            plots.series(
                panel, line["time_s"], line["window"], color=plots.colour(control),
                label=plots.name(control), linewidth=1.5,
            )  # fmt: skip
        panel.axhline(product, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
        panel.annotate(queue, (0.98, 0.04), xycoords="axes fraction", ha="right", fontweight="bold")
        panel.set(xlabel="time (s)", xlim=(0, SHOWN_S))
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, None))
    plots.legend(figure, axes[0, 0])
    plots.shows(figure, "one run")
    return figure
