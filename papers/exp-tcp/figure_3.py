"""Figure 3, section III.C: utilisation, queue and drops against the number of flows."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import shares
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import BDP_S, CONTROLS, PACKET_BIT, RIVALS, both_directions, dumbbell, extreme

FIGURE = Experiment(
    id="figure-3",
    title="From 2 to 512 flows each way",
    question="Which controller fills the link, whatever the number of flows?",
)
LARGE_WINDOW = 100
ABOVE = (("utilisation", "utilisation (%)"), ("queue_mean", "mean queue (% of buffer)"))
BELOW = (("drop_rate", "dropped (%)"), ("mark_rate", "marked (%)"))


def points(scale: Scale) -> Iterator[Point]:
    """Every controller with every number of flows. At a quarter of the capacity, a quarter of the flows."""
    quick = scale == "quick"
    for flows in [2 * 4**k for k in range(4)] if quick else (2, 16, 128, 256, 512):
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
    queue = across(rows, "control", "queue_mean", keep=["number"])
    large = at(rows, control="exp").filter(pl.col("share") >= LARGE_WINDOW)
    exp = pl.col("exp")
    few = per_seed(rows, "utilisation", control="reno", number=fewest)
    many = per_seed(rows, "utilisation", control="reno", number=most)
    return {
        "figure-3/exp/highest": extreme(used, exp - pl.max_horizontal(*RIVALS), "number"),
        "figure-3/reno/behind": extreme(used, pl.col("reno") - exp, "number", largest=True),
        "figure-3/hstcp/behind": extreme(used, pl.col("hstcp") - exp, "number", largest=True),
        "figure-3/reno/few": per_seed(used, (pl.col("reno") - exp).first(), number=fewest),
        "figure-3/reno/abundant": [
            a - b if a is not None and b is not None else None
            for a, b in zip(few, many, strict=True)
        ],
        "figure-3/exp/bound": extreme(large, pl.col("utilisation"), "number"),
        "figure-3/exp/queue": extreme(
            queue, exp - pl.min_horizontal(*RIVALS), "number", largest=True
        ),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Utilisation of EXP-TCP minus that of the best other, for each number of flows."""
    used = across(rows, "control", "utilisation", keep=["number"])
    ahead = pl.col("exp") - pl.max_horizontal(*RIVALS)
    numbers = sorted(rows["number"].unique())
    return {f"figure-3/ahead/{number}": per_seed(used, ahead, number=number) for number in numbers}


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's three panels, and the marks, which take the place of its losses when ECN is on."""
    figure, axes = plots.grid(2, 2, sharex=True)
    numbers = sorted(rows["number"].unique())
    for panel, (column, label) in zip(axes[0], ABOVE, strict=True):
        plots.over(panel, rows, x="number", y=column, log=True, percent=True)
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0 if column != "utilisation" else None)
    for panel, (column, label) in zip(axes[1], BELOW, strict=True):
        shares(panel, rows, column, x="number")
        panel.set_ylabel(f"{label}, logarithmic")
        panel.set_xlabel("flows in each direction")
    for panel in axes.flat:
        panel.set_xticks(numbers, [str(number) for number in numbers])
    axes[0, 0].set_ylim(top=101)
    plots.legend(figure, axes[0, 0])
    return figure
