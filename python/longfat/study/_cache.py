"""Finished runs, kept by content: the same scenario is simulated once by the same engine."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import random
import re
import threading
import time
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from longfat import _longfat, frames
from longfat.errors import CacheWarning
from longfat.results._folder import LIMITS, TABLES, checksum, write_whole
from longfat.results._table import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

UNUSED_DAYS = 30
"""Entries that have not been read for this many days are removed."""

_SUMMARY = "summary.json"
_RECORD = "run.entry"
"""What makes a folder an entry: a line with the marker and its own checksum, then those of the other files."""

_LOOKED = ".longfat-looked"
"""An empty file: when somebody last looked for unused entries."""
_LOOK_EVERY_S, _LOOK_S, _LOOKS = 3600.0, 0.2, 2000
"""How often entries are looked at, for how long at most, and how many of an engine."""

_MARKER = "longfat cache entry 1"
_HEADER = re.compile(rb"longfat cache entry \d+ sha256 [0-9a-f]{64}")
_ENGINE, _ENTRY = re.compile(r"[0-9a-f]{16}"), re.compile(r"[0-9a-f]{32}")


class Cache:
    """A folder of finished runs.

    A run is addressed by a hash of its resolved scenario, seed included, below a hash of the compiled engine,
    so no engine sees the runs of another. Files appear whole or not at all, and any number of processes may
    share a cache. Each entry carries a checksum, which is verified when the entry is read: whatever has been
    damaged since counts as absent. A cache that cannot be written costs a warning and nothing else.

    The default place is `$LONGFAT_CACHE`, or else the cache folder of the platform (on Linux
    `~/.cache/longfat`), shared by all working folders. Its entries may be deleted at any time. Those unused
    for 30 days are removed, a few at a time; nothing else in the folder is ever touched. There is no bound on
    their size: what a question of last week has taken hours to answer is worth more than its gigabytes, and
    whoever needs the space removes the folder.
    """

    def __init__(self, root: str | os.PathLike[str] | None = None) -> None:
        """Uses the folder `root`, or the default one."""
        self.root = default_root() if root is None else Path(root)
        self._lock = threading.Lock()
        self._tidied = False
        self._warned = False

    def load(
        self, scenario: _longfat.Scenario, tables: Collection[str] = ()
    ) -> tuple[dict[str, Any], dict[str, Table]] | None:
        """The summary and the named tables of a finished run; `None` unless all of them are there and sound.

        Reading an entry counts as using it.
        """
        entry = self._entry(scenario)
        try:
            files = _files(entry)
            summary = _read_summary(entry, files)
            if summary["seed"] != scenario.seed:
                return None
            found = {name: _read_table(entry, name, files) for name in tables}
        except Exception:  # noqa: BLE001 - whatever is wrong with an entry, the remedy is to simulate again
            return None
        with contextlib.suppress(OSError):  # a cache that can only be read is a cache
            os.utime(entry / _RECORD)
        return summary, found

    def knows(self, scenario: _longfat.Scenario, tables: Collection[str] = ()) -> bool:
        """Whether a finished run with these tables seems to be there; only `load` verifies it."""
        entry = self._entry(scenario)
        return all(
            (entry / name).is_file() for name in (_RECORD, _SUMMARY, *map(_table_file, tables))
        )

    def store(
        self,
        scenario: _longfat.Scenario,
        summary: Mapping[str, Any],
        tables: Mapping[str, Table],
    ) -> None:
        """Keeps a finished run. If that fails, it warns, once for each `Cache`."""
        entry = self._entry(scenario)
        try:
            self._remove_unused()
            entry.mkdir(parents=True, exist_ok=True)
            files: dict[str, str] = {}
            # Tables kept earlier stay: the same engine makes the same tables of the same scenario.
            with contextlib.suppress(OSError, ValueError):
                files = _files(entry)
            for name, table in tables.items():
                path = entry / _table_file(name)
                write_whole(path, table.write_parquet)
                files[path.name] = checksum(path)
            text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
            write_whole(entry / _SUMMARY, lambda path: path.write_text(text, "utf-8"))
            files[_SUMMARY] = checksum(entry / _SUMMARY)
            body = json.dumps({"address": entry.name, "files": files}).encode()
            write_whole(entry / _RECORD, lambda path: path.write_bytes(_sealed(body)))
        except Exception as error:  # noqa: BLE001 - the run is good, whatever keeping it meets
            with self._lock:
                warned, self._warned = self._warned, True
            if not warned:
                message = f"finished runs are not kept: {self.root} {_why_not(error)} ({error})"
                warnings.warn(message, CacheWarning, stacklevel=2)

    def _entry(self, scenario: _longfat.Scenario) -> Path:
        address = hashlib.sha256(scenario.to_toml().encode()).hexdigest()
        return self.root / engine_address() / address[:32]

    def _remove_unused(self) -> None:
        """Removes entries that nobody has used for long, once for each `Cache` and about once an hour.

        It takes a fraction of a second, however many there are: of very many, some are looked at, by chance.
        """
        with self._lock:
            tidied, self._tidied = self._tidied, True
        if tidied or not _due(self.root / _LOOKED):
            return
        until = time.monotonic() + _LOOK_S
        oldest = time.time() - UNUSED_DAYS * 86_400
        engines = list(_folders(self.root, _ENGINE))
        random.shuffle(engines)
        for engine in engines:
            names = _names(engine, _ENTRY)
            removed = False
            for name in random.sample(names, min(len(names), _LOOKS)):
                if time.monotonic() > until:
                    return
                if _last_used(engine / name) < oldest:
                    _remove(engine / name)
                    removed = True
            if removed:
                with contextlib.suppress(OSError):  # it holds something else
                    engine.rmdir()


def _why_not(error: Exception) -> str:
    """Why nothing can be kept in a folder, and what to do about it."""
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "is on a full disk: make room, or let LONGFAT_CACHE name a folder elsewhere"
    if number in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR):
        return "is not writable: let LONGFAT_CACHE name a folder that is"
    return "cannot be used: let LONGFAT_CACHE name another folder"


class _Summary(msgspec.Struct, frozen=True):
    """The shape of a summary: enough to tell one from any other JSON."""

    seed: int
    scenario: dict[str, Any]
    links: dict[str, dict[str, dict[str, Any]]]
    flows: list[dict[str, Any]]
    traffic: dict[str, dict[str, Any]]
    jain: dict[str, float | None]
    engine: dict[str, int | float]


class _Record(msgspec.Struct, frozen=True):
    """What makes an entry: its address, and the checksum of each of its files."""

    address: str
    files: dict[str, str]


def _files(entry: Path) -> dict[str, str]:
    """The files of an entry with their checksums.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not what `store` wrote there.
    """
    content = (entry / _RECORD).read_bytes()
    _, _, body = content.partition(b"\n")
    if content != _sealed(body):
        message = "the checksum does not match"
        raise ValueError(message)
    record = msgspec.json.decode(body, type=_Record)
    if record.address != entry.name:
        message = f"it belongs to {record.address}"
        raise ValueError(message)
    return record.files


def _sealed(body: bytes) -> bytes:
    return f"{_MARKER} sha256 {hashlib.sha256(body).hexdigest()}\n".encode() + body


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _read_summary(entry: Path, files: Mapping[str, str]) -> dict[str, Any]:
    path = _verified(entry / _SUMMARY, files)
    summary: dict[str, Any] = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    msgspec.convert(summary, _Summary)
    return summary


def _read_table(entry: Path, name: str, files: Mapping[str, str]) -> Table:
    path = _verified(entry / _table_file(name), files)
    return Table(frames.read(path))


def _verified(path: Path, files: Mapping[str, str]) -> Path:
    if checksum(path) != files[path.name]:
        message = f"the checksum of {path.name} does not match"
        raise ValueError(message)
    return path


def _table_file(name: str) -> str:
    return f"{name}.parquet"


def _due(mark: Path) -> bool:
    """Whether nobody has looked for unused entries within an hour; if so, this process is about to.

    Raises:
        OSError: The cache cannot be written.
    """
    with contextlib.suppress(FileNotFoundError):
        if mark.is_symlink() or 0 <= time.time() - mark.stat().st_mtime < _LOOK_EVERY_S:
            return False
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    return True


def _names(parent: Path, name: re.Pattern[str]) -> list[str]:
    """What there is in `parent` with such a name."""
    try:
        return [each for each in os.listdir(parent) if name.fullmatch(each)]  # noqa: PTH208 - there may be very many
    except OSError:
        return []


def _folders(parent: Path, name: re.Pattern[str]) -> Iterator[Path]:
    """The folders in `parent` with such a name, without following links."""
    for each in _names(parent, name):
        if not (parent / each).is_symlink() and (parent / each).is_dir():
            yield parent / each


def _last_used(entry: Path) -> float:
    """When an entry was last written or read; never, that is in the future, if it is none of ours."""
    never = float("inf")
    record = entry / _RECORD
    try:
        used = record.lstat().st_mtime
        if used > time.time() - UNUSED_DAYS * 86_400:  # whatever it is, it stays
            return used
        if entry.is_symlink() or record.is_symlink():
            return never
        with record.open("rb") as file:
            header = file.readline(200).rstrip(b"\n")
    except OSError:
        return never
    return used if _HEADER.fullmatch(header) else never


def _remove(entry: Path) -> None:
    """Removes the files that `store` writes, the record last; anything else stays, and its folder with it."""
    with contextlib.suppress(OSError):
        for name in (*map(_table_file, (*TABLES, LIMITS)), _SUMMARY, _RECORD):
            (entry / name).unlink(missing_ok=True)
        entry.rmdir()


def default_root() -> Path:
    """Where runs are kept unless another folder is asked for."""
    if chosen := os.environ.get("LONGFAT_CACHE"):
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("longfat")


@cache
def engine_address() -> str:
    """A hash of the compiled engine: results of another build are never taken for results of this one."""
    return hashlib.sha256(Path(_longfat.__file__).read_bytes()).hexdigest()[:16]
