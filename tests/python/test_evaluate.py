"""Evaluations: verdicts by hand, the folder, the command, and what holds for every cell."""

from __future__ import annotations

import json
import math
from itertools import chain
from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree as ET

import pytest

import longfat
from longfat.errors import EvaluationError, ScenarioError
from longfat.evaluate import Cell, Measure, Prepared, evaluate
from longfat.evaluate._contender import Contender
from longfat.evaluate._judge import compared, judged, overall
from longfat.evaluate._words import filled, worded
from longfat.evaluate.cells import GROUPS, harm
from longfat.evaluate.cells._cell import Scene, chosen
from longfat.evaluate.cells._measures import first_above
from longfat.scenario import read
from longfat.study import estimate

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.evaluate.cells._cell import Row
    from support import Command

NARROW = "range/64kbit-100ms-1250ms"
"""A cell that takes no time: 1 280 packets a run."""

INCUMBENTS = {"reno": "reno", "cubic": "cubic", "bbr3": "bbr3"}
EVERY = [cell for group in GROUPS for cell in group.make(INCUMBENTS)]

GENTLE = """\
import longfat as lf


@lf.law(name="gentle", parameters={"a": 1.0})
def gentle(at, p):
    return p.a / at.window


@gentle.give_up
def give_up(at, p, cause):
    return 0.3


class Steady(lf.Controller):
    def on_feedback(self, feedback, path):
        self.window = 20.0

    def on_congestion(self, event, path):
        pass
"""


BROKEN = """\
import longfat as lf


class Broken(lf.Controller):
    def on_feedback(self, feedback, path):
        raise ValueError("no idea")

    def on_congestion(self, event, path):
        pass
"""


# Verdicts


@pytest.mark.parametrize(
    ("least", "most", "values", "verdict"),
    [
        (0.95, None, [0.97, 0.97, 0.97], "pass"),
        (0.95, None, [0.90, 0.91, 0.90], "fail"),
        # Half of the interval of 0.94, 0.97 is 12.706 * 0.015 = 0.19: it holds 0.95.
        (0.95, None, [0.94, 0.97], "undecided"),
        (None, 8, [8, 8, 8], "pass"),
        (None, 8, [9, 9], "fail"),
        (None, 8, [7], "undecided"),
        (None, 8, [None, None], "undecided"),
        (None, None, [1.0, 1.0], None),
    ],
)
def test_a_threshold_is_judged_by_the_interval(
    least: float | None, most: float | None, values: list[float | None], verdict: str | None
) -> None:
    measure = Measure("x", "x", at_least=least, at_most=most)
    assert judged(estimate(values), measure) == verdict


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        # Differences 9, 10, 11: 10 ± 4.303 / sqrt(3) = 10 ± 2.48; one matters.
        ([19.0, 30.0, 41.0], [10.0, 20.0, 30.0], "better"),
        ([10.0, 20.0, 30.0], [19.0, 30.0, 41.0], "worse"),
        # The same luck: equal values seed by seed, however much they vary.
        ([1.0, 50.0, 9.0], [1.0, 50.0, 9.0], "as good"),
        # Always 0.5 more, which is certain, and does not matter.
        ([1.5, 2.5, 3.5], [1.0, 2.0, 3.0], "as good"),
        # 1 ± 2.48: it may be anything.
        ([11.0, 22.0, 30.0], [10.0, 20.0, 30.0], "undecided"),
        # One pair says nothing.
        ([11.0, None, None], [10.0, 20.0, 30.0], "undecided"),
    ],
)
def test_values_are_compared_seed_by_seed(
    ours: list[float | None], theirs: list[float | None], verdict: str
) -> None:
    more = Measure("x", "x", better="more", matters=1.0)
    assert compared(ours, theirs, more)[0] == verdict
    less = Measure("x", "x", better="less", matters=1.0)
    opposite = {"better": "worse", "worse": "better"}
    assert compared(ours, theirs, less)[0] == opposite.get(verdict, verdict)


def test_what_matters_may_be_a_share() -> None:
    measure = Measure("x", "x", better="less", matters=1.0, matters_share=0.1)
    assert measure.least_difference(5.0) == 1.0
    assert measure.least_difference(-200.0) == 20.0


def test_a_cell_is_mixed_only_where_measures_disagree() -> None:
    assert overall(["better", "as good", "undecided"]) == "better"
    assert overall(["worse", "as good"]) == "worse"
    assert overall(["worse", "better"]) == "mixed"
    assert overall(["as good", "as good"]) == "as good"
    assert overall(["as good", "undecided"]) == "undecided"


def test_values_have_units() -> None:
    assert worded(0.984, Measure("x", "", "%")) == "98.4 %"
    assert worded(0.0123, Measure("x", "", "s")) == "12.3 ms"
    assert worded(1.5e8, Measure("x", "", "bit/s")) == "150 Mbit/s"
    assert worded(0.0, Measure("x", "", "probability")) == "none"
    assert worded(0.25, Measure("x", "", "probability")) == "25.0 %"
    assert worded(1.2e-5, Measure("x", "", "probability")) == "1.2e-5"
    assert worded(None, Measure("x", "", "s")) == "–"
    late = Measure("x", "", "s", censored=20.0)
    assert worded(20.0, late) == "more than 20 s"
    assert worded(4.0, late) == "4 s"
    assert worded(0.0, late) == "0 s"
    assert filled("takes {x}", "reno", {"x": 4.0}, [late]) == "reno takes 4 s"
    assert filled("{x} for {name}", "reno", {"x": 4.0}, [late]) == "4 s for reno"


# Every cell


@pytest.mark.parametrize("cell", EVERY, ids=lambda cell: cell.name)
def test_a_cell_is_complete(cell: Cell) -> None:
    names = [measure.name for measure in cell.measures]
    assert len(set(names)) == len(names)
    assert cell.group in {group.name for group in GROUPS}
    assert cell.question.endswith(("?", "."))
    assert not cell.source.says.endswith(".")
    values = dict.fromkeys(names, 0.5)
    for template in (cell.says, cell.briefly):
        assert "{" not in filled(template, "reno", values, cell.measures)
    for measure in cell.measures:
        assert measure.better is None or measure.matters > 0 or measure.matters_share > 0
        if measure.has_threshold:
            assert cell.kind == "pass or fail"


@pytest.mark.parametrize("cell", EVERY, ids=lambda cell: cell.name)
def test_scenarios_of_a_cell_are_read_and_bounded(cell: Cell) -> None:
    for scene in cell.scenes("reno").values():
        assert scene.scenario.get("flow") or scene.scenario["traffic"]
        scenario, _ = read(scene.scenario)
        needed = scenario.estimate(record=False)
        assert needed["packets"] < 20e6, "a run of a cell takes some seconds"
        assert needed["memory"] < 4e9


def test_hosts_find_losses_by_time() -> None:
    simulated = [cell for cell in EVERY if cell.group != "equations"]
    assert len(simulated) > 140
    for scene in chain.from_iterable(cell.scenes("reno").values() for cell in simulated):
        flows = (*scene.scenario.get("flow", ()), *scene.scenario.get("traffic", ()))
        assert flows
        assert {flow["recovery"] for flow in flows} == {"rack"}


def test_names_of_cells_are_unique() -> None:
    names = [cell.name for cell in EVERY]
    assert len(set(names)) == len(names)
    assert all(name.replace("/", "-").replace(".", "").replace("-", "").isalnum() for name in names)


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_reno_in_the_place_of_reno_runs_the_same_scenarios(scale: Any) -> None:
    """So every difference is zero, and every comparison says "as good"."""
    prepared = Prepared("reno", against=["reno"], scale=scale, seeds=2)
    assert len(prepared.cells) > 10
    for cell in prepared.cells:
        own = [scene.scenario for scene in cell.scenes(prepared.subject.control).values()]
        theirs = [scene.scenario for scene in cell.scenes(prepared.against[0].control).values()]
        assert own == theirs
    # Each run is asked for by both, and there once.
    uses = [len(each) for each in prepared.pool._uses.values()]  # noqa: SLF001 - of the package
    assert min(uses) >= 2 or any(not cell.chancy for cell in prepared.cells)


def test_reno_is_as_good_as_reno() -> None:
    found = evaluate("reno", against=["reno"], cells=[NARROW, "range/10Mbit-20ms*"], seeds=2)
    for finding in found.findings:
        assert finding.verdict == "as good"
        for value in finding.values:
            verdict, difference = value.against["reno"]
            assert (verdict, difference.mean, difference.half_width) == ("as good", 0.0, 0.0)


@pytest.mark.long
def test_reno_is_as_good_as_reno_everywhere() -> None:
    found = evaluate("reno", against=["reno"], seeds=2)
    for finding in found.findings:
        assert finding.verdict in ("as good", "evidence", "pass", "skipped"), finding.story
        assert set(finding.against.values()) <= {"as good"}


# Known answers


class Shared:
    """A finished run in which flows have the goodputs that it is told, in bit/s, by their groups."""

    def __init__(self, **groups: list[float]) -> None:
        self.groups = {name.replace("_", "-"): got for name, got in groups.items()}

    def flows(self, *names: str) -> list[dict[str, Any]]:
        chosen = [got for name in names or self.groups for got in self.groups[name]]
        return [{"goodput_bit_s": got} for got in chosen]

    def link(self, _: str) -> dict[str, float]:
        return {"utilisation": 1.0}


def shared(name: str, share: float) -> tuple[Cell, Row]:
    """A cell of which "half would be" equal, and what it measures where one of two has such a share."""
    (cell,) = chosen(EVERY, [name])
    first, second = share * 1e8, (1 - share) * 1e8
    groups: dict[str, dict[str, list[float]]] = {
        "fairness": {"long": [first / 2] * 2, "short": [second / 2] * 2},
        "starvation": {"shaken": [first], "steady": [second]},
        "queues": {"incumbent": [first / 2] * 2, "newcomer": [second / 2] * 2},
        "topologies": {"long": [first / 2], **{f"on_{at}": [second / 2] for at in range(1, 6)}},
    }
    scene = next(iter(cell.scenes("reno").values()))
    assert isinstance(scene, Scene)
    return cell, scene.measure(cast("Any", Shared(**groups[cell.group])))


HALVES = [cell.name for cell in EVERY if "Half would be" in cell.question]


def test_cells_in_which_a_half_is_best_are_these() -> None:
    assert {name.partition("/")[0] for name in HALVES} == {
        "fairness",
        "starvation",
        "queues",
        "topologies",
    }
    assert len(HALVES) == 4 + 4 + 9 + 3


@pytest.mark.parametrize("name", HALVES)
def test_where_a_half_is_best_more_than_that_is_no_better(name: str) -> None:
    """85 % of a link is 15 % for the other, and 23 % are nearer to a half than either."""
    cell, much = shared(name, 0.855)
    rows = {share: shared(name, share)[1] for share in (0.145, 0.234, 0.333, 0.5)}
    judged_by = [measure for measure in cell.measures if measure.better and measure.name in much]
    assert [m.name for m in judged_by if much[m.name] != rows[0.5][m.name]], (
        "something tells them apart"
    )

    def verdict(ours: Row, theirs: Row) -> str:
        seeds = range(3)
        return overall(
            compared([ours[m.name] for _ in seeds], [theirs[m.name] for _ in seeds], m)[0]
            for m in judged_by
        )

    assert verdict(much, rows[0.145]) == "as good"
    assert verdict(much, rows[0.234]) == "worse"
    assert verdict(rows[0.333], much) == "better"
    assert verdict(rows[0.5], rows[0.333]) == "better"
    # The share itself stays to be seen, without a judgement.
    (visible,) = [m for m in cell.measures if m.name in {"long", "share"}]
    assert visible.better is None
    assert much[visible.name] == pytest.approx(0.855)


def test_everything_or_nothing_by_turns_is_not_a_half() -> None:
    """The mean over seeds is a half, and in none of them was anybody near it."""
    cell, _ = shared("fairness/round-trips-4", 0.5)
    lesser = next(measure for measure in cell.measures if measure.name == "lesser")
    turns = [shared(cell.name, share)[1] for share in (0.1, 0.9, 0.12, 0.88)]
    even = [shared(cell.name, share)[1] for share in (0.4, 0.42, 0.41, 0.39)]
    verdict, by = compared(
        [row["lesser"] for row in turns], [row["lesser"] for row in even], lesser
    )
    assert verdict == "worse"
    assert by.mean == pytest.approx(0.11 - 0.405)


def test_pairs_that_chance_has_made_are_not_judged() -> None:
    (cell,) = chosen(EVERY, ["fairness/round-trips-1"])
    assert cell.kind == "evidence"
    found = evaluate("cubic", against=["reno"], cells=[cell.name], seeds=2)
    assert found.counts == {"evidence": 1}
    assert found.findings[0].against == {}


def test_rates_that_rise_with_the_round_trip_are_no_better_than_rates_that_fall() -> None:
    (cell,) = chosen(EVERY, ["equations/round-trips"])
    assert [measure.name for measure in cell.measures if measure.better] == ["apart"]
    found = evaluate("cw-hstcp", against=[], cells=[cell.name], seeds=1).findings[0]
    assert found.value("apart").ours.mean == abs(found.value("exponent").ours.mean or math.nan)


def test_numbers_are_those_of_the_runs_behind_them() -> None:
    found = evaluate("reno", against=["cubic"], cells=[NARROW], seeds=2)
    (finding,) = found.findings
    used = []
    for seed in (1, 2):
        scenario = finding.cell.scenes("reno")["alone"].scenario
        run = longfat.run(scenario, seed=seed)
        # 853⅓ packets fit into 160 s; with one of the seeds 854 arrive, the first of which left in part before.
        used.append(min(run.summary["flows"][0]["goodput_bit_s"] / 64e3, 1.0))
    assert max(used) == 1.0
    assert finding.value("used").ours.mean == pytest.approx(math.fsum(used) / 2)
    assert finding.value("used").ours.n == 2
    assert f"{100 * math.fsum(used) / 2:.1f} %" in finding.story


def test_what_a_verdict_rests_on_is_told(longfat: Command, own_folder: Path) -> None:
    """The sentence has the same numbers for all; what decides are losses, and half of the waiting times."""
    cell = "range/64kbit-100ms-1250ms"
    done = longfat("evaluate", "bbr3", "--cell", cell, "--seeds", "2", "--against", "reno,cubic")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(f"{cell}: "))
    assert "reno (100.0 %, 1.12 s) and cubic (100.0 %, 1.12 s)" in lines[at]
    assert lines[at + 1 : at + 4] == [
        "    waiting time in the queue, median, 562 ms: better than cubic (938 ms)",
        "    packets dropped by queues, 3.5 %: worse than reno (2.6 %), better than cubic (10.0 %)",
        "",
    ]
    (found,) = evaluate("reno", against=["reno"], cells=[cell], seeds=2).findings
    assert found.unsaid() == []


def test_a_fixed_window_does_not_react(own_folder: Path) -> None:
    (own_folder / "rules.py").write_text(GENTLE, "utf-8")
    found = evaluate("rules.py:Steady", against=["reno"], cells=[NARROW], seeds=2, allow_code=True)
    (finding,) = found.findings
    # 20 packets of 187.5 ms on a path that holds 0.53: the queue holds 6 of 1250 ms, and the others are lost.
    assert finding.value("loss").ours.mean > 0.3  # type: ignore[operator]
    assert finding.value("loss").against["reno"][0] == "worse"
    assert finding.value("wait_p50").ours.mean > 0.9  # type: ignore[operator]


def test_harm_is_a_share_of_the_performance_alone() -> None:
    alone: Row = {"goodput": 90e6, "delay": 0.05, "completion": 0.2, "share": 1.0}
    mixed: Row = {"goodput": 45e6, "delay": 0.1, "completion": 0.25, "share": 0.45}
    # (90 - 45)/90, (0.1 - 0.05)/0.1, (0.25 - 0.2)/0.25: equations of Ware et al., more and less being better.
    found = harm._harm({"solo": alone, "mixed": mixed})  # noqa: SLF001 - of the package
    assert found == pytest.approx({"goodput": 0.5, "delay": 0.5, "completion": 0.2, "share": 0.45})
    starved = harm._harm({"solo": alone, "mixed": {**mixed, "completion": None}})  # noqa: SLF001
    assert starved["completion"] is None


def test_a_level_is_reached_where_the_mean_of_samples_reaches_it() -> None:
    times, values = [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 9.0, 0.0, 9.0, 9.0]
    assert first_above(times, values, 8.5) == 2.0
    assert first_above(times, values, 8.5, after=2.0) == 4.0
    assert first_above(times, values, 8.5, over=2) == 5.0
    assert first_above(times, values, 9.5) is None


def test_a_retransmission_backs_off_as_rfc_6298_says() -> None:
    """Time-outs at 0.2, 0.6, 1.4, 3, 6.2, 12.6 and 25.4 s: seven in 30 s, an eighth after 51."""
    (cell,) = chosen(EVERY, ["disturbances/outage"])
    assert cell.measures[0].at_most == 7
    found = evaluate("reno", against=[], cells=["disturbances/outage"], seeds=2)
    assert found.counts == {"pass": 1}
    assert 3 <= found.findings[0].value("sent").ours.mean <= 7  # type: ignore[operator]


def test_what_does_not_back_off_fails(longfat: Command, own_folder: Path) -> None:
    """Blitz sends at its rate, whatever is lost."""
    cell = "disturbances/collapse"
    done = longfat("evaluate", "blitz", "--cell", cell, "--seeds", "2", "--against", "reno")
    assert done.returncode == 1, done.stderr
    tree = ET.parse(own_folder / "runs/evaluate-blitz-quick/junit.xml").getroot()  # noqa: S314 - our own
    (suite,) = tree
    (case,) = suite
    assert suite.get("failures") == "1"
    assert "RFC 9743" in str(case.find("failure").get("message"))  # type: ignore[union-attr]
    content = json.loads(
        (own_folder / "runs/evaluate-blitz-quick/evaluate.json").read_text("utf-8")
    )
    assert content["subject"]["network"] == "queue `pushout` on all links"
    (sent,) = content["cells"][0]["measures"]
    assert (sent["judged"], sent["threshold"]) == ("fail", {"at_most": 1.0})
    # At 50 Mbit/s 250 packets of 1500 bytes leave in a round trip of 60 ms.
    assert sent["value"]["mean"] == pytest.approx(250, rel=0.01)


def test_incumbents_run_once_for_all_evaluations() -> None:
    first = evaluate("exp", against=["reno", "cubic"], cells=[NARROW], seeds=2)
    assert (first.spent.runs, first.spent.known) == (6, 0)
    second = evaluate("hstcp", against=["reno", "cubic"], cells=[NARROW], seeds=2)
    assert (second.spent.runs, second.spent.known) == (6, 4)
    for name in ("reno", "cubic"):
        assert (
            first.findings[0].value("used").theirs[name]
            == second.findings[0].value("used").theirs[name]
        )


def test_what_has_no_equations_is_skipped() -> None:
    found = evaluate("cubic", against=["reno"], cells=["equations"], seeds=2)
    assert found.counts == {"skipped": 2}
    assert "has no window law" in str(found.findings[0].why)
    law = evaluate("stcp", against=["reno", "cubic"], cells=["equations/round-trips"], seeds=2)
    # Equal laws have equal windows, whatever the round trip: rates fall with its first power.
    value = law.findings[0].value("exponent")
    assert value.ours.mean == pytest.approx(1.0, abs=1e-6)
    assert law.findings[0].value("apart").against["reno"][0] == "as good"
    assert set(value.theirs) == {"reno"}


def test_laws_that_answer_delay_have_equations_too() -> None:
    found = evaluate("vegas", against=["reno"], cells=["equations/round-trips"], seeds=2)
    # Every flow holds as many segments of the queue, whatever its round trip, and has the same rate.
    assert found.findings[0].value("exponent").ours.mean == pytest.approx(0.0, abs=0.02)
    assert "to the power of 0;" in found.findings[0].story


# Controllers from anywhere


def test_controllers_come_from_anywhere(own_folder: Path, request: pytest.FixtureRequest) -> None:
    longfat_command: Command = request.getfixturevalue("longfat")
    (own_folder / "rules.py").write_text(GENTLE, "utf-8")
    by_name = longfat.evaluate(  # type: ignore[operator]
        "rules.py:gentle", against=["reno"], cells=[NARROW], seeds=2, allow_code=True
    )
    law = longfat.law(name="gentle", parameters={"a": 1.0})(lambda at, p: p.a / at.window)
    law.give_up(lambda at, p, cause: 0.3)
    handed_over = evaluate(law, against=["reno"], cells=[NARROW], seeds=2)
    assert by_name.findings[0].value("used").ours == handed_over.findings[0].value("used").ours
    assert by_name.to_dict()["subject"]["source"] == "python"
    assert len(by_name.to_dict()["subject"]["digest"]) >= 16
    # The digest tells the cache that it is the same code, in another process as well.
    again = longfat_command(
        "evaluate",
        "rules.py:gentle",
        "--allow-code",
        "--against",
        "reno",
        "--cell",
        NARROW,
        "--seeds",
        2,
    )
    assert "4 runs, 4 of them known" in again.stdout
    assert (
        evaluate("reno", cells=[NARROW], against=[], seeds=1).to_dict()["subject"]["digest"] is None
    )


def test_a_controller_has_the_routers_that_it_needs() -> None:
    scenario: dict[str, Any] = {
        "link": {"a": {"rate": "1 Gbit/s"}, "b": {"rate": "2 Gbit/s", "queue": "red"}},
        "flow": [{"control": "blitz", "path": ["a", "b"]}, {"control": "reno", "path": ["b"]}],
    }
    placed = Contender.of("blitz").placed(scenario)
    assert [link["queue"] for link in placed["link"].values()] == ["pushout", "red"]
    assert [group.get("access") for group in placed["flow"]] == ["1 Gbit/s", None]
    assert Contender.of("reno").placed(scenario) == scenario
    scenario["flow"][0]["control"] = "sized-start"
    placed = Contender.of("sized-start").placed(scenario)
    assert placed["link"] == scenario["link"]
    assert [group.get("access") for group in placed["flow"]] == ["1 Gbit/s", None]
    assert "queue" not in scenario["link"]["a"]
    found = evaluate("xcp", against=["reno"], cells=[NARROW], seeds=2)
    assert "with queue `xcp` on all links, which xcp needs; reno" in found.findings[0].story


def test_anti_ecn_is_on_all_links_that_have_a_rate() -> None:
    step = {"rate": "1 Gbit/s", "change": [{"at": "5 s", "rate": "10 Gbit/s"}]}
    links = {"steady": {"rate": "1 Gbit/s"}, "step": step, "cell": {"trace": {"mahimahi": "1 5"}}}
    scenario = {"link": links, "flow": [{"control": "anti-ecn", "path": list(links)}]}
    placed = Contender.of("anti-ecn").placed(scenario)
    assert [link.get("anti_ecn") for link in placed["link"].values()] == [True, True, None]


def test_a_controller_with_settings_has_a_name_of_its_own() -> None:
    assert Contender.of('{ kind = "exp", gamma = 0.1 }').name == "exp (gamma = 0.1)"
    assert Contender.of({"kind": "exp"}).control == "exp"
    assert Contender.of("librules.so:gentle").control == {"library": "librules.so:gentle"}
    assert Contender.of("a/rules.py:gentle").name == "gentle"


def test_code_that_fails_is_told_and_loses_no_other_cell(
    own_folder: Path, longfat: Command
) -> None:
    (own_folder / "rules.py").write_text(BROKEN, "utf-8")
    done = longfat(
        "evaluate",
        "rules.py:Broken",
        "--allow-code",
        "--cell",
        NARROW,
        "--seeds",
        "2",
        "--against",
        "reno",
    )
    assert done.returncode == 1
    assert f"error: {NARROW}: " in done.stderr
    assert "no idea" in done.stderr
    tree = ET.parse(own_folder / "runs/evaluate-Broken-quick/junit.xml").getroot()  # noqa: S314 - our own
    (suite,) = tree
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")


# Wrong input


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["exps"], "did you mean `exp`?"),
        (["exp", "--against", "reno,cubics"], "did you mean `cubic`?"),
        (["exp", "--against", "reno,reno"], "`reno` is an incumbent twice"),
        (["exp", "--cell", "rang"], "there is no cell `rang` at this scale: did you mean `range`?"),
        (["{ kind = "], "is not a table of TOML"),
        (["rules.py:gentle"], "if you trust it, allow code"),
        (["rules.py:gentle", "--allow-code"], "there is no such file"),
        (["exp", "--scale", "huge"], "'huge' is not one of"),
        (["exp", "--seeds", "0"], "0 is not in the range"),
    ],
)
def test_wrong_input_is_refused(
    arguments: list[str], told: str, longfat: Command, own_folder: Path
) -> None:
    done = longfat("evaluate", *arguments)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert list(own_folder.iterdir()) == []


def test_a_single_text_is_one_incumbent_and_one_pattern() -> None:
    prepared = Prepared("exp", against="reno", cells="fairness")
    assert [each.name for each in prepared.against] == ["reno"]
    assert {cell.group for cell in prepared.cells} == {"fairness"}
    (one,) = Prepared("exp", against={"kind": "stcp"}, cells="fairness").against  # type: ignore[arg-type]
    assert one.name == "stcp"


def test_wrong_input_is_refused_in_python() -> None:
    with pytest.raises(EvaluationError, match="there is no scale `huge`"):
        evaluate("exp", scale="huge")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="has from 1 to 10,000 seeds, not 0"):
        evaluate("exp", seeds=0)
    with pytest.raises(EvaluationError, match="a controller has a `kind`"):
        evaluate({"gamma": 1})
    with pytest.raises(ScenarioError, match="did you mean `exp`"):
        evaluate("exps")
    with pytest.raises(TypeError, match="neither a controller nor a queue"):
        evaluate(3)  # type: ignore[arg-type]


def test_patterns_choose_cells() -> None:
    assert [cell.name for cell in chosen(EVERY, [NARROW])] == [NARROW]
    assert {cell.group for cell in chosen(EVERY, ["fairness", NARROW])} == {"fairness", "range"}
    assert len(chosen(EVERY, ["range/1Gbit*"])) >= 2
    assert chosen(EVERY, []) == EVERY


# The folder and the command


def test_the_command_writes_a_folder(longfat: Command, own_folder: Path) -> None:
    done = longfat("evaluate", "exp", "--cell", NARROW, "--seeds", "2", "--against", "reno,cubic")
    assert done.returncode == 0, done.stderr
    folder = own_folder / "runs/evaluate-exp-quick"
    page = (folder / "report.html").read_text("utf-8")
    assert page.count('<th scope="col">against cubic</th>') == 2
    assert "beside cubic" not in page, "nothing runs beside it in this cell"
    names = {path.name for path in folder.iterdir()} - {"report.html"}
    assert names == {".longfat.json", "evaluate.json", "junit.xml", "scenarios"}
    assert "results in runs/evaluate-exp-quick" in done.stdout
    content = json.loads((folder / "evaluate.json").read_text("utf-8"))
    assert content["format"] == "longfat evaluation 1"
    assert content["against"] == ["reno", "cubic"]
    assert (content["scale"], content["seeds"], content["runs"]) == ("quick", 2, 6)
    (cell,) = content["cells"]
    assert cell["story"] in done.stdout
    assert cell["verdict"] in done.stdout
    assert set(cell["against"]) == {"reno", "cubic"}
    for measure in cell["measures"]:
        assert set(measure["incumbents"]) == {"reno", "cubic"}
        assert measure["value"]["n"] == 2
    for chart in cell["charts"]:
        assert [series["name"] for series in chart["series"]] == ["exp", "reno", "cubic"]
        assert all(len(each["t"]) == len(each["v"]) for each in chart["series"])
    tree = ET.parse(folder / "junit.xml").getroot()  # noqa: S314 - our own
    (suite,) = tree
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "0")
    # The scenario of a cell can be run, and an evaluation in the same place replaces the first.
    again = longfat("run", folder / cell["scenario"], "--quiet", "--out", "again")
    assert again.returncode == 0, again.stderr
    once_more = longfat(
        "evaluate", "exp", "--cell", NARROW, "--seeds", "2", "--json", "--against", "reno,cubic"
    )
    assert once_more.returncode == 0, once_more.stderr
    printed = json.loads(once_more.stdout)
    assert printed["cells"] == content["cells"]
    (folder / "mine.txt").write_text("keep", "utf-8")
    refused = longfat("evaluate", "exp", "--cell", NARROW)
    assert refused.returncode == 2
    assert "it holds `mine.txt`" in refused.stderr
    (folder / "mine.txt").unlink()
    (folder / "scenarios/mine.toml").write_text("keep", "utf-8")
    refused = longfat("evaluate", "exp", "--cell", NARROW)
    assert "it holds `scenarios/mine.toml`" in refused.stderr


def test_a_cell_may_have_no_place_for_a_controller(longfat: Command, own_folder: Path) -> None:
    """A failed threshold is a failure; what does not apply is skipped."""
    done = longfat("evaluate", "vcp", "--list")
    assert done.returncode == 0, done.stderr
    assert list(own_folder.iterdir()) == []
    assert longfat("evaluate", "--list").stdout == longfat("evaluate", "reno", "--list").stdout
    assert "Missing argument 'CONTROL'" in longfat("evaluate").stderr
    listed = longfat("evaluate", "exp", "--list", "--scale", "full", "--json")
    rows = json.loads(listed.stdout)
    assert [row["id"] for row in rows] == [cell.name for cell in EVERY]
    assert all(row["core_s"] > 0 and row["runs"] > 0 for row in rows if row["skipped"] is None)


@pytest.mark.parametrize("control", ["anti-ecn", "blitz", "decbit", "sized-start", "vcp", "xcp"])
def test_what_needs_its_routers_has_a_place_or_a_reason_in_every_cell(control: str) -> None:
    prepared = Prepared(control, against=["reno"], scale="full", seeds=1)
    assert len(prepared.refused) < len(prepared.cells) / 4
    assert all(prepared.refused.values())


def test_a_cell_that_may_take_hours_waits_until_it_is_named() -> None:
    cell = "topologies/many-10000"
    prepared = Prepared("blitz", against=["reno"], scale="full", seeds=1)
    assert "minutes of one core; `--cell topologies/many-10000`" in prepared.refused[cell, 0]
    assert cell not in prepared.scenarios
    assert Prepared(
        "blitz", against=["reno"], scale="full", seeds=1, cells=[cell]
    ).scenarios.keys() == {cell}
    assert Prepared("reno", against=["cubic"], scale="full", seeds=1).refused == {}


def test_a_harm_below_zero_is_told_as_a_gain() -> None:
    (cell, *_) = harm.GROUP.make({"cubic": "cubic"})
    values = {"goodput": 0.031, "completion": -0.281, "delay": None, "share": 0.5}
    assert filled(cell.says, "cdg", values, cell.measures) == (
        "flows of cubic lose 3.1 % of their goodput beside cdg, and short ones gain 28.1 % of their speed"
    )
    assert filled(cell.briefly, "cubic", values, cell.measures) == (
        "beside cubic itself they lose 3.1 %, and short ones gain 28.1 %"
    )
