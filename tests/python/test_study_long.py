"""What takes minutes: a study that is killed twenty times, and the memory of many runs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from longfat.study import study
from longfat.study._parts import PARTS

pytestmark = pytest.mark.long

FILE = """\
scenario = "small.toml"
seeds = 100
[set]
duration = "60 s"
[vary]
"link.bottleneck.rate" = ["6 Mbit/s", "7 Mbit/s", "8 Mbit/s", "9 Mbit/s", "10 Mbit/s"]
[[plot]]
x = "link.bottleneck.rate"
y = "links.bottleneck.forward.utilisation"
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_kills_leave_no_trace(small: Path, seed: int) -> None:
    file = small.parent / "killed.toml"
    file.write_text(FILE, "utf-8")
    reference = study(file, out="undisturbed")
    chance = random.Random(seed)  # noqa: S311 - moments that can be had again
    command = [sys.executable, "-m", "longfat", "study", str(file), "--out", "killed", "--quiet"]
    for _ in range(20):
        process = subprocess.Popen(command)
        try:
            process.wait(timeout=chance.uniform(0.3, 3.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert subprocess.run(command, check=False).returncode == 0
    for path in reference.folder.iterdir():
        if path.is_file() and not path.name.startswith("."):
            assert path.read_bytes() == Path("killed", path.name).read_bytes(), path.name
    rows = pl.concat(
        [pl.read_parquet(path) for path in Path("killed", PARTS).glob("*.parquet")],
        how="diagonal",
    )
    # Nothing that had been written was run again.
    assert rows.height == rows["run"].n_unique() == 500


def test_memory_does_not_grow_with_the_number_of_runs(small: Path) -> None:
    """Ten times the runs take not even a kilobyte more for each."""
    text = FILE.replace('"60 s"', '"1 s"\nwarmup = "900 ms"').replace("seeds = 100", "seeds = {}")
    most = {}
    for seeds in (200, 2000):
        file = small.parent / f"tiny-{seeds}.toml"
        file.write_text(text.format(seeds), "utf-8")
        command = [sys.executable, "-m", "longfat", "study", str(file), "--quiet"]
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        most[seeds] = usage.ru_maxrss * 1024
    assert most[2000] - most[200] < 9000 * 1024
