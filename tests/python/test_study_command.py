"""What `longfat study` says about what it was given, and about what it finds."""

from __future__ import annotations

import re
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


def test_a_plot_from_python_is_what_was_asked_for(small: Path) -> None:
    keys = {small_study.RATE: ["5 Mbit/s", "10 Mbit/s"], small_study.CONTROL: ["reno", "exp"]}
    found = study(small_study.vary(vary=keys))
    assert len(found.plot(panel=small_study.CONTROL).axes) == 2
    assert len(found.plot(small_study.RATE, small_study.GOODPUT).axes) == 1
    for wrong in ({"colour": "flow.forward.contrl"}, {"panel": "flow.forward.contrl"}):
        with pytest.raises(
            StudyError, match=f"does not vary: did you mean `{small_study.CONTROL}`"
        ):
            found.plot(small_study.RATE, small_study.GOODPUT, **wrong)
    with pytest.raises(
        StudyError, match=f"neither varies nor .*: did you mean `{small_study.RATE}`"
    ):
        found.plot("link.botleneck.rate", small_study.GOODPUT)


def test_a_study_in_which_nothing_varies_has_no_picture_of_its_own(small: Path) -> None:
    found = study(small_study.vary())
    with pytest.raises(StudyError, match="since nothing varies: name `x` and `y`"):
        found.plot()
    assert found.plot(small_study.UTILISATION, small_study.GOODPUT).axes


def test_seeds_of_one_scenario_have_intervals(small: Path, longfat: Command) -> None:
    """The plainest question: how large is the goodput of my own network, over some seeds?"""
    Path("plain.toml").write_text('scenario = "small.toml"\nseeds = 4\n', "utf-8")
    done = longfat("study", "plain.toml")
    assert done.returncode == 0, done.stderr
    head, _, row, *_ = done.stdout.splitlines()
    assert head.split() == ["forward.goodput_bit_s", "bottleneck.forward.utilisation", "seeds"]
    assert re.fullmatch(r"\s*[\d.]+ ± [\d.]+ Mbit/s\s+[01]\.\d+ ± \S+\s+4\s*", row), row
    one = longfat("study", "plain.toml", "--seeds", "1", "--out", "one")
    names = "flows.forward.goodput_bit_s, links.bottleneck.forward.utilisation"
    assert f"\n{names}: one value at 1 point, so no interval there\n" in one.stdout
