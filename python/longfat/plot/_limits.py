"""The picture of what limited the flows of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longfat.plot import style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.plot._subjects import Limited

_MOST_FLOWS = 5
_BANDS = {
    "link": ("a full link", "#C9C9C9"),
    "window": ("its window", "#0072B2"),
    "pacing": ("its pacing", "#56B4E9"),
    "receiver": ("its receiver", "#CC79A7"),
    "application": ("its application", "#F0E6A8"),
    "recovery": ("repair of losses", "#D55E00"),
}
"""What a band says, and its colour, by cause."""


def limits(explained: Limited) -> Figure:
    """Draws the window of each of the first five flows, with a band below that shows what limited it.

    Args:
        explained: What `longfat.explain` returns.

    Returns:
        A figure with two panels for each flow: in the lower one every colour has the share of each interval for
        which its cause held the flow back.
    """
    with style.applied():
        return _limits(explained)


def _limits(explained: Limited) -> Figure:
    flows = explained.flows[:_MOST_FLOWS]
    figure = style.figure(12, 2.0 + 2.3 * max(len(flows), 1), head=1.35)
    panels = figure.subplots(
        2 * max(len(flows), 1),
        1,
        sharex=True,
        squeeze=False,
        height_ratios=(3, 1) * max(len(flows), 1),
    )[:, 0]
    for index, flow in enumerate(flows):
        window, band = panels[2 * index], panels[2 * index + 1]
        for panel in (window, band):
            style.panel(panel, explained.warmup_s, explained.duration_s)
        rows = flow.rows
        window.plot(rows["time_s"], rows["window"], color=style.COLOURS[0], linewidth=1.2)
        window.set_ylim(bottom=0)
        window.set_ylabel(f"{flow.name}\nwindow")
        style.large_numbers(window)
        _band(band, rows)
    panels[-1].set_xlabel("time (s)")
    left = len(explained.flows) - len(flows)
    more = f" · {left} more flows are not drawn" if left else ""
    style.title(
        figure,
        f"{explained.name}: what limited its flows",
        f"below each window: what held the flow back, as shares of time{more}",
    )
    _legend(figure)
    figure.align_ylabels(panels)
    return figure


def _band(panel: Axes, rows: pl.DataFrame) -> None:
    """Stacks for each interval the shares of the causes."""
    times = rows["time_s"].to_list()
    held = np.stack(
        [rows[f"{cause}_s"].fill_null(0.0).fill_nan(0.0).to_numpy() for cause in _BANDS]
    )
    total = held.sum(axis=0)
    shares = held / np.where(total > 0, total, 1.0)
    colours = [colour for _, colour in _BANDS.values()]
    # Each row is the interval that ends at its time.
    step = times[1] - times[0] if len(times) > 1 else 1.0
    panel.stackplot(
        [times[0] - step, *times],
        np.concatenate([shares[:, :1], shares], axis=1),
        colors=colours,
        step="pre",
        linewidth=0,
    )
    panel.set_ylim(0, 1)
    panel.set_yticks([])
    panel.grid(visible=False)


def _legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    height, left = figure.get_figheight(), figure.subplotpars.left
    figure.legend(
        handles=[Patch(facecolor=colour, label=label) for label, colour in _BANDS.values()],
        loc="center left",
        bbox_to_anchor=(left, 1 - 0.98 / height),
        ncols=len(_BANDS),
        fontsize=10,
        handlelength=1.0,
        columnspacing=1.4,
        borderaxespad=0,
    )
