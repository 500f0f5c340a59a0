from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from longfat.bench._benchmarks import BENCHMARKS, Benchmark, Speed
from longfat.bench._measure import LONGFAT, Spread, as_json, loops, measure, reached, spread
from longfat.bench._process import ProcessError, run
from longfat.commands._console import console, show
from longfat.tables import TextTable
from support import ROOT, SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command


def benchmark(path: Path, letter: str = "A", speed: Speed | None = None) -> Benchmark:
    return Benchmark(letter, "small", str(path), ("2 s", "1 s"), speed or Speed(1.0, 2e12), {})


def test_every_scenario_is_there_at_both_lengths() -> None:
    for each in BENCHMARKS:
        short, full = each.scenario(full=False, seed=7), each.scenario(full=True, seed=7)
        assert short.duration_s < full.duration_s, each.letter
        assert short.warmup_s < short.duration_s
        assert short.seed == 7
        assert f"| {each.letter} |" in (ROOT / "bench/README.md").read_text("utf-8")


def test_a_run_says_how_fast_and_what_happened(small: Path) -> None:
    (found,) = measure([benchmark(small)], repeat=2, full=True, progress=lambda *_: None)
    first, second = found.outcomes[LONGFAT]
    assert (first.seed, second.seed) == (1, 2)
    assert first.simulated_s == 4.0
    assert first.complete
    assert first.engine_s > 0
    assert first.data_packets / first.engine_s == pytest.approx(first.packets_per_s)
    assert first.peak_memory_bytes > 1e6
    # 10 Mbit/s carries at most 4 s of packets of 1500 bytes; two flows keep it busy most of the time.
    assert 2000 < first.data_packets <= 3334
    assert first.network is not None
    assert 8e6 < first.network.goodput_bit_s < 10.1e6
    row = as_json([found])["scenarios"][0]["simulators"][LONGFAT]
    assert [each["seed"] for each in row["runs"]] == [1, 2]


def test_runs_on_a_shared_core_are_told_apart(small: Path) -> None:
    (found,) = measure([benchmark(small)], repeat=1, full=False, progress=lambda *_: None)
    (run_,) = found.outcomes[LONGFAT]
    assert run_.loop_s is not None
    assert run_.loop_s > 0
    # 2.0, 1.0 and 0.5 million packets per second; the loop around the last took 1.7 times as long.
    found.outcomes[LONGFAT] = [
        replace(run_, data_packets=packets, engine_s=1.0, loop_s=loop)
        for packets, loop in ((2_000_000, 0.1), (1_000_000, 0.105), (500_000, 0.17))
    ]
    assert loops([found]) == Spread(0.105, 0.1, 0.17)
    assert found.packets_per_s() == Spread(1e6, 5e5, 2e6)
    assert found.packets_per_s_alone(0.1) == [2e6, 1e6]
    told = as_json([found])["scenarios"][0]["packets_per_s_alone"]
    assert told == {"median": 1.5e6, "lowest": 1e6, "highest": 2e6}


def test_a_target_may_be_a_share_of_another_scenario(small: Path) -> None:
    both = [benchmark(small), benchmark(small, "C", Speed(0.7, 0.9, "A"))]
    found = measure(both, repeat=1, full=False, progress=lambda *_: None)
    value, unit = reached(found[1], found)
    speeds = [each.outcomes[LONGFAT][0].packets_per_s for each in found]
    assert value == pytest.approx(speeds[1] / speeds[0])
    assert unit == "× A"
    assert reached(found[1], found[1:]) == (None, "× A"), "A was not run"


def test_the_command_prints_json(longfat: Command, small: Path) -> None:
    assert small.read_text("utf-8") == SMALL
    done = longfat("bench", "--scenario", "a", "--repeat", "1", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["scenarios"]
    assert row["scenario"] == "A"
    assert row["duration_s"] == 60.0
    (timed,) = row["simulators"][LONGFAT]["runs"]
    assert timed["network"]["mark_rate"] > 0


def test_tables_are_printed_in_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    made = TextTable(("", "scenario", "packets/s"), words=2)
    made.add("A", "500 Mbit/s, [RED]", "3.4 M")
    show(console(), made, markdown=True)
    assert capsys.readouterr().out.splitlines() == [
        "|  | scenario | packets/s |",
        "| --- | --- | --: |",
        "| A | 500 Mbit/s, [RED] | 3.4 M |",
    ]


def test_json_and_markdown_exclude_each_other(longfat: Command) -> None:
    done = longfat("bench", "--scenario", "A", "--json", "--markdown")
    assert done.returncode == 2
    assert "cannot be combined" in done.stderr


def test_scenarios_can_be_changed_and_have_no_targets_then(longfat: Command) -> None:
    changes = ("--set", "flow.*.control=reno", "--set", 'duration="3 s"', "--set", 'warmup="1 s"')
    options = ("--scenario", "B", "--repeat", "1", *changes)
    done = longfat("bench", *options, "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["scenarios"]
    assert row["changes"] == ["flow.*.control=reno", 'duration="3 s"', 'warmup="1 s"']
    assert row["duration_s"] == 3.0
    assert row["target"]["reached"] is None
    done = longfat("bench", *options, "--markdown")
    assert "changed, so without targets: flow.*.control=reno, duration" in done.stdout
    assert "(below)" not in done.stdout


def test_a_change_that_one_of_the_scenarios_cannot_take_is_shown_where_it_is(
    longfat: Command,
) -> None:
    done = longfat("bench", "--scenario", "B,A", "--set", "flow.backward.count=3")
    assert done.returncode == 2
    assert "there is no flow called `backward`" in done.stderr
    assert "--set:1:6" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("letters", ["A,Z", ","])
def test_an_unknown_scenario_is_refused(longfat: Command, letters: str) -> None:
    done = longfat("bench", "--scenario", letters)
    assert done.returncode == 2
    assert "there are A, B, C, D, E, F" in done.stderr


def test_spread_is_median_and_range() -> None:
    assert spread([]) is None
    assert spread([4.0, 1.0]) == Spread(2.5, 1.0, 4.0)


def test_a_process_that_fails_or_hangs_is_told() -> None:
    with pytest.raises(ProcessError, match="code 3\nno luck"):
        run(["/bin/sh", "-c", "echo no luck; exit 3"])
    with pytest.raises(ProcessError, match=r"killed after 0\.1 s"):
        run(["/bin/sleep", "60"], limit_s=0.1)
