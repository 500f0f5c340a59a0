"""Why networks with a small bandwidth-delay product differ: the buffer, and how a loss is noticed."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Point
from shared import ALONE, NETWORKS, point

FIGURE = Experiment(
    id="buffers",
    title="At 1.8 ms a buffer of a round trip cuts a burst: time-outs take the power",
    question="Is it the buffer that takes Blitz's advantage from networks of short delay?",
)
TIMES = (1, 2, 4, 16)
"""Buffers, as multiples of what the network sends in a round trip."""

SHARES = (0.2, 1.0)
LOADS = (0.02, 0.3, 0.6, 0.8, 0.9)


def points(scale: Scale) -> Iterator[Point]:
    """The network of 1.8 ms with larger buffers; and a lone burst that notices losses only by the timer."""
    net = NETWORKS["aurora"]
    seeds, least = shared.TRANSFERS[scale]
    for times in TIMES:
        size: dict[str, Any] = {
            f"link.{link}.buffer": f"{times * net.buffer} packets"
            for link in ("bottleneck", "exit")
        }
        for share in SHARES:
            for control in shared.CONTROLS:
                for load in LOADS:
                    count = max(least, round(5.0 * load / net.service_s(share)))
                    yield named(
                        point("aurora", share, control, load, count, seeds=seeds, set=size), times
                    )
    for notice, name in (
        ("reno", "reno"),
        ("blitz", "blitz"),
        ({"kind": "blitz", "duplicates": 1000}, "timer"),
    ):
        alone = point("slower", 0.2, notice, ALONE, 12, seeds=1, label=name)
        yield named(alone, 1)


def named(one: Point, times: int) -> Point:
    """The same point with the buffer as a label."""
    labels: dict[str, Any] = {**one.labels, "times": times}
    return Point(one.scenario, one.set, labels, one.seeds, one.tables)


measure = shared.measure


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The gap with the largest buffer; and the burst that waits for the timer."""
    tops = at(rows, network="aurora").group_by("share", "control", "times", "seed").agg(
        pl.col("power").max().log10().alias("best")
    )  # fmt: skip
    gap = across(tops, "control", "best", keep=["share", "times"])
    above = pl.col("blitz") - pl.col("reno")
    alone = at(rows, network="slower")
    wide = across(alone, "control", "power", keep=[])
    (few,) = per_seed(wide, (pl.col("timer") / pl.col("reno")).log10())
    return {
        "buffers/above": per_seed(gap, above.min(), times=16),
        "buffers/timer": float(few or 0.0),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The largest power against the buffer."""
    figure, axes = plots.grid(1, 2, sharey=True, width=12, height=5.6)
    figure.subplots_adjust(top=0.74)
    tops = at(rows, network="aurora").group_by("share", "control", "times", "seed").agg(
        pl.col("power").max()
    )  # fmt: skip
    for panel, share in zip(axes[0], SHARES, strict=True):
        plots.over(panel, tops.sort("control"), x="times", y="power", log=True, share=share)
        panel.set(yscale="log", xlabel="buffer (rate of the network x 1.8 ms)")
        panel.set_xticks(TIMES, [str(times) for times in TIMES])
        panel.set_title(f"bottleneck {150 * share:g} Mbit/s", loc="left", fontsize=12,
                        fontweight="bold")  # fmt: skip
    axes[0, 0].set_ylabel("largest power (Mbit/s per s)")
    plots.legend(figure, axes[0, 0])
    return figure
