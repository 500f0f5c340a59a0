"""What code from outside costs: the same controller in Rust, in C, compiled from Python, and as a plain class.

    .venv/bin/python bench/own/compare.py

Prints a row for each: packets per second of processor time, the best of ten runs in turn, and the share of the
speed in Rust. All rows of a controller give the same bytes, or the comparison would mean nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import longfat
from longfat.own import handle
from longfat.own._code import Code
from longfat.results._simulate import simulate
from longfat.scenario import read

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "bench/scenarios/three-reno-1G.toml"
SECONDS = 6.0
"""Simulated: half a million packets."""


def entries(folder: Path) -> dict[str, Any]:
    """The controllers, by name; those in C are built in a folder."""
    sys.path.insert(0, str(ROOT / "tests/own"))
    import class_reno
    import compiled_laws

    include = f"-I{ROOT / 'crates/foreign/include'}"
    python: tuple[Any, ...] = (compiled_laws.reno, compiled_laws.OwnReno, class_reno.ClassReno)
    found: dict[str, Any] = {handle(each).name: each for each in python}
    for name, source in (("laws", "tests/own/laws.c"), ("cubic", "examples/c-cubic/cubic.c")):
        path = folder / f"lib{name}.so"
        command = [
            "cc",
            "-O2",
            "-shared",
            "-fPIC",
            include,
            "-o",
            str(path),
            str(ROOT / source),
            "-lm",
        ]
        subprocess.run(command, check=True)  # noqa: S603 - made here
        found |= {each.name: each for each in longfat.load_library(path)}
    return found


GROUPS = {
    "window law: Reno": ("reno", "c-reno", "py-reno"),
    "controller: Reno": ("reno", "c-own-reno", "py-own-reno", "class-reno"),
    "controller: CUBIC": ("cubic", "c-cubic"),
}
LANGUAGES = {"c-": "C", "py": "Python, compiled", "cl": "Python, class"}


def one(control: str, own: dict[str, Any]) -> tuple[float, int, str]:
    """Processor time, packets, and what the run gave."""
    changes = {"flow.*.control": control, "duration": f"{SECONDS} s", "warmup": "0.1 s"}
    code = Code((own[control],) if control in own else ())
    scenario, _ = read(SCENARIO, changes=changes, code=code)
    begun = time.thread_time()
    recording = simulate(scenario, record=False)
    took = time.thread_time() - begun
    summary = json.loads(recording.summary_json())
    told = json.dumps([summary["links"], summary["flows"]]).replace(f'"{control}"', '"it"')
    return took, summary["engine"]["data_packets"], told


def language(control: str) -> str:
    """What a controller is written in."""
    return LANGUAGES.get(control[:2], "Rust")


def by_time(own: dict[str, Any], repeat: int) -> None:
    """Prints packets per second of processor time."""
    print(f"{'':18} {'':18} {'packets/s':>10} {'of Rust':>8}")
    for group, controls in GROUPS.items():
        best: dict[str, float] = {}
        told: dict[str, str] = {}
        packets = 0
        for _ in range(repeat):
            for control in controls:
                took, packets, told[control] = one(control, own)
                best[control] = min(took, best.get(control, took))
        if len(set(told.values())) != 1:
            sys.exit(f"{group}: they do not give the same")
        for control in controls:
            share = best[controls[0]] / best[control]
            print(f"{group:18} {language(control):18} {packets / best[control]:10.3g} {share:8.2f}")


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeat", type=int, default=10, help="runs of each [10]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = entries(Path(folder))
        for each in own.values():
            handle(each)
        by_time(own, given.repeat)


if __name__ == "__main__":
    main()
