"""Result folders, read again: checked, and nothing computed."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from longfat import frames
from longfat._fork import need_threads
from longfat._longfat import LONGEST_FILE
from longfat.errors import ResultError
from longfat.foreign import read_text, shown
from longfat.parquet import is_sound
from longfat.results._folder import FLUID, RUN, SCENARIO, TABLES, checksum, manifest, unlisted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    import polars as pl

    from longfat.results._folder import Manifest

TIME = "time_s"
"""The column of a time series that says when."""

_NEEDED = {
    RUN: (SCENARIO, "summary.json", *(f"{name}.parquet" for name in TABLES)),
    FLUID: (SCENARIO, "fluid.json"),
}
"""The files that results of a kind always have."""
_COMMANDS = {RUN: "run the scenario again", FLUID: "solve the scenario again"}


class SavedFolder:
    """The folder of a result. Its files are there; what is in them is checked when it is read.

    Attributes:
        folder: The folder.
        name: Its name.
        version: Of longfat, which wrote it; empty if that was not kept.
        scenario: The scenario as resolved.
    """

    def __init__(self, folder: str | os.PathLike[str], kind: str) -> None:
        """Reads a folder that must hold a result of this `kind`.

        Raises:
            ResultError: It does not, files of it are missing, or they hold something else.
            OSError: It cannot be read.
        """
        self.folder = Path(folder)
        # Tables are read when they are asked for, wherever the working folder has gone by then.
        self._place = self.folder.absolute()
        self.name = self.folder.resolve().name
        self._kind = kind
        self._listed = checked(self.folder, kind)
        self.version = self._listed.version
        self.scenario = self._text(SCENARIO)
        self._refuse_broken()

    def __repr__(self) -> str:
        """The folder, in one line."""
        return f"<{type(self).__name__} {self.folder}>"

    def _refuse_broken(self) -> None:
        """Refuses a scenario or a table that nobody can read, whether or not it will be asked for."""
        if not self.scenario.strip():
            raise self._refusal(SCENARIO, "it is empty")
        if SCENARIO in self.changed:
            try:
                tomllib.loads(self.scenario)
            except ValueError as error:
                raise self._refusal(SCENARIO, str(error)) from error
        for name in self.changed:
            # What is as it was written can be read.
            if name.endswith(".parquet") and not is_sound(self._place / name):
                raise self._refusal(name, "it is no Parquet file")

    @cached_property
    def changed(self) -> list[str]:
        """Which files are not as they were written."""
        return [
            name
            for name, written in self._listed.files.items()
            if checksum(self._place / name) != written
        ]

    def _frame(self, name: str) -> pl.DataFrame:
        """A table from its file."""
        import polars as pl

        need_threads()
        path = self._place / f"{name}.parquet"
        try:
            return frames.read(path)
        except FileNotFoundError as error:
            raise self._refusal(path.name, "it is missing") from error
        except pl.exceptions.PolarsError as error:
            raise self._refusal(path.name, "it is no Parquet file") from error

    def _series(
        self,
        name: str,
        words: Collection[str],
        numbers: Collection[str],
        flows: Collection[str],
    ) -> pl.DataFrame:
        """A time series in the order of time, of which all that is read is there, and is what it should be.

        Args:
            name: Its name.
            words: Columns of names.
            numbers: Columns of numbers, besides the time.
            flows: The flows that there are.
        """
        import polars as pl

        frame = self._frame(name)
        file = f"{name}.parquet"
        names = (pl.String, pl.Categorical, pl.Enum)
        for column in (*words, TIME, *numbers):
            kind = frame.schema.get(column)
            if kind is None:
                raise self._refusal(file, f"it has no column `{column}`")
            if not (isinstance(kind, names) if column in words else kind.is_numeric()):
                raise self._refusal(file, f"its column `{column}` holds {kind}")
        if not frame[TIME].is_finite().fill_null(value=False).all():
            raise self._refusal(file, "a time in it is no number")
        strangers = (
            [each for each in frame["flow"].unique() if each not in flows]
            if "flow" in words
            else []
        )
        if strangers:
            raise self._refusal(file, f"`{strangers[0]}` is no flow of the averages")
        return frame.with_columns(pl.col(words).cast(pl.Categorical)).sort(
            TIME, maintain_order=True
        )

    def _text(self, name: str) -> str:
        path = self._place / name
        # What is as it was written may be as long as it was: many groups, or lists of flows.
        most = LONGEST_FILE if name in self.changed else path.stat().st_size
        try:
            return read_text(path, most)
        except ValueError as error:
            raise self._refusal(name, str(error)) from error

    def _refusal(self, name: str, reason: str) -> ResultError:
        message = (
            f"{shown(str(self.folder / name))} is not what {self._kind} writes there: {shown(reason)}; "
            f"{_COMMANDS[self._kind]}"
        )
        return ResultError(message)


def checked(folder: Path, kind: str) -> Manifest:
    """The list of the files in a result folder, which are all there.

    Args:
        folder: The folder.
        kind: What it must hold: `a run`.

    Raises:
        ResultError: It is no folder, holds something else, or files are missing.
    """
    place = shown(str(folder))
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        message = f"{place} {what}: name a result folder, such as runs/first-1"
        raise ResultError(message)
    listed = manifest(folder)
    if listed is None and (folder / "study.toml").is_file():
        message = f"{place} is a study, not {kind}: `longfat report` makes a page of it"
        raise ResultError(message)
    if listed is None:
        message = f"{place} is no result folder: {unlisted(folder)}; `longfat run` writes one"
        raise ResultError(message)
    if listed.longfat != kind:
        message = f"{place} is {shown(listed.longfat)}, not {kind}"
        raise ResultError(message)
    needed = {*listed.files, *_NEEDED.get(kind, ())}
    missing = sorted(name for name in needed if not _plain_file(folder, name))
    if missing:
        message = (
            f"{place} is only a part of {kind}: `{shown(missing[0])}` is missing; make it again"
        )
        raise ResultError(message)
    return listed


def _plain_file(folder: Path, name: str) -> bool:
    """Whether a file of that name is in the folder, and not elsewhere."""
    return Path(name).name == name and (folder / name).is_file()
