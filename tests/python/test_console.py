"""What commands print on narrow terminals, to pipes, and where there is only ASCII."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import longfat
from longfat.commands import commands
from longfat.foreign import ascii_text
from longfat.tables import TextTable, data_csv
from support import ENDLESS

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command

FAST = "try --rate 10Mbit/s --rtt 20ms --flows 2 --duration 2s --seeds 2"
COMMANDS = [
    "run small.toml",
    f"{FAST} --control reno,cubic,hstcp,exp",
    "fluid small.toml --equilibrium",
    "fluid small.toml --with-packets",
    "list controllers exp",
]


def printed(longfat: Command, arguments: str, **environment: str) -> str:
    done = longfat(*arguments.split(), env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(text: str) -> list[str]:
    """All numbers with their units, but for times of the wall clock and what follows from them."""
    kept = [line for line in text.splitlines() if "real time" not in line]
    return sorted(
        re.findall(r"\d[\d.,e-]*(?: ± [\d.,e-]+)?(?: (?:[kMG]bit/s|m?s|%))?", "\n".join(kept))
    )


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.usefixtures("small")
def test_a_narrow_terminal_cuts_no_number(longfat: Command, arguments: str) -> None:
    wide = printed(longfat, arguments, COLUMNS="200")
    for columns in (60, 80):
        text = printed(longfat, arguments, COLUMNS=str(columns))
        assert "…" not in text
        # What is cached, and the words beside tables, are lines of any length.
        told = [line for line in text.splitlines() if "─" in line]
        assert told
        assert max(map(len, told)) <= columns
        assert set(numbers(text)) >= set(numbers(wide)) - {"6", "of"}


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_terminal_breaks_no_path(columns: int) -> None:
    for kind, key in (("scenarios", "path"), ("papers", "slug")):
        text = CliRunner().invoke(commands, ["list", kind], env={"COLUMNS": str(columns)}).output
        entries = json.loads(CliRunner().invoke(commands, ["list", kind, "--json"]).output)[kind]
        assert len(entries) > 3
        assert all(entry[key] in text for entry in entries)


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.usefixtures("small")
def test_a_terminal_without_unicode_gets_ascii(longfat: Command, arguments: str) -> None:
    # Which an interpreter reads when it starts: these commands are processes from the beginning.
    text = printed(longfat, arguments, PYTHONIOENCODING="ascii")
    assert text.isascii()
    assert "\\x" not in text
    assert "\\u" not in text
    ruled = [index for index, line in enumerate(text.splitlines()) if line.startswith("---")]
    lines = text.splitlines()
    for index in ruled:
        head, row = lines[index - 1].rstrip(), lines[index + 1].rstrip()
        assert len(head) <= len(lines[index])
        assert len(row) <= len(lines[index])


def test_without_a_terminal_tables_are_wide_unless_columns_says_otherwise(longfat: Command) -> None:
    many = f"{FAST} --control reno,cubic,hstcp,exp,stcp"
    assert max(map(len, printed(longfat, many, COLUMNS="").splitlines())) > 100
    assert printed(longfat, many, COLUMNS="0") == printed(longfat, many, COLUMNS="")
    narrow = printed(longfat, many, COLUMNS="70").splitlines()
    assert max(len(line) for line in narrow if "─" in line) <= 70


def test_letters_that_are_not_ours_are_spelled() -> None:
    assert ascii_text("a ± b → c") == "a +- b -> c"
    done = subprocess.run(
        [sys.executable, "-m", "longfat", "run", "ŵ×.toml"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"\\u0175x.toml" in done.stderr


def test_tables_are_escaped_for_pages_and_notebooks() -> None:
    table = TextTable(("name", "n"), title="<script>")
    table.add("a|b<i>\x1b[2J", "1")
    assert table.markdown == (
        "**&lt;script>**\n\n| name | n |\n| --- | --: |\n| a\\|b&lt;i>\\x1b[2J | 1 |"
    )
    assert "<script>" not in table.html
    assert "<i>" not in table.html
    assert '<td style="text-align: right">1</td>' in table.html
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        table.add("a")
    assert data_csv([{"a": "x,y", "b": 1.5}, {"a": None, "b": 2}]) == 'a,b\n"x,y",1.5\n,2\n'


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "endless.toml"],
        ["run", "endless.toml", "--out", "deep/er/out", "--plot"],
        ["try", "--rate", "10Gbit/s", "--rtt", "20ms", "--duration", "100000s", "--plot"],
    ],
)
def test_a_process_that_is_asked_to_end_leaves_no_folder(
    own_folder: Path, number: signal.Signals, arguments: list[str]
) -> None:
    file = own_folder / "endless.toml"
    file.write_text(ENDLESS, encoding="utf-8")
    # The tests may run where it is ignored (nohup), which the command would inherit.
    before = signal.signal(number, signal.SIG_DFL)
    with subprocess.Popen(
        [sys.executable, "-m", "longfat", *arguments], stderr=subprocess.PIPE, text=True
    ) as process:
        signal.signal(number, before)
        try:
            while not [path for path in own_folder.rglob(".*") if path.is_dir()]:
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(number)
            _, told = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 128 + number
    assert told.splitlines()[-1] == "asked to stop: nothing unfinished is left behind"
    assert list(own_folder.iterdir()) == [file]


def test_the_version_is_that_of_the_engine() -> None:
    assert longfat.__version__ in CliRunner().invoke(commands, ["--version"]).output
