"""Figure 1: the fibre keeps TCP below 50, the modified flow takes the link. Fluid, and the same in packets.

A sender that reacts once per window gains nothing while it repairs a loss: in packets the flow
grows half as fast, and a lost retransmission costs it the window.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Computation, Measured, Point, Row
from shared import fiber, solved, unit

FIGURE = Experiment(
    id="figure-1",
    title="Rates on a link of 1000 with a fibre loss of 1e-3",
    question="Can a flow whose losses are bounded from below fill a link whose fibre loses packets?",
    by=("time_s",),
)
LAWS = {"reno": "reno", "fiber": fiber(1e-2)}


def points(_: Scale) -> Iterator[Point | Computation]:
    """Each flow alone: the equations, and packets."""
    for control, law in LAWS.items():
        scenario = unit({control: law}, 1000, 1500)
        yield Computation({"model": "fluid", "control": control}, solved, {"scenario": scenario})
        yield Point(
            scenario,
            labels={"model": "packets", "control": control},
            seeds=1,
            tables=("flow_series",),
        )


def measure(run: Measured) -> list[Row]:
    """Window and price in each unit of time."""
    if run.labels["model"] == "fluid":
        return [{key: row[key] for key in ("time_s", "window", "price")} for row in run.value]
    series = run.table("flow_series")
    keep = series.filter((pl.col("time_s") % 5).abs() < 1e-6)
    return [
        {"time_s": t, "window": w, "price": None}
        for t, w in zip(keep["time_s"], keep["window"], strict=True)
    ]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The fluid's limits, its slope, and its time to fill the link."""
    tcp, modified = (at(rows, model="fluid", control=control).sort("time_s") for control in LAWS)
    full = modified.filter(pl.col("window") >= 999.0)["time_s"][0]
    window = modified["window"]
    return {
        "figure-1/tcp/settles": float(tcp["window"][-1]),
        "figure-1/fiber/slope": float((window[1000] - window[500]) / 500),
        "figure-1/fiber/full": float(full),
        "figure-1/fiber/price": float((modified["price"][-1] + 1e-3) / (1e-2 + 2 / 1000**2)),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The fluid as lines, the packets faint behind them."""
    figure, axes = plots.grid(1, 1, height=5.6)
    panel = axes[0, 0]
    for control in LAWS:
        for model, strength, width in (("packets", 0.45, 1.2), ("fluid", 1.0, 2.0)):
            line = at(rows, model=model, control=control).sort("time_s")
            plots.series(
                panel, line["time_s"], line["window"], color=plots.colour(control),
                label=f"{plots.name(control)}, {model}", alpha=strength, linewidth=width,
            )  # fmt: skip
    panel.axhline(1000, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    panel.annotate("capacity", (5, 1000), (0, 3), textcoords="offset points", color=plots.FAINT)
    panel.set(
        xlabel="time (round trips)", ylabel="window (packets)", xlim=(0, 1500), ylim=(0, 1200)
    )
    plots.legend(figure, panel)
    return figure
