"""From what a run has recorded to what limited its flows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from longfat.errors import ResultError
from longfat.explanation._explanation import CAUSES, Explanation, FlowLimits
from longfat.explanation._phases import phases
from longfat.foreign import shown
from longfat.results._saved import SavedRun
from longfat.scenario import no_series
from longfat.units import number_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import polars as pl

FULL = 0.98
"""A link is full where it is used at least so much in an interval of the time series."""


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
    rows = limits.join(windows, on=["time_s", "flow"], how="left")
    by_flow = {str(key[0]): part for key, part in rows.partition_by("flow", as_dict=True).items()}
    paths = _paths(summary["scenario"])
    fullness = cache(lambda path: _fullness(links, path))  # of many groups few paths differ
    flows = [
        _flow(flow, by_flow[flow["name"]], fullness(paths[flow["name"].partition("[")[0]]))
        for flow in summary["flows"]
        if flow["name"] in by_flow
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


def _fullness(links: pl.DataFrame, path: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """How much the fullest link of a path is used in each interval, and which one that is."""
    import polars as pl

    on_path = pl.any_horizontal(
        (pl.col("link") == link) & (pl.col("direction") == direction) for link, direction in path
    )
    chosen = links.with_columns(pl.col("link", "direction").cast(pl.String)).filter(on_path)
    fullest = pl.col("link").sort_by("utilisation").last()
    return chosen.group_by("time_s").agg(pl.col("utilisation").max(), fullest)


def _flow(told: dict[str, Any], rows: pl.DataFrame, fullness: pl.DataFrame) -> FlowLimits:
    rows = rows.sort("time_s").join(fullness, on="time_s", how="left")
    import polars as pl

    full = pl.col("utilisation") >= FULL
    link = pl.when(full).then(pl.col("window_s") + pl.col("pacing_s")).otherwise(0.0)
    left = [pl.when(full).then(0.0).otherwise(pl.col(f"{name}_s")) for name in ("window", "pacing")]
    spans = rows.with_columns(
        link.alias("link_s"), left[0].alias("window_s"), left[1].alias("pacing_s")
    )
    known = not spans["recovery_s"].is_null().all() and not spans["recovery_s"].is_nan().all()
    held = {cause: float(spans[f"{cause}_s"].sum()) if known else 0.0 for cause in CAUSES}
    active = sum(held.values())
    return FlowLimits(
        name=told["name"],
        control=told["control"],
        active_s=active,
        shares={cause: each / active for cause, each in held.items()} if active else {},
        losses=int(rows["losses"].sum()),
        marks=int(rows["marks"].sum()),
        timeouts=int(rows["timeouts"].sum()),
        phases=tuple(phases(spans, FULL)) if active else (),
        rows=spans,
    )


def _seconds(text: str) -> float:
    number = number_of(text)
    return number[0] if number is not None else 0.0
