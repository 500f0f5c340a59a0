"""Topologies: several bottlenecks, traffic both ways, asymmetric links, many flows, small buffers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat import fairness
from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import (
    FAIR,
    FLOWS,
    LOSS,
    SERIES,
    THROUGHPUT,
    USED,
    WAIT_P99,
    buffer_s,
    goodputs,
    of_path,
)
from longfat.evaluate.cells._scenarios import GROUP as FLOW
from longfat.evaluate.cells._scenarios import LINK, dumbbell, flow, link, path, rate
from longfat.units import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

PARKING = Source(
    "RFC 5166",
    "what is fair between flows that cross different numbers of congested links is open",
    "2.3.3",
)
REVERSE = Source(
    "RFC 5166",
    "a realistic setting has cross traffic on the way there and on the way back",
    "2.2.2",
)
ASYMMETRIC = Source(
    "RFC 3449", "on asymmetric links acknowledgments may limit the data that they acknowledge"
)
MANY = Source(
    "RFC 9743",
    "the share of the capacity and the losses of many flows with the same controller are to be looked at",
    "5.1",
)
SMALL = Source(
    "Appenzeller, Keslassy and McKeown, SIGCOMM 2004",
    "where n long flows share a link, a buffer of the bandwidth-delay product over the square root of n "
    "keeps it busy, for 10 000 of Reno at least 98.99 % of the time",
    "3",
)


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [
        *(_parking_lot(*each) for each in ((2, True), (3, False), (5, True))),
        _both_ways(),
        *(_asymmetric(*each) for each in ((100, True), (500, False))),
        *(_many(*each) for each in ((10, True), (100, True), (1000, False), (10_000, True))),
        *(_small_buffer(*each) for each in ((100, False), (1000, True), (10_000, True))),
    ]


def _parking_lot(links: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """A flow across several links, each with a flow of its own."""
    bit_s, rtt = 50e6, 0.06
    names = [f"link-{index}" for index in range(1, links + 1)]

    def scenes(control: Control) -> dict[str, Scene]:
        chain = {name: link(bit_s, rtt / links) for name in names}
        flows = [flow(control, rtt, name="long", path=names)]
        flows += [
            flow(control, rtt, name=f"on-{index}", path=[name])
            for index, name in enumerate(names, start=1)
        ]
        return {"chain": Scene(path(90.0, 30.0, chain, flows), measure, ("flow_series",))}

    def measure(run: Measured) -> Row:
        (long,) = goodputs(run, "long")
        others = [got for at in range(1, links + 1) for got in goodputs(run, f"on-{at}")]
        busy = [run.link(name)["utilisation"] for name in names]
        return {"long": long / bit_s, "least": min(long, *others) / bit_s, "used": min(busy)}

    long = Measure("long", "what the flow across all links gets of one of them", "%")
    least = Measure(
        "least", "what the flow gets of a link that gets least", "%", "more", 0.002, 0.03
    )
    used = Measure("used", "utilisation of the least busy link", "%", "more", 0.002, 0.03)
    return Cell(
        name=f"topologies/parking-lot-{links}",
        title=f"a flow across {links} full links",
        source=PARKING,
        question=f"A flow crosses {links} links of 50 Mbit/s, each shared with a flow of its own, all with "
        "a round trip of 60 ms: what does it get? Half would be max-min fair: more or less of it is "
        "judged by what the flow gets that gets least.",
        scenes=scenes,
        measures=(long, least, used),
        says=f"leaves {{long}} of a link to the flow that crosses {links} of them",
        briefly="({long})",
        charts=(FLOWS,),
        full_only=full_only,
    )


def _both_ways() -> Cell:
    """Data in both directions."""
    bit_s, rtt = 100e6, 0.05

    def scenes(control: Control) -> dict[str, Scene]:
        flows = [
            flow(control, rtt, name="there", count=4),
            flow(control, rtt, name="back", count=4, reverse=True),
        ]
        scenario = path(45.0, 15.0, {LINK: link(bit_s, rtt)}, flows)
        return {"both": Scene(scenario, measure, SERIES)}

    def measure(run: Measured) -> Row:
        there, back = fairness.share(run, "there"), fairness.share(run, "back")
        return {
            "used": min(there, back),
            "wait_p99": run.link()["queue_p99"] * buffer_s(run),
            "loss": fairness.loss_rate(run),
        }

    used = Measure(
        "used", "capacity used for new data, in the worse direction", "%", "more", 0.002, 0.03
    )
    return Cell(
        name="topologies/both-ways",
        title="four flows each way",
        source=REVERSE,
        question="Four flows each way share 100 Mbit/s with a round trip of 50 ms, so that acknowledgments "
        "wait behind data: how much is used in the worse direction?",
        scenes=scenes,
        measures=(used, WAIT_P99, LOSS),
        says="uses {used} of the worse direction when data goes both ways",
        briefly="({used})",
        charts=(THROUGHPUT,),
    )


def _asymmetric(times: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """A way back that is much slower."""
    bit_s = 100e6

    def scenes(control: Control) -> dict[str, Scene]:
        back = {"rate": rate(bit_s / times), "buffer": "50 packets"}
        scenario = dumbbell(
            control, bit_s=bit_s, rtt=0.03, duration_s=45.0, link_keys={"reverse": back}
        )
        return {"alone": Scene(scenario, of_path, SERIES)}

    return Cell(
        name=f"topologies/asymmetric-{times}",
        title=f"{rate(bit_s)} there and {rate(bit_s / times)} back",
        source=ASYMMETRIC,
        question=f"Data has 100 Mbit/s and its acknowledgments {rate(bit_s / times)}, with a round trip of "
        "30 ms: how much does one flow use?",
        scenes=scenes,
        measures=(USED, WAIT_P99, LOSS),
        says="uses {used} of the way there",
        briefly="({used})",
        charts=(THROUGHPUT,),
        full_only=full_only,
    )


_PER_FLOW = 1e6
_CROWD = 10_000
_MOST_SEEDS = 3


def _many(count: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """Many flows, each with a megabit per second for its share."""
    bit_s, rtt = count * _PER_FLOW, 0.1
    duration = _duration(count)

    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=rtt,
            duration_s=duration,
            flows=count,
            buffer="1 bdp",
            samples=20,
            flow_keys={"packet": "1500 B", "start": {"uniform": ["0 s", "2 s"]}},
        )
        return {"together": Scene(scenario, _crowd)}

    return Cell(
        name=f"topologies/many-{count}",
        title=f"{count:,} flows on {rate(bit_s)}",
        source=MANY,
        question=f"{count:,} flows share {rate(bit_s)} with a round trip of 100 ms: how much do they use "
        "and lose, how long do packets wait, and how even are they?",
        scenes=scenes,
        measures=(USED, LOSS, WAIT_P99, FAIR),
        says=f"uses {{used}} with {count:,} flows, loses {{loss}} of their packets, and shares at an index "
        f"of {{fair}}",
        briefly="({used}, {loss}, {fair})",
        full_only=full_only,
        most_seeds=_MOST_SEEDS if count >= _CROWD else None,
    )


def _duration(count: int) -> float:
    """More flows have more packets, and at a megabit per second each they have few round trips to wait for."""
    return 8.0 if count >= _CROWD else 20.0


def _crowd(run: Measured) -> Row:
    """Of many flows, without their time series."""
    return {
        "used": fairness.share(run, link=LINK),
        "busy": run.link()["utilisation"],
        "loss": fairness.loss_rate(run),
        "wait_p99": run.link()["queue_p99"] * buffer_s(run),
        "fair": run.summary["jain"][FLOW],
    }


def _small_buffer(count: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    """The buffer rule, with as many flows as it takes to hold, and with fewer."""
    bit_s, rtt = max(200e6, count * _PER_FLOW), 0.07
    share = 1.0 / math.sqrt(count)
    stated = count == _CROWD  # for which the paper has a number

    def scenes(control: Control) -> dict[str, Scene]:
        keys: dict[str, Any] = {"packet": "1500 B", "start": {"uniform": ["0 s", "2 s"]}}
        keys["rtt"] = {"uniform": ["60 ms", "100 ms"]}
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=rtt,
            duration_s=15.0 if stated else _duration(count),
            warmup_s=8.0,
            flows=count,
            buffer=f"{share:.4g} bdp",
            samples=20,
            link_keys={"bdp": "80 ms"},
            flow_keys=keys,
        )
        return {"together": Scene(scenario, _crowd)}

    busy = Measure(
        "busy", "utilisation of the link", "%", "more", 0.01, at_least=0.9899 if stated else None
    )
    return Cell(
        name=f"topologies/small-buffer-{count}",
        title=f"{count:,} flows on {rate(bit_s)}, buffer of BDP/√n",
        source=SMALL,
        question=f"{count:,} flows share {rate(bit_s)} with round trips of 60 to 100 ms and a buffer of "
        f"{percent(share)} of the bandwidth-delay product: how busy is the link?",
        scenes=scenes,
        measures=(busy, LOSS, FAIR),
        says=f"keeps the link {{busy}} busy with {count:,} flows and a buffer of {percent(share)} of the "
        "bandwidth-delay product",
        briefly="({busy})",
        full_only=full_only,
        most_seeds=_MOST_SEEDS if count >= _CROWD else None,
    )


GROUP = Group(
    "topologies",
    "Topologies and many flows",
    "Several bottlenecks in a row, data both ways, asymmetric links, ten to ten thousand flows, small buffers.",
    _cells,
)
