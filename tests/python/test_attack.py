"""The search for the path on which a controller fails."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import longfat
from longfat.attack import GOALS, Bounds, Challenge, Change, Cross, Ground, Wave, find
from longfat.attack._arena import Arena
from longfat.attack._genome import Genome, rounded
from longfat.attack._search import Found, search
from longfat.attack._shrink import plainer, rounder, shrunk
from longfat.commands import main
from longfat.errors import AttackError, ScenarioError
from longfat.own import NOTHING

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command

SHORT: dict[str, Any] = {"duration": "4 s", "rate": "5 Mbit/s", "confirmations": 4}
RICH = Challenge(
    rtt_s=0.0487,
    buffer_bdp=0.123,
    loss=0.00123,
    jitter_s=0.00234,
    ordered=False,
    flows=3,
    rtt_ratio=2.5,
    spread_s=0.7,
    changes=(Change(1.23, rate=0.321, delay_s=0.0123, loss=0.0456), Change(2.34, delay_s=0.0234)),
    wave=None,
    cross=Cross("on-off", 0.234, 0.456, 0.567),
)


def parsed(text: str, changes: tuple[str, ...] = ()) -> str:
    """A scenario as it was understood."""
    return longfat.scenario.read(text, changes=changes)[0].to_toml()


def test_every_point_of_the_cube_is_a_scenario() -> None:
    ground = Ground(20_000_000, 5.0)
    genome = Genome(ground)
    chance = random.Random(1)  # noqa: S311 - to be repeatable, not secret
    corners = [[0.0] * genome.size, [1.0] * genome.size]
    for point in corners + [[chance.random() for _ in range(genome.size)] for _ in range(200)]:
        challenge = genome.challenge(point)
        parsed(ground.text(challenge, "reno", 1))
        assert 0.01 <= challenge.rtt_s <= 0.3
        assert 0.02 <= challenge.buffer_bdp <= 8
        assert 1 <= challenge.flows <= 4
        assert all(0.1 <= (change.rate or 1) <= 1 for change in challenge.changes)
        assert all(change.at_s < 0.9 * 5 + 1e-9 for change in challenge.changes)
        assert challenge.wave is None or all(change.rate is None for change in challenge.changes)


def test_the_least_of_everything_is_the_plainest_path() -> None:
    assert Genome(Ground()).challenge([0.0] * 27) == Challenge(rtt_s=0.01, buffer_bdp=0.02)


def test_bounds_take_away_what_a_path_may_have() -> None:
    genome = Genome(Ground(), Bounds(changes=0, wave=False, cross=(), flows=(2, 2)))
    challenge = genome.challenge([1.0] * genome.size)
    assert (challenge.changes, challenge.wave, challenge.cross) == ((), None, None)
    assert challenge.flows == 2


def test_a_scenario_says_what_the_challenge_is() -> None:
    """Worked out by hand: 20 Mbit/s times 0.321, half of 48.7 ms plus 12.3 ms."""
    text = Ground(20_000_000, 5.0).text(RICH, "reno", 7)
    for line in (
        'delay = "24.35 ms"',
        'buffer = "0.123 bdp"',
        "loss = 0.00123",
        'jitter = { most = "2.34 ms", ordered = false }',
        '  { at = "1.23 s", rate = "6.42 Mbit/s", delay = "36.65 ms", loss = 0.0456 },',
        'rtt = { spread = ["48.7 ms", "121.75 ms"] }',
        'start = { spread = ["0 s", "700 ms"] }',
        'application = { kind = "on-off", rate = "4.68 Mbit/s", on = "456 ms", off = "567 ms" }',
    ):
        assert line in text.splitlines(), text
    wave = Ground(20_000_000, 5.0).text(Challenge(wave=Wave(0.5, 0.2, 0.25)), "reno", 7)
    assert '{ at = "500 ms", every = "500 ms", rate = "5 Mbit/s" },' in wave
    assert '{ at = "700 ms", every = "500 ms", rate = "20 Mbit/s" },' in wave


@pytest.mark.parametrize(
    "changes",
    [
        ("link.bottleneck.queue=codel",),
        (
            "link.bottleneck.buffer=50 packets",
            "link.bottleneck.queue=red",
            "link.bottleneck.queue.max_p=0.02",
            "link.bottleneck.queue.max=20 packets",
            "link.bottleneck.queue.min=5 packets",
        ),
        ("flow.subject.recovery=rack", "flow.1.packet=3000 B"),
        ("flow.0.profile=linux-6", "duration=3 s"),
        ("flow.*.recovery=rack", "link.*.buffer=100 packets"),
    ],
)
def test_fields_are_set_as_on_any_command_line(changes: tuple[str, ...]) -> None:
    plain = Ground(20_000_000, 5.0)
    ground = Ground.with_changes(20_000_000, 5.0, changes)
    assert parsed(ground.text(RICH, "reno", 1)) == parsed(plain.text(RICH, "reno", 1), changes)


@pytest.mark.parametrize("change", ["rate", "flow.nobody.packet=500 B", "=1", "seed.x.y=2"])
def test_a_field_that_is_not_there_is_refused(change: str) -> None:
    with pytest.raises(ScenarioError, match=r"sets nothing|cannot be set"):
        Ground.with_changes(20_000_000, 5.0, [change]).text(RICH, "reno", 1)


def flow(name: str, rate: float, **more: float) -> dict[str, Any]:
    told = {"name": name, "goodput_bit_s": rate, "rtt_s": 0.1, "queueing_delay_mean_s": 0.0}
    return told | {"data_sent": 0, "data_dropped": 0} | more


@pytest.mark.parametrize(
    ("goal", "flows", "value", "badness"),
    [
        # Three long flows on 9 Mbit/s: 3 each; the slowest of the controller has 1.
        ("starve", [("subject[0]", 1e6), ("subject[1]", 4e6), ("cross[0]", 4e6)], 1 / 3, 2 / 3),
        ("starve", [("subject[0]", 9e6)], 1.0, 0.0),
        ("unfair", [("subject[0]", 4e6), ("subject[1]", 0.0)], 0.0, 1.0),
        ("unfair", [("subject[0]", 4e6), ("subject[1]", 4e6)], 1.0, 0.0),
        # (3 + 1)² / (2 · (9 + 1)) = 0.8, of which a half is the least that two flows can have.
        ("unfair", [("subject[0]", 3e6), ("subject[1]", 1e6)], 0.6, 0.4),
        ("unfair", [("subject[0]", 3e6)], 1.0, 0.0),
    ],
)
def test_goals_by_hand(
    goal: str, flows: list[tuple[str, float]], value: float, badness: float
) -> None:
    summary = {"flows": [flow(*each) for each in flows]}
    found = GOALS[goal].measure(summary, 9e6)
    assert found == pytest.approx(value)
    assert GOALS[goal].badness(found) == pytest.approx(badness)


def test_more_goals_by_hand() -> None:
    waits = {"queueing_delay_mean_s": 0.3, "data_sent": 100, "data_dropped": 7}
    flows = [flow("subject[0]", 1e6, **waits), flow("subject[1]", 1e6, data_sent=100)]
    summary = {"flows": flows, "links": {"bottleneck": {"forward": {"utilisation": 0.25}}}}
    assert GOALS["queue"].measure(summary, 1e6) == pytest.approx((0.75 + 0) / 2)
    assert GOALS["loss"].measure(summary, 1e6) == pytest.approx(7 / 200)
    assert GOALS["underuse"].badness(GOALS["underuse"].measure(summary, 1e6)) == 0.75


def test_sources_count_neither_as_starved_nor_as_rich() -> None:
    """A source that writes little takes no equal share from the others."""
    summary = {
        "flows": [flow("subject[0]", 8e6), flow("cross[0]", 1e6)],
        "applications": {"cross": {}},
    }
    assert GOALS["starve"].measure(summary, 8e6) == pytest.approx(1.0)
    assert GOALS["unfair"].measure(summary, 8e6) == 1.0


def test_a_controller_does_no_worse_than_itself() -> None:
    ground = Ground(5_000_000, 3.0)
    for goal in GOALS.values():
        with Arena(ground, goal, ("cubic", "cubic"), NOTHING) as arena:
            pair = arena.scores([replace(RICH, changes=())], 1)[0]
            assert pair.error is None
            assert pair.score == 0.0


def test_plainer_challenges_have_less_in_them() -> None:
    def content(challenge: Challenge) -> Any:
        parts = [each for change in challenge.changes for each in vars(change).values()]
        plain = Challenge()
        differs = [getattr(challenge, name) != value for name, value in vars(plain).items()]
        return sum(each is not None for each in parts) + sum(differs)

    # A part of a change may move to the start instead of going.
    assert all(content(each) <= content(RICH) for _, each in plainer(RICH))
    assert all(len(repr(each)) <= len(repr(RICH)) for _, each in rounder(RICH))


def test_what_does_not_matter_goes() -> None:
    """It needs losses of more than 0.1 % and at least two flows: 0.00123 becomes neither 0.001 nor 0.002."""

    def fails(challenge: Challenge) -> bool:
        return challenge.loss > 0.001 and challenge.flows > 1

    plain = shrunk(RICH, fails)
    assert plain == Challenge(rtt_s=0.05, loss=0.0012, flows=2)
    assert shrunk(RICH, lambda _: False) == RICH


def test_rounding() -> None:
    assert rounded(0.012345) == 0.0123
    assert rounded(98765.0, 1) == 100000.0


def course(cores: int, seed: int = 3) -> list[tuple[int, float]]:
    ground = Ground(5_000_000, 2.0)
    with Arena(ground, GOALS["loss"], ("bbr1", "cubic"), NOTHING, cores) as arena:
        return search(arena, Genome(ground), trials=60, seed=seed).course


def test_a_search_is_the_same_on_any_number_of_cores_and_draws_from_nobody() -> None:
    np.random.seed(5)  # noqa: NPY002 - the generator that the optimiser must leave alone
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    alone = course(1)
    assert np.random.random() == expected  # noqa: NPY002
    assert alone == course(3)
    assert alone != course(1, seed=4)
    assert [score for _, score in alone] == sorted(score for _, score in alone)


def test_the_clock_ends_a_search() -> None:
    ground = Ground(5_000_000, 2.0)
    with Arena(ground, GOALS["loss"], ("reno", "cubic"), NOTHING) as arena:
        found = search(arena, Genome(ground), trials=10**6, seed=1, seconds=0.0)
    assert 0 < found.trials < 100


@pytest.fixture(scope="module")
def bbr1() -> longfat.attack.Attack:
    return find("bbr1", "loss", trials=120, **SHORT)


def test_an_attack_is_reproducible_from_its_file(
    bbr1: longfat.attack.Attack, own_folder: Path
) -> None:
    folder = bbr1.save(own_folder / "out")
    assert {path.name for path in folder.iterdir()} == {
        ".longfat.json",
        "attack.json",
        "winner.png",
        "winner.toml",
    }
    told = json.loads((folder / "attack.json").read_text())
    for key, changes in (("value", {}), ("against", {"flow.subject.control": "cubic"})):
        for outcome in told["outcomes"]:
            run = longfat.run(folder / "winner.toml", seed=outcome["seed"], set=changes)
            flows = run.summary["flows"][: bbr1.challenge.flows]
            sent = sum(flow["data_sent"] for flow in flows)
            dropped = sum(flow["data_dropped"] for flow in flows)
            assert dropped / sent == outcome[key]
    assert longfat.run(folder / "winner.toml").summary["seed"] == told["outcomes"][0]["seed"]


def test_what_is_found_holds_for_seeds_that_no_trial_had(bbr1: longfat.attack.Attack) -> None:
    assert bbr1.failed
    assert min(pair.seed for pair in bbr1.outcomes) > bbr1.seed + 4
    assert "of its packets are dropped. With cubic in its place" in str(bbr1)


def test_a_controller_does_not_fail_against_itself() -> None:
    found = find("reno", "loss", against="reno", trials=10, **SHORT)
    assert not found.failed
    assert found.score.mean == 0.0
    assert str(found).startswith("Nothing was found in 10 trials.")


def test_a_controller_of_ones_own_is_attacked() -> None:
    @longfat.law(name="never")
    def never(at: Any, p: Any) -> Any:
        return 0.0 * at.window

    @never.give_up
    def give_up(at: Any, p: Any, cause: Any) -> float:
        return 0.9

    found = find(never, "underuse", trials=30, **SHORT)
    assert found.controller == "never"
    assert found.failed


@pytest.mark.parametrize(
    ("controller", "goal", "more", "message"),
    [
        ("reno", "loses", {}, "no goal `loses`: did you mean `loss`"),
        ("reno", "loss", {"trials": 0}, "at least 1 trial"),
        ("blitz", "loss", {}, r"flow\.subject\.KEY"),
        ("renno", "loss", {}, "did you mean"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    controller: str, goal: str, more: dict[str, Any], message: str
) -> None:
    with pytest.raises((AttackError, ScenarioError), match=message):
        find(controller, goal, **more)


def test_ctrl_c_keeps_what_was_found(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = Found.add

    def add(found: Found, *trial: Any) -> None:
        count(found, *trial)
        if found.trials == 50:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Found, "add", add)
    endless = ("--rate", "2Mbit/s", "--duration", "2s", "--trials", "9999999")
    with pytest.raises(SystemExit) as ended:
        main(["attack", "reno", "--goal", "loss", *endless, "--out", "kept", "--json"])
    assert ended.value.code == 130
    told = json.loads(capsys.readouterr().out)
    assert told["search"]["interrupted"]
    assert told["search"]["trials"] == 50
    assert len(told["outcomes"]) == 10
    assert told == json.loads((own_folder / "kept/attack.json").read_text())


def test_ctrl_c_stops_what_is_running() -> None:
    """A batch that would take a day ends at once, and the next one can be run."""
    day = Ground(1_000_000_000, 100_000.0)
    with Arena(day, GOALS["loss"], ("reno", "cubic"), NOTHING) as arena:
        threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            arena.scores([Challenge(), Challenge(loss=0.1)], 1)
        assert time.monotonic() - begun < 20
        arena.ground = Ground(1_000_000, 1.0)
        assert arena.scores([Challenge()], 1)[0].error is None


def test_the_command(longfat: Command, own_folder: Path) -> None:
    arguments = ("--goal", "loss", "--trials", 20, "--duration", "2s", "--rate", "5Mbit/s")
    done = longfat("attack", '{kind="fiber", alpha=0.5}', *arguments, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    folder = own_folder / "runs/attack-fiber-alpha-0.5-loss"
    assert told == json.loads((folder / "attack.json").read_text())
    assert told["controller"] == "fiber, alpha = 0.5"
    refused = longfat("attack", "rules.py:gentle", *arguments)
    assert refused.returncode == 2
    assert "--allow-code" in refused.stderr
