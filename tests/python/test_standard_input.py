"""`-` in place of a file: scenarios and studies that come through the standard input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from small_study import FILE
from support import SMALL

if TYPE_CHECKING:
    from support import Command

TRACED = SMALL.replace('rate = "10 Mbit/s"', 'trace = "cell.trace"')


def test_a_run_of_the_standard_input_is_that_of_the_file(small: Path, longfat: Command) -> None:
    piped = longfat("run", "-", "--seed", "7", "--json", input=SMALL)
    assert piped.returncode == 0, piped.stderr
    assert Path("runs/stdin-7/summary.json").is_file()
    named = json.loads(longfat("run", small, "--seed", "7", "--json").stdout)
    found = json.loads(piped.stdout)
    assert found.pop("engine")["events"] == named.pop("engine")["events"]
    assert found == named


def test_paths_in_it_go_from_the_working_folder(longfat: Command) -> None:
    Path("cell.trace").write_text("1\n2\n3\n", "utf-8")
    done = longfat("run", "-", "--json", input=TRACED)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scenario"]["link"]["bottleneck"]["trace"] == {
        "mahimahi": "1 2 3"
    }
    Path("below").mkdir()
    missing = longfat("run", "-", input=TRACED.replace("cell", "other"))
    assert missing.returncode == 2
    assert "other.trace" in missing.stderr


@pytest.mark.parametrize("command", ["run", "fluid", "link up"])
def test_what_is_wrong_with_it_has_its_place(longfat: Command, command: str) -> None:
    wrong = longfat(*command.split(), "-", input=SMALL.replace("delay", "dealy"))
    assert wrong.returncode == 2
    assert "--> standard input:" in wrong.stderr
    assert "did you mean `delay`?" in wrong.stderr
    assert not Path("runs").exists()


@pytest.mark.parametrize("command", ["run", "fluid", "study", "explore", "link up"])
def test_nothing_on_the_standard_input_is_told(longfat: Command, command: str) -> None:
    for nothing in ("", " \n"):
        wrong = longfat(*command.split(), "-", input=nothing)
        assert wrong.returncode == 2
        assert "nothing came: pipe a file into it, or name one" in wrong.stderr
    assert not Path("runs").exists()


def test_what_is_no_text_is_refused(longfat: Command, tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    for command in ("run", "fluid", "study"):
        with binary.open("rb") as file:
            wrong = longfat(command, "-", stdin=file)
        assert wrong.returncode == 2
        assert "byte 0 is not UTF-8 text" in wrong.stderr
        assert "Traceback" not in wrong.stderr


def test_a_fluid_of_it(longfat: Command) -> None:
    one = SMALL.replace("count = 2", "count = 1")
    done = longfat("fluid", "-", "--json", input=one)
    assert done.returncode == 0, done.stderr
    assert Path("runs/stdin-fluid").is_dir()


def test_a_study_of_it_goes_on(small: Path, longfat: Command) -> None:
    assert small.parent == Path.cwd()
    first = longfat("study", "-", "--json", "--seeds", "1", input=FILE)
    assert first.returncode == 0, first.stderr
    again = json.loads(longfat("study", "-", "--json", "--seeds", "2", input=FILE).stdout)
    assert (again["known"], again["done"]) == (4, 8)
    assert again["rows"] == str(Path("runs/study-stdin/rows.parquet"))
    # The folder has all of it, and goes on without.
    whole = json.loads(longfat("study", "runs/study-stdin", "--json").stdout)
    assert (whole["known"], whole["done"]) == (8, 8)


def test_it_holds_one_scenario(longfat: Command) -> None:
    wrong = longfat("explore", "-", "-", "--save", "page.html", input=SMALL)
    assert wrong.returncode == 2
    assert "holds one scenario" in wrong.stderr
