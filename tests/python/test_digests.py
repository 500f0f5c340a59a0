"""The same scenario gives the same bytes, however it is run: `tests/digests.tsv` has their digests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import digests
from support import ROOT


@pytest.mark.parametrize(("workers", "hash_seed"), [(1, "0"), (3, "4711")])
def test_results_are_those_of_the_table(workers: int, hash_seed: str) -> None:
    script = Path(digests.__file__)
    found = subprocess.run(
        [sys.executable, str(script), "--workers", str(workers)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(script.parent)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if os.environ.get("UPDATE"):
        digests.TABLE.write_text(found, encoding="utf-8")
    known = digests.TABLE.read_text(encoding="utf-8")
    assert found.splitlines() == known.splitlines()


def test_recording_changes_no_average() -> None:
    known = [line.split("\t") for line in digests.TABLE.read_text(encoding="utf-8").splitlines()]
    summaries = {name: digest for name, part, digest in known if part == "summary"}
    for name, _, digest in digests.of_runs(2, record=False):
        assert summaries[name] == digest, name


def test_every_example_has_digests() -> None:
    examples = {f"scenarios/{path.name}" for path in (ROOT / "scenarios").glob("*.toml")}
    assert examples <= set(digests.RUNS)


def test_a_digest_tells_results_apart() -> None:
    frame = pl.DataFrame({"a": [1.0, None], "b": ["x", "y"]})
    others = [
        frame.rename({"a": "c"}),
        frame.fill_null(0.0),
        frame.with_columns(a=pl.Series([1.0 + 2**-52, None])),
        frame.with_columns(b=pl.Series(["x", "z"])),
        frame.reverse(),
    ]
    assert len({digests.of_table(each) for each in [frame, frame.clone(), *others]}) == 6
    engine = {"engine": {"data_packets": 1, "wall_s": 0.5}}
    assert digests.of_json(engine) == digests.of_json(
        {"engine": {"data_packets": 1, "wall_s": 0.7}}
    )
    assert digests.of_json(engine) != digests.of_json({"engine": {"data_packets": 2}})
