"""From parts to one table: rows in the order of the plan, their means, differences, and the failures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat import frames
from longfat.errors import StudyError
from longfat.results._folder import write_whole
from longfat.results._table import writing
from longfat.study._design import evaluate, quoted, with_numbers
from longfat.study._file import suggestion
from longfat.study._numbers import in_order
from longfat.study._parts import ERROR, RUN, Parts
from longfat.study._statistics import Estimate, Interval, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from longfat.study._runs import Batch, Runs

BLOCK = 4096
"""So many rows are in memory at a time."""

ROWS, TABLE = "rows.parquet", "table.csv"


def block(runs: Runs, parts: Parts, batch: Batch) -> pl.DataFrame:
    """The rows of some runs in the order of the plan: keys, `seed`, numbers, `error`; and `run`, their names.

    A run without a row has the error "missing".

    Raises:
        StudyError: A number to derive cannot be computed.
    """
    import polars as pl

    points, places = batch.points.tolist(), batch.places.tolist()
    names = [runs.name(point, place) for point, place in zip(points, places, strict=True)]
    keys = runs.design.keys
    known: dict[int, dict[str, Any]] = {
        point: runs.design.labels(point) for point in dict.fromkeys(points)
    }
    from longfat.study._design import column

    plan = pl.DataFrame(
        {
            key: column([known[point][key] for point in points], runs.design.kind(key))
            for key in keys
        }
        | {"seed": pl.Series([runs.seed(place) for place in places], dtype=pl.Int64)}
        | {RUN: pl.Series(names, dtype=pl.String)}
    )
    found = parts.rows(batch.ids, names).with_columns(pl.lit(value=True).alias("_there"))
    rows = plan.join(found, on=RUN, how="left", maintain_order="left")
    missing = pl.when(pl.col("_there").is_null()).then(pl.lit(MISSING)).otherwise(pl.col(ERROR))
    rows = rows.with_columns(missing.alias(ERROR)).drop("_there")
    return derive(rows, runs)


MISSING = "missing: it has not been run"


def derive(rows: pl.DataFrame, runs: Runs) -> pl.DataFrame:
    """Adds the numbers that the study derives.

    Raises:
        StudyError: One cannot be computed.
    """
    import polars as pl

    for name, expression in runs.file.derive.items():
        if name in rows.columns:
            message = f"`derive` has `{name}`, which a run has already"
            raise StudyError(message)
        numbers = with_numbers(rows, runs.design.keys)
        # A column that nobody in this block has is null, not a misspelt name.
        absent = [each for each in quoted(expression) if each not in numbers.columns]
        numbers = numbers.with_columns(
            pl.lit(None, dtype=pl.Float64).alias(each) for each in absent
        )
        value = evaluate(numbers, expression, f"derive.{name}")
        rows = rows.with_columns(value.cast(pl.Float64).alias(name))
    return rows


def numbers_of(frame: pl.DataFrame, runs: Runs) -> list[str]:
    """The columns of a frame that were measured or derived."""
    other = {*runs.design.keys, "seed", RUN, ERROR}
    return [name for name in frame.columns if name not in other]


class Assembly:
    """The results of a study, put together a block at a time."""

    def __init__(self, runs: Runs, parts: Parts, batch: Batch) -> None:
        """Takes the runs that the table is to have."""
        self._runs = runs
        self._parts = parts
        self._batch = batch
        self.failed = 0
        self.missing = 0

    def write(self, folder: Path) -> None:
        """Writes `rows.parquet` and `table.csv`, each whole or not at all.

        Raises:
            OSError: They cannot be written.
            StudyError: A number to derive cannot be computed.
        """
        self._numbers = self._columns()
        write_whole(folder / ROWS, self._write_rows)
        write_whole(folder / TABLE, lambda path: self._write_table(folder / ROWS, path))

    def _columns(self) -> list[str]:
        """The numbers that any run has."""
        import polars as pl

        found: dict[str, None] = {}
        derived = list(self._runs.file.derive)
        finite: set[str] = set()
        errors: list[str] = []
        for some in self._runs.blocks(self._batch, BLOCK):
            rows = block(self._runs, self._parts, some)
            filled = rows.select(pl.all().is_not_null().any()).row(0, named=True)
            found.update((name, None) for name in numbers_of(rows, self._runs) if filled[name])
            finite.update(name for name in derived if rows[name].is_finite().any())
            errors = rows[ERROR].drop_nulls().to_list()
            self.missing += errors.count(MISSING)
            self.failed += len(errors) - errors.count(MISSING)
        for name in derived:
            if name not in found and found:
                raise StudyError(self._never(name, list(found)))
            if name in found and name not in finite:
                expression = self._runs.file.derive[name]
                message = (
                    f"`derive.{name}`: `{expression}` is no finite number in any run: does it divide by zero, "
                    "or take a root or a logarithm of what has none?"
                )
                raise StudyError(message)
        measured = in_order([name for name in found if name not in derived])
        return [*measured, *(name for name in derived if name in found)]

    def _never(self, name: str, known: list[str]) -> str:
        expression = self._runs.file.derive[name]
        for each in quoted(expression):
            if each not in (*known, *self._runs.design.keys, "seed"):
                return f"`derive.{name}`: no run has `{each}`: {suggestion(each, known)}"
        return f"`derive.{name}`: `{expression}` has no value in any run"

    def _write_rows(self, path: Path) -> None:
        """A row for each run; blocks are written beside, and streamed together."""
        import polars as pl

        pieces = path.parent / "pieces"
        pieces.mkdir()
        paths = []
        kept = [RUN] if self._runs.file.series else []
        order = [*self._runs.design.keys, "seed", *self._numbers, ERROR, *kept]
        for index, some in enumerate(self._runs.blocks(self._batch, BLOCK)):
            rows = block(self._runs, self._parts, some)
            absent = [name for name in self._numbers if name not in rows.columns]
            rows = rows.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in absent)
            paths.append(pieces / f"{index:09}.parquet")
            with writing(paths[-1], told=path):
                frames.write(rows.select(order), paths[-1])
        with writing(path):
            frames.stream(frames.scan(*paths), path, maintain_order=True, row_group_size=BLOCK)

    def _write_table(self, rows: Path, path: Path) -> None:
        import csv

        keys = list(self._runs.design.keys)
        names = [
            part for name in self._numbers for part in (name, f"{name}_half_width", f"{name}_n")
        ]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*keys, *names])
            for labels, estimates in point_estimates(
                self._runs, self._batch, rows, self._numbers, self._runs.file.interval
            ):
                cells: list[object] = [labels[key] for key in keys]
                for each in estimates:
                    cells += [_cell(each.mean), _cell(each.half_width), each.n]
                writer.writerow(cells)


def point_estimates(
    runs: Runs, batch: Batch, rows: Path, names: Sequence[str], interval: Interval
) -> Iterator[tuple[dict[str, Any], list[Estimate]]]:
    """The labels of each point, and the mean of each number over its seeds."""
    points, starts = np.unique(batch.points, return_index=True)
    ends = np.append(starts[1:], len(batch))
    scan = frames.scan(rows).select(names)
    index = 0
    while index < len(points):
        # Whole points, as many as make a block; one point that is larger is read number by number.
        last = max(index + 1, int(np.searchsorted(ends, starts[index] + BLOCK, side="right")))
        first, length = int(starts[index]), int(ends[last - 1] - starts[index])
        if length <= BLOCK:
            frame = scan.slice(first, length).collect()
            columns = [frame[name].to_list() for name in names]
            for place in range(index, last):
                here = slice(int(starts[place]) - first, int(ends[place]) - first)
                labels = runs.design.labels(int(points[place]))
                yield labels, [estimate(column[here], interval) for column in columns]
        else:
            one = [
                estimate(scan.select(name).slice(first, length).collect()[name].to_list(), interval)
                for name in names
            ]
            yield runs.design.labels(int(points[index])), one
        index = last


def _cell(value: float | None) -> str:
    return "" if value is None else repr(value)


def precise_enough(
    runs: Runs, parts: Parts, batch: Batch, names: Sequence[str] | None, share: float
) -> dict[int, bool]:
    """For each point of a batch, whether the interval of every number is within a share of its mean.

    Raises:
        StudyError: No run has one of the numbers.
    """
    points, starts = np.unique(batch.points, return_index=True)
    ends = np.append(starts[1:], len(batch))
    verdicts: dict[int, bool] = {}
    seen: set[str] = set()
    index = 0
    while index < len(points):
        last = max(index + 1, int(np.searchsorted(ends, starts[index] + BLOCK, side="right")))
        first = int(starts[index])
        frame = block(runs, parts, batch.of(slice(first, int(ends[last - 1]))))
        asked = [name for name in numbers_of(frame, runs) if _is_asked(name, names)]
        seen.update(asked)
        for place in range(index, last):
            here = frame.slice(int(starts[place]) - first, int(ends[place] - starts[place]))
            found = [estimate(here[name].to_list(), runs.file.interval) for name in asked]
            verdicts[int(points[place])] = all(_is_precise(each, share) for each in found)
        index = last
    measured = seen or (len(points) > 0 and numbers_of(frame, runs))
    if names is not None and measured and (wrong := [name for name in names if name not in seen]):
        hint = suggestion(wrong[0], numbers_of(frame, runs))
        message = f"no run has `{wrong[0]}`, which `seeds` wants to know precisely: {hint}"
        raise StudyError(message)
    return verdicts


def _is_asked(name: str, names: Sequence[str] | None) -> bool:
    if names is None:
        return name.startswith("flows.") and name.endswith(".goodput_bit_s")
    return name in names


def _is_precise(found: Estimate, share: float) -> bool:
    if found.n == 0:
        return True
    if found.mean is None or found.half_width is None or math.isnan(found.half_width):
        return False
    return found.half_width <= share * abs(found.mean)
