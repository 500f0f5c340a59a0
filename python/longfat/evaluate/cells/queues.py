"""Queues: the same path with each queue discipline, and neighbours behind those that keep flows apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat.evaluate.cells._cell import Cell, Group, Measure, Scene, Source
from longfat.evaluate.cells._measures import (
    FAIR,
    LOSS,
    QUEUE,
    SERIES,
    THROUGHPUT,
    USED,
    WAIT_P50,
    WAIT_P99,
    goodputs,
    lesser,
    of_path,
)
from longfat.evaluate.cells._scenarios import GROUP as FLOW
from longfat.evaluate.cells._scenarios import LINK, dumbbell, flow, link, path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.study import Measured

AQM = Source(
    "RFC 9743",
    "controllers should be evaluated under a variety of queue disciplines, FQ-CoDel, PIE and L4S among them",
    "7.1",
)
TAIL = Source("RFC 9743", "drop tail must be evaluated", "6.1")
COMPARED = Source(
    "RFC 7928",
    "queue disciplines are to be characterised by the trade-off between latency and goodput",
    "2.7",
)

_BIT_S, _RTT = 100e6, 0.05
_QUEUES = (
    ("drop-tail", "drop tail", TAIL),
    ("red", "RED", COMPARED),
    ("codel", "CoDel", AQM),
    ("fq-codel", "FQ-CoDel", AQM),
    ("pie", "PIE", AQM),
    ("dualpi2", "DualPI2", AQM),
)
_TITLES = {kind: title for kind, title, _ in _QUEUES}


def _cells(incumbents: Mapping[str, Control]) -> list[Cell]:
    return [
        *(_behind(*each) for each in _QUEUES),
        *(_at_rate("codel", 10e6), _at_rate("fq-codel", 1e9), _at_rate("pie", 1e9)),
        *(
            _beside(name, control, queue)
            for queue in ("codel", "fq-codel", "dualpi2")
            for name, control in incumbents.items()
        ),
    ]


def _behind(kind: str, title: str, source: Source) -> Cell:
    """Four flows behind a queue discipline."""
    return _four(f"queues/{kind}", kind, f"four flows behind {title}", source, _BIT_S)


def _at_rate(kind: str, bit_s: float) -> Cell:
    """The same at another rate."""
    rate = f"{bit_s / 1e6:g}Mbit"
    title = f"four flows behind {_TITLES[kind]} at {bit_s / 1e6:g} Mbit/s"
    return _four(f"queues/{kind}-{rate}", kind, title, AQM, bit_s, full_only=True)


def _four(
    name: str, kind: str, title: str, source: Source, bit_s: float, *, full_only: bool = False
) -> Cell:
    def scenes(control: Control) -> dict[str, Scene]:
        scenario = dumbbell(
            control,
            bit_s=bit_s,
            rtt=_RTT,
            duration_s=45.0 if bit_s <= _BIT_S else 20.0,
            flows=4,
            buffer="2 bdp",
            link_keys={"queue": kind},
        )
        return {"together": Scene(scenario, _measured, SERIES)}

    marks = Measure("marks", "packets marked", "probability")
    return Cell(
        name=name,
        title=title,
        source=source,
        question=f"Four flows share {bit_s / 1e6:g} Mbit/s with a round trip of 50 ms and a buffer of two "
        f"bandwidth-delay products behind {_TITLES[kind]}: how much do they use, how long do packets wait, "
        "and how even are they?",
        scenes=scenes,
        measures=(USED, WAIT_P50, WAIT_P99, LOSS, FAIR, marks),
        says=f"uses {{used}} behind {_TITLES[kind]}, and for 99 % of the time packets wait at most "
        f"{{wait_p99}}",
        briefly="({used}, {wait_p99})",
        charts=(THROUGHPUT, QUEUE),
        full_only=full_only,
    )


def _measured(run: Measured) -> Row:
    return {
        **of_path(run),
        "fair": run.summary["jain"][FLOW],
        "marks": run.link()["mark_rate"],
    }


def _beside(name: str, incumbent: Control, queue: str) -> Cell:
    """Two flows beside two of an incumbent, behind a queue discipline."""

    def scenario(newcomer: Control) -> dict[str, Any]:
        return path(
            45.0,
            15.0,
            {LINK: link(_BIT_S, _RTT, buffer="2 bdp", queue=queue)},
            [
                flow(incumbent, _RTT, name="incumbent", count=2),
                flow(newcomer, _RTT, name="newcomer", count=2),
            ],
        )

    def scenes(control: Control) -> dict[str, Scene]:
        return {"mixed": Scene(scenario(control), measure)}

    def measure(run: Measured) -> Row:
        old, new = (math.fsum(goodputs(run, group)) for group in ("incumbent", "newcomer"))
        share = old / (old + new) if old + new else None
        return {"share": share, "lesser": lesser(share), "used": (old + new) / _BIT_S}

    share = Measure("share", "what two flows of the incumbent get of the goodput of all four", "%")
    less = Measure("lesser", "share of the pair that gets less", "%", "more", 0.05)
    return Cell(
        name=f"queues/{queue}-beside-{''.join(c if c.isalnum() else '-' for c in name)}",
        title=f"beside {name}, behind {_TITLES[queue]}",
        source=AQM,
        question=f"Two flows share 100 Mbit/s with two of {name} behind {_TITLES[queue]}: what do those of "
        f"{name} get? Half would be equal: more or less of it is judged by what the pair gets that gets less.",
        scenes=scenes,
        measures=(share, less, USED),
        says=f"flows of {name} get {{share}} beside as many of {{name}} behind {_TITLES[queue]}, and whoever "
        "gets less {lesser}",
        briefly="beside {name} itself {share} and {lesser}",
        beside=name,
        full_only=True,
    )


GROUP = Group(
    "queues",
    "Queue disciplines",
    "Drop tail, RED, CoDel, FQ-CoDel, PIE and DualPI2: what the controller and the queue make of each other.",
    _cells,
)
