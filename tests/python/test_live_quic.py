"""`longfat live --stack quic`: controllers over QUIC, by a real link. Needs root and `make live`.

Where the machine is too busy, the link or the measurement says so, and nothing is judged here either.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import longfat as package
from longfat.commands._link import binary
from longfat.commands._live import QUIC, QUIC_PLACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support import Command

pytestmark = pytest.mark.live

COUNTS = "counts for nothing"
WRONG_INPUT = 2


def missing() -> str | None:
    """Why there can be no transfer over QUIC here."""
    try:
        binary()
        binary(QUIC, QUIC_PLACE)
    except click.UsageError as error:
        return str(error)
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "a link needs root and /dev/net/tun"
    return None


@pytest.fixture(autouse=True)
def alone(longfat: Command) -> Iterator[None]:
    """Leaves no link behind, and disturbs none that is there."""
    if reason := missing():
        pytest.skip(reason)
    if longfat("link", "status").returncode != WRONG_INPUT:
        pytest.skip("there is a link, or what is left of one: remove it with `longfat link down`")
    yield
    longfat("link", "down")


def measured(longfat: Command, out: Path, *options: str) -> dict[str, object]:
    """The averages of a measurement, which is skipped where the machine was too busy for it."""
    done = longfat("live", "--stack=quic", f"--out={out}", *options)
    if COUNTS in done.stderr:
        pytest.skip(f"this machine is too busy: {done.stderr}")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads((out / "summary.json").read_text("utf-8"))
    return found


def test_window_and_throughput_are_those_of_the_simulation(
    longfat: Command, tmp_path: Path
) -> None:
    longfat("link", "up", "--rate=30Mbit/s", "--rtt=40ms")
    measured(longfat, tmp_path / "out", "--control=exp", "--for=15s", "--warmup=5s")
    verdicts = {each.name: each.verdict for each in package.overlay(tmp_path / "out").findings}
    assert verdicts["window_mean"] == "agrees"
    assert verdicts["throughput_bit_s"] == "agrees"


def test_flows_share_the_link(longfat: Command, tmp_path: Path) -> None:
    longfat("link", "up", "--rate=30Mbit/s", "--rtt=40ms", "--packet=1300B")
    found = measured(longfat, tmp_path / "out", "--control=exp", "--flows=2", "--for=8s")
    flows = found["flows"]
    assert isinstance(flows, list)
    assert [flow["name"] for flow in flows] == ["flow[0]", "flow[1]"]
    # Headers of IPv4 and UDP: 28 of 1300 B.
    assert {flow["segment_payload_B"] for flow in flows} == {1272}
    together = sum(flow["throughput_bit_s"] for flow in flows)
    assert together == pytest.approx(30e6 * 1272 / 1300, rel=0.05)


def test_what_quic_cannot_run_is_refused_with_the_reason(longfat: Command) -> None:
    longfat("link", "up", "--rate=30Mbit/s", "--rtt=40ms", "--packet=1000B")
    done = longfat("live", "--stack=quic", "--control=bbr1", "--for=4s")
    assert done.returncode == WRONG_INPUT
    assert "`bbr1` cannot run on quinn" in done.stderr
    done = longfat("live", "--stack=quic", "--control=exp", "--for=4s")
    assert done.returncode == WRONG_INPUT
    assert "1228 B or more" in done.stderr
    assert not Path("runs").exists()
