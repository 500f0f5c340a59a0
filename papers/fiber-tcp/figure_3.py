"""Figure 3: the window over time, packet by packet, with drop-tail and with AVQ."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed
from longfat.study import Point
from shared import QUEUES, sections
from windows import drawn, windows

FIGURE = Experiment(
    id="figure-3",
    title="One flow on 100 Mbit/s with a fibre loss of 1e-5",
    question="What does the fibre do to the window of each controller?",
    by=("time_s",),
)
RATE = 1e8
PRODUCT = RATE * 0.1 / 12_000


def points(scale: Scale) -> Iterator[Point]:
    """Both controllers, both queues."""
    yield from sections(scale, RATE)


measure = windows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """TCP's mean window, drop-tail; what share of its reactions the modified flow owes to the fibre."""
    means = at(rows, time_s=-1.0, control="reno", queue="drop-tail")
    modified = at(rows, time_s=-1.0, control="fiber")
    false: dict[str, Answer] = {
        f"figure-3/fiber/false/{queue}": per_seed(modified, "false", queue=queue)
        for queue in QUEUES
    }
    return false | {
        "figure-3/tcp/held": per_seed(means, pl.col("window") / PRODUCT),
        "figure-3/tcp/above-100": per_seed(means, "window"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one seed."""
    return drawn(rows, PRODUCT)
