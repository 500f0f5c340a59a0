"""Beyond the paper: CW-HSTCP with RED, its future work, and η from another round trip."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from drawn import mean_and_half
from longfat.paper import (
    Answer,
    Experiment,
    Measured,
    Point,
    Row,
    Scale,
    across,
    at,
    per_seed,
    plots,
)
from setting import RED, THREE, cw, dumbbell, shares

FIGURE = Experiment(
    id="red",
    title="CW-HSTCP with RED, and with other round trips in η",
    question="What does active queue management add, and which c and round trip are best for it?",
)
MEAN_C = 1000 * len(THREE) / sum(THREE)
LAWS: dict[str, tuple[str, str | dict[str, Any]]] = {
    "hstcp": ("HSTCP", "hstcp"),
    "smoothed": ("c = 10 /s", cw(10)),
    "base": ("c = 10 /s,\nbase round trip", cw(10) | {"rtt": "base"}),
    "mean": (f"c = {MEAN_C:.1f} /s, 1 over\nthe mean round trip", cw(round(MEAN_C, 3))),
}


def points(scale: Scale) -> Iterator[Point]:
    """Each law with DropTail and with RED."""
    for queue in ("DropTail", "RED"):
        change = {} if queue == "DropTail" else {"link.bottleneck.queue": RED}
        for law, (_, control) in LAWS.items():
            yield dumbbell(scale, control, set=change, law=law, queue=queue)


def measure(run: Measured) -> Row:
    """Shares, index, queue."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """RED against DropTail and against HSTCP; the mean round trip against c = 10."""
    queue = across(rows, "queue", "jain", keep=["law"])
    law = across(rows, "law", "jain", keep=["queue"])
    return {
        "red/cw/fairer": per_seed(queue, pl.col("RED") - pl.col("DropTail"), law="smoothed"),
        "red/cw/index": per_seed(rows, "jain", law="smoothed", queue="RED"),
        "red/cw/hstcp": per_seed(law, pl.col("smoothed") - pl.col("hstcp"), queue="RED"),
        "red/mean-rtt": per_seed(law, (pl.col("mean") - pl.col("smoothed")).abs(), queue="RED"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Index and use of the link, DropTail hollow and RED filled."""
    figure, axes = plots.grid(1, 2, width=14, height=5.6)
    for panel, column, label, factor in zip(
        axes[0], ("jain", "utilisation"), ("Jain's index", "link used (%)"), (1, 100), strict=True
    ):
        for queue, shift in (("DropTail", -0.12), ("RED", 0.12)):
            for place, law in enumerate(LAWS):
                mean, half = mean_and_half(at(rows, law=law, queue=queue)[column].to_list())
                control = "hstcp" if law == "hstcp" else "cw-hstcp"
                colour = plots.colour(control)
                panel.errorbar(
                    place + shift, factor * mean, yerr=factor * half, color=colour,
                    marker=plots.marker(control), markersize=9, capsize=4,
                    markerfacecolor=colour if queue == "RED" else "white",
                )  # fmt: skip
        panel.set_xticks(range(len(LAWS)), [name for name, _ in LAWS.values()])
        panel.set(ylabel=label, ylim=(0, 1.05 * factor), xlim=(-0.5, 3.5))
        panel.tick_params(axis="x", labelsize=9)
    axes[0, 0].annotate(
        "hollow: DropTail\nfilled: RED", (0.03, 0.05), xycoords="axes fraction", fontsize=10
    )
    return figure
