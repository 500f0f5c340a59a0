"""What the tests of own controllers share: C libraries, runs that give the same bytes, studies elsewhere."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import longfat
from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST = ROOT / "scenarios/first.toml"
OWN = ROOT / "tests/own"
SHORT = {"duration": "20 s", "warmup": "2 s", "flow.reno.start": "0 s"}
"""The queue overflows several times in that."""
CLASS = (OWN / "class_reno.py").read_text("utf-8")
"""The text of a sound class, `ClassReno`."""
LAWS = OWN / "laws.c"


def build(path: Path, *options: str, source: Path = LAWS) -> Path:
    """Compiles a library with every warning an error."""
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-shared", "-fPIC"]
    header = ROOT / "crates/foreign/include"
    command = ["cc", *strict, f"-I{header}", *options, "-o", str(path), str(source)]
    subprocess.run(command, check=True)
    return path


def averages(run: longfat.Run, own: str = "", same: str = "") -> str:
    """What a run gives, apart from its scenario and its speed, with one name in place of another."""
    keys = ("links", "flows", "jain", "traffic")
    summary = {key: run.summary[key] for key in keys if key in run.summary}
    return json.dumps(summary).replace(f'"{own}"', f'"{same}"')


def first(control: object, **more: Any) -> longfat.Run:
    """A short run of the first scenario with this controller."""
    changes = {**SHORT, "flow.reno.control": control, **more.pop("changes", {})}
    return longfat.run(FIRST, set=changes, **{"record": False, **more})


def against_reno(control: str, duration: str = SHORT["duration"]) -> dict[str, Any]:
    """A study of Reno and of a controller that does the same."""
    return {
        "scenario": str(FIRST),
        "seeds": 2,
        "set": {**SHORT, "duration": duration},
        "vary": {"flow.reno.control": ["reno", control]},
    }


def same_as_reno(found: longfat.study.Study, control: str) -> None:
    """It gave in every run what Reno gave."""
    assert (found.failed, found.runs) == (0, 4)
    name = "links.bottleneck.forward.utilisation"
    rows = found.rows.sort("seed").partition_by("flow.reno.control", as_dict=True)
    assert rows["reno",][name].to_list() == rows[control,][name].to_list()


@contextmanager
def cluster() -> Iterator[Any]:
    """A worker in a process of its own."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=":0", processes=True
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client
