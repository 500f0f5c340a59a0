"""Section III.A: HSTCP with a low_window of 31, as the paper has it, and of 38, as RFC 3649 has it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import figure_7
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import both_directions, dumbbell, extreme
from sharing import NAMES, joining, series, shares_and_fairness

FIGURE = Experiment(
    id="low-window",
    title="HSTCP from 31 packets, and from 38",
    question="Does it matter which generation of HSTCP the authors had?",
)
DRAFT, RFC = 31, 38
COLUMNS = {DRAFT: "draft", RFC: "rfc"}
SEEDS: dict[Scale, int] = {"quick": 3, "full": 4}


def points(scale: Scale) -> Iterator[Point]:
    """Capacities of Figure 2, convergence as in Figure 5, and the change of Figure 7, at its quick scale."""
    full = scale == "full"
    for low in COLUMNS:
        law = {"kind": "hstcp", "low_window": low}
        for rate in (2.5e6, 10e6, 40e6, 160e6):
            yield dumbbell(
                rate,
                "hstcp",
                law=law,
                seeds=10 if full else 3,
                kind="capacity",
                low_window=low,
                phase_s=None,
            )
        for point in joining(scale, {}, seeds=SEEDS[scale], epochs=True):
            if point.labels["control"] == "hstcp":
                laws = {f"flow.{name}.control": law for name in NAMES}
                labels = dict(point.labels) | {"kind": "convergence", "low_window": low}
                yield replace(point, set=dict(point.set) | laws, labels=labels)
        yield figure_7.change(
            "hstcp", "quick", law=law, seeds=10 if full else 3, kind="change", low_window=low
        )


def measure(run: Measured) -> Row:
    """Utilisation and signals; after the change, utilisation while the link is won back; the wait."""
    names = ("utilisation", "signal_rate", "converged_s", "newcomer")
    empty: Row = dict.fromkeys(names)
    if run.labels["kind"] == "convergence":
        time, windows = series(run, "window")
        soon = windows[:, np.searchsorted(time, 2.05 * float(run.labels["phase_s"]))]
        return empty | {
            "converged_s": shares_and_fairness(run)[0]["converged_s"],
            "newcomer": float(soon[-1] / soon.sum()),
        }
    if run.labels["kind"] == "change":
        return empty | {"utilisation": figure_7.response(run)["regained"]}
    found = both_directions(run)
    return empty | {name: found[name] for name in ("utilisation", "signal_rate")}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """One against the other, run by run, where they differ most."""
    named = rows.with_columns(pl.col("low_window").replace_strict(COLUMNS).alias("law"))
    used = across(named, "law", "utilisation", keep=["kind", "rate_bit_s"])
    signals = across(named, "law", "signal_rate", keep=["rate_bit_s"], kind="capacity")
    change = pl.col("rfc") - pl.col("draft")
    capacities = used.filter(pl.col("kind") == "capacity")
    return {
        "low-window/utilisation/least": extreme(capacities, change, "rate_bit_s"),
        "low-window/utilisation/most": extreme(capacities, change, "rate_bit_s", largest=True),
        "low-window/signals": extreme(signals, pl.col("rfc") / pl.col("draft"), "rate_bit_s"),
        "low-window/change": per_seed(used, change, kind="change"),
        "low-window/convergence": per_seed(
            across(named, "law", "converged_s", keep=[], kind="convergence"),
            (pl.col("rfc") / pl.col("draft")).first(),
        ),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How long the third flow of Figure 5 waits, and its share of all windows soon after it has started."""
    return {
        f"low-window/{name}/{low}": per_seed(rows, column, kind="convergence", low_window=low)
        for low in COLUMNS
        for name, column in (("waits", "converged_s"), ("newcomer", "newcomer"))
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Utilisation and signals against the capacity."""
    figure, axes = plots.grid(1, 2, width=12, height=5.2)
    lines = at(rows, kind="capacity").with_columns(
        pl.format("low_window = {}", "low_window").alias("law")
    )
    for panel, (column, label) in zip(
        axes[0],
        (("utilisation", "utilisation (%)"), ("signal_rate", "dropped or marked (%)")),
        strict=True,
    ):
        plots.over(panel, lines, x="rate_bit_s", y=column, by="law", log=True, percent=True)
        plots.rates(panel, sorted(lines["rate_bit_s"].unique()))
        panel.set(xlabel="capacity (bit/s)", ylabel=label)
    axes[0, 1].set_ylim(bottom=0)
    plots.legend(figure, axes[0, 0])
    return figure
