"""Time and memory: what an input that is small may take."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PATIENCE_S = 10.0
"""No input that is small by its estimate takes longer."""

MOST_GROWTH = 400e6
"""Nor does the process ever hold so many bytes more than before the first input."""

MOST_LEFT = 200e6
"""Nor does it keep so many after the last: nothing leaks."""

MOST_ADDRESSES = 8e9
"""What asks for more is refused by the system, and the process ends: an input that is large unsaid."""


FLUID_S = 1.0
"""The fluid makes no estimate, and its equations may be stiff: one that takes longer than this is interrupted,
which it must obey before all patience is over."""


class TooLongError(Exception):
    """An input that is small by its estimate took too long."""


class TooLargeError(Exception):
    """An input that is small by its estimate took too much memory."""


class StoppedError(Exception):
    """A solution that was interrupted in time."""


@contextmanager
def in_time(*, stop_s: float = PATIENCE_S) -> Iterator[None]:
    """Interrupts what takes too long: the engine looks for signals between its steps.

    Args:
        stop_s: When to interrupt.

    Raises:
        StoppedError: It was interrupted before the patience was over.
        TooLongError: It took longer than that.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGALRM, stop)
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, stop_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.monotonic() - start > PATIENCE_S:
        raise TooLongError


class Memory:
    """Watches the memory of this process."""

    def __init__(self) -> None:
        """What it holds now is what it may return to."""
        give_back()
        self.base = resident()

    def check(self) -> None:
        """Refuses a peak that no small input explains.

        Raises:
            TooLargeError: The peak since the last one was refused.
        """
        grown = peak() - self.base
        if grown > MOST_GROWTH:
            forget_peak()
            message = f"it took {grown / 1e6:.0f} MB"
            raise TooLargeError(message)

    @property
    def left(self) -> float:
        """How many bytes more than at first it holds, once what nobody uses is given back."""
        give_back()
        return resident() - self.base


def give_back() -> None:
    """Frees what nobody refers to, and returns what the allocator (glibc) only keeps for later."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident() -> float:
    """Bytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return float(pages * resource.getpagesize())


def peak() -> float:
    """The most bytes that it has held."""
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def forget_peak() -> None:
    """From now on the most is that of what follows."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def limit_addresses() -> None:
    """Ends this process rather than the machine when an input asks for all memory there is."""
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + int(MOST_ADDRESSES), hard))
