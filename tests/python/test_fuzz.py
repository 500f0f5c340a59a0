"""Inputs drawn at random, always the same ones; `scenario_fuzzer.py` tries others for hours."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import longfat
from fuzzer import pairs
from fuzzer.absurd import AbsurdError, check_fluid, check_rest
from fuzzer.cases import KINDS, Case, Drawer, drawn, extremes
from fuzzer.examine import check, examine, failing
from fuzzer.hunt import Hunted, Worker, hunt
from fuzzer.limits import StoppedError, TooLongError, in_time
from fuzzer.smallest import smallest
from longfat.scenario import quantities, read
from support import SMALL

if TYPE_CHECKING:
    from pathlib import Path


def assert_nothing(hunted: Hunted) -> None:
    assert not hunted.found, "\n\n".join(map(str, hunted.found.values()))


def test_every_input_is_answered_by_a_result_or_a_refusal() -> None:
    hunted = hunt(drawn(1988), count=800)
    assert_nothing(hunted)
    expected = {"run: run", "run: refused", "fluid: solved", "fluid: refused", "claims: run"}
    few = {what for what in expected if hunted.done[what] <= 5}
    assert not few, "it draws right ones and wrong ones"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("run", "fluid")])
def test_inputs_of_each_kind_are_answered(kind: Any) -> None:
    drawer = Drawer(1998)
    hunted = hunt((drawer.draw_one(kind) for _ in itertools.count()), count=20)
    assert_nothing(hunted)
    assert hunted.done[f"{kind}: run"] + hunted.done[f"{kind}: solved"] > 1


def test_all_extreme_settings_are_answered() -> None:
    cases = list(extremes(pairs=False))
    hunted = hunt(cases, count=len(cases))
    assert_nothing(hunted)
    assert hunted.done["run: run"] > 200
    assert hunted.done["fluid: solved"] > 10
    assert hunted.done["run: refused"] == 0


@pytest.mark.long
def test_all_pairs_of_extreme_settings_are_answered() -> None:
    cases = list(extremes())
    hunted = hunt(cases, count=len(cases))
    assert_nothing(hunted)
    assert hunted.done["run: run"] > 500
    assert hunted.done["fluid: solved"] > 50
    assert hunted.done["run: refused"] == 0


def test_all_pairs_are_covered_but_those_that_nothing_accepts() -> None:
    factors = {"a": [1, 2, 3], "b": [1, 2], "c": [1, 2, 3, 4], "d": [1, 2]}
    rows = pairs.covering(factors, lambda row: (row["a"], row["b"]) != (1, 1))
    met = {pair for row in rows for pair in itertools.combinations(sorted(row.items()), 2)}
    every = {
        ((one, i), (other, j))
        for one, other in itertools.combinations(sorted(factors), 2)
        for i in factors[one]
        for j in factors[other]
    }
    assert every - met == {(("a", 1), ("b", 1))}
    assert len(rows) < 3 * 2 * 4, "far fewer than all combinations"


def test_a_level_that_can_be_is_in_a_row() -> None:
    factors = {"a": range(9), "b": range(2), "c": range(3)}
    rows = pairs.covering(factors, lambda row: row["a"] != 4, pairs=False)
    met = {(name, level) for row in rows for name, level in row.items()}
    assert met == {(name, level) for name in factors for level in factors[name]} - {("a", 4)}
    assert len(rows) < 12


def test_every_parameter_has_its_extremes() -> None:
    for entry in (*longfat.controllers(), *longfat.queues()):
        for parameter in entry["parameters"]:
            levels = pairs.levels(parameter)
            assert len(levels) >= 3, f"{entry['name']}: {parameter['name']}"
            if parameter["kind"] == "number":
                assert {parameter["minimum"], parameter["maximum"]} <= set(levels)


def test_the_same_seed_draws_the_same() -> None:
    one, two, other = Drawer(1), Drawer(1), Drawer(2)
    # As text: what is not a number is not even equal to itself.
    assert [repr(one.draw()) for _ in range(20)] == [repr(two.draw()) for _ in range(20)]
    assert repr(one.draw()) != repr(other.draw())


def run(**changes: str) -> longfat.Run:
    return longfat.run(SMALL, set={"warmup": "0 s", **changes})


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ("link", "utilisation", 1.00000007),
        ("link", "utilisation", 1e-6),
        ("link", "queue_mean", -1e-9),
        ("link", "dropped", 10**9),
        ("link", "corrupted", 10**9),
        ("link", "arrived", 10**9),
        ("flow", "goodput_bit_s", float("nan")),
        ("flow", "goodput_bit_s", 1.1e7),
        ("flow", "data_dropped", 10**9),
        ("flow", "window_mean", 0.5),
        ("jain", "forward", 1.0000000000000002),
        ("engine", "data_packets", 1),
    ],
)
def test_what_no_run_can_be_is_noticed(where: str, key: str, value: float) -> None:
    made = run()
    check(made)
    content = made.summary
    row = {
        "link": content["links"]["bottleneck"]["forward"],
        "flow": content["flows"][0],
        "jain": content["jain"],
        "engine": content["engine"],
    }[where]
    assert key in row
    row[key] = value
    with pytest.raises(AbsurdError):
        check(made)


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ("flow", "rate_mean_bit_s", 1e126),
        ("flow", "rate_mean_bit_s", 2e8),
        ("flow", "window", [0.5]),
        ("flow", "window", [1e13]),
        ("flow", "rate_bit_s", [float("inf")]),
        ("link", "price", [1.0000000000000002]),
        ("link", "queue_s", [-1e-12]),
        ("top", "t", [1.0, 0.5]),
        ("flow at rest", "window", 0.5),
        ("flow at rest", "price", -1e-9),
        ("link at rest", "price", 1.5),
        ("link at rest", "load", 1.2),
    ],
)
def test_what_no_fluid_can_be_is_noticed(where: str, key: str, value: object) -> None:
    content = longfat.fluid(SMALL, equilibrium=True).summary
    given = quantities(read(SMALL)[0])
    rest = content["equilibrium"]

    def both() -> None:
        check_fluid(content, given, priced=True)
        check_rest(rest, given, priced=True)

    both()
    row = {
        "top": content,
        "flow": content["flows"][0],
        "link": content["links"]["bottleneck"],
        "flow at rest": rest["flows"][0],
        "link at rest": rest["links"]["bottleneck"],
    }[where]
    assert key in row
    row[key] = value
    with pytest.raises(AbsurdError):
        both()


def test_what_takes_too_long_is_interrupted() -> None:
    with pytest.raises(StoppedError), in_time(stop_s=0.01):
        time.sleep(5)


def test_what_hears_no_interruption_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzer.limits.PATIENCE_S", 0.02)
    with pytest.raises(TooLongError), in_time(stop_s=5):
        time.sleep(0.05)


def test_what_fails_is_made_small() -> None:
    less = smallest(Case("run", SMALL), lambda case: "rate" in case.text)
    assert less.text.split() == ["[link.bottleneck]", "rate", "=", '"10', 'Mbit/s"']


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(case: Case) -> str:
        if "delay" in case.text:
            raise ZeroDivisionError
        return "run"

    monkeypatch.setitem(examine.__globals__["_ASK"], "run", faulty)
    counted: Counter[str] = Counter()
    assert failing(Case("run", SMALL), counted) == "ZeroDivisionError: "
    assert not counted
    hunted = hunt([Case("run", SMALL), Case("run", ""), Case("run", SMALL)], count=3)
    assert hunted.done == {"run: failed": 2, "run: run": 1}
    (finding,) = hunted.found.values()
    assert finding.case.text.split() == ["[link.bottleneck]", "delay", "=", '"5', 'ms"']


@pytest.mark.skipif(sys.platform != "linux", reason="workers limit their memory by /proc")
@pytest.mark.parametrize(
    ("number", "how"),
    [
        (signal.SIGABRT, "the process ends with code -6"),
        (signal.SIGSTOP, "it hears no signal for 0 s"),
    ],
)
def test_an_input_that_ends_or_hangs_its_worker_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, how: str
) -> None:
    worker = Worker("7/2", 1e6, 60.0, tmp_path)
    hunted = Hunted()
    while not worker.at_work:
        assert not worker.ended(hunted)
    pid = worker.process.pid
    assert pid is not None
    os.kill(pid, number)
    if number == signal.SIGSTOP:
        monkeypatch.setattr("fuzzer.hunt.DEAD_S", 0.2)
    while not worker.ended(hunted):
        pass
    (finding,) = hunted.found.values()
    assert finding.how == how
    assert finding.case.kind in KINDS
    assert sum(n for what, n in hunted.done.items() if what.endswith("failed")) == 1


FOUND = {
    "a wrong link under a controller that needs priorities": """\
duration = "8 s"
[link]
exit = true
[link.bottleneck]
rate = "150 Mbit/s"
delay = "1 us"
[[flow]]
name = "files"
control = "blitz"
path = ["bottleneck"]
rtt = "30 ms"
""",
    "sixteen flows that have the same, to the bit": """\
duration = "30 ms"
[link.bottleneck]
rate = "1 Gbit/s"
delay = "10 ms"
[[flow]]
name = "reno"
control = "reno"
count = 16
path = ["bottleneck"]
rtt = "40 ms"
packet = "1000 B"
""",
    "a packet that takes longer than a row of the series": """\
duration = "20 ms"
warmup = "1 ms"
sample = "100 us"
[link.bottleneck]
rate = "10 Mbit/s"
delay = "10 us"
[[flow]]
name = "reno"
control = "reno"
path = ["bottleneck"]
rtt = "1 ms"
""",
    "bursts that fill all memory before they reach a link": """\
duration = "20 s"
[link.bottleneck]
rate = "30 Mbit/s"
delay = "1 ms"
queue = "pushout"
[[flow]]
name = "long"
path = ["bottleneck"]
rtt = "30 ms"
access = "82.4 Tbit/s"
control = "blitz"
""",
}
"""What has been found so far, in its smallest form."""

ASKED = {
    "model": "mean-field",
    "price": "avq",
    "delay": True,
    "integrate": True,
    "equilibrium": True,
    "stability": False,
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(text: str) -> None:
    examine(Case("run", text))
    examine(Case("fluid", text, ASKED))


FOUND_BY_PRICE = {
    "windows that fall faster than steps are short": (
        "overflow",
        """\
duration = "1200 ms"
[link.bottleneck]
rate = "124 Tbit/s"
delay = "10 ms"
[[flow]]
name = "reno"
control = "reno"
count = 2
path = ["bottleneck"]
rtt = "40 ms"
start = { spread = ["0 ms", "200 ms"] }
""",
    ),
    "a window below one segment by the error of a step": (
        "red",
        """\
duration = "2 s"
sample = "20 ms"
[link.a]
rate = "50 Mbit/s"
delay = "2 ms"
anti_ecn = { threshold = 0.9 }
queue = { kind = "red", max = "0.4 bdp" }
[link.b]
rate = "30 Mbit/s"
delay = "9 ms"
loss = 0.001
queue = { kind = "red", max = "0.4 bdp" }
[[flow]]
name = "one"
path = ["a"]
rtt = "10 ms"
control = "anti-ecn"
[[flow]]
name = "two"
path = ["a", "b"]
rtt = "30 ms"
count = 3
control = "exp"
[[flow]]
name = "back"
control = "cw-hstcp"
path = ["a", "b"]
rtt = "30 ms"
count = 3
""",
    ),
}
"""The same, of fluid solutions with a price of their own."""


@pytest.mark.parametrize(("price", "text"), FOUND_BY_PRICE.values(), ids=FOUND_BY_PRICE)
@pytest.mark.parametrize("delay", [False, True])
def test_what_was_found_by_price_stays_mended(price: str, text: str, *, delay: bool) -> None:
    examine(Case("fluid", text, {**ASKED, "equilibrium": False, "price": price, "delay": delay}))
