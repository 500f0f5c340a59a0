"""The engine as WebAssembly gives the same bytes as natively: summaries, tables, and messages about mistakes.

`make playground` builds it. Where it has not been built, or there is no Node.js to run it, this is skipped.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from longfat import _longfat
from longfat.playground import ENGINE
from support import ROOT, Command

NODE = shutil.which("node") or shutil.which("nodejs")

pytestmark = [
    pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not there: make playground"),
    pytest.mark.skipif(NODE is None, reason="there is no Node.js on the path"),
]

SHORT = ['duration="1500 ms"', 'warmup="500 ms"']
GOLDEN = ROOT / "crates/sim/tests/golden"


def request(path: Path, *overrides: str) -> dict[str, Any]:
    """What asks for a scenario, with the traces and lists beside it."""
    files = {
        each.name: each.read_text("utf-8")
        for ending in ("trace", "csv")
        for each in path.parent.glob(f"*.{ending}")
    }
    text = path.read_text("utf-8")
    return {"text": text, "origin": path.name, "overrides": list(overrides), "files": files}


def as_wasm(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [str(NODE), str(Path(__file__).parent / "wasm_run.mjs"), str(ENGINE)],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def natively(asked: dict[str, Any]) -> tuple[str, bytes]:
    session = _longfat.Session()
    answer = session.read(json.dumps(asked, separators=(",", ":")).encode())
    session.start()
    while session.advance(1_000_000):
        pass
    return answer, session.finish()


def test_every_example_gives_the_same_bytes() -> None:
    paths = sorted([*(ROOT / "scenarios").glob("*.toml"), *GOLDEN.glob("*.toml")])
    assert len(paths) > 25
    requests = [request(path, *(SHORT if path.parent != GOLDEN else [])) for path in paths]
    for path, asked, found in zip(paths, requests, as_wasm(requests), strict=True):
        answer, results = natively(asked)
        assert found["answer"] == answer, path
        assert found["length"] == len(results), path
        assert found["sha256"] == hashlib.sha256(results).hexdigest(), path


def test_the_summary_is_that_of_the_command_line(longfat: Command) -> None:
    path = ROOT / "scenarios/two-way.toml"
    (found,) = as_wasm([request(path)])
    done = longfat("run", path, "--json")
    told = json.loads(done.stdout)
    for key in ("wall_s", "packets_per_s", "version", "settings"):
        del told["engine"][key]
    assert found["summary"] == told


def test_known_results_come_out() -> None:
    """The golden files of the simulator, which were written natively."""
    for path in sorted(GOLDEN.glob("*.toml")):
        (found,) = as_wasm([request(path)])
        known = json.loads(path.with_suffix(".json").read_text("utf-8"))
        found["summary"]["engine"]["events"] = known["engine"]["events"]
        assert found["summary"] == known, path


def test_what_is_wrong_is_told_in_the_same_words() -> None:
    wrong: list[dict[str, Any]] = [
        {"text": "duration = 5"},
        {"text": '[link.x]\nrate = "1 Gbit"\n', "overrides": ["seed=-1"]},
        {"text": "[" * 5000},
        {"text": "\ud800"},
        {"txt": ""},
    ]
    for asked, found in zip(wrong, as_wasm(wrong), strict=True):
        answer, results = natively(asked)
        assert "error" in json.loads(answer)
        assert found["answer"] == answer
        assert found["length"] == len(results)
