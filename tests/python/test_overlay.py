"""A measurement beside its simulation. The measurements here are made of simulations: real ones need root."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import longfat as package
from longfat.errors import ResultError
from longfat.live._course import Course, course, responses
from longfat.live._measurement import averages, series, write
from longfat.live._saved import SavedMeasurement
from longfat.live._verdict import FEW_EPOCHS, WHOLE_EPOCHS, judged
from longfat.study._setup import Setup

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from longfat.live import Finding
    from support import Command

DIFFERS, WRONG_INPUT = 1, 2
PAYLOAD, PACKET = 1448, 1500
LINK = Setup("20Mbit/s", "40ms").scenario("reno").to_toml()


def measured(
    folder: Path,
    *,
    factor: float = 1.0,
    control: str = "stcp",
    seconds: float = 30,
    flows: int = 1,
    link: str = LINK,
    slower: float = 1.0,
) -> Path:
    """A measurement made of what the simulator has, with windows `factor` as large and rates `slower`."""
    setup = Setup("20Mbit/s", "40ms", flows, f"{seconds} s", "0 s", profile="linux-6")
    change = {"sample": "10 ms", "flow.0.start": "0 s"}
    run = package.run(setup.scenario(control).to_toml(), set=change)
    samples = []
    names = [flow["name"] for flow in run.summary["flows"]]
    totals = dict.fromkeys(names, 0.0)
    for row in run.flow_series.to_polars().sort("time_s").iter_rows(named=True):
        totals[row["flow"]] += row["throughput_bit_s"] * 0.01 / 8 * PAYLOAD / PACKET * slower
        window, trip = int(row["window"] * factor), round((row["rtt_s"] or 0.04) * 1e6)
        place, total = names.index(row["flow"]), round(totals[row["flow"]])
        samples.append((row["time_s"], place, window, 1000, window, trip, total, 0, PAYLOAD))
    warmup = seconds / 4
    summary = {
        "what": "a test",
        "stack": "tcp",
        "control": control,
        "duration_s": float(seconds),
        "warmup_s": warmup,
        "link": {"rate_bit_s": 20_000_000, "rtt_s": 0.04, "scenario": link},
        "flows": averages(samples, warmup),
    }
    write(folder, summary, series(samples))
    return folder


def changed(folder: Path, change: dict[str, Any]) -> Path:
    """The same with another summary."""
    summary = json.loads((folder / "summary.json").read_text("utf-8")) | change
    frame = pl.read_parquet(folder / "flow_series.parquet")
    write(folder, summary, frame.to_dict(as_series=False))
    return folder


def verdicts(found: list[Finding]) -> dict[str, str]:
    return {each.name: each.verdict for each in found}


def test_a_simulation_agrees_with_itself(longfat: Command, tmp_path: Path) -> None:
    folder = measured(tmp_path / "live-stcp")
    done = longfat("overlay", folder)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(Path("runs/overlay-live-stcp/overlay.json").read_text("utf-8"))
    assert [each["verdict"] for each in told["findings"]] == ["agrees"] * 3
    assert all(abs(each["difference"]) < 0.005 for each in told["findings"])
    assert told["seeds"] == [1]
    names = {path.name for path in Path("runs/overlay-live-stcp").iterdir()}
    assert {"overlay.json", "overlay.png", "overlay.svg", "scenario.toml"} <= names
    # What it simulated can be run, and given instead.
    ran = longfat("run", "runs/overlay-live-stcp/scenario.toml", "--out=given")
    assert ran.returncode == 0, ran.stderr
    again = longfat("overlay", folder, "given", "--json")
    assert again.returncode == 0, again.stderr
    numbers = ("name", "verdict", "measured", "simulated")
    assert [[each[name] for name in numbers] for each in json.loads(again.stdout)["findings"]] == [
        [each[name] for name in numbers] for each in told["findings"]
    ]


def test_larger_windows_differ(longfat: Command, tmp_path: Path) -> None:
    done = longfat("overlay", measured(tmp_path / "live", factor=1.05))
    assert done.returncode == DIFFERS, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("mean window"))
    assert re.search(r"differs .* \+[45]\.\d %\s+± 2 %", row)
    assert re.search(r"epoch between responses +agrees", done.stdout)


def test_a_slower_flow_differs(tmp_path: Path) -> None:
    found = package.overlay(measured(tmp_path / "live", slower=0.985))
    assert verdicts(found.findings)["throughput_bit_s"] == "differs"
    assert found.differs


def test_a_short_measurement_is_undecided(longfat: Command, tmp_path: Path) -> None:
    done = longfat("overlay", measured(tmp_path / "live", seconds=3), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {each["verdict"] for each in told["findings"]} == {"undecided"}
    assert all("measure and simulate for" in each["why"] for each in told["findings"])
    assert not told["differs"]


def test_two_flows_are_simulated_with_several_seeds(tmp_path: Path) -> None:
    # Windows of multiplicative increase and decrease never meet: who begins first has more, for good.
    found = package.overlay(measured(tmp_path / "live", flows=2))
    assert len(found.to_dict()["seeds"]) == 5
    share = next(each for each in found.findings if each.name == "share")
    assert share.least is not None
    assert share.most is not None
    assert 0.5 <= share.least <= share.most < 1
    assert len(package.overlay(tmp_path / "live", seeds=2).to_dict()["seeds"]) == 2


def test_quic_is_simulated_as_quic(tmp_path: Path) -> None:
    folder = changed(measured(tmp_path / "live"), {"stack": "quic"})
    found = package.overlay(folder)
    assert "over QUIC" in found.title
    text = (found.save(tmp_path / "overlay") / "scenario.toml").read_text("utf-8")
    # quinn paces by 1.25 windows per round trip, and loses and recovers as RFC 9002 has it.
    assert "spread = 1.25" in text
    assert 'recovery = "quic"' in text


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({"stack": "tcp", "control": "cubic"}, {"slow_start": "standard", "ecn": False}),
        ({"stack": "tcp-kernel", "ecn": True}, {"slow_start": "standard", "ecn": True}),
        # Linux sends blocks at once.
        ({"stack": "tcp", "control": '{ kind = "cw-hstcp", c = "8 /s" }'}, {"pacing": "none"}),
        # Its own CUBIC has a slow start of its own.
        ({"stack": "linux", "control": "cubic", "ecn": False}, {"slow_start": "hystart"}),
        ({"stack": "linux", "control": "bbr", "ecn": True}, {"ecn": True, "pacing": "controller"}),
    ],
)
def test_linux_is_simulated_as_linux(
    tmp_path: Path, told: dict[str, Any], known: dict[str, Any]
) -> None:
    folder = changed(measured(tmp_path / "live", seconds=3), told)
    (flow,) = tomllib.loads(SavedMeasurement(folder).scenario.to_toml())["flow"]
    expected = {"recovery": "rack", "delayed_ack": True, "rto_estimator": "linux"} | known
    assert {key: flow[key] for key in expected} == expected


def test_the_picture_says_which_is_which(tmp_path: Path) -> None:
    found = package.overlay(measured(tmp_path / "live"))
    figure = found.plot(tmp_path / "overlay.svg")
    text = (tmp_path / "overlay.svg").read_text("utf-8")
    for word in ("measured", "simulated", "window (segments)", "queueing delay (ms)", "time (s)"):
        assert f">{word}<" in text
    assert "1 flow of stcp in Linux and simulated: 20 Mbit/s, round trip 40 ms" in text
    assert "mean window agrees" in text
    real, model = figure.axes[0].lines
    assert real.get_linestyle() != model.get_linestyle()
    assert real.get_color() != model.get_color()
    # The buffer is as long as the round trip; what waits is what exceeds the round trip of the link.
    waits = [np.nanmax(np.asarray(line.get_ydata(), dtype=float)) for line in figure.axes[2].lines]
    assert waits == pytest.approx([40, 40], abs=4)


@pytest.mark.parametrize("flows", [2, 3])
def test_several_flows_make_a_picture(tmp_path: Path, flows: int) -> None:
    found = package.overlay(measured(tmp_path / "live", flows=flows, seconds=8), seeds=1)
    labels = [str(line.get_label()) for line in found.plot().axes[0].lines]
    named = ["flow[0]", "flow[1]"] if flows == 2 else ["mean of 3 flows"]
    assert labels == [f"{who}: {name}" for who in ("measured", "simulated") for name in named]


def test_what_is_no_measurement_is_refused(longfat: Command, tmp_path: Path, small: Path) -> None:
    assert longfat("run", small, "--out=run").returncode == 0
    for place, told in (
        ("nowhere", "does not exist"),
        ("run", "is a run, not a measurement"),
        (str(tmp_path), "is no result folder"),
    ):
        done = longfat("overlay", place)
        assert done.returncode == WRONG_INPUT
        assert told in done.stderr
    folder = measured(tmp_path / "live", seconds=5)
    done = longfat("overlay", folder, "run")
    assert done.returncode == WRONG_INPUT
    assert "run is no simulation of what" in done.stderr
    assert "leave it out" in done.stderr
    done = longfat("overlay", folder, "run", "--seeds=2")
    assert done.returncode == WRONG_INPUT
    assert "leave one of them out" in done.stderr
    assert not Path("runs").exists()


def test_a_run_of_another_link_or_of_rare_rows_is_refused(tmp_path: Path) -> None:
    folder = measured(tmp_path / "live", seconds=5)
    text = package.overlay(folder).save(tmp_path / "overlay") / "scenario.toml"
    for key, value, told in (
        ("link.bottleneck.rate", "21 Mbit/s", "`rate` of its link is 21 Mbit/s, and was 20 Mbit/s"),
        ("link.bottleneck.buffer", "50 packets", "`buffer` of its link is 50 packets"),
        ("flow.0.control", "reno", "`control` of its flows is reno"),
        ("flow.0.count", 2, "`count` of its flows is 2, and was 1"),
        ("sample", "100 ms", 'has a row every 100 ms.*--set .sample="10 ms"'),
    ):
        run = package.run(text, set={key: value}).save(tmp_path / "run")
        with pytest.raises(ResultError, match=told):
            package.overlay(folder, run)
    run = package.run(text).save(tmp_path / "old")
    links = pl.read_parquet(run / "link_series.parquet").drop("queue_packets")
    links.write_parquet(run / "link_series.parquet")
    with pytest.raises(ResultError, match="how long its queue was"):
        package.overlay(folder, run)
    empty = package.run(text, record=False).save(tmp_path / "run")
    with pytest.raises(ResultError, match="or gaps"):
        package.overlay(folder, empty)


def test_a_measurement_that_lacks_something_is_refused(tmp_path: Path) -> None:
    folder = measured(tmp_path / "live", seconds=5)
    known = {"rate_bit_s": 20_000_000, "rtt_s": 0.04}
    several = LINK + LINK[LINK.index("[link") : LINK.index("[[flow")].replace("bottleneck", "more")
    cut = '[[link.bottleneck.change]]\nat = "1 s"\nloss = 0.1\n\n[[flow]]'
    moving = LINK.replace("[[flow]]", cut)
    for change, told in (
        ({"link": known}, "which buffer, queue and packet size.*measure again"),
        ({"link": {**known, "scenario": "nothing"}}, "its link has no scenario"),
        ({"link": {**known, "scenario": several}}, "2 links, not one"),
        ({"link": {**known, "scenario": moving}}, "changed in time"),
        ({"link": {**known, "rtt_s": -1.0, "scenario": LINK}}, "summary.json is not what"),
        ({"control": "nobody"}, "nobody"),
        ({"control": "{ kind"}, "not a table"),
        ({"control": "blitz"}, "no scenario comes of it"),
        ({"flows": []}, "summary.json is not what"),
        ({"warmup_s": 4.999}, "no two samples"),
    ):
        before = json.loads((folder / "summary.json").read_text("utf-8"))
        with pytest.raises(ResultError, match=told):
            package.overlay(changed(folder, change))
        changed(folder, before)
    frame = pl.read_parquet(folder / "flow_series.parquet")
    for lacking, told in (
        (frame.drop("window"), "no column `window`"),
        (frame.with_columns(window=pl.lit("many")), "holds String"),
        (frame.with_columns(window=pl.lit(float("nan"))), "has gaps"),
        (frame.with_columns(flow=pl.lit("flow[7]")), "its flows are not"),
    ):
        write(folder, before, lacking.to_dict(as_series=False))
        with pytest.raises(ResultError, match=told):
            package.overlay(folder)
    (folder / "flow_series.parquet").write_text("nothing", "utf-8")
    with pytest.raises(ResultError, match="no Parquet file"):
        package.overlay(folder)
    (folder / "flow_series.parquet").unlink()
    with pytest.raises(ResultError, match="is missing"):
        package.overlay(folder)


def test_numbers_of_a_course_by_hand() -> None:
    # Falls at 2, 6 and 10 s; the one at 2.1 s is the rest of the first. Before, after: no whole epoch.
    times = [0.0, 1, 2, 2.1, 4, 6, 8, 10, 11]
    windows = [90.0, 99, 50, 40, 60.9, 30, 50, 30, 31]
    frame = pl.DataFrame(
        {"time_s": times, "flow": ["flow[0]"] * 9, "window": windows, "rtt_s": [None, *[0.1] * 8]}
    )
    found = course(frame, [3e6], warmup_s=0.5, rtt_s=0.1)
    mean = (50 * 0.1 + 40 * 1.9 + 60 * 2 + 30 * 2 + 50 * 2) / 8
    assert found is not None
    assert found.window == pytest.approx(mean)
    assert found.epoch_s == pytest.approx(4)
    assert (found.seconds, found.throughput_bit_s, found.epochs, found.share) == (
        10.5,
        3e6,
        2,
        None,
    )
    for late in (10.5, 11, 12):
        assert course(frame, [3e6], warmup_s=late, rtt_s=0.1) is None


def test_responses_are_those_that_the_simulator_counts() -> None:
    for control in ("stcp", "hstcp", "exp", "cubic", "reno", "fiber"):
        text = Setup("20Mbit/s", "40ms", 1, "60 s", "0 s").scenario(control).to_toml()
        run = package.run(text, set={"sample": "10 ms", "flow.0.initial_threshold": 60})
        flow = run.flow_series.to_polars()
        trips = flow["rtt_s"].fill_null(0.04)
        found = responses(*(each.to_numpy() for each in (flow["time_s"], flow["window"], trips)))
        assert len(found) == run.summary["flows"][0]["congestion_events"] > 0, control


def told(
    window: float = 100, epochs: int = 20, epoch: float = 1, share: float | None = None
) -> Course:
    return Course(30, window, 1e6, epochs, epoch, share)


def judge(real: Course, *models: Course, kind: str = "exp") -> dict[str, str]:
    return verdicts(judged(real, models, kind=kind, rtt_s=0.04, warmup_s=10))


@pytest.mark.parametrize("window", [1, 315.5, 1e6])
@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (0.5, "differs"),
        (0.979, "differs"),
        (0.981, "agrees"),
        (1.019, "agrees"),
        (1.021, "differs"),
    ],
)
def test_a_tolerance_is_one(window: float, factor: float, verdict: str) -> None:
    assert judge(told(window * factor), told(window))["window_mean"] == verdict


def test_more_throughput_than_simulated_is_no_difference() -> None:
    for factor, verdict in ((0.989, "differs"), (0.991, "agrees"), (1.2, "agrees")):
        real = replace(told(), throughput_bit_s=factor * 1e6)
        assert judge(real, told())["throughput_bit_s"] == verdict


def test_each_number_has_its_tolerance() -> None:
    assert judge(told(epoch=1.07), told())["epoch_s"] == "differs"
    assert judge(told(epoch=1.07), told(), kind="fiber")["epoch_s"] == "agrees"
    assert judge(told(share=0.62), told(share=0.6))["share"] == "agrees"
    assert judge(told(share=0.65), told(share=0.6))["share"] == "differs"


def test_too_few_epochs_decide_nothing() -> None:
    few = told(epochs=WHOLE_EPOCHS - 1, epoch=2)
    (_, _, epoch) = judged(few, [told(epoch=2)], kind="exp", rtt_s=0.04, warmup_s=10)
    assert epoch.verdict == "undecided"
    # 10 s of warm-up, and eleven epochs of two seconds, and a tenth more.
    assert "9 whole epochs were measured and 20 simulated, of 10 needed" in epoch.why
    assert "for 36 s or more" in epoch.why
    assert judge(few, told())["window_mean"] == "agrees"
    assert judge(told(epochs=FEW_EPOCHS - 1), told())["window_mean"] == "undecided"


def test_a_law_that_makes_no_epochs_is_judged_by_its_window() -> None:
    found = judge(Course(30, 100, 1e6, 0, None, None), Course(30, 101, 1e6, 0, None, None))
    assert found == {"window_mean": "agrees", "throughput_bit_s": "agrees", "epoch_s": "undecided"}


def test_chance_that_outweighs_the_tolerance_decides_nothing() -> None:
    models = [told(share=0.5), told(share=0.7)]
    assert judge(told(share=0.6), *models)["share"] == "undecided"
    assert judge(told(share=0.73), *models)["share"] == "undecided"
    assert judge(told(share=0.75), *models)["share"] == "differs"
