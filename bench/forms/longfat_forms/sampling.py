"""Points that are measured each in a way of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longfat.study import estimate, run_points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.study import Cache, Estimate, Measured, Point


def estimates(
    points: Sequence[Point],
    measures: Sequence[Callable[[Measured], dict[str, float]]],
    *,
    cache: Cache | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> list[dict[str, Estimate]]:
    """Mean and 95 % interval over the seeds of each point, for everything that its measure tells, by name."""
    placed = [replace(point, labels={"experiment": place}) for place, point in enumerate(points)]

    def measure(run: Measured) -> list[dict[str, Any]]:
        measured = measures[run.labels["experiment"]](run)
        return [{"what": what, "value": value} for what, value in measured.items()]

    values: list[dict[str, list[float]]] = [{} for _ in points]
    for row in run_points(placed, measure, cache=cache, progress=progress).rows(named=True):
        values[row["experiment"]].setdefault(row["what"], []).append(row["value"])
    return [{what: estimate(known) for what, known in found.items()} for found in values]


def told(value: Estimate) -> dict[str, float | int | None]:
    """An estimate as part of a row: mean, half of the 95 % confidence interval, number of seeds."""
    return {"mean": value.mean, "half": value.half_width, "n": value.n}
