"""The page on eleven controllers: its table and its numbers are those of their evaluations."""

from __future__ import annotations

import re

import pytest

import eleven

NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e-\d+)?(?: (?:%|ms|µs|s|times)(?!\w))?")


def sections() -> dict[str, str]:
    """What the page says of each controller, without what stands in code."""
    text = eleven.PAGE.read_text("utf-8")
    parts = re.split(r"^### `([\w-]+)`$", text.partition("## Findings")[2], flags=re.MULTILINE)
    return {
        name: re.sub(r"`[^`]*`|\([^()]*\.md[^()]*\)|RFC \d+(?:, [\d.]+)*", "", told)
        for name, told in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_the_table_is_that_of_the_evaluations() -> None:
    text = eleven.PAGE.read_text("utf-8")
    told = text.split(eleven.BEGIN)[1].split(eleven.END)[0]
    assert told == eleven.table(eleven.kept()), "bench/evaluation/eleven.py writes it"


def test_each_controller_ran_in_each_cell() -> None:
    found = eleven.kept()
    cells = {row["cell"] for row in found}
    assert len(cells) > 150
    for control in eleven.CONTROLLERS:
        assert {row["cell"] for row in eleven.of(found, control)} == cells


@pytest.mark.parametrize("control", eleven.CONTROLLERS)
def test_every_number_of_a_finding_is_in_a_story(control: str) -> None:
    told = sections()[control]
    numbers = NUMBER.findall(" ".join(told.split()))
    assert len(numbers) > 5
    stories = [f"{row['title']} {row['story']}" for row in eleven.of(eleven.kept(), control)]
    known = set(NUMBER.findall(" ".join(stories)))
    assert set(numbers) <= known
