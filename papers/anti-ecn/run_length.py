"""How Table I depends on the length of the run, with trains and with pacing.

In trains, one packet per round trip finds the virtual queue empty, and the slope is 2 below the threshold.
Paced, every packet does: the window doubles each round trip, and no run length gives the table.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import (
    LENGTH_S,
    TABLE,
    THRESHOLDS,
    Values,
    delivered,
    improvements,
    lone,
    misses,
    product_s,
)

FIGURE = Experiment(
    id="run-length",
    title="Table I against the length of the run: in trains, and paced",
    question="Which run length gives the table, and does pacing leave it one?",
    by=("products",),
)
COLOURS = ("#0B3C5D", "#2E86AB", "#4FB286", "#E08E1B")
SENDING = ("trains", "paced")
EQUAL_S = (300, 600)
"""Lengths at which both round trips are compared."""


def points(scale: Scale) -> Iterator[Point]:
    """40 ms up to three products, 200 ms to one.

    Paced slow start would run until it fills the path, so it is ended at 100 packets.
    """
    small = 5 if scale == "quick" else 1
    for threshold in (None, *THRESHOLDS):
        yield lone(scale, 40, threshold, length_s=600, sending="trains")
        paced = {"flow.lone.pacing": "spread", "flow.lone.initial_threshold": 100 / small}
        yield lone(scale, 40, threshold, length_s=600, sending="paced", set=paced)
        yield lone(scale, 200, threshold, sending="trains")


def measure(run: Measured) -> list[Row]:
    """What was delivered up to each time."""
    return delivered(run)


def cells(rows: pl.DataFrame, rtt: int, seconds: float) -> Values:
    """The improvements after this long: a row of the table."""
    length, found = improvements(rows, rtt_ms=rtt, sending="trains")
    return np.asarray(found[abs(length - seconds / product_s(rtt)).argmin()])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic."""
    answers: dict[str, Answer] = {}
    for rtt in TABLE:
        length, found = improvements(rows, rtt_ms=rtt, sending="trains")
        far = length >= 0.7
        miss = misses(found[far], rtt)
        answers[f"run-length/{rtt}ms/best"] = float(miss.min())
        answers[f"run-length/{rtt}ms/where"] = float(length[far][miss.argmin()])
    length, found = improvements(rows, rtt_ms=40, sending="trains")
    highest = found[length >= 0.8, -1]
    answers["run-length/40ms/swing"] = float(highest.max() - highest.min())
    for seconds in EQUAL_S:
        more = cells(rows, 200, seconds) - cells(rows, 40, seconds)
        answers[f"run-length/equal/{seconds}"] = float(more.min())
        answers[f"run-length/equal/{seconds}/table"] = float(
            np.sqrt(np.mean([(cells(rows, rtt, seconds) - TABLE[rtt]) ** 2 for rtt in TABLE]))
        )
    product = cells(rows, 200, product_s(200)) - cells(rows, 40, product_s(40))
    answers["run-length/equal/product"] = float(abs(product).max())
    for rtt in TABLE:
        around = [cells(rows, rtt, share * LENGTH_S[rtt]) for share in (0.9, 1.0)]
        answers[f"run-length/{rtt}ms/tenth"] = float(abs(around[0] - around[1]).max())
    length, found = improvements(rows, rtt_ms=40, sending="paced")
    answers["run-length/paced"] = float(misses(found[length >= 0.7], 40).min())
    for sending in SENDING:
        line = at(rows, rtt_ms=40, sending=sending, threshold=0.5)
        reached = line.filter(pl.col("window") > 0.475)["products"].min()
        answers[f"run-length/reach/{sending}"] = float(str(reached))
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Improvement against run length for 40 ms in trains and paced, and for 200 ms."""
    figure, axes = plots.grid(1, 3, width=14, height=5.8, sharey=True)
    figure.subplots_adjust(top=0.72)
    panels = (
        (40, "trains", "40 ms, in trains"),
        (40, "paced", "40 ms, paced"),
        (200, "trains", "200 ms, in trains"),
    )
    for panel, (rtt, sending, title) in zip(axes[0], panels, strict=True):
        length, found = improvements(rows, rtt_ms=rtt, sending=sending)
        far = length >= 0.1
        fitted = LENGTH_S[rtt] / product_s(rtt)
        for column, (threshold, colour) in enumerate(zip(THRESHOLDS, COLOURS, strict=True)):
            panel.plot(
                length[far],
                100 * found[far, column],
                color=colour,
                linewidth=1.8,
                label=f"threshold {100 * threshold:.0f} %",
            )
            panel.plot(
                fitted,
                100 * TABLE[rtt][column],
                "o",
                color=colour,
                markeredgecolor="#222222",
                markersize=7,
                zorder=5,
            )
        miss = misses(found[length >= 0.7], rtt)
        panel.axvline(fitted, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1, zorder=1)
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
        panel.annotate(
            f"the table is missed by\n{100 * miss.min():.1f} points at the best length",
            (0.97, 0.95) if rtt == 40 else (0.04, 0.04),
            xycoords="axes fraction",
            ha="right" if rtt == 40 else "left",
            va="top" if rtt == 40 else "bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
            fontsize=10,
        )
        panel.set(xlabel="length of the run (rate × round trip²)", ylim=(0, 80))
    axes[0, 0].set_ylabel("more throughput (%)")
    plots.legend(figure, axes[0, 0])
    return figure
