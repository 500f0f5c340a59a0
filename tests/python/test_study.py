"""Studies: files, points, folders."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import longfat
from longfat import _longfat
from longfat.errors import StudyError
from longfat.scenario import read as longfat_scenario
from longfat.study import Study, study
from longfat.study._file import _values
from longfat.study._in_words import aligned
from longfat.study._numbers import headings
from longfat.study._parts import PARTS, Claims, Parts, write_part
from longfat.study._study import Opened
from longfat.study._values import between
from longfat.units import number_of
from small_study import BUFFER, CONTROL, FILE, GOODPUT, RATE, STUDY, UTILISATION, vary
from support import ROOT, SMALL, Command


def points(small: Path, **more: Any) -> list[dict[str, Any]]:
    """The points of a study, without running it."""
    assert small.exists()
    design = Opened(vary(**more)).file.design
    return [design[index] for index in range(len(design))]


def digest(folder: Path) -> dict[str, bytes]:
    """The final files."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }


# What a user gets


def test_the_command_prints_the_contract_and_writes_the_folder(
    file: Path, longfat: Command
) -> None:
    done = longfat("study", file, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert list(told) == ["runs", "known", "done", "failed", "rows", "table"]
    assert (told["runs"], told["known"], told["done"], told["failed"]) == (12, 0, 12, 0)
    folder = Path("runs/study-question")
    names = {path.name for path in folder.iterdir()}
    assert names >= {"study.toml", "rows.parquet", "table.csv", "plot-1.png", "plot-1.svg"}
    rows = pl.read_parquet(told["rows"])
    assert rows.height == 12
    assert rows.columns[:3] == [RATE, CONTROL, "seed"]
    assert {UTILISATION, GOODPUT, "jain.forward"} <= set(rows.columns)
    # In the order of the plan: the first key changes slowest, the seed fastest.
    assert rows["seed"].to_list() == [1, 2, 3] * 4
    assert rows[RATE].to_list() == ["5 Mbit/s"] * 6 + ["10 Mbit/s"] * 6
    table = pl.read_csv(told["table"])
    assert table.height == 4
    assert {UTILISATION, f"{UTILISATION}_half_width", f"{UTILISATION}_n"} <= set(table.columns)
    again = longfat("study", file)
    assert again.returncode == 0, again.stderr
    assert "12 runs, 12 of them known" in again.stdout


def test_a_row_has_the_numbers_of_the_run(small: Path) -> None:
    found = study({**STUDY, "vary": {RATE: ["5 Mbit/s"]}, "seeds": [7]})
    summary = longfat.run(small, seed=7, set={RATE: "5 Mbit/s"}).summary
    (row,) = found.rows.to_dicts()
    assert row[UTILISATION] == summary["links"]["bottleneck"]["forward"]["utilisation"]
    flows = summary["flows"]
    assert row[GOODPUT] == sum(flow["goodput_bit_s"] for flow in flows)
    assert row["flows.forward.rtt_s"] == pytest.approx(sum(flow["rtt_s"] for flow in flows) / 2)
    assert row["jain.forward"] == summary["jain"]["forward"]
    assert row["engine.data_packets"] == summary["engine"]["data_packets"]
    assert row["seed"] == 7
    assert row["error"] is None


def test_the_module_can_be_called_and_still_has_its_names(small: Path) -> None:
    assert small.exists()
    found = longfat.study({**STUDY, "seeds": 1})  # type: ignore[operator]
    assert isinstance(found, longfat.study.Study)
    assert longfat.study.Point is not None
    assert found.runs == 4


def test_the_object_has_rows_a_table_and_a_picture(file: Path) -> None:
    found = study(file, seeds=4)
    assert found.rows.height == 16
    table = found.table(UTILISATION)
    assert table.columns == [
        RATE,
        CONTROL,
        UTILISATION,
        f"{UTILISATION}_half_width",
        f"{UTILISATION}_n",
    ]
    assert table[f"{UTILISATION}_n"].to_list() == [4] * 4
    first = found.rows.filter((pl.col(RATE) == "5 Mbit/s") & (pl.col(CONTROL) == "reno"))
    expected = longfat.study.estimate(first[UTILISATION].to_list())
    assert table.row(0)[2:] == (expected.mean, expected.half_width, 4)
    figure = found.plot(path="drawn.svg")
    assert Path("drawn.svg").stat().st_size > 0
    assert len(figure.axes) == 1
    found.plot(x=CONTROL, y=GOODPUT, panel=RATE)
    with pytest.raises(StudyError, match=r"did you mean `flows\.forward\.goodput_bit_s`"):
        found.table("flows.forward.goodput")


def test_the_dry_run_tells_and_runs_nothing(file: Path, longfat: Command) -> None:
    done = longfat("study", file, "--dry-run", "--seeds", "100")
    assert done.returncode == 0
    assert "4 points, 400 runs, 0 of them finished" in done.stdout
    assert "on disk" in done.stdout
    assert not Path("runs").exists()
    told = json.loads(longfat("study", file, "--dry-run", "--json").stdout)
    assert set(told) == {"points", "runs", "known", "seconds", "bytes"}


def test_a_folder_stands_for_the_study_in_it(file: Path, longfat: Command) -> None:
    first = study(file)
    before = digest(first.folder)
    file.unlink()
    Path("small.toml").unlink()
    done = longfat("study", first.folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["known"] == 12
    assert digest(first.folder) == before


def test_more_seeds_and_values_run_only_what_is_new(small: Path) -> None:
    assert small.exists()
    study(STUDY, out="here")
    found = study(STUDY, out="here", seeds=5)
    assert (found.runs, found.known) == (20, 12)
    wider = {**STUDY, "vary": {CONTROL: ["exp", "cubic"], RATE: ["10 Mbit/s"]}}
    found = study(wider, out="here")
    assert (found.runs, found.known) == (6, 3)
    assert found.rows.columns[:3] == [CONTROL, RATE, "seed"]
    # Former rows of other points leave no trace.
    assert digest(found.folder).keys() == digest(study(wider, out="there").folder).keys()
    for name in ("rows.parquet", "table.csv"):
        assert (found.folder / name).read_bytes() == Path("there", name).read_bytes()


def test_traces_are_part_of_the_study_in_the_folder() -> None:
    Path("steps.trace").write_text("1\n2\n5\n", "utf-8")
    text = SMALL.replace('rate = "10 Mbit/s"', 'trace = "steps.trace"')
    Path("traced.toml").write_text(text, "utf-8")
    found = study({"scenario": "traced.toml", "seeds": 1, "vary": {CONTROL: ["reno"]}}, out="here")
    Path("steps.trace").unlink()
    again = study("here/study.toml", out="here")
    assert again.known == found.runs == 1


def test_whatever_a_scenario_names_is_in_the_folder(small: Path, longfat: Command) -> None:
    inner = small.parent / "inner"
    inner.mkdir()
    named = {
        "sub/change.csv": "time, rate\n0 s, 20 Mbit/s\n1 s, 5 Mbit/s\n",
        "other.trace": "1\n2\n5\n",
        "flows.csv": "time_s,size_bytes,control\n0,15000,cubic\n0.5,200000,\n",
    }
    for name, content in named.items():
        path = inner / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
    text = SMALL.replace('rate = "10 Mbit/s"', 'rate = "10 Mbit/s"\ntrace = "sub/change.csv"')
    text += """
[[traffic]]
name = "files"
control = "reno"
path = ["bottleneck"]
rtt = "40 ms"
replay = "flows.csv"
"""
    (inner / "scenario.toml").write_text(text, "utf-8")
    vary = {
        "traffic.files.control": ["cubic", "exp"],
        "link.bottleneck.trace": ["sub/change.csv", "other.trace", "none"],
    }
    found = study({"scenario": "inner/scenario.toml", "seeds": 1, "vary": vary}, out="here")
    assert (found.runs, found.failed) == (6, 0)
    before = digest(found.folder)
    for path in inner.rglob("*.*"):
        path.unlink()
    Path("here").rename("moved")
    again = longfat("study", "moved", "--json", "--out", "moved")
    assert json.loads(again.stdout)["known"] == 6
    assert digest(Path("moved")) == before
    # A text names no files, wherever it is.
    Path("files").mkdir()
    Path("files/other.trace").write_text("1\n", "utf-8")
    tree = json.loads(longfat_scenario(SMALL)[0].to_json())
    tree["link"]["bottleneck"]["trace"] = "other.trace"
    with pytest.raises(StudyError, match="only a scenario file can name"):
        study({"scenario": tree, "seeds": 1, "vary": {CONTROL: ["reno"]}}, out="never")


def test_a_study_stays_where_it_is(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = small.parent / "other"
    other.mkdir()
    (other / "small.toml").write_bytes(small.read_bytes())
    found = study(STUDY, out="here")
    monkeypatch.chdir(other)
    study({**STUDY, "seeds": 1}, out="here")
    assert found.rows.height == found.runs == 12
    assert found.table(GOODPUT)[f"{GOODPUT}_n"].to_list() == [3, 3, 3, 3]


# What varies


def test_a_grid_is_every_combination(small: Path) -> None:
    found = points(small, vary={RATE: ["5 Mbit/s", "10 Mbit/s"], CONTROL: ["reno", "exp"]})
    assert [tuple(point.values()) for point in found] == [
        ("5 Mbit/s", "reno"),
        ("5 Mbit/s", "exp"),
        ("10 Mbit/s", "reno"),
        ("10 Mbit/s", "exp"),
    ]


def test_a_range_ends_where_it_is_said_to(small: Path) -> None:
    ends = {"from": "1234567 bit/s", "to": "12.345678 Mbit/s"}
    found = points(small, vary={RATE: {**ends, "steps": 3}})
    assert [point[RATE] for point in found] == [ends["from"], "6.79012 Mbit/s", ends["to"]]


def test_keys_need_no_quotes(small: Path) -> None:
    assert points(small, vary={"link": {"bottleneck": {"rate": ["5 Mbit/s"]}}}) == [
        {RATE: "5 Mbit/s"}
    ]


def test_keys_that_are_set_need_no_quotes_either(small: Path) -> None:
    def given(**keys: Any) -> dict[str, Any]:
        assert small.exists()
        return Opened(vary(set=keys)).file.set

    queue = {"kind": "red", "ecn": True}
    nested = {"bottleneck": {"rate": "5 Mbit/s", "queue": queue, "reverse": {"rate": "1 Mbit/s"}}}
    assert given(link=nested, duration="3 s", flow={"forward": {"control": "exp"}}) == {
        "link.bottleneck.rate": "5 Mbit/s",
        "link.bottleneck.queue": queue,
        "link.bottleneck.reverse.rate": "1 Mbit/s",
        "duration": "3 s",
        "flow.forward.control": "exp",
    }
    whole = {"link.bottleneck": {"rate": "5 Mbit/s", "delay": "1 ms"}}
    assert given(**whole) == whole
    # A table whose keys are all comments sets none.
    assert given(link={"bottleneck": {}}, flow={}) == {}


@pytest.mark.parametrize("table", ["set", "vary"])
def test_a_key_is_there_once_however_it_is_written(small: Path, table: str) -> None:
    keys = {RATE: ["5 Mbit/s"], "link": {"bottleneck": {"rate": ["6 Mbit/s"]}}}
    with pytest.raises(StudyError, match=f"`{RATE}` is there twice"):
        points(small, **{table: keys})


def test_ranges_are_linear_or_logarithmic(small: Path) -> None:
    def values(given: dict[str, Any], key: str = RATE) -> list[Any]:
        return [point[key] for point in points(small, vary={key: given})]

    log = {"from": "1 Mbit/s", "to": "1 Gbit/s", "steps": 4, "scale": "log"}
    assert values(log) == ["1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s"]
    linear = {"from": "10 ms", "to": "20 ms", "steps": 3}
    assert values(linear, "flow.forward.rtt") == ["10 ms", "15 ms", "20 ms"]
    counts = {"from": 1, "to": 1000, "steps": 4, "scale": "log"}
    assert values(counts, "flow.forward.count") == [1, 10, 100, 1000]
    share = {"from": "0.5 bdp", "to": "2 bdp", "steps": 3, "scale": "log"}
    assert values(share, "link.bottleneck.buffer") == ["0.5 bdp", "1 bdp", "2 bdp"]


def test_a_narrow_range_is_not_left_and_has_the_digits_that_it_takes() -> None:
    assert between(1.0000001, 1.0000002, 0.5, "linear") == 1.00000015
    assert between("1.0000001 Gbit/s", "1.0000002 Gbit/s", 0.25, "log") == "1.000000125 Gbit/s"
    # Six digits of a wide range, whose ends have more, would be 1 and 9.
    assert between(1.00000049, 8.99999951, 1e-9, "linear") == 1.00000049
    assert between(8.99999951, 1.00000049, 1e-9, "linear") == 8.99999951
    assert between(1.23456789, 1.23456789, 0.5, "log") == 1.23456789
    large = {"from": 2**53 + 1, "to": 2**53 + 7, "steps": 4}  # a float holds every other one there
    assert _values("seed", large) == [2**53 + 1, 2**53 + 3, 2**53 + 5, 2**53 + 7]
    assert _values("seed", {**large, "steps": 2, "scale": "log"}) == [2**53 + 1, 2**53 + 7]
    thirds = {"from": 0, "to": 3 * (2**60 + 1), "steps": 4}
    assert _values("seed", thirds) == [0, 2**60 + 1, 2 * (2**60 + 1), 3 * (2**60 + 1)]


def test_what_lies_between_two_quantities_is_a_whole_number_of_bits_picoseconds_or_bytes() -> None:
    def inside(low: str, high: str, scale: str = "linear") -> list[Any]:
        return [between(low, high, part / 3, scale) for part in (1, 2)]

    assert inside("10 kB", "20 kB") == ["13.333 kB", "16.667 kB"]
    assert inside("1 kbit/s", "10 kbit/s", "log") == ["2.154 kbit/s", "4.642 kbit/s"]
    assert inside("1 ns", "10 ns", "log") == ["2.154 ns", "4.642 ns"]
    assert inside("1000 B", "1500 B") == ["1167 B", "1333 B"]
    assert inside("1 kB", "2 MB") == ["667.333 kB", "1.33367 MB"]
    assert inside("1 KiB", "2 KiB") == ["1.3330078125 KiB", "1.6669921875 KiB"]
    assert inside("1 us", "1.000001 us") == ["1 us", "1.000001 us"]
    # What cannot be told to the last byte in hours is told in picoseconds.
    assert inside("0.0000000000001 h", "0.0000000000002 h") == ["480 ps", "600 ps"]


@pytest.mark.parametrize(
    ("value", "finest"),
    [("1.0001 kbit/s", "a bit per second"), ("0.5 ps", "a picosecond"), ("3.7 B", "a byte")],
)
def test_an_end_that_is_too_fine_is_refused_as_that(value: str, finest: str) -> None:
    other = f"2 {value.split()[1]}"
    for ends in ((value, other), (other, value), (value, value)):
        with pytest.raises(
            ValueError, match=f"`{value}` is not .* finer .*: {finest} is the least"
        ):
            between(*ends, 0.5, "linear")


@pytest.mark.parametrize(
    ("value", "reason"),
    [("-1 s", "it must not be negative"), ("1e99 s", "it is too large"), ("1e30 B", "too large")],
)
def test_an_end_that_scenarios_refuse_is_refused_as_there(value: str, reason: str) -> None:
    other = f"2 {value.split()[1]}"
    for ends in ((value, other), (other, value)):
        with pytest.raises(ValueError, match=f"{reason}$"):
            between(*ends, 0.5, "linear")


def test_numbers_in_a_range_may_be_grouped_in_thousands() -> None:
    assert between("1_000 kB", "2_000 kB", 0.5, "linear") == "1500 kB"
    assert between("1_000 packets", "3_000 packets", 0.5, "linear") == "2000 packets"
    assert number_of("1_000.5 packets") == (1000.5, "packets")
    assert number_of("1_0 packets") is None


def test_what_lies_between_two_values_is_in_their_order() -> None:
    draw = random.Random(8)  # noqa: S311 - it is to be repeatable, not secret
    for _ in range(2000):
        low = 10 ** draw.uniform(-9, 9)
        high = low * (1 + 10 ** draw.uniform(-15, 9))
        scale = draw.choice(["linear", "log"])
        shares = sorted((draw.random(), draw.random()))
        first, second = (between(low, high, share, scale) for share in shares)
        assert low <= first <= second <= high


def test_lists_go_together(small: Path) -> None:
    found = points(
        small,
        vary={CONTROL: ["reno"]},
        zip=[{RATE: ["5 Mbit/s", "10 Mbit/s"], "flow.forward.count": [1, 2]}],
    )
    assert [(point[RATE], point["flow.forward.count"]) for point in found] == [
        ("5 Mbit/s", 1),
        ("10 Mbit/s", 2),
    ]


@pytest.mark.parametrize("method", ["latin-hypercube", "random"])
def test_samples_are_drawn_the_same_every_time(small: Path, method: str) -> None:
    drawn = {
        "points": 20,
        "method": method,
        "vary": {
            "link.bottleneck.loss": {"from": 0.0, "to": 0.1},
            "flow.forward.rtt": {"from": "11 ms", "to": "1100 ms", "scale": "log"},
            CONTROL: ["reno", "exp"],
        },
    }
    found = points(small, sample=drawn)
    assert found == points(small, sample=drawn)
    assert found != points(small, sample={**drawn, "seed": 2})
    losses = sorted(point["link.bottleneck.loss"] for point in found)
    assert 0 <= losses[0] < losses[-1] <= 0.1
    # One in each twentieth of the range, and as many of each controller: what a hypercube is for.
    places = [int(loss * 200) for loss in losses]
    assert (places == list(range(20))) == (method == "latin-hypercube")
    if method == "latin-hypercube":
        assert sum(point[CONTROL] == "reno" for point in found) == 10


def test_constraints_leave_points_out(small: Path) -> None:
    grid = {RATE: ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"], "flow.forward.count": [1, 2, 3]}
    found = points(small, vary=grid, where=['"link.bottleneck.rate" / "flow.forward.count" >= 5e6'])
    assert [(point[RATE], point["flow.forward.count"]) for point in found] == [
        ("5 Mbit/s", 1),
        ("10 Mbit/s", 1),
        ("10 Mbit/s", 2),
        ("20 Mbit/s", 1),
        ("20 Mbit/s", 2),
        ("20 Mbit/s", 3),
    ]
    two = ['"link.bottleneck.rate" > 5e6', '"flow.forward.count" = 3']
    assert len(points(small, vary=grid, where=two)) == 2


def test_tables_vary_and_are_told_apart(small: Path) -> None:
    assert small.exists()
    found = study(vary(vary={CONTROL: ["exp", {"kind": "exp", "gamma": 0.1}]}))
    assert found.rows[CONTROL].to_list() == ["exp", "exp, gamma = 0.1"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"vari": {}}, "no key `vari`: did you mean `vary`"),
        ({"seeds": 0}, "at least one"),
        ({"seeds": [1, 1]}, "different"),
        ({"seeds": 10_001}, "10,001 seeds are asked for: no more than 10,000"),
        ({"seeds": 10**26}, "no more than 10,000"),
        ({"seeds": list(range(10_001))}, "no more than 10,000"),
        ({"seeds": {"until": "2 %", "most": 10**9}}, "no more than 10,000"),
        (
            {
                "seeds": 10_000,
                "vary": {"flow.forward.count": {"from": 1, "to": 1001, "steps": 1001}},
            },
            "1,001 points with 10,000 seeds are 10,010,000 runs, more than 10,000,000",
        ),
        ({"seeds": {"until": "2"}}, 'such as "2 %"'),
        ({"seeds": {"until": "2 %", "mast": 3}}, "did you mean `most`"),
        ({"vary": {RATE: "5 Mbit/s"}}, "needs a list"),
        ({"vary": {RATE: []}}, "needs a list"),
        ({"vary": {RATE: {"from": "1 Mbit/s", "steps": 3}}}, "needs `to`"),
        ({"vary": {RATE: {"from": "1 Mbit/s", "to": "1 ms", "steps": 3}}}, "do not count the same"),
        (
            {"vary": {RATE: {"from": "0 Mbit/s", "to": "1 Mbit/s", "steps": 3, "scale": "log"}}},
            "above 0",
        ),
        ({"vary": {RATE: ["5 Mbit/s", "5 Mbit/s"]}}, "given twice"),
        ({"vary": {RATE: {"from": "1 Mbit/s", "to": "2 Mbit/s", "steps": 10**9}}}, "10,000,000"),
        ({"vary": {"flow.forward.count": {"from": 1, "to": 10**400, "steps": 3}}}, "finite"),
        ({"vary": {"flow.forward.count": {"from": 1, "to": float("nan"), "steps": 3}}}, "finite"),
        ({"sample": {"points": 10**10, "vary": {CONTROL: ["reno"]}}}, "from 1 to 10,000,000"),
        ({"vary": {"seed": [1, 2]}}, "given by `seeds`"),
        ({"set": {RATE: "7 Mbit/s"}, "vary": {RATE: ["5 Mbit/s"]}}, "is in `[set]`, but"),
        ({"set": {RATE: "7 Mbit/s"}, "zip": [{RATE: ["5 Mbit/s"]}]}, "is in `[set]`, but"),
        ({"set": {f"{CONTROL}.gamma": 0.1}, "vary": {CONTROL: ["exp"]}}, f"`{CONTROL}` varies"),
        (
            {"vary": {"flow.forward.count": [1, 2], "flow.0.count": [3, 4]}},
            "`flow.forward.count` varies, but `flow.0.count` varies too, and replaces it",
        ),
        ({"set": {RATE: "7 Mbit/s"}, "vary": {"link.*.rate": ["5 Mbit/s"]}}, "and replaces it"),
        (
            {"where": '"link.bottleneck.buffer" < 1', "vary": {BUFFER: ["50 ms", "100 packets"]}},
            "cannot compare",
        ),
        ({"vary": {"link.bottlneck.rate": ["5 Mbit/s"]}}, "bottlneck"),
        ({"vary": {RATE: ["5 Mbit/s", "5 metres"]}}, "at link.bottleneck.rate = 5 metres"),
        ({"zip": [{RATE: ["5 Mbit/s"], CONTROL: ["reno", "exp"]}]}, "of one length"),
        (
            {"where": '"link.botleneck.rate" > 1', "vary": {RATE: ["5 Mbit/s"]}},
            'did you mean "link.b',
        ),
        (
            {"where": '"link.bottleneck.rate" > 1e9', "vary": {RATE: ["5 Mbit/s"]}},
            "no point is left",
        ),
        (
            {"plot": [{"x": RATE, "y": UTILISATION, "colour": "flow.forward.contrl"}]},
            "does not vary",
        ),
        ({"interval": "bootstrap"}, "at least 10 seeds"),
        ({"compare": [{"of": GOODPUT, "between": CONTROL}]}, "does not vary"),
        ({"engine": "fluids"}, "fluids"),
        ({"vary": {"engine": ["fluids"]}}, "there is no engine"),
    ],
)
def test_a_wrong_study_is_refused_with_a_reason(
    small: Path, change: dict[str, Any], told: str
) -> None:
    assert small.exists()
    with pytest.raises(StudyError, match=r"(?s).*") as caught:
        study({**vary(), **change}, out="never")
    assert told in str(caught.value)
    assert not Path("never").exists()


def test_what_is_set_for_all_links_may_vary_for_one(small: Path) -> None:
    other = """
[link.other]
rate = "10 Mbit/s"
delay = "1 ms"
buffer = "100 packets"
"""
    small.write_text(small.read_text("utf-8") + other, "utf-8")
    for_all = {"set": {"link.*.rate": "9 Mbit/s"}}
    assert points(small, **for_all, vary={RATE: ["5 Mbit/s"]}) == [{RATE: "5 Mbit/s"}]
    both = {RATE: ["5 Mbit/s"], "link.other.rate": ["7 Mbit/s"]}
    assert len(points(small, **for_all, vary=both)) == 1


def test_the_command_refuses_with_two(file: Path, longfat: Command) -> None:
    wrong = longfat("study", "nowhere.toml")
    assert wrong.returncode == 2
    file.write_text(FILE.replace("seeds", "sedes"), "utf-8")
    wrong = longfat("study", file)
    assert wrong.returncode == 2
    assert "did you mean `seeds`" in wrong.stderr
    for words in (
        ["--merge", "--shard", "1/2"],
        ["--shard", "3/2"],
        ["--dask", "x", "--workers", "2"],
        ["--workers", "9" * 23],
        ["--seeds", "1000000000", "--dry-run"],
        ["--seeds", "9" * 23, "--dry-run"],
    ):
        assert longfat("study", file, *words).returncode == 2


def test_a_number_of_thousands_of_digits_is_refused(file: Path, longfat: Command) -> None:
    file.write_text(FILE.replace("seeds = 3", f"seeds = {'1' * 5000}"), "utf-8")
    wrong = longfat("study", file)
    assert wrong.returncode == 2
    assert "question.toml is not TOML" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_the_folder_of_another_study_is_not_taken_unseen(file: Path, longfat: Command) -> None:
    text, _ = FILE.split("[[plot]]")  # seven times the same picture would take most of the time
    file.write_text(text, "utf-8")
    assert longfat("study", file, "--out", "here", "--quiet").returncode == 0
    told = "was made of another study"
    assert told not in longfat("study", file, "--out", "here", "--seeds", "4").stderr
    file.write_text(text.replace('"5 Mbit/s", ', ""), "utf-8")
    assert told not in longfat("study", file, "--out", "here").stderr
    assert told not in longfat("study", "here").stderr
    file.write_text(text + '[set]\nduration = "3 s"\n', "utf-8")
    assert told not in longfat("study", file, "--out", "here", "--dry-run").stderr
    assert told in longfat("study", file, "--out", "here").stderr
    for broken in ("broken", "sample = 3"):
        Path("here/study.toml").write_text(broken, "utf-8")
        assert told in longfat("study", file, "--out", "here").stderr


def test_a_folder_with_something_else_is_left_alone(small: Path) -> None:
    assert small.exists()
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("x", "utf-8")
    with pytest.raises(StudyError, match=r"holds `thesis\.tex` and no study"):
        study(STUDY, out="mine")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nowhere", "it is not HOST:PORT"),
        ("tcp://nowhere", "it is not HOST:PORT"),
        ("tcp://[::1:8786", "it is not HOST:PORT"),
        ("", "it is not HOST:PORT"),
        ("tcp://host:99999", "a port is from 1 to 65535"),
        ("http://host:8786", "unknown address scheme"),
    ],
)
def test_what_is_no_address_of_a_cluster_is_not_waited_for(
    file: Path, address: str, told: str
) -> None:
    begun = time.monotonic()
    with pytest.raises(StudyError, match=r"such as tcp://host:8786") as caught:
        study(file, out="never", dask=address)
    assert told in str(caught.value)
    assert time.monotonic() - begun < 8
    assert not Path("never/rows.parquet").exists()


# The fluid model


def test_fluid_and_packets_go_into_one_table(small: Path) -> None:
    assert small.exists()
    found = study(
        {
            **STUDY,
            "vary": {"engine": ["packets", "fluid"], RATE: ["5 Mbit/s", "10 Mbit/s"]},
            "fluid": {"price": "overflow"},
        }
    )
    rows = found.rows
    # The equations know no chance, so one seed is all there is.
    assert rows["engine"].to_list() == ["packets"] * 6 + ["fluid"] * 2
    means = found.table(GOODPUT)
    for fluid, packets in ((2, 0), (3, 1)):
        assert means[GOODPUT][fluid] == pytest.approx(means[GOODPUT][packets], rel=0.1)
    solved = longfat.fluid(small, set={RATE: "5 Mbit/s"}, price="overflow")
    expected = sum(solved.flows.to_polars()["rate_mean_bit_s"])
    assert rows[GOODPUT][6] == pytest.approx(expected)
    assert rows[UTILISATION][6] == pytest.approx(1.0, abs=0.1)
    found.plot(x=RATE, y=GOODPUT)


def test_an_equilibrium_is_enough(small: Path) -> None:
    assert small.exists()
    rates = {"from": "10 Mbit/s", "to": "100 Mbit/s", "steps": 50, "scale": "log"}
    found = study(
        vary(engine="fluid", fluid={"equilibrium": True, "price": "avq"}, vary={RATE: rates})
    )
    assert found.runs == 50
    # Two Reno flows on one link share it, whatever its rate.
    assert found.rows["jain.forward"].to_list() == pytest.approx([1.0] * 50)
    loads = found.rows[GOODPUT].to_list()
    assert loads[-1] == pytest.approx(100e6, rel=1e-6)


def test_routers_that_say_how_rates_change_are_part_of_a_study() -> None:
    """XCP divides the link equally, whatever its α; as a fluid it takes no simulation to see it."""
    swept = {
        "scenario": str(ROOT / "scenarios/xcp-rtts.toml"),
        "engine": "fluid",
        "fluid": {"equilibrium": True},
        "vary": {"link.bottleneck.queue.alpha": [0.1, 0.4]},
    }
    found = study(swept)
    assert found.rows["jain.xcp"].to_list() == pytest.approx([1.0, 1.0])
    assert found.rows["links.bottleneck.forward.utilisation"].to_list() == pytest.approx([1.0, 1.0])


def test_what_the_fluid_model_cannot_solve_has_failed_and_stops_nothing(
    file: Path, longfat: Command
) -> None:
    text = FILE.replace('"reno", "exp"', '"reno", "cubic"').replace(
        "seeds", 'engine = "fluid"\nseeds'
    )
    file.write_text(text, "utf-8")
    done = longfat("study", file, "--json")
    assert done.returncode == 1
    assert "cubic" in done.stderr
    told = json.loads(done.stdout)
    assert (told["runs"], told["done"], told["failed"]) == (4, 2, 2)
    rows = pl.read_parquet(told["rows"])
    assert rows.height == 4
    failed = rows.filter(pl.col("error").is_not_null())
    assert failed[CONTROL].to_list() == ["cubic", "cubic"]
    assert failed[GOODPUT].null_count() == 2


# Safety


def test_the_bytes_do_not_depend_on_workers_or_on_who_runs_it(file: Path) -> None:
    reference = digest(study(file, out="one", workers=1).folder)
    assert digest(study(file, out="three", workers=3).folder) == reference
    with ThreadPoolExecutor(2) as pool:
        assert digest(study(file, out="threads", executor=pool).folder) == reference
    for number in (1, 2, 3):
        part = study(file, out="shards", shard=(number, 3))
        assert part.runs == 4
        assert not Path("shards/rows.parquet").exists()
    assert digest(study(file, out="shards", merge=True).folder) == reference


def test_processes_run_it_too(file: Path) -> None:
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert study(file, executor=pool).failed == 0


def test_a_merge_says_what_is_missing(file: Path, longfat: Command) -> None:
    done = longfat("study", file, "--shard", "1/2")
    assert done.returncode == 0, done.stderr
    assert "6 of 6 runs finished" in done.stdout
    merged = longfat("study", file, "--merge", "--json")
    assert merged.returncode == 1
    assert "6 runs of 12 missing" in merged.stderr
    assert longfat("study", file, "--shard", "0/2").returncode == 0
    merged = longfat("study", "--merge", "--out", "runs/study-question", "--json")
    assert merged.returncode == 0, merged.stderr
    assert json.loads(merged.stdout)["known"] == 12


def test_a_merge_of_nothing_writes_nothing(file: Path, longfat: Command) -> None:
    for words in ([], ["--json"]):
        merged = longfat("study", file, "--merge", "--out", "new", *words)
        assert merged.returncode == 1
        assert "12 runs of 12 missing" in merged.stderr
        assert not Path("new").exists()
    assert json.loads(merged.stdout)["rows"] is None
    other = file.with_name("other.toml")
    other.write_text(FILE + '[set]\nduration = "3 s"\n', "utf-8")
    assert longfat("study", other, "--out", "new").returncode == 0
    before = digest(Path("new"))
    merged = longfat("study", file, "--merge", "--out", "new")
    assert merged.returncode == 1
    assert "replaced" not in merged.stderr
    assert digest(Path("new")) == before


def test_a_broken_file_is_found_and_made_again(file: Path, longfat: Command) -> None:
    first = study(file)
    reference = digest(first.folder)
    victim = min((first.folder / PARTS).glob("*.parquet"))
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    (first.folder / "rows.parquet").write_bytes(b"nonsense")
    done = longfat("study", file, "--json")
    assert done.returncode == 0, done.stderr
    assert "1 broken file" in done.stderr
    assert json.loads(done.stdout)["known"] < 12
    assert digest(first.folder) == reference


def test_of_a_broken_file_nothing_is_made_again_that_nobody_asks_for(
    file: Path, longfat: Command
) -> None:
    before = set((study(file).folder / PARTS).iterdir())
    for part in set((study(file, seeds=4).folder / PARTS).iterdir()) - before:
        part.write_bytes(b"nonsense")
    done = longfat("study", file, "--json")
    assert json.loads(done.stdout)["known"] == 12
    assert "taken away" in done.stderr
    assert "were made again" not in done.stderr


def test_a_file_cut_short_counts_as_absent(file: Path) -> None:
    first = study(file)
    for part in (first.folder / PARTS).glob("*.parquet"):
        part.write_bytes(part.read_bytes()[:-100])
    again = study(file)
    assert (again.known, again.failed) == (0, 0)


def test_two_at_once_lose_nothing_and_double_nothing(file: Path) -> None:
    reference = digest(study(file, out="alone", seeds=20).folder)
    command = [
        sys.executable,
        "-m",
        "longfat",
        "study",
        str(file),
        "--out",
        "both",
        "--seeds",
        "20",
    ]
    both = [subprocess.Popen([*command, "--quiet"]) for _ in range(2)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert digest(Path("both")) == reference
    rows = [pl.read_parquet(path) for path in Path("both", PARTS).glob("*.parquet")]
    assert sum(frame.height for frame in rows) == 80
    assert pl.concat(rows, how="diagonal")["run"].n_unique() == 80


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_study_goes_on_where_it_stopped(file: Path, number: signal.Signals) -> None:
    text = file.read_text("utf-8") + '[set]\nduration = "400 s"\n'
    file.write_text(text, "utf-8")
    command = [sys.executable, "-m", "longfat", "study", str(file), "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    parts = Path("runs/study-question", PARTS)
    end = time.monotonic() + 60
    while not list(parts.glob("*.parquet")) and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    os.kill(process.pid, number)
    _, told = process.communicate(timeout=60)
    finished = Parts(parts.parent)
    finished.refresh()
    again = study(file)
    assert again.known > 0
    if number == signal.SIGINT and process.returncode == 130:
        assert "the same command goes on from there" in told
    assert digest(again.folder) == digest(study(file, out="undisturbed").folder)


def test_a_run_that_fails_is_tried_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert small.exists()
    simulate = _longfat.simulate

    def breaks(scenario: _longfat.Scenario, **options: Any) -> _longfat.Recording:
        if scenario.seed == 2:
            message = "the window became negative"
            raise _longfat.EngineError(message)
        return simulate(scenario, **options)

    with monkeypatch.context() as patch:
        patch.setattr("longfat._longfat.simulate", breaks)
        broken = study(STUDY)
    assert (broken.runs, broken.failed) == (12, 4)
    assert set(broken.errors["error"]) == {"the window became negative"}
    assert broken.table(GOODPUT)[f"{GOODPUT}_n"].to_list() == [2] * 4
    mended = study(STUDY)
    assert (mended.known, mended.failed) == (8, 0)
    assert digest(mended.folder) == digest(study(STUDY, out="sound").folder)


def test_series_are_kept_on_request_and_made_again_when_they_break(small: Path) -> None:
    assert small.exists()
    given = {**STUDY, "seeds": 1, "series": ["flow_series"]}
    found = study(given)
    whole = pl.read_parquet(found.folder / "flow_series/*.parquet")
    assert {"run", "time_s", "flow", "window"} <= set(whole.columns)
    joined = whole.join(found.rows.select("run", RATE, CONTROL, "seed"), on="run")
    assert joined.height == whole.height
    assert joined[RATE].n_unique() == 2
    victim = min((found.folder / "flow_series").glob("*.parquet"))
    victim.write_bytes(b"")
    again = study(given)
    assert again.known == 3
    assert pl.read_parquet(found.folder / "flow_series/*.parquet").height == whole.height
    assert study({**STUDY, "seeds": 1}).known == 4


def test_many_parts_become_few(tmp_path: Path) -> None:
    (tmp_path / PARTS).mkdir()
    names = [f"{index:032x}" for index in range(1 << 40, (1 << 40) + 100)]
    for index, name in enumerate(names):
        write_part(tmp_path, [{"run": name[::-1], "x": float(index)}])
    parts = Parts(tmp_path)
    parts.refresh()
    parts.compact()
    assert len(list((tmp_path / PARTS).glob("*.parquet"))) == 1
    import numpy as np

    from longfat.study._parts import id_of

    ids = np.array([id_of(name[::-1]) for name in names], dtype=np.uint64)
    assert parts.finished(ids).all()
    rows = parts.rows(ids, [name[::-1] for name in names])
    assert sorted(rows["x"].to_list()) == list(range(100))


def test_a_claim_is_seen_by_others_and_ends_with_its_process(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    code = (
        "import sys, time; from pathlib import Path; from longfat.study._parts import Claims\n"
        f"claims = Claims(Path({str(tmp_path)!r}))\n"
        "print(claims.take(2**63 + 5), claims.take(7000), flush=True)\n"
        "time.sleep(60)"
    )
    assert claims.take(7000)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True False\n"
    assert not claims.take(2**63 + 5)
    process.kill()
    process.communicate()
    assert claims.take(2**63 + 5)
    claims.close()


def test_progress_counts_to_the_end(file: Path) -> None:
    seen: list[Any] = []
    found = study(file, progress=seen.append)
    assert isinstance(found, Study)
    assert (seen[-1].done, seen[-1].total, seen[-1].share) == (12, 12, 1.0)
    assert [each.done for each in seen] == sorted(each.done for each in seen)


def test_numbers_with_many_digits_have_an_exponent() -> None:
    """A derived rate as it was printed, `76072937980 ± 3782334914`, and what needs none."""
    values = [76072937980.0, 999_999.0, 0.005, math.nan, math.inf, 2e6]
    table = pl.DataFrame(
        {"it": values, "it_half_width": [3782334914.0, 2.0, 1e-4, None, None, None]}
    )
    assert aligned("it", table) == [
        "7.61e10 ± 3.8e9",
        "999999 ± 2",
        "5.00e-3 ± 1.0e-4",
        "nan",
        "inf",
        "2.00e6",
    ]


def test_the_table_says_what_a_number_belongs_to_and_its_unit(file: Path) -> None:
    """One `mean` without a unit stood for any group of short flows, and `goodput_bit_s` for any flows."""
    names = [GOODPUT, "jain.forward", "traffic.web.completion_s.mean", "flows.web.rtt_s", "it"]
    assert headings(names) == [
        *("forward.goodput_bit_s", "jain.forward", "web.completion_s.mean", "web.rtt_s", "it")
    ]
    assert headings([UTILISATION, "links.a.x", "flows.a.x"])[1:] == ["links.a.x", "flows.a.x"]
    times = pl.DataFrame({names[2]: [0.25], f"{names[2]}_half_width": [0.125]})
    assert aligned(names[2], times) == ["250 ± 125 ms"]
    head = study(file).means.head
    assert head == (RATE, CONTROL, "bottleneck.forward.utilisation", "seeds")
