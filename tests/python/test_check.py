"""`longfat check`: every promise in words, and the shortest sequence of events that breaks one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import longfat as package
from class_reno import ClassReno
from own_support import CLASS, LAWS, build
from support import ROOT

if TYPE_CHECKING:
    from longfat.own import Congestion, Feedback
    from longfat.own import Path as Route
    from support import Command

HELD_BY_ALL = [
    "runs",
    "window",
    "threshold",
    "pacing",
    "repeats",
    "time-out",
    "any start",
    "floor",
    "endures",
]

RULES = f"""{CLASS}

class Eager(ClassReno):
    def on_feedback(self, feedback, path):
        self.window += 2.0 * feedback.acked
"""


def variant(title: str, /, **members: Any) -> type[ClassReno]:
    return type(title, (ClassReno,), members)


def broken(cls: type[ClassReno], **how: Any) -> dict[str, package.conformance.Promise]:
    checked = package.check(cls, cases=60, **how)
    assert checked.ok == (not checked.broken)
    assert bool(checked) == checked.ok
    return {promise.name: promise for promise in checked.broken}


def test_a_sound_class_keeps_all_its_promises() -> None:
    checked = package.check(ClassReno, cases=60)
    assert checked.ok, str(checked)
    assert [promise.name for promise in checked.promises[:9]] == HELD_BY_ALL
    assert [promise.name for promise in checked.promises[9:]] == [
        "any batching",
        "additive",
        "doubles at most",
        "forgetful",
    ]
    assert "class-reno: all 13 promises are kept (60 sequences of events, seed 1)" in str(checked)
    assert len(package.check(variant("Silent", promises=()), cases=10).promises) == 9


@pytest.mark.parametrize("control", [each["name"] for each in package.controllers()])
def test_every_controller_of_longfat_keeps_its_promises(control: str) -> None:
    checked = package.check(control, seed=7, cases=20)
    assert checked.ok, str(checked)
    assert bool(checked.promises) == (control != "blitz")


def test_a_window_that_grows_too_fast_is_shown_by_one_acknowledgment() -> None:
    def eager(self: Any, feedback: Feedback, path: Route) -> None:
        if feedback.may_grow:
            self.window += 3 * feedback.acked

    found = broken(variant("Eager", on_feedback=eager))
    assert set(found) == {"doubles at most"}
    promise = found["doubles at most"]
    assert promise.happened == "1 acknowledged added 3"
    assert promise.window == 10.0
    (step,) = promise.events
    assert (step.now_s, step.event, step.window) == (
        0.1,
        "acknowledgment of 1 segment, 10 in flight",
        13.0,
    )
    assert "1. 0.1 s: acknowledgment of 1 segment, 10 in flight → window 13" in str(promise)


def test_what_takes_two_events_is_shown_by_two() -> None:
    def twice(self: Any, event: Congestion, path: Route) -> None:
        if event.cause == "loss" and getattr(self, "lost", False):
            self.window += 1
        self.lost = event.cause == "loss"
        self.threshold = self.window

    promise = broken(variant("Twice", on_congestion=twice, promises=("additive",)))["additive"]
    assert promise.happened == "a loss raised the window from 10 to 11"
    assert [step.event for step in promise.events] == ["congestion: a loss, 10 in flight"] * 2


def test_an_exception_is_a_broken_promise_with_its_place() -> None:
    def fail(self: Any, event: Congestion, path: Route) -> None:
        message = "no idea"
        raise LookupError(message)

    promise = broken(variant("Failing", on_congestion=fail))["runs"]
    assert "`on_congestion` raised LookupError: no idea (test_check.py, line" in str(
        promise.happened
    )
    assert len(promise.events) == 1


def test_what_does_not_repeat_is_found() -> None:
    shared = {"calls": 0}

    def remember(self: Any, event: Congestion, path: Route) -> None:
        shared["calls"] += 1
        self.threshold = self.window = 2.0 + shared["calls"]

    assert "repeats" in broken(variant("Shared", on_congestion=remember, promises=()))


def test_the_same_seed_finds_the_same() -> None:
    def odd(self: Any, feedback: Feedback, path: Route) -> None:
        self.window = 0.5 if feedback.sacked > 20 and feedback.acked > 8 else 10.0

    cls = variant("Odd", on_feedback=odd, promises=())
    first, again = (package.check(cls, seed=3, cases=60) for _ in range(2))
    assert first == again
    assert not first.ok
    progress: list[float] = []
    package.check("reno", cases=500, progress=progress.append)
    assert all(0 <= share <= 1 for share in progress)


def test_only_controllers_are_checked() -> None:
    with pytest.raises(ValueError, match=r"called `cubik`: did you mean `cubic`\?"):
        package.check("cubik")
    for cases in (-1, 0, 2**80):
        with pytest.raises(ValueError, match=r"ask for 1 to 1,000,000 cases"):
            package.check("cubic", cases=cases)
    with pytest.raises(TypeError, match="neither a controller nor a queue"):
        package.check(3)  # type: ignore[arg-type]


@pytest.fixture
def rules() -> str:
    Path("rules.py").write_text(RULES, encoding="utf-8")
    return "rules.py"


def test_the_command_ends_with_what_it_found(longfat: Command, rules: str) -> None:
    good = longfat("check", f"{rules}:ClassReno")
    assert (good.returncode, good.stderr) == (0, "")
    assert "class-reno: all 13 promises are kept (200 sequences of events, seed 1)" in good.stdout
    assert longfat("check", "rules:ClassReno", "--cases", "5").returncode == 0
    bad = longfat("check", f"{rules}:Eager", "--seed", "4", "--cases", "50")
    assert bad.returncode == 1
    assert "BROKEN  doubles at most" in bad.stdout
    assert "expected: no acknowledged segment adds more than one" in bad.stdout
    assert "happened: 1 acknowledged added 2" in bad.stdout
    assert "(50 sequences of events, seed 4)" in bad.stdout


def test_the_command_prints_json(longfat: Command, rules: str) -> None:
    done = longfat("check", f"{rules}:Eager", "--json", "--cases", "50")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert (told["controller"], told["ok"], told["seed"], told["cases"]) == ("eager", False, 1, 50)
    promise = next(each for each in told["promises"] if each["name"] == "doubles at most")
    assert not promise["kept"]
    assert promise["events"] == [
        {"now_s": 0.1, "event": "acknowledgment of 1 segment, 10 in flight", "window": 12.0}
    ]
    fine = json.loads(longfat("check", "reno", "--json").stdout)
    assert fine["ok"]
    assert all(each["kept"] for each in fine["promises"])


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("cubik", "did you mean `cubic`?"),
        ("rules.py", "say which controller in it"),
        ("rules.py:Nothing", "there is no `Nothing` in it"),
        ("rules.py:longfat", "neither a controller nor a queue"),
        ("missing.py:ClassReno", "there is no such file"),
        ("missing.so", "there is no such file"),
        ("rules.py:ClassReno --cases 0", "0 is not in the range"),
    ],
)
def test_wrong_input_ends_with_2(longfat: Command, rules: str, subject: str, words: str) -> None:
    assert rules == "rules.py"
    done = longfat("check", *subject.split())
    assert done.returncode == 2
    assert words in done.stderr.replace("\n", " ")


def test_libraries_are_checked(longfat: Command, tmp_path: Path) -> None:
    laws = build(tmp_path / "liblaws.so")
    cubic = build(tmp_path / "libcubic.so", source=ROOT / "examples/c-cubic/cubic.c")
    only = longfat("check", cubic, "--cases", "50")
    assert (only.returncode, only.stderr) == (0, "")
    assert "promises are kept (50 sequences of events, seed 1)" in only.stdout
    again = longfat("check", cubic, "--cases", "50", "--allow-code")
    assert (again.returncode, again.stdout) == (0, only.stdout), "allowed once more"
    chosen = longfat("check", f"{laws}:c-own-reno", "--json", "--cases", "50")
    assert chosen.returncode == 0
    assert json.loads(chosen.stdout)["controller"] == "c-own-reno"


@pytest.mark.parametrize(
    ("name", "happened"),
    [
        ("c-bad", "`gain` is NaN at a window of"),
        ("c-bad-window", "`window` is -1: a finite number of segments from 1 up is needed"),
    ],
)
def test_a_library_that_breaks_a_promise_is_shown(
    longfat: Command, tmp_path: Path, name: str, happened: str
) -> None:
    done = longfat("check", f"{build(tmp_path / 'liblaws.so')}:{name}", "--cases", "50")
    assert done.returncode == 1
    assert "BROKEN  runs" in done.stdout
    assert happened in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "it has several: add a name after a colon. There is c-reno (controller),"),
        (":none", "it has no controller called `none`: there is c-reno (controller),"),
        (":c-step", "it has no controller called `c-step`"),
    ],
)
def test_a_library_without_such_a_controller_ends_with_2(
    longfat: Command, tmp_path: Path, name: str, words: str
) -> None:
    done = longfat("check", f"{build(tmp_path / 'liblaws.so')}{name}")
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"parameters": {"a": (5.0, 0.0, 1.0)}}, "`a` must be a number from 0 to 1"),
        ({"parameters": {"kind": 1.0}}, "no parameter can be called that"),
        ({"parameters": {"wait": "soon"}}, "`soon` is not a time"),
        ({"name": "two words"}, "`two words` cannot be the name of a controller"),
        ({"name": "red\x1b[31m"}, r"the controller `red\\u\{1b\}\[31m` cannot be chosen"),
        ({"name": "cubic"}, "there is already a controller called `cubic`"),
    ],
)
def test_what_no_scenario_can_choose_is_refused(members: dict[str, Any], words: str) -> None:
    """As a run refuses it, and not as a mistake of longfat."""
    unfit = variant("Unfit", **members)
    with pytest.raises(ValueError, match=words):
        package.check(unfit, cases=1)
    with pytest.raises(ValueError, match=words):
        package.run(ROOT / "scenarios/first.toml", controllers=[unfit])


def test_a_parameter_without_a_default_has_values_that_it_may_have(tmp_path: Path) -> None:
    """Whatever may be below zero, `gain` may not, so a law of nothing else breaks a promise."""
    text = LAWS.read_text("utf-8")
    change = '{"a", "segments per round trip", NULL, 1.0, 0.0, 100.0, LONGFAT_NUMBER}'
    assert change in text
    for least, most, promises in (("0.5", "1.0", 0), ("-3.0", "-2.0", 1)):
        source = tmp_path / f"needed{promises}.c"
        needed = change.replace("1.0, 0.0, 100.0", f"NAN, {least}, {most}")
        source.write_text(text.replace(change, needed), "utf-8")
        found = package.load_library(build(tmp_path / f"libneeded{promises}.so", source=source))
        (law,) = [each for each in found if each.name == "c-aimd"]
        checked = package.check(law, cases=30)
        assert len(checked.broken) == promises, str(checked)


def test_a_directory_is_no_library_and_no_file(longfat: Command, tmp_path: Path) -> None:
    for name, said in {
        "rules.so": "is a directory: a library is a file",
        "rules.py:mine": "is a directory: name a file in it",
    }.items():
        (tmp_path / name.split(":")[0]).mkdir()
        done = longfat("check", str(tmp_path / name), "--allow-code")
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())
