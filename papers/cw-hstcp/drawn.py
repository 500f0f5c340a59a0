"""Shared by the pictures of several experiments."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from longfat.paper import at, plots

TRIPS = ("#0B3C5D", "#2E86AB", "#4FB286", "#E08E1B", "#B23A48")
"""Colours of flows, from the shortest round trip to the longest."""


def colours(count: int) -> list[str]:
    """Colours for `count` flows; the ends of the scale stay the same."""
    return {3: [TRIPS[0], TRIPS[2], TRIPS[4]], 5: list(TRIPS)}[count]


def lines(panel: Axes, rows: pl.DataFrame, rtts_ms: Sequence[int]) -> None:
    """The window of each flow over time, coloured from the shortest round trip to the longest."""
    for index, (rtt, colour) in enumerate(zip(rtts_ms, colours(len(rtts_ms)), strict=True)):
        flow = at(rows, flow=index).sort("time_s")
        plots.series(
            panel, flow["time_s"], flow["window"], color=colour, linewidth=1.4, label=f"{rtt} ms"
        )


def windows_beside(
    rows: pl.DataFrame, label: str, titles: Mapping[str, str], rtts_ms: Sequence[int], column: str
) -> Figure:
    """The windows of the first seed, a panel for each value of a label, with the mean of a column above.

    `rows` are those of `shared.shares_and_windows`; `{}` in a title stands for the mean.
    """
    figure, axes = plots.grid(1, len(titles), sharey=True, width=13, height=5.6)
    figure.subplots_adjust(top=0.74)
    for panel, (value, title) in zip(axes[0], titles.items(), strict=True):
        here = at(rows, **{label: value})
        lines(panel, at(here, kind="window"), rtts_ms)
        mean, _ = plots.mean_and_half(at(here, kind="shares")[column].to_list())
        panel.set_title(title.format(mean), loc="left", fontsize=12, fontweight="bold")
        panel.set(xlabel="time (s), first seed", xlim=(0, 200))
        panel.set_xticks([0, 50, 100, 150])
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, None))
    plots.legend(figure, axes[0, 0])
    plots.shows(figure, "windows of the first seed, means of all seeds above")
    return figure


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
    """Bars of means in percent with intervals; lines across them mark the paper's values."""
    means = [plots.mean_and_half(values) for values in groups]
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
                path_effects=[withStroke(linewidth=4.5, foreground="white")],
            )
