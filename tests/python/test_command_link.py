"""`longfat link` where there is no link: wrong input, and where the program is looked for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command

WRONG_INPUT = 2

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such links")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of longfat-link that tells what it was asked, and what it was given to read."""
    path = tmp_path / "longfat-link"
    path.write_text('#!/bin/sh\necho "$@"\n[ "$1" = up ] && cat\nexit 3\n', "utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("LONGFAT_LINK", str(path))
    return path


@pytest.mark.usefixtures("stand_in")
def test_the_link_is_handed_over_as_a_scenario(longfat: Command) -> None:
    done = longfat("link", "up", "--rate=1Gbit/s", "--rtt=40ms", "--queue=red", "--loss=1e-4")
    assert done.returncode == 3
    first, *rest = done.stdout.splitlines()
    assert first == "up -"
    for line in ('rate = "1 Gbit/s"', 'delay = "20 ms"', "loss = 0.0001"):
        assert line in rest
    assert any(line.startswith('queue = { kind = "red"') for line in rest)


@pytest.mark.usefixtures("stand_in")
def test_a_scenario_is_handed_over_complete(longfat: Command, small: Path) -> None:
    done = longfat("link", "up", "--normal-priority", small)
    first, *rest = done.stdout.splitlines()
    assert first == "up --normal-priority -"
    assert 'queue = "drop-tail"' in rest


@pytest.mark.usefixtures("stand_in")
def test_a_capture_is_asked_for(longfat: Command) -> None:
    link = ["--rate=1Gbit/s", "--rtt=40ms"]
    done = longfat("link", "up", *link, "--capture=some.pcapng")
    assert done.stdout.splitlines()[0] == "up --capture=some.pcapng -"
    done = longfat("link", "up", *link, "--capture=some.pcapng", "--capture-bytes=60")
    assert done.stdout.splitlines()[0] == "up --capture=some.pcapng --capture-bytes=60 -"
    done = longfat("link", "up", *link, "--capture-bytes=60")
    assert (done.returncode, done.stdout) == (WRONG_INPUT, "")
    assert "there is no --capture" in done.stderr


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("asked", "handed"),
    [
        ("shell --end b -- ls --end a", "shell --end b -- ls --end a"),
        ("shell ls -l", "shell --end a -- ls -l"),
        ("shell --quiet -- true", "shell --end a --quiet -- true"),
        ("status --json", "status --json"),
        ("down", "down"),
    ],
)
def test_other_commands_are_handed_over(longfat: Command, asked: str, handed: str) -> None:
    done = longfat("link", *asked.split())
    assert (done.returncode, done.stdout) == (3, f"{handed}\n")


@pytest.mark.usefixtures("stand_in")
def test_wrong_links_are_refused_before_anything_is_made(longfat: Command, small: Path) -> None:
    for arguments, told in [
        (["--rate=1Gbit/s"], "--rate and --rtt, or a scenario"),
        ([str(small), "--rate=1Gbit/s"], "not from both"),
        (["--rate=1Gbit/s", "--rtt=fast"], "--rtt"),
        (["--rate=1Gbit/s", "--rtt=40ms", "--queue=redd"], "did you mean `red`?"),
        (["--rate=1Gbit/s", "--rtt=40ms", "--loss=2"], "--loss"),
    ]:
        done = longfat("link", "up", *arguments)
        assert (done.returncode, done.stdout) == (WRONG_INPUT, "")
        assert told in done.stderr


def test_without_the_program_it_says_what_builds_it(
    longfat: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_LINK", str(tmp_path / "absent"))
    done = longfat("link", "status")
    assert done.returncode == WRONG_INPUT
    assert "LONGFAT_LINK" in done.stderr
    monkeypatch.delenv("LONGFAT_LINK")
    monkeypatch.setattr("longfat.commands._link.BUILT", tmp_path / "absent")
    monkeypatch.setenv("PATH", os.devnull)
    from click import UsageError

    from longfat.commands._link import binary

    with pytest.raises(UsageError, match="make live"):
        binary()
