"""The page of conformance: every controller and queue has a row, and each test that it names exists once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import longfat

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/conformance.md").read_text("utf-8")


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_controller_and_every_queue_has_a_row() -> None:
    controllers, queues = PAGE.split("## Queues")
    named = set(re.findall(r"`([^`]+)`", controllers))
    assert {entry["name"] for entry in longfat.controllers()} <= named
    assert {entry["name"] for entry in longfat.queues()} == {
        row[0].strip("`") for row in rows(queues)
    }


def test_every_test_it_names_exists_and_has_that_name_alone() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "crates").rglob("*.rs")]
    known = Counter(name for text in sources for name in re.findall(r"\bfn (\w+)\(", text))
    for row in rows(PAGE):
        assert len(row) == 5, row
        found = known[row[4].strip("`")]
        assert found == 1, f"{found} functions have the name of the test in {row}"
