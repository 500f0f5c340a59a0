"""Result folders: written beside the target, then swapped in whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from longfat._longfat import __version__
from longfat.results._workshop import MANIFEST, PREFIX, Workshop

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

TABLES = ("flows", "links", "transfers", "flow_series", "link_series")
"""The tables of a run, each written as a Parquet file of that name."""

LIMITS = "limits"
"""A further table of a run: what limited its flows. Studies and caches keep it only if they are asked to."""

FLUID_TABLES = ("flows", "flow_series", "link_series")
"""The tables of a fluid solution, each written as a Parquet file of that name."""

SCENARIO = "scenario.toml"
"""The file of the scenario in a result folder."""

RUN, FLUID = "a run", "a fluid solution"
"""Kinds of result folders, as messages and manifests have them."""

_FULL = (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a write ends with that names no file: where there is no space, or no disk any more."""

_CHUNK = 1 << 20
_ATTEMPTS = 5


class Manifest(msgspec.Struct, frozen=True):
    """What longfat wrote into a folder.

    Attributes:
        longfat: The kind of result.
        files: The checksum of each file.
        version: The version that wrote it; empty before versions were written.
    """

    longfat: str
    files: dict[str, str]
    version: str = ""


def manifest(folder: Path) -> Manifest | None:
    """What longfat wrote into a folder; `None` if it did not write it, or the list cannot be read."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return None


def unlisted(folder: Path) -> str:
    """Why there is no list of what longfat wrote into a folder."""
    if (folder / MANIFEST).is_file():
        return f"its `{MANIFEST}`, which lists what longfat wrote there, cannot be read"
    return f"it has no `{MANIFEST}`, which lists what longfat wrote there"


class ResultFolder:
    """A folder that appears whole, replacing an earlier result, when `commit` is called; otherwise not at all.

    It is made in a `Workshop` beside the target, so that an unwritable place is noticed before any work is
    done. A finished folder has a list of its files with their checksums: only what longfat wrote, and nobody
    has changed since, is ever replaced.

        with ResultFolder("runs/first-1", RUN) as folder:
            (folder.path / "summary.json").write_text(...)
            folder.commit()
    """

    def __init__(self, target: str | os.PathLike[str], kind: str) -> None:
        """Plans to write `target`, a folder of this `kind`: `a run`. Nothing is touched yet."""
        self.target = Path(target)
        self._kind = kind
        self._real = Path(os.path.realpath(target))
        self._made: list[Path] = []
        self._workshop = Workshop(self._real, exclusive=True)
        self.replaced_another = False
        """Whether `commit` has replaced a result of another scenario."""

    def __enter__(self) -> Self:
        """Checks the target and makes the hidden folder.

        Raises:
            FileExistsError: The target is something that must not be replaced.
            BlockingIOError: Another process is writing it.
            OSError: The place cannot be written.
        """
        try:
            self._open()
        except BaseException as error:
            self._remove_parents()
            if not isinstance(error, OSError):
                raise
            raise _placed(error, self.target) from error
        try:
            # Not before: another process might just be exchanging the folder.
            self._check()
            self.path = self._workshop.work
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Removes what was not committed.

        Raises:
            OSError: There was no space for it, which is said with its place.
        """
        try:
            self._workshop.__exit__(kind, error, trace)
        finally:
            self._remove_parents()
        if isinstance(error, OSError) and _is_nameless(error):
            raise _placed(error, self.target) from error

    def commit(self) -> None:
        """Puts the folder in its place. An earlier result there is removed.

        Raises:
            OSError: The folder could not be put there; what was there remains.
        """
        files = _checksums(self.path)
        content = {"longfat": self._kind, "version": __version__, "files": files}
        (self.path / MANIFEST).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        earlier = self._workshop.earlier
        with self._workshop.alone():
            self._check()
            self.replaced_another = _scenario(self._real) not in (None, _scenario(self.path))
            try:
                if self._real.exists():
                    self._real.rename(earlier)
                self.path.rename(self._real)
            finally:
                if earlier.exists() and not self._real.exists():
                    earlier.rename(self._real)

    def _check(self) -> None:
        if os.path.lexists(self._real) and (reason := _refusal(self._real, self._kind)):
            message = f"{self.target} exists and was not replaced: {reason}"
            raise FileExistsError(message)

    def _open(self) -> None:
        for attempts_left in reversed(range(_ATTEMPTS)):
            self._make_parents()
            try:
                self._workshop.__enter__()
            except FileNotFoundError:
                # Whoever made the folders above has just given up and removed them again.
                if not attempts_left:
                    raise
            else:
                return

    def _make_parents(self) -> None:
        missing = []
        parent = self._real.parent
        while not parent.exists():
            missing.append(parent)
            parent = parent.parent
        for folder in reversed(missing):
            # Noted first: a signal may come as soon as the folder is there.
            self._made.append(folder)
            folder.mkdir(exist_ok=True)

    def _remove_parents(self) -> None:
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file beside its place, under the same name, then moves it there: whole or not at all.

    A link stays one, and its file is written.

    Raises:
        OSError: It cannot be written; what was there remains, and so does what is no file, such as /dev/stdout.
    """
    if is_no_file(path):
        raise FileExistsError(errno.EEXIST, "exists, is no file, and was not replaced", str(path))
    place = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        with Workshop(place) as workshop:
            made = workshop.work / path.name
            write(made)
            made.replace(place)
    except OSError as error:
        if _is_nameless(error):
            raise _placed(error, path) from error
        raise


def is_no_file(path: Path) -> bool:
    """Whether something is there that is no file, or only another name of one that is open.

    So is /dev/stdout where the output goes to a file: a rename would take its place and not that of the file.
    """
    if not path.exists():
        return False
    folder = os.path.realpath(path.parent)
    return not path.is_file() or folder == "/dev" or folder.startswith(("/dev/fd", "/proc/"))


def _is_nameless(error: OSError) -> bool:
    """Whether a write ended so that nobody could tell which, or names a workshop, of which nobody knows.

    What the engine raises has no number.
    """
    if error.filename is None:
        return type(error) is OSError and error.errno in _FULL
    named = os.fspath(error.filename) if isinstance(error.filename, (str, os.PathLike)) else ""
    return any(part.startswith(PREFIX) for part in Path(os.fsdecode(named)).parts)


def _placed(error: OSError, place: Path) -> OSError:
    """An error that names no file, as that of writing `place`."""
    reason = error.strerror or str(error)
    return type(error)(error.errno or errno.EIO, f"cannot write {place}: {reason}")


def _refusal(folder: Path, kind: str) -> str | None:  # noqa: PLR0911 - one for each reason
    """Why `folder` must not be replaced; `None` if it is empty or an earlier result of this kind."""
    if not folder.is_dir():
        return "it is not a folder"
    names = {entry.name for entry in folder.iterdir()}
    if not names:
        return None
    listed = manifest(folder)
    if listed is None:
        return f"{unlisted(folder)}; move it away, or choose another folder"
    if listed.longfat != kind:
        return f"it is {listed.longfat}, not {kind}"
    for name in sorted(_files(folder)):
        path, written = folder / name, listed.files.get(name)
        if written is None:
            return f"it holds `{name}`, which {kind} did not write"
        if not path.is_file() or checksum(path) != written:
            return f"`{name}` was changed after longfat wrote it; move it away to keep it"
    return None


def _files(folder: Path) -> list[str]:
    """What is in a folder but its manifest, in folders within it as well: paths with slashes."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return [name for path in found if (name := path.relative_to(folder).as_posix()) != MANIFEST]


def _scenario(folder: Path) -> str | None:
    """The scenario of a result without its comments; `None` if there is none."""
    try:
        text = (folder / SCENARIO).read_text("utf-8")
    except (OSError, ValueError):
        return None
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _checksums(folder: Path) -> dict[str, str]:
    return {name: checksum(folder / name) for name in sorted(_files(folder))}


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()
