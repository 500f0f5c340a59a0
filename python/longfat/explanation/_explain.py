"""From what a run has recorded to what limited its flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from longfat.errors import ResultError
from longfat.explanation._explanation import Explanation, FlowLimits
from longfat.explanation._phases import CAUSES, EVENTS, Course
from longfat.foreign import shown
from longfat.results._saved import SavedRun
from longfat.scenario import no_series
from longfat.units import number_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import polars as pl

    from longfat.explanation._phases import Numbers

FULL = 0.98
"""A link is full where it is used at least so much in an interval of the time series.

It is also full where packets wait while it can carry none.
"""


class Recorded(Protocol):
    """A finished run with its time series: `longfat.Run`."""

    name: str

    @property
    def summary(self) -> dict[str, Any]:
        """The averages, as `longfat run --json` prints them."""

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run."""


def explain(run: Recorded | str | os.PathLike[str]) -> Explanation:
    """Says what limited each flow of a run, and when.

    Args:
        run: A finished run with its time series, or the folder of one.

    Returns:
        What limited its flows, which prints itself in sentences.

    Raises:
        ResultError: The folder is none of a run, or the run kept no time series.
    """
    subject = _recorded(run)
    summary = subject.summary
    limits, links = subject.table("limits"), subject.table("link_series")
    if links.is_empty():
        message = f"{shown(subject.name)} {no_series(summary['scenario'])}"
        raise ResultError(message)
    windows = subject.table("flow_series").select("time_s", "flow", "window", "threshold")
    told = summary["flows"]
    paths = _paths(summary["scenario"])
    distinct = {path: place for place, path in enumerate(dict.fromkeys(paths.values()))}
    names = [flow["name"] for flow in told]
    ways = [distinct[paths[name.partition("[")[0]]] for name in names]
    rows = _spans(
        limits.join(windows, on=["time_s", "flow"], how="left"),
        names,
        ways,
        _fullness(links, distinct),
    )
    places = rows["place"].to_numpy()
    course, rows = _course(rows), rows.drop("place", "way", "name")
    first = np.searchsorted(places, np.arange(len(told)), "left").tolist()
    last = np.searchsorted(places, np.arange(len(told)), "right").tolist()
    flows = [
        _flow(flow, rows[begin:end], course.part(begin, end))
        for flow, begin, end in zip(told, first, last, strict=True)
        if end > begin
    ]
    duration, warmup = (_seconds(summary["scenario"][key]) for key in ("duration", "warmup"))
    return Explanation(subject.name, duration, warmup, tuple(flows))


def _recorded(run: Any) -> Recorded:  # noqa: ANN401 - a run, or a path of any kind
    return run if hasattr(run, "table") else SavedRun(run)


def _paths(scenario: dict[str, Any]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The directions of links that the data of each group crosses."""
    found = {}
    for group in scenario.get("flow", ()):
        turned = bool(group.get("reverse", False))
        hops = [hop if isinstance(hop, dict) else {"link": hop} for hop in group["path"]]
        found[group["name"]] = tuple(
            (hop["link"], "reverse" if turned != bool(hop.get("reverse", False)) else "forward")
            for hop in hops
        )
    return found


def _fullness(links: pl.DataFrame, paths: dict[tuple[tuple[str, str], ...], int]) -> pl.DataFrame:
    """How much the fullest link of each path is used in each interval, and which one that is.

    One that can carry nothing while packets wait for it is used as much as it can be.
    """
    import polars as pl

    used = pl.col("utilisation")
    if {"capacity_bit_s", "queue_packets"} <= {*links.columns}:  # of links that change
        waiting = (pl.col("capacity_bit_s") == 0) & (pl.col("queue_packets") > 0)
        used = pl.when(waiting).then(1.0).otherwise(used).alias("utilisation")
    hops = [(way, *hop) for path, way in paths.items() for hop in path]
    schema = {"way": pl.Int64, "link": pl.String, "direction": pl.String}
    crossed = pl.DataFrame(hops, schema=schema, orient="row")
    return (
        links.select("time_s", pl.col("link", "direction").cast(pl.String), used)
        .join(crossed, on=["link", "direction"], maintain_order="left")
        .sort("way", "time_s", "utilisation", maintain_order=True)
        .group_by("way", "time_s")
        .agg(pl.col("utilisation").max(), pl.col("link").last())
    )


def _spans(
    rows: pl.DataFrame, names: Sequence[str], ways: Sequence[int], fullness: pl.DataFrame
) -> pl.DataFrame:
    """The rows flow by flow in the order of time, with `link_s`: the time that is the link's, not the flow's.

    Args:
        rows: What limited flows, with their windows.
        names: The flows, in order.
        ways: The path of each.
        fullness: What `_fullness` says of these paths.
    """
    import polars as pl

    index = pl.DataFrame(
        {"name": names, "place": range(len(names)), "way": ways},
        schema={"name": pl.String, "place": pl.Int64, "way": pl.Int64},
    )
    full = pl.col("utilisation") >= FULL
    link = pl.when(full).then(pl.col("window_s") + pl.col("pacing_s")).otherwise(0.0)
    left = [pl.when(full).then(0.0).otherwise(pl.col(f"{name}_s")) for name in ("window", "pacing")]
    return (
        rows.with_columns(pl.col("flow").cast(pl.String).alias("name"))
        .join(index, on="name")
        .join(fullness, on=["way", "time_s"], how="left")
        .sort("place", "time_s")
        .with_columns(link.alias("link_s"), left[0].alias("window_s"), left[1].alias("pacing_s"))
    )


def _course(spans: pl.DataFrame) -> Course:
    """The rows of all flows as numbers."""
    import polars as pl

    def real(column: str) -> Numbers:
        found: Numbers = spans[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return found

    return Course(
        times=real("time_s"),
        held=np.stack([real(f"{cause}_s") for cause in CAUSES], axis=1),
        events=np.stack(
            [spans[each].fill_null(0).cast(pl.Int64).to_numpy() for each in EVENTS], axis=1
        ),
        windows=real("window"),
        thresholds=real("threshold"),
        full=(spans["utilisation"] >= FULL).fill_null(value=False).to_numpy(),
        links=spans["link"].to_numpy(),
    )


def _flow(told: dict[str, Any], rows: pl.DataFrame, course: Course) -> FlowLimits:
    windowed = bool(np.isfinite(course.held[:, CAUSES.index("recovery")]).any())
    held = np.nansum(course.held, axis=0).tolist() if windowed else [0.0] * len(CAUSES)
    active = sum(held)
    losses, marks, timeouts = course.events.sum(axis=0).tolist()
    return FlowLimits(
        name=told["name"],
        control=told["control"],
        active_s=active,
        shares={cause: each / active for cause, each in zip(CAUSES, held, strict=True)}
        if active
        else {},
        losses=losses,
        marks=marks,
        timeouts=timeouts,
        windowed=windowed,
        rows=rows,
        course=course,
    )


def _seconds(text: str) -> float:
    number = number_of(text)
    return number[0] if number is not None else 0.0
