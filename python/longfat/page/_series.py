"""The time series of runs as lines of charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from longfat.page import _colours
from longfat.page._charts import Chart, Line
from longfat.plot._panels import FEW, busy, in_order, parts, some, telling
from longfat.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longfat.page._charts import Numbers
    from longfat.results._saved import SavedRun

_MOST_FAINT = 60
_MOST_GROUPS = 2 * _colours.COUNT
"""Colours are used twice: for lines that are whole, and for dashed ones."""
_OF_FLOWS = (
    ("window", "window", "segments"),
    ("throughput_bit_s", "throughput", "bit/s"),
    ("rtt_s", "round trip", "s"),
)
_OF_LINKS = (
    ("queue", "queue, share of the buffer", "%"),
    ("utilisation", "utilisation", "%"),
    ("dropped", "drops in each interval", "packets"),
    ("marked", "marks in each interval", "packets"),
)
_RARE = ("dropped", "marked")
"""What is drawn only where it happened."""


def of_run(run: SavedRun) -> list[Chart]:
    """The charts of a run: window, throughput, round trip; queue, utilisation, drops, marks; variables."""
    flows = in_order(run.flow_series.to_polars(), run.summary, _MOST_GROUPS)
    links = busy(run.link_series.to_polars()) if len(run.link_series) else []
    charts = [
        Chart(title, unit, tuple(flow_lines(flows, column)), shaded=run.warmup_s)
        for column, title, unit in _OF_FLOWS
    ]
    charts += [
        Chart(
            title,
            unit,
            tuple(
                Line(name, numbers(line, "time_s"), numbers(line, column), index)
                for index, (name, line) in enumerate(links)
            ),
            shaded=run.warmup_s,
        )
        for column, title, unit in _OF_LINKS
        if column not in _RARE or any(line[column].max() for _, line in links)
    ]
    for name in telling(flows, run.variables):
        lines = tuple(flow_lines(flows, name))
        charts.append(Chart(name, "", lines, shaded=run.warmup_s, from_zero=False))
    return charts


def of_runs(runs: Sequence[tuple[str, SavedRun]]) -> list[Chart]:
    """The same charts with several runs in each: a colour for each run.

    A line stands for a group of flows: means of windows and round trips, sums of throughputs.
    """
    flows = [
        (name, in_order(run.flow_series.to_polars(), run.summary, _MOST_GROUPS))
        for name, run in runs
    ]
    links = [
        (name, busy(run.link_series.to_polars())) for name, run in runs if len(run.link_series)
    ]
    shaded = min(run.warmup_s for _, run in runs)
    charts = [
        Chart(
            title,
            unit,
            tuple(
                Line(f"{name} · {group}" if several else name, *means, colour)
                for colour, (name, series) in enumerate(flows)
                for several in [series["group"].n_unique() > 1]
                for group, means in _group_lines(series, column)
            ),
            shaded=shaded,
        )
        for column, title, unit in (
            ("window", "window, mean of each group", "segments"),
            ("throughput_bit_s", "throughput, sum of each group", "bit/s"),
            ("rtt_s", "round trip, mean of each group", "s"),
        )
    ]
    charts += [
        Chart(
            title,
            unit,
            tuple(
                Line(
                    f"{name} · {link}" if len(some) > 1 else name,
                    numbers(line, "time_s"),
                    numbers(line, column),
                    colour,
                )
                for colour, (name, some) in enumerate(links)
                for link, line in some
            ),
            shaded=shaded,
        )
        for column, title, unit in _OF_LINKS
        if column not in _RARE or any(line[column].max() for _, some in links for _, line in some)
    ]
    return charts


def numbers(frame: pl.DataFrame, column: str) -> Numbers:
    """A column as numbers, NaN where there is none."""
    found: Numbers = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.where(np.isfinite(found), found, np.nan)


def flow_lines(series: pl.DataFrame, column: str) -> Iterator[Line]:
    """A line for each of a few flows; of many, thin ones behind the mean of their group."""
    if series["flow"].n_unique() <= FEW:
        for index, (name, line) in enumerate(parts(series, "flow")):
            yield Line(name, numbers(line, "time_s"), numbers(line, column), index)
        return
    for index, (group, members) in enumerate(parts(series, "group")):
        shown, count = some(members, "flow", _MOST_FAINT)
        if count == 1:
            yield Line(group, numbers(members, "time_s"), numbers(members, column), index)
            continue
        which = plural(count, "flow")
        button = f"{group}: {which}" if len(shown) == count else f"{group}: {len(shown)} of {which}"
        for name, line in shown:
            x, y = numbers(line, "time_s"), numbers(line, column)
            yield Line(name, x, y, index, faint=True, button=button)
        mean = members.group_by("time_s").agg(pl.col(column).mean()).sort("time_s")
        yield Line(f"{group}: mean", numbers(mean, "time_s"), numbers(mean, column), index)


def _group_lines(
    series: pl.DataFrame, column: str
) -> Iterator[tuple[str, tuple[Numbers, Numbers]]]:
    rate = column.endswith("_bit_s")
    for group, members in parts(series, "group"):
        value = pl.col(column).sum() if rate else pl.col(column).mean()
        line = members.group_by("time_s").agg(value).sort("time_s")
        yield group, (numbers(line, "time_s"), numbers(line, column))
