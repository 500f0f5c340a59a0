"""What tests of real links share: when there can be none, and when what was measured is not judged."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from longfat.commands._link import binary
from longfat.commands._live import QUIC, QUIC_PLACE, TCP, TCP_PLACE

if TYPE_CHECKING:
    from support import Command, Finished

WRONG_INPUT = 2
COUNTS = "counts for nothing"
"""What is said where the machine was too busy."""

HELD = Path("/proc/sys/net/ipv4")
PINNED = Path("/sys/fs/bpf")


def skip_without_link(longfat: Command) -> None:
    """Skips where no link can be made, and where there is one, which is not disturbed."""
    try:
        binary()
    except click.UsageError as error:
        pytest.skip(str(error))
    if os.geteuid() != 0:
        pytest.skip("a link needs root")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("a link needs /dev/net/tun")
    if longfat("link", "status").returncode != WRONG_INPUT:
        pytest.skip("there is a link, or what is left of one: remove it with `longfat link down`")


def skip_without_tcp() -> None:
    """Skips where no controller can run in TCP."""
    try:
        command = [binary(TCP, TCP_PLACE), "check"]
    except click.UsageError as error:
        pytest.skip(str(error))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr)


def skip_without_quic() -> None:
    """Skips where the program of QUIC was not built."""
    try:
        binary(QUIC, QUIC_PLACE)
    except click.UsageError as error:
        pytest.skip(str(error))


def traces() -> dict[str, object]:
    """What programs in the kernel, or the settings for them, would change on this machine."""
    mounts = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return {
        "controls": (HELD / "tcp_available_congestion_control").read_text("utf-8"),
        "default": (HELD / "tcp_congestion_control").read_text("utf-8"),
        "allowed": (HELD / "tcp_allowed_congestion_control").read_text("utf-8"),
        "mounted": [line for line in mounts if str(PINNED) in line],
        "pinned": sorted(map(str, PINNED.iterdir())) if PINNED.is_dir() else [],
    }


def undisturbed(done: Finished) -> None:
    """Skips where the machine was too busy; otherwise the command has to have succeeded."""
    if COUNTS in done.stderr:
        pytest.skip(f"this machine is too busy: {done.stderr}")
    assert done.returncode == 0, done.stderr


def measured(longfat: Command, out: Path, *options: str) -> dict[str, Any]:
    """The averages of a measurement by `longfat live`."""
    undisturbed(longfat("live", f"--out={out}", *options))
    found: dict[str, Any] = json.loads((out / "summary.json").read_text("utf-8"))
    return found
