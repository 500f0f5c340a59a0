from __future__ import annotations

import csv
import io
import json
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import longfat as package
from longfat.page import report

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


def test_times_are_shown_as_elsewhere_however_they_are_typed(longfat: Command) -> None:
    arguments = FAST[:-1]
    done = longfat(*arguments, "5s", "--control", "reno", "--seeds", "1")
    assert "\n5 s simulated, the first 1.25 s left out\n" in done.stdout


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
        ((*FAST, "--profile", "linux"), "the profiles are: 1995, linux-6,"),
        ((*FAST, "--buffer", "many"), "many"),
        ((*FAST, "--loss", "1"), "--loss"),
        ((*FAST, "--loss", "120%"), "120% is not in the range"),
        ((*FAST, "--loss", "some"), "'some' is no probability, such as 1e-4 or 0.01%"),
        ((*FAST, "--warmup", "60"), 'did you mean "60 s"'),
        ((*FAST, "--control", "blitz"), "give it, such as `--access 10Gbit/s`"),
        ((*FAST, "--control", "xcp", "--queue", "red"), "or write `--queue xcp`"),
        ((*FAST, "--flows", "3"), "--flows is given twice"),
        (("try", "--rate", "1Gbit/s,", "--rtt", "1ms"), "nothing before or after a comma"),
        (("try", "--rate", "1Gbit/s,10", "--rtt", "1ms"), "10"),
        ((*FAST, "--rtt", "20 ms"), "two of the paths are the same"),
        ((*FAST, "--json", "--csv"), "exclude each other"),
        ((*FAST, "--control", "bbr"), "made of these options"),
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


def test_lists_are_tried_in_every_combination(longfat: Command) -> None:
    done = longfat(
        "try", "--rate", "5Mbit/s,10Mbit/s", "--rtt", "20ms", "--rtt", "40ms", "--buffer", "0.5bdp, 1 bdp",
        "--duration", "2s", "--seeds", "2", "--control", "reno,cubic", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["comparisons"]
    paths = [
        (each["setup"]["rate"], each["setup"]["rtt"], each["setup"]["buffer"]) for each in found
    ]
    assert paths == list(product(["5Mbit/s", "10Mbit/s"], ["20ms", "40ms"], ["0.5bdp", "1 bdp"]))
    for each in found:
        assert [row["control"] for row in each["controls"]] == ["reno", "cubic"]
        rate = 5e6 if each["setup"]["rate"] == "5Mbit/s" else 10e6
        for row in each["controls"]:
            assert 0.5 * rate < row["goodput_bit_s"]["mean"] <= 1.001 * rate
            assert row["terabyte_s"]["mean"] == pytest.approx(
                8e12 / row["goodput_bit_s"]["mean"], rel=0.01
            )


def test_controllers_have_the_queues_and_links_that_they_need(longfat: Command) -> None:
    done = longfat(*FAST, "--seeds", "1", "--control", "xcp,reno")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^queue +xcp +drop-tail$", done.stdout, re.MULTILINE), done.stdout
    alone = json.loads(longfat(*FAST, "--seeds", "1", "--control", "reno", "--json").stdout)
    both = json.loads(longfat(*FAST, "--seeds", "1", "--control", "xcp,reno", "--json").stdout)
    assert [each["queue"] for each in both["controls"]] == ["xcp", "drop-tail"]
    assert both["controls"][1] == alone["controls"][0], "what one needs is not the other's"
    known = longfat(*FAST, "--seeds", "1", "--control", "blitz,sized-start", "--access", "10Mbit/s")
    assert known.returncode == 0, known.stderr
    assert "access 10 Mbit/s" in known.stdout


def test_the_queue_is_told_as_a_time(longfat: Command) -> None:
    """17 packets of 1500 bytes, rounded up from 25 kB, take 20.4 ms at 10 Mbit/s."""
    (row,) = json.loads(longfat(*FAST, "--json").stdout)["controls"]
    full = 17 * 1500 * 8 / 10e6
    for name in ("queue_mean", "queue_p99"):
        assert row[f"{name}_s"]["mean"] == pytest.approx(full * row[name]["mean"])
    shown = longfat(*FAST).stdout
    assert re.search(r"^queueing mean +\d+\.\d+ ± \d+\.\d+ ms$", shown, re.MULTILINE)
    assert re.search(r"^time for 1 TB +\d+\.\d+ ± \d+\.\d+ d$", shown, re.MULTILINE)


def test_tables_as_csv_and_markdown(longfat: Command) -> None:
    both = (*FAST, "--control", "reno,cubic")
    rows = list(csv.DictReader(io.StringIO(longfat(*both, "--csv").stdout)))
    printed = json.loads(longfat(*both, "--json").stdout)
    for row, told in zip(rows, printed["controls"], strict=True):
        assert row["control"] == told["control"]
        assert row["rate"] == "10Mbit/s"
        assert float(row["goodput_bit_s"]) == told["goodput_bit_s"]["mean"]
        assert float(row["goodput_bit_s_half_width"]) == told["goodput_bit_s"]["half_width"]
    page = longfat(*both, "--markdown").stdout
    assert "|  | reno | cubic |\n| --- | --: | --: |\n| goodput | " in page
    assert "next:" not in page


@pytest.mark.parametrize("loss", ["1%", "1 %", "0.01", "1e-2"])
def test_a_loss_may_be_a_percentage(longfat: Command, loss: str) -> None:
    told = longfat(*FAST, "--loss", loss, "--seeds", "1")
    assert told.stdout.startswith(
        "2 flows on 10 Mbit/s, round trip 20 ms, buffer 1 bdp, drop-tail, loss 1 %\n"
    )


def test_hosts_are_those_of_a_profile(longfat: Command) -> None:
    done = longfat(
        *FAST, "--control", "bbr3", "--profile", "linux-6", "--seeds", "1", "--out", "cmp"
    )
    assert done.stdout.splitlines()[0].endswith(", drop-tail, hosts of linux-6")
    assert 'profile = "linux-6"' in Path("cmp/bbr3.toml").read_text("utf-8")
    found = package.compare(
        "bbr3", rate="10 Mbit/s", rtt="20 ms", duration="2 s", profile="linux-6"
    )
    assert "hosts of linux-6" in found._repr_html_()


def test_pictures_of_other_settings_go_elsewhere(longfat: Command) -> None:
    short = (
        "try",
        "--rate",
        "10 Mbit/s",
        "--rtt",
        "20ms",
        "--duration",
        "1s",
        "--seeds",
        "1",
        "--plot",
    )
    for more in (
        (),
        ("--loss", "1%"),
        ("--control", "reno,cubic"),
        ("--buffer", "0.5 bdp"),
        ("--flows", "2"),
    ):
        assert longfat(*short, *more).returncode == 0
    folders = {path.name for path in Path("runs").iterdir()}
    assert folders == {
        "try-10Mbit-20ms-duration-1s-reno",
        "try-10Mbit-20ms-duration-1s-loss-0.01-reno",
        "try-10Mbit-20ms-duration-1s-reno-cubic",
        "try-10Mbit-20ms-duration-1s-buffer-0.5bdp-reno",
        "try-10Mbit-20ms-2-flows-duration-1s-reno",
    }
    assert longfat(*short, "--buffer", "0.5bdp,1bdp").returncode == 0
    (several,) = {path.name for path in Path("runs").iterdir()} - folders
    files = {path.name for path in Path("runs", several).iterdir()}
    stem = "10Mbit-20ms-duration-1s"
    assert {f"{stem}-comparison.png", f"{stem}-buffer-0.5bdp-reno.toml"} <= files


def test_more_seeds_are_asked_for_where_an_interval_is_wider_than_its_mean(
    longfat: Command,
) -> None:
    lossy = (
        "try",
        "--rate",
        "1Gbit/s",
        "--rtt",
        "10ms",
        "--duration",
        "1s",
        "--loss",
        "1e-4",
        "--seeds",
        "2",
    )
    wide = longfat(*lossy)
    row = json.loads(longfat(*lossy, "--json").stdout)["controls"][0]["goodput_bit_s"]
    assert 2 * row["half_width"] > row["mean"]
    assert (
        "some numbers have a ± of more than half of them (reno): more seeds would tell more: --seeds 8"
        in wide.stdout
    )
    assert "more than half of" not in longfat(*FAST).stdout
    assert "more than half of" not in longfat(*lossy, "--seeds", "1").stdout


def test_comparisons_from_python_show_themselves() -> None:
    found = package.compare(
        ["reno", "cubic"], rate=["5 Mbit/s", "10 Mbit/s"], rtt="20 ms", duration="2 s", seeds=2
    )
    assert found.rows.select("rate", "control").rows() == list(
        product(["5 Mbit/s", "10 Mbit/s"], ["reno", "cubic"])
    )
    page = found._repr_html_()
    assert page.count("<table>") == 2
    assert "1 flow on 10 Mbit/s, round trip 20 ms, buffer 1 bdp, drop-tail" in page
    assert str(found).count("| goodput |") == 2
    assert repr(found) == "<Comparison of reno, cubic on 2 path(s), 2 seed(s)>"
    found.plot("second.png", on=1)
    assert Path("second.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="nothing to compare"):
        package.compare([], rate="1 Gbit/s", rtt="1 ms")
    with pytest.raises(package.ScenarioError, match="did you mean `cubic`"):
        package.compare("cubik", rate="1 Gbit/s", rtt="1 ms")


def test_time_outs_that_averages_leave_out_are_told(longfat: Command) -> None:
    """Reno on 20 Mbit/s and 100 ms: slow start overshoots, and what it loses takes a time-out to find."""
    path = {"rate": "20 Mbit/s", "rtt": "100 ms", "flows": 2, "duration": "8 s"}
    found = package.compare("reno", rate="20 Mbit/s", rtt="100 ms", flows=2, duration="8 s")
    (reno,) = found.paths[0].contenders
    scenario = found.paths[0].setup.text("reno")
    runs = [package.run(scenario, seed=seed) for seed in (1, 2, 3)]
    warmup = [run.limits.to_polars().filter(pl.col("time_s") <= 2.0) for run in runs]
    assert reno.early_timeouts == tuple(rows["timeouts"].sum() for rows in warmup)
    total, met = sum(reno.early_timeouts), sum(number > 0 for number in reno.early_timeouts)
    assert total > 0
    assert reno.timeouts.mean == 0.0
    assert set(reno.results[0].tables) == {"flow_series", "link_series"}
    assert not reno.results[1].tables
    what = "time-outs in the warm-up, which averages leave out"
    assert f"<p>{what}: reno {total} in {met} of 3 runs</p>" in found._repr_html_()
    options = [f"--{name}={value}" for name, value in path.items()]
    assert f"\n{what}: reno {total} in {met} of 3 runs\n" in longfat("try", *options).stdout
    told = json.loads(longfat("try", *options, "--json").stdout)["controls"][0]
    assert told["early_timeouts"] == list(reno.early_timeouts)
    assert what not in longfat(*FAST, "--warmup", "0s").stdout
    # A run says the same of itself, and so does its page.
    seed, number = next((at, each) for at, each in enumerate(reno.early_timeouts, 1) if each)
    Path("early.toml").write_text(scenario, "utf-8")
    one = longfat("run", "early.toml", "--seed", seed, "--out", "early")
    assert f"\n{what}: flow {number}\n" in one.stdout
    page = report("early").read_text("utf-8")
    assert f"No flow met a retransmission time-out after the warm-up, and {number} in it." in page
