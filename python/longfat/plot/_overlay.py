"""The picture of a measurement and its simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from longfat.plot import style
from longfat.plot._panels import largest, parts
from longfat.units import RATE, ruler

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.plot._subjects import Overlaid

_FEW = 2
"""So many flows have lines of their own; of more, the means are drawn."""
_LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"linewidth": 1.5, "linestyle": "-", "zorder": 2},
    "simulated": {"linewidth": 1.3, "linestyle": (0, (4, 2)), "zorder": 3},
}
_COLOURS = {
    "measured": (style.COLOURS[0], style.COLOURS[4]),
    "simulated": (style.COLOURS[1], style.COLOURS[7]),
}
_POINTS = 300
"""Throughput is averaged over so many parts of the time, or over two round trips if these are longer."""


def overlay(found: Overlaid) -> Figure:
    """Draws window, throughput and queueing delay against time, as measured and as simulated.

    Args:
        found: Both of them.

    Returns:
        A figure of three panels with a common time axis: what was measured in solid lines, and what was
        simulated in dashed ones of other colours.
    """
    with style.applied():
        return _overlay(found)


def _overlay(found: Overlaid) -> Figure:
    figure = style.figure(12, 10, head=1.15)
    axes = figure.subplots(3, 1, sharex=True, height_ratios=(1.3, 1, 1))
    both = {"measured": _lines(found.measured), "simulated": _lines(found.simulated)}
    width = max(2 * found.rtt_s, found.duration_s / _POINTS)
    size, unit, _ = ruler([_typical(frame) for frame in both.values()], RATE)
    for who, frame in both.items():
        for place, (name, flow) in enumerate(parts(frame, "flow")):
            look = {**_LOOKS[who], "color": _COLOURS[who][place % _FEW]}
            label = f"{who}: {name}" if frame["flow"].n_unique() > 1 or "mean" in name else who
            axes[0].plot(flow["time_s"], flow["window"], label=label, **look)
            rate = _averaged(flow, width)
            axes[1].plot(rate["time_s"], rate["throughput_bit_s"] / size, **look)
            waits = flow.filter(pl.col("queueing_s").is_not_null())
            axes[2].plot(waits["time_s"], 1e3 * waits["queueing_s"], **look)
    _labelled(axes, f"throughput ({unit})")
    for panel in axes:
        style.panel(panel, found.warmup_s, found.duration_s)
        panel.set_ylim(bottom=0)
    style.name_warmup(axes[0], found.warmup_s, found.duration_s)
    style.legend(axes[0])
    style.title(figure, found.title, found.detail)
    figure.align_ylabels(axes)
    return figure


def _labelled(axes: list[Axes], throughput: str) -> None:
    style.large_numbers(axes[0])
    names = ("window (segments)", throughput, "queueing delay (ms)")
    for panel, name in zip(axes, names, strict=True):
        panel.set_ylabel(name)
    axes[-1].set_xlabel("time (s)")


def _lines(series: pl.DataFrame) -> pl.DataFrame:
    """The flows, or of many flows the mean of each moment, as one that is called so."""
    count = series["flow"].n_unique()
    if count <= _FEW:
        return series
    place = pl.int_range(pl.len()).over("flow").alias("place")
    means = pl.col("time_s", "window", "queueing_s", "throughput_bit_s").mean()
    merged = series.with_columns(place).group_by("place").agg(means).sort("time_s")
    return merged.with_columns(pl.lit(f"mean of {count} flows").alias("flow"))


def _averaged(flow: pl.DataFrame, width: float) -> pl.DataFrame:
    """The throughput over parts of the time of this width, each at its middle."""
    part = (pl.col("time_s") / width).floor().alias("part")
    rates = flow.filter(pl.col("throughput_bit_s").is_not_null()).group_by(part)
    means = rates.agg(pl.col("throughput_bit_s").mean()).sort("part")
    return means.with_columns(((pl.col("part") + 0.5) * width).alias("time_s"))


def _typical(frame: pl.DataFrame) -> float:
    """A throughput that chooses the unit: a single row may hold a burst."""
    return largest(frame.select(pl.col("throughput_bit_s").mean()).to_series())
