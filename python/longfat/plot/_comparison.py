"""The picture of a comparison of controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.plot import style
from longfat.plot._panels import FEW, busy, flow_lines, in_order, queues, utilisations
from longfat.units import ABSENT, RATE, percent, plural, ruler, small

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    figure = style.figure(max(12.0, 3.2 * columns), 10.8, head=1.95)
    rows = figure.subplots(
        4, columns, sharex=True, sharey="row", squeeze=False, height_ratios=(1.25, 1, 1, 0.8)
    )
    for column, contender in enumerate(contenders):
        panels: list[Axes] = list(rows[:, column])
        first = contender.results[0]
        if not first.tables or not first.summary:
            continue
        flows = in_order(first.tables["flow_series"].to_polars(), first.summary)
        links = busy(first.tables["link_series"].to_polars())
        flow_lines(panels[0], flows, "window", "window (segments)", legend=False)
        flow_lines(panels[1], flows, "throughput_bit_s", "throughput", legend=False)
        queues(panels[2], links, packets=column == columns - 1)
        utilisations(panels[3], links)
        scenario = first.scenario
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


def _numbers(contender: Compared) -> str:
    goodput = contender.goodput_bit_s
    size, unit, digits = ruler([goodput.mean], RATE)
    spread = "" if goodput.half_width is None else f" ± {goodput.half_width / size:.{digits}f}"
    mean = ABSENT if goodput.mean is None else f"{goodput.mean / size:.{digits}f}"
    return (
        f"goodput {mean}{spread} {unit}\n"
        f"{percent(contender.utilisation.mean)} used, dropped {small(contender.drop_rate.mean)}"
    )
