"""Figure 5: the window over time, packet by packet, with drop-tail and with AVQ."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import QUEUES, fiber, sections, single
from windows import drawn, windows

FIGURE = Experiment(
    id="figure-5",
    title="The same flow on 10 Mbit/s",
    question="Is TCP as good where the link, and not the fibre, holds the window?",
    by=("time_s",),
)
RATE = 1e7
PRODUCT = RATE * 0.1 / 12_000


def points(scale: Scale) -> Iterator[Point]:
    """Both controllers, both queues; the modified one with a smaller alpha."""
    yield from sections(scale, RATE)
    yield Point(
        single(fiber(2e-5), rate_bit_s=RATE, queue=QUEUES["avq"]),
        labels={"control": "small alpha", "queue": "avq"},
        seeds=5 if scale == "quick" else 15,
        tables=("flow_series",),
    )


measure = windows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """How much the utilisations differ, seed by seed."""
    used = across(at(rows, time_s=-1.0), "control", "utilisation", keep=["queue"])
    answers: dict[str, Answer] = {
        f"figure-5/{queue}": per_seed(used, (pl.col("fiber") - pl.col("reno")).abs(), queue=queue)
        for queue in QUEUES
    }
    gentle = (pl.col("small alpha") - pl.col("reno")).abs()
    return answers | {"figure-5/avq/small-alpha": per_seed(used, gentle, queue="avq")}


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one seed."""
    return drawn(rows, PRODUCT)
