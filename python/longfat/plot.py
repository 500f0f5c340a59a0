"""Pictures of a run, of a comparison, and of a fluid solution.

Figures are made without matplotlib's global state, so they work without a display and in any thread.
Every picture is 1200 by 1000 pixels or a little wider, and is written as PNG or SVG by its ending.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.patheffects import withStroke

from longfat import _style as style
from longfat._style import save
from longfat._text import ABSENT, RATE, TIME, amount, percent, plural, ruler, small

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat._api import Run
    from longfat._comparison import Contender, Setup
    from longfat._fluid import Fluid

__all__ = ["comparison", "fluid", "phase_plane", "run", "save"]

FEW = 6
"""So many flows get a colour each; more of them are drawn thin, with their mean on top."""

_MOST_THIN_LINES = 60
_BUSY = 0.1
"""A direction of a link is shown when its utilisation or its queue exceeds this share at some time."""


def run(finished: Run) -> Figure:
    """Draws window, throughput, queue and utilisation of one run against time.

    Args:
        finished: A run that kept its time series.

    Returns:
        A figure of four panels with a common time axis; the warm-up is shaded.

    Raises:
        ValueError: The run kept no time series.
    """
    with style.applied():
        return _run(finished)


def _run(finished: Run) -> Figure:
    flows = _in_order(finished.flow_series.to_polars(), finished.summary)
    links = finished.link_series.to_polars()
    if links.is_empty():
        message = "the run kept no time series: run it with record=True"
        raise ValueError(message)
    figure = style.figure(12, 10, head=1.15)
    axes = figure.subplots(4, 1, sharex=True, height_ratios=(1.25, 1, 1, 0.8))
    window, throughput, queue, utilisation = axes
    _flows(window, flows, "window", "window (segments)")
    _flows(throughput, flows, "throughput_bit_s", "throughput", legend=False)
    shown = _busy(links)
    _queue(queue, shown)
    _utilisation(utilisation, shown)
    for panel in axes:
        style.panel(panel, finished.warmup_s, finished.duration_s)
    utilisation.set_xlabel("time (s)")
    style.name_warmup(window, finished.warmup_s, finished.duration_s)
    style.title(figure, *_headline(finished))
    figure.align_ylabels(axes)
    return figure


def comparison(setup: Setup, contenders: Sequence[Contender]) -> Figure:
    """Draws a comparison: a column for each controller, with window, throughput and queue of its first seed.

    Args:
        setup: The path and the flows.
        contenders: The controllers, with the time series of their first seed.

    Returns:
        A figure; the panels of a row have the same scale.
    """
    with style.applied():
        return _comparison(setup, contenders)


def _comparison(setup: Setup, contenders: Sequence[Contender]) -> Figure:
    columns = len(contenders)
    figure = style.figure(max(12.0, 3.2 * columns), 10.8, head=1.95)
    rows = figure.subplots(
        4, columns, sharex=True, sharey="row", squeeze=False, height_ratios=(1.25, 1, 1, 0.8)
    )
    for column, contender in enumerate(contenders):
        panels: list[Axes] = list(rows[:, column])
        first = contender.results[0]
        if not first.tables or not first.summary:
            continue
        flows = _in_order(first.tables["flow_series"].to_polars(), first.summary)
        links = _busy(first.tables["link_series"].to_polars())
        _flows(panels[0], flows, "window", "window (segments)", legend=False)
        _flows(panels[1], flows, "throughput_bit_s", "throughput", legend=False)
        _queue(panels[2], links, packets=column == columns - 1)
        _utilisation(panels[3], links)
        scenario = first.job.scenario
        for panel in panels:
            style.panel(panel, scenario.warmup_s, scenario.duration_s)
            if column:
                panel.set_ylabel("")
        panels[3].set_xlabel("time (s)")
        style.column_title(panels[0], contender.label, _numbers(contender))
    seeds = plural(len(contenders[0].results), "seed")
    curves = "the first" + ("; thick: mean of the flows" if setup.flows > FEW else "")
    detail = f"numbers: means over {seeds} · curves: {curves}"
    style.title(figure, setup.title, detail)
    figure.align_ylabels(rows[:, 0])
    return figure


def fluid(solved: Fluid, packets: Run | None = None) -> Figure:
    """Draws windows, rates and prices of a fluid solution against time.

    Args:
        solved: A solution in time; where it has an equilibrium, that is drawn too, dotted.
        packets: A run of the same scenario, drawn behind in fainter lines of the same colours.

    Returns:
        A figure of three panels with a common time axis.

    Raises:
        ValueError: It was not solved in time, or the run kept no time series.
    """
    with style.applied():
        return _fluid(solved, packets)


def phase_plane(
    solved: Fluid | Mapping[str, Fluid], *, fair: float | None = None, panel: Axes | None = None
) -> Figure:
    """Draws the windows of two flows of one link against each other (Chiu and Jain 1989).

    Args:
        solved: A solution in time of two flows, as `longfat.synchronised` gives it; or several with the same
            link and round trips, by the names that their starts get.
        fair: Slope of the fairness line, second window over first; by default that of equal rates.
        panel: Draw there, with the names of the lines beside them, and not into a figure of its own.

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
            message = f"a phase plane is of two flows on one link: there are {len(flows)} flows"
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


def _plane(panel: Axes, paths: Mapping[str, Fluid], fair: float | None, *, beside: bool) -> None:
    """Both lines, which are those of the first solution, and the trajectories."""
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


def _alone(solved: Fluid) -> list[float]:
    """The window with which each of two flows would fill the link alone, the queue empty."""
    flows, links = solved.flow_series.to_polars(), solved.link_series.to_polars()
    rate = flows.filter(pl.col("time_s") == 0)["rate_bit_s"].to_list()
    capacity = sum(rate) / links["load"][0]
    found = solved.summary["flows"]
    return [capacity * flow["window"][0] / own for flow, own in zip(found, rate, strict=True)]


def _fluid(solved: Fluid, packets: Run | None) -> Figure:
    flows = solved.flow_series.to_polars()
    links = solved.link_series.to_polars()
    figure = style.figure(12, 10, head=1.15)
    axes = figure.subplots(3, 1, sharex=True, height_ratios=(1.3, 1, 0.9))
    window, rate, price = axes
    _flows(window, flows, "window", "window (segments)")
    _flows(rate, flows, "rate_bit_s", "rate", legend=False)
    price.set_ylabel("price (marked or lost)")
    for colour, (name, line) in zip(style.LINK_COLOURS, _directions(links), strict=False):
        price.plot(line["time_s"], line["price"], color=colour, linewidth=1.1, label=name)
    price.set_ylim(bottom=0)
    style.legend(price)
    if packets is not None:
        _behind(window, rate, flows, packets)
    if solved.equilibrium is not None:
        _rest(window, rate, flows, solved.equilibrium["flows"])
    for panel in axes:
        style.panel(panel, solved.warmup_s, solved.duration_s)
    price.set_xlabel("time (s)")
    style.name_warmup(window, solved.warmup_s, solved.duration_s)
    options = solved.options
    feedback = "with feedback delay" if options["delay"] else "without feedback delay"
    detail = f"{options['model']} fluid, price {options['price']}, {feedback}"
    if options["model"] == "synchronised":
        detail = "flows that lose together on one drop-tail link"
    behind = " · faint: the packets of the same scenario" if packets is not None else ""
    style.title(figure, f"{solved.name} as a fluid", detail + behind)
    figure.align_ylabels(axes)
    return figure


def _behind(window: Axes, rate: Axes, flows: pl.DataFrame, packets: Run) -> None:
    """The run of the packets, in the units and colours of the fluid."""
    series = _in_order(packets.flow_series.to_polars(), packets.summary)
    if series.is_empty():
        message = "the run kept no time series: run it with record=True"
        raise ValueError(message)
    size, _, _ = ruler([_largest(flows["rate_bit_s"])], RATE)
    few = flows["flow"].n_unique() <= FEW
    for colour, (_, part) in zip(
        style.COLOURS, _parts(series, "flow" if few else "group"), strict=False
    ):
        values = pl.col("window", "throughput_bit_s").mean()
        line = part if few else part.group_by("time_s").agg(values).sort("time_s")
        look: dict[str, Any] = {"color": colour, "linewidth": 1.0, "alpha": 0.4, "zorder": 1}
        window.plot(line["time_s"], line["window"], **look)
        rate.plot(line["time_s"], line["throughput_bit_s"] / size, **look)
    for panel in (window, rate):
        panel.relim()
        panel.autoscale(axis="y")
        panel.set_ylim(bottom=0)


def _rest(window: Axes, rate: Axes, flows: pl.DataFrame, rest: list[dict[str, Any]]) -> None:
    """Where few flows settle, as dotted lines."""
    if len(rest) > FEW:
        return
    size, _, _ = ruler([_largest(flows["rate_bit_s"])], RATE)
    for colour, flow in zip(style.COLOURS, rest, strict=False):
        window.axhline(flow["window"], color=colour, linewidth=1.0, linestyle=":")
        rate.axhline(flow["rate_bit_s"] / size, color=colour, linewidth=1.0, linestyle=":")


def _flows(
    panel: Axes, series: pl.DataFrame, column: str, label: str, *, legend: bool = True
) -> None:
    """One line per flow, or, of many, thin lines and the mean of each group."""
    unit = ""
    if column.endswith("_bit_s"):
        size, unit, _ = ruler([_largest(series[column])], RATE)
        series = series.with_columns(pl.col(column) / size)
        unit = f" ({unit})"
    else:
        style.large_numbers(panel)
    panel.set_ylabel(label + unit)
    names = series["flow"].unique(maintain_order=True)
    if len(names) <= FEW:
        for colour, (name, line) in zip(style.COLOURS, _parts(series, "flow"), strict=False):
            panel.plot(line["time_s"], line[column], color=colour, linewidth=1.3, label=name)
    else:
        for colour, (name, group) in zip(style.COLOURS, _parts(series, "group"), strict=False):
            lines = _parts(group, "flow")
            step = -(-len(lines) // _MOST_THIN_LINES)
            faint = max(0.25, 0.6 - 0.02 * len(lines))
            for _, line in lines[::step]:
                panel.plot(line["time_s"], line[column], color=colour, linewidth=0.6, alpha=faint)
            mean = group.group_by("time_s").agg(pl.col(column).mean()).sort("time_s")
            text = f"{name}: mean of {len(lines)}"
            panel.plot(mean["time_s"], mean[column], color=colour, linewidth=2.2, label=text)
    panel.set_ylim(bottom=0)
    if legend:
        style.legend(panel)


def _queue(panel: Axes, links: list[tuple[str, pl.DataFrame]], *, packets: bool = True) -> None:
    """The queue of each busy direction as a share of its buffer; where it is one, also in packets."""
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


def _utilisation(panel: Axes, links: list[tuple[str, pl.DataFrame]]) -> None:
    panel.set_ylabel("utilisation (%)")
    _shares(panel, links, "utilisation")


def _shares(panel: Axes, links: list[tuple[str, pl.DataFrame]], column: str) -> None:
    for colour, (name, line) in zip(style.LINK_COLOURS, links, strict=False):
        share = 100 * line[column]
        panel.plot(line["time_s"], share, color=colour, linewidth=1.1, label=name)
        if len(links) == 1:
            panel.fill_between(line["time_s"], share, color=colour, alpha=0.08, linewidth=0)
    panel.set_ylim(0, 105)


def _busy(links: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The directions worth a line, each with its name: `bottleneck`, `bottleneck, reverse`."""
    parts = _directions(links)
    busy = [
        (name, line)
        for name, line in parts
        if _largest(line["utilisation"]) > _BUSY or _largest(line["queue"]) > _BUSY
    ]
    return busy or parts[:1]


def _directions(links: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [
        (name if direction == "forward" else f"{name}, {direction}", line)
        for name, link in _parts(links, "link")
        for direction, line in _parts(link, "direction")
    ]


def _largest(series: pl.Series) -> float:
    return float(series.drop_nulls().to_numpy().max(initial=0.0))


def _in_order(series: pl.DataFrame, summary: dict[str, Any]) -> pl.DataFrame:
    """The series of the flows in the order of the file, whichever started first."""
    order = {flow["name"]: index for index, flow in enumerate(summary["flows"])}
    place = pl.col("flow").cast(pl.String).replace_strict(order, return_dtype=pl.Int64)
    return series.sort(place, "time_s")


def _parts(frame: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each name, in the order of first appearance."""
    parts = frame.partition_by(column, maintain_order=True, as_dict=True)
    return [(str(key[0]), part) for key, part in parts.items()]


def _headline(finished: Run) -> tuple[str, str]:
    """What was simulated, and what came out."""
    summary = finished.summary
    kinds: dict[str, int] = {}
    for flow in summary["flows"]:
        kinds[flow["control"]] = kinds.get(flow["control"], 0) + 1
    flows = " + ".join(f"{count} × {control}" for control, count in kinds.items())
    links = summary["scenario"]["link"]
    flows = flows or "short flows"
    rates = list(dict.fromkeys(link["rate"] for link in links.values()))
    path = ", ".join(rates[:3]) + (f" ({len(links)} links)" if len(links) > 1 else "")
    trips = sorted({flow["rtt_s"] for flow in summary["flows"]})
    return f"{finished.name}: {flows} on {path}{_round_trips(trips)}", _outcome(summary)


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


def _numbers(contender: Contender) -> str:
    goodput = contender.goodput_bit_s
    size, unit, digits = ruler([goodput.mean], RATE)
    spread = "" if goodput.half_width is None else f" ± {goodput.half_width / size:.{digits}f}"
    mean = ABSENT if goodput.mean is None else f"{goodput.mean / size:.{digits}f}"
    return (
        f"goodput {mean}{spread} {unit}\n"
        f"{percent(contender.utilisation.mean)} used, dropped {small(contender.drop_rate.mean)}"
    )
