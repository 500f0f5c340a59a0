from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

import longfat as package

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
