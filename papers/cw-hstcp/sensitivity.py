"""What the missing Figure 1 leaves open: the bottleneck's rate, and its delay, which sets the buffer.

CW-HSTCP is fairer than HSTCP on all nine bottlenecks. With 10 ms of buffer it has the paper's index, but not
its use of the link.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import ACCESS, cw, dumbbell, shares

FIGURE = Experiment(
    id="sensitivity",
    title="Rates and buffers that the paper may have had",
    question="Does the result hang on the topology, which is not in the text?",
)
RATES = (200, 500, 1000)
DELAYS = (10, 25, 50)
CORNERS = [(rate, delay) for rate in RATES[::2] for delay in DELAYS[::2]]
PAPER = {"jain": 0.961, "total": 94.54}
"""Index and use of the link of CW-HSTCP with c = 10, from Table 3."""
USED = 0.9
MATRIX = [(rate, delay) for rate in RATES for delay in DELAYS]


def points(scale: Scale) -> Iterator[Point]:
    """CW-HSTCP and HSTCP on nine bottlenecks; at the quick scale only the corners, for a minute."""
    short = {"duration": "60 s", "warmup": "30 s"} if scale == "quick" else {}
    for rate, delay in CORNERS if scale == "quick" else MATRIX:
        for control, law in (("cw-hstcp", cw(10)), ("hstcp", "hstcp")):
            changes = {
                "link.bottleneck.rate": f"{rate} Mbit/s",
                "link.bottleneck.buffer": f"{delay} ms",
                "flow.fast.access": f"{ACCESS * rate:g} Mbit/s",
            }
            yield dumbbell(
                "quick" if rate == RATES[0] else "full",
                law,
                seeds=3 if scale == "quick" else 5,
                set=changes | short,
                control=control,
                rate=rate,
                delay=delay,
            )


def measure(run: Measured) -> Row:
    """Shares and the index."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """CW-HSTCP against HSTCP everywhere; the best index of all; what rate and buffer do."""
    wide = across(rows, "control", "jain", keep=["rate", "delay"]).with_columns(
        (pl.col("cw-hstcp") - pl.col("hstcp")).alias("better")
    )
    cw_only = at(rows, control="cw-hstcp")
    used = cw_only.group_by("rate", "delay").agg(pl.col("total").mean())
    means = wide.group_by("rate", "delay").agg(pl.col("better", "cw-hstcp").mean())
    means = means.join(used, on=["rate", "delay"]).sort("cw-hstcp")
    worst, best = means.sort("better").row(0, named=True), means.row(-1, named=True)
    full = means.filter(pl.col("total") >= USED).row(-1, named=True)
    rates = across(cw_only, "rate", "jain", keep=["delay"])
    delays = across(cw_only, "delay", "jain", keep=["rate"])
    return {
        "sensitivity/better": per_seed(wide, "better", rate=worst["rate"], delay=worst["delay"]),
        "sensitivity/better/mean": per_seed(wide, pl.col("better").mean()),
        "sensitivity/best": per_seed(wide, "cw-hstcp", rate=best["rate"], delay=best["delay"]),
        "sensitivity/both": per_seed(wide, "cw-hstcp", rate=full["rate"], delay=full["delay"]),
        "sensitivity/rate": per_seed(rates, (pl.col("1000") - pl.col("200")).mean()),
        "sensitivity/buffer": per_seed(delays, (pl.col("50") - pl.col("10")).mean()),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The index and the use of the link against the buffer, a column for each rate."""
    rates = sorted(rows["rate"].unique())
    delays = sorted(rows["delay"].unique())
    figure, axes = plots.grid(2, len(rates), sharex=True, sharey="row", width=13, height=8.2)
    figure.subplots_adjust(top=0.82)
    for column, rate in enumerate(rates):
        for panel, what in zip(axes[:, column], ("jain", "total"), strict=True):
            shown = at(rows, rate=rate)
            plots.over(panel, shown, x="delay", y=what, log=True, percent=what == "total")
            panel.set_xticks(delays, [str(delay) for delay in delays])
            panel.axhline(PAPER[what], color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
        axes[0, column].set_title(
            f"{rate} Mbit/s" if rate < RATES[-1] else "1 Gbit/s",
            loc="left", fontsize=12, fontweight="bold",
        )  # fmt: skip
        axes[1, column].set(xlabel="buffer (ms of the rate)")
    plots.note(axes[1, -1], "dotted: the paper, CW-HSTCP, c = 10", (0.98, 0.05), ha="right")
    axes[0, 0].set(ylabel="Jain's index", ylim=(0.3 if len(rates) == len(RATES) else 0, 1.02))
    axes[1, 0].set(ylabel="link used (%)", ylim=(50, 102))
    plots.legend(figure, axes[0, 0])
    return figure
