"""Result folders: written beside the target, then swapped in whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

TABLES = ("flows", "links", "transfers", "flow_series", "link_series")
"""The tables of a run, each written as a Parquet file of that name."""


@dataclass(frozen=True)
class Layout:
    """What a kind of result folder holds.

    Attributes:
        what: Its name in messages.
        required: Files that every such folder has.
        allowed: Patterns of the files that it may have besides.
    """

    what: str
    required: tuple[str, ...]
    allowed: tuple[str, ...]

    def refuses(self, folder: Path) -> str | None:
        """Why `folder` must not be replaced; `None` if it is empty or an earlier result of this kind."""
        if not folder.is_dir():
            return "it is not a folder"
        names = sorted(entry.name for entry in folder.iterdir())
        known = (*self.required, *self.allowed)
        foreign = [name for name in names if not any(fnmatch(name, each) for each in known)]
        if foreign:
            return f"it holds `{foreign[0]}`, which {self.what} does not write"
        missing = [name for name in self.required if name not in names]
        if names and missing:
            return f"it has no `{missing[0]}`, so it is not {self.what}"
        return None


RUN = Layout(
    "a run",
    ("scenario.toml", "summary.json"),
    (*(f"{table}.parquet" for table in TABLES), "run.png", "run.svg"),
)


FLUID_TABLES = ("flows", "flow_series", "link_series")
"""The tables of a fluid solution, each written as a Parquet file of that name."""

FLUID = Layout(
    "a fluid solution",
    ("scenario.toml", "fluid.json"),
    (*(f"{table}.parquet" for table in FLUID_TABLES), "fluid.png", "fluid.svg"),
)


class ResultFolder:
    """A folder that appears whole, replacing an earlier result, when `commit` is called; otherwise not at all.

    Entering it makes a hidden folder beside the target, so that an unwritable place is noticed before any work
    is done.

        with ResultFolder("runs/first-1", RUN) as folder:
            (folder.path / "summary.json").write_text(...)
            folder.commit()
    """

    def __init__(self, target: str | os.PathLike[str], layout: Layout) -> None:
        """Plans to write `target`; nothing is touched yet."""
        self.target = Path(target)
        self._layout = layout
        self._real = Path(os.path.realpath(target))
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        """Checks the target and makes the hidden folder.

        Raises:
            FileExistsError: The target is something that must not be replaced.
            OSError: The place cannot be written.
        """
        self._check()
        try:
            self._make_parents()
            self.path = Path(
                tempfile.mkdtemp(prefix=f".{self._real.name}-", dir=self._real.parent),
            )
            _open_up(self.path, 0o777)
        except OSError as error:
            self._remove_parents()
            message = f"cannot write {self.target}: {error.strerror}"
            raise OSError(error.errno, message) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Removes what was not committed."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._remove_parents()

    def commit(self) -> None:
        """Puts the folder in its place. An earlier result there is removed.

        Raises:
            OSError: The folder could not be put there; what was there remains.
        """
        self._check()
        if not self._real.exists():
            self.path.rename(self._real)
            return
        aside = Path(tempfile.mkdtemp(prefix=f".{self._real.name}-", dir=self._real.parent))
        earlier = aside / "earlier"
        try:
            self._real.rename(earlier)
            self.path.rename(self._real)
        finally:
            if earlier.exists() and not self._real.exists():
                earlier.rename(self._real)
            shutil.rmtree(aside, ignore_errors=True)

    def _check(self) -> None:
        if os.path.lexists(self._real) and (reason := self._layout.refuses(self._real)):
            message = f"{self.target} exists and is not replaced: {reason}"
            raise FileExistsError(message)

    def _make_parents(self) -> None:
        missing = []
        parent = self._real.parent
        while not parent.exists():
            missing.append(parent)
            parent = parent.parent
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            self._made.append(folder)

    def _remove_parents(self) -> None:
        with contextlib.suppress(OSError):
            for folder in reversed(self._made):
                folder.rmdir()


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file beside its place, with the same ending, then moves it there: whole or not at all.

    Raises:
        OSError: It cannot be written; what was there remains.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        _open_up(temporary, 0o666)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _open_up(path: Path, mode: int) -> None:
    """Temporary files start out private; a result gets the usual permissions."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(mode & ~mask)
