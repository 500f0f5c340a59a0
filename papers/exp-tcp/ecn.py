"""Section III.A: does it matter whether routers mark or drop?"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, both_directions, dumbbell

FIGURE = Experiment(
    id="ecn",
    title="Marks instead of drops",
    question="What changes when RED drops packets instead of marking them?",
)
BOTH_WAYS, ONE_WAY = "both ways", "one way"
ALONE = {"flow.backward.count": 1, "flow.backward.size": "1 packets"}


def points(scale: Scale) -> Iterator[Point]:
    """Some capacities of Figure 2, with marks and with drops, and with marks and data in one direction only."""
    for rate in (40e6, 160e6) if scale == "quick" else (40e6, 160e6, 640e6):
        for control in CONTROLS:
            yield dumbbell(rate, control, ecn=True, traffic=BOTH_WAYS)
            yield dumbbell(
                rate,
                control,
                set={"link.bottleneck.queue.ecn": False},
                ecn=False,
                traffic=BOTH_WAYS,
            )
            yield dumbbell(rate, control, set=ALONE, ecn=True, traffic=ONE_WAY)


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its directions that carry data."""
    if run.labels["traffic"] == BOTH_WAYS:
        return both_directions(run)
    link = run.link()
    row = {name: link[name] for name in ("utilisation", "queue_mean", "drop_rate", "mark_rate")}
    return row | {"signal_rate": link["drop_rate"] + link["mark_rate"]}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The largest change over all controllers and capacities, run by run."""
    alone = at(rows, traffic=ONE_WAY)
    rows = at(rows, traffic=BOTH_WAYS).with_columns(
        pl.when("ecn").then(pl.lit("marks")).otherwise(pl.lit("drops")).alias("ecn")
    )
    change = (pl.col("marks") - pl.col("drops")).abs().max()
    keep = ["control", "rate_bit_s"]
    lost = across(rows, "ecn", "drop_rate", keep=keep)
    return {
        "ecn/utilisation": per_seed(across(rows, "ecn", "utilisation", keep=keep), change),
        "ecn/queue": per_seed(across(rows, "ecn", "queue_mean", keep=keep), change),
        "ecn/loss": per_seed(lost, pl.col("marks").sum() / pl.col("drops").sum()),
        "ecn/loss/one-way": [
            one / both if one is not None and both else None
            for one, both in zip(
                per_seed(alone, pl.col("drop_rate").sum()),
                per_seed(lost, pl.col("drops").sum()),
                strict=True,
            )
        ],
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Utilisation, queue and drops with marks above, with drops below."""
    rows = at(rows, traffic=BOTH_WAYS)
    figure, axes = plots.grid(2, 3, sharex=True, sharey="col")
    columns = (
        ("utilisation", "utilisation (%)"),
        ("queue_mean", "mean queue (% of buffer)"),
        ("drop_rate", "dropped (%)"),
    )
    for line, ecn in zip(axes, (True, False), strict=True):
        for panel, (column, label) in zip(line, columns, strict=True):
            plots.over(panel, rows, x="rate_bit_s", y=column, log=True, percent=True, ecn=ecn)
            panel.set_ylabel(label)
            plots.rates(panel, sorted(rows["rate_bit_s"].unique()))
        line[0].annotate(
            "RED marks" if ecn else "RED drops",
            (0.03, 0.05),
            xycoords="axes fraction",
            fontweight="bold",
        )
    for panel in axes[1]:
        panel.set_xlabel("capacity (bit/s)")
    plots.legend(figure, axes[0, 0])
    return figure
