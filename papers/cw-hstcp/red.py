"""Beyond the paper: CW-HSTCP with RED, AVQ and PI, its future work, and η from other round trips.

RED and PI make it as fair as it can be, but leave much of the link unused.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import MANY, PI, RED, THREE, cw, dumbbell, shares

FIGURE = Experiment(
    id="red",
    title="CW-HSTCP with RED, AVQ and PI, and with other round trips in η",
    question="What does active queue management add, and which c and round trip are best for it?",
)
MEAN_C = 1000 * len(THREE) / sum(THREE)
LAWS: dict[str, tuple[str, str | dict[str, Any]]] = {
    "hstcp": ("HSTCP", "hstcp"),
    "smoothed": ("c = 10 /s", cw(10)),
    "base": ("c = 10 /s,\nbase round trip", cw(10) | {"rtt": "base"}),
    "mean": (f"c = {MEAN_C:.1f} /s, 1 over\nthe mean round trip", cw(round(MEAN_C, 3))),
}

COMPARED = (("smoothed", "DropTail"), ("mean", "DropTail"), ("smoothed", "AVQ"))
"""What five seeds leave undecided at 1 Gbit/s."""
KINDS: dict[str, object] = {"DropTail": "drop-tail", "RED": RED, "AVQ": "avq", "PI": PI}
QUEUES = {"DropTail": (-0.24, "o"), "RED": (-0.08, "s"), "AVQ": (0.08, "^"), "PI": (0.24, "D")}
"""Where each is placed beside the others, and its marker."""


def points(scale: Scale) -> Iterator[Point]:
    """Each law with DropTail and RED, at the full scale also the base round trip; two with AVQ and PI."""
    laws = [law for law in LAWS if scale == "full" or law != "base"]
    for queue, kind in KINDS.items():
        for law in laws if queue in ("DropTail", "RED") else ("hstcp", "smoothed"):
            change = {} if queue == "DropTail" else {"link.bottleneck.queue": kind}
            seeds = MANY["full"] if scale == "full" and (law, queue) in COMPARED else 5
            yield dumbbell(scale, LAWS[law][1], seeds=seeds, set=change, law=law, queue=queue)


def measure(run: Measured) -> Row:
    """Shares, index, queue."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Each queue against DropTail; with RED, c = 10 against HSTCP; the mean round trip against c = 10."""
    queue = across(rows, "queue", "jain", keep=["law"])
    law = across(rows, "law", "jain", keep=["queue"])
    used = across(rows, "queue", "utilisation", keep=["law"])
    red, tail = at(law, queue="RED"), at(law, queue="DropTail")
    answers: dict[str, Answer] = {
        f"red/{name.lower()}": per_seed(queue, pl.col(name) - pl.col("DropTail"), law="smoothed")
        for name in ("AVQ", "PI")
    }
    return answers | {
        "red/cw/fairer": per_seed(queue, pl.col("RED") - pl.col("DropTail"), law="smoothed"),
        "red/cw/index": per_seed(rows, "jain", law="smoothed", queue="RED"),
        "red/cw/hstcp": per_seed(red, pl.col("smoothed") - pl.col("hstcp")),
        "red/used": per_seed(used, pl.col("RED") - pl.col("DropTail"), law="smoothed"),
        "red/mean-rtt": per_seed(red, (pl.col("mean") - pl.col("smoothed")).abs()),
        "red/mean-rtt/droptail": per_seed(tail, pl.col("mean") - pl.col("smoothed")),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Index and use of the link, a place for each law and a marker for each queue."""
    figure, axes = plots.grid(1, 2, width=14, height=5.6)
    laws = {law: name for law, (name, _) in LAWS.items() if law in rows["law"]}
    for panel, column, label, factor in zip(
        axes[0], ("jain", "utilisation"), ("Jain's index", "link used (%)"), (1, 100), strict=True
    ):
        for queue, (shift, shape) in QUEUES.items():
            for place, law in enumerate(laws):
                found = rows.filter(pl.col("law") == law, pl.col("queue") == queue)
                if found.is_empty():
                    continue
                mean, half = plots.mean_and_half(found[column].to_list())
                control = "hstcp" if law == "hstcp" else "cw-hstcp"
                colour = plots.colour(control)
                panel.errorbar(
                    place + shift, factor * mean, yerr=factor * half, color=colour,
                    marker=shape, markersize=9, capsize=4,
                    markerfacecolor="white" if queue == "DropTail" else colour,
                    label=queue if law == "smoothed" else None,
                )  # fmt: skip
        panel.set_xticks(range(len(laws)), list(laws.values()))
        panel.set(ylabel=label, ylim=(0, 1.05 * factor), xlim=(-0.5, len(laws) - 0.5))
        panel.tick_params(axis="x", labelsize=9)
    plots.legend(figure, axes[0, 0])
    return figure
