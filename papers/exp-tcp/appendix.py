"""The appendix: EXP-TCP is friendly to TCP while windows are small."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Computation, Measured, Point, Row

FIGURE = Experiment(
    id="appendix",
    title="EXP-TCP and TCP under the same random loss",
    question="Is EXP-TCP friendly to TCP while windows are small, and only then?",
    by=("flow",),
)
GAMMA, BETA, START = 0.05, 1 / 8, 4.0
SMALL = (0.1, 0.05, 0.02, 0.01)
LARGE = (1e-3, 1e-4)
MODIFIED_BELOW = 16
TRIPS = 10


def points(scale: Scale) -> Iterator[Point | Computation]:
    """Random loss at six rates; a few flows on a small link; the first steps; what needs no simulation."""
    long = 1 if scale == "quick" else 10
    for loss in (*SMALL, *LARGE):
        duration = 200 if loss == min(LARGE) else 400
        yield Point(
            "small.toml",
            set={"link.bottleneck.loss": loss, "duration": f"{long * duration} s"},
            labels={"kind": "loss", "loss": loss},
        )
    yield Point("crowd.toml", labels={"kind": "crowd", "loss": None}, seeds=1)
    yield Point(
        "first-steps.toml", labels={"kind": "steps", "loss": None}, seeds=1, tables=("flow_series",)
    )
    yield Computation({"kind": "unmodified", "loss": None}, unmodified)


def unmodified() -> float:
    """What √cwnd₀ alone adds to a window of 4 in five round trips, with one acknowledgment per segment."""
    window = START
    for _ in range(5):
        for _ in range(int(window)):
            window += GAMMA * (1 - START / window + START**0.5 / window)
    return window - START


def measure(run: Measured) -> list[Row]:
    """A row for each flow under loss, and one for each of the other kinds."""
    kind = run.labels["kind"]
    if kind == "loss":
        return [
            {
                "flow": flow["control"],
                "rate_bit_s": flow["goodput_bit_s"],
                "window": flow["window_mean"],
            }
            for flow in run.flows()
        ]
    row: Row = {"flow": None}
    if kind == "crowd":
        return [
            row | {"utilisation": run.link()["utilisation"], "jain": run.summary["jain"]["exp"]}
        ]
    if kind == "unmodified":
        return [row | {"gain": run.value}]
    # One sample for each round trip.
    window = run.table("flow_series").sort("time_s")["window"].to_numpy()[: TRIPS + 1]
    return [row | {"gain": float(window[0] - START), "later": float(np.diff(window)[:4].mean())}]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of the appendix."""
    loss = rows.filter(kind="loss")
    ratios = across(loss, "flow", "rate_bit_s", keep=["loss"])
    ratio = pl.col("exp") / pl.col("reno")
    steps = at(rows, kind="steps")
    crowd = at(rows, kind="crowd")
    return {
        "appendix/gaimd": 3 * BETA / (2 - BETA),
        "appendix/unmodified": float(at(rows, kind="unmodified")["gain"][0]),
        "appendix/modified/first": float(steps["gain"][0]),
        "appendix/modified/next": float(steps["later"][0] / steps["gain"][0]),
        "appendix/friendly/least": per_seed(ratios, ratio.min(), loss=list(SMALL)),
        "appendix/friendly/most": per_seed(ratios, ratio.max(), loss=list(SMALL)),
        "appendix/unfriendly": per_seed(ratios, ratio.first(), loss=min(LARGE)),
        "appendix/efficiency": float(crowd["utilisation"][0]),
        "appendix/fairness": float(crowd["jain"][0]),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The mean windows of both on the left; the ratio of their rates on the right."""
    figure, axes = plots.grid(1, 2, height=5.4)
    left, right = axes[0]
    loss = rows.filter(kind="loss")
    plots.over(left, loss, x="loss", y="window", by="flow", log=True)
    left.set_yscale("log")
    left.axhline(MODIFIED_BELOW, color=plots.FAINT, linestyle=plots.DASHED, linewidth=1)
    left.annotate(
        "below 16: the rule of the appendix",
        (min(LARGE), MODIFIED_BELOW),
        (0, -5),
        textcoords="offset points",
        va="top",
        fontsize=9.5,
        color=plots.FAINT,
    )
    left.set_yticks([5, 20, 50, 200, 500], ["5", "20", "50", "200", "500"])
    left.yaxis.set_minor_locator(NullLocator())
    left.set(xlabel="loss (%)", ylabel="mean window (packets)")
    ratios = across(loss, "flow", "rate_bit_s", keep=["loss"])
    ratios = ratios.with_columns(
        (pl.col("exp") / pl.col("reno")).alias("ratio"), pl.lit("exp").alias("control")
    )
    plots.over(right, ratios, x="loss", y="ratio", log=True)
    right.set_ylim(0, None)
    plots.expected(right, low=0.5, high=2.0)
    right.annotate(
        "friendly: within a factor of two (RFC 5348)",
        (min(LARGE), 0.56),
        fontsize=9.5,
        color=plots.FAINT,
    )
    right.axhline(1, color=plots.FAINT, linewidth=1)
    right.set(xlabel="loss (%)", ylabel="rate of EXP-TCP over that of TCP")
    losses = sorted((*SMALL, *LARGE))
    for panel in (left, right):
        panel.set_xticks(losses, [f"{100 * each:g}" for each in losses])
    plots.legend(figure, left)
    return figure
