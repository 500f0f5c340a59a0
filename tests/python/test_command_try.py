from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support import Command

FAST = ("try", "--rate", "10Mbit/s", "--rtt", "20ms", "--flows", "2", "--duration", "4s")


def test_try_compares_over_seeds(longfat: Command, own_folder: Path) -> None:
    done = longfat(*FAST, "--control", "reno")
    assert done.returncode == 0, done.stderr
    for word in (
        "reno",
        "goodput",
        "±",
        "Mbit/s",
        "3 seeds",
        "next:",
        "longfat try --rate 10Mbit/s",
    ):
        assert word in done.stdout
    assert list(own_folder.iterdir()) == []


def test_try_as_json(longfat: Command) -> None:
    done = longfat(*FAST, "--json", "--seeds", "4")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    (reno,) = printed["controls"]
    assert reno["control"] == "reno"
    assert reno["seeds"] == [1, 2, 3, 4]
    assert reno["goodput_bit_s"]["n"] == 4
    assert reno["goodput_bit_s"]["half_width"] > 0
    assert 9e6 < reno["goodput_bit_s"]["mean"] < 10.1e6
    assert printed["setup"]["warmup"] == "1 s"


def test_try_says_that_its_link_does_not_know_anti_ecn(longfat: Command) -> None:
    done = longfat(*FAST, "--control", "reno,anti-ecn", "--seeds", "1")
    assert "the link does not support AntiECN, so this is plain TCP: anti-ecn\n" in done.stdout
    printed = json.loads(longfat(*FAST, "--control", "reno,anti-ecn", "--json").stdout)
    assert [each["anti_ecn"] for each in printed["controls"]] == [None, False]


def test_try_writes_scenarios_that_run(longfat: Command) -> None:
    done = longfat(*FAST, "--out", "cmp", "--plot", "--loss", "1e-4", "--seeds", "1")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in Path("cmp").iterdir()} == {
        ".longfat.json",
        "comparison.json",
        "comparison.png",
        "comparison.svg",
        "reno.toml",
    }
    assert "longfat run cmp/reno.toml --plot" in done.stdout
    assert longfat("run", "cmp/reno.toml").returncode == 0


def test_the_second_time_nothing_is_simulated(longfat: Command) -> None:
    first = longfat(*FAST)
    assert "came from the cache" not in first.stdout
    second = longfat(*FAST)
    assert "3 of 3 runs came from the cache" in second.stdout
    kept = second.stdout.replace("3 of 3 runs came from the cache\n", "")
    assert kept == first.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("try", "--rate", "10Mbit/s"), "--rtt"),
        (("try", "--rate", "10", "--rtt", "20ms"), "'--rate'"),
        (("try", "--rate", "10 gbit/s", "--rtt", "20ms"), "10 Gbit/s"),
        ((*FAST, "--control", "renoo"), "reno"),
        ((*FAST, "--control", ","), "names no controller"),
        ((*FAST, "--control", 'reno,{kind="reno"}'), "twice"),
        ((*FAST, "--queue", "drop-tale"), "drop-tail"),
        ((*FAST, "--buffer", "many"), "many"),
        ((*FAST, "--loss", "1"), "--loss"),
        ((*FAST, "--flows", "0"), "--flows"),
        ((*FAST, "--seeds", "0"), "--seeds"),
        ((*FAST, "--warmup", "5s"), "warmup"),
        ((*FAST, "--buffer", '"\n[link]'), "buffer"),
    ],
)
def test_wrong_input_is_told_in_words(
    longfat: Command, own_folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = longfat(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(own_folder.iterdir()) == []


def test_a_comparison_replaces_only_a_comparison(longfat: Command, small: Path) -> None:
    assert longfat("run", small, "--out", "run").returncode == 0
    assert longfat(*FAST, "--out", "run").returncode == 2
    assert longfat(*FAST, "--out", "cmp").returncode == 0
    assert longfat(*FAST, "--out", "cmp").returncode == 0
    assert longfat("run", small, "--out", "cmp").returncode == 2
