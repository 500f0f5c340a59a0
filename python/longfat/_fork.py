"""Processes that were forked: what they lack of the one that they are a copy of.

A fork has only the thread that made it. polars works in threads of its own, which it makes when it first needs
them; a fork of a process that has used it waits for them for ever. Locks that other threads held stay locked.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from longfat.errors import ForkError

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOME = None if "polars" in sys.modules else os.getpid()
"""The process that imported longfat, if nobody can have used polars in it, or in one that it is a fork of."""

_PATIENCE_S = 5.0
"""What takes a thousandth of a second where there are threads."""

_LONG_S = 10.0
"""What takes a second or two: to compile a law, or to read a file with code."""

_found: dict[int, bool] = {}


class Turns:
    """What threads do one at a time, as often as the same one likes; in a fork nobody's turn lasts.

    A fork comes between turns, unless one lasts long: what is done in them may hold locks of others, as Numba's
    as long as it compiles, or change for a while what is imported from where.
    """

    def __init__(self) -> None:
        """It is nobody's turn."""
        self._end_all()
        if hasattr(os, "register_at_fork"):  # where there are forks
            os.register_at_fork(
                before=self._begin, after_in_parent=self._end, after_in_child=self._end_all
            )

    @contextmanager
    def one(self) -> Iterator[None]:
        """The block is a turn: it begins when that of another thread has ended."""
        with self._lock:
            yield

    def _begin(self) -> None:
        self._forks.has_turn = False  # should it be interrupted
        self._forks.has_turn = self._lock.acquire(timeout=_LONG_S)

    def _end(self) -> None:
        if self._forks.has_turn:
            self._lock.release()

    def _end_all(self) -> None:
        self._lock = threading.RLock()
        self._forks = threading.local()


def has_threads() -> bool:
    """Whether polars can work in this process. What may be a fork tries it once, for some seconds at most."""
    here = os.getpid()
    if here == _HOME:
        return True
    if here not in _found:
        _found[here] = _tried()
    return _found[here]


def need_threads() -> None:
    """Refuses what would wait for ever.

    Raises:
        ForkError: This process is a fork without threads.
    """
    if not has_threads():
        raise ForkError


def _tried() -> bool:
    import polars as pl

    done = threading.Event()

    def work() -> None:
        pl.DataFrame({"number": [0.0, 1.0]}).filter(pl.col("number") > 0.0)
        done.set()

    threading.Thread(target=work, daemon=True).start()
    return done.wait(_PATIENCE_S)
