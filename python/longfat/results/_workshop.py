"""Hidden folders in which results are made, beside the place where they will appear.

    with Workshop(Path("runs/first-1")) as workshop:
        (workshop.work / "summary.json").write_text(...)
        with workshop.alone():
            workshop.work.rename(...)

A workshop is a folder `.longfat-XXXXXXXX` with a marker that names what is made there, and the folder `work`.
Its process holds a lock on it (`flock`), which the kernel releases however the process ends. So whoever opens a
workshop in the same place later can tell those in use from those left behind, and clears the latter away. What
a process was putting into its place when it was killed is put there first.

Where locks do not exist (Windows, some network file systems) nothing is ever taken for left behind.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

if sys.platform != "win32":
    import fcntl

PREFIX = ".longfat-"
"""How the name of every workshop begins."""

MANIFEST = ".longfat.json"
"""The list of its files that a finished folder carries. It is written last: with it, the folder is complete."""

_MARKER = "workshop.json"
_MARK = {"longfat": "workshop"}
_EARLIER = "earlier"

_PATIENCE_S = 10.0
_LOOK_S = 0.01


class Workshop:
    """A hidden folder beside `place`, for making what will stand there.

    Attributes:
        place: What is being made.
        work: Where it is made: a folder with the usual permissions, empty at first.
        earlier: A free name for what stood at `place`, while it is exchanged.
    """

    def __init__(self, place: Path, *, exclusive: bool = False) -> None:
        """Plans a workshop for `place`; with `exclusive`, only one at a time is opened for it."""
        self.place = place
        self._exclusive = exclusive
        self._lock: int | None = None

    def __enter__(self) -> Self:
        """Clears away what others left behind, and makes the folder.

        Raises:
            BlockingIOError: Another process is making the same thing.
            OSError: The place cannot be written.
        """
        parent = self.place.parent
        self._root = parent / f"{PREFIX}{secrets.token_hex(4)}"
        self.work, self.earlier = self._root / "work", self._root / _EARLIER
        try:
            with self.alone():
                busy = sweep(parent)
                if self._exclusive:
                    self._refuse(busy)
                # Not by way of `tempfile` and `chmod`: the kernel applies the umask, which nobody can read
                # without setting it for the whole process.
                self._root.mkdir(mode=0o700)
                self._lock = _lock(self._root)
                mark = {**_MARK, "for": self.place.name}
                (self._root / _MARKER).write_text(json.dumps(mark), encoding="utf-8")
            self.work.mkdir()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Removes the workshop with whatever is left in it."""
        self._close()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps every other longfat from opening or emptying a workshop in the same place meanwhile.

        Raises:
            BlockingIOError: Somebody has kept the folder locked for ten seconds.
        """
        lock = _lock(self.place.parent, patience_s=_PATIENCE_S)
        try:
            yield
        finally:
            _unlock(lock)

    def _refuse(self, busy: set[str]) -> None:
        if self.place.name in busy:
            message = (
                "another longfat is writing it: wait until it is done, or choose another place"
            )
            raise BlockingIOError(errno.EBUSY, message)

    def _close(self) -> None:
        try:
            _remove(self._root)
        except BaseException:  # a signal in the middle of it
            _remove(self._root)
            raise
        finally:
            _unlock(self._lock)
            self._lock = None


def sweep(parent: Path) -> set[str]:
    """Removes the workshops in `parent` whose processes have gone. Only for who is `alone` there.

    Returns:
        What the others are making: the names of their places.
    """
    busy = set()
    for root in _workshops(parent):
        try:
            lock = _lock(root)
        except BlockingIOError:
            busy.add(_made_for(root) or "")
            continue
        except OSError:
            continue
        if lock is None:
            continue
        try:
            _clear(root)
        finally:
            _unlock(lock)
    return busy


def _clear(root: Path) -> None:
    """Removes a workshop that was left behind, if it is one."""
    name = _made_for(root)
    if name is None:
        # Killed before it had its marker, or after that had been removed; anything else is not ours.
        with contextlib.suppress(OSError):
            if (root / _MARKER).exists() and not (root / _MARKER).stat().st_size:
                (root / _MARKER).unlink()
            root.rmdir()
        return
    place = root.parent / name
    finished = root / "work" if (root / "work" / MANIFEST).is_file() else root / _EARLIER
    if not os.path.lexists(place):
        # Killed between the two steps of an exchange: what was to stand there is whole, and is all there is.
        with contextlib.suppress(OSError):
            finished.rename(place)
    if not (root / _EARLIER).exists() or os.path.lexists(place):
        _remove(root)


def _remove(root: Path) -> None:
    """Removes a workshop, its marker last."""
    for name in ("work", _EARLIER):
        shutil.rmtree(root / name, ignore_errors=True)
    with contextlib.suppress(OSError):
        (root / _MARKER).unlink(missing_ok=True)
        root.rmdir()


def _workshops(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []


def _made_for(root: Path) -> str | None:
    """What a workshop was made for; `None` if it is none."""
    try:
        marker: Any = json.loads((root / _MARKER).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(marker, dict) or {**marker, **_MARK} != marker:
        return None
    name = marker.get("for")
    return name if isinstance(name, str) and name == Path(name).name else None


def _lock(folder: Path, *, patience_s: float = 0.0) -> int | None:
    """Locks a folder; `None` where there are no locks.

    Raises:
        BlockingIOError: Another process holds it, and goes on holding it for `patience_s`.
        FileNotFoundError: There is no such folder.
    """
    if sys.platform == "win32":
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except PermissionError:
        return None
    end = time.monotonic() + patience_s
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:  # noqa: PERF203 - it is what is waited for
                if time.monotonic() >= end:
                    message = "another process has locked the folder around it"
                    raise BlockingIOError(errno.EBUSY, message) from error
                time.sleep(_LOOK_S)
            except OSError:
                os.close(handle)
                return None
            else:
                return handle
    except BaseException:
        os.close(handle)
        raise


def _unlock(handle: int | None) -> None:
    if handle is None:
        return
    try:
        if sys.platform != "win32":
            # A process that was forked meanwhile has the handle as well: closing ours would not release it.
            fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)
