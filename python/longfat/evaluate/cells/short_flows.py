"""Short flows: how long they take under load and beside long ones; pauses, and sources with limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import FLOWS, QUEUE, THROUGHPUT, buffer_s
from longfat.evaluate.cells._scenarios import GROUP as FLOW
from longfat.evaluate.cells._scenarios import LINK, around, dumbbell, flow, link, path, rate
from longfat.power import ProcessorSharing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

SHORT = Source(
    "RFC 9743", "it must be considered how short flows affect long ones, and the reverse", "5.1.5"
)
SHARING = Source(
    "Kleinrock, Queueing Systems 2, 1976",
    "where all transfers in progress share a link equally, one takes as long as its service, over one minus "
    "the load",
)
REAL_TIME = Source(
    "RFC 9743", "flows with strict bounds on latency have to live beside others", "5.2.2"
)
USER = Source(
    "RFC 5166", "throughput may be measured by how long users wait, a metric of theirs", "2.1.1"
)

_RTT = 0.04
_WEB = "short"


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [
        *(_loaded(*each) for each in _LOADS),
        *(_beside_long(*each) for each in ((100e6, False), (1e9, True))),
        _pauses(),
        _source(),
    ]


def _traffic(control: Control, load: float, size_bytes: int) -> dict[str, Any]:
    return {
        "name": _WEB,
        "control": control,
        "path": [LINK],
        "arrivals": {"load": f"{100 * load:g} %"},
        "size": {"exponential": {"mean": f"{size_bytes // 1000} kB"}},
        "rtt": around(_RTT),
    }


_LOADS = (
    (100e6, 0.3, 200_000, True),
    (100e6, 0.5, 200_000, True),
    (100e6, 0.8, 200_000, False),
    (1e9, 0.6, 2_000_000, True),
)


def _loaded(bit_s: float, load: float, size: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Nothing but short flows."""

    def scenes(control: Control) -> dict[str, Scene]:
        links = {LINK: link(bit_s, _RTT, bdp="40 ms")}
        scenario = path(60.0, 10.0, links, [], traffic=[_traffic(control, load, size)])
        return {"loaded": Scene(scenario, measure)}

    def measure(run: Measured) -> Row:
        completion = run.summary["traffic"][_WEB]["completion_s"]
        if completion is None:
            return {"mean": None, "p99": None, "slowdown": None}
        best = ProcessorSharing(bit_s, size, 8 * size / bit_s + _RTT / 2).response_s(load)
        return {
            "mean": completion["mean"],
            "p99": completion["p99"],
            "slowdown": completion["mean"] / best,
        }

    slowdown = Measure(
        "slowdown", "mean completion time over that of processor sharing", "", "less", 0.05, 0.05
    )
    return Cell(
        name=f"short-flows/load-{100 * load:g}-{bit_s / 1e6:g}Mbit",
        title=f"short flows at a load of {100 * load:g} % of {rate(bit_s)}",
        source=SHARING,
        question=f"Flows of {size // 1000} kB on average, exponentially distributed, arrive at random and fill "
        f"{100 * load:g} % of {rate(bit_s)} with a round trip of 40 ms: how long do they take, against "
        "equal shares of the link from the first packet on?",
        scenes=scenes,
        measures=(*_COMPLETION, slowdown),
        says="takes {mean} on average for short flows, {slowdown} times what processor sharing would, and "
        "{p99} for the slowest of a hundred",
        briefly="({mean}, {slowdown} times, {p99})",
        full_only=full_only,
    )


_COMPLETION = (
    Measure("mean", "completion time of short flows, mean", "s", "less", 1e-3, 0.05),
    Measure("p99", "completion time of short flows, 99th percentile", "s", "less", 1e-3, 0.1),
)


def _beside_long(bit_s: float, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Short flows beside two long ones of the same kind."""

    def scenes(control: Control) -> dict[str, Scene]:
        flows = [flow(control, _RTT, name="long", count=2)]
        traffic = [_traffic(control, 0.1, 50_000)]
        scenario = path(45.0, 15.0, {LINK: link(bit_s, _RTT)}, flows, traffic=traffic)
        return {"beside": Scene(scenario, measure, ("flow_series", "link_series"))}

    def measure(run: Measured) -> Row:
        completion = run.summary["traffic"][_WEB]["completion_s"] or {"mean": None, "p99": None}
        long = sum(float(each["goodput_bit_s"]) for each in run.flows("long"))
        return {"mean": completion["mean"], "p99": completion["p99"], "long": long / bit_s}

    long = Measure("long", "capacity that the two long flows use", "%", "more", 0.002, 0.03)
    return Cell(
        name=f"short-flows/beside-long-{bit_s / 1e6:g}Mbit",
        title=f"short flows beside two long ones at {rate(bit_s)}",
        source=SHORT,
        question=f"Flows of 50 kB on average fill 10 % of {rate(bit_s)} with a round trip of 40 ms, beside "
        "two long ones with the same controller: how long do they take, and what is left to the long ones?",
        scenes=scenes,
        measures=(*_COMPLETION, long),
        says="takes {mean} on average for flows of 50 kB beside two long ones, {p99} for the slowest of a "
        "hundred, and the long ones use {long}",
        briefly="({mean}, {p99}, {long})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


def _pauses() -> Cell:
    """Requests with pauses between them."""
    size = 5_000_000

    def scenes(control: Control) -> dict[str, Scene]:
        application = {
            "kind": "request-response",
            "response": f"{size // 1_000_000} MB",
            "think": "3 s",
        }
        scenario = dumbbell(
            control,
            bit_s=100e6,
            rtt=_RTT,
            duration_s=90.0,
            warmup_s=10.0,
            flow_keys={"application": application},
        )
        return {"alone": Scene(scenario, measure, ("flow_series", "link_series"))}

    def measure(run: Measured) -> Row:
        found = run.summary["applications"][FLOW]["response_s"] or {"mean": None, "p99": None}
        return {"mean": found["mean"], "p99": found["p99"], "loss": run.link()["drop_rate"]}

    mean = Measure("mean", "response time, mean", "s", "less", 1e-3, 0.05)
    p99 = Measure("p99", "response time, 99th percentile", "s", "less", 1e-3, 0.1)
    loss = Measure("loss", "packets dropped by the queue", "probability", "less", 1e-3, 0.1)
    return Cell(
        name="short-flows/pauses",
        title="responses of 5 MB with pauses of 3 s",
        source=USER,
        question="A connection answers requests with 5 MB each over 100 Mbit/s with a round trip of 40 ms, "
        "and rests for 3 s after each: how long does an answer take? 0.44 s would be the least.",
        scenes=scenes,
        measures=(mean, p99, loss),
        says="answers a request in {mean} on average, after pauses of 3 s",
        briefly="({mean})",
        charts=(THROUGHPUT, QUEUE),
    )


def _source() -> Cell:
    """A source with a rate of its own, beside two flows that take what there is."""

    def scenes(control: Control) -> dict[str, Scene]:
        application = {"kind": "constant", "rate": "2 Mbit/s"}
        flows = [
            flow(control, _RTT, name="source", application=application),
            flow(control, _RTT, name="long", count=2),
        ]
        scenario = path(45.0, 15.0, {LINK: link(50e6, _RTT)}, flows)
        return {"beside": Scene(scenario, measure, ("flow_series",))}

    def measure(run: Measured) -> Row:
        found = run.summary["applications"]["source"]
        delay = found["delay_s"] or {"p50": None, "p99": None}
        queue = run.link()["queue_mean"]
        return {
            "p50": delay["p50"],
            "p99": delay["p99"],
            "wait": None if queue is None else queue * buffer_s(run),
        }

    p50 = Measure("p50", "from writing data to its arrival, median", "s", "less", 2e-3, 0.1)
    p99 = Measure(
        "p99", "from writing data to its arrival, 99th percentile", "s", "less", 5e-3, 0.1
    )
    wait = Measure("wait", "waiting time in the queue, mean", "s")
    return Cell(
        name="short-flows/limited-source",
        title="a source of 2 Mbit/s beside two long flows",
        source=REAL_TIME,
        question="An application writes 2 Mbit/s into a connection that shares 50 Mbit/s with two long "
        "flows of the same controller, at a round trip of 40 ms: how long does its data take? 20 ms would "
        "be the least.",
        scenes=scenes,
        measures=(p50, p99, wait),
        says="delivers the data of a limited source in {p50}, and 99 % of it within {p99}",
        briefly="({p50}, {p99})",
        charts=(FLOWS,),
    )


GROUP = Group(
    "short-flows",
    "Short flows and sources with limits",
    "Completion times under load and beside long flows, requests after pauses, a source that needs little.",
    _cells,
)
