"""Figure 3, section III.C: utilisation, queue and drops against the number of flows."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import BDP_S, CONTROLS, PACKET_BIT, both_directions, dumbbell

FIGURE = Experiment(
    id="figure-3",
    title="From 2 to 512 flows each way",
    question="Which controller fills the link, whatever the number of flows?",
)
LARGE_WINDOW = 100


def points(scale: Scale) -> Iterator[Point]:
    """Every controller with every number of flows. At a quarter of the capacity, a quarter of the flows."""
    quick = scale == "quick"
    for flows in [2 * 4**k for k in range(4)] if quick else [2**k for k in range(1, 10)]:
        for control in CONTROLS:
            yield dumbbell(
                125e6 if quick else 500e6,
                control,
                flows=flows,
                set={"duration": "60 s"} if quick else None,
                number=flows,
            )


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions; each flow's share of the path, in packets."""
    share = run.labels["rate_bit_s"] * BDP_S / PACKET_BIT / run.labels["number"]
    return both_directions(run) | {"share": share}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of section III.C. Controllers are compared run by run."""
    fewest, most = rows["number"].min(), rows["number"].max()
    used = across(rows, "control", "utilisation", keep=["number"])
    large = rows.filter(pl.col("share") >= LARGE_WINDOW)
    queue = pl.col("queue_mean")
    exp = pl.col("exp")
    few = per_seed(rows, "utilisation", control="reno", number=fewest)
    many = per_seed(rows, "utilisation", control="reno", number=most)
    return {
        "figure-3/exp/highest": per_seed(
            used, (exp - pl.max_horizontal("reno", "hstcp", "stcp")).min()
        ),
        "figure-3/reno/behind": per_seed(used, (pl.col("reno") - exp).max()),
        "figure-3/hstcp/behind": per_seed(used, (pl.col("hstcp") - exp).max()),
        "figure-3/reno/few": per_seed(used, (pl.col("reno") - exp).first(), number=fewest),
        "figure-3/reno/abundant": [
            a - b if a is not None and b is not None else None
            for a, b in zip(few, many, strict=True)
        ],
        "figure-3/exp/bound": per_seed(large, pl.col("utilisation").min(), control="exp"),
        "figure-3/queue": per_seed(rows.filter(control="exp"), queue.max()),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's three panels, and the marks, which take the place of its losses when ECN is on."""
    figure, axes = plots.grid(2, 2, sharex=True)
    panels = (
        ("utilisation", "utilisation (%)"),
        ("queue_mean", "mean queue (% of buffer)"),
        ("drop_rate", "dropped (%)"),
        ("mark_rate", "marked (%)"),
    )
    numbers = sorted(rows["number"].unique())
    for panel, (column, label) in zip(axes.flat, panels, strict=True):
        plots.over(panel, rows, x="number", y=column, log=True, percent=True)
        panel.set_ylabel(label)
        panel.set_xticks(numbers, [str(number) for number in numbers])
        panel.set_ylim(bottom=0 if column != "utilisation" else None)
    axes[0, 0].set_ylim(top=101)
    for panel in axes[1]:
        panel.set_xlabel("flows in each direction")
    plots.legend(figure, axes[0, 0])
    return figure
