"""Disturbances: links that lose, reorder, delay, thin acknowledgments, police, fail and change."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from longfat import fairness
from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import (
    LOSS,
    QUEUE,
    SERIES,
    THROUGHPUT,
    USED,
    WAIT_P99,
    of_path,
)
from longfat.evaluate.cells._scenarios import GROUP as FLOW
from longfat.evaluate.cells._scenarios import LINK, dumbbell, flow, path, rate, time
from longfat.foreign import read_text
from longfat.shipped import find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

RANDOM = Source("RFC 8868", "losses may be 0, 1, 5, 10 or 20 % of packets, end to end", "4.2")
BURSTS = Source(
    "RFC 8868", "losses may come in bursts, as in the model of Gilbert and Elliott", "4.4"
)
JITTER = Source("RFC 8868", "the delay of packets varies, with their order kept or not", "4.5")
WIRELESS = Source(
    "RFC 9743",
    "radio links lose packets without congestion, vary in capacity and add jitter",
    "6.4",
)
DELAY = Source("RFC 9743", "minimum delays may change, and control should be robust to that", "7.3")
REORDERING = Source("RFC 9743", "paths may reorder packets far more than usual", "7.7")
TRANSIENT = Source("RFC 9743", "capacity may come and go, as where links disconnect", "7.8")
COLLAPSE = Source(
    "RFC 9743",
    "under persistent congestion a controller is to stop, or to come down to one packet per round trip and "
    "then back off exponentially",
    "5.1.1",
)
CAPACITY = Source(
    "RFC 8867", "the capacity goes from 1 to 2.5, to 0.6 and back to 1, in a test of 100 s", "5.1"
)
THINNED = Source("RFC 3449", "slow ways back thin acknowledgments, and hold them back", "5.2.1")
POLICED = Source(
    "RFC 9743", "equipment in the network may act on flows that use excessive resources", "7.2"
)

_BIT_S, _RTT = 50e6, 0.06


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [
        *(
            _lossy(*each)
            for each in ((0.001, True), (0.01, False), (0.05, True), (0.1, False), (0.2, True))
        ),
        *_impaired(),
        _capacity(),
        _handover(),
        _outage(),
        _collapse(),
    ]


def _on_path(
    link_keys: dict[str, Any], duration: float, measure: Callable[[Measured], Row] = of_path
) -> Callable[[Control], dict[str, Scene]]:
    """One flow on a path with something special."""

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control, bit_s=_BIT_S, rtt=_RTT, duration_s=duration, link_keys=link_keys
        )
        return {"alone": Scene(scenario, measure, SERIES)}

    return scenes


def _lossy(loss: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    share = f"{100 * loss:g} %"
    return Cell(
        name=f"disturbances/loss-{100 * loss:g}",
        title=f"{share} of packets lost at random",
        source=RANDOM if loss >= 0.01 else WIRELESS,  # noqa: PLR2004 - the least that RFC 8868 has
        question=f"A link of 50 Mbit/s with a round trip of 60 ms destroys {share} of packets, whatever the "
        "load: how much does one flow use?",
        scenes=_on_path({"loss": loss, "reverse": {"loss": 0.0}}, 60.0),
        measures=(USED, WAIT_P99),
        says=f"uses {{used}} of a link that loses {share} of packets",
        briefly="({used})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


def _impaired() -> list[Cell]:
    """Everything that a link may do to packets beside losing some at random."""
    return [
        _special(
            "bursts",
            "losses in bursts of four",
            BURSTS,
            "loses 1 % of packets in bursts of four on average",
            {"burst_loss": {"p": 0.0025, "r": 0.25}, "reverse": {"burst_loss": False}},
        ),
        _special(
            "reordering",
            "one packet in a hundred comes 20 ms late",
            REORDERING,
            "lets one packet in a hundred come 20 ms late, behind those that follow it",
            {"reorder": {"probability": 0.01, "distance": "20 ms"}, "reverse": {"reorder": False}},
        ),
        _special(
            "jitter-ordered",
            "jitter of up to 30 ms, in order",
            JITTER,
            "adds up to 30 ms to the delay of packets, and keeps their order",
            {"jitter": "30 ms", "reverse": {"jitter": False}},
        ),
        _special(
            "jitter",
            "jitter of up to 30 ms, out of order",
            JITTER,
            "adds up to 30 ms to the delay of packets, which may pass one another",
            {
                "jitter": {"kind": "gaussian", "most": "30 ms", "ordered": False},
                "reverse": {"jitter": False},
            },
            full_only=True,
        ),
        _special(
            "wifi",
            "frames of a shared radio channel",
            WIRELESS,
            "delivers packets in frames, one every 4 ms on average",
            {"jitter": {"kind": "wifi", "interval": "4 ms"}},
            full_only=True,
        ),
        _special(
            "thinned",
            "a slow way back that thins acknowledgments",
            THINNED,
            "has a way back of 500 kbit/s that keeps only the newest acknowledgment of those that wait",
            {
                "reverse": {
                    "rate": "500 kbit/s",
                    "buffer": "50 packets",
                    "acknowledgments": {"keep": "newest"},
                }
            },
        ),
        _special(
            "policer",
            "a policer at 20 Mbit/s",
            POLICED,
            "drops what exceeds 20 Mbit/s and bursts of 125 kB; 40 % of the link is all there is to use",
            {
                "policer": {"rate": "20 Mbit/s", "burst": "125 kB"},
                "reverse": {"policer": False},
            },
        ),
        _special(
            "trace",
            "a cellular link",
            WIRELESS,
            "follows a trace of a cellular link, between 1 and 15 Mbit/s with pauses",
            {},
            traced=True,
        ),
    ]


def _special(
    name: str,
    title: str,
    source: Source,
    does: str,
    link_keys: dict[str, Any],
    *,
    traced: bool = False,
    full_only: bool = False,
) -> Cell:
    """A link that does something to packets."""

    def scenes(control: Control) -> dict[str, Scene]:
        return {"alone": Scene(_cellular(control), of_path, SERIES)}

    rate_told = "" if traced else " of 50 Mbit/s with a round trip of 60 ms"
    return Cell(
        name=f"disturbances/{name}",
        title=title,
        source=source,
        question=f"A link{rate_told} {does}: how much does one flow use, and how long do packets wait?",
        scenes=scenes if traced else _on_path(link_keys, 60.0),
        measures=(USED, WAIT_P99, LOSS),
        says="uses {used} of the link, and for 99 % of the time packets wait at most {wait_p99}",
        briefly="({used}, {wait_p99})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


@cache
def _trace() -> str:
    """The times of a made-up cellular link, in the format of mahimahi, without its comment."""
    lines = read_text(find("scenarios/cellular.trace")).splitlines()
    return " ".join(line for line in lines if line and not line.startswith("#"))


def _cellular(control: Control) -> dict[str, Any]:
    link = {
        "delay": "20 ms",
        "buffer": "250 packets",
        "trace": {"mahimahi": _trace()},
        "reverse": {"rate": "5 Mbit/s", "trace": "none"},
    }
    return path(60.0, 20.0, {LINK: link}, [flow(control, 0.05)])


def _capacity() -> Cell:
    """The changes of RFC 8867, section 5.1, at a higher rate."""
    base = 20e6
    steps = ((40.0, 2.5), (60.0, 0.6), (80.0, 1.0))

    def scenes(control: Control) -> dict[str, Scene]:
        changes = [
            {"at": time(at), "rate": rate(base * factor), "reverse": False} for at, factor in steps
        ]
        scenario = dumbbell(
            control,
            bit_s=base,
            rtt=0.1,
            duration_s=100.0,
            warmup_s=10.0,
            buffer="300 ms",
            link_keys={"change": changes},
        )
        return {"alone": Scene(scenario, of_path, SERIES)}

    return Cell(
        name="disturbances/capacity-steps",
        title="capacity in steps of 1, 2.5, 0.6 and 1",
        source=CAPACITY,
        question="A link goes from 20 to 50 Mbit/s after 40 s, to 12 after 60 s and back to 20 after 80 s, "
        "with a round trip of 100 ms and a buffer of 300 ms at 20 Mbit/s: how much does one flow use, and "
        "how long do packets wait?",
        scenes=scenes,
        measures=(USED, WAIT_P99, LOSS),
        says="uses {used} of a capacity that changes in steps, and for 99 % of the time packets wait at most "
        "{wait_p99}",
        briefly="({used}, {wait_p99})",
        charts=(THROUGHPUT, QUEUE),
    )


def _handover() -> Cell:
    """A satellite that hands over every 15 s."""

    def scenes(control: Control) -> dict[str, Scene]:
        changes = [
            {"at": "15 s", "every": "30 s", "delay": "40 ms"},
            {"at": "30 s", "every": "30 s", "delay": "15 ms"},
        ]
        link = {
            "rate": "50 Mbit/s",
            "delay": "15 ms",
            "buffer": "1 bdp",
            "bdp": "55 ms",
            "change": changes,
        }
        flows = [{**flow(control, 0.03), "rtt": "30 ms"}]
        return {"alone": Scene(path(120.0, 30.0, {LINK: link}, flows), of_path, SERIES)}

    return Cell(
        name="disturbances/handover",
        title="a round trip of 30 and 80 ms in turns, every 15 s",
        source=DELAY,
        question="The round trip of 50 Mbit/s jumps between 30 and 80 ms every 15 s, as where satellites "
        "hand over: how much does one flow use, and how long do packets wait?",
        scenes=scenes,
        measures=(USED, WAIT_P99, LOSS),
        says="uses {used} of a path whose round trip jumps, and for 99 % of the time packets wait at most "
        "{wait_p99}",
        briefly="({used}, {wait_p99})",
        charts=(THROUGHPUT, QUEUE),
    )


def _outage() -> Cell:
    """A link that is gone for 30 s: retransmissions back off, and the flow comes back."""
    begin, lasts, after, least = 15.0, 30.0, 30.0, 0.2
    # One retransmission per time-out, the first after at least 0.2 s, each twice as long after the one before:
    # within T seconds at most log2(T / 0.2 + 1).
    most = math.floor(math.log2(lasts / least + 1))

    def scenes(control: Control) -> dict[str, Scene]:
        changes = [
            {"at": time(begin), "loss": 1.0},
            {"at": time(begin + lasts), "loss": 0.0},
        ]
        scenario = dumbbell(
            control,
            bit_s=_BIT_S,
            rtt=_RTT,
            duration_s=begin + lasts + after,
            warmup_s=begin + lasts,
            link_keys={"change": changes},
            samples=750,
            flow_keys={"rto_min": time(least)},
        )
        return {"alone": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        series = run.table("flow_series")
        gone = series.filter((series["time_s"] > begin + 1.0) & (series["time_s"] <= begin + lasts))
        return {
            "sent": float(gone["retransmitted"].sum()),
            "used": fairness.share(run, link=LINK),
        }

    sent = Measure(
        "sent",
        "packets sent again from 1 s after the link is gone",
        "packets",
        None,
        at_most=float(most),
    )
    used = Measure("used", "capacity used in the 30 s after the outage", "%", "more", 0.002, 0.03)
    return Cell(
        name="disturbances/outage",
        title="an outage of 30 s",
        source=Source(
            "RFC 6298",
            "the retransmission time-out is doubled whenever it fires, so with 0.2 s at least it fires no "
            f"more than {most} times in 30 s",
            "5",
        ),
        question="All packets are lost for 30 s, both ways: how many are sent meanwhile, and how much of "
        "the 30 s after that is used?",
        scenes=scenes,
        measures=(sent, used),
        says="sends {sent} into an outage of 30 s, and then uses {used} of the 30 s after it",
        briefly="({sent}, {used})",
        charts=(THROUGHPUT,),
    )


def _collapse() -> Cell:
    """Nine of ten packets are lost, for good."""
    begin, settled, duration = 10.0, 30.0, 90.0

    def scenes(control: Control) -> dict[str, Scene]:
        changes = [{"at": time(begin), "loss": 0.9, "reverse": False}]
        scenario = dumbbell(
            control,
            bit_s=_BIT_S,
            rtt=_RTT,
            duration_s=duration,
            warmup_s=settled,
            link_keys={"change": changes},
        )
        return {"alone": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        sent = sum(int(each["data_sent"]) for each in run.flows(FLOW))
        return {"sent": sent / ((duration - settled) / _RTT)}

    sent = Measure("sent", "packets sent per round trip", "", None, at_most=1.0)
    return Cell(
        name="disturbances/collapse",
        title="nine of ten packets lost, for good",
        source=COLLAPSE,
        question="From 10 s on 90 % of data packets are lost: how many packets per round trip does the flow "
        "send, from 20 s after that?",
        scenes=scenes,
        measures=(sent,),
        says="sends {sent} packets per round trip when nine of ten are lost",
        briefly="({sent})",
        charts=(THROUGHPUT,),
    )


GROUP = Group(
    "disturbances",
    "Disturbances",
    "Losses at random and in bursts, reordering, jitter, thinned acknowledgments, policers, outages, "
    "changes of capacity and of the round trip, a cellular trace.",
    _cells,
)
