"""The threads in which simulations run, and how they are stopped."""

from __future__ import annotations

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat._longfat import Cancellation

_PATIENCE_S = 1.0
"""A simulation that is cancelled ends in far less, unless a controller in Python does not come back."""


class SimulationThreads(ThreadPoolExecutor):
    """Threads for simulations. Python tells only its main thread of Ctrl-C; these are told by `stop`."""

    def __init__(self, count: int) -> None:
        """Takes so many."""
        self._begun: list[threading.Thread] = []
        super().__init__(count, "longfat", self._remember)

    def _remember(self) -> None:
        self._begun.append(threading.current_thread())

    def stop(self, cancellation: Cancellation) -> None:
        """Cancels what is running, and returns once it has ended.

        A controller in Python that has not come back by then is interrupted as Ctrl-C would interrupt it in the
        main thread: a loop without an end does end, and what waits outside of Python is waited for.

        Args:
            cancellation: What the simulations heed.
        """
        cancellation.cancel()
        self.shutdown(wait=False, cancel_futures=True)
        for thread in self._begun:
            thread.join(_PATIENCE_S)
            while thread.is_alive():
                _interrupt(thread)
                thread.join(_PATIENCE_S)


def _interrupt(thread: threading.Thread) -> None:
    """Raises `KeyboardInterrupt` in a thread, at the next instruction of Python that it comes to."""
    if thread.ident is not None:
        raised = ctypes.py_object(KeyboardInterrupt)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), raised)
