"""The picture of a comparison of controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.plot import style
from longfat.plot._panels import (
    FEW,
    averaged,
    averaging,
    busy,
    capacities,
    delay_changes,
    flow_lines,
    in_order,
    largest,
    marking,
    marks,
    queues,
    says_averaged,
    until_complete,
    utilisations,
)
from longfat.units import ABSENT, RATE, percent, plural, ruler, small

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.plot._subjects import Compared, Shared


def comparison(setup: Shared, contenders: Sequence[Compared]) -> Figure:
    """Draws a comparison: a column for each controller, with window, throughput and queue of its first seed.

    Args:
        setup: The path and the flows.
        contenders: The controllers, with the time series of their first seed.

    Returns:
        A figure; the panels of a row have the same scale.
    """
    with style.applied():
        return _comparison(setup, contenders)


def _comparison(setup: Shared, contenders: Sequence[Compared]) -> Figure:
    columns = len(contenders)
    firsts = [_first(contender) for contender in contenders]
    # One for all columns, which are there to be compared.
    width = max((averaging(first[0]) for first in firsts if first is not None), default=0.0)
    firsts = [first and (averaged(first[0], width), first[1]) for first in firsts]
    drawn = [first for first in firsts if first is not None]
    marked = any(marking(links) for _, links in drawn)
    heights = (1.25, 1.0, 1.0, 0.8, *([0.8] if marked else []))
    figure = style.figure(max(12.0, 3.2 * columns), 12.4 if marked else 10.8, head=1.95)
    rows = figure.subplots(
        len(heights), columns, sharex=True, sharey="row", squeeze=False, height_ratios=heights
    )
    averages = "throughput"
    fastest = max((largest(flows["throughput_bit_s"]) for flows, _ in drawn), default=0.0)
    for column, (contender, first) in enumerate(zip(contenders, firsts, strict=True)):
        panels: list[Axes] = list(rows[:, column])
        if first is None:
            continue
        flows, links = first
        flow_lines(panels[0], flows, "window", "window (segments)", legend=False)
        flow_lines(panels[1], flows, "throughput_bit_s", "throughput", legend=False, top=fastest)
        if links and "capacity_bit_s" in links[0][1].columns:
            if capacities(panels[1], links, fastest, width, legend=False):
                averages = "throughput and capacity"
            delay_changes(panels, links)
        queues(panels[2], links, packets=column == columns - 1)
        utilisations(panels[3], links)
        if marked:
            marks(panels[4], links)
        scenario = contender.results[0].scenario
        for panel in panels:
            style.panel(panel, scenario.warmup_s, scenario.duration_s)
            if column:
                panel.set_ylabel("")
        panels[-1].set_xlabel("time (s)")
        style.column_title(panels[0], contender.label, _numbers(contender))
    for row in (*rows[:2], *rows[4:]):
        # The panels of a row share their scale, which the first one must not fix.
        top = max(panel.dataLim.y1 for panel in row)
        row[0].set_ylim(0, 1.05 * top if top > 0 else 1.0)
    seeds = plural(len(contenders[0].results), "seed")
    curves = "the first" + ("; thick: mean of the flows" if setup.flows > FEW else "")
    detail = f"numbers: means over {seeds} · curves: {curves}"
    style.title(figure, setup.title, detail + says_averaged(width, averages))
    if drawn:
        style.figure_legend(figure, rows[1, firsts.index(drawn[0])])
    figure.align_ylabels(rows[:, 0])
    return figure


def _first(contender: Compared) -> tuple[pl.DataFrame, list[tuple[str, pl.DataFrame]]] | None:
    """The series of the first seed: of its flows, and of its links by name; `None` if there are none."""
    first = contender.results[0]
    if not first.tables or not first.summary:
        return None
    flows = in_order(first.tables["flow_series"].to_polars(), first.summary)
    flows = until_complete(flows, first.summary)
    return flows, busy(first.tables["link_series"].to_polars())


def _numbers(contender: Compared) -> str:
    goodput = contender.goodput_bit_s
    size, unit, digits = ruler([goodput.mean], RATE)
    spread = "" if goodput.half_width is None else f" ± {goodput.half_width / size:.{digits}f}"
    mean = ABSENT if goodput.mean is None else f"{goodput.mean / size:.{digits}f}"
    return (
        f"goodput {mean}{spread} {unit}\n"
        f"{percent(contender.utilisation.mean)} used, dropped {small(contender.drop_rate.mean)}"
    )
