from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from longfat._longfat import Scenario
from longfat.study import Estimate
from longfat_peers import PEERS, VALIDATING
from longfat_peers._cells import SAME
from longfat_peers._grid import CHANGES, GRID, NEWCOMERS
from longfat_peers._ns2 import Ns2
from longfat_peers._ns3 import Ns3
from longfat_peers._report import changes, differs, results, write
from longfat_peers._runs import FILE, Task, read_rows, run_all, tasks
from longfat_peers._today import TODAY, TODAY_CHANGES
from support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ROWS = ROOT / "bench/validation.jsonl"
PAGE = ROOT / "docs/validation.md"


def row(key: str, simulator: str, seed: int, queue: float) -> dict[str, Any]:
    network = {
        "goodput_bit_s": 1e7,
        "queue_mean": queue,
        "drop_rate": 0.0,
        "mark_rate": 1e-3,
        "jain": 1.0,
    }
    return {"key": key, "simulator": simulator, "seed": seed, "network": network}


def test_every_scenario_of_the_grid_can_be_run_by_those_that_are_to() -> None:
    text = (ROOT / FILE).read_text("utf-8")
    assert len(GRID) == 18
    for task in tasks([1], VALIDATING, full=True):
        changes_of_task = [f"{key}={value}" for key, value in task.changes]
        scenario = Scenario.parse(text, FILE, overrides=changes_of_task)
        for peer, _ in task.peers:
            assert PEERS[peer]().refusal(scenario) is None, task.key


def test_what_only_ns3_has_is_not_asked_of_ns2() -> None:
    asked: dict[str, set[str]] = {}
    for task in tasks([1], VALIDATING, full=True):
        asked.setdefault(task.key, set()).update(peer for peer, _ in task.peers)
    assert all(asked[cell.name] == {"ns2", "ns3"} for cell in (*GRID, *NEWCOMERS))
    assert all(asked[cell.name] == {"ns3"} for cell in TODAY)


def test_a_change_changes_one_thing_that_the_peer_knows() -> None:
    options = {"ns2": Ns2.defaults, "ns3": Ns3.defaults}
    above, before = None, {}
    for change in (*CHANGES, *TODAY_CHANGES):
        made: dict[str, object] = {**dict(change.ours), **dict(change.theirs)}
        if change.name.startswith(SAME):
            assert above == (change.before, change.peer), change.name
            assert before.items() <= made.items(), change.name
            assert len(made) == len(before) + 1, change.name
        else:
            assert len(made) == 1, change.name
        above, before = (change.before, change.peer), made
        for name, value in change.theirs:
            assert options[change.peer][name] != value, change.name


def test_every_run_has_a_name_of_its_own() -> None:
    names = [cell.name for cell in (*GRID, *NEWCOMERS, *TODAY)]
    names += [change.name for change in (*CHANGES, *TODAY_CHANGES)]
    assert len(set(names)) == len(names)


def test_what_is_known_is_not_run_again() -> None:
    (first, *_) = tasks([1], ["ns2"], full=False)
    known = [row(first.key, name, 1, 0.5) for name in ("longfat", "ns2")]
    told: list[object] = []
    run_all(known, [first], {}, keep=told.append, progress=lambda *_: None)
    assert told == []
    alone = Task(first.key, 2, (("duration", '"6 s"'), ("warmup", '"5 s"')), ())
    run_all(known, [alone], {}, keep=told.append, progress=lambda *_: None)
    (new,) = told
    assert isinstance(new, dict)
    assert (new["key"], new["simulator"], new["seed"]) == (first.key, "longfat", 2)


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "told"),
    [
        ("queue_mean", (0.50, 0.01), (0.53, 0.01), True),
        ("queue_mean", (0.50, 0.02), (0.53, 0.02), False),
        ("queue_mean", (0.500, 0.0), (0.509, 0.0), False),
        ("goodput_bit_s", (1e9, 0.0), (0.98e9, 0.0), True),
        ("drop_rate", (1e-4, 0.0), (1.05e-4, 0.0), False),
        ("drop_rate", (1e-4, 0.0), (2e-4, 0.0), True),
    ],
)
def test_a_difference_is_told_beyond_both_intervals(
    name: str, ours: tuple[float, float], theirs: tuple[float, float], *, told: bool
) -> None:
    assert differs(name, Estimate(*ours, 4), Estimate(*theirs, 4)) is told
    assert not differs(name, Estimate(ours[0], None, 1), Estimate(*theirs, 4))


def test_the_report_is_written_between_its_marks(tmp_path: Path) -> None:
    marks = [
        f"<!-- {n}: written by bench/validate -->\nold\n<!-- end of {n} -->\n"
        for n in ("results", "newcomers", "changes", "today", "changes of today")
    ]
    page = tmp_path / "validation.md"
    page.write_text("before\n" + "between\n".join(marks) + "after\n", "utf-8")
    (tmp_path / "images").mkdir()
    name = GRID[0].name
    rows = [row(name, "longfat", seed, 0.5 + seed / 1000) for seed in (1, 2, 3)]
    rows += [row(name, "ns2", seed, 0.7 + seed / 1000) for seed in (1, 2, 3)]
    write(rows, tmp_path)
    text = page.read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "between\n" in text
    assert "old" not in text
    assert "| **70.2 ± 0.2 %** |" in text
    assert {path.name for path in (tmp_path / "images").iterdir()} == {
        "validation.png",
        "validation.svg",
    }


def test_the_page_shows_the_committed_runs() -> None:
    rows = read_rows(ROWS)
    assert all(each["complete"] for each in rows)
    text = PAGE.read_text("utf-8")
    assert results(rows, GRID) in text
    assert results(rows, NEWCOMERS) in text
    assert changes(rows, CHANGES) in text
    assert results(rows, TODAY) in text
    assert changes(rows, TODAY_CHANGES) in text
