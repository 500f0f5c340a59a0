"""Running a simulator in a process of its own, and measuring what it took."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

KIBI = 1024
"""Bytes in the unit in which the system reports memory."""


@dataclass(frozen=True)
class Usage:
    """What a process took: processor time, and its largest memory in bytes."""

    cpu_s: float
    peak_memory_bytes: int


class ProcessError(RuntimeError):
    """A simulator failed; the message ends with the last lines of its output."""


def run(command: Sequence[str], *, limit_s: float | None = None) -> Usage:
    """Runs a command to its end.

    Args:
        command: The program and its arguments.
        limit_s: Wall time after which the process is killed.

    Raises:
        ProcessError: It failed, or took too long.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - a program that the caller chose
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s or 0, stop)
        if limit_s is not None:
            timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            timer.cancel()
        if process.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace").strip().splitlines()[-5:]
            name = Path(command[0]).name
            how = (
                f"was killed after {limit_s:g} s" if late.is_set() else _ending(process.returncode)
            )
            raise ProcessError("\n".join([f"{name} {how}", *words]))
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KIBI)


def _ending(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"failed with code {code}"
