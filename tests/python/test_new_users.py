"""What trips new users up: numbers of numpy, results of other settings in the same folder, notebooks."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import longfat
from longfat.study import Point, run_points, study
from support import SMALL

if TYPE_CHECKING:
    from support import Command

SHORT = {"duration": "1 s", "warmup": "200 ms"}
VERSION = longfat.__version__


def goodput(found: longfat.Run) -> list[float]:
    return [flow["goodput_bit_s"] for flow in found.summary["flows"]]


def test_numbers_of_numpy_are_numbers() -> None:
    plain = {
        **SHORT,
        "flow.forward.count": 3,
        "link.bottleneck.loss": 0.001,
        "flow.0.delayed_ack": True,
    }
    theirs = {
        **SHORT,
        np.str_("flow.forward.count"): np.uint8(3),
        "link.bottleneck.loss": np.float64(0.001),
        "flow.0.delayed_ack": np.bool_(True),  # noqa: FBT003 - a value
    }
    assert goodput(longfat.run(SMALL, set=theirs, seed=np.int64(5))) == goodput(
        longfat.run(SMALL, set=plain, seed=5)
    )
    tree = {
        "duration": np.str_("1 s"),
        "link": {"b": {"rate": "10 Mbit/s", "delay": "5 ms", "loss": np.float32(0.5)}},
        "flow": [
            {"name": "f", "control": "reno", "count": np.int64(2), "path": np.array(["b"]),
             "rtt": np.array(["20 ms", "30 ms"])}
        ],
    }  # fmt: skip
    assert [flow["rtt_s"] for flow in longfat.run(tree).summary["flows"]] == [0.02, 0.03]


def test_an_enumeration_of_texts_is_its_texts() -> None:
    class Law(str, enum.Enum):
        ONE = "cubic"

    found = longfat.run(SMALL, set={**SHORT, "flow.0.control": Law.ONE})
    assert found.summary["flows"][0]["control"] == "cubic"


def test_numbers_of_numpy_are_numbers_in_studies_and_comparisons(tmp_path: Path) -> None:
    found = study(
        {"scenario": {"duration": "1 s", **_tree()}, "seeds": np.int64(2),
         "vary": {"flow.f.count": np.array([1, 2])}},
        out=tmp_path / "study",
    )  # fmt: skip
    assert (found.runs, found.failed) == (4, 0)
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    point = Point("small.toml", set=SHORT, labels={"x": np.float64(1.5)}, seeds=[np.int64(1)])
    assert run_points([point], lambda run: {"y": np.float64(run.link()["utilisation"])})[
        "x"
    ].to_list() == [1.5]
    compared = longfat.compare(
        "reno", rate=np.array(["5 Mbit/s", "10 Mbit/s"]), rtt="20 ms", flows=np.int64(2),  # type: ignore[arg-type]
        loss=np.float64(0.01), duration="1 s", seeds=np.int64(1),
    )  # fmt: skip
    assert compared.rows["loss"].to_list() == [0.01, 0.01]


def _tree() -> dict[str, Any]:
    flow = {"name": "f", "control": "reno", "path": ["b"], "rtt": "20 ms"}
    return {"link": {"b": {"rate": "10 Mbit/s", "delay": "5 ms"}}, "flow": [flow]}


@pytest.mark.parametrize("seed", [-1, np.int64(-1), 2**63, 1.5, np.float64(2.0), "3"])
def test_what_is_no_seed_is_refused_everywhere(seed: Any) -> None:
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    for ask in (
        lambda: longfat.run(SMALL, seed=seed),
        lambda: longfat.fluid(SMALL, seed=seed),
        lambda: longfat.check("reno", seed=seed, cases=2),
        lambda: run_points([Point("small.toml", labels={}, seeds=[seed])], lambda _: {}),
    ):
        with pytest.raises(
            (longfat.ScenarioError, TypeError), match=r"the seed is .*, not a whole number"
        ):
            ask()
    if isinstance(seed, (int, np.integer)) and seed < 0:
        with pytest.raises(longfat.ScenarioError, match="seed"):
            longfat.run(SMALL, set={"seed": seed})


def test_the_seed_that_is_a_text_is_told_as_one() -> None:
    with pytest.raises(longfat.ScenarioError, match="the seed is '3', not a whole number"):
        longfat.run(SMALL, seed="3")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"rate": 1e9}, '`rate` is a text with its unit, such as "1 Gbit/s", not 1000000000.0'),
        ({"rtt": [0.1]}, '`rtt` is a text with its unit, such as "100 ms", not \\[0.1\\]'),
        ({"buffer": 100}, '`buffer` is a text with its unit, such as "1 bdp", not 100'),
        ({"duration": 5}, '`duration` is a text with its unit, such as "60 s", not 5'),
        ({"duration": ["5 s"]}, "`duration` is a text with its unit, .*, not \\['5 s'\\]"),
        ({"warmup": 5}, '`warmup` is a text with its unit, such as "15 s", not 5'),
        ({"packet": 1500}, '`packet` is a text with its unit, such as "1500 B", not 1500'),
    ],
)
def test_a_comparison_wants_units(wrong: dict[str, Any], told: str) -> None:
    asked = {"rate": "10 Mbit/s", "rtt": "20 ms", **wrong}
    with pytest.raises(TypeError, match=told):
        longfat.compare("reno", **asked)


@pytest.mark.parametrize("words", [["evaluate", "cubik"], ["attack", "cubik", "--goal", "queue"]])
def test_what_nobody_has_written_has_no_lines(longfat: Command, words: list[str]) -> None:
    refused = longfat(*words)
    assert refused.returncode == 2
    assert (
        "there is no controller called `cubik`\n  --> a scenario that longfat made\n"
        in refused.stderr
    )
    assert "did you mean `cubic`?" in refused.stderr


def test_every_refusal_begins_alike(longfat: Command) -> None:
    Path("binary.toml").write_bytes(b"\xff")
    told = "error: binary.toml is not a scenario file: byte 0 is not UTF-8 text\n"
    assert longfat("run", "binary.toml").stderr == told


def test_what_is_handed_over_is_a_list() -> None:
    class Mine(longfat.Controller):
        pass

    for ask in (
        lambda **own: longfat.run(SMALL, **own),
        lambda **own: longfat.fluid(SMALL, **own),
        lambda **own: longfat.compare("reno", rate="10 Mbit/s", rtt="20 ms", **own),
        lambda **own: longfat.study.study({"scenario": _tree()}, **own),
    ):
        for name, given in (("controllers", Mine), ("queues", "red")):
            with pytest.raises(TypeError, match=rf"`{name}` is a list, such as `{name}=\[mine\]`"):
                ask(**{name: given})


def test_a_misspelt_name_in_a_file_is_suggested(longfat: Command) -> None:
    Path("rules.py").write_text(
        "import longfat\n\n\nclass Gentle(longfat.Controller):\n"
        "    def on_feedback(self, feedback, path): ...\n"
        "    def on_congestion(self, event, path): ...\n",
        encoding="utf-8",
    )
    refused = longfat("check", "rules.py:Gentel")
    assert refused.returncode == 2
    assert "there is no `Gentel` in it: did you mean `Gentle`?" in refused.stderr


def folders() -> set[str]:
    return {path.name for path in Path("runs").iterdir()}


def test_runs_of_other_settings_go_to_other_folders(longfat: Command, small: Path) -> None:
    for more in (
        (),
        ("--seed", "2"),
        ("--set", 'link.bottleneck.rate="5 Mbit/s"'),
        ("--set", 'link.bottleneck.rate="5 Mbit/s"', "--set", "flow.forward.count=3"),
        ("--set", 'flow.forward.control={ kind = "exp", gamma = 0.1 }'),
    ):
        assert longfat("run", small, "--quiet", *more).returncode == 0
    assert folders() == {
        "small-1",
        "small-2",
        "small-1-link.bottleneck.rate-5Mbit",
        "small-1-link.bottleneck.rate-5Mbit-flow.forward.count-3",
        "small-1-flow.forward.control-kind-exp-gamma-0.1",
    }
    long = longfat("run", small, "--quiet", "--set", f'flow.forward.name="{"x" * 200}"')
    assert long.returncode == 0
    (name,) = [each for each in folders() if "xxx" in each]
    assert len(name) < 130


def test_fluids_of_other_settings_go_to_other_folders(longfat: Command, small: Path) -> None:
    for more in (
        (),
        ("--price", "avq"),
        ("--model", "hybrid", "--no-delay"),
        ("--set", "flow.0.count=1"),
    ):
        assert longfat("fluid", small, "--quiet", *more).returncode == 0
    assert folders() == {
        "small-fluid",
        "small-fluid-avq",
        "small-fluid-hybrid-no-delay",
        "small-fluid-flow.0.count-1",
    }


def test_another_scenario_is_not_replaced_in_silence(longfat: Command, small: Path) -> None:
    assert longfat("run", small).stderr == ""
    assert longfat("run", small).stderr == ""
    small.write_text(small.read_text("utf-8").replace("10 Mbit/s", "5 Mbit/s"), encoding="utf-8")
    told = longfat("run", small).stderr
    assert told == "what was in runs/small-1 was made of another scenario, and is replaced\n"
    small.write_text(f"# another comment\n{small.read_text('utf-8')}", encoding="utf-8")
    assert longfat("run", small).stderr == ""


def test_a_result_says_what_it_was_made_of(longfat: Command, small: Path) -> None:
    changes = ('link.bottleneck.rate="5 Mbit/s"', "flow.forward.count=3")
    done = longfat("run", small, "--set", changes[0], "--set", changes[1], "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    engine = json.loads(Path("out/summary.json").read_text("utf-8"))["engine"]
    assert json.loads(done.stdout)["engine"]["settings"] == engine["settings"] == list(changes)
    assert engine["version"] == VERSION
    head = Path("out/scenario.toml").read_text("utf-8").splitlines()[:3]
    assert head == [
        f"# longfat {VERSION}: small, with every default filled in.",
        *(f"# {change}" for change in changes),
    ]
    again = longfat("run", "out/scenario.toml", "--json", "--out", "again")
    assert again.returncode == 0, again.stderr
    one, other = json.loads(done.stdout), json.loads(again.stdout)
    assert {**one, "engine": 0} == {**other, "engine": 0}


def test_a_setting_ends_no_comment(longfat: Command, small: Path) -> None:
    done = longfat("run", small, "--set", "flow.forward.control='''\nreno'''", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "# flow.forward.control='''\\nreno'''\n" in Path("out/scenario.toml").read_text("utf-8")
    assert longfat("run", "out/scenario.toml", "--quiet").returncode == 0


def test_the_same_from_python() -> None:
    run = longfat.run(SMALL, set={**SHORT, "link.bottleneck.rate": "5 Mbit/s"})
    assert run.settings == ('duration="1 s"', 'warmup="200 ms"', 'link.bottleneck.rate="5 Mbit/s"')
    assert run.summary["engine"]["version"] == longfat.__version__
    name = "scenario-1-duration-1s-warmup-200ms-link.bottleneck.rate-5Mbit"
    assert run.save() == Path("runs") / name
    solved = longfat.fluid(SMALL, price="avq", set=SHORT)
    assert solved.save() == Path("runs/scenario-fluid-avq-duration-1s-warmup-200ms")
    assert longfat.run(SMALL, set=SHORT).save("mine") == Path("mine")


def test_results_show_themselves_in_a_notebook(tmp_path: Path) -> None:
    run = longfat.run(SMALL, set={"flow.forward.name": "a-b"})
    page = run._repr_html_()
    assert "<td" in page
    assert ">a-b[0]<" in page
    assert "fairness (Jain&#x27;s index): a-b" in page
    assert "packets/s" in page
    table = run.flows._repr_html_()
    assert "<table" in table
    assert "goodput_bit_s" in table
    solved = longfat.fluid(SMALL, equilibrium=True)
    assert "<caption>equilibrium</caption>" in solved._repr_html_()
    assert "price: overflow" in solved._repr_html_()
    asked = study(
        {"scenario": {"duration": "1 s", **_tree()}, "seeds": 2, "vary": {"flow.f.count": [1, 2]}},
        out=tmp_path / "study",
    )
    assert asked._repr_html_().count("<tr>") == 3
    assert "4 runs, 0 known" in asked._repr_html_()


def test_a_table_is_written_as_csv() -> None:
    run = longfat.run(SMALL)
    run.flows.write_csv("flows.csv")
    lines = Path("flows.csv").read_text("utf-8").splitlines()
    assert lines[0].split(",") == run.flows.columns
    assert len(lines) == 3


@pytest.mark.parametrize("name", ["plot", "paper", "power", "gym", "study", "fairness"])
def test_modules_are_there_as_they_are_written(name: str) -> None:
    code = f"import longfat; print(longfat.{name}.__name__); from longfat import {name}; import longfat.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == f"longfat.{name}\n", done.stderr
