"""What the tests share: scenarios, and the type of the command line."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]

SMALL = """\
duration = "4 s"
warmup = "1 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
name = "forward"
control = "reno"
count = 2
path = ["bottleneck"]
rtt = "20 ms"
start = { uniform = ["0 s", "100 ms"] }
"""

ENDLESS = SMALL.replace("4 s", "100000 s").replace("10 Mbit/s", "10 Gbit/s")
"""Runs for hours unless it is stopped."""

Finished = subprocess.CompletedProcess[str]
Command = Callable[..., Finished]


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that all processes of the tests share: the first that asks makes it, others wait."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, made = root / name, root / f"{name}.made"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            made.touch()
    return folder
