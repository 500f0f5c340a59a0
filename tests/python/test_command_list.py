from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import longfat as package
from longfat.commands import commands
from own_support import OWN, build

if TYPE_CHECKING:
    from support import Command


def test_list_shows_everything(longfat: Command) -> None:
    done = longfat("list")
    assert done.returncode == 0, done.stderr
    for name in ("reno", "RFC 5681", "drop-tail", "ns2-2005", "first.toml"):
        assert name in done.stdout


def test_a_default_has_its_unit_once(longfat: Command) -> None:
    shown = longfat("list", "controllers").stdout
    assert "c = 10 /s" in shown
    assert "/s /s" not in shown


def test_controllers_are_listed_by_what_they_go_by(longfat: Command) -> None:
    shown = longfat("list", "controllers").stdout
    heads = ["by losses", "by the share of marks", "by what routers write", "without a window"]
    places = [shown.index(head) for head in heads]
    assert places == sorted(places)
    assert places[0] < shown.index("reno ") < places[1] < shown.index("dctcp ") < places[2]
    families = [entry["family"] for entry in package.controllers()]
    assert len(set(families)) == len(list(groupby(families)))


@pytest.mark.parametrize("kind", ["controllers", "queues", "profiles", "scenarios"])
def test_list_as_json(longfat: Command, kind: str) -> None:
    listed = json.loads(longfat("list", kind, "--json").stdout)
    assert set(listed) == {kind}
    assert listed[kind]


def test_the_registry_is_the_one_of_the_engine(longfat: Command) -> None:
    listed = json.loads(longfat("list", "--json").stdout)
    assert listed["controllers"] == package.controllers()
    assert listed["queues"] == package.queues()


def test_every_example_opens_with_its_question(longfat: Command) -> None:
    for example in json.loads(longfat("list", "scenarios", "--json").stdout)["scenarios"]:
        assert example["question"].endswith("?"), example["path"]


@pytest.mark.parametrize("kind", ["controllers", "queues"])
def test_one_entry_tells_default_range_and_meaning_of_each_parameter(kind: str) -> None:
    entries = package.controllers() if kind == "controllers" else package.queues()
    for entry in entries:
        done = CliRunner().invoke(commands, ["list", kind, entry["name"]])
        assert done.exit_code == 0, done.output
        assert done.output.startswith(f"{entry['name']}: {entry['title']}\n{entry['source']}\n")
        for parameter in entry["parameters"]:
            (row,) = re.findall(rf"^{parameter['name']} .*$", done.output, re.MULTILINE)
            assert parameter["about"][:40] in row
            assert set(parameter["about"].split()) <= set(done.output.split())


def test_what_a_controller_needs_is_told(longfat: Command) -> None:
    assert "\nneeds the queue `xcp` on its path\n" in longfat("list", "controllers", "xcp").stdout
    blitz = longfat("list", "controllers", "blitz").stdout
    assert "needs pacing, the key `access`" in blitz
    assert "the queue `pushout` on its path" in blitz
    assert "needs" not in longfat("list", "controllers", "reno").stdout


def test_ranges_are_written_as_scenarios_have_them(longfat: Command) -> None:
    shown = longfat("list", "controllers", "cw-hstcp").stdout
    rows = [re.split(r" {2,}", line)[:3] for line in shown.splitlines()]
    assert ["c", "10 /s", "0.001 to 10000 /s"] in rows
    assert ["rtt", "smoothed", '"smoothed" or "base"'] in rows
    assert ["low_p", "auto", '1e-5 to 0.1 or "auto"'] in rows
    assert ["high_window", "83000", "2000 to 1e7"] in rows
    assert 'in a scenario: control = { kind = "cw-hstcp", c = "10 /s" }' in shown
    red = [re.split(r" {2,}", line) for line in longfat("list", "queues", "red").stdout.split("\n")]
    assert ["weight", "0.002", 'above 0, up to 1 or "auto"'] in [row[:3] for row in red]


@pytest.mark.parametrize("name", ["exp", "reno", "cw-hstcp", "anti-ecn", "constant-rate"])
def test_the_example_of_an_entry_is_read(longfat: Command, name: str, small: Path) -> None:
    (line,) = re.findall(r"in a scenario: (.*)", longfat("list", "controllers", name).stdout)
    small.write_text(small.read_text("utf-8").replace('control = "reno"', line), "utf-8")
    assert package.scenario.read(small)[0].to_toml()


RULES = """
import longfat

class Mine(longfat.Controller):
    \"\"\"Mine: what it is.\"\"\"
    source = "Somebody 2020"
    parameters = {
        "a": longfat.own.Parameter(1.5, 0.5, 2.0, "what it adds"),
        "n": longfat.own.Parameter(4, least=1, about="how often", whole=True),
        "target": longfat.own.Parameter("25 ms", about="how late"),
        "mode": ("slow", "fast"),
        "free": 2.5,
    }

    def on_feedback(self, feedback, path):
        assert (self.p.a, self.p.n, self.p.target) == (1.5, 4, 0.025)

    def on_congestion(self, event, path):
        pass
"""


def test_own_classes_are_shown_with_their_parameters(longfat: Command, small: Path) -> None:
    Path("rules.py").write_text(RULES, "utf-8")
    shown = longfat("list", "controllers", "rules.py:Mine").stdout
    assert shown.startswith("mine: Mine: what it is.\nSomebody 2020\nby losses\n")
    rows = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
    assert ["a", "1.5", "0.5 to 2", "what it adds"] in rows
    assert ["n", "4", "1 or more", "how often"] in rows
    assert ["target", "25 ms", "a time", "how late"] in rows
    assert ["mode", "slow", '"slow" or "fast"'] in rows
    assert ["free", "2.5", "a number"] in rows
    chosen = 'flow.forward.control={ python = "rules.py:Mine", a = 1.5 }'
    done = longfat("run", small, "--allow-code", "--quiet", "--set", chosen)
    assert done.returncode == 0, done.stderr
    refused = longfat("run", small, "--allow-code", "--set", chosen.replace("1.5", "2.5"))
    assert refused.returncode == 2
    told = json.loads(longfat("list", "controllers", "rules.py:Mine", "--json").stdout)
    assert [each["name"] for each in told["controllers"][0]["parameters"]] == [
        *"an",
        "target",
        "mode",
        "free",
    ]


def test_compiled_code_and_libraries_are_shown(longfat: Command, tmp_path: Path) -> None:
    shown = longfat("list", "queues", f"{OWN / 'compiled_laws.py'}:step").stdout
    assert re.search(r"^threshold +0\.2 bdp +a length", shown, re.MULTILINE)
    library = build(tmp_path / "liblaws.so")
    shown = longfat("list", "controllers", f"{library}:c-aimd").stdout
    assert re.search(r"^a +1 +0 to 100 ", shown, re.MULTILINE)
    assert f'in a scenario: control = {{ library = "{library}:c-aimd", a = 1 }}' in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("controllers", "expp"), "did you mean `exp`?"),
        (("controllers", "red"), "there is no controller called `red`"),
        (("queues", "nothing-like-it"), "`longfat list queues` shows them all"),
        (("papers", "exp-tcp"), "a name is for controllers and queues"),
        (("controllers", "none.py:Mine"), "there is no such file"),
        (("controllers", "rules.py"), "say which controller in it"),
    ],
)
def test_what_cannot_be_shown_ends_with_2(
    longfat: Command, arguments: tuple[str, ...], words: str
) -> None:
    done = longfat("list", *arguments)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
