"""`longfat kernel` and `longfat live --stack tcp-kernel`: laws as tables. Needs root, Linux 6.10, `make live`.

Where the machine is too busy for a link, the link says so, and what was measured is not judged here either.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import longfat as package
from live_support import (
    HELD,
    WRONG_INPUT,
    measured,
    skip_without_link,
    skip_without_tcp,
    traces,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support import Command

pytestmark = pytest.mark.live

RATE, RTT = "50Mbit/s", "40ms"
NOBODY = 65534

ASKING = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
own = socket.socket()
own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
print(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode())
"""
"""A user of its own asks for a congestion control, and tells what it got."""


@pytest.fixture(autouse=True)
def unchanged(longfat: Command) -> Iterator[None]:
    """A machine that is afterwards as it was."""
    skip_without_tcp()
    if json.loads(longfat("kernel", "list", "--json").stdout):
        pytest.skip("something is installed: `longfat kernel remove --all`")
    before = traces()
    yield
    longfat("kernel", "remove", "--all")
    assert traces() == before


def installed(longfat: Command) -> list[dict[str, object]]:
    done = longfat("kernel", "list", "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_what_is_installed_stays_until_it_is_removed(longfat: Command) -> None:
    before = traces()
    done = longfat("kernel", "install", "cw-hstcp")
    assert done.returncode == 0, done.stderr
    assert "sysctl -w net.ipv4.tcp_congestion_control=longfat_cw_hstc" in done.stdout
    assert longfat("kernel", "install", '{ kind = "exp", gamma = 0.1 }').returncode == 0
    first, second = installed(longfat)
    assert (first["control"], first["congestion"]) == ("cw-hstcp", "longfat_cw_hstc")
    assert "gamma = 0.1," in str(second["parameters"])
    assert (second["connections"], second["congestion"]) == (0, "longfat_exp")
    for each in (first, second):
        assert isinstance(each["table_error"], float)
        assert 0 < each["table_error"] <= 0.003
    offered = (HELD / "tcp_available_congestion_control").read_text("utf-8").split()
    assert {"longfat_cw_hstc", "longfat_exp"} <= set(offered)
    assert longfat("kernel", "remove", "exp").returncode == 0
    assert [each["control"] for each in installed(longfat)] == ["cw-hstcp"]
    assert longfat("kernel", "remove", "--all").returncode == 0
    assert traces() == before


def test_the_same_is_installed_once_and_another_one_not_over_it(longfat: Command) -> None:
    assert longfat("kernel", "install", "exp").returncode == 0
    again = longfat("kernel", "install", '{ kind = "exp", gamma = 0.05 }')
    assert again.returncode == 0, "the default, and so the same"
    assert "already" in again.stdout
    for asked in (["kernel", "install"], ["live", "--stack=tcp-kernel", "--for=1s", "--control"]):
        other = longfat(*asked, '{ kind = "exp", gamma = 0.1 }')
        assert other.returncode == WRONG_INPUT
    assert "gamma = 0.05" in longfat("kernel", "list").stdout


def test_what_has_no_table_is_not_installed(longfat: Command) -> None:
    before = traces()
    for control, told in [("cubic", "remembers"), ("bbr1", "delivery rate"), ("exq", "exp")]:
        done = longfat("kernel", "install", control)
        assert done.returncode == WRONG_INPUT
        assert told in done.stderr
    assert traces() == before
    absent = longfat("kernel", "remove", "exp")
    assert absent.returncode == WRONG_INPUT
    assert "exp is not installed" in absent.stderr


def test_any_user_and_any_namespace_can_ask_for_it(longfat: Command) -> None:
    assert longfat("kernel", "install", "stcp").returncode == 0
    asking = [sys.executable, "-I", "-c", ASKING, "longfat_stcp", str(NOBODY)]
    for namespace in ([], ["unshare", "--net"]):
        told = subprocess.check_output([*namespace, *asking], text=True)
        assert told.strip() == "longfat_stcp"
    default = ["unshare", "--net", "sysctl", "-w", "net.ipv4.tcp_congestion_control=longfat_stcp"]
    assert subprocess.run(default, capture_output=True, check=False).returncode == 0


@contextmanager
def default(name: str) -> Iterator[None]:
    """What connections get that ask for nothing, for a moment."""
    file = HELD / "tcp_congestion_control"
    before = file.read_text("utf-8")
    file.write_text(name, "utf-8")
    try:
        yield
    finally:
        file.write_text(before, "utf-8")


def test_what_new_connections_get_is_not_removed(longfat: Command) -> None:
    assert longfat("kernel", "install", "stcp").returncode == 0
    with default("longfat_stcp"):
        done = longfat("kernel", "remove", "--all")
        assert done.returncode == WRONG_INPUT
        assert "choose another one first" in done.stderr
        assert len(installed(longfat)) == 1


def test_a_connection_keeps_it_until_it_is_closed(longfat: Command) -> None:
    assert longfat("kernel", "install", "reno").returncode == 0
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket() as own,
    ):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"longfat_reno")
        own.connect(listener.getsockname())
        taken, _ = listener.accept()
        with taken:
            (listed,) = installed(longfat)
            assert listed["connections"] == 1
            done = longfat("kernel", "remove", "reno")
            assert "one connection has it until it is closed" in done.stdout
            own.sendall(bytes(1 << 16))
            assert len(taken.recv(1 << 16, socket.MSG_WAITALL)) == 1 << 16
            name = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            assert name.rstrip(bytes(1)) == b"longfat_reno"


@pytest.fixture
def link(longfat: Command) -> Iterator[None]:
    """A link of one's own."""
    skip_without_link(longfat)
    done = longfat("link", "up", f"--rate={RATE}", f"--rtt={RTT}")
    assert done.returncode == 0, done.stderr
    yield
    longfat("link", "down")


@pytest.mark.usefixtures("link")
@pytest.mark.parametrize("control", ["hstcp", "exp"])
def test_the_window_is_that_of_the_simulation(
    longfat: Command, control: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    asked = ["--stack=tcp-kernel", f"--control={control}", "--for=30s", "--warmup=8s"]
    summary = measured(longfat, out, *asked)
    assert summary["stack"] == "tcp-kernel"
    assert 0 < summary["table_error"] <= 0.003
    # Over whole epochs, and within the 2 % of its mean window.
    beside = package.overlay(out)
    verdicts = {each.what: each for each in beside.findings}
    window = next(each for what, each in verdicts.items() if what.startswith("mean window"))
    assert window.verdict == "agrees", beside.table
