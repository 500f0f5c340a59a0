"""What the tests share: scenarios, and the type of the command line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

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
