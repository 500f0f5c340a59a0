"""`longfat kernel` with a program that stands in for the real one, and controllers that have no table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command

WRONG_INPUT = 2

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such kernels")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the place of longfat-tcp that tells what it was asked."""
    path = tmp_path / "longfat-tcp"
    path.write_text('#!/bin/sh\nfor each in "$@"; do echo "$each"; done\nexit 3\n', "utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("LONGFAT_TCP", str(path))


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("asked", "handed"),
    [
        (["install", "exp"], ["install", "exp"]),
        (
            ["install", '{ kind = "exp", gamma = 0.1 }'],
            ["install", '{ kind = "exp", gamma = 0.1 }'],
        ),
        (["list"], ["list"]),
        (["list", "--json"], ["list", "--json"]),
        (["remove", "exp"], ["remove", "exp"]),
        (["remove", "--all"], ["remove", "--all"]),
        (["laws"], ["laws"]),
    ],
)
def test_commands_are_handed_over(longfat: Command, asked: list[str], handed: list[str]) -> None:
    done = longfat("kernel", *asked)
    assert (done.returncode, done.stdout.splitlines()) == (3, ["kernel", *handed])


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("asked", [[], ["exp", "--all"]])
def test_what_is_removed_is_said(longfat: Command, asked: list[str]) -> None:
    done = longfat("kernel", "remove", *asked)
    assert done.returncode == WRONG_INPUT
    assert "a name, or --all" in done.stderr


def test_the_program_is_looked_for(longfat: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFAT_TCP", "/nowhere")
    done = longfat("kernel", "list")
    assert done.returncode == WRONG_INPUT
    assert "LONGFAT_TCP is /nowhere, which is no program" in done.stderr
