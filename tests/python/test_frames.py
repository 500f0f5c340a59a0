"""What folders are called: nothing in a name is a pattern, whatever reads and writes tables there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from longfat import frames
from longfat.parquet import is_sound

if TYPE_CHECKING:
    from support import Command

NAMES = pytest.mark.parametrize(
    "name", ["reno[0]", "a?", "*", "**", "~", "{a,b}", "a=1", os.fsdecode(b"\xff")], ids=repr
)


@pytest.fixture
def named(own_folder: Path, name: str) -> Path:
    """A folder of this name, among others that its name would fit as a pattern."""
    for other in ("reno0", "ab", name):
        (own_folder / other).mkdir()
        (own_folder / other / "table.parquet").write_bytes(b"")
    return Path(name)


@NAMES
def test_a_table_is_read_from_its_own_folder(named: Path) -> None:
    table, numbers = pl.DataFrame({"x": [1, 2], "y": [3.0, None]}), named / "numbers.parquet"
    for other in ("reno0", "ab"):
        frames.write(pl.DataFrame({"x": [7], "y": [8.0]}), Path(other) / numbers.name)
        frames.write_csv(pl.DataFrame({"x": [7], "y": [8.0]}), Path(other) / "numbers.csv")
    frames.write(table, numbers)
    assert frames.read(numbers).equals(table)
    assert frames.read(numbers, ["y"]).columns == ["y"]
    assert is_sound(numbers)
    frames.stream(frames.scan(numbers, numbers), named / "twice.parquet")
    assert frames.read(named / "twice.parquet")["x"].to_list() == [1, 2, 1, 2]
    frames.write_csv(table, named / "numbers.csv")
    assert frames.read_csv(named / "numbers.csv", dict(table.schema)).equals(table)
    with pytest.raises(FileNotFoundError):
        frames.read(named / "absent.parquet")


def test_a_folder_above_a_link_is_the_one_above_where_it_leads(own_folder: Path) -> None:
    (own_folder / "far/deep").mkdir(parents=True)
    (own_folder / "link").symlink_to("far/deep")
    for folder, number in ((own_folder, 7), (own_folder / "far", 1)):
        frames.write(pl.DataFrame({"x": [number]}), folder / "table.parquet")
    above = Path("link/../table.parquet")
    assert frames.read(above)["x"].to_list() == [1]
    frames.write(pl.DataFrame({"x": [2]}), above)
    assert frames.read(Path("far/table.parquet"))["x"].to_list() == [2]
    Path("table.parquet").write_bytes(b"nonsense")
    assert is_sound(above)


@NAMES
def test_what_is_in_a_folder_is_read_again(
    longfat: Command, file: Path, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def done(*arguments: object) -> str:
        ended = longfat(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    for folder in (Path("ab"), Path("reno0"), Path("plain"), named):
        longer = ["--set", "duration=5 s"] if folder.name in {"ab", "reno0"} else []
        done("run", "small.toml", "--out", folder / "run", "--quiet", *longer)
    told = done("explain", "plain/run")
    assert done("explain", named / "run") == told
    done("report", named / "run")
    done("compare", "plain/run", named / "run")

    known = [
        json.loads(done("study", file, "--out", named / "study", "--json", "--quiet"))["known"]
        for _ in range(2)
    ]
    assert known == [0, 12]
    done("report", named / "study")

    monkeypatch.setenv("LONGFAT_CACHE", str(named / "cache"))
    tried = ["try", "--rate", "1Mbit/s", "--rtt", "20ms", "--duration", "4s", "--plot"]
    done(*tried)
    assert "3 of 3 runs came from the cache" in done(*tried)
