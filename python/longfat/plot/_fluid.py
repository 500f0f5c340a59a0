"""Pictures of fluid solutions: against time, and two windows against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.patheffects import withStroke

from longfat.plot import style
from longfat.plot._panels import (
    FEW,
    ROUTERS,
    averaged,
    averaging,
    clip_warmup,
    directions,
    flow_lines,
    in_order,
    largest,
    parts,
    says_averaged,
)
from longfat.scenario import no_series
from longfat.units import RATE, plural, ruler

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.plot._subjects import Recorded, Solved


def fluid(solved: Solved, packets: Recorded | None = None) -> Figure:
    """Draws windows, rates and prices of a fluid solution against time.

    Args:
        solved: A solution in time; its equilibrium, if known, is drawn dotted.
        packets: A run of the same scenario, drawn behind it in fainter lines of the same colours.

    Returns:
        A figure of three panels with a common time axis.

    Raises:
        ValueError: It was not solved in time, or the run kept no time series.
    """
    with style.applied():
        return _fluid(solved, packets)


def _fluid(solved: Solved, packets: Recorded | None) -> Figure:
    flows = in_order(solved.flow_series.to_polars(), solved.summary)
    links = solved.link_series.to_polars()
    figure = style.figure(12, 10, head=1.15)
    axes = figure.subplots(3, 1, sharex=True, height_ratios=(1.3, 1, 0.9))
    window, rate, price = axes
    flow_lines(window, flows, "window", "window (segments)")
    flow_lines(rate, flows, "rate_bit_s", "rate", legend=False)
    told = solved.options["price"] in ROUTERS
    price.set_ylabel("asked back (of the rate)" if told else "price (marked or lost)")
    for colour, (name, line) in zip(style.LINK_COLOURS, directions(links), strict=False):
        price.plot(line["time_s"], line["price"], color=colour, linewidth=1.1, label=name)
    if not told:
        price.set_ylim(bottom=0)
    style.legend(price)
    width = 0.0
    if packets is not None:
        width = _behind(window, rate, flows, packets)
    if solved.equilibrium is not None:
        _rest(window, rate, flows, solved.equilibrium["flows"])
    for panel in axes:
        if panel is not price or not told:
            clip_warmup(panel, solved.warmup_s)
        style.panel(panel, solved.warmup_s, solved.duration_s)
    price.set_xlabel("time (s)")
    style.name_warmup(window, solved.warmup_s, solved.duration_s)
    options = solved.options
    feedback = "with feedback delay" if options["delay"] else "without feedback delay"
    says = f"routers of {options['price']}" if told else f"price {options['price']}"
    detail = f"{options['model']} fluid, {says}, {feedback}"
    if options["model"] == "synchronised":
        detail = "flows that lose together on one drop-tail link"
    behind = " · faint: the packets of the same scenario" if packets is not None else ""
    style.title(figure, f"{solved.name} as a fluid", detail + behind + says_averaged(width))
    figure.align_ylabels(axes)
    return figure


def _behind(window: Axes, rate: Axes, flows: pl.DataFrame, packets: Recorded) -> float:
    """Draws the packets, in units and colours of the fluid; returns over how long throughput is averaged."""
    series = in_order(packets.flow_series.to_polars(), packets.summary)
    if series.is_empty():
        message = f"the run {no_series(packets.summary['scenario'])}"
        raise ValueError(message)
    width = averaging(series)
    series = averaged(series, width)
    size, _, _ = ruler([largest(flows["rate_bit_s"])], RATE)
    few = flows["flow"].n_unique() <= FEW
    column = "flow" if few else "group"
    lines = parts(series, column)
    tints = _tints(flows, column, [name for name, _ in lines])
    for name, part in lines:
        if name not in tints:
            continue
        values = pl.col("window", "throughput_bit_s").mean()
        line = part if few else part.group_by("time_s").agg(values).sort("time_s")
        look: dict[str, Any] = {
            "color": tints[name],
            "linewidth": 1.0,
            "alpha": 0.4,
            "zorder": 1,
        }
        window.plot(line["time_s"], line["window"], **look)
        rate.plot(line["time_s"], line["throughput_bit_s"] / size, **look)
    for panel in (window, rate):
        panel.relim()
        panel.autoscale(axis="y")
        panel.set_ylim(bottom=0)
    return width


def _rest(window: Axes, rate: Axes, flows: pl.DataFrame, rest: list[dict[str, Any]]) -> None:
    """Draws where the flows settle as dotted lines, if they are few."""
    if len(rest) > FEW:
        return
    size, _, _ = ruler([largest(flows["rate_bit_s"])], RATE)
    tints = _tints(flows, "flow", [flow["name"] for flow in rest])
    for flow in rest:
        look: dict[str, Any] = {"color": tints[flow["name"]], "linewidth": 1.0, "linestyle": ":"}
        window.axhline(flow["window"], **look)
        rate.axhline(flow["rate_bit_s"] / size, **look)


def _tints(flows: pl.DataFrame, column: str, names: Sequence[str]) -> dict[str, str]:
    """The colours that `flow_lines` gave to flows or groups; names that it did not draw have the next ones."""
    drawn = flows[column].unique(maintain_order=True)
    return dict(zip(dict.fromkeys([*drawn, *names]), style.COLOURS, strict=False))


def phase_plane(
    solved: Solved | Mapping[str, Solved], *, fair: float | None = None, panel: Axes | None = None
) -> Figure:
    """Draws the windows of two flows of one link against each other (Chiu and Jain 1989).

    Args:
        solved: A solution in time of two flows, as `longfat.synchronised` returns it; or several of them with
            the same link and round trips, by the labels of their starting points.
        fair: Slope of the fairness line, second window over first; by default that of equal rates.
        panel: Draw there instead of into a new figure; lines are then labelled directly.

    Returns:
        A figure of one panel, or that of `panel`: trajectories, efficiency line (link full, queue empty),
        fairness line.

    Raises:
        ValueError: There are not two flows on one link, or it was not solved in time.
    """
    paths = solved if isinstance(solved, Mapping) else {"start": solved}
    for path in paths.values():
        flows = path.summary["flows"]
        if len(flows) != 2 or len(path.summary["links"]) != 1:  # noqa: PLR2004 - a plane
            there = f"{plural(len(flows), 'flow')} on {plural(len(path.summary['links']), 'link')}"
            message = f"a phase plane shows two flows on one link, not {there}"
            raise ValueError(message)
    with style.applied():
        if panel is not None:
            _plane(panel, paths, fair, beside=True)
            return panel.figure.figure
        figure = style.figure(10, 10, head=1.15)
        panel = figure.subplots()
        _plane(panel, paths, fair, beside=False)
        panel.legend(loc="upper right")
        one, two = next(iter(paths.values())).summary["flows"]
        style.title(figure, "Phase plane", f"{one['control']} and {two['control']}")
    return figure


def _plane(panel: Axes, paths: Mapping[str, Solved], fair: float | None, *, beside: bool) -> None:
    """Draws efficiency and fairness lines, those of the first solution, and the trajectories."""
    first = next(iter(paths.values()))
    full = _alone(first)
    trips = [flow["rtt_s"] for flow in first.summary["flows"]]
    slope = trips[1] / trips[0] if fair is None else fair
    meet = 1 / (1 / full[0] + slope / full[1])
    end = (1.15 * meet, 1.15 * slope * meet)
    name = "equal rates" if fair is None else "equal windows" if fair == 1 else f"w₂ = {fair:g} w₁"
    for (x, y), dashes, text in (
        (([0, full[0]], [full[1], 0]), "-", "efficiency: link full"),
        (([0, end[0]], [0, end[1]]), "--", f"fairness: {name}"),
    ):
        panel.plot(x, y, dashes, color="#6b6b6b", label=text)
    if beside:
        faint: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "color": "#6b6b6b"}
        panel.annotate("link full", (0.86 * full[0], 0.14 * full[1]), (4, 4), **faint)
        panel.annotate(name, end, (3, 3), ha="center", va="bottom", **faint)
    for index, (start, path) in enumerate(paths.items()):
        one, two = (flow["window"] for flow in path.summary["flows"])
        colour = style.COLOURS[index % len(style.COLOURS)]
        panel.plot(one, two, color=colour, linewidth=0.9, label="trajectory" if not index else None)
        panel.plot(one[:1], two[:1], "o", color="white", markeredgecolor=colour)
        panel.plot(one[-1:], two[-1:], "o", color=colour, zorder=6)
        panel.annotate(
            start, (one[0], two[0]), (8, -4), textcoords="offset points", color=colour, zorder=7,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )  # fmt: skip
        if not beside:
            panel.annotate("end", (one[-1], two[-1]), (8, -4), textcoords="offset points")
    for axis, flow in zip("xy", first.summary["flows"], strict=True):
        text = f"window of {flow['name']}, {flow['rtt_s'] * 1e3:g} ms (segments)"
        limits: dict[str, Any] = {f"{axis}label": text, f"{axis}lim": (0, None)}
        panel.set(**limits)


def _alone(solved: Solved) -> list[float]:
    """The window with which each of two flows alone would fill the link, the queue empty."""
    flows, links = solved.flow_series.to_polars(), solved.link_series.to_polars()
    rate = flows.filter(pl.col("time_s") == 0)["rate_bit_s"].to_list()
    capacity = sum(rate) / links["load"][0]
    found = solved.summary["flows"]
    return [capacity * flow["window"][0] / own for flow, own in zip(found, rate, strict=True)]
