"""The examples of controllers from outside: they build, and do what they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import longfat
from own_support import averages
from support import ROOT

EXAMPLES = ROOT / "examples"
SHORT = {"duration": "20 s", "warmup": "2 s"}


@pytest.fixture(scope="module")
def cubic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, built as its first comment says, with warnings as errors."""
    source = EXAMPLES / "c-cubic/cubic.c"
    (command,) = re.findall(r"^ \*     (cc .*)$", source.read_text("utf-8"), re.MULTILINE)
    built = tmp_path_factory.mktemp("cubic") / "libcubic.so"
    words = [str(built) if word == "libcubic.so" else word for word in command.split()]
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([*words, *strict], cwd=source.parent, check=True)
    return built


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"link.bottleneck.loss": 1e-3},
        {"link.bottleneck.loss": 0.05},
        {"link.bottleneck.queue": {"kind": "red", "ecn": True}},
        {"flow.reno.window_validation": "rfc7661", "link.bottleneck.loss": 1e-3},
        {"flow.reno.delayed_ack": True},
        {"flow.reno.recovery": "rack", "link.bottleneck.loss": 1e-3},
        {"flow.reno.initial_threshold": 20},
        {"flow.reno.size": "2 MB"},
    ],
)
def test_cubic_in_c_gives_the_bytes_of_cubic(cubic: Path, changes: dict[str, Any]) -> None:
    def run(control: object) -> str:
        given = {**SHORT, "flow.reno.start": "0 s", "flow.reno.control": control, **changes}
        scenario = ROOT / "scenarios/first.toml"
        own = longfat.load_library(cubic)
        return averages(longfat.run(scenario, set=given, controllers=own, record=False))

    parameters = {"c": 1.0, "beta": 0.8, "fast_convergence": False}
    rust = run("cubic")
    assert run("c-cubic").replace("c-cubic", "cubic") == rust
    other = run({"kind": "cubic", **parameters})
    assert run({"kind": "c-cubic", **parameters}).replace("c-cubic", "cubic") == other != rust


def test_the_scenario_of_cubic_in_c_has_its_answer(cubic: Path, tmp_path: Path) -> None:
    (tmp_path / "libcubic.so").write_bytes(cubic.read_bytes())
    text = (EXAMPLES / "c-cubic/cubic.toml").read_text("utf-8")
    scenario = tmp_path / "cubic.toml"
    scenario.write_text(text, "utf-8")
    sums = {"in-c": 0.0, "own": 0.0}
    for seed in range(1, 9):
        run = longfat.run(scenario, seed=seed, allow_code=True, record=False)
        for flow in run.summary["flows"]:
            sums[flow["name"].partition("[")[0]] += flow["goodput_bit_s"] / 8 / 4 / 1e6
    assert f"get {sums['in-c']:.1f} and {sums['own']:.1f} Mbit/s" in text


TARGET = Path(os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")))
RUST = EXAMPLES / "rust-controller"
SCENARIO = RUST / "scenario.toml"


def cargo(folder: Path, command: str, *arguments: str) -> str:
    """Runs cargo in that folder; what it builds lies with the rest."""
    done = subprocess.run(
        ["cargo", command, "--quiet", "--locked", *arguments],  # noqa: S607
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_alike(told: dict[str, Any]) -> None:
    """What the template has printed is what the same law in Python comes to."""

    @longfat.law(name="gentle", parameters={"a": 1.0, "b": 0.3})
    def gentle(at: Any, p: Any) -> Any:
        return p.a / at.window

    @gentle.give_up
    def give_up(at: Any, p: Any) -> Any:
        return p.b * min(1.0, at.window / 1000)

    run = longfat.run(SCENARIO, controllers=[gentle], record=False)
    for key in ("links", "flows", "jain"):
        assert run.summary[key] == told[key]


def test_the_rust_template_gives_the_bytes_of_the_same_law_in_python() -> None:
    # Built with what the programs of the tests are built of, which test its code as well.
    left_out = ("--exclude", "longfat-bench", "--exclude", "longfat-wasm")
    cargo(ROOT, "build", "--workspace", *left_out, "--example", "rust-controller")
    program = TARGET / "debug/examples/rust-controller"
    printed = subprocess.run([program, SCENARIO], capture_output=True, check=True).stdout
    told = json.loads(printed)
    assert_alike(told)
    rate = told["flows"][0]["goodput_bit_s"] / 1e6
    assert f"yes, because it gives up less: {rate:.0f} of 100 Mbit/s." in SCENARIO.read_text(
        "utf-8"
    )


@pytest.mark.long
def test_the_rust_template_is_a_package_of_its_own() -> None:
    assert "2 passed" in cargo(RUST, "test")
    assert_alike(json.loads(cargo(RUST, "run", "--", "scenario.toml")))
