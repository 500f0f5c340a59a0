"""`longfat live --stack tcp`: controllers in the TCP of Linux. Needs root, Linux 6.10, `make live`.

Where the machine is too busy for a link, the link says so, and what was measured is not judged here either.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl
import pytest

import longfat as package
from live_support import WRONG_INPUT, measured, skip_without_link, skip_without_tcp, traces
from longfat.commands._link import binary
from longfat.commands._live import ENDS, TCP, TCP_PLACE
from longfat.live._measurement import averages
from longfat.study._setup import Setup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support import Command

pytestmark = pytest.mark.live

RATE, RTT, CONTROL = "30Mbit/s", "40ms", "exp"
BUSY = 0.05
"""How far the mean window may be from that of the simulation on a machine that does much else."""


@pytest.fixture(autouse=True)
def link(longfat: Command) -> Iterator[None]:
    """A link of one's own, and a machine that is afterwards as it was."""
    skip_without_link(longfat)
    skip_without_tcp()
    before = traces()
    done = longfat("link", "up", f"--rate={RATE}", f"--rtt={RTT}")
    assert done.returncode == 0, done.stderr
    yield
    longfat("link", "down")
    assert traces() == before


@contextmanager
def controller() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [binary(TCP, TCP_PLACE), "run", CONTROL], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["control"] == CONTROL
        yield process
        process.kill()


def shell(*arguments: str) -> subprocess.Popen[str]:
    own = [binary(), "shell", "--quiet", *arguments]
    return subprocess.Popen(own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def simulated(folder: Path, seconds: float, warmup: float) -> float:
    """The mean window of the same flow in the simulator."""
    setup = Setup(RATE, RTT, duration=f"{seconds} s", warmup=f"{warmup} s")
    file = folder / "simulated.toml"
    file.write_text(setup.scenario(CONTROL).to_toml(), "utf-8")
    run = package.run(file)
    window: float = run.summary["flows"][0]["window_mean"]
    return window


def test_the_window_is_that_of_the_simulation(longfat: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = measured(longfat, out, f"--control={CONTROL}", "--for=15s", "--warmup=5s")
    (flow,) = summary["flows"]
    assert flow["window_mean"] == pytest.approx(simulated(tmp_path, 15, 5), rel=BUSY)
    # Headers of IP and TCP with time stamps: 52 of 1500 B.
    assert flow["throughput_bit_s"] == pytest.approx(30e6 * 1448 / 1500, rel=BUSY)
    series = pl.read_parquet(out / "flow_series.parquet")
    assert series["window"].max() < 2 * flow["window_mean"]
    assert summary["reports"] > 0


ROOM = """\
duration = "8 s"

[link.bottleneck]
rate = "30 Mbit/s"
delay = "20 ms"
buffer = "1 bdp"
queue = "avq"
anti_ecn = { threshold = 0.9 }

[[flow]]
name = "flow"
control = "anti-ecn"
path = ["bottleneck"]
rtt = "40 ms"
"""


def test_the_bit_of_anti_ecn_comes_back(longfat: Command, tmp_path: Path) -> None:
    longfat("link", "down")
    file = tmp_path / "room.toml"
    file.write_text(ROOM, "utf-8")
    done = longfat("link", "up", str(file))
    assert done.returncode == 0, done.stderr
    heard = measured(longfat, tmp_path / "out", "--control=anti-ecn", "--for=8s")["spare"]
    # The first segment of all finds room. Every acknowledgment says what its data found.
    assert 0 < heard["spare"] < heard["acknowledgments"]
    assert heard["mute"] < 0.01 * heard["acknowledgments"]


def test_a_bit_that_the_link_does_not_write_is_refused(longfat: Command) -> None:
    done = longfat("live", "--control=anti-ecn", "--for=2s")
    assert done.returncode == WRONG_INPUT
    assert "anti_ecn = true" in done.stderr


def test_flows_of_their_own_share_the_link(longfat: Command, tmp_path: Path) -> None:
    asked = (f"--control={CONTROL}", "--flows=2", "--for=8s")
    flows = measured(longfat, tmp_path / "out", *asked)["flows"]
    assert [flow["name"] for flow in flows] == ["flow[0]", "flow[1]"]
    together = sum(flow["throughput_bit_s"] for flow in flows)
    assert together == pytest.approx(30e6 * 1448 / 1500, rel=BUSY)


def test_a_flow_goes_on_under_reno_when_its_controller_is_killed() -> None:
    with controller() as process:
        taking = shell("--end", "b", "--", sys.executable, str(ENDS), "take", "1")
        assert taking.stdout is not None
        assert taking.stdout.readline() == "ready\n"
        giving = shell("--", sys.executable, str(ENDS), "give", "1", "14")
        time.sleep(4)
        process.kill()
        out, _ = giving.communicate(timeout=60)
        taking.communicate(timeout=60)
    samples = [tuple(each) for each in json.loads(out)["samples"]]
    # It fills the link as before: nothing waits for an answer.
    (after,) = averages([each for each in samples if each[0] > 5], 5)
    assert after["throughput_bit_s"] > 0.9 * 30e6 * 1448 / 1500
    # exp gives up an eighth at a loss, and Reno a half.
    windows = [each[2] for each in samples if each[0] > 5]
    assert min(windows) < 0.7 * max(windows)


def test_a_controller_that_comes_back_takes_over_again() -> None:
    with controller() as process:
        taking = shell("--end", "b", "--", sys.executable, str(ENDS), "take", "1")
        assert taking.stdout is not None
        assert taking.stdout.readline() == "ready\n"
        giving = shell("--", sys.executable, str(ENDS), "give", "1", "16")
        time.sleep(3)
        process.send_signal(19)  # SIGSTOP
        time.sleep(3)
        process.send_signal(18)  # SIGCONT
        out, _ = giving.communicate(timeout=60)
        taking.communicate(timeout=60)
    # By then it has found its way: an eighth at a loss, not a half.
    windows = [each[2] for each in json.loads(out)["samples"] if each[0] > 11]
    assert min(windows) > 0.8 * max(windows)


def test_one_at_a_time() -> None:
    with controller():
        second = subprocess.run(
            [binary(TCP, TCP_PLACE), "run", CONTROL], capture_output=True, text=True, check=False
        )
    assert second.returncode == 1
    assert "one can run at a time" in second.stderr


def test_nothing_goes_on_when_a_measurement_is_ended(tmp_path: Path) -> None:
    own = [sys.executable, "-m", "longfat", "live", f"--control={CONTROL}", "--for=60s"]
    with subprocess.Popen([*own, f"--out={tmp_path / 'out'}"], stderr=subprocess.PIPE) as process:
        while len(behind_the_link()) < 2:
            assert process.poll() is None
            time.sleep(0.1)
        process.terminate()
        process.communicate(timeout=60)
    assert behind_the_link() == []
    assert not (tmp_path / "out").exists()


def behind_the_link() -> list[str]:
    """The programs of a measurement that run."""
    # However long lines are: where lines of the terminal are known, `ps` cuts what it tells.
    told = subprocess.check_output(["ps", "-ww", "-eo", "args"], text=True)  # noqa: S607
    return [line for line in told.splitlines() if f"{ENDS} " in line and "longfat-link" not in line]
