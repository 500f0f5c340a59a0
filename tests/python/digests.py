"""Digests of results: the same bytes with any number of workers, recorded or not, on any machine.

    .venv/bin/python tests/python/digests.py --workers 2     # prints the table
    UPDATE=1 .venv/bin/python -m pytest tests/python/test_digests.py     # rewrites tests/digests.tsv

One line for each result: the scenario and what is changed in it, the part of the result, and the SHA-256 of its
values. Not of Parquet files, whose bytes are a matter of the version of the library that writes them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import longfat
from longfat.results._folder import FLUID_TABLES, TABLES
from longfat.scenario import read
from longfat.study import Cache, Job, run_many
from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = ROOT / "tests/digests.tsv"

RUNS: dict[str, dict[str, str]] = {
    "scenarios/anti-ecn.toml": {"duration": "6 s", "warmup": "2 s"},
    "scenarios/asymmetric.toml": {"duration": "6 s", "warmup": "2 s"},
    "scenarios/bbr-and-cubic.toml": {"duration": "12 s", "warmup": "2 s"},
    "scenarios/browsers.toml": {"duration": "20 s", "warmup": "5 s"},
    "scenarios/bursts.toml": {},
    "scenarios/cake-hosts.toml": {"duration": "20 s", "warmup": "5 s"},
    "scenarios/cellular.toml": {},
    "scenarios/first.toml": {},
    "scenarios/fq-codel.toml": {"duration": "20 s", "warmup": "5 s"},
    "scenarios/handover.toml": {"duration": "70 s"},
    "scenarios/known-path.toml": {},
    "scenarios/lossy-path.toml": {"duration": "12 s", "warmup": "2 s"},
    "scenarios/low-latency.toml": {"duration": "10 s", "warmup": "5 s"},
    "scenarios/lost-tails.toml": {"duration": "20 s"},
    "scenarios/parallel.toml": {"duration": "10 s", "warmup": "5 s"},
    "scenarios/parking-lot.toml": {"duration": "60 s", "warmup": "20 s"},
    "scenarios/pauses.toml": {"duration": "60 s"},
    "scenarios/pie.toml": {"duration": "50 s"},
    "scenarios/receive-window.toml": {},
    "scenarios/replay.toml": {"duration": "10 s"},
    "scenarios/ring.toml": {"duration": "20 s", "warmup": "5 s"},
    "scenarios/shaper.toml": {"duration": "30 s", "warmup": "10 s"},
    "scenarios/three-reno-1G.toml": {"duration": "6 s", "warmup": "2 s"},
    "scenarios/two-way-500M.toml": {"duration": "6 s", "warmup": "2 s"},
    "scenarios/two-way.toml": {},
    "scenarios/vcp.toml": {"duration": "20 s", "warmup": "10 s"},
    "scenarios/video.toml": {"duration": "60 s", "warmup": "20 s"},
    "scenarios/xcp-rtts.toml": {"duration": "8 s", "warmup": "2 s"},
    "bench/scenarios/one-way-100G.toml": {
        "duration": "200 ms",
        "warmup": "0 s",
        "flow.0.start": "0 s",
    },
    "bench/scenarios/random-loss.toml": {"duration": "2 s", "warmup": "1 s"},
    "bench/scenarios/short-flows.toml": {"duration": "2 s", "warmup": "1 s"},
    "bench/scenarios/validation.toml": {},
    "papers/anti-ecn/short-flows.toml": {},
    "papers/blitz/network.toml": {},
    "papers/cw-hstcp/rtt-ratio.toml": {},
    "papers/exp-tcp/web.toml": {"duration": "6 s", "warmup": "2 s"},
}
"""What is simulated, with what makes it short."""

FLUIDS: dict[str, dict[str, Any]] = {
    "scenarios/first.toml": {"price": "avq", "stability": True},
    "scenarios/two-way.toml": {"model": "hybrid", "price": "avq"},
    "scenarios/three-reno-1G.toml": {"price": "overflow"},
    "scenarios/xcp-rtts.toml": {"stability": True},
    "scenarios/vcp.toml": {"delay": False},
}
"""What is solved as differential equations, and how; of its first thirty seconds."""


def of_json(value: dict[str, Any]) -> str:
    """The digest of a summary, without the wall clock, and without events: a row of a series is one."""
    engine = {"data_packets", "steps"} & set(value["engine"])
    value = {**value, "engine": {name: value["engine"][name] for name in engine}}
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def of_table(frame: pl.DataFrame) -> str:
    """The digest of the columns of a table: names, absent values, values."""
    digest = hashlib.sha256()
    for column in frame:
        digest.update(f"{column.name} {len(column)}\n".encode())
        digest.update(np.packbits(column.is_null().to_numpy()).tobytes())
        if column.dtype.is_numeric():
            kind = "<f8" if column.dtype.is_float() else "<u8"
            digest.update(column.fill_null(0).to_numpy().astype(kind).tobytes())
        else:
            digest.update("\n".join(column.cast(pl.String).fill_null("").to_list()).encode())
    return digest.hexdigest()


def _named(path: str, changes: dict[str, Any]) -> str:
    return " ".join([path, *(f"{key}={value}" for key, value in changes.items())])


def of_runs(workers: int, *, record: bool = True) -> Iterator[tuple[str, str, str]]:
    """The digests of all runs; without recording only those of the summaries."""
    tables = TABLES if record else ()
    jobs = [
        Job(read(ROOT / path, changes=changes)[0], None, tables) for path, changes in RUNS.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        done = run_many(jobs, workers=workers, cache=Cache(folder), fresh=True)
        for (path, changes), result in zip(RUNS.items(), done, strict=True):
            assert result.summary is not None, result.error
            name = _named(path, changes)
            yield name, "summary", of_json(result.summary)
            for table in tables:
                yield name, table, of_table(result.tables[table].to_polars())


def of_fluids() -> Iterator[tuple[str, str, str]]:
    """The digests of all solutions."""
    for path, options in FLUIDS.items():
        solved = longfat.fluid(ROOT / path, set={"duration": "30 s", "warmup": "0 s"}, **options)
        name = _named(f"fluid {path}", options)
        yield name, "summary", of_json(solved.summary)
        for table in FLUID_TABLES:
            yield name, table, of_table(getattr(solved, table).to_polars())


def table(workers: int) -> str:
    """The table of digests, as `tests/digests.tsv` has it."""
    lines = [("scenario", "part", "sha256"), *of_runs(workers), *of_fluids()]
    return "".join("\t".join(line) + "\n" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    print(table(parser.parse_args().workers), end="")
