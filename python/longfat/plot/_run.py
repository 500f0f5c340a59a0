"""The picture of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.plot import style
from longfat.plot._panels import (
    averaged,
    averaging,
    busy,
    capacities,
    clip_warmup,
    delay_changes,
    flow_lines,
    in_order,
    largest,
    marking,
    marks,
    queues,
    receive_windows,
    says_averaged,
    telling,
    until_complete,
    utilisations,
)
from longfat.plot._panels import variables as draw_variables
from longfat.scenario import no_series
from longfat.units import RATE, TIME, amount, number_of, percent, small

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.figure import Figure

    from longfat.plot._subjects import Recorded

_VARIABLE = 1.6
"""What a variable, or a panel of marks, adds to the height, in hundreds of pixels."""
_MARKS = 0.8
"""How high it is, beside other panels."""
_WITHOUT = 2.0
"""What a panel that is left out takes from it, for each unit of its own height."""


def run(finished: Recorded, *, variables: Sequence[str] | None = None) -> Figure:
    """Draws window, throughput, queue and utilisation of one run against time.

    Throughput is averaged over round trips where rows are shorter than one. Of links that change it also
    shows what they could carry, averaged likewise, and when their delay changed; of a few flows with receive
    windows, these; and where controllers were observed, their variables.

    Args:
        finished: A run that kept its time series.
        variables: Which variables of controllers to draw; by default those that change, eight at most.

    Returns:
        A figure of four panels, one of marks if there were any, and one for each variable, with a common time
        axis; the warm-up is shaded.
        Without long flows there are no windows to draw, nor throughputs other than what links could carry.

    Raises:
        ValueError: The run kept no time series, or has no such variable.
    """
    with style.applied():
        return _run(finished, variables)


def _run(finished: Recorded, asked: Sequence[str] | None) -> Figure:
    flows = in_order(finished.flow_series.to_polars(), finished.summary)
    flows = until_complete(flows, finished.summary)
    links = finished.link_series.to_polars()
    if links.is_empty():
        message = f"the run {no_series(finished.summary['scenario'])}"
        raise ValueError(message)
    observed = _chosen(finished, flows, asked)
    width = averaging(flows)
    flows = averaged(flows, width)
    change = "capacity_bit_s" in links.columns
    shown = busy(links)
    alone = flows.is_empty()
    heights, height = _heights(alone=alone, change=change, marked=marking(shown))
    figure = style.figure(12, height + _VARIABLE * len(observed), head=1.15)
    ratios = (*heights.values(), *(_MARKS for _ in observed))
    axes = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    panels = dict(zip(heights, axes, strict=False))
    if "window" in panels:
        flow_lines(panels["window"], flows, "window", "window (segments)")
        if "receive_window" in flows.columns:
            receive_windows(panels["window"], flows)
        clip_warmup(panels["window"], finished.warmup_s)
    averages = "throughput"
    if "throughput" in panels:
        top = largest(flows["throughput_bit_s"])
        if change and not top:
            top = largest(links["capacity_bit_s"])
        throughput = panels["throughput"]
        flow_lines(
            throughput,
            flows,
            "throughput_bit_s",
            "throughput",
            legend=False,
            top=top,
            from_zero=not alone,
        )
        if change:
            if capacities(throughput, shown, top, width):
                averages = "throughput and capacity"
            throughput.set_ylim(bottom=0)
            delay_changes(axes, shown)
    queues(panels["queue"], shown)
    utilisations(panels["utilisation"], shown)
    if "marks" in panels:
        marks(panels["marks"], shown)
    draw_variables(axes[len(heights) :], flows, observed)
    for panel in axes:
        style.panel(panel, finished.warmup_s, finished.duration_s)
    axes[-1].set_xlabel("time (s)")
    style.name_warmup(axes[0], finished.warmup_s, finished.duration_s)
    heading, detail = headline(finished.name, finished.summary)
    style.title(figure, heading, detail + says_averaged(width, averages))
    figure.align_ylabels(axes)
    return figure


def _heights(*, alone: bool, change: bool, marked: bool) -> tuple[dict[str, float], float]:
    """The panels with their heights, beside one another, and the height of the whole.

    Args:
        alone: There are only short flows.
        change: A link changes.
        marked: A packet was marked.
    """
    heights = {"window": 1.25, "throughput": 1.0, "queue": 1.0, "utilisation": 0.8}
    height = 10.0
    if alone:
        height -= _WITHOUT * heights.pop("window")
        if not change:
            height -= _WITHOUT * heights.pop("throughput")
    if marked:
        heights["marks"] = _MARKS
        height += _VARIABLE
    return heights, height


def _chosen(finished: Recorded, flows: pl.DataFrame, asked: Sequence[str] | None) -> list[str]:
    """The variables to draw, if there are any."""
    there = finished.variables
    if asked is None:
        return telling(flows, there)
    missing = [name for name in asked if name not in there]
    if missing:
        known = f"it has {', '.join(there)}" if there else "run it with set={'observe': True}"
        message = f"the run has no variable `{missing[0]}`: {known}"
        raise ValueError(message)
    return list(asked)


def headline(name: str, summary: dict[str, Any]) -> tuple[str, str]:
    """What was simulated, and what came out of it, in a line each."""
    kinds: dict[str, int] = {}
    for flow in summary["flows"]:
        kinds[flow["control"]] = kinds.get(flow["control"], 0) + 1
    flows = " + ".join(f"{count} × {control}" for control, count in kinds.items())
    links = summary["scenario"]["link"]
    flows = flows or "short flows"
    rates = list(dict.fromkeys(map(_rate, links.values())))
    path = ", ".join(rates[:3]) + (f" ({len(links)} links)" if len(links) > 1 else "")
    trips = sorted({flow["rtt_s"] for flow in summary["flows"]})
    return f"{name}: {flows} on {path}{_round_trips(trips)}", _outcome(summary)


def _rate(link: dict[str, Any]) -> str:
    """The rate of a link as it was written, or what its trace comes to on average."""
    rate = str(link["rate"])
    if link.get("trace", "none") == "none":
        return rate
    found = number_of(rate)
    return f"{amount(found[0], RATE) if found else rate} on average, by a trace"


def _round_trips(trips: list[float]) -> str:
    if not trips:
        return ""
    least, most = amount(trips[0], TIME), amount(trips[-1], TIME)
    return f", round trip {least}" + ("" if least == most else f" to {most}")


def _outcome(summary: dict[str, Any]) -> str:
    parts = []
    for name, directions in list(summary["links"].items())[:3]:
        link = directions["forward"]
        queue = f"queue {percent(link['queue_mean'])}, " if len(summary["links"]) == 1 else ""
        used, dropped = percent(link["utilisation"]), small(link["drop_rate"])
        parts.append(f"{name}: {used} used, {queue}dropped {dropped}")
    return " · ".join([*parts, f"seed {summary['seed']}"])
