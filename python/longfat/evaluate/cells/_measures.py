"""Measures that several groups share, and how they are taken from a finished run."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from longfat import fairness
from longfat.evaluate.cells._cell import Chart, Measure
from longfat.evaluate.cells._scenarios import GROUP, LINK
from longfat.scenario import PICOSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longfat.evaluate.cells._cell import Line, Row
    from longfat.study import Measured

SERIES = ("flow_series", "link_series")

USED = Measure("used", "capacity used for new data", "%", "more", 0.002, 0.03)
WAIT_P50 = Measure("wait_p50", "waiting time in the queue, median", "s", "less", 1e-3, 0.1)
WAIT_P99 = Measure("wait_p99", "waiting time in the queue, 99th percentile", "s", "less", 1e-3, 0.1)
LOSS = Measure("loss", "packets dropped by queues", "probability", "less", 1e-3, 0.1)
VARIATION = Measure(
    "variation", "coefficient of variation of the throughput", "%", "less", 0.05, 0.1
)
FAIR = Measure("fair", "Jain's index of fairness", "", "more", 0.02)

PATH_MEASURES = (USED, WAIT_P50, WAIT_P99, LOSS, VARIATION)
"""What is measured of a path with long flows."""


def of_path(run: Measured) -> Row:
    """The measures of `PATH_MEASURES`."""
    return {
        "used": fairness.share(run, link=LINK),
        **waiting(run),
        "loss": fairness.loss_rate(run),
        "variation": variation(total(run)[1]),
    }


def waiting(run: Measured, name: str = LINK) -> Row:
    """How long what arrives at a link has to wait, in seconds: the queue over the rate of the link.

    The percentile is exact, weighted by time; the median is that of the samples of the time series.
    """
    side = run.quantities.links[name].forward
    found = run.link(name)
    if side.buffer is None:
        return {"wait_p50": None, "wait_p99": None}
    series = run.table("link_series").filter(link=name, direction="forward")
    after = series.filter(series["time_s"] > warmup_s(run))["queue"].to_list()
    whole = buffer_s(run, name)
    return {
        "wait_p50": statistics.median(after) * whole if after else None,
        "wait_p99": found["queue_p99"] * whole,
    }


def warmup_s(run: Measured) -> float:
    """The end of the warm-up in seconds."""
    return run.quantities.warmup_ps / PICOSECONDS


def buffer_s(run: Measured, name: str = LINK) -> float:
    """How long a full buffer of a link takes to leave, in seconds, at the mean rate of the link."""
    side = run.quantities.links[name].forward
    size = side.buffer or 0
    if side.unit == "packets":
        crossing = [group for group in run.quantities.groups.values() if name in group.path]
        size *= max(group.packet_bytes for group in crossing)
    return 8 * size / (side.capacity_bit_s or side.rate_bit_s)


def total(
    run: Measured, *groups: str, from_s: float | None = None
) -> tuple[list[float], list[float]]:
    """The throughput of some groups together.

    Args:
        run: The finished run.
        groups: Groups of long flows; by default all.
        from_s: From when on; by default the end of the warm-up.

    Returns:
        Times in seconds, and bit/s in the intervals that end there.
    """
    import polars as pl

    series = run.table("flow_series")
    if groups:
        series = series.filter(pl.col("group").cast(pl.String).is_in(groups))
    series = series.filter(pl.col("time_s") > (warmup_s(run) if from_s is None else from_s))
    found = series.group_by("time_s").agg(pl.col("throughput_bit_s").sum()).sort("time_s")
    return found["time_s"].to_list(), found["throughput_bit_s"].to_list()


def variation(values: Sequence[float]) -> float | None:
    """The standard deviation over the mean; `None` if there is nothing, or nothing but zeros."""
    if len(values) < 2 or not any(values):  # noqa: PLR2004 - of one value there is none
        return None
    return statistics.pstdev(values) / statistics.fmean(values)


def first_above(
    times: Sequence[float],
    values: Sequence[float],
    level: float,
    *,
    after: float = 0.0,
    over: int = 1,
) -> float | None:
    """When values first reach a level on average over so many samples in a row; `None` if they never do.

    >>> first_above([1, 2, 3, 4], [0, 8, 9, 9], 8.5, over=2)
    3
    """
    for index in range(len(times) - over + 1):
        window = values[index : index + over]
        if times[index] > after and math.fsum(window) / over >= level:
            return times[index + over - 1]
    return None


def goodputs(run: Measured, group: str = GROUP) -> list[float]:
    """The goodput of each flow of a group, in bit/s."""
    return [float(each["goodput_bit_s"]) for each in run.flows(group)]


_MOST_LINES = 8


def _throughput(run: Measured) -> Mapping[str, Line]:
    times, values = total(run, from_s=0.0)
    return {"": (times, list(values))}


def _queue(run: Measured) -> Mapping[str, Line]:
    series = run.table("link_series").filter(link=LINK, direction="forward")
    whole = buffer_s(run)
    return {
        "": (series["time_s"].to_list(), [share * whole for share in series["queue"].to_list()])
    }


def _flows(run: Measured) -> Mapping[str, Line]:
    series = run.table("flow_series")
    found = {}
    for (name,), rows in series.group_by("flow", maintain_order=True):
        found[str(name)] = (rows["time_s"].to_list(), rows["throughput_bit_s"].to_list())
    return dict(list(found.items())[:_MOST_LINES])


THROUGHPUT = Chart("throughput", "bit/s", _throughput)
QUEUE = Chart("waiting time in the queue", "s", _queue)
FLOWS = Chart("throughput of each flow", "bit/s", _flows, alone=True)


def censored(value: float | None, limit: float) -> float:
    """A time that was waited for no longer than to a limit."""
    return limit if value is None else min(value, limit)


def lesser(share: float | None) -> float | None:
    """Of two that share, what the one gets that gets less: at most a half, which is equal.

    Whether more or less of a share is better depends on the side of the half on which it lies; of this, more is
    always better. It is taken of each run, since a mean share of a half may be everything for the one with some
    seeds, and everything for the other with the rest.

    >>> lesser(0.25), lesser(0.75), lesser(0.5)
    (0.25, 0.25, 0.5)
    """
    return None if share is None else min(share, 1.0 - share)


def ratio(values: Iterable[float]) -> float | None:
    """The smallest over the largest; `None` if nobody gets anything."""
    known = list(values)
    return min(known) / max(known) if known and max(known) > 0 else None
