"""What a study has finished: rows in files that are whole or not there, and who is at work on what.

A part is a Parquet file with a row for each finished run, named by the SHA-256 of its content. So it says
itself whether it is sound; nothing is ever written over another; and any number of processes, on any number of
machines that share the folder, add parts without asking anybody. A run is named by a hash of the engine, its
resolved scenario and its seed: a row is good for whichever study asks for that run.

`Claims` keep processes on one machine, or on a file system with POSIX locks, from running the same thing
twice. The kernel releases them however a process ends. Without them some work is done twice, and the result is
the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat import frames
from longfat.results._folder import checksum
from longfat.results._table import writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

if sys.platform != "win32":
    import fcntl

PARTS = "parts"
RUN, ERROR = "run", "error"
"""Columns of a part beside its numbers: the name of the run, and what went wrong."""

SERIES = "sha256."
"""What the columns with the checksums of time series begin with."""

_LOCK = ".lock"
_ASSEMBLY = 2**62
_BYTES = 16
_LARGE = 4096
_MANY = 32
_OLD_S = 3600.0
_LOOK_S = 0.05
_TICK_NS = 50_000_000

Ids = np.ndarray[Any, np.dtype[np.uint64]]


def run_name(scenario_digest: bytes, seed: int) -> str:
    """The name of a run: 32 hexadecimal digits."""
    return hashlib.sha256(scenario_digest + seed.to_bytes(8, "little")).hexdigest()[: 2 * _BYTES]


def id_of(name: str) -> int:
    """The first half of the name of a run, for indices."""
    return int(name[:16], 16)


def write_part(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Writes rows as a part of the study in `folder`, and returns its path.

    The name tells whether the content is whole, even after the power has failed, so nothing waits for the disk.

    Raises:
        OSError: It cannot be written.
    """
    import polars as pl

    texts = {RUN, ERROR}
    names = list(dict.fromkeys(name for row in rows for name in row))
    kinds = {
        name: pl.String if name in texts or name.startswith(SERIES) else pl.Float64
        for name in names
    }
    columns = {name: [row.get(name) for row in rows] for name in names}
    return _put(folder, pl.DataFrame(columns, schema=kinds))


def _put(folder: Path, frame: pl.DataFrame) -> Path:
    parts = folder / PARTS
    made = parts / f".{secrets.token_hex(8)}"
    try:
        with writing(made, told=folder):
            frames.write(frame, made)
        path = parts / f"{checksum(made)}.parquet"
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    return path


def write_series(folder: Path, name: str, run: str, table: Any) -> str:  # noqa: ANN401 - an Arrow table
    """Keeps a time series of a run, with a column that names the run; returns its checksum.

    Raises:
        OSError: It cannot be written.
    """
    import polars as pl

    place = folder / name
    place.mkdir(exist_ok=True)
    made = place / f".{secrets.token_hex(8)}"
    try:
        with writing(made, told=folder):
            frames.write(pl.DataFrame(table).select(pl.lit(run).alias(RUN), pl.all()), made)
        sum_ = checksum(made)
        made.replace(place / f"{run}.parquet")
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    return sum_


class Parts:
    """All parts in the folder of a study, and which runs they have.

    Attributes:
        folder: The folder of the study.
        broken: How many files were found broken, and taken away.
    """

    def __init__(self, folder: Path, series: Sequence[str] = ()) -> None:
        """Looks at a folder; `refresh` reads what is there. Runs without all of the `series` do not count."""
        self.folder = folder
        self.broken = 0
        self._series = series
        self._seen: dict[str, int] = {}
        self._names: list[str] = []
        self._ids: list[Ids] = []
        self._good: list[np.ndarray[Any, Any]] = []
        self._stamp: object = None
        self._index: tuple[Ids, np.ndarray[Any, Any]] | None = None

    def refresh(self) -> bool:
        """Reads the parts that have appeared, and forgets those that have gone; whether anything did.

        A part whose content is not what its name says is taken away: its runs are run again.
        """
        place = self.folder / PARTS
        stamp = place.stat().st_mtime_ns
        if stamp == self._stamp:
            return False
        found = {entry.name for entry in place.iterdir() if entry.name.endswith(".parquet")}
        changed = False
        for name in sorted(set(self._seen) - found):
            self._forget(name)
            changed = True
        for name in sorted(found - set(self._seen)):
            changed |= self._read(place / name)
        # Another part may come within the same tick of the clock of the file system.
        self._stamp = stamp if time.time_ns() - stamp > _TICK_NS else None
        if changed:
            self._index = None
        return changed

    def _read(self, path: Path) -> bool:
        try:
            sound = checksum(path) == path.stem
        except FileNotFoundError:  # put together with others meanwhile
            return False
        if not sound:
            self.broken += 1
            path.unlink(missing_ok=True)
            return True
        asked = [RUN, ERROR, *(f"{SERIES}{name}" for name in self._series)]
        there = frames.scan(path).collect_schema()
        frame = frames.read(path, [name for name in asked if name in there])
        good = np.array([error is None for error in _texts(frame, ERROR)])
        runs = _texts(frame, RUN)
        for name in self._series:
            sums = _texts(frame, f"{SERIES}{name}")
            for row, run in enumerate(runs):
                good[row] = good[row] and self._sound(name, run, sums[row])
        self._seen[path.name] = len(self._names)
        self._names.append(path.name)
        self._ids.append(np.array([id_of(run) for run in runs if run], dtype=np.uint64))
        self._good.append(good)
        return True

    def _sound(self, name: str, run: str | None, sum_: str | None) -> bool:
        try:
            return sum_ is not None and checksum(self.folder / name / f"{run}.parquet") == sum_
        except OSError:
            return False

    def add(self, name: str, runs: Sequence[str], failed: Sequence[bool]) -> None:
        """Notes a part that has just been written, with what is in it: it need not be read."""
        if name not in self._seen:
            self._seen[name] = len(self._names)
            self._names.append(name)
            self._ids.append(np.array([id_of(run) for run in runs], dtype=np.uint64))
            self._good.append(~np.array(failed, dtype=bool))
            self._index = None

    def _forget(self, name: str) -> None:
        place = self._seen.pop(name)
        self._ids[place] = self._ids[place][:0]
        self._good[place] = self._good[place][:0]

    def holds_any(self, ids: Ids) -> bool:
        """Whether there is a row for any of these runs, be it of a failure."""
        return any(bool(np.isin(some, ids).any()) for some in self._ids)

    def finished(self, ids: Ids) -> np.ndarray[Any, Any]:
        """Which of these runs have a row, and no error."""
        return self._search(ids) >= 0

    def _search(self, ids: Ids) -> np.ndarray[Any, Any]:
        """The part of each run; -1 where there is none."""
        if self._index is None:
            good = [ids[good] for ids, good in zip(self._ids, self._good, strict=True)]
            where = [np.full(len(some), place, dtype=np.int32) for place, some in enumerate(good)]
            every = np.concatenate(good) if good else np.empty(0, dtype=np.uint64)
            order = np.argsort(every, kind="stable")
            self._index = (
                every[order],
                (np.concatenate(where) if where else np.empty(0, int))[order],
            )
        known, where_ = self._index
        if not len(known):
            return np.full(len(ids), -1)
        at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[at] == ids, where_[at], -1)

    def rows(self, ids: Ids, names: Sequence[str]) -> pl.DataFrame:
        """The rows of these runs, one for each that there is, in any order."""
        import polars as pl

        wanted = set(names)
        places = {int(place) for place in np.unique(self._search(ids)) if place >= 0}
        missing = ids[self._search(ids) < 0]
        for place, some in enumerate(self._ids):  # only errors are left for these
            if len(missing) and np.isin(some, missing).any():
                places.add(place)
        found = []
        for place in sorted(places, key=lambda place: self._names[place]):
            frame = frames.read(self.folder / PARTS / self._names[place])
            found.append(frame.filter(pl.col(RUN).is_in(wanted)))
        if not found:
            return pl.DataFrame(schema={RUN: pl.String, ERROR: pl.String})
        rows = pl.concat(found, how="diagonal")
        if ERROR not in rows.columns:
            rows = rows.with_columns(pl.lit(None, dtype=pl.String).alias(ERROR))
        # A run that was run twice has two rows, which are the same; one that failed at first has a better one.
        rows = rows.sort(RUN, ERROR, nulls_last=False).unique(
            RUN, keep="first", maintain_order=True
        )
        return rows.select(name for name in rows.columns if not name.startswith(SERIES))

    def compact(self) -> None:
        """Puts small parts together, if there are many; first the new part is there, then the old ones go."""
        import polars as pl

        small = [name for name in sorted(self._seen) if len(self._ids[self._seen[name]]) < _LARGE]
        if len(small) < _MANY:
            return
        group: list[str] = []
        size = 0
        for name in [*small, None]:
            if name is not None:
                group.append(name)
                size += len(self._ids[self._seen[name]])
            if (size >= _LARGE or name is None) and len(group) > 1:
                joined = [frames.read(self.folder / PARTS / each) for each in group]
                made = _put(self.folder, pl.concat(joined, how="diagonal"))
                for each in set(group) - {made.name}:
                    (self.folder / PARTS / each).unlink(missing_ok=True)
                group, size = [], 0
        self._stamp = None
        self.refresh()

    def sweep(self) -> None:
        """Removes what a process that was killed had begun to write."""
        for place in (self.folder / PARTS, *(self.folder / name for name in self._series)):
            for path in place.glob(".*") if place.is_dir() else ():
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > _OLD_S:
                        path.unlink()


def _texts(frame: pl.DataFrame, name: str) -> list[str | None]:
    return frame[name].to_list() if name in frame.columns else [None] * len(frame)


class Claims:
    """Which runs this process is at work on, for the other processes at the same study to see."""

    def __init__(self, folder: Path) -> None:
        """Opens the file that is locked byte by byte."""
        self._handle: int | None = None
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                self._handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def take(self, run: int) -> bool:
        """Claims a run; false if another process has it."""
        return self._lock(run >> 3, wait=False)

    def drop(self, runs: Iterable[int]) -> None:
        """Gives up what was claimed."""
        if sys.platform != "win32" and self._handle is not None:
            for run in runs:
                with contextlib.suppress(OSError):
                    fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, run >> 3)

    @contextlib.contextmanager
    def assembling(self) -> Iterator[None]:
        """Keeps other processes from putting the results together at the same time."""
        self._lock(_ASSEMBLY, wait=True)
        try:
            yield
        finally:
            self.drop([_ASSEMBLY << 3])

    def close(self) -> None:
        """Gives up everything."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _lock(self, place: int, *, wait: bool) -> bool:
        if sys.platform == "win32" or self._handle is None:
            return True
        while True:
            try:
                fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except (BlockingIOError, PermissionError):  # noqa: PERF203 - it is what is waited for
                if not wait:
                    return False
                time.sleep(_LOOK_S)
            except OSError:  # no locks on this file system
                return True
            else:
                return True
