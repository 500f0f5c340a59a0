"""What the pictures of several experiments share."""

from collections.abc import Sequence
from typing import Literal

import polars as pl
from matplotlib.axes import Axes

from longfat._statistics import estimate
from longfat.paper import at, plots

FAINT = "#6b6b6b"
DOTTED = (0, (2, 2))
TRIPS = ("#0B3C5D", "#2E86AB", "#4FB286", "#E08E1B", "#B23A48")
"""Colours of flows, from the shortest round trip to the longest."""


def colours(count: int) -> list[str]:
    """Of so many flows: the ends of the scale stay the same."""
    return {3: [TRIPS[0], TRIPS[2], TRIPS[4]], 5: list(TRIPS)}[count]


def mean_and_half(values: Sequence[float]) -> tuple[float, float]:
    """The mean over the seeds and half of its 95 % interval, 0 if there is none."""
    known = estimate(list(values))
    return known.mean or 0.0, known.half_width or 0.0


def lines(panel: Axes, rows: pl.DataFrame, rtts_ms: Sequence[int]) -> None:
    """The window of each flow over time, in one colour from the shortest round trip to the longest."""
    for index, (rtt, colour) in enumerate(zip(rtts_ms, colours(len(rtts_ms)), strict=True)):
        flow = at(rows, flow=index).sort("time_s")
        plots.series(
            panel, flow["time_s"], flow["window"], color=colour, linewidth=1.4, label=f"{rtt} ms"
        )


def bars(
    panel: Axes,
    places: Sequence[float],
    groups: Sequence[Sequence[float]],
    colour: str,
    *,
    width: float,
    paper: Sequence[float | None] = (),
    label: str | None = None,
) -> None:
    """Bars of means in percent with intervals, and the paper's value of each as a line across."""
    means = [mean_and_half(values) for values in groups]
    panel.bar(
        places,
        [100 * mean for mean, _ in means],
        width * 0.9,
        yerr=[100 * half for _, half in means],
        color=colour,
        error_kw={"elinewidth": 1.1, "capsize": 2.5, "ecolor": "#222222"},
        label=label,
    )
    for place, value in zip(places, paper, strict=False):
        if value is not None:
            panel.hlines(
                value,
                place - width * 0.45,
                place + width * 0.45,
                color="#222222",
                linewidth=2.2,
                zorder=5,
            )


def note(
    panel: Axes,
    text: str,
    place: tuple[float, float] = (0.03, 0.04),
    ha: Literal["left", "right"] = "left",
    va: Literal["bottom", "top"] = "bottom",
) -> None:
    """A faint remark inside a panel."""
    panel.annotate(text, place, xycoords="axes fraction", fontsize=9, color=FAINT, ha=ha, va=va)
