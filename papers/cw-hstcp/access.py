"""Beyond the paper: does the rate of the senders' own links decide whether flows lose together?"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Measured, Point, Row, Scale, at, per_seed, plots
from setting import FULL_RATE, QUICK_RATE, cw, dumbbell, shares

FIGURE = Experiment(
    id="access",
    title="Senders' links, bursts, and whether windows meet",
    question="Why do windows not meet, and what brings them together?",
)
FACTORS = (1.25, 2.0, 5.0, 10.0)
SPREAD = 20.0
"""Stands for packets spread over the round trip, at the access rate of 10."""


def points(scale: Scale) -> Iterator[Point]:
    """Four access rates; and evenly spread packets."""
    rate = QUICK_RATE if scale == "quick" else FULL_RATE
    for control, law in (("cw-hstcp", cw(10)), ("hstcp", "hstcp")):
        for factor in FACTORS:
            change = {"flow.fast.access": f"{factor * rate:.1f} Mbit/s"}
            yield dumbbell(scale, law, set=change, control=control, factor=factor)
        change = {"flow.fast.pacing": "spread"}
        yield dumbbell(scale, law, set=change, control=control, factor=SPREAD)


def measure(run: Measured) -> Row:
    """Shares, index, losses."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """What happens when bursts are no faster than the bottleneck."""
    return {
        "access/cw/index": per_seed(rows, "jain", control="cw-hstcp", factor=1.25),
        "access/cw/spread": per_seed(rows, "jain", control="cw-hstcp", factor=SPREAD),
        "access/hstcp/index": per_seed(rows, "jain", control="hstcp", factor=1.25),
        "access/lose-together": per_seed(
            rows, pl.col("events_last") / pl.col("events_first"), control="cw-hstcp", factor=1.25
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The index, and how often the longest round trip loses over how often the shortest does."""
    figure, axes = plots.grid(1, 2, width=13, height=5.6)
    figure.subplots_adjust(bottom=0.17)
    rows = rows.with_columns((pl.col("events_last") / pl.col("events_first")).alias("events"))
    for panel, column, label in zip(
        axes[0],
        ("jain", "events"),
        ("Jain's index", "losses of 200 ms over those of 80 ms"),
        strict=True,
    ):
        plots.over(panel, rows.filter(pl.col("factor") != SPREAD), x="factor", y=column, log=True)
        for control in ("cw-hstcp", "hstcp"):
            spread = at(rows, control=control, factor=SPREAD)[column]
            panel.plot(
                [SPREAD], [spread.mean()], plots.marker(control), color=plots.colour(control), markersize=9,
                markerfacecolor="white", markeredgewidth=1.6,
            )  # fmt: skip
        panel.set(
            xscale="log",
            xlabel="rate of the sender's link over that of the bottleneck",
            ylabel=label,
        )
        panel.set_xticks([*FACTORS, SPREAD], ["1.25", "2", "5", "10", "10, packets\nspread"])
        panel.set_xlim(0.85, 29)
    axes[0, 0].axhline(0.961, color="#222222", linestyle=(0, (2, 2)), linewidth=1.2)
    axes[0, 0].annotate("the paper, CW-HSTCP", (0.9, 0.968), fontsize=10)
    axes[0, 0].set_ylim(0.3, 1.02)
    axes[0, 1].axhline(1, color="#222222", linestyle=(0, (2, 2)), linewidth=1.2)
    axes[0, 1].annotate("together", (0.9, 1.005), fontsize=10, va="bottom")
    plots.legend(figure, axes[0, 0])
    return figure
