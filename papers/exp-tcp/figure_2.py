"""Figure 2, section III.B: utilisation, queue and drops against the capacity of the bottleneck."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl
from matplotlib.figure import Figure

from drawn import shares
from longfat.paper import Answer, Experiment, Scale, Untestable, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, FLOWS, RIVALS, both_directions, dumbbell, extreme

FIGURE = Experiment(
    id="figure-2",
    title="Sixteen flows each way, against the capacity",
    question="Which controller fills the link, whatever its capacity?",
)
SEEDS = {2.5e6: 20, 10e6: 20, 40e6: 20, 160e6: 10, 640e6: 10, 2.56e9: 3, 10e9: 3}
"""Capacities in bit/s, and how many seeds each has at full scale: as many as decide what can be decided."""
QUICK = [rate for rate in SEEDS if rate <= 160e6]
QUIET = 5.12e9
"""The next step above 2.5 Gbit/s, from where standard TCP is said to lose nothing."""
PRODUCT, LARGER = "1 bdp", f"{2 * FLOWS} packets"


def points(scale: Scale) -> Iterator[Point]:
    """Every controller at every capacity; the smallest also with a larger buffer; TCP at one capacity more."""
    full = scale == "full"
    for rate in SEEDS if full else QUICK:
        for control in CONTROLS:
            yield dumbbell(rate, control, seeds=SEEDS[rate] if full else 3, buffer=PRODUCT)
    for control in CONTROLS:
        larger = {"link.bottleneck.buffer": LARGER}
        yield dumbbell(2.5e6, control, seeds=20 if full else 3, set=larger, buffer=LARGER)
    if full:
        yield replace(dumbbell(QUIET, "reno", buffer=PRODUCT), tables=("link_series",))


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions, and whether anything was lost or marked at all."""
    signals = sum(
        run.link(direction=way)[what]
        for way in ("forward", "reverse")
        for what in ("dropped", "marked")
    )
    row = both_directions(run) | {"signals": signals, "last_s": None}
    if run.labels["rate_bit_s"] == QUIET:
        series = run.table("link_series")
        row["last_s"] = series.filter(pl.col("dropped") + pl.col("marked") > 0)["time_s"].max()
    return row


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of section III.B. Controllers are compared run by run."""
    larger = at(rows, buffer=LARGER)
    rows = at(rows, buffer=PRODUCT)
    used = side_by_side(rows, "utilisation")
    exp = at(rows, control="exp")
    utilisation, queue = pl.col("utilisation"), pl.col("queue_mean")
    best, second = pl.max_horizontal(*RIVALS), pl.max_horizontal("reno", "hstcp")
    below, above = pl.col("rate_bit_s") < 5e9, pl.col("rate_bit_s") >= 40e6
    dearest = rows.with_columns(pl.concat_str("control", "rate_bit_s").alias("point"))
    answers: dict[str, Answer] = {
        "figure-2/exp/utilisation": extreme(exp, utilisation, "rate_bit_s"),
        "figure-2/exp/bound": extreme(
            exp.filter(pl.col("rate_bit_s") >= 160e6), utilisation, "rate_bit_s"
        ),
        "figure-2/exp/best": extreme(used, pl.col("exp") - best, "rate_bit_s"),
        "figure-2/stcp/second": extreme(used.filter(below), pl.col("stcp") - second, "rate_bit_s"),
        "figure-2/hstcp/behind": extreme(
            used, pl.col("hstcp") - pl.min_horizontal("stcp", "exp"), "rate_bit_s", largest=True
        ),
        "figure-2/queue": extreme(dearest, queue, "point", largest=True),
        "figure-2/queue/larger": extreme(larger, queue, "control", largest=True),
        "figure-2/exp/utilisation/larger": per_seed(larger, utilisation, control="exp"),
    }
    for name, column in (("drops", "drop_rate"), ("signals", "signal_rate")):
        excess = pl.col("reno") - pl.min_horizontal("hstcp", "stcp", "exp")
        answers[f"figure-2/reno/{name}"] = extreme(
            side_by_side(rows, column), excess, "rate_bit_s", largest=True
        )
    signals = side_by_side(rows, "signal_rate").filter(above)
    answers["figure-2/hstcp/signals"] = per_seed(
        signals.filter(pl.col("seed") <= pl.col("seed").max().over("rate_bit_s").min()),
        (pl.col("hstcp") / pl.max_horizontal("stcp", "exp")).mean(),
    )
    if 10e9 not in rows["rate_bit_s"]:
        return answers
    lost = at(rows, control="reno")
    return answers | {
        "figure-2/reno/lowest": per_seed(
            used, pl.col("reno") - pl.min_horizontal("hstcp", "stcp", "exp"), rate_bit_s=10e9
        ),
        "figure-2/stcp/extreme": fall(at(rows, control="stcp"), 2.56e9, 10e9),
        "figure-2/reno/no-loss/2.56G": per_seed(lost, "signals", rate_bit_s=2.56e9),
        "figure-2/reno/no-loss/5.12G": per_seed(lost, "signals", rate_bit_s=QUIET),
        "figure-2/reno/no-loss/10G": per_seed(lost, "signals", rate_bit_s=10e9),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """What EXP-TCP and TCP lose and use at the smallest capacity; how far HSTCP and STCP are apart there."""
    smallest = at(rows, buffer=PRODUCT, rate_bit_s=2.5e6)
    used = side_by_side(smallest, "utilisation")
    next_one = at(rows, buffer=PRODUCT, rate_bit_s=10e6, control="exp")
    return {
        "figure-2/smallest/exp/drops": per_seed(smallest, "drop_rate", control="exp"),
        "figure-2/smallest/reno/drops": per_seed(smallest, "drop_rate", control="reno"),
        "figure-2/smallest/stcp-hstcp": per_seed(used, pl.col("stcp") - pl.col("hstcp")),
        "figure-2/smallest/stcp-reno": per_seed(used, pl.col("stcp") - pl.col("reno")),
        "figure-2/next/exp": per_seed(next_one, "utilisation"),
        "figure-2/quiet/last": per_seed(rows, "last_s", rate_bit_s=QUIET)
        if QUIET in rows["rate_bit_s"]
        else Untestable("needs 5.12 Gbit/s"),
    }


def side_by_side(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """A column of all controllers, for each capacity and seed that all of them have."""
    return across(rows, "control", column, keep=["rate_bit_s"]).drop_nulls()


def fall(rows: pl.DataFrame, start: float, end: float) -> list[float]:
    """How much more utilisation there is at the capacity `end` than at `start`, for each seed that has both."""
    ends = across(rows, "rate_bit_s", "utilisation", keep=[], rate_bit_s=[start, end])
    change = ends.select("seed", (pl.col(str(end)) - pl.col(str(start))).alias("change"))
    return [float(value) for value in change.drop_nulls().sort("seed")["change"]]


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's three panels, and the marks, which take the place of its losses when ECN is on."""
    rows = at(rows, buffer=PRODUCT).filter(pl.col("rate_bit_s") != QUIET)
    figure, axes = plots.grid(2, 2, sharex=True)
    panels = (("utilisation", "utilisation (%)"), ("queue_mean", "mean queue (% of buffer)"))
    for panel, (column, label) in zip(axes[0], panels, strict=True):
        plots.over(panel, rows, x="rate_bit_s", y=column, log=True, percent=True)
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0 if column != "utilisation" else None)
    for panel, (column, label) in zip(
        axes[1], (("drop_rate", "dropped (%)"), ("mark_rate", "marked (%)")), strict=True
    ):
        shares(panel, rows, column)
        panel.set_ylabel(f"{label}, logarithmic")
        panel.set_xlabel("capacity (bit/s)")
    for panel in axes.flat:
        plots.rates(panel, sorted(rows["rate_bit_s"].unique()))
    axes[0, 0].set_ylim(top=101)
    plots.expected(axes[0, 0], low=95)
    plots.note(axes[0, 0], "shaded: EXP-TCP, says the paper", (0.98, 0.77), ha="right")
    plots.legend(figure, axes[0, 0])
    return figure
