"""Section II.A: how the increment of a round trip depends on the window."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import LAWS, RIVALS

FIGURE = Experiment(
    id="growth",
    title="What a round trip adds to a window",
    question="Does HSTCP grow by the window to the power of 0.8?",
)
WINDOWS = (100, 300, 1000, 3000, 10_000, 30_000, 83_000)


def points(scale: Scale) -> Iterator[Point]:
    """TCP, HSTCP and STCP from windows of 100 packets to 83 000, the largest of HSTCP's table."""
    for control in RIVALS:
        for window in WINDOWS if scale == "full" else WINDOWS[::2]:
            yield Point(
                "growth.toml",
                set={
                    "flow.flow.control": LAWS[control],
                    "flow.flow.initial_threshold": window,
                    "flow.flow.initial_window": window,
                },
                labels={"control": control, "window": window},
                seeds=1,
                tables=("flow_series",),
            )


def measure(run: Measured) -> Row:
    """The mean gain of a round trip, over ten of them after the first two."""
    series = run.table("flow_series").sort("time_s")
    gains = np.diff(series["window"].to_numpy()[2:13])
    return {"gain": float(np.mean(gains)), "middle": float(series["window"][7])}


def exponent(rows: pl.DataFrame, control: str, start: int) -> float:
    """The slope of the logarithm of the gain over that of the window, from the window `start` on."""
    chosen = at(rows, control=control).filter(pl.col("window") >= start)
    x, y = np.log(chosen["middle"].to_numpy()), np.log(chosen["gain"].to_numpy())
    return float(np.polyfit(x, y, 1)[0])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Exponents from a window of 1000 on."""
    return {f"growth/{control}": exponent(rows, control, 1000) for control in RIVALS}


def draw(rows: pl.DataFrame) -> Figure:
    """Gains against windows, both logarithmic, and the line that the paper states."""
    figure, axes = plots.grid(1, 1, width=9, height=5.6)
    panel = axes[0, 0]
    for control in RIVALS:
        line = at(rows, control=control).sort("window")
        panel.plot(
            line["middle"],
            line["gain"],
            color=plots.colour(control),
            marker=plots.marker(control),
            markersize=6,
            label=plots.name(control),
        )
    windows = np.array([1000.0, 83_000.0])
    base = at(rows, control="hstcp", window=1000)
    panel.plot(
        windows,
        base["gain"][0] * (windows / base["middle"][0]) ** 0.8,
        color=plots.colour("hstcp"),
        linestyle=plots.DOTTED,
        label="window$^{0.8}$",
    )
    panel.set(
        xscale="log",
        yscale="log",
        xlabel="window (packets)",
        ylabel="packets added in a round trip",
    )
    panel.yaxis.set_minor_locator(NullLocator())
    plots.legend(figure, panel)
    return figure
