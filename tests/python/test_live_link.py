"""`longfat link`: real packets over a real link. Needs root, TUN devices and what `make live` builds.

Where the machine is too busy for a link, the link says so, and what was measured is not judged here either.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import link_peer
from live_support import COUNTS, WRONG_INPUT, skip_without_link, undisturbed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support import Command

pytestmark = pytest.mark.live

PEER = Path(link_peer.__file__)
CE = 3
"""The mark of RFC 3168."""


@pytest.fixture(autouse=True)
def alone(longfat: Command) -> Iterator[None]:
    """Leaves no link behind, and disturbs none that is there."""
    skip_without_link(longfat)
    yield
    longfat("link", "down")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "longfat", "link", *arguments]


def up(longfat: Command, **options: str) -> None:
    done = longfat("link", "up", *(f"--{name}={value}" for name, value in options.items()))
    assert done.returncode == 0, done.stderr


@contextmanager
def server(*role: str) -> Iterator[subprocess.Popen[str]]:
    """A role of `link_peer` at end b, once it is ready."""
    shell = command("shell", "--quiet", "--end", "b", "--", sys.executable, str(PEER), *role)
    with subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        yield run
        run.wait(30)


def measured(longfat: Command, client: str, at_b: str, told_by: str) -> dict[str, Any]:
    """What one of two roles tells; a test of it is skipped if the link says that it counts for nothing."""
    with server(at_b) as running:
        done = longfat("link", "shell", "--quiet", "--", sys.executable, PEER, client)
        out, _ = running.communicate(timeout=30)
    undisturbed(done)
    found: dict[str, Any] = json.loads(out if told_by == at_b else done.stdout)
    return found


def status(longfat: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(longfat("link", "status", "--json").stdout)
    return found


def test_round_trips_take_as_long_as_asked(longfat: Command) -> None:
    up(longfat, rate="200Mbit/s", rtt="40ms")
    found = measured(longfat, "ask", "echo", told_by="ask")
    assert found["least"] >= 0.040
    assert found["median"] < 0.041


@pytest.mark.parametrize("rate", [50, 200])
def test_a_transfer_fills_the_link(longfat: Command, rate: int) -> None:
    up(longfat, rate=f"{rate}Mbit/s", rtt="40ms")
    found = measured(longfat, "give", "take", told_by="take")
    # Headers of IP and TCP with time stamps: 52 of 1500 B.
    most = rate * 1e6 * 1448 / 1500
    # Received in batches, whose ends are uncertain by a round trip.
    assert 0.95 * most <= found["rate"] <= 1.01 * most


@pytest.mark.parametrize("version", "46")
def test_what_crosses_the_link_stays_whole(longfat: Command, version: str) -> None:
    # Receivers trust their kernel with packets of such a device, so nothing else would notice.
    up(longfat, rate="200Mbit/s", rtt="10ms", buffer="100 packets", queue="red", loss="0.003")
    with server("check", version) as running:
        longfat("link", "shell", "--quiet", "--", sys.executable, PEER, "hand", version)
        assert json.loads(running.communicate(timeout=60)[0]) == {"whole": True}
    forward = status(longfat)["forward"]
    assert forward["lost"] > 0
    assert forward["malformed"] == forward["refused"] == 0


@pytest.mark.parametrize("version", "46")
def test_datagrams_that_are_sent_as_one_arrive_one_by_one(longfat: Command, version: str) -> None:
    up(longfat, rate="200Mbit/s", rtt="10ms", buffer="3000 packets", loss="0.05")
    with server("gather", version) as running:
        longfat("link", "shell", "--quiet", "--", sys.executable, PEER, "scatter", version)
        found = json.loads(running.communicate(timeout=60)[0])
    forward = status(longfat)["forward"]
    assert forward["lost"] > 0
    assert found == {"received": link_peer.DATAGRAMS - forward["lost"], "whole": True}


def test_as_many_packets_are_lost_as_should_be(longfat: Command) -> None:
    share = 0.02
    up(longfat, rate="1Gbit/s", rtt="10ms", buffer="30000 packets", loss=str(share))
    with server("count") as running:
        longfat("link", "shell", "--quiet", "--", sys.executable, PEER, "spray")
        received = json.loads(running.communicate(timeout=30)[0])["received"]
    forward = status(longfat)["forward"]
    sent = link_peer.PACKETS
    # None is lost in any other way, and none twice.
    assert received == sent - forward["lost"]
    assert forward["dropped"] == 0
    deviation = math.sqrt(sent * share * (1 - share))
    assert abs(forward["lost"] - share * sent) < 5 * deviation


def test_marks_arrive(longfat: Command) -> None:
    up(longfat, rate="50Mbit/s", rtt="20ms", queue="red")
    for end in "ab":
        enable = "echo 1 > /proc/sys/net/ipv4/tcp_ecn"
        done = longfat("link", "shell", "--quiet", "--end", end, "--", "sh", "-c", enable)
        assert done.returncode == 0, done.stderr
    with server("take") as running:
        longfat("link", "shell", "--quiet", "--", sys.executable, PEER, "give")
        running.communicate(timeout=30)
    seen = longfat("link", "shell", "--quiet", "--end", "b", "--", "cat", "/proc/net/netstat")
    names, numbers = [line.split() for line in seen.stdout.splitlines() if "IpExt" in line]
    forward = status(longfat)["forward"]
    assert forward["marked"] > 0
    assert int(numbers[names.index("InCEPkts")]) == forward["marked"]


def test_a_capture_has_what_left_and_its_marks(longfat: Command, tmp_path: Path) -> None:
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not here")
    file = tmp_path / "packets.pcapng"
    up(longfat, rate="50Mbit/s", rtt="20ms", queue="red", capture=str(file))
    for end in "ab":
        enable = "echo 1 > /proc/sys/net/ipv4/tcp_ecn"
        longfat("link", "shell", "--quiet", "--end", end, "--", "sh", "-c", enable)
    with server("check", "4") as running:
        longfat("link", "shell", "--quiet", "--", sys.executable, PEER, "hand", "4")
        running.communicate(timeout=60)
    found = status(longfat)
    assert found["captured"]["missed"] == 0
    told = longfat("link", "down").stdout
    assert "0 left out" in told
    fields = ["frame.interface_id", "ip.dsfield.ecn", "frame.len", "frame.cap_len"]
    asked = [tshark, "-r", str(file), "-T", "fields", *(f"-e{field}" for field in fields)]
    table = subprocess.check_output(asked, text=True)
    rows = [tuple(map(int, line.split("\t"))) for line in table.splitlines() if "\t\t" not in line]
    forward = [row for row in rows if row[0] == 0]
    assert len(forward) == found["forward"]["delivered"]
    assert sum(row[1] == CE for row in forward) == found["forward"]["marked"] > 0
    # Single segments, whatever crossed the link as one, and of these the headers.
    assert max(row[2] for row in forward) == 1500
    assert max(row[3] for row in forward) == 128
    assert len(rows) - len(forward) == found["reverse"]["delivered"]


def test_a_capture_that_cannot_be_written_makes_no_link(longfat: Command) -> None:
    done = longfat("link", "up", "--rate=10Mbit/s", "--rtt=20ms", "--capture=/none/packets.pcapng")
    assert done.returncode == 1
    assert "/none/packets.pcapng" in done.stderr
    assert longfat("link", "status").returncode == WRONG_INPUT


def test_a_link_that_was_killed_is_removed(longfat: Command) -> None:
    devices = subprocess.check_output(["ip", "link"], text=True)  # noqa: S607
    up(longfat, rate="10Mbit/s", rtt="20ms")
    process = Path("/run/longfat-link/alive").read_text("utf-8")
    subprocess.run(["kill", "-9", process], check=True)  # noqa: S607
    told = longfat("link", "status")
    assert told.returncode == 1
    assert "longfat link down" in told.stderr
    again = longfat("link", "up", "--rate=10Mbit/s", "--rtt=20ms")
    assert again.returncode == WRONG_INPUT
    assert "longfat link down" in again.stderr
    done = longfat("link", "down")
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.check_output(["ip", "link"], text=True) == devices  # noqa: S607
    assert "longfat" not in subprocess.check_output(["ip", "netns"], text=True)  # noqa: S607
    assert longfat("link", "down").stdout == "there is no link\n"
    assert not Path("/run/longfat-link").exists()


def test_a_second_link_is_refused(longfat: Command) -> None:
    up(longfat, rate="10Mbit/s", rtt="20ms")
    second = longfat("link", "up", "--rate=20Mbit/s", "--rtt=20ms")
    assert second.returncode == WRONG_INPUT
    assert "a link is up already" in second.stderr
    # The first one is as it was.
    assert status(longfat)["rate_bit_s"] == 10_000_000


def test_a_link_is_made_from_a_scenario(longfat: Command, small: Path) -> None:
    done = longfat("link", "up", small)
    assert done.returncode == 0, done.stderr
    found = status(longfat)
    assert (found["rate_bit_s"], found["rtt_s"]) == (10_000_000, 0.01)


def test_what_runs_behind_a_link_ends_as_it_ends(longfat: Command) -> None:
    up(longfat, rate="10Mbit/s", rtt="20ms")
    for code in (0, 7):
        done = longfat("link", "shell", "--", "sh", "-c", f"echo $0 $1; exit {code}", "--end", "b")
        assert done.returncode == code
        assert done.stdout == "--end b\n"
    absent = longfat("link", "shell", "--", "there-is-no-such-program")
    assert absent.returncode == WRONG_INPUT
    assert "there-is-no-such-program" in absent.stderr


def test_late_packets_refuse_a_measurement(longfat: Command) -> None:
    # A hundredth of this round trip is shorter than any call of the system.
    up(longfat, rate="10Mbit/s", rtt="1us")
    with server("echo") as running:
        done = longfat("link", "shell", "--", sys.executable, PEER, "ask")
        running.communicate(timeout=30)
    assert done.returncode == 1
    assert COUNTS in done.stderr
    assert longfat("link", "status").returncode == 1
    told = longfat("link", "down")
    assert told.returncode == 1
    assert COUNTS in told.stderr
