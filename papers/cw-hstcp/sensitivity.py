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


def points(scale: Scale) -> Iterator[Point]:
    """Nine bottlenecks, CW-HSTCP and HSTCP. Round trips stay; the delay is that of the buffer."""
    for rate in RATES:
        for delay in DELAYS:
            for control, law in (("cw-hstcp", cw(10)), ("hstcp", "hstcp")):
                changes = {
                    "link.bottleneck.rate": f"{rate} Mbit/s",
                    "link.bottleneck.buffer": f"{delay} ms",
                    "flow.fast.access": f"{ACCESS * rate} Mbit/s",
                }
                if rate > RATES[0] and (scale == "quick" or delay != 25):
                    continue
                yield dumbbell(
                    "quick" if rate == RATES[0] else "full", law, seeds=3, set=changes,
                    control=control, rate=rate, delay=delay,
                )  # fmt: skip


def measure(run: Measured) -> Row:
    """Shares and the index."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """CW-HSTCP against HSTCP everywhere; the best index of all."""
    wide = across(rows, "control", "jain", keep=["rate", "delay"])
    return {
        "sensitivity/better": per_seed(wide, (pl.col("cw-hstcp") - pl.col("hstcp")).min()),
        "sensitivity/best": per_seed(wide, pl.col("cw-hstcp").max()),
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
