"""Finished studies from their folders; nothing is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from longfat import frames
from longfat.errors import ResultError
from longfat.foreign import shown
from longfat.parquet import is_sound
from longfat.study._chunk import FILE
from longfat.study._file import read_study
from longfat.study._study import Study

if TYPE_CHECKING:
    import os

_NEEDED = ("rows.parquet", "table.csv")


def open_study(folder: str | os.PathLike[str]) -> Study:
    """The study in a folder, with all rows that it has.

    Raises:
        ResultError: It is no folder of a study, or nothing has been put together there yet.
        StudyError: Its study file is wrong.
        OSError: It cannot be read.
    """
    import polars as pl

    place = Path(folder)
    name = shown(str(place))
    if not (place / FILE).is_file():
        message = f"{name} is no study: it has no `{FILE}`"
        raise ResultError(message)
    missing = [each for each in _NEEDED if not (place / each).is_file()]
    if missing:
        message = (
            f"{name} is a study without results yet: `{missing[0]}` is missing; "
            f"`longfat study {name}` goes on with it, with --merge if it was run in shards"
        )
        raise ResultError(message)
    file, _, _ = read_study(place / FILE)
    if not is_sound(place / "rows.parquet"):
        message = (
            f"{name} does not hold what a study writes there: `rows.parquet` is no Parquet file; "
            f"`longfat study {name} --merge` writes its tables again"
        )
        raise ResultError(message)
    try:
        rows = frames.scan(place / "rows.parquet").select("error").collect()
        found = Study(
            place, len(rows), len(rows), int(rows["error"].is_not_null().sum()), file=file
        )
        found.table()
    except pl.exceptions.PolarsError as error:
        message = (
            f"{name} does not hold what a study writes there: {shown(str(error).splitlines()[0])}; "
            f"`longfat study {name} --merge` writes its tables again"
        )
        raise ResultError(message) from error
    return found
