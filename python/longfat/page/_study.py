"""The page of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from longfat.foreign import read_text
from longfat.page import _kit
from longfat.study import _in_words
from longfat.study._chunk import FILE
from longfat.study._file import Until
from longfat.study._study import DIFFERENCES
from longfat.study._values import describe, label
from longfat.tables import TextTable
from longfat.units import small

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.study._study import Study

_MOST_ROWS = 1000
_MOST_VALUES = 12
_MOST_ERRORS = 20


def study_page(found: Study) -> str:
    """The page of a study: what varies, its pictures, its table with intervals, its file."""
    name = found.folder.resolve().name.removeprefix("study-")
    table = found.table()
    return _kit.page(
        "study.html",
        kind="study",
        title=name,
        about=_question(found),
        figures=[
            ("points", f"{len(table):,}"),
            ("runs", f"{found.runs:,}"),
            ("seeds of each point", _seeds(found)),
            ("runs that failed", f"{found.failed:,}"),
        ],
        varied=_varied(found),
        pictures=_pictures(found),
        means=_in_words.means(found, _MOST_ROWS),
        numbers=_in_words.asked(found),
        doubts=_in_words.doubts(found),
        differences=_differences(found),
        errors=[
            f"{describe({key: row[key] for key in (*found.keys, 'seed')})}: {row['error']}"
            for row in found.errors.head(_MOST_ERRORS).rows(named=True)
        ],
        failed=found.failed,
        file=read_text(found.folder / FILE),
        folder=str(found.folder),
    )


def _question(found: Study) -> str:
    numbers = _in_words.asked(found)
    keys = " and ".join(
        [", ".join(found.keys[:-1]), found.keys[-1]] if found.keys[1:] else found.keys
    )
    return f"{', '.join(numbers) or 'All numbers'} for each {keys or 'seed'}."


def _seeds(found: Study) -> str:
    seeds = found.file.seeds
    if isinstance(seeds, Until):
        return f"up to {seeds.most}"
    return str(len(found.file.first_seeds))


def _varied(found: Study) -> TextTable:
    """The keys with their values."""
    rows: list[Sequence[str]] = []
    table = found.table()
    for key in found.keys:
        values = [str(label(value)) for value in table[key].unique(maintain_order=True).to_list()]
        told = ", ".join(values[:_MOST_VALUES])
        more = len(values) - _MOST_VALUES
        rows.append((key, told + (f" and {more:,} more" if more > 0 else "")))
    return TextTable(("what varies", "values"), rows=rows, words=2)


def _pictures(found: Study) -> list[tuple[str, str]]:
    """The pictures of the folder, each with what it shows."""
    made = []
    for index, plot in enumerate(found.plots, start=1):
        path = found.folder / f"{plot.name or f'plot-{index}'}.svg"
        if path.is_file():
            told = plot.title or f"{plot.y} against {plot.x}"
            made.append((told, _kit.picture(path)))
    return made


def _differences(found: Study) -> TextTable | None:
    """The comparisons that the study asked for."""
    if not found.file.compare or not (found.folder / DIFFERENCES).is_file():
        return None
    frames = [
        found.differences(each.of, each.between, to=each.to, correction=each.correction)
        for each in found.file.compare
    ]
    table = pl.concat(frames, how="diagonal_relaxed")
    keys = [key for key in found.keys if key in table.columns]
    told = ("number", "first", "second")
    rows: list[Sequence[str]] = []
    columns = _in_words.aligned(
        "difference", table.select(pl.col("difference"), difference_half_width="half_width")
    )
    for row, difference in zip(table.head(_MOST_ROWS).rows(named=True), columns, strict=False):
        places = (_cell(row[name]) for name in (*keys, *told))
        rows.append((*places, row["verdict"], difference, small(row["p_corrected"])))
    heads = (*keys, *told, "the second is", "difference", "p, corrected")
    return TextTable(heads, rows=rows, words=len(heads) - 2)


def _cell(value: Any) -> str:  # noqa: ANN401 - a value of a key
    return "" if value is None else str(value)
