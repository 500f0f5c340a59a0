"""Figures 5 and 6 with one thing changed: no slow start, no pacing, or drop-tail with unequal round trips."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import figure_5
import figure_6
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS
from sharing import joining, shares_and_fairness

FIGURE = Experiment(
    id="newcomer",
    title="Figures 5 and 6 with one thing changed",
    question="What of their outcome comes from slow start, from pacing, and from RED?",
)
AS_IS, NO_SLOW_START, NOT_PACED = "as in Figure 5", "no slow start", "not paced"
ROUND_TRIPS, RED = "round trips of Figure 6", "as in Figure 6"
VARIANTS = {
    AS_IS: CONTROLS,
    NO_SLOW_START: ("reno", "exp"),
    NOT_PACED: ("exp",),
    ROUND_TRIPS: ("hstcp", "stcp"),
    RED: ("hstcp", "stcp"),
}
"""What is changed, and for which controllers."""


def points(scale: Scale) -> Iterator[Point]:
    """At 200 Mbit/s, a fifth of the paper's capacity, at both scales."""
    round_trips = {
        f"flow.{name}.rtt": f"{1000 * rtt:.0f} ms" for name, rtt in figure_6.ROUND_TRIPS_S.items()
    }
    changes: dict[str, dict[str, Any]] = {
        AS_IS: {},
        NO_SLOW_START: {f"flow.{name}.initial_threshold": 2 for name in ("second", "third")},
        NOT_PACED: {f"flow.{name}.pacing": "none" for name in ("first", "second", "third")},
        ROUND_TRIPS: round_trips,
        RED: round_trips | {"link.bottleneck.queue": figure_6.RED},
    }
    for variant, controls in VARIANTS.items():
        for point in joining("quick", changes[variant], epochs=variant in (AS_IS, NOT_PACED)):
            if point.labels["control"] in controls:
                labels = dict(point.labels) | {"variant": variant}
                yield replace(point, labels=labels, seeds=4 if scale == "full" else 3)


def measure(run: Measured) -> Row:
    """How fast and how far shares become equal; how fast they do at losses that come together."""
    row = shares_and_fairness(run)[0]
    epochs = run.labels["control"] == "exp" and run.labels["variant"] in (AS_IS, NOT_PACED)
    found = figure_5.epochs(run) if epochs else {"contraction": None, "together": None}
    names = ("converged_s", "reached", "jain_end")
    return {name: row[name] for name in names} | {
        name: found[name] for name in ("contraction", "together")
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Each change against what is as in the figure, run by run."""

    def changed(control: str, variant: str, column: str, what: pl.Expr) -> list[float | None]:
        kept = [AS_IS if variant in (NO_SLOW_START, NOT_PACED) else RED, variant]
        wide = across(rows, "variant", column, keep=[], control=control, variant=kept)
        return per_seed(wide, what.first())

    slow_start = at(rows, variant=NO_SLOW_START)
    order = across(slow_start, "control", "converged_s", keep=[])
    return {
        "newcomer/slow-start/reno": changed(
            "reno", NO_SLOW_START, "converged_s", pl.col(NO_SLOW_START) / pl.col(AS_IS)
        ),
        "newcomer/slow-start/exp": per_seed(order, (pl.col("exp") / pl.col("reno")).first()),
        "newcomer/not-paced/contraction": per_seed(
            rows, "contraction", control="exp", variant=NOT_PACED
        ),
        "newcomer/not-paced/together": changed(
            "exp", NOT_PACED, "together", pl.col(NOT_PACED) - pl.col(AS_IS)
        ),
        "newcomer/map": exact_map(),
        **{
            f"newcomer/drop-tail/{control}": per_seed(
                rows, "jain_end", control=control, variant=ROUND_TRIPS
            )
            for control in VARIANTS[ROUND_TRIPS]
        },
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How long the third flow waits, with and without slow start."""
    return {
        f"newcomer/waits/{control}/{name}": per_seed(
            rows, "converged_s", control=control, variant=variant
        )
        for control in ("reno", "exp")
        for name, variant in (("as-is", AS_IS), ("no-slow-start", NO_SLOW_START))
    }


def exact_map() -> float:
    """Theory: the factor per epoch by which a large log ratio shrinks where all losses come together.

    Two windows grow from their own starts until together they fill path and queue. The factor is fitted as in
    Figure 5: to the epochs until the log ratio is 0.1, from one flow that has all and another with a hundredth.
    """
    full = 2 * 200e6 / 8000 * figure_5.PROPAGATION_S
    windows = np.array([0.99, 0.01]) * full
    ratios = []
    while (ratio := float(np.log(windows[0] / windows[1]))) > 0.1:
        ratios.append(ratio)
        starts = (1 - figure_5.BETA) * windows
        gains = np.maximum(figure_5.LEAST_START, np.sqrt(starts))
        windows = starts + gains * (full - starts.sum()) / gains.sum()
    slope = np.polyfit(np.arange(len(ratios)), np.log(ratios), 1)[0]
    return float(np.exp(slope))


def draw(rows: pl.DataFrame) -> Figure:
    """How long the third flow waits for its share, and how equal shares are in the end."""
    figure, axes = plots.grid(1, 2, width=13, height=6.2, sharey=True)
    figure.subplots_adjust(left=0.2)
    lines = [(variant, control) for variant, controls in VARIANTS.items() for control in controls]
    for place, (variant, control) in enumerate(lines):
        part = at(rows, variant=variant, control=control).sort("seed")
        colour = plots.colour(control)
        looks = {"color": colour, "alpha": 0.6, "markersize": 6, "linestyle": "none", "marker": "o"}
        waits = part.filter("reached")["converged_s"].to_list()
        axes[0, 0].plot(waits, [-place] * len(waits), **looks)
        if len(waits) < len(part):
            plots.never(axes[0, 0], (float(part["phase_s"][0]), -place), colour, along="x")
        axes[0, 1].plot(part["jain_end"].to_list(), [-place] * len(part), **looks)
    for panel in axes[0]:
        panel.set_yticks(
            [-place for place in range(len(lines))],
            [f"{plots.name(control)}, {variant}" for variant, control in lines],
        )
        panel.grid(visible=False, axis="y")
    axes[0, 0].set_xlim(left=0)
    axes[0, 0].set_xlabel("from the third start until Jain's index is 0.9 for good (s)")
    axes[0, 1].set_xlabel("Jain's index in the last sixth of the run")
    plots.shows(figure, f"a dot for each of {rows['seed'].n_unique()} seeds")
    return figure
