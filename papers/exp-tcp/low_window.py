"""Section III.A: HSTCP with a low_window of 31, as the paper has it, and of 38, as RFC 3649 has it."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import figure_7
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import both_directions, dumbbell, extreme

FIGURE = Experiment(
    id="low-window",
    title="HSTCP from 31 packets, and from 38",
    question="Does it matter which generation of HSTCP the authors had?",
)
DRAFT, RFC = 31, 38
COLUMNS = {DRAFT: "draft", RFC: "rfc"}


def points(scale: Scale) -> Iterator[Point]:
    """Capacities of Figure 2, and the change of Figure 7, at its quick scale."""
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
        yield figure_7.change(
            "hstcp", "quick", law=law, seeds=10 if full else 3, kind="change", low_window=low
        )


def measure(run: Measured) -> Row:
    """Utilisation and signals; after the change, utilisation while the rest of the link is won back."""
    if run.labels["kind"] == "change":
        return {"utilisation": figure_7.response(run)["regained"], "signal_rate": None}
    found = both_directions(run)
    return {name: found[name] for name in ("utilisation", "signal_rate")}


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
