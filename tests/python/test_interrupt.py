from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support import ENDLESS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROMPT_S = 2.0


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "endless.toml", "--json"),
        ("try", "--rate", "10Gbit/s", "--rtt", "20ms", "--duration", "100000s", "--out", "cmp"),
        ("evaluate", "exp", "--scale", "full", "--cell", "range/100Gbit*"),
    ],
)
def test_ctrl_c_ends_promptly_and_leaves_nothing(
    own_folder: Path, arguments: tuple[str, ...]
) -> None:
    file = own_folder / "endless.toml"
    file.write_text(ENDLESS, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "longfat", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _wait_for_hidden_folder(own_folder)
        time.sleep(0.3)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        took = time.monotonic() - asked
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "interrupted"
    assert took < PROMPT_S
    assert list(own_folder.iterdir()) == [file]


NEVER = """
import os
import longfat

class Never(longfat.Controller):
    def on_feedback(self, feedback, path):
        os.write(2, b"begun\\n")  # at once: threads would write between a line and its end
        while True:
            try:
                pass
            except Exception:
                pass

    def on_congestion(self, event, path):
        pass
"""
LINK = ("--rate", "10Mbit/s", "--rtt", "20ms")


@pytest.mark.parametrize(
    ("arguments", "asks", "code"),
    [
        (("try", *LINK, "--control", "reno,never.py:Never"), signal.SIGINT, 130),
        (("study", "study.toml"), signal.SIGTERM, 143),
        (("attack", "never.py:Never", "--goal", "loss"), signal.SIGINT, 130),
        (("evaluate", "never.py:Never", "--cell", "range/10Mbit*"), signal.SIGINT, 130),
    ],
)
def test_a_class_that_never_returns_is_interrupted_in_every_thread(
    own_folder: Path, arguments: tuple[str, ...], asks: signal.Signals, code: int
) -> None:
    (own_folder / "never.py").write_text(NEVER, "utf-8")
    study = STUDY.format(scenario=ROOT / "scenarios/first.toml")
    (own_folder / "study.toml").write_text(study, "utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "longfat", *arguments, "--allow-code"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert any(line == "begun\n" for line in process.stderr)
            process.send_signal(asks)
            _, told = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == code
    assert "Error" not in told


STUDY = """
scenario = "{scenario}"
seeds = 2
vary = {{ "flow.reno.control" = [{{ python = "never.py:Never" }}] }}
"""


EARLY = """
import sys

class Interrupted:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from longfat.__main__ import main
main()
"""


def test_ctrl_c_while_modules_are_imported_ends_as_later() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_command_begins_where_that_is_so() -> None:
    scripts = re.search(
        r"\[project\.scripts\]\n(.*)\n", (ROOT / "pyproject.toml").read_text("utf-8")
    )
    assert scripts is not None
    assert scripts[1] == 'longfat = "longfat.__main__:main"'


DROPPED = """\
import os, signal, sys, time
import longfat.commands as commands

class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        for _ in range(10_000):  # in here it is raised, and dropped
            pass

def run(arguments):
    Late()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pass

commands.commands.main = lambda *_, **__: run(None)
commands.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_in_a_destructor_is_heard(name: str, code: int) -> None:
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", DROPPED.format(name=name)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert time.monotonic() - before < 15


SLOW_FLUID = """\
duration = "17000000 s"
sample = "1000 s"

[link.bottleneck]
rate = "1000 Gbit/s"
delay = "100 us"

[[flow]]
name = "flow"
control = "reno"
path = ["bottleneck"]
rtt = { spread = ["1 ms", "100 ms"] }
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--model", "synchronised", "--set", "flow.flow.count=2"),
        ("--stability", "--price", "avq", "--set", "flow.flow.count=20000"),
    ],
)
def test_ctrl_c_ends_the_fluid_too(own_folder: Path, arguments: tuple[str, ...]) -> None:
    """Each takes most of a minute or more: one that ignores the signal is still busy when the wait is over."""
    (own_folder / "slow.toml").write_text(SLOW_FLUID, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "longfat", "fluid", "slow.toml", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "interrupted"


def _wait_for_hidden_folder(folder: Path) -> None:
    """The simulation begins once the hidden folder for its results is there."""
    deadline = time.monotonic() + 20
    while not list(folder.rglob(".*")):
        assert time.monotonic() < deadline, "the simulation did not begin"
        time.sleep(0.02)
