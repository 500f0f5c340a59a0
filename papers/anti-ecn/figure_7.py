"""Figure 7: virtual buffers of 5000, 2500, 1000 and 100 packets; 40 ms, threshold 50 %.

The paper: smaller ones let the window grow aggressively for longer and lead to a higher utilisation. That
holds on the first ramp, except that 5000 and 2500 are the same. Over whole sawteeth the order is different:
the mean of a ramp that is steep and then flat is above that of one that is steep throughout.
"""

from collections.abc import Iterator
from itertools import pairwise

import polars as pl
from matplotlib.figure import Figure

import evolution
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import LENGTH_S, lone, product_s

FIGURE = Experiment(
    id="figure-7",
    title="Virtual buffers: a smaller one helps the start",
    question="Does a smaller virtual buffer make the window grow faster for longer, and the link fuller?",
    by=("time",),
)
BUFFERS = (5000, 2500, 1000, 100)
COLOURS = ("#0B3C5D", "#2E86AB", "#4FB286", "#E08E1B")
FIRST = 0.5
"""100 s at 40 ms, in products of rate and round trip squared."""


def points(scale: Scale) -> Iterator[Point]:
    """As in Experiment 1; a virtual buffer is the same share of a product at both scales."""
    for buffer in BUFFERS:
        marker = {"threshold": 0.5, "buffer": f"{buffer / BUFFERS[0]:g} bdp"}
        set_ = {"link.bottleneck.anti_ecn": marker}
        yield lone(scale, 40, 0.5, set=set_, buffer=buffer)


def measure(run: Measured) -> list[Row]:
    """Window, room and utilisation over time."""
    return evolution.evolution(run)


def told(line: pl.DataFrame) -> float:
    """How long packets find room before the first mark, in rows."""
    first = evolution.cuts(line["window"].to_numpy())[0]
    return float((line["room"][:first] > 0).to_numpy().sum())


def sawteeth(line: pl.DataFrame) -> float:
    """Utilisation from the first mark to the last."""
    cuts = evolution.cuts(line["window"].to_numpy())
    return float(line["used"][cuts[0] : cuts[-1]].to_numpy().mean())


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Each buffer against the next larger one. Runs of a lone flow are deterministic."""
    lines = {buffer: at(rows, buffer=buffer).sort("time") for buffer in BUFFERS}
    answers: dict[str, Answer] = {}
    for big, small in pairwise(BUFFERS):
        a, b = lines[big], lines[small]
        answers[f"figure-7/longer/{small}"] = told(b) / told(a) - 1
        for name, until in (("used", FIRST), ("whole", 9.0)):
            means = [
                line.filter(pl.col("time") <= until)["used"].to_numpy().mean() for line in (b, a)
            ]
            answers[f"figure-7/{name}/{small}"] = float(means[0] - means[1])
    answers["figure-7/settled"] = sawteeth(lines[1000]) - sawteeth(lines[100])
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Windows on the left; on the right the utilisation up to each time."""
    figure, axes = plots.grid(1, 2, width=13, height=5.8)
    figure.subplots_adjust(top=0.72)
    for buffer, colour in zip(BUFFERS, COLOURS, strict=True):
        line = at(rows, buffer=buffer).sort("time")
        seconds = line["time"] * product_s(40)
        dash = (0, (4, 3)) if buffer == 2500 else "-"
        label = f"{buffer} packets"
        look = {"color": colour, "linewidth": 1.8, "linestyle": dash, "label": label}
        axes[0, 0].plot(seconds, line["window"] * BUFFERS[0], **look)
        so_far = 100 * line["used"].cum_sum() / (pl.int_range(1, line.height + 1, eager=True))
        axes[0, 1].plot(seconds, so_far, **look)
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, 5250))
    axes[0, 0].set_title("Figure 7", loc="left", fontsize=12, fontweight="bold")
    axes[0, 1].set(ylabel="link used until then (%)", ylim=(0, 80))
    axes[0, 1].axvline(100, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1, zorder=1)
    axes[0, 1].set_title("What it brings", loc="left", fontsize=12, fontweight="bold")
    for panel in axes[0]:
        panel.set(xlabel="time (s at 40 ms)", xlim=(0, LENGTH_S[40]))
    plots.legend(figure, axes[0, 0])
    return figure
