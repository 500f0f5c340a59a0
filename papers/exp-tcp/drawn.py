"""Shared by the pictures of several experiments: means with intervals, also on logarithmic axes."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes

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
