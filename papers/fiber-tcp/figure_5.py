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
    """Both controllers, both queues; what might be to blame, one thing at a time: alpha, the target of AVQ."""
    yield from sections(scale, RATE)
    full = {"kind": "avq", "utilisation": 1.0}
    for control, law, queue, kind in (
        ("small alpha", fiber(2e-5), "avq", QUEUES["avq"]),
        ("fiber", fiber(), "avq at 100 %", full),
        ("reno", "reno", "avq at 100 %", full),
    ):
        yield Point(
            single(law, rate_bit_s=RATE, queue=kind),
            labels={"control": control, "queue": queue},
            seeds=5 if scale == "quick" else 15,
            tables=("flow_series",),
        )


measure = windows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """How much the utilisations differ, seed by seed; what share of its reactions TCP owes to the fibre."""
    used = across(at(rows, time_s=-1.0), "control", "utilisation", keep=["queue"])
    answers: dict[str, Answer] = {
        f"figure-5/{queue}": per_seed(used, (pl.col("fiber") - pl.col("reno")).abs(), queue=queue)
        for queue in QUEUES
    }
    tcp = at(rows, time_s=-1.0, control="reno")
    answers |= {
        f"figure-5/tcp/false/{queue}": per_seed(tcp, "false", queue=queue) for queue in QUEUES
    }
    gentle = (pl.col("small alpha") - pl.col("reno")).abs()
    return answers | {"figure-5/avq/small-alpha": per_seed(used, gentle, queue="avq")}


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """The difference in percentage points without AVQ's margin."""
    used = across(at(rows, time_s=-1.0), "control", "utilisation", keep=["queue"])
    difference = 100 * (pl.col("fiber") - pl.col("reno"))
    return {"figure-5/avq/full-target": per_seed(used, difference, queue="avq at 100 %")}


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one seed."""
    return drawn(rows, PRODUCT)
