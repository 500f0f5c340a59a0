"""Processes that were forked: what they lack of the one that they are a copy of.

A fork has only the thread that made it. polars works in threads of its own, which it makes when it first needs
them; a fork of a process that has used it waits for them for ever.
"""

from __future__ import annotations

import os
import threading

from longfat.errors import ForkError

_HOME = os.getpid()
"""The process that imported longfat."""

_PATIENCE_S = 5.0
"""What takes a thousandth of a second where there are threads."""

_found: dict[int, bool] = {}


def has_threads() -> bool:
    """Whether polars can work in this process. A fork tries it once, and waits some seconds if it cannot."""
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
