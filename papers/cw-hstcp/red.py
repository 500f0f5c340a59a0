"""Beyond the paper: CW-HSTCP with RED, AVQ and PI, its future work, and c from the mean round trip.

RED makes it as fair as it can be, but leaves much of the link unused. PI with constants for this link is too
slow.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import PI, RED, THREE, cw, dumbbell, pi, shares

FIGURE = Experiment(
    id="red",
    title="CW-HSTCP with RED, AVQ and PI, and with another c",
    question="What does active queue management add, and which c is best for it?",
)
MEAN_C = 1000 * len(THREE) / sum(THREE)
LAWS: dict[str, tuple[str, str | dict[str, Any]]] = {
    "hstcp": ("HSTCP", "hstcp"),
    "smoothed": ("c = 10 /s", cw(10)),
    "mean": (f"c = {MEAN_C:.1f} /s, 1 over\nthe mean round trip", cw(round(MEAN_C, 3))),
}

EXAMPLE = "PI, constants of its example"
QUEUES = {
    "DropTail": (-0.3, "o"),
    "RED": (-0.15, "s"),
    "AVQ": (0.0, "^"),
    "PI": (0.15, "D"),
    EXAMPLE: (0.3, "v"),
}
"""Where each is placed beside the others, and its marker."""


def points(scale: Scale) -> Iterator[Point]:
    """Each law with DropTail and RED; CW-HSTCP with AVQ and PI."""
    kinds: dict[str, object] = {
        "DropTail": "drop-tail", "RED": RED, "AVQ": "avq", "PI": pi(scale), EXAMPLE: PI
    }  # fmt: skip
    for queue, kind in kinds.items():
        for law in LAWS if queue in ("DropTail", "RED") else ("smoothed",):
            change = {} if queue == "DropTail" else {"link.bottleneck.queue": kind}
            yield dumbbell(scale, LAWS[law][1], set=change, law=law, queue=queue)


def measure(run: Measured) -> Row:
    """Shares, index, queue."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Each queue against DropTail; with RED, c = 10 against HSTCP; the mean round trip against c = 10."""
    queue = across(rows, "queue", "jain", keep=["law"])
    law = across(rows, "law", "jain", keep=["queue"])
    used = across(rows, "queue", "utilisation", keep=["law"])
    dropped = across(rows, "queue", "dropped", keep=["law"])
    red, tail = at(law, queue="RED"), at(law, queue="DropTail")
    named = {"RED": "RED", "AVQ": "AVQ", "PI": "PI", "PI-example": EXAMPLE}
    answers: dict[str, Answer] = {}
    for name, which in named.items():
        gain = pl.col(which) - pl.col("DropTail")
        answers[f"red/used/{name}"] = per_seed(used, gain, law="smoothed")
        if name != "RED":
            claim = f"red/{name.lower().replace('-', '/')}"
            answers[claim] = per_seed(queue, gain, law="smoothed")
    return answers | {
        "red/cw/fairer": per_seed(queue, pl.col("RED") - pl.col("DropTail"), law="smoothed"),
        "red/cw/index": per_seed(rows, "jain", law="smoothed", queue="RED"),
        "red/cw/hstcp": per_seed(red, pl.col("smoothed") - pl.col("hstcp")),
        "red/pi/overflows": per_seed(dropped, pl.col("PI") / pl.col("DropTail"), law="smoothed"),
        "red/mean-rtt": per_seed(red, (pl.col("mean") - pl.col("smoothed")).abs()),
        "red/mean-rtt/droptail": per_seed(tail, pl.col("mean") - pl.col("smoothed")),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How much of the link is used with each queue, and the index there."""
    names = {"DropTail": "DropTail", "RED": "RED", "AVQ": "AVQ", "PI": "PI", "PI-example": EXAMPLE}
    found: dict[str, Answer] = {}
    for name, queue in names.items():
        found[f"red/use/{name}"] = per_seed(rows, "utilisation", law="smoothed", queue=queue)
        found[f"red/index/{name}"] = per_seed(rows, "jain", law="smoothed", queue=queue)
    return found


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
