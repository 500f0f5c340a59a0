"""Figure 2 and section III: five HSTCP flows with different round trips, with DropTail and with RED.

The shortest takes the link, as in the paper. With RED it takes less, but rates remain a factor of 18 apart:
the longest meets more congestion per packet, whatever the buffer.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import windows_beside
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Measured, Point, Row
from shared import FIVE_HSTCP, PACKET_BIT, RED, dumbbell, shares_and_windows

FIGURE = Experiment(
    id="figure-2",
    title="Five HSTCP flows: a short round trip takes the link",
    question="How unequal do HSTCP's windows become, and does RED prevent it?",
    by=("kind", "flow", "time_s"),
)
RESPONSE = 0.835
"""HSTCP's windows are as the rate of congestion events to the power of minus this (RFC 3649)."""
RTT_RATIO = max(FIVE_HSTCP) / min(FIVE_HSTCP)
STEADY_S = 150
"""How long shares and events are counted."""
LARGE = "RED, 100 ms of buffer"
QUEUES: dict[str, dict[str, object]] = {
    "DropTail": {},
    "RED": {"link.bottleneck.queue": RED},
    LARGE: {"link.bottleneck.queue": RED, "link.bottleneck.buffer": "100 ms"},
}


def points(scale: Scale) -> Iterator[Point]:
    """The five flows with DropTail, with RED, and with RED and more buffer."""
    for queue, change in QUEUES.items():
        seeds = 5 if scale == "quick" or queue == LARGE else 10
        yield dumbbell(scale, "hstcp", FIVE_HSTCP, seeds=seeds, set=change, queue=queue)


def measure(run: Measured) -> list[Row]:
    """Shares; for the first seed also the windows."""
    return shares_and_windows(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Shares over the steady part."""
    found = at(rows, kind="shares")
    jain = across(found, "queue", "jain", keep=[])
    short, long = pl.col("u0"), pl.col("u4")
    marks = (pl.col("events_last") / long) / (pl.col("events_first") / short)
    return {
        "figure-2/red/used": per_seed(found, "utilisation", queue="RED"),
        "figure-2/red/large/used": per_seed(found, "utilisation", queue=LARGE),
        "figure-2/red/events": per_seed(found, marks, queue="RED"),
        "figure-2/red/large/events": per_seed(found, marks, queue=LARGE),
        "figure-2/red/response": per_seed(
            found, marks**RESPONSE * (RTT_RATIO / (short / long)), queue="RED"
        ),
        "figure-2/red/apart": per_seed(found, "with_second", queue="RED"),
        "figure-2/lose-together": per_seed(found, "with_second", queue="DropTail"),
        "figure-2/severe": per_seed(found, "jain", queue="DropTail"),
        "figure-2/ratio": per_seed(found, short / long, queue="DropTail"),
        "figure-2/red/index": per_seed(jain, pl.col("RED") - pl.col("DropTail")),
        "figure-2/red/not-severe": per_seed(found, short / long, queue="RED"),
        "figure-2/red/large": per_seed(found, short / long, queue=LARGE),
        "figure-2/small-windows-lose-less": per_seed(
            found, pl.col("events_last") / pl.col("events_first"), queue="DropTail"
        ),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """With RED: how many packets are marked, and how many congestion events flows make of that."""
    shares = at(rows, kind="shares")
    found = at(shares, queue="RED")
    packets = STEADY_S * pl.col("rate_bit_s") / PACKET_BIT
    return {
        "figure-2/red/large/apart": per_seed(shares, "with_second", queue=LARGE),
        "figure-2/red/marked": per_seed(found, "marked"),
        "figure-2/red/first": per_seed(found, pl.col("events_first") / (packets * pl.col("u0"))),
        "figure-2/red/last": per_seed(found, pl.col("events_last") / (packets * pl.col("u4"))),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one run with each queue."""
    titles = {queue: f"{queue}: index {{:.2f}}" for queue in QUEUES}
    return windows_beside(rows, "queue", titles, FIVE_HSTCP, "jain")
