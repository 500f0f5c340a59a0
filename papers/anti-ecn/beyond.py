"""Shared by the experiments beyond the paper: the link of `beyond.toml`, and what is read from a run."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from longfat.paper import Scale, per_seed
from longfat.study import Measured, Point

FULL_LENGTH = 5
"""How many times longer runs are at the full scale."""

COLOURS = {
    0.0: "#6b6b6b",
    0.4: "#0B3C5D",
    0.5: "#2E86AB",
    0.75: "#E08E1B",
    0.9: "#C0392B",
    0.95: "#C0392B",
}


def marker(threshold: float, buffer: str = "1 bdp") -> Mapping[str, Any] | bool:
    """The link's `anti_ecn` setting; a threshold of 0 stands for no AntiECN."""
    return {"threshold": threshold, "buffer": buffer} if threshold else False


def beyond(
    scale: Scale,
    seconds: float,
    changes: Mapping[str, Any],
    *,
    seeds: int = 5,
    tables: tuple[str, ...] = (),
    scenario: str = "beyond.toml",
    **labels: object,
) -> Point:
    """A point of `scenario`: `seconds` at the quick scale; a sixth of that is the warm-up at both scales."""
    length = seconds * (FULL_LENGTH if scale == "full" else 1)
    lengths = {"duration": f"{length:g} s", "warmup": f"{seconds / 6:g} s"}
    return Point(scenario, set=lengths | dict(changes), labels=labels, seeds=seeds, tables=tables)


def room(run: Measured) -> float:
    """Share of acknowledgments that reported room, averaged over the flows; 0 where no flow listens."""
    told = [flow["room_rate"] for flow in run.flows() if flow["room_rate"] is not None]
    return sum(told) / len(told) if told else 0.0


def ratio(
    rows: pl.DataFrame, column: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> list[float | None]:
    """One point's column over another's, seed by seed."""
    return [_over(a, b) for a, b in _pairs(rows, column, one, other)]


def difference(
    rows: pl.DataFrame, column: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> list[float | None]:
    """One point's column minus another's, seed by seed."""
    return [None if a is None or b is None else a - b for a, b in _pairs(rows, column, one, other)]


def _pairs(
    rows: pl.DataFrame, column: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> list[tuple[float | None, float | None]]:
    return list(zip(per_seed(rows, column, **one), per_seed(rows, column, **other), strict=True))


def _over(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else a / b


def head(panel: Axes, title: str) -> None:
    """Gives a panel its title."""
    panel.set_title(title, loc="left", fontsize=12, fontweight="bold")


def named(threshold: float) -> str:
    """The label of a threshold."""
    return f"{100 * threshold:.0f} %" if threshold else "TCP"
