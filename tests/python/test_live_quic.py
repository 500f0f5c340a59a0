"""`longfat live --stack quic`: controllers over QUIC, by a real link. Needs root and `make live`.

Where the machine is too busy, the link or the measurement says so, and nothing is judged here either.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import longfat as package
from live_support import WRONG_INPUT, measured, skip_without_link, skip_without_quic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support import Command

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def alone(longfat: Command) -> Iterator[None]:
    """Leaves no link behind, and disturbs none that is there."""
    skip_without_link(longfat)
    skip_without_quic()
    yield
    longfat("link", "down")


def test_window_and_throughput_are_those_of_the_simulation(
    longfat: Command, tmp_path: Path
) -> None:
    longfat("link", "up", "--rate=30Mbit/s", "--rtt=40ms")
    measured(longfat, tmp_path / "out", "--stack=quic", "--control=exp", "--for=15s", "--warmup=5s")
    verdicts = {each.name: each.verdict for each in package.overlay(tmp_path / "out").findings}
    assert verdicts["window_mean"] == "agrees"
    assert verdicts["throughput_bit_s"] == "agrees"


def test_flows_share_the_link(longfat: Command, tmp_path: Path) -> None:
    longfat("link", "up", "--rate=30Mbit/s", "--rtt=40ms", "--packet=1300B")
    found = measured(
        longfat, tmp_path / "out", "--stack=quic", "--control=exp", "--flows=2", "--for=8s"
    )
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
