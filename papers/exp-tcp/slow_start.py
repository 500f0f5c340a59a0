"""Section II.C: what doubling the window costs where the path is long, and what EXP-TCP's start costs."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from longfat.paper import Answer, Experiment, Scale, across, plots
from longfat.study import Measured, Point, Row
from shared import BDP_S, PACKET_BIT

FIGURE = Experiment(
    id="slow-start",
    title="What one flow loses when it starts",
    question="How many packets does doubling drop on a long path, and how many EXP-TCP's start?",
)
RATES = (40e6, 160e6, 640e6, 1e9, 2.56e9)


def points(scale: Scale) -> Iterator[Point]:
    """TCP, which doubles, and EXP-TCP, alone on a link with drop-tail."""
    for rate in RATES if scale == "full" else RATES[:-1]:
        for control in ("reno", "exp"):
            yield Point(
                "start.toml",
                set={"link.bottleneck.rate": f"{rate:.0f} bit/s", "flow.flow.control": control},
                labels={"control": control, "rate_bit_s": rate},
                seeds=1,
                tables=("flow_series", "link_series"),
            )


def measure(run: Measured) -> Row:
    """Packets dropped until the window has been smaller for the first time, and for a second after that."""
    window = run.table("flow_series").sort("time_s").select("time_s", "window")
    fell = window.filter(pl.col("window") < pl.col("window").cum_max())["time_s"]
    until = (fell[0] if len(fell) else window["time_s"][-1]) + 1.0
    link = run.table("link_series").filter(direction="forward")
    dropped = link.filter(pl.col("time_s") <= until)["dropped"].sum()
    return {"dropped": float(dropped), "end_s": float(until)}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """At 1 Gbit/s, the capacity of Figures 5 to 7."""
    dropped = across(rows, "control", "dropped", keep=["rate_bit_s"], rate_bit_s=1e9)
    return {
        "slow-start/doubling": float(dropped["reno"][0]),
        "slow-start/exp": float(dropped["exp"][0] / dropped["reno"][0]),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Packets lost against the capacity, with what the path holds."""
    figure, axes = plots.grid(1, 1, width=9, height=5.4)
    panel = axes[0, 0]
    rates = sorted(rows["rate_bit_s"].unique())
    plots.over(panel, rows, x="rate_bit_s", y="dropped", log=True)
    panel.plot(
        rates,
        [rate * BDP_S / PACKET_BIT for rate in rates],
        color=plots.FAINT,
        linestyle=plots.DOTTED,
        label="what the path holds",
    )
    panel.set_yscale("symlog", linthresh=10)
    panel.yaxis.set_minor_locator(NullLocator())
    panel.set(
        xlabel="capacity (bit/s)", ylabel="packets lost at the end of slow start", ylim=(0, None)
    )
    plots.rates(panel, rates)
    plots.legend(figure, panel)
    return figure
