"""`longfat advise`: what it measures, what it picks, and that every number has its run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from longfat.study._advice import Advice, Advised, _picked, _promising
from longfat.study._advice_page import headline
from longfat.study._question import Choice, Question, all_choices, carried, duration_for
from longfat.study._setup import Setup
from longfat.study._statistics import Estimate

if TYPE_CHECKING:
    from support import Command

FAST = ("advise", "--rate", "20Mbit/s", "--rtt", "20ms", "--streams", "1,2", "--duration", "3s", "--seeds", "2",
        "--control", "cubic,reno,stcp", "--closely", "3")  # fmt: skip


@pytest.fixture
def asked(longfat: Command) -> dict[str, Any]:
    done = longfat(*FAST, "--json", "--out", "advice")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_number_has_its_run(longfat: Command, asked: dict[str, Any]) -> None:
    """Each mean is that of the scenario in the folder, run by hand with the same seeds."""
    assert len(asked["looked"]) == 12
    assert len(asked["closely"]) == 3
    first = asked["closely"][0]
    stem = f"advice/{first['control']}-{first['streams']}-{str(first['buffer']).replace(' ', '')}"

    def runs(kind: str) -> list[dict[str, Any]]:
        each = ("run", f"{stem}-{kind}.toml", "--json", "--out", kind)
        return [json.loads(longfat(*each, "--seed", seed).stdout) for seed in (1, 2)]

    used = [run["links"]["bottleneck"]["forward"]["utilisation"] for run in runs("steady")]
    assert first["utilisation"]["mean"] == pytest.approx(sum(used) / 2)
    times = [
        max(flow["start_s"] + flow["completion_s"] for flow in run["flows"])
        - min(flow["start_s"] for flow in run["flows"])
        for run in runs("transfer")
    ]
    assert first["transfer_s"]["mean"] == pytest.approx(sum(times) / 2)
    beside = runs("beside")[0]["flows"]
    assert [flow["name"] for flow in beside][-1] == "other[0]"


def test_the_page_stands_by_itself(asked: dict[str, Any]) -> None:
    assert asked
    page = Path("advice/advice.html").read_text("utf-8")
    assert "<svg" in page
    assert not re.search(r"(?:src|href)=.http", page)
    assert "<script" not in page
    for name in re.findall(r"longfat run (\S+\.toml)", page):
        assert Path("advice", name).is_file()
    assert Path("advice/advice.png").stat().st_size > 10_000


def test_the_answer_is_told_in_words(longfat: Command) -> None:
    done = longfat(*FAST)
    assert done.returncode == 0, done.stderr
    head = r"take \S+ with \d streams? and a buffer of \S+ bdp: [\d.]+ ± [\d.]+ % of the link used;"
    assert re.match(head, done.stdout)
    assert "controller  streams  buffer" in done.stdout
    assert "and the scenario behind each number: runs/advise-20Mbit-20ms" in done.stdout


def test_a_dry_run_tells_how_long_it_takes(longfat: Command, own_folder: Path) -> None:
    done = longfat("advise", "--rate", "100Gbit/s", "--rtt", "100ms", "--loss", "1e-7", "--dry-run")
    assert re.fullmatch(
        r"24 choices, at most about [\d.]+ (?:h|min|d) on this machine\n", done.stdout
    )
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--streams", "0"), "no list of whole numbers from 1 to 10000"),
        (("--streams", "1,x"), "no list of whole numbers"),
        (("--control", "cubik"), "did you mean `cubic`?"),
        (("--beside", "cubik"), "did you mean `cubic`?"),
        (("--control", ","), "names no controller"),
        (("--control", "sized-start"), "such as `--access 10Gbit/s`"),
        (("--control", "xcp", "--queue", "codel"), "or write `--queue xcp`"),
        (("--buffer", "many"), "`buffer` must be a length"),
        (("--loss", "2"), "not in the range"),
        (("--size", "3"), "--size"),
    ],
)
def test_wrong_input_is_refused(
    longfat: Command, own_folder: Path, more: tuple[str, ...], words: str
) -> None:
    done = longfat("advise", "--rate", "20Mbit/s", "--rtt", "20ms", *more)
    assert done.returncode == 2
    assert words in done.stderr
    assert list(own_folder.iterdir()) == []


def test_controllers_have_the_queues_that_they_need() -> None:
    question = Question(Setup("20 Mbit/s", "20 ms", access="1 Gbit/s"), (), "1 MB")
    for control, queue in (("xcp", "xcp"), ("cubic", "drop-tail")):
        choice = Choice(control, 1, "1 bdp")
        for text in (question.steady(choice), question.transfer(choice), question.beside(choice)):
            assert f'queue = "{queue}"' in text
            assert text.count('access = "1 Gbit/s"') == text.count("[[flow]]")


def test_hosts_find_losses_by_time_unless_a_profile_says_otherwise(longfat: Command) -> None:
    path = "--rate 20Mbit/s --rtt 20ms --control reno --streams 1 --buffer 1bdp --size 1MB"
    asked = ("advise", *path.split(), "--duration", "2s", "--seeds", "1", "--quiet")
    assert longfat(*asked, "--out", "rack").returncode == 0
    assert longfat(*asked, "--profile", "quic-9002", "--out", "quic").returncode == 0
    for folder, line in (("rack", 'recovery = "rack"'), ("quic", 'profile = "quic-9002"')):
        found = list(Path(folder).glob("*.toml"))
        assert len(found) == 3
        for scenario in found:
            text = scenario.read_text("utf-8")
            assert text.count(f"\n{line}\n") == text.count("[[flow]]")


def told(
    control: str, used: float, delay: float, kept: float | None = 1.0, *, half: float = 0.0
) -> Advised:
    numbers = {"utilisation": used, "queue_mean_s": delay, "kept": kept, "transfer_s": 10 / used}
    estimates = {name: Estimate(mean, half, 3) for name, mean in numbers.items()}
    return Advised(Choice(control, 1, "1 bdp"), estimates)


QUESTION = Question(Setup("1 Gbit/s", "10 ms"), (), "1 GB", most=3)


def test_the_least_delay_of_those_that_are_busy_and_gentle_is_advised() -> None:
    idle, rough = told("idle", 0.5, 0.0), told("rough", 1.0, 0.001, 0.2)
    fine, late = told("fine", 0.96, 0.004, 0.7), told("late", 0.99, 0.009, 0.9)
    picks, doubts = _picked([idle, rough, fine, late], QUESTION)
    aims = {aim: pick.choice.control for aim, pick in picks.items()}
    assert aims == {
        "advised": "fine",
        "fastest": "rough",
        "least delay": "rough",
        "gentlest": "late",
    }
    assert doubts == []


def test_what_the_seeds_do_not_decide_is_said() -> None:
    one, other = told("one", 0.98, 0.004, half=0.01), told("other", 0.99, 0.005, half=0.01)
    picks, doubts = _picked([one, other], QUESTION)
    assert picks["advised"] is one
    assert doubts == ["not told apart from the advised one by 3 seeds: other, 1 stream, 1 bdp"]
    _, rough = _picked([told("rough", 1.0, 0.001, 0.2)], QUESTION)
    assert rough[0].startswith("none that is busy enough leaves a flow of cubic half")


def spread(
    control: str, used: float, delay: float, kept: float, halves: tuple[float, float]
) -> Advised:
    """As `told`, with the half-widths of the utilisation and of what is kept; the delay is exact."""
    found = told(control, used, delay, kept)
    for name, half in zip(("utilisation", "kept"), halves, strict=True):
        found.numbers[name] = Estimate(found.mean(name), half, 3)
    return found


def test_a_bound_within_an_interval_is_not_decided() -> None:
    """The advised one, and one that would be advised if it passed, by what the other flow keeps."""
    near = spread("bbr3", 0.99, 0.001, 0.496, (0.0, 0.513))
    lucky = spread("copa", 0.98, 0.002, 0.517, (0.0, 0.699))
    slow = spread("reno", 0.97, 0.009, 0.52, (0.0, 0.3))
    rough = spread("exp", 1.0, 0.001, 0.3, (0.0, 0.19))
    picks, doubts = _picked([near, lucky, slow, rough], QUESTION)
    assert picks["advised"] is lucky
    doubt = (
        "3 seeds do not decide which of these leave a flow of cubic half of what it has beside its like, "
        "and more seeds would: bbr3, 1 stream, 1 bdp (49.6 ± 51.3 %); copa, 1 stream, 1 bdp (51.7 ± 69.9 %)"
    )
    assert doubts == [doubt]
    found = Advice(QUESTION, (), (near, lucky), picks, tuple(doubts))
    assert found.as_dict()["doubts"] == doubts


def test_a_utilisation_may_not_be_decided_either() -> None:
    # 95 % of 0.98 ± 0.02 is 0.931 ± 0.019: within 0.03 of 0.89, but not within 0.01 of 0.9.
    busiest = spread("one", 0.98, 0.005, 0.9, (0.02, 0.0))
    near, idle = (
        spread(name, used, 0.001, 0.9, (half, 0.0))
        for name, used, half in (("near", 0.89, 0.03), ("idle", 0.9, 0.01))
    )
    picks, doubts = _picked([busiest, near, idle], QUESTION)
    assert picks["advised"] is busiest
    doubt = (
        "3 seeds do not decide which of these use 95 % of what one, 1 stream, 1 bdp uses (98.0 ± 2.0 %), "
        "and more seeds would: near, 1 stream, 1 bdp (89.0 ± 3.0 %)"
    )
    assert doubts == [doubt]


def test_where_none_passes_all_that_may_do_so_are_named() -> None:
    near = spread("near", 0.99, 0.009, 0.45, (0.0, 0.06))
    _, doubts = _picked([spread("rough", 1.0, 0.001, 0.2, (0.0, 0.1)), near], QUESTION)
    assert doubts[0].startswith("none that is busy enough leaves a flow of cubic half")
    assert doubts[1].endswith(": near, 1 stream, 1 bdp (45.0 ± 6.0 %)")


def test_what_is_left_to_the_other_may_be_unknown() -> None:
    unknown, rough = told("unknown", 1.0, 0.001, None), told("rough", 1.0, 0.002, 0.2)
    picks, doubts = _picked([unknown], QUESTION)
    assert set(picks) == {"advised", "fastest", "least delay"}
    assert len(doubts) == 1
    assert doubts[0].startswith("what a flow of cubic keeps is unknown")
    found = Advice(QUESTION, (), (unknown,), picks, tuple(doubts))
    assert "what a flow of cubic beside it keeps is unknown" in headline(found)
    picks, doubts = _picked([unknown, rough], QUESTION)
    assert picks["gentlest"] is rough
    assert [doubt.partition(" of cubic")[0] for doubt in doubts] == [
        "none that is busy enough leaves a flow",
        "what a flow",
    ]


def test_the_best_of_each_controller_is_looked_at_closely() -> None:
    looked = [
        told("a", 0.99, 0.004),
        told("a", 0.5, 0.0),
        told("b", 0.98, 0.009),
        told("c", 0.4, 0.1),
    ]
    looked = [
        Advised(each.choice._replace(streams=at + 1), each.numbers)
        for at, each in enumerate(looked)
    ]
    kept = _promising(looked, QUESTION)
    assert [(choice.control, choice.streams) for choice in kept] == [("a", 1), ("b", 3), ("c", 4)]


def test_defaults_suit_the_path() -> None:
    assert [duration_for(rtt) for rtt in ("1 ms", "100 ms", "1 s")] == ["20 s", "30 s", "120 s"]
    assert carried("100 Gbit/s", "30 s") == "400 GB"
    assert len(all_choices(["a", "a", "b"], [1, 2], ["1 bdp"])) == 4
