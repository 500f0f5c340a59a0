"""Shared by the pictures of several experiments: means with intervals, also on logarithmic axes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from longfat.paper import plots


def ratios(
    panel: Axes,
    rows: pl.DataFrame,
    *,
    x: str,
    y: str,
    by: str = "control",
    factor: float = 1.0,
    looks: Mapping[str, tuple[str, str]] | None = None,
) -> None:
    """A line for each controller: geometric means over the seeds, with the interval of the logarithm.

    `looks` gives the colour and marker of lines that are not controllers.
    """
    for (key,), line in rows.sort(x).group_by(by, maintain_order=True):
        at, middle, low, high = [], [], [], []
        for (place,), part in line.group_by(x, maintain_order=True):
            mean, below, above = plots.geometric((factor * part[y]).to_list())
            at.append(place)
            middle.append(mean)
            low.append(below)
            high.append(above)
        label = str(key)
        colour, marker = (
            (plots.colour(label), plots.marker(label)) if looks is None else looks[label]
        )
        panel.errorbar(
            at,
            middle,
            yerr=[low, high],
            color=colour,
            marker=marker,
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            linewidth=1.6,
            elinewidth=1.1,
            capsize=3,
            label=plots.name(label),
            zorder=4,
        )


def ticks(axis: object, values: Sequence[float]) -> None:
    """Plain numbers at these places of a logarithmic axis, and none in between."""
    axis.set_ticks(list(values), [f"{value:g}" for value in values])  # type: ignore[attr-defined]
    axis.set_ticks([], minor=True)  # type: ignore[attr-defined]


def shares(panel: Axes, rows: pl.DataFrame, column: str, x: str = "rate_bit_s") -> None:
    """A line for each controller: mean shares in per cent on a logarithmic axis that has zero, too.

    A mean of zero is a hollow mark on the lowest line, which says `none`.
    """
    means = (
        rows.group_by("control", x, maintain_order=True)
        .agg((100 * pl.col(column).mean()).alias(column))
        .sort(x)
    )
    seen = [float(value) for value in means[column] if value > 0]
    least = 10.0 ** math.floor(math.log10(min(seen, default=1.0)))
    none = least / 3
    places = sorted(means[x].unique().to_list())
    for index, ((key,), line) in enumerate(means.group_by("control", maintain_order=True)):
        label = str(key)
        aside = 10 ** (0.012 * (index - 1.5))
        at = [place * aside for place in line[x]]
        values = [value if value > 0 else none for value in line[column]]
        looks: dict[str, Any] = {
            "color": plots.colour(label),
            "marker": plots.marker(label),
            "markersize": 5.5,
        }
        panel.plot(
            at,
            values,
            linewidth=1.6,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=4,
            **looks,
        )
        zeros = [place for place, value in zip(at, line[column], strict=True) if value <= 0]
        panel.plot(
            zeros, [none] * len(zeros), linestyle="none", markerfacecolor="white", zorder=5, **looks
        )
    panel.set(xscale="log", yscale="log", ylim=(0.7 * none, None))
    panel.set_xticks(places)
    panel.xaxis.set_minor_locator(NullLocator())
    panel.margins(x=0.06)
    top = panel.get_ylim()[1]
    decades = [
        10.0**power for power in range(round(math.log10(least)), math.floor(math.log10(top)) + 1)
    ]
    panel.set_yticks([none, *decades])
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "none" if y < least else f"{y:g}"))
    panel.yaxis.set_minor_locator(NullLocator())
