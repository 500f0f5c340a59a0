"""Scenarios drawn at random, always the same ones; `scenario_fuzzer.py` tries others for hours."""

from __future__ import annotations

from typing import Any

import pytest

import longfat
from scenario_fuzzer import AbsurdError, Mutator, check, examine, hunt, smallest
from support import SMALL


def test_every_scenario_is_answered_by_a_result_or_a_refusal() -> None:
    done, found = hunt(seed=1988, count=600)
    assert not found, "\n\n".join(f"{each.how}: {each.what}\n{each.text}" for each in found)
    assert min(done["run"], done["solved"], done["refused"]) > 5, (
        "it draws right ones and wrong ones"
    )


def test_the_same_seed_draws_the_same() -> None:
    one, two, other = Mutator(1), Mutator(1), Mutator(2)
    assert [one.draw() for _ in range(20)] == [two.draw() for _ in range(20)]
    assert one.draw() != other.draw()


def summary() -> dict[str, Any]:
    return longfat.run(SMALL, set=["warmup=0 s"]).summary


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ("links", "utilisation", 1.00000007),
        ("links", "queue_mean", -1e-9),
        ("links", "dropped", 10**9),
        ("flows", "goodput_bit_s", float("nan")),
        ("flows", "data_dropped", 10**9),
        ("jain", "forward", 1.0000000000000002),
    ],
)
def test_what_cannot_be_is_noticed(where: str, key: str, value: float) -> None:
    content = summary()
    check(content)
    row = {
        "links": content["links"]["bottleneck"]["forward"],
        "flows": content["flows"][0],
        "jain": content["jain"],
    }[where]
    assert key in row
    row[key] = value
    with pytest.raises(AbsurdError):
        check(content)


def test_what_fails_is_made_small() -> None:
    less = smallest(SMALL, lambda text: "rate" in text)
    assert less.split() == ["[link.bottleneck]", "rate", "=", '"10', 'Mbit/s"']


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
}
"""What has been found so far, in its smallest form."""


@pytest.mark.parametrize("fluid", [False, True])
@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(text: str, fluid: bool) -> None:  # noqa: FBT001 - a parameter
    examine(text, fluid=fluid)
