"""How much processor time programs take while something is measured."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_USER, _SYSTEM = 11, 12
"""Where `/proc/PID/stat` has the times in user and kernel mode, counted from what follows the name: proc(5)."""


@contextmanager
def shares(processes: Mapping[str, int | None]) -> Iterator[dict[str, float]]:
    """Watches processes, by name; afterwards the dictionary has the processor time of each per second.

    Those without a number, and those that end meanwhile, are left out.
    """
    begun = time.monotonic()
    before = {name: used_s(process) for name, process in processes.items()}
    found: dict[str, float] = {}
    yield found
    after = {name: used_s(process) for name, process in processes.items()}
    seconds = time.monotonic() - begun
    for name, then in before.items():
        now = after[name]
        if then is not None and now is not None:
            found[name] = (now - then) / seconds


def used_s(process: int | None) -> float | None:
    """What a process has used so far in user and kernel mode, in seconds; `None` where there is none."""
    if process is None:
        return None
    try:
        text = Path(f"/proc/{process}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in parentheses, and may hold anything.
    fields = text.rpartition(")")[2].split()
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")
