"""What the missing Figure 1 leaves open: rate of the bottleneck and delay, which sets the buffer."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import (
    Answer,
    Experiment,
    Measured,
    Point,
    Row,
    Scale,
    across,
    at,
    per_seed,
    plots,
)
from setting import ACCESS, cw, dumbbell, shares

FIGURE = Experiment(
    id="sensitivity",
    title="Rates and buffers that the paper may have had",
    question="Does the result hang on the topology, which is not in the text?",
)
RATES = (200, 500, 1000)
DELAYS = (10, 25, 50)
CORNERS = [(rate, delay) for rate in RATES[::2] for delay in DELAYS[::2]]
MATRIX = [(rate, delay) for rate in RATES for delay in DELAYS]


def points(scale: Scale) -> Iterator[Point]:
    """CW-HSTCP and HSTCP on nine bottlenecks; at the quick scale its corners, for a minute."""
    short = {"duration": "60 s", "warmup": "30 s"} if scale == "quick" else {}
    for rate, delay in CORNERS if scale == "quick" else MATRIX:
        for control, law in (("cw-hstcp", cw(10)), ("hstcp", "hstcp")):
            changes = {
                "link.bottleneck.rate": f"{rate} Mbit/s",
                "link.bottleneck.buffer": f"{delay} ms",
                "flow.fast.access": f"{ACCESS * rate} Mbit/s",
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
    means = wide.group_by("rate", "delay").agg(pl.col("better", "cw-hstcp").mean())
    worst, best = (
        means.sort("better").row(0, named=True),
        means.sort("cw-hstcp").row(-1, named=True),
    )
    cw_only = at(rows, control="cw-hstcp")
    rates = across(cw_only, "rate", "jain", keep=["delay"])
    delays = across(cw_only, "delay", "jain", keep=["rate"])
    return {
        "sensitivity/better": per_seed(wide, "better", rate=worst["rate"], delay=worst["delay"]),
        "sensitivity/better/mean": per_seed(wide, pl.col("better").mean()),
        "sensitivity/best": per_seed(wide, "cw-hstcp", rate=best["rate"], delay=best["delay"]),
        "sensitivity/rate": per_seed(rates, (pl.col("1000") - pl.col("200")).mean()),
        "sensitivity/buffer": per_seed(delays, (pl.col("50") - pl.col("10")).mean()),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The index against the buffer, a panel for each rate."""
    rates = sorted(rows["rate"].unique())
    figure, axes = plots.grid(1, len(rates), sharey=True, width=13, height=5.4)
    figure.subplots_adjust(top=0.73)
    for panel, rate in zip(axes[0], rates, strict=True):
        plots.over(panel, at(rows, rate=rate), x="delay", y="jain", log=True)
        panel.set_xticks(list(DELAYS), [str(delay) for delay in DELAYS])
        panel.set_title(f"{rate} Mbit/s", loc="left", fontsize=12, fontweight="bold")
        panel.set(xlabel="buffer (ms of the rate)", ylim=(0.3, 1))
        panel.axhline(0.961, color="#222222", linestyle=(0, (2, 2)), linewidth=1.2)
    axes[0, 0].annotate("the paper, CW-HSTCP", (10, 0.967), fontsize=10)
    axes[0, 0].set(ylabel="Jain's index")
    plots.legend(figure, axes[0, 0])
    return figure
