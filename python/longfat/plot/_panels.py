"""Panels that several pictures share: lines of flows, queues and utilisation of links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from longfat import foreign
from longfat.plot import style
from longfat.units import RATE, TIME, amount, ruler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

FEW = 6
"""Up to this many flows get a colour each; more are drawn thin, with their mean on top."""
ROUTERS = ("xcp", "vcp")
"""Prices of fluid solutions that are what routers ask flows to give back, not a probability."""

_MOST_THIN_LINES = 60
_MOST_MARKS = 200
_MOST_VARIABLES = 8
_FEW_ROWS = 7
"""Throughput is averaged over no fewer rows: of a few, some hold a burst more than others."""
_CALM = 2.0
"""In rows of so many round trips throughput is calm by itself."""
_OVERSHOOT = 3.0
"""A panel is cut where its lines go beyond so many times their later height in the warm-up."""
_ROOM = 1.5
_ABOVE = 2.0
"""Capacities are shown as far as so many times the largest throughput."""
_MARGIN = 1.05
_LONG = 0.9
"""A flow's round trip, queues and all, is no longer for so much of its time."""
_ROUNDING = 1e-6
_BUSY = 0.1
"""A direction of a link is drawn if its utilisation or its queue ever exceeds this share."""


def flow_lines(
    panel: Axes,
    series: pl.DataFrame,
    column: str,
    label: str,
    *,
    legend: bool = True,
    from_zero: bool = True,
    top: float | None = None,
) -> None:
    """Draws one line per flow, or for many flows thin lines and the mean of each group.

    The unit suits the largest value, or `top`, where other panels have the same scale.
    """
    unit = ""
    if column.endswith("_bit_s"):
        size, unit, _ = ruler([largest(series[column]) if top is None else top], RATE)
        series = series.with_columns(pl.col(column) / size)
        unit = f" ({unit})"
    else:
        style.large_numbers(panel)
    panel.set_ylabel(label + unit)
    names = series["flow"].unique(maintain_order=True)
    if len(names) <= FEW:
        for colour, (name, line) in zip(style.COLOURS, parts(series, "flow"), strict=False):
            panel.plot(line["time_s"], line[column], color=colour, linewidth=1.3, label=name)
    else:
        for colour, (name, group) in zip(style.COLOURS, parts(series, "group"), strict=False):
            lines, count = some(group, "flow", _MOST_THIN_LINES)
            faint = max(0.25, 0.6 - 0.02 * count)
            for _, line in lines:
                panel.plot(line["time_s"], line[column], color=colour, linewidth=0.6, alpha=faint)
            mean = group.group_by("time_s").agg(pl.col(column).mean()).sort("time_s")
            text = f"{name}: mean of {count:,}"
            panel.plot(mean["time_s"], mean[column], color=colour, linewidth=2.2, label=text)
    if from_zero:
        highest = panel.dataLim.y1
        panel.set_ylim(0, _MARGIN * highest if 0 < highest < math.inf else None)
    if legend:
        style.legend(panel)


def averaging(series: pl.DataFrame) -> float:
    """Over how long throughput is averaged: the longest round trip and some rows, or 0 where rows are long.

    A window leaves in bursts, once in a round trip: shorter rows show whether one held a burst, and not how
    fast a flow is.
    """
    trips = series.group_by("flow").agg(pl.col("rtt_s").quantile(_LONG))["rtt_s"]
    longest, row = largest(trips), _row(series)
    if _CALM * longest <= row:
        return 0.0
    # Odd, so that it reaches as far ahead as back.
    count = max(_FEW_ROWS, math.ceil(longest / row - _ROUNDING))
    return (count + 1 - count % 2) * row


def averaged(
    series: pl.DataFrame,
    width: float,
    column: str = "throughput_bit_s",
    over: Sequence[str] = ("flow",),
) -> pl.DataFrame:
    """Each flow with moving means of its throughput over so long, and with those of them again.

    Round trips differ and change; means of means hardly show whether one more burst was within.
    """
    if not width:
        return series
    rows = round(width / _row(series))
    rate = pl.col(column)
    # A flow begins with less than a round trip; at its end the last whole mean is kept, not part of a burst.
    whole = rate.rolling_mean(rows, min_samples=rows, center=True).forward_fill().over(over)
    begun = rate.rolling_mean(rows, min_samples=1, center=True).over(over)
    once = series.with_columns(pl.coalesce(whole, begun).alias(column))
    return once.with_columns(begun.alias(column))


def says_averaged(width: float, what: str = "throughput") -> str:
    """What a picture says of throughput that is averaged over so long, after all else."""
    return f" · {what}: moving means over {amount(2 * width, TIME)}" if width else ""


def _row(series: pl.DataFrame) -> float:
    """The interval between rows, in seconds."""
    times = series["time_s"].unique().sort().head(2)
    return float(times[1] - times[0]) if len(times) > 1 else math.inf


def clip_warmup(panel: Axes, warmup: float) -> None:
    """Has the range of a panel follow from what comes after the warm-up, where that is but a small part of it.

    The panel then says how far its lines went before.
    """
    lines = [line for line in panel.lines if line.get_transform() == panel.transData]
    before, after = 0.0, 0.0
    for line in lines:
        times, values = (np.asarray(each, dtype=float) for each in line.get_data())
        early = times <= warmup
        before = max(before, float(np.max(values, where=early & np.isfinite(values), initial=0.0)))
        after = max(after, float(np.max(values, where=~early & np.isfinite(values), initial=0.0)))
    if after <= 0 or before <= _OVERSHOOT * after:
        return
    # Levels, such as an equilibrium, stay within.
    levels = [
        float(np.max(np.asarray(line.get_ydata()))) for line in panel.lines if line not in lines
    ]
    panel.set_ylim(top=_ROOM * max([after, *levels]))
    style.note(panel, f"cut: up to {style.thousands(float(f'{before:.2g}'))} in the warm-up")


def variables(panels: Sequence[Axes], series: pl.DataFrame, names: Sequence[str]) -> None:
    """Draws what controllers show of themselves, a panel for each variable; flows that lack it have no line."""
    for panel, name in zip(panels, names, strict=True):
        finite = pl.when(pl.col(name).is_finite()).then(pl.col(name))
        least = series[name].drop_nulls().to_numpy().min(initial=0.0)
        drawn = series.with_columns(finite)
        flow_lines(panel, drawn, name, "", legend=False, from_zero=bool(least >= 0))
        panel.set_ylabel(foreign.drawn(name))


def telling(series: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Those variables that change, of which a line tells something: the first few."""
    changing = [
        name
        for name in names
        if series[name].drop_nulls().filter(series[name].drop_nulls().is_finite()).n_unique() > 1
    ]
    return changing[:_MOST_VARIABLES]


def receive_windows(panel: Axes, series: pl.DataFrame) -> None:
    """Draws the receive windows of a few flows, up to twice the largest congestion window."""
    lines = parts(series, "flow")
    if len(lines) > FEW:
        return
    bottom, _ = panel.get_ylim()
    highest = 2 * max(largest(series["window"]), 1.0)
    for colour, (name, line) in zip(style.COLOURS, lines, strict=False):
        told = line["receive_window"].clip(upper_bound=2 * highest)
        label = f"{name}: receive window"
        panel.step(line["time_s"], told, color=colour, linewidth=1.0, linestyle=":", label=label)
    _, top = panel.get_ylim()
    panel.set_ylim(bottom, min(top, highest))
    style.legend(panel)


def queues(panel: Axes, links: list[tuple[str, pl.DataFrame]], *, packets: bool = True) -> None:
    """Draws the queue of each busy direction as a share of its buffer; of a single one, also in packets."""
    panel.set_ylabel("queue (% of buffer)")
    _shares(panel, links, "queue")
    drops = sorted({t for _, line in links for t in line.filter(pl.col("dropped") > 0)["time_s"]})
    style.rug(panel, drops, "drops")
    if len(links) == 1:
        line = links[0][1]
        fullest = line.sort("queue")[-1]
        if packets and (share := fullest["queue"][0]):
            style.second_scale(panel, fullest["queue_packets"][0] / share / 100, "packets")
    else:
        style.legend(panel)


def capacities(
    panel: Axes,
    links: list[tuple[str, pl.DataFrame]],
    top: float,
    width: float,
    *,
    legend: bool = True,
) -> bool:
    """Draws what each direction that changes and carries data could carry, in a panel of throughputs.

    Args:
        panel: The panel.
        links: The directions of links by name.
        top: The largest throughput there, in bit/s, which says in what unit they are.
        width: Over how long these are averaged: capacities are averaged likewise, or flows would seem to exceed
            them before and after a change.
        legend: Whether to make the legend, and room for what is not far above the throughputs.

    Returns:
        Whether there are any.
    """
    size, _, _ = ruler([top], RATE)
    changing = [(name, line) for name, line in links if line["capacity_bit_s"].n_unique() > 1]
    carrying = [each for each in changing if largest(each[1]["utilisation"]) > _BUSY]
    highest = 0.0
    for colour, (name, line) in zip(style.LINK_COLOURS, carrying or changing, strict=False):
        drawn = averaged(line, width, "capacity_bit_s", ("link", "direction"))
        panel.plot(
            drawn["time_s"],
            drawn["capacity_bit_s"] / size,
            drawstyle="default" if width else "steps-pre",
            color=colour,
            linewidth=1.0,
            linestyle=":",
            label=f"{name}: capacity",
        )
        highest = max(highest, largest(drawn["capacity_bit_s"]))
    if changing and legend:
        style.legend(panel)
        shown = min(highest, _ABOVE * top) if top else highest
        panel.set_ylim(0, _MARGIN * max(top, shown) / size or None)
        if shown < highest:
            style.note(panel, f"cut: capacity up to {amount(highest, RATE)}")
    return bool(changing)


def delay_changes(panels: Sequence[Axes], links: list[tuple[str, pl.DataFrame]]) -> None:
    """Marks where the delay of a direction has changed since the row before, in each panel."""
    changed = pl.col("delay_s") != pl.col("delay_s").shift(1)
    times = sorted({time for _, line in links for time in line.filter(changed)["time_s"]})
    for panel in panels:
        panel.vlines(
            times[:_MOST_MARKS],
            0,
            1,
            transform=panel.get_xaxis_transform(),
            color="0.6",
            linewidth=0.6,
            linestyle="--",
            zorder=1,
        )


def utilisations(panel: Axes, links: list[tuple[str, pl.DataFrame]]) -> None:
    panel.set_ylabel("utilisation (%)")
    _shares(panel, links, "utilisation")


def marking(links: list[tuple[str, pl.DataFrame]]) -> bool:
    """Whether a packet was marked in any of these directions."""
    return any(largest(line["marked"]) > 0 for _, line in links)


def marks(panel: Axes, links: list[tuple[str, pl.DataFrame]]) -> None:
    """Draws how many packets each direction marked in each row: unlike drops, marks may be many."""
    row = amount(_row(links[0][1]), TIME)
    panel.set_ylabel(f"marks (in {row})")
    style.large_numbers(panel)
    for colour, (name, line) in zip(style.LINK_COLOURS, links, strict=False):
        panel.plot(line["time_s"], line["marked"], color=colour, linewidth=1.1, label=name)
        if len(links) == 1:
            panel.fill_between(
                line["time_s"], line["marked"], color=colour, alpha=0.08, linewidth=0
            )
    panel.set_ylim(bottom=0)


def _shares(panel: Axes, links: list[tuple[str, pl.DataFrame]], column: str) -> None:
    for colour, (name, line) in zip(style.LINK_COLOURS, links, strict=False):
        share = 100 * line[column]
        panel.plot(line["time_s"], share, color=colour, linewidth=1.1, label=name)
        if len(links) == 1:
            panel.fill_between(line["time_s"], share, color=colour, alpha=0.08, linewidth=0)
    panel.set_ylim(0, 105)


def busy(links: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The directions worth drawing, by name: `bottleneck`, `bottleneck, reverse`."""
    parts = directions(links)
    busy = [
        (name, line)
        for name, line in parts
        if largest(line["utilisation"]) > _BUSY or largest(line["queue"]) > _BUSY
    ]
    return busy or parts[:1]


def directions(links: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [
        (name if direction == "forward" else f"{name}, {direction}", line)
        for name, link in parts(links, "link")
        for direction, line in parts(link, "direction")
    ]


def largest(series: pl.Series) -> float:
    return float(series.drop_nulls().to_numpy().max(initial=0.0))


def in_order(
    series: pl.DataFrame, summary: dict[str, Any], most: int = len(style.COLOURS)
) -> pl.DataFrame:
    """The series of the flows in the order of the scenario file, in at most `most` groups."""
    told = summary["flows"]
    names = pl.Series("flow", [flow["name"] for flow in told], pl.String)
    places = pl.DataFrame({"_name": names, "_place": range(len(told))}, strict=False)
    places = places.with_columns(pl.col("_place").cast(pl.Int64))
    if kinds := _instead_of_groups(told, most):
        places = places.with_columns(pl.Series("group", kinds, pl.String))
        series = series.drop("group", strict=False)
    named = series.with_columns(pl.col("flow").cast(pl.String).alias("_name"))
    found = named.join(places, on="_name", how="left", maintain_order="left")
    return found.sort("_place", "time_s").drop("_place", "_name")


def _instead_of_groups(flows: list[dict[str, Any]], most: int) -> list[str]:
    """What tells flows apart that are in more groups than there are colours: their controllers, or nothing."""
    if len({str(flow["name"]).partition("[")[0] for flow in flows}) <= most:
        return []
    kinds = [str(flow.get("control")) for flow in flows]
    return kinds if len(set(kinds)) <= most else ["all"] * len(kinds)


def until_complete(series: pl.DataFrame, summary: dict[str, Any]) -> pl.DataFrame:
    """The series of the flows, where those that are complete have no window any more."""
    ends = {
        flow["name"]: flow["start_s"] + flow["completion_s"]
        for flow in summary["flows"]
        if flow.get("completion_s") is not None
    }
    if not ends:
        return series
    end = pl.col("flow").cast(pl.String).replace_strict(ends, default=None, return_dtype=pl.Float64)
    active = end.is_null() | (pl.col("time_s") <= end)
    return series.with_columns(pl.when(active).then(pl.col("window")))


def some(frame: pl.DataFrame, column: str, most: int) -> tuple[list[tuple[str, pl.DataFrame]], int]:
    """The rows of each name as `parts` has them, of at most so many names; and how many names there are."""
    names = frame[column].unique(maintain_order=True)
    chosen = names.gather_every(max(-(-len(names) // most), 1))
    rows = frame.join(chosen.to_frame(), on=column, how="semi", maintain_order="left")
    return parts(rows, column), len(names)


def parts(frame: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each name, in the order of first appearance."""
    parts = frame.partition_by(column, maintain_order=True, as_dict=True)
    return [(str(key[0]), part) for key, part in parts.items()]
