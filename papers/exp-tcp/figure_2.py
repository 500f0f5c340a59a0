"""Figure 2, section III.B: utilisation, queue and drops against the capacity of the bottleneck."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, both_directions, dumbbell

FIGURE = Experiment(
    id="figure-2",
    title="Sixteen flows each way, against the capacity",
    question="Which controller fills the link, whatever its capacity?",
)
QUICK = [2.5e6 * 4**k for k in range(4)]
FULL = [2.5e6 * 4**k for k in range(6)] + [10e9]


def points(scale: Scale) -> Iterator[Point]:
    """Every controller at every capacity."""
    for rate in QUICK if scale == "quick" else FULL:
        for control in CONTROLS:
            yield dumbbell(rate, control)


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions, and whether anything was lost or marked at all."""
    signals = sum(
        run.link(direction=way)[what]
        for way in ("forward", "reverse")
        for what in ("dropped", "marked")
    )
    return both_directions(run) | {"signals": signals}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of section III.B. Controllers are compared run by run."""
    rates = sorted(rows["rate_bit_s"].unique())
    used = across(rows, "control", "utilisation", keep=["rate_bit_s"])
    queue = pl.col("queue_mean")
    large = pl.col("rate_bit_s") >= 160e6
    others = pl.max_horizontal("reno", "hstcp")
    answers: dict[str, Answer] = {
        "figure-2/exp/utilisation": per_seed(rows, pl.col("utilisation").min(), control="exp"),
        "figure-2/exp/bound": per_seed(
            rows.filter(large), pl.col("utilisation").min(), control="exp"
        ),
        "figure-2/exp/best": per_seed(
            used, (pl.col("exp") - pl.max_horizontal("reno", "hstcp", "stcp")).min()
        ),
        "figure-2/stcp/second": per_seed(
            used.filter(pl.col("rate_bit_s") < 5e9), (pl.col("stcp") - others).min()
        ),
        "figure-2/hstcp/behind": per_seed(
            used, (pl.col("hstcp") - pl.min_horizontal("stcp", "exp")).max()
        ),
        "figure-2/queue": per_seed(
            rows.group_by("seed", "control", "rate_bit_s").agg(queue.mean()), queue.max()
        ),
    }
    for name, column in (("drops", "drop_rate"), ("signals", "signal_rate")):
        rate = across(rows, "control", column, keep=["rate_bit_s"])
        excess = pl.col("reno") - pl.min_horizontal("hstcp", "stcp", "exp")
        answers[f"figure-2/reno/{name}"] = per_seed(rate, excess.max())
    signals = across(
        rows,
        "control",
        "signal_rate",
        keep=["rate_bit_s"],
        rate_bit_s=[r for r in rates if r >= 40e6],
    )
    answers["figure-2/hstcp/signals"] = per_seed(
        signals, (pl.col("hstcp") / pl.max_horizontal("stcp", "exp")).mean()
    )
    if rates[-1] < 10e9:
        return answers
    lost = rows.filter(pl.col("control") == "reno")
    return answers | {
        "figure-2/reno/lowest": per_seed(
            used, pl.col("reno") - pl.min_horizontal("hstcp", "stcp", "exp"), rate_bit_s=rates[-1]
        ),
        "figure-2/stcp/extreme": [
            high - low if high is not None and low is not None else None
            for high, low in zip(
                per_seed(used, "stcp", rate_bit_s=10e9),
                per_seed(used, "stcp", rate_bit_s=2.56e9),
                strict=True,
            )
        ],
        "figure-2/reno/no-loss/2.56G": per_seed(lost, "signals", rate_bit_s=2.56e9),
        "figure-2/reno/no-loss/10G": per_seed(lost, "signals", rate_bit_s=10e9),
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
    for panel, (column, label) in zip(axes.flat, panels, strict=True):
        plots.over(panel, rows, x="rate_bit_s", y=column, log=True, percent=True)
        panel.set_ylabel(label)
        plots.rates(panel, sorted(rows["rate_bit_s"].unique()))
        panel.set_ylim(bottom=0 if column != "utilisation" else None)
    axes[0, 0].set_ylim(top=101)
    plots.expected(axes[0, 0], low=95)
    plots.note(axes[0, 0], "shaded: EXP-TCP, says the paper", (0.98, 0.77), ha="right")
    for panel in axes[1]:
        panel.set_xlabel("capacity (bit/s)")
    plots.legend(figure, axes[0, 0])
    return figure
