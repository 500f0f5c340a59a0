"""Do web transfers make CW-HSTCP unfriendly? With windows of at most 20 packets, as in ns-2, they do not.

The room's first results had web transfers without that bound: in slow start they doubled what they sent until
something was lost, and the background lost four to five packets in a thousand.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat import fairness
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import cw, dumbbell, shares

FIGURE = Experiment(
    id="web",
    title="Windows of the web, and what the background loses",
    question="Does the background lose because of CW-HSTCP, or because of the web's own bursts?",
)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "bounded": ("web windows of at\nmost 20 packets", {}),
    "unbounded": ("web windows\nwithout a bound", {"traffic.web.max_window": "none"}),
    "almost none": ("a hundredth\nof the web", {"traffic.web.arrivals": {"load": "0.08 %"}}),
}
CS = (5, 10, 20)
SHOWN = {"bounded": CS, "unbounded": (10, 20), "almost none": (10,)}
BOUND = 1e-3
"""The paper's criterion of friendliness."""


def points(scale: Scale) -> Iterator[Point]:
    """The runs of Table 3; the same without the bound; and nearly without the web."""
    for kind, (_, change) in KINDS.items():
        for c in SHOWN[kind]:
            yield dumbbell(scale, cw(c), set=change, kind=kind, c=c)


def measure(run: Measured) -> Row:
    """Shares, index, losses; those of the long flows and of the web apart."""
    return shares(run) | {
        "long_loss": fairness.loss_rate(run, "background"),
        "web_loss": fairness.loss_rate(run, "web"),
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Losses of the background with either kind of web, and what the bound does to the index."""
    return {
        "web/unbounded": per_seed(
            at(rows, kind="unbounded"), pl.col("background_loss").max(), kind="unbounded"
        ),
        "web/none": per_seed(rows, "background_loss", kind="almost none"),
        "web/index": per_seed(
            across(at(rows, c=10), "kind", "jain", keep=[]), pl.col("bounded") - pl.col("unbounded")
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Losses of the background for each c and kind of web."""
    figure, axes = plots.grid(1, 2, width=13, height=5.4)
    left, right = axes[0]
    for place, kind in enumerate(KINDS):
        for k, (c, shape) in enumerate(zip(CS, "osD", strict=True)):
            if c not in SHOWN[kind]:
                continue
            found = at(rows, kind=kind, c=c)
            for panel, column, factor in ((left, "background_loss", 1e3), (right, "jain", 1)):
                mean, half = plots.mean_and_half(found[column].to_list())
                panel.errorbar(
                    place + 0.16 * (k - 1), factor * mean, yerr=factor * half, marker=shape,
                    color=plots.colour("cw-hstcp"), markersize=8, capsize=4,
                    markerfacecolor="white" if k == 0 else plots.colour("cw-hstcp"),
                    label=f"c = {c} /s" if kind == "bounded" else None,
                )  # fmt: skip
    left.axhline(1e3 * BOUND, color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
    left.annotate("the paper's bound", (-0.45, 1e3 * BOUND), (0, 4), textcoords="offset points")
    left.set(ylabel="lost by the background (packets in a thousand)", ylim=(0, None))
    right.set(ylabel="Jain's index of the three flows", ylim=(0.3, 1))
    for panel in (left, right):
        panel.set_xticks(range(len(KINDS)), [name for name, _ in KINDS.values()])
        panel.set_xlim(-0.5, len(KINDS) - 0.5)
    plots.legend(figure, left)
    return figure
