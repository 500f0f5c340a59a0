"""What limited each flow, and when."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import longfat
from longfat._longfat import LONGEST_TEXT
from longfat.errors import ResultError
from longfat.explanation import CAUSES, FlowLimits, explain
from support import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command

HELD = ("window", "pacing", "receiver", "application", "recovery")


class Told:
    """A run of ten seconds, told by hand: a row for each second."""

    name = "told"

    def __init__(
        self,
        held: list[str],
        used: list[float],
        windows: list[float],
        events: dict[int, str] | None = None,
        thresholds: list[float | None] | None = None,
    ) -> None:
        times = [float(second) for second in range(1, len(held) + 1)]
        what = events or {}
        limits: dict[str, Any] = {"time_s": times, "flow": ["reno[0]"] * len(held)}
        for cause in HELD:
            limits[f"{cause}_s"] = [1.0 if each == cause else 0.0 for each in held]
        for column in ("losses", "marks", "timeouts"):
            limits[column] = [1 if what.get(second) == column else 0 for second in range(len(held))]
        series = {
            "time_s": times,
            "flow": limits["flow"],
            "window": windows,
            "threshold": pl.Series(thresholds or windows, dtype=pl.Float64),
        }
        links = {"time_s": times, "link": ["b"] * len(held), "direction": ["forward"] * len(held)}
        self.tables = {
            "limits": pl.DataFrame(limits),
            "flow_series": pl.DataFrame(series),
            "link_series": pl.DataFrame({**links, "utilisation": used}),
        }
        self.summary = {
            "flows": [{"name": "reno[0]", "control": "reno"}],
            "scenario": {
                "duration": f"{len(held)} s",
                "warmup": "0 s",
                "flow": [{"name": "reno", "path": ["b"]}],
            },
        }

    def table(self, name: str) -> pl.DataFrame:
        return self.tables[name]


def test_a_sawtooth_by_hand() -> None:
    """Slow start, a loss, a window that grows again until the link is full."""
    held = ["window", "recovery", *["window"] * 8]
    used = [0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0]
    windows = [40.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0]
    flow = explain(Told(held, used, windows, {1: "losses"})).flows[0]
    assert flow.shares == {
        "link": 0.4,
        "window": 0.5,
        "pacing": 0.0,
        "receiver": 0.0,
        "application": 0.0,
        "recovery": 0.1,
    }
    assert flow.sentences == [
        (
            "reno[0] was limited by its window for 50 % of its 10 s, by a full link for 40 % and by the repair "
            "of losses for 10 %."
        ),
        "It answered 1 loss.",
        "From 0 s to 1 s its window was too small: it stayed at 40 segments.",
        "From 1 s to 2 s it repaired losses.",
        "From 2 s to 6 s its window was too small: it grew from 21 to 24 segments, after the loss at 2 s.",
        "From 6 s to 10 s the link b was full.",
    ]


def test_marks_and_time_outs_by_hand() -> None:
    held = ["window"] * 5 + ["application"] * 5
    events = {0: "marks", 2: "timeouts", 4: "marks"}
    flow = explain(Told(held, [0.1] * 10, [9.0] * 10, events)).flows[0]
    assert flow.sentences == [
        "reno[0] was limited by its window for 50 % of its 10 s and by its application for 50 %.",
        "It answered 2 marks and 1 time-out.",
        "From 0 s to 5 s its window was too small: it stayed at 9 segments, with 2 marks and 1 time-out.",
        "From 5 s to 10 s it had nothing to send.",
    ]


def course(
    windows: list[float], thresholds: list[float | None], events: dict[int, str] | None = None
) -> str:
    """What is said of a window that was too small all the time."""
    held, used = ["window"] * len(windows), [0.1] * len(windows)
    (phase,) = explain(Told(held, used, windows, events, thresholds)).flows[0].phases
    return phase.told.removeprefix(f"From 0 s to {len(windows)} s its window was too small")


def test_slow_start_is_told_apart_from_what_follows() -> None:
    """As Reno on the path of the tutorial: the window that is left says little of the way."""
    windows = [20.0, 320.0, 5120.0, 4228.0, 2114.0, 2130.0, 1065.0, 1472.0]
    thresholds = [None, None, None, 4228.0, 2114.0, 2114.0, 1065.0, 1065.0]
    events = {3: "losses", 4: "losses", 6: "losses"}
    assert course(windows, thresholds, events) == (
        ": in slow start, until 4 s, it grew from 20 to at least 5,120 segments; then it went from 4,228 "
        "to 1,472 segments, between 1,065 and 4,228, with 3 losses."
    )


def test_what_comes_after_a_time_out_is_not_the_first_slow_start() -> None:
    windows = [20.0, 18248.0, 1578.0, 8015.0, 2.0, 32.0, 4007.0, 4573.0]
    thresholds = [None, None, 8014.0, 8014.0, *[4007.0] * 4]
    events = {2: "timeouts", 4: "timeouts"}
    assert course(windows, thresholds, events) == (
        ": in slow start, until 3 s, it grew from 20 to at least 18,248 segments; then it went from 1,578 "
        "to 4,573 segments, between 2 and 8,015, with 2 time-outs."
    )


def test_slow_start_ends_at_a_threshold_that_was_set() -> None:
    assert course([10.0, 40.0, 100.0, 103.0], [100.0] * 4) == (
        ": in slow start, until 3 s, it grew from 10 to at least 100 segments; then it grew from 100 to 103 "
        "segments."
    )
    assert course([10.0, 20.0, 40.0], [100.0] * 3) == (
        ": it grew from 10 to 40 segments in slow start."
    )


def test_a_window_is_not_said_to_grow_in_slow_start_where_it_does_not() -> None:
    """A mark in the second sample, and a window that no threshold belongs to, as BBR's."""
    assert course([36.0, 36.0, 36.0], [None, 36.0, 36.0], {1: "marks"}) == (
        ": in slow start, until 2 s, it had 36 segments; then it stayed at 36 segments, with 1 mark."
    )
    assert course([80.0, 95.0, 40.0, 51.0], [None] * 4) == (
        ": it went from 80 to 51 segments, between 40 and 95."
    )


def test_a_window_that_marks_hold_is_told_with_them_and_its_range() -> None:
    windows = [46.0, 52.0, 40.0, 50.0, 45.0]
    events = dict.fromkeys(range(5), "marks")
    assert course(windows, list(windows), events) == (
        ": it went from 46 to 45 segments, between 40 and 52, with 5 marks."
    )


def test_a_phase_of_slow_start_alone() -> None:
    held, used = ["window"] * 3 + ["application"] * 7, [0.1] * 10
    windows = [10.0, 20.0, 40.0, 80.0, *[60.0] * 6]
    told = explain(Told(held, used, windows, {}, [None] * 4 + [60.0] * 6)).flows[0].phases[0].told
    assert told == (
        "From 0 s to 3 s its window was too small: it grew from 10 to 40 segments in slow start."
    )


def test_what_is_told_of_a_window_is_so_in_the_series() -> None:
    """Reno on a fat path: windows beyond the peak of the sentence, or below its range, were never seen."""
    changes = {"link.bottleneck.rate": "1 Gbit/s", "duration": "20 s", "link.bottleneck.loss": 1e-5}
    flow = limited(changes)
    found = re.search(
        r"until (\d\S*) (m?s), it grew from \S+ to at least (\S+) segments; then it went .* between (\S+) "
        r"and (\S+), with (\S+) losses",
        flow.phases[0].told,
    )
    assert found is not None, flow.phases[0].told
    end = float(found[1]) / (1000 if found[2] == "ms" else 1)
    peak, low, high = (float(found[place].replace(",", "")) for place in (3, 4, 5))
    slow, after = (
        flow.rows.filter(pl.col("time_s") <= end),
        flow.rows.filter(pl.col("time_s") >= end),
    )
    assert len(slow) > 1
    assert slow["window"].max() == pytest.approx(peak, abs=0.5)
    assert slow[:-1]["threshold"].is_null().all()
    assert after["threshold"].is_not_null().all()
    assert after["window"].min() == pytest.approx(low, abs=0.5)
    assert after["window"].max() == pytest.approx(high, abs=0.5)
    assert int(found[6]) == flow.losses > 1


def test_a_time_that_three_digits_do_not_tell_from_its_end_is_told_by_its_length() -> None:
    told = Told(["window"], [0.1], [9.0])
    for name in ("limits", "flow_series", "link_series"):
        told.tables[name] = told.tables[name].with_columns(pl.lit(20.0).alias("time_s"))
    told.tables["limits"] = told.tables["limits"].with_columns(pl.lit(1e-4).alias("window_s"))
    assert explain(told).flows[0].phases[0].told == (
        "For 100 µs from 20 s on its window was too small: it stayed at 9 segments."
    )


def test_many_short_phases_become_what_they_do_one_by_one() -> None:
    """The shortest first, into the longer one beside it; where two are as long, into the first."""

    def merged(runs: list[list[Any]], least: float) -> list[list[Any]]:
        while len(runs) > 1:
            at = min(range(len(runs)), key=lambda place: runs[place][2] - runs[place][1])
            if runs[at][2] - runs[at][1] >= least:
                break
            beside = [place for place in (at - 1, at + 1) if 0 <= place < len(runs)]
            into = max(beside, key=lambda place: runs[place][2] - runs[place][1])
            runs[into] = [
                runs[into][0],
                min(runs[into][1], runs[at][1]),
                max(runs[into][2], runs[at][2]),
            ]
            del runs[at]
            joined: list[list[Any]] = []
            for run in runs:
                if joined and joined[-1][0] == run[0]:
                    joined[-1][2] = run[2]
                else:
                    joined.append(run)
            runs = joined
        return runs

    chance = random.Random(1988)  # noqa: S311 - to be repeatable, not secret
    for _ in range(50):
        held: list[str] = []
        while len(held) < 300:
            held += [chance.choice(HELD)] * chance.choice([1, 1, 2, 3, 5, 9])
        runs: list[list[Any]] = []
        for second, cause in enumerate(held):
            if not runs or runs[-1][0] != cause:
                runs.append([cause, float(second), float(second + 1)])
            runs[-1][2] = float(second + 1)
        flow = explain(Told(held, [0.1] * len(held), [9.0] * len(held))).flows[0]
        found = [[phase.cause, phase.begin_s, phase.end_s] for phase in flow.phases]
        assert found == merged(runs, 0.02 * len(held))


def test_short_phases_belong_to_those_around_them() -> None:
    """A hundred seconds with a single one of repair, which is less than a fiftieth."""
    held = ["window"] * 50 + ["recovery"] + ["window"] * 49
    flow = explain(Told(held, [0.1] * 100, [9.0] * 100)).flows[0]
    assert [(phase.begin_s, phase.end_s, phase.cause) for phase in flow.phases] == [
        (0.0, 100.0, "window")
    ]
    assert flow.shares["recovery"] == pytest.approx(0.01)


def limited(changes: dict[str, Any], text: str = SMALL) -> FlowLimits:
    plain = {"flow.0.count": 1, "flow.0.start": "0 s", **changes}
    return explain(longfat.run(text, set=plain)).flows[0]


@pytest.mark.parametrize(
    ("changes", "cause", "least"),
    [
        # A lone Reno with a buffer of one product, 17 segments: one round trip of 18 is repair, all of it full.
        ({"duration": "20 s"}, "link", 0.88),
        # A window of 4 segments in 20 ms and more: 2.4 Mbit/s.
        ({"flow.0.max_window": 4}, "receiver", 0.95),
        ({"flow.0.receive_window": "4 packets"}, "receiver", 0.95),
        # A segment every 10 ms of the 8.3 that fit into them.
        ({"flow.0.pacing": {"rate": "100 /s"}}, "pacing", 0.9),
        (
            {"flow.0.application": {"kind": "constant", "rate": "1 Mbit/s"}},
            "application",
            0.95,
        ),
        # 1.31/√p = 4.1 segments, of the 16.7 that the path holds.
        ({"link.bottleneck.loss": 0.1, "duration": "20 s"}, "recovery", 0.3),
    ],
)
def test_what_limits_a_flow_is_found(changes: dict[str, Any], cause: str, least: float) -> None:
    flow = limited(changes)
    assert flow.shares[cause] >= least, flow


def test_marks_are_told_apart_from_losses() -> None:
    marked = limited({"link.bottleneck.queue": "step", "duration": "20 s"})
    assert marked.marks > 10
    assert marked.losses <= 1
    lost = limited({"link.bottleneck.loss": 0.01, "duration": "20 s"})
    assert (lost.marks, lost.losses > 10) == (0, True)


def test_shares_sum_to_one_and_times_to_the_time_of_the_flow() -> None:
    """Of a few scenarios at random: a flow that starts late and stops early is limited in between only."""
    chance = random.Random(1988)  # noqa: S311 - to be repeatable, not secret
    for seed in range(8):
        start, stop = chance.uniform(0, 1), chance.uniform(2, 4)
        changes = {
            "flow.0.control": chance.choice(["reno", "cubic", "bbr1", "copa", "exp"]),
            "flow.0.recovery": chance.choice(["sack", "newreno", "rack", "quic"]),
            "flow.0.start": f"{start:.6f} s",
            "flow.0.count": 2,
            "link.bottleneck.loss": chance.choice([0.0, 1e-3, 1e-2]),
            "sample": chance.choice(["10 ms", "70 ms"]),
        }
        run = longfat.run(SMALL, seed=seed, set=changes)
        for flow in explain(run).flows:
            assert sum(flow.shares.values()) == pytest.approx(1.0, abs=1e-9)
            assert flow.active_s == pytest.approx(4.0 - start, abs=0.07 + 1e-6)
        limits = run.table("limits")
        whole = limits.filter(pl.col("time_s") > start + 0.1)
        spans = whole.select(total=pl.sum_horizontal(f"{cause}_s" for cause in HELD))["total"]
        sample = 0.01 if changes["sample"] == "10 ms" else 0.07
        assert spans.min() == pytest.approx(sample, abs=1e-9)
        assert spans.max() == pytest.approx(sample, abs=1e-9)
        stopped = longfat.run(SMALL, seed=seed, set={**changes, "flow.0.stop": f"{stop:.6f} s"})
        for flow in explain(stopped).flows:
            # What was under way is still repaired and acknowledged.
            assert stop - start - 0.07 <= flow.active_s <= 4.0 - start + 1e-6


def test_counts_are_those_of_the_summary() -> None:
    changes = {"link.bottleneck.loss": 0.02, "warmup": "0 s", "sample": "10 ms"}
    run = longfat.run(SMALL, set=changes)
    for flow, told in zip(explain(run).flows, run.summary["flows"], strict=True):
        assert flow.losses + flow.marks == told["congestion_events"]
        assert flow.timeouts == told["timeouts"]


def test_recording_what_limits_changes_nothing_else() -> None:
    with_rows = longfat.run(SMALL).summary
    without = longfat.run(SMALL, record=False).summary
    assert {**with_rows, "engine": None} == {**without, "engine": None}


def with_groups(count: int) -> dict[str, Any]:
    """So many groups of one flow each, which share a link."""
    flow = {"control": "reno", "path": ["bottleneck"], "rtt": "20 ms", "size": "30 kB"}
    return {
        "duration": "4 s",
        "warmup": "1 s",
        "sample": "500 ms",
        "link": {"bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"}},
        "flow": [{"name": f"f{place}", **flow} for place in range(count)],
    }


def test_tables_are_read_once_however_many_flows_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """With eleven questions to a table for each flow, 10⁵ of them took minutes."""
    asked: list[str] = []
    for name in ("select", "filter", "join", "with_columns", "sort", "partition_by"):
        ask = getattr(pl.DataFrame, name)

        def counted(*what: Any, _ask: Any = ask, _name: str = name, **how: Any) -> Any:
            asked.append(_name)
            return _ask(*what, **how)

        monkeypatch.setattr(pl.DataFrame, name, counted)
    questions = []
    for count in (20, 200):
        run = longfat.run(with_groups(count))
        asked.clear()
        told = explain(run)
        assert len(told.as_dict()["flows"]) == len(told.sentences) == count
        assert any(flow.phases for flow in told.flows)
        questions.append(list(asked))
    assert questions[0] == questions[1]
    assert "join" in questions[0]


def test_links_of_many_paths_are_found_for_each() -> None:
    """Two links, of which one is full: who does not cross it is limited by its own window."""
    scenario = with_groups(8)
    scenario["link"] = {
        "bottleneck": {"rate": "2 Mbit/s", "delay": "5 ms", "buffer": "9000 packets"},
        "free": {"rate": "1 Gbit/s", "delay": "5 ms", "buffer": "100 packets"},
    }
    for place, flow in enumerate(scenario["flow"]):
        flow["path"] = [["bottleneck"], ["free"], ["bottleneck", "free"]][place % 3]
        flow["size"] = "unlimited"
        flow["max_window"] = 2 if flow["path"] == ["free"] else "none"
    for place, flow in enumerate(explain(longfat.run(scenario)).flows):
        free = place % 3 == 1
        assert flow.shares["receiver" if free else "link"] > 0.5, flow
        assert (flow.shares["link"] == 0) == free


def test_a_link_that_carries_nothing_while_packets_wait_is_full() -> None:
    """Until the time-out after a second, nothing but the link held the flow back."""
    changes = {"link.bottleneck.change": [{"at": "1 ms", "rate": "0 bit/s"}], "sample": "10 ms"}
    flow = limited(changes)
    assert flow.phases[0].cause == "link"
    assert flow.phases[0].told.endswith("the link bottleneck was full.")
    assert flow.shares["window"] < 0.01


def test_several_flows_have_windows_and_one_has_a_window() -> None:
    many = explain(longfat.run(SMALL, set={"flow.0.count": 8, "flow.0.max_window": 1})).sentences
    assert re.match(
        "The 8 flows of forward were limited by (their receivers|their windows) ", many[0]
    )
    assert "its " not in many[0]
    one = explain(longfat.run(with_groups(8))).sentences[0]
    assert "their" not in one


def test_many_flows_are_told_by_groups() -> None:
    found = explain(longfat.run(SMALL, set={"flow.0.count": 8}))
    assert len(found.sentences) == 1
    assert found.sentences[0].startswith("The 8 flows of forward were limited by a full link for ")


def test_one_flow_among_many_is_told_in_the_singular() -> None:
    """Beside a group of eight: one that has losses, and one without a window."""
    one = '[[flow]]\nname = "one"\ncontrol = "reno"\npath = ["bottleneck"]\nrtt = "20 ms"\n'
    rest = (
        SMALL
        + one
        + one.replace('"one"', '"free"').replace(
            '"reno"', '{ kind = "blitz", priorities = false }\naccess = "1 Mbit/s"'
        )
    )
    told = explain(longfat.run(rest, set={"flow.0.count": 8})).sentences
    assert re.fullmatch(
        r"The flow of one was limited by .* of its time.*; it answered \d[^;]*\.", told[1]
    )
    assert "on average" not in told[1]
    assert told[2] == "The flow of free sends at the rate of its own link."


def test_a_flow_without_a_window_says_so() -> None:
    changes = {
        "flow.0.control": {"kind": "blitz", "priorities": False},
        "flow.0.access": "5 Mbit/s",
    }
    flow = limited(changes)
    assert flow.shares == {}
    assert flow.sentences == ["forward[0] has no window: it sends at the rate of its own link."]


def test_a_folder_says_the_same_as_the_run(own_folder: Path) -> None:
    run = longfat.run(SMALL)
    folder = run.save(own_folder / "kept")
    assert explain(folder).sentences == explain(run).sentences
    assert explain(str(folder)).as_dict()["flows"] == explain(run).as_dict()["flows"]


def test_short_flows_have_no_picture_of_what_limited_them(
    longfat: Command, own_folder: Path
) -> None:
    short = SMALL.partition("[[flow]]")[0] + (
        '[[traffic]]\nname = "s"\ncontrol = "reno"\npath = ["bottleneck"]\nrtt = "20 ms"\nsize = "10 kB"\n'
        'arrivals = { poisson = "5 /s" }\n'
    )
    (own_folder / "short.toml").write_text(short, "utf-8")
    assert longfat("run", "short.toml", "--quiet").returncode == 0
    done = longfat("explain", "runs/short-1", "--plot", "why.png")
    assert done.returncode == 0
    assert done.stderr == "no picture: the run has no long flows\n"
    assert not (own_folder / "why.png").exists()


def test_what_cannot_be_explained_is_refused(own_folder: Path) -> None:
    with pytest.raises(ResultError, match="kept no time series"):
        explain(longfat.run(SMALL, record=False))
    with pytest.raises(ResultError, match="is no result folder"):
        explain(own_folder)
    (own_folder / "summary.json").write_text("[]")
    with pytest.raises(ResultError, match="is no result folder"):
        explain(own_folder)


def test_a_run_of_a_long_list_is_read_again(own_folder: Path) -> None:
    """Its scenario is longer than one without lists may be; most of its flows are after its end."""
    rows = "".join(f"{second},1000000000000\n" for second in range(10, 1_200_010))
    (own_folder / "list.csv").write_text("time_s,size_bytes\n0,1500\n" + rows, "utf-8")
    group = SMALL.partition("[[flow]]")[2].replace("count = 2\n", "").replace("forward", "listed")
    listed = group.partition("start")[0] + 'replay = "list.csv"\n'
    (own_folder / "long.toml").write_text(f"{SMALL}\n[[traffic]]{listed}", "utf-8")
    folder = longfat.run(own_folder / "long.toml").save(own_folder / "long")
    assert (folder / "scenario.toml").stat().st_size > LONGEST_TEXT
    assert [flow.name for flow in explain(folder).flows] == ["forward[0]", "forward[1]"]
    with (folder / "scenario.toml").open("a", encoding="utf-8") as file:
        file.write("# " + "changed " * 10_000_000)
    with pytest.raises(ResultError, match=r"scenario\.toml .* it is longer than 80 MB"):
        explain(folder)


def test_the_command(longfat: Command, small: Path, own_folder: Path) -> None:
    assert longfat("run", small, "--quiet").returncode == 0
    done = longfat("explain", "runs/small-1", "--plot", "why.png")
    assert done.returncode == 0, done.stderr
    assert "forward[0] was limited by " in done.stdout
    assert (own_folder / "why.png").stat().st_size > 10_000
    told = json.loads(longfat("explain", "runs/small-1", "--json").stdout)
    assert set(told["flows"][0]["shares"]) == set(CAUSES)
    missing = longfat("explain", "nowhere")
    assert missing.returncode == 2
    assert "nowhere does not exist" in missing.stderr
