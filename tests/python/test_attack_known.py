"""Failures that are known: the search finds each, on paths that do not change and on any."""

from __future__ import annotations

from typing import Any

import pytest

import longfat
from longfat.attack import Attack, Bounds, find

STILL: dict[str, Any] = {"changes": 0, "wave": False, "cross": ()}
"""Bounds of paths that do not change, without other traffic."""

FEW: dict[str, Any] = {"trials": 40, "confirmations": 4}
ALPHA = 0.05
FIBER = {"kind": "fiber", "alpha": ALPHA}
SWITCHLESS = {"kind": "blitz", "priorities": False}


def at_speed(
    rate: str, product: int, least: float, most: float, packet: str = "1500 B"
) -> dict[str, Any]:
    """Random losses alone: flows begin with a window of this product, and the buffer holds another one."""
    return {
        "rate": rate,
        "set": {
            "flow.subject.packet": packet,
            "flow.subject.initial_window": product,
            "flow.subject.initial_threshold": product,
        },
        "bounds": Bounds(
            rtt_s=(0.1, 0.1),
            buffer_bdp=(1, 1),
            loss=(least, most),
            jitter_s=(1e-4, 1e-4),
            flows=(1, 1),
            **STILL,
        ),
    }


def flows(found: Attack, changes: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The flows of the controller where it fails, with changes."""
    told: list[dict[str, Any]] = longfat.run(found.scenario, set=changes or {}).summary["flows"]
    return told[: found.challenge.flows]


def starved_by_losses(found: Attack) -> None:
    assert found.score.mean is not None
    assert found.score.mean > 0.2
    assert found.challenge.loss > 0
    [without] = flows(found, {"link.bottleneck.loss": 0.0})
    [with_them] = flows(found)
    assert without["goodput_bit_s"] > 0.99 * found.ground.rate_bit_s
    assert with_them["goodput_bit_s"] < 0.7 * without["goodput_bit_s"]


def test_a_few_random_losses_starve_reno() -> None:
    """RFC 9438, section 1: after a loss Reno takes a round trip for each segment that it gave up."""
    path = at_speed("50 Mbit/s", 417, 1e-6, 1e-3)
    starved_by_losses(find("reno", "starve", duration="60 s", **path, **{**FEW, "trials": 16}))


@pytest.mark.long
def test_a_few_random_losses_starve_reno_at_10_gbit_s() -> None:
    """With packets of 9000 bytes; the product of 100 ms is 13,889 of them."""
    path = at_speed("10 Gbit/s", 13_889, 1e-7, 1e-4, "9000 B")
    found = find("reno", "starve", duration="60 s", **path, **{**FEW, "trials": 16})
    starved_by_losses(found)
    # Few indeed: fewer than one in a hundred thousand.
    assert found.challenge.loss <= 1e-5


def unfair_by_itself(found: Attack) -> None:
    """Multiplicative increase keeps shares as they are, additive increase evens them out (Chiu, Jain 1989)."""
    assert found.score.mean is not None
    assert found.score.mean > 0.3
    assert found.challenge.flows > 1


def test_stcp_is_unfair() -> None:
    bounds = Bounds(flows=(2, 2), **STILL)
    unfair_by_itself(find("stcp", "unfair", duration="20 s", bounds=bounds, **FEW))


def test_bbr1_loses_in_shallow_buffers() -> None:
    """Hock, Bless and Zitterbart, ICNP 2017: up to two products are in flight, whatever the buffer."""
    short: dict[str, Any] = {"rate": "10 Mbit/s", "duration": "10 s"}
    found = find("bbr1", "loss", bounds=Bounds(**STILL), **short, **FEW)
    dropped = [flow["drop_rate"] for flow in flows(found)]
    assert sum(dropped) / len(dropped) > 0.1
    assert found.challenge.buffer_bdp < 0.5
    assert found.score.mean is not None
    deep = flows(found, {"link.bottleneck.buffer": "8 bdp"})
    assert max(flow["drop_rate"] for flow in deep) < min(dropped) / 2


def out_of_control(found: Attack) -> None:
    """A reduction takes 1/(alpha w), a round trip adds 1: from alpha w = 1 on losses do not stop the growth."""
    assert found.failed
    with_it = flows(found)
    assert max(flow["window_mean"] for flow in with_it) * ALPHA > 1
    outcome = found.outcomes[0]
    assert outcome.subject > 5 * outcome.against
    tame = flows(found, {"flow.subject.control.alpha": 1e-4})
    assert tame[0]["drop_rate"] < with_it[0]["drop_rate"] / 3


def test_fiber_loses_control_where_alpha_w_is_large() -> None:
    bounds = Bounds(flows=(1, 1), rtt_s=(0.05, 0.3), **STILL)
    short: dict[str, Any] = {"rate": "10 Mbit/s", "duration": "20 s"}
    out_of_control(find(FIBER, "loss", bounds=bounds, **short, **FEW))


def unfair_without_its_switch(found: Attack) -> None:
    """Bursts without priorities: who comes first stays, and with the switch the shares are even."""
    assert found.score.mean is not None
    assert found.score.mean > 0.5
    rates = [flow["goodput_bit_s"] for flow in flows(found)]
    switched = {"flow.subject.control": "blitz", "link.bottleneck.queue": "pushout"}
    even = [flow["goodput_bit_s"] for flow in flows(found, switched)]
    assert min(rates) < 0.05 * max(rates)
    assert min(even) > 0.5 * max(even)


def test_blitz_starves_without_its_switch() -> None:
    bounds = Bounds(flows=(2, 4), rtt_ratio=(1, 1), loss=(1e-5, 1e-4), **STILL)
    short: dict[str, Any] = {"rate": "10 Mbit/s", "duration": "5 s"}
    access = {"flow.subject.access": "10 Mbit/s"}
    unfair_without_its_switch(find(SWITCHLESS, "starve", bounds=bounds, set=access, **short, **FEW))


@pytest.mark.long
@pytest.mark.parametrize(
    ("controller", "goal", "least"),
    [
        ("reno", "starve", 0.4),
        ("stcp", "unfair", 0.5),
        ("bbr1", "loss", 0.2),
        (FIBER, "loss", 0.1),
        (SWITCHLESS, "starve", 0.8),
    ],
)
def test_they_are_found_among_all_that_a_path_may_have(
    controller: Any, goal: str, least: float
) -> None:
    access = {"flow.subject.access": "20 Mbit/s"} if controller is SWITCHLESS else {}
    found = find(controller, goal, trials=1500, set=access)
    assert found.failed
    assert found.score.mean is not None
    assert found.score.mean > least
