"""What editors are told of scenario and study files is what longfat accepts."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft7Validator

import longfat
from fuzzer.cases import Drawer, extremes
from longfat import _longfat
from longfat.scenario import read
from longfat.schema import scenario_schema, study_schema
from support import ROOT, SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from fuzzer.cases import Case
    from support import Command

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCENARIOS = [
    path
    for folder in ("scenarios", "bench/scenarios", "crates/sim/tests/golden", "papers/*")
    for path in sorted(ROOT.glob(f"{folder}/*.toml"))
    if "link" in tomllib.loads(path.read_text("utf-8"))
]
STUDIES = [*sorted(ROOT.glob("studies/*.toml")), *sorted(ROOT.glob("papers/*/*stud*.toml"))]
REFUSED = ROOT / "crates" / "scenario" / "tests" / "refused"

OF_FORM = re.compile(
    r"is not a key of|is missing|has no key|needs its|"
    r"must be (?:a|an|one of|true|false|the|either|\")\b|unknown|there is no (?:controller|queue|profile)"
)
"""What is said of a key, or of the form of a value, rather than of what values have to do with each other."""

BEYOND = {
    "link-trace-key": "a resolved scenario has a table there, which nobody writes",
    "traffic-arrivals-zero": "a rate of zero is written as others are",
    "traffic-load-ambiguous": "the help is for a number above one, which may be ten thousandths",
}
"""Files with such an error that fit the schema all the same."""


@cache
def scenarios() -> Draft7Validator:
    return Draft7Validator(scenario_schema())


@cache
def studies() -> Draft7Validator:
    return Draft7Validator(study_schema())


def content(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return found


def problems(schema: Draft7Validator, value: object) -> list[str]:
    return [f"{each.json_path}: {each.message}" for each in schema.iter_errors(value)]


def test_both_are_schemas_of_a_dialect_that_editors_know() -> None:
    for schema in (scenario_schema(), study_schema()):
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        Draft7Validator.check_schema(schema)


def test_every_scenario_of_the_tree_is_valid() -> None:
    assert len(SCENARIOS) > 50
    wrong = {str(path): problems(scenarios(), content(path)) for path in SCENARIOS}
    assert not {path: said for path, said in wrong.items() if said}


def test_every_study_of_the_tree_is_valid() -> None:
    assert len(STUDIES) > 3
    wrong = {str(path): problems(studies(), content(path)) for path in STUDIES}
    assert not {path: said for path, said in wrong.items() if said}


def test_a_resolved_scenario_is_valid() -> None:
    for path in SCENARIOS[::5]:
        resolved = tomllib.loads(read(path)[0].to_toml())
        assert problems(scenarios(), resolved) == []


def test_what_is_accepted_is_valid() -> None:
    drawer = Drawer(1988)
    drawn = (drawer.draw_one("run") for _ in range(300))
    assert sum(1 for case in drawn if agrees(case)) > 80


@pytest.mark.long
def test_pairs_of_extreme_settings_are_valid() -> None:
    assert sum(1 for case in extremes() if case.kind == "run" and agrees(case)) > 2000


def agrees(case: Case) -> bool:
    """Whether it is accepted; then it must be valid."""
    try:
        read(case.text)
    except longfat.ScenarioError:
        return False
    assert problems(scenarios(), tomllib.loads(case.text)) == [], case.text
    return True


def test_what_is_refused_for_its_form_is_not_valid() -> None:
    refused = {path.stem: path for path in sorted(REFUSED.glob("*.toml"))}
    invalid = {name for name, path in refused.items() if not valid(path)}
    assert len(invalid) >= 125
    of_form = {
        name
        for name, path in refused.items()
        if OF_FORM.search(path.with_suffix(".txt").read_text("utf-8").partition("\n")[0])
    }
    assert len(of_form) > 60
    assert of_form - invalid == set(BEYOND)


def valid(path: Path) -> bool:
    try:
        return scenarios().is_valid(content(path))
    except tomllib.TOMLDecodeError:
        return False


@pytest.mark.parametrize(
    "wrong",
    [
        {"duration": "4 sec"},
        {"duration": 4},
        {"duraton": "4 s"},
        {"seed": -1},
        {"seed": 1.5},
        {"link": {"a": {"rate": "10 mbit/s", "delay": "5 ms"}}},
        {"link": {"a": {"delay": "5 ms"}}},
        {"link": {"a b": {"rate": "10 Mbit/s", "delay": "5 ms"}}},
        {"link": {"a": {"rate": "10 Mbit/s", "delay": "5 ms", "queue": "fifo"}}},
        {"link": {"a": {"rate": "10 Mbit/s", "delay": "5 ms", "reverse": {"reverse": {}}}}},
        {"flow": []},
        {"flow": [{"name": "a", "control": "reno", "path": ["a"]}]},
    ],
)
def test_slips_are_seen(wrong: dict[str, Any]) -> None:
    assert scenarios().is_valid(tomllib.loads(SMALL))
    assert problems(scenarios(), {**tomllib.loads(SMALL), **wrong})
    with pytest.raises(longfat.ScenarioError):
        read({**tomllib.loads(SMALL), **wrong})


def test_every_parameter_of_every_controller_and_queue_is_there() -> None:
    definitions = scenario_schema()["$defs"]
    for entries, name in (
        (longfat.controllers(), "controller"),
        (longfat.queues(), "queue_discipline"),
    ):
        tables = {each["title"]: each for each in definitions[name]["anyOf"] if "title" in each}
        assert set(tables) == {entry["name"] for entry in entries}
        for entry in entries:
            told = tables[entry["name"]]["properties"]
            assert set(told) == {"kind", *(each["name"] for each in entry["parameters"])}
            for each in entry["parameters"]:
                assert told[each["name"]]["description"] == each["about"]


def test_every_default_is_valid() -> None:
    """Of each key and parameter: a default that its own form refuses would be a wrong one."""
    schema = scenario_schema()
    found = 0
    for name, definition in schema["$defs"].items():
        for table in (definition, *definition.get("anyOf", ())):
            for key, form in table.get("properties", {}).items():
                if "default" in form:
                    found += 1
                    own = Draft7Validator({**form, "$defs": schema["$defs"]})
                    assert own.is_valid(form["default"]), f"{name}: {key}"
    assert found > 200


def test_every_unit_is_understood_where_it_is_offered() -> None:
    for _, units in _longfat.known_units():
        assert len(units) >= 4
    times = scenario_schema()["properties"]["duration"]
    for unit in dict(_longfat.known_units())["time"]:
        assert Draft7Validator(times).is_valid(f"1.5e3 {unit}")
        assert read({**tomllib.loads(SMALL), "warmup": f"10 {unit}", "duration": "100 h"})


def test_a_study_describes_its_keys_and_the_scenario_in_it() -> None:
    schema = study_schema()
    assert all(key.get("description") for key in schema["properties"].values())
    study = {
        "scenario": tomllib.loads(SMALL),
        "vary": {"control": ["reno", "cubic"]},
        "metrics": ["utilisation"],
    }
    assert isinstance(problems(studies(), study), list)
    wrong = {**study, "scenario": {**study["scenario"], "duraton": "4 s"}}
    assert len(problems(studies(), wrong)) > len(problems(studies(), study))


def test_the_command_prints_or_writes_it(longfat: Command, tmp_path: Path) -> None:
    shown = longfat("schema", "scenario")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout) == scenario_schema()
    file = tmp_path / "schemas" / "study.json"
    written = longfat("schema", "study", "--out", str(file))
    assert written.returncode == 0, written.stderr
    assert json.loads(file.read_text("utf-8")) == study_schema()
    assert longfat("schema", "result").returncode == 2
