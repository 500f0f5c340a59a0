"""Table I: what a lone flow gains from AntiECN. The paper does not give the run length; see run-length."""

from collections.abc import Iterator
from itertools import pairwise

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import TABLE, THRESHOLDS, lone

FIGURE = Experiment(
    id="table-1",
    title="What AntiECN brings a lone flow",
    question="How much more throughput at which threshold?",
)
COLOURS = {40: "#E08E1B", 200: "#0B3C5D"}


def points(scale: Scale) -> Iterator[Point]:
    """Both round trips, four thresholds and none."""
    for rtt in TABLE:
        for threshold in (None, *THRESHOLDS):
            yield lone(scale, rtt, threshold)


def measure(run: Measured) -> Row:
    """Goodput over the whole run, and what was dropped."""
    link = run.link()
    return {
        "goodput_bit_s": run.flows()[0]["goodput_bit_s"],
        "dropped": link["dropped"],
        "marked": link["marked"],
    }


def row(rows: pl.DataFrame, rtt: int) -> list[float]:
    """Our row of the table."""
    plain = float(at(rows, rtt_ms=rtt, threshold=0.0)["goodput_bit_s"][0])
    return [
        float(at(rows, rtt_ms=rtt, threshold=threshold)["goodput_bit_s"][0]) / plain - 1
        for threshold in THRESHOLDS
    ]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic."""
    ours = {rtt: row(rows, rtt) for rtt in TABLE}
    answers: dict[str, Answer] = {
        f"table-1/{rtt}ms/{threshold:.2f}": cell
        for rtt, cells in ours.items()
        for threshold, cell in zip(THRESHOLDS, cells, strict=True)
    }
    for rtt, cells in ours.items():
        answers[f"table-1/{rtt}ms/order"] = min(b - a for a, b in pairwise(cells))
        dropped = at(rows, rtt_ms=rtt)["dropped"].sum()
        answers[f"table-1/{rtt}ms/losses"] = float(dropped)
    answers["table-1/thirty"] = max(max(cells) for cells in ours.values())
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Our values as bars, the paper's as lines across."""
    figure, axes = plots.grid(1, 2, sharey=True, height=5.0)
    for panel, rtt in zip(axes[0], TABLE, strict=True):
        ours = row(rows, rtt)
        panel.bar(range(4), [100 * cell for cell in ours], 0.6, color=COLOURS[rtt], label="ours")
        for place, (cell, theirs) in enumerate(zip(ours, TABLE[rtt], strict=True)):
            panel.hlines(100 * theirs, place - 0.38, place + 0.38, color="#222222", linewidth=2.5)
            panel.annotate(
                f"{100 * cell:.1f}", (place, 0.8), ha="center", color="white", fontweight="bold"
            )
            panel.annotate(
                f"paper {100 * theirs:.0f}", (place, 100 * max(cell, theirs) + 0.7), ha="center"
            )
        panel.set_xticks(range(4), [f"{100 * threshold:.0f} %" for threshold in THRESHOLDS])
        panel.set_title(f"round trip {rtt} ms", loc="left", fontsize=12, fontweight="bold")
        panel.set(xlabel="threshold", ylim=(0, 34))
    axes[0, 0].set_ylabel("more throughput (%)")
    return figure
