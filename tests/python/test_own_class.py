"""Controllers that are classes in plain Python."""

from __future__ import annotations

import ast
import concurrent.futures
import copy
import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path as FilePath
from typing import Any

import polars as pl
import pytest

import longfat
from class_reno import ClassReno
from longfat import _longfat
from longfat.own import Congestion, Feedback, Path, Start
from longfat.own._class import labelled
from longfat.own._code import Code
from longfat.study import Cache, Measured, Point, run_points, study
from own_support import CLASS, OWN, against_reno, cluster, same_as_reno
from support import SMALL, Command

CHOSEN = {"flow.forward.control": "halving"}


class Halving(ClassReno):
    """Reno, written like the law of longfat.

    The rest is no title.
    """


def variant(title: str, /, **members: Any) -> type[Halving]:
    return type(title, (Halving,), members)


def run(cls: type[longfat.Controller], **changes: Any) -> longfat.Run:
    name = cls.__longfat__().name
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return longfat.run(SMALL, controllers=[cls], set={"flow.forward.control": name, **changed})


def told(summary: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**flow, "control": None} for flow in summary["flows"]]


TRANSPORTS: dict[str, dict[str, Any]] = {
    "slow start": {"slow_start": "limited"},
    "trains": {"slow_start": "hystart"},
    "round trips": {"slow_start": "hystart++"},
    "spread": {"pacing": "spread", "send_quantum": 3},
    "rate": {"pacing": {"rate": "200 /s"}},
    "blocks": {"pacing": {"blocks": 3}},
    "loose blocks": {"pacing": {"loose_blocks": 3}},
    "time": {"recovery": "rack", "initial_window": 3, "initial_threshold": 40},
    "numbers": {"recovery": "quic", "delayed_ack": True},
    "pauses": {
        "window_validation": "rfc7661",
        "application": {"kind": "on-off", "rate": "4 Mbit/s", "on": "300 ms", "off": "900 ms"},
    },
    "growth": {"window_validation": "ratelimited-increase", "max_window": 20},
    "known path": {"careful_resume": {"window": 200, "rtt": "60 ms"}},
    "receiver": {"receive_window": "30 packets", "delayed_ack": True, "ack_every": 4},
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("queue", ["drop-tail", "red"])
def test_reno_in_python_is_reno_to_the_byte(queue: str, transport: str) -> None:
    changes = {
        "link.bottleneck.queue": queue,
        "duration": "20 s",
        **{f"flow.forward.{key}": value for key, value in TRANSPORTS[transport].items()},
    }
    mine = longfat.run(SMALL, controllers=[Halving], set=CHOSEN | changes)
    theirs = longfat.run(SMALL, set=changes)
    assert told(mine.summary) == told(theirs.summary)
    assert mine.summary["links"] == theirs.summary["links"]
    assert mine.flow_series.to_polars().equals(theirs.flow_series.to_polars())


def test_a_class_describes_itself() -> None:
    handle = Halving.__longfat__()
    assert (handle.name, handle.kind, handle.is_law) == ("halving", "controller", False)
    assert handle.describe()["title"] == "Reno, written like the law of longfat."
    assert variant("HTTPRule2").__longfat__().name == "http-rule2"
    named = variant("Other", name="another", source="me")
    assert named.__longfat__().describe()["source"] == "me"


def test_parameters_are_checked_and_handed_over() -> None:
    seen: list[Any] = []

    def begin(self: Any, start: Start, p: Any) -> None:
        seen.append((p.a, p.b, p.n, p.on, p.target, p.mode, start.window, self.p is p))

    parameters = {
        "a": 1.5,
        "b": (0.5, 0.0, 1.0),
        "n": 3,
        "on": True,
        "target": "25 ms",
        "mode": ("quick", "slow"),
    }
    cls = variant("Rule", parameters=parameters, __init__=begin)
    run(cls)
    assert seen[0] == (1.5, 0.5, 3, True, 0.025, "quick", 10.0, True)
    seen.clear()
    chosen = {
        "kind": "rule",
        "a": 2,
        "b": 0.25,
        "n": 4,
        "on": False,
        "target": "1 s",
        "mode": "slow",
    }
    longfat.run(SMALL, controllers=[cls], set={"flow.forward.control": chosen})
    assert seen[0] == (2.0, 0.25, 4, False, 1.0, "slow", 10.0, True)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"b": 2}, "from 0 to 1"),
        ({"n": 1.5}, "whole number"),
        ({"mode": "slo"}, "slow"),
        ({"c": 1}, "no parameter `c`"),
    ]
    for wrong, words in cases:
        with pytest.raises(longfat.ScenarioError, match=words):
            longfat.run(
                SMALL, controllers=[cls], set={"flow.forward.control": {"kind": "rule", **wrong}}
            )


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"parameters": {"a": object()}}, "the parameter `a` of the controller `rule`"),
        ({"parameters": {"kind": 1.0}}, "`kind`"),
        ({"parameters": {"a": (2.0, 0.0, 1.0)}}, "`a`"),
        ({"parameters": {"t": "soon"}}, "soon"),
        ({"wants": "rate"}, "`wants` of the controller `rule` has `rate`: there are delivery_rate"),
        ({"needs": ["ecn", "luck"]}, "`luck`"),
        ({"promises": 3}, "no list of words"),
        ({"name": "my rule"}, "my rule"),
        ({"name": "reno"}, "already a controller called `reno`"),
        ({"name": 3}, "no text"),
        ({"__init__": lambda self: None}, r"`__init__\(self, start, p\)` would be: too many"),
    ],
)
def test_a_class_that_says_nonsense_is_refused(members: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        longfat.run(SMALL, controllers=[variant("Rule", **members)])


def test_a_class_without_its_methods_is_refused() -> None:
    empty: Any = type("Empty", (longfat.Controller,), {})
    with pytest.raises(TypeError, match="`empty` has no method `on_feedback`"):
        longfat.run(SMALL, controllers=[empty])
    with pytest.raises(TypeError, match="derive from"):
        longfat.run(SMALL, controllers=[longfat.Controller])


def test_what_a_class_raises_is_its_own_traceback_with_flow_and_time() -> None:
    def more(self: Any, feedback: Feedback, path: Path) -> None:
        if feedback.now > 0.5:
            list[int]()[3]

    with pytest.raises(longfat.CodeError) as caught:
        run(variant("Bad", on_feedback=more))
    message = str(caught.value)
    assert "the controller `bad`, flow forward[" in message
    assert (
        "`on_feedback` raised IndexError: list index out of range (test_own_class.py, line"
        in message
    )
    assert 0.5 < float(message.split("after ")[1].split(" s:", maxsplit=1)[0]) < 0.6
    cause = caught.value.__cause__
    assert isinstance(cause, IndexError)
    frames = cause.__traceback__
    assert frames is not None
    assert frames.tb_frame.f_code.co_name == "more"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_window_that_is_no_number_is_refused_in_the_line_that_sets_it(value: str) -> None:
    def more(self: Any, feedback: Feedback, path: Path) -> None:
        self.window = float(value)

    shown = {"nan": "NaN", "inf": "inf", "-inf": "-inf"}[value]
    with pytest.raises(
        longfat.CodeError, match=f"`window` is set to {shown}: a finite number"
    ) as caught:
        run(variant("Bad", on_feedback=more))
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "window", -3)},
            r"after `on_feedback` the window is -3 seg",
        ),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "threshold", 0)},
            "the threshold is 0 segments",
        ),
        ({"on_feedback": lambda self, _f, _p: setattr(self, "pacing", 0)}, "`pacing` is set to 0"),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "pacing", 1e300)},
            "`pacing` is set to 1e300: a number from 0.001 to 1000000000000 is needed",
        ),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "pacing", ("blocks", 1e18))},
            "`pacing` is set to 1e18 blocks",
        ),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "pacing", "fast")},
            "a rate in segments per second",
        ),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "pacing", ("x", 1))},
            "there are 'spread'",
        ),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "pacing", ("blocks", 1.5))},
            "a whole number",
        ),
        (
            {"on_feedback": lambda self, _f, _p: setattr(self, "timer", float("nan"))},
            "`timer` is set to NaN",
        ),
        ({"on_feedback": lambda self, _f, _p: self.window + 1}, "returned .*, which nobody reads"),
        ({"on_feedback": lambda self: None}, "takes 1 positional argument"),
        ({"on_congestion": lambda self, _e, _p: 1 / 0}, "`on_congestion` raised ZeroDivisionError"),
        ({"__init__": lambda self, _s, p: p.nope}, "`__init__` raised AttributeError"),
        (
            {"__init__": lambda self, _s, _p: setattr(self, "window", 0)},
            "after `__init__` the window is 0",
        ),
        ({"window": property(lambda self: "much")}, "TypeError"),
        ({"observe": lambda self: [1]}, "a dictionary of names and numbers"),
        ({"observe": lambda self: {"a": "b"}}, "a dictionary of names and numbers"),
    ],
)
def test_nonsense_ends_the_run(members: dict[str, Any], words: str) -> None:
    with pytest.raises(longfat.CodeError, match=words) as caught:
        run(variant("Bad", **members), observe=True)
    assert "the controller `bad`, flow forward[" in str(caught.value)


class Ticking(Halving):
    """Counts the calls of its timer, every 100 ms from the first acknowledgment on."""

    def __init__(self, start: Start, p: object) -> None:
        self.ticks = 0

    def on_feedback(self, feedback: Feedback, path: Path) -> None:
        super().on_feedback(feedback, path)
        if self.ticks == 0 and self.timer is None:
            self.timer = feedback.now + 0.1

    def on_timer(self, now: float, path: Path) -> None:
        self.ticks += 1
        self.timer = now + 0.1

    def observe(self) -> dict[str, float]:
        return {"ticks": self.ticks, "next": self.timer or 0.0}


@pytest.mark.parametrize("method", ["on_loss", "on_timr", "on_everything"])
def test_a_method_that_nobody_calls_is_refused(method: str) -> None:
    members = {method: lambda *_: None}
    with pytest.raises(TypeError, match=rf"nothing calls `{method}` of the controller `halving`"):
        run(variant("Halving", **members))


def test_a_timer_that_nobody_hears_ends_the_run() -> None:
    def on_feedback(self: Any, feedback: Feedback, path: Path) -> None:
        Halving.on_feedback(self, feedback, path)
        self.timer = feedback.now + 0.1

    with pytest.raises(
        longfat.CodeError, match="the timer is set, and the class has no `on_timer`"
    ):
        run(variant("Halving", on_feedback=on_feedback))


def test_a_method_may_be_exchanged_on_the_way() -> None:
    heard: list[str] = []

    def first(self: Any, feedback: Feedback, path: Path) -> None:
        heard.append("first")
        self.on_feedback = lambda feedback, path: second(self, feedback, path)

    def second(self: Any, feedback: Feedback, path: Path) -> None:
        heard.append("second")
        Halving.on_feedback(self, feedback, path)

    run(variant("Halving", on_feedback=first), flow__forward__count=1)
    assert heard[:3] == ["first", "second", "second"]
    assert heard.count("first") == 1


def test_timers_go_off_when_they_are_set() -> None:
    series = run(Ticking, observe=True, sample="100 ms").flow_series.to_polars()
    one = series.filter(pl.col("flow") == "forward[0]")
    # One more in each row of 100 ms, apart from the first, before which there is no acknowledgment.
    assert set(one["ticks"].diff().drop_nulls().tail(30)) == {1.0}
    assert ((one["next"] - one["time_s"]).tail(30) <= 0.1 + 1e-9).all()


def test_a_timer_that_never_moves_on_is_no_endless_loop() -> None:
    def again(self: Any, now: float, path: Path) -> None:
        self.timer = now

    with pytest.raises(
        longfat.CodeError, match=r"the timer is set to .*, when it has just gone off"
    ):
        run(type("Stuck", (Ticking,), {"on_timer": again}))


def test_every_event_arrives() -> None:
    seen: dict[str, Any] = {}

    def note(name: str) -> Any:
        def method(self: Any, what: object, path: Path) -> None:
            seen[name] = seen.get(name, 0) + 1
            assert path.base_rtt is None or path.rtt >= path.base_rtt > 0.019
            if name == "on_sent":
                assert what.in_flight > 0  # type: ignore[attr-defined]
            if name == "on_lost":
                assert what.segment >= 0  # type: ignore[attr-defined]
                # It left a round trip ago, of 20 ms at least, or more where a time-out tells.
                assert 0 <= what.sent < what.now - 0.019  # type: ignore[attr-defined]

        return method

    def hear(self: Any, feedback: Feedback, path: Path) -> None:
        Halving.on_feedback(self, feedback, path)
        if feedback.rate is not None:
            assert feedback.delivery_rate == pytest.approx(
                feedback.rate.delivered / feedback.rate.interval
            )
            seen["rate"] = max(seen.get("rate", 0.0), feedback.delivery_rate or 0.0)
        if feedback.one_way_delay is not None:
            seen["delay"] = min(seen.get("delay", 9.0), feedback.one_way_delay)
        seen["kept"] = feedback.copy()

    names = ("on_sent", "on_lost", "on_recovered")
    members = {name: note(name) for name in names}
    cls = variant("Noting", on_feedback=hear, wants=("delivery_rate", "one_way_delay"), **members)
    summary = run(cls, flow__forward__count=1).summary
    sent = sum(flow["data_sent"] for flow in summary["flows"])
    assert seen["on_sent"] >= sent, "those of the warm-up come on top"
    assert seen["on_lost"] > 0
    assert seen["on_recovered"] > 0
    # 10 Mbit/s in segments of 1500 bytes are 833 per second.
    assert 800 < seen["rate"] < 900
    assert 0.01 <= seen["delay"] < 0.02
    assert repr(seen["kept"]).startswith("Feedback(now=3.9")


def test_answers_may_be_properties_or_methods() -> None:
    fixed = variant("Fixed", window=property(lambda self: 7.0), pacing=lambda self: ("spread", 1.0))
    series = run(fixed).flow_series.to_polars()
    assert series["window"].unique().to_list() == [7.0]


def test_no_window_is_larger_than_any() -> None:
    vast = variant("Vast", on_feedback=lambda self, _f, _p: setattr(self, "window", 1e13))
    series = run(vast, flow__forward__max_window=20).flow_series.to_polars()
    assert series["window"].max() == 1e12


def test_pacing_is_what_the_class_says() -> None:
    slow = variant("Slow", on_feedback=lambda self, _f, _p: setattr(self, "pacing", 100.0))
    for flow in run(slow).summary["flows"]:
        assert flow["goodput_bit_s"] == pytest.approx(100 * 1500 * 8, rel=0.02)


def test_copies_are_whole() -> None:
    one = Ticking(Start(20.0, 40.0), None)
    one.window, one.pacing, one.timer, one.ticks = 33.0, ("spread", 2.0), 1.5, 4
    two = copy.deepcopy(one)
    one.window, one.ticks = 1.0, 5
    assert (two.window, two.threshold, two.pacing, two.timer, two.ticks) == (
        33.0,
        40.0,
        ("spread", 2.0),
        1.5,
        4,
    )
    assert isinstance(two, Ticking)


def test_many_threads_have_many_classes_and_an_error_harms_no_other() -> None:
    def halve(index: int) -> type[Halving]:
        if index % 3 != 1:
            return variant(f"Good{index}")

        def fail(self: Any, feedback: Feedback, path: Path) -> None:
            if feedback.now > 0.3:
                raise LookupError(str(index))

        return variant(f"Bad{index}", on_feedback=fail)

    expected = told(longfat.run(SMALL).summary)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(run, halve(index)) for index in range(12)]
        for index, future in enumerate(futures):
            if index % 3 == 1:
                with pytest.raises(longfat.CodeError, match=f"LookupError: {index} "):
                    future.result(60)
            else:
                assert told(future.result(60).summary) == expected


def test_thousands_of_short_flows_have_an_instance_each() -> None:
    text = SMALL + textwrap.dedent(
        """
        [[traffic]]
        name = "web"
        control = "halving"
        path = ["bottleneck"]
        arrivals = { poisson = "200 /s" }
        size = "3 packets"
        rtt = "20 ms"
        """
    )
    mine = longfat.run(text, controllers=[Halving], set=CHOSEN).summary
    theirs = longfat.run(text.replace('"halving"', '"reno"')).summary
    assert mine["traffic"] == theirs["traffic"]
    assert mine["traffic"]["web"]["completed"] > 400


RULES = f"""{CLASS.replace("ClassReno", "Halving")}

class Failing(Halving):
    def on_congestion(self, event, path):
        raise RuntimeError("enough")
"""


@pytest.fixture
def rules() -> str:
    FilePath("rules.py").write_text(RULES, encoding="utf-8")
    return "rules.py:Halving"


def test_files_name_classes(rules: str, longfat: Command) -> None:
    FilePath("own.toml").write_text(
        SMALL.replace('"reno"', f'{{ python = "{rules}" }}'), encoding="utf-8"
    )
    refused = longfat("run", "own.toml")
    assert refused.returncode == 2
    assert "--allow-code" in refused.stderr
    done = longfat("run", "own.toml", "--allow-code", "--quiet", "--out", "done")
    assert done.returncode == 0, done.stderr
    again = longfat("run", "done/scenario.toml", "--allow-code", "--quiet", "--out", "again")
    assert again.returncode == 0, again.stderr
    failing = longfat(
        "run",
        "own.toml",
        "--allow-code",
        "--set",
        'flow.forward.control={ python = "rules.py:Failing" }',
    )
    assert failing.returncode == 1
    assert "Traceback (most recent call last)" in failing.stderr
    assert 'raise RuntimeError("enough")' in failing.stderr
    assert "error: the controller `failing`, flow forward[" in failing.stderr


def test_an_edited_class_is_another_one(rules: str) -> None:
    def digest() -> str:
        scenario = longfat.run(
            SMALL, set={"flow.forward.control": {"python": rules}}, allow_code=True
        ).scenario
        return next(line for line in scenario.splitlines() if "code" in line)

    first = digest()
    assert digest() == first
    FilePath("rules.py").write_text(RULES.replace("window * 0.5", "window * 0.4"), encoding="utf-8")
    assert digest() != first


def test_a_digest_covers_what_a_class_closes_over() -> None:
    def make(share: float) -> type[Halving]:
        def on_congestion(self: Any, event: Congestion, path: Path) -> None:
            self.window = max(2.0, self.window * share)

        return variant("Same", on_congestion=on_congestion)

    digests = {make(share).__longfat__().digest for share in (0.5, 0.5, 0.6)}
    assert len(digests) == 2


CELL = """
class Filter:
    def __init__(self, share): self.share = share
    def of(self, value): return value * self.share

SHARED = Filter(0.5)
SOME = {Filter(0.5), frozenset("abcdef"), (1, 2)}
OTHER = 1

class Noted(longfat.Controller):
    def __init__(self, start, p): self.filter = Filter(0.5)
    def on_feedback(self, feedback, path): self.window += self.other()
    def on_congestion(self, event, path):
        self.window = max(2.0, min(self.filter.of(self.window), SHARED.of(self.window)))
    def other(self): return {"a", "b", "c"} and SOME and getattr(self, "OTHER", 1.0)
"""


@pytest.mark.parametrize("named", [{"__name__": "__main__"}, {}], ids=["notebook", "nameless"])
@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        ("return value * self.share", "return value * self.share / 2", False),
        ("SHARED = Filter(0.5)", "SHARED = Filter(0.6)", False),
        ("self.filter = Filter(0.5)", "self.filter = Filter(0.6)", False),
        ("self.window += self.other()", "self.window += 2 * self.other()", False),
        ("SOME = {Filter(0.5)", "SOME = {Filter(0.6)", False),
        ("OTHER = 1", "OTHER = 2", True),
        ("SHARED = Filter(0.5)", "SHARED = Filter(0.5)\nASIDE = Filter(0.1)", True),
    ],
)
def test_a_digest_covers_what_a_class_of_a_notebook_reads(
    first: str,
    other: str,
    same: bool,  # noqa: FBT001 - a parameter of the test
    named: dict[str, str],
) -> None:
    def digest(text: str) -> str:
        space: dict[str, Any] = {"longfat": longfat, **named}
        exec(text, space)  # noqa: S102 - the text is ours
        found: str = space["Noted"].__longfat__().digest
        # To look at a class leaves something in it.
        assert space["Noted"].__longfat__().digest == found
        return found

    assert digest(CELL) == digest(CELL)
    assert (digest(CELL.replace(first, other)) == digest(CELL)) == same


def test_a_digest_of_a_notebook_does_not_depend_on_the_process() -> None:
    text = f"import longfat\n{CELL}\nprint(Noted.__longfat__().digest)"
    told = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


PLAIN = """
import enum
from typing import NamedTuple

class Rule(BASE):
    BODY
    def of(self, window): return window * 0.5

RULE = Rule(GIVEN)

class Ruled(longfat.Controller):
    def on_feedback(self, feedback, path): self.window += 1 / self.window
    def on_congestion(self, event, path): self.window = max(2.0, RULE.of(self.window))

print(Ruled.__longfat__().digest)
"""


@pytest.mark.parametrize(
    ("base", "body", "given"),
    [
        ("NamedTuple", "share: float", "0.5"),
        ("enum.IntEnum", "ONE = 1", "1"),
        ("float", "pass", "0.5"),
        ("str", "pass", "'a'"),
        ("dict", "pass", "a=1"),
        ("list", "pass", "'ab'"),
        ("set", "pass", "'abcdef'"),
    ],
)
def test_a_digest_covers_the_methods_of_numbers_texts_and_tables(
    base: str, body: str, given: str
) -> None:
    text = PLAIN.replace("BASE", base).replace("BODY", body).replace("GIVEN", given)

    def digest(text: str, seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", f"import longfat\n{text}"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert digest(text, "1") == digest(text, "2")
    assert digest(text, "1") != digest(text.replace("window * 0.5", "window * 0.6"), "1")


def test_a_digest_does_not_depend_on_what_is_being_sent() -> None:
    class Derived(Halving):
        pass

    before = Derived.__longfat__().digest
    with labelled([Halving]):
        assert Derived.__longfat__().digest == before


def test_an_edited_helper_is_never_answered_from_the_cache(tmp_path: FilePath) -> None:
    def rows(cell: str) -> list[float]:
        space: dict[str, Any] = {"longfat": longfat, "__name__": "__main__"}
        exec(cell, space)  # noqa: S102 - the text is ours
        point = Point(
            json.loads(longfat.scenario.read(SMALL)[0].to_json()),
            set={"flow.forward.control": "noted"},
            labels={"x": 1},
            seeds=1,
            controllers=[space["Noted"]],
        )

        def measure(run: Measured) -> dict[str, float]:
            return {"goodput": run.summary["flows"][0]["goodput_bit_s"]}

        found: list[float] = run_points([point], measure, cache=Cache(tmp_path))[
            "goodput"
        ].to_list()
        return found

    edited = CELL.replace("value * self.share", "value * self.share / 4")
    assert rows(CELL) == rows(CELL) != rows(edited)


def test_try_and_studies_take_classes(longfat: Command, rules: str) -> None:
    tried = longfat(
        "try", "--rate", "20Mbit/s", "--rtt", "20ms", "--flows", "2", "--duration", "3s",
        "--control", f'cubic,{{ python = "{rules}" }}', "--allow-code",
    )  # fmt: skip
    assert tried.returncode == 0, tried.stderr
    assert 'python = "rules.py:Halving"' in tried.stdout.split("───")[0]
    FilePath("base.toml").write_text(SMALL, encoding="utf-8")
    FilePath("study.toml").write_text(
        f"""\
scenario = "base.toml"
seeds = 2

[vary]
"flow.forward.control" = ["reno", {{ python = "{rules}" }}]

""",
        encoding="utf-8",
    )
    studied = longfat("study", "study.toml", "--allow-code", "--out", "out", "--workers", "2")
    assert studied.returncode == 0, studied.stderr


STUDY = against_reno("class-reno", "3 s")


@pytest.fixture(autouse=True)
def _findable(monkeypatch: pytest.MonkeyPatch) -> None:
    # Processes that are started find it as well.
    monkeypatch.setenv("PYTHONPATH", str(OWN))


def local() -> Any:
    """A class that no process could import."""

    class Local(ClassReno):
        name = "class-reno"

    return Local


@pytest.mark.parametrize("by", ["module", "value"])
def test_other_processes_have_the_class(tmp_path: FilePath, by: str) -> None:
    own = ClassReno if by == "module" else local()
    same_as_reno(study(STUDY, out=tmp_path / "threads", controllers=[own]), "class-reno")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = study(STUDY, out=tmp_path / "spawned", controllers=[own], executor=pool)
    same_as_reno(found, "class-reno")


READING = """
import longfat, share

class Reading(longfat.Controller):
    def on_feedback(self, feedback, path):
        for _ in range(self.slow_start(feedback)):
            self.window += 1 / self.window

    def on_congestion(self, event, path):
        self.window = max(2.0, self.window * share.KEPT)
"""


def kept(folder: FilePath, share: float | None = None) -> float:
    """The goodput of a class that reads what a file beside it says."""
    if share is not None:
        folder.mkdir(exist_ok=True)
        (folder / "reading.py").write_text(READING, encoding="utf-8")
        (folder / "share.py").write_text(f"KEPT = {share}\n", encoding="utf-8")
    chosen = {"python": str(folder / "reading.py:Reading")}
    run = longfat.run(SMALL, set={"flow.forward.control": chosen}, allow_code=True)
    goodput: float = run.summary["flows"][0]["goodput_bit_s"]
    return goodput


def test_a_file_imports_what_is_beside_it_and_as_it_is_now(own_folder: FilePath) -> None:
    one, other = own_folder / "one", own_folder / "other"
    first = kept(one, 0.9)
    second = kept(other, 0.1)
    assert first != second
    assert (kept(one), kept(other)) == (first, second)
    assert kept(one, 0.1) == second
    assert kept(one, 0.9) == first
    assert "share" in sys.modules


def test_what_a_program_has_imported_stays_its_own(
    own_folder: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(own_folder / "one", 0.9)
    halved = kept(own_folder / "two", 0.5)
    monkeypatch.delitem(sys.modules, "share")
    monkeypatch.syspath_prepend(str(own_folder / "three"))
    (own_folder / "three").mkdir()
    (own_folder / "three" / "share.py").write_text("KEPT = 0.9\n", encoding="utf-8")
    mine = importlib.import_module("share")
    mine.KEPT = 0.5  # type: ignore[attr-defined]
    (own_folder / "three" / "reading.py").write_text(READING, encoding="utf-8")
    assert kept(own_folder / "three") == halved
    kept(own_folder / "four", 0.9)
    assert sys.modules["share"] is mine


SCRIPT = """\
import sys
sys.modules["cloudpickle"] = None  # as if it were not installed
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import longfat
from class_reno import ClassReno
from own_support import against_reno

class Share:
    def of(self, window): return window / 2

SHARE = Share()

class Mine(ClassReno):
    name = "class-reno"
    def on_recovered(self, now, path): SHARE.of(1.0)

if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        asked = against_reno("class-reno", "3 s")
        print(longfat.study(asked, out="here", controllers=[Mine], executor=pool).failed)
"""


def test_a_class_of_the_program_itself_is_the_same_in_processes_that_it_starts(
    own_folder: FilePath,
) -> None:
    (own_folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(OWN), str(FilePath(__file__).parent)]),
        },
        cwd=own_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("0", 0), done.stderr


def test_a_class_is_sent_from_many_threads_at_once() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            codes = [threads.submit(Code((Halving, Halving)).portable) for _ in range(400)]
            assert len({code.result() for code in codes}) == 1
    finally:
        sys.setswitchinterval(before)


def test_a_cluster_gets_the_class_sent(tmp_path: FilePath) -> None:
    with cluster() as client:
        found = study(STUDY, out=tmp_path / "study", controllers=[local()], executor=client)
    same_as_reno(found, "class-reno")


def test_a_study_tells_which_runs_of_a_class_failed(tmp_path: FilePath) -> None:
    def fail(self: Any, event: Congestion, path: Path) -> None:
        message = "never again"
        raise RuntimeError(message)

    cls: Any = type("Failing", (ClassReno,), {"name": "class-reno", "on_congestion": fail})
    found = study(STUDY, out=tmp_path / "study", controllers=[cls])
    assert (found.failed, found.runs) == (2, 4)
    rows = found.rows.filter(pl.col("flow.reno.control") == "class-reno")
    assert all("RuntimeError: never again" in told for told in rows["error"])


def test_a_class_that_wants_to_end_the_process_is_at_fault() -> None:
    def leave(self: Any, event: Congestion, path: Path) -> None:
        sys.exit(0)

    cls: Any = type("Leaving", (ClassReno,), {"name": "class-reno", "on_congestion": leave})
    with pytest.raises(longfat.CodeError, match="SystemExit: 0"):
        longfat.run(SMALL, controllers=[cls], set={"flow.forward.control": "class-reno"})


@pytest.mark.usefixtures("rules")
def test_ctrl_c_ends_a_class_that_never_ends() -> None:
    code = textwrap.dedent(
        f"""
        import longfat, rules
        class Slow(rules.Halving):
            def on_feedback(self, feedback, path):
                print("on", flush=True) if feedback.now > 0.1 else None
                while feedback.now > 0.1:
                    pass
        longfat.run({SMALL!r}, controllers=[Slow], set={{"flow.forward.control": "slow"}})
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT or "KeyboardInterrupt" in complaints
    assert "CodeError" not in complaints


@pytest.mark.parametrize(
    "name",
    ["Feedback", "RateSample", "Path", "Congestion", "Adjustment", "Sent", "Lost", "Start"],
)
def test_help_tells_what_a_class_is_told(name: str) -> None:
    """Every attribute says what it is, in the words of the stub that editors show."""
    stub = ast.parse(FilePath(_longfat.__file__).with_name("_longfat.pyi").read_text("utf-8"))
    (told,) = (each for each in stub.body if isinstance(each, ast.ClassDef) and each.name == name)
    compiled = getattr(_longfat, name)
    assert inspect.getdoc(compiled) == ast.get_docstring(told)
    public = {attribute for attribute in vars(compiled) if not attribute.startswith("_")}
    listed = {
        each.name: ast.get_docstring(each)
        for each in told.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    }
    assert public == set(listed)
    assert all(listed.values())
    assert {each: inspect.getdoc(getattr(compiled, each)) for each in public} == listed


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({3: 1}, "3 in `parameters` of Odd is no name for a parameter: names are text"),
        (["gain"], r"`parameters` of Odd is \['gain'\]: it is a dictionary with defaults by name"),
    ],
)
def test_parameters_without_names_are_refused(parameters: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        longfat.run(SMALL, set=CHOSEN, controllers=[variant("Odd", parameters=parameters)])
