"""What `longfat study` says about what it was given, and about what it finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import small_study
from longfat.errors import StudyError
from longfat.study import study
from longfat.study._parts import PARTS
from small_study import FILE
from support import SMALL

if TYPE_CHECKING:
    from support import Command


def parts(folder: str) -> list[Path]:
    return sorted((Path(folder) / PARTS).glob("*.parquet"))


@pytest.mark.parametrize("shards", [1, 2])
def test_a_merge_tells_what_was_damaged(file: Path, longfat: Command, shards: int) -> None:
    """A part that is taken away is told, whether others are left or none."""
    for shard in range(1, shards + 1):
        assert longfat("study", file, "--shard", f"{shard}/2").returncode == 0
        if shard == 1:
            broken = parts("runs/study-question")
    for part in broken:
        part.write_bytes(b"nonsense")
    merged = longfat("study", file, "--merge")
    assert merged.returncode == 1
    assert f"{len(broken)} broken file" in merged.stderr
    assert f"{6 * (3 - shards)} runs of 12 missing" in merged.stderr


def test_a_forecast_tells_what_was_damaged(file: Path, longfat: Command) -> None:
    assert longfat("study", file).returncode == 0
    broken = parts("runs/study-question")
    for part in broken:
        part.write_bytes(b"nonsense")
    told = longfat("study", file, "--dry-run")
    assert told.returncode == 0
    assert "0 of them finished" in told.stdout
    assert f"{len(broken)} broken file" in told.stderr


def test_the_studies_in_a_folder_are_named(file: Path, longfat: Command) -> None:
    folder = Path("studies")
    folder.mkdir()
    refused = longfat("study", folder)
    assert refused.returncode == 2
    assert (
        "studies is a folder, and not the folder of a study: there is none in it either"
        in refused.stderr
    )
    for name in ("buffers", "paths"):
        (folder / f"{name}.toml").write_text(FILE, "utf-8")
    (folder / "not-a-study.toml").write_text(SMALL, "utf-8")
    (folder / "broken.toml").write_text("[[", "utf-8")
    refused = longfat("study", folder)
    assert refused.returncode == 2
    assert "name one in it: buffers.toml, paths.toml\n" in refused.stderr
    assert not Path("runs").exists()
    refused = longfat("study", "bufers.toml")
    assert "there is no file bufers.toml. Did you mean studies/buffers.toml?" in refused.stderr


def test_a_scenario_is_no_study(small: Path, longfat: Command) -> None:
    refused = longfat("study", small)
    assert refused.returncode == 2
    assert refused.stderr == f"error: {small} is a scenario, not a study: `longfat run` runs it\n"


def test_a_number_may_be_meant_by_a_part_of_its_name(small: Path) -> None:
    found = study(small_study.vary(vary={small_study.RATE: ["5 Mbit/s"]}))
    with pytest.raises(StudyError, match=r"did you mean `flows\.forward\.goodput_bit_s`\?"):
        found.table("goodput")
    with pytest.raises(
        StudyError, match=r"did you mean `links\S+, `\S+, `\S+, `\S+, or one of \d more\?"
    ):
        found.table("drop")
    with pytest.raises(StudyError, match=r"there are links\S+, .* and \d+ more$"):
        found.table("zebra")


def test_folders_of_studies_are_told_as_such(file: Path, longfat: Command) -> None:
    assert longfat("study", file, "--seeds", "1", "--quiet").returncode == 0
    assert "name one in it: study-question" in longfat("study", "runs").stderr
    place = Path("runs/study-question")
    refused = longfat("explain", place)
    assert refused.returncode == 2
    assert (
        refused.stderr
        == f"error: {place} is a study, not a run: `longfat report` makes a page of it\n"
    )
