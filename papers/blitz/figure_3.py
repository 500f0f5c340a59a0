"""Figure 3: knee and cliff, a sketch after Jain and Ramakrishnan in the paper, measured here."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Point
from shared import yardstick

FIGURE = Experiment(
    id="figure-3",
    title="Throughput, response time and power: knee and cliff as measured",
    question="Do throughput, response and power have the shape that the paper takes for granted?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """The reference network without a bottleneck."""
    return shared.sweep(scale, ("reference",), shares=(1.0,))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The shape over the loads, seed by seed."""
    power, load = pl.col("power"), pl.col("load")
    top = load.filter(power == power.max()).first()
    right = ((power.diff() > 0) == (load <= top)).drop_nulls()
    found: dict[str, Answer] = {}
    for control in ("blitz", "reno"):
        line = at(rows, control=control).filter(load > 0).sort("seed", "load")
        steps = right.slice(1).mean()
        found[f"figure-3/knee/{control}"] = per_seed(line, steps)
        throughput, response = pl.col("throughput"), pl.col("response_s")
        found[f"figure-3/cliff/{control}"] = per_seed(line, throughput.last() / throughput.max())
        found[f"figure-3/response/{control}"] = per_seed(
            line, response.last() / response.filter(power == power.max()).first()
        )
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Three panels against the load, with the yardstick dotted."""
    figure, axes = plots.grid(1, 3, width=14, height=5.4)
    loaded = rows.filter(pl.col("load") > 0)
    fine = np.linspace(0.01, 0.985, 200)
    for control in ("reno", "blitz"):
        colour, ideal = plots.colour(control), yardstick(rows, "reference", 1.0, control)
        line = at(loaded, control=control).group_by("load").agg(
            pl.col("throughput", "response_s", "power").mean()
        ).sort("load")  # fmt: skip
        curves = (
            (line["throughput"], [150 * load for load in fine]),
            (1e3 * line["response_s"], [1e3 * ideal.response_s(load) for load in fine]),
            (line["power"], [ideal.power_bit_s2(load) / 1e6 for load in fine]),
        )
        knee = float(line["load"][line["power"].arg_max()])  # type: ignore[index]
        for panel, (values, theory) in zip(axes[0], curves, strict=True):
            panel.plot(fine, theory, color=colour, linewidth=1.0, linestyle=":")
            panel.plot(line["load"], values, color=colour, marker=plots.marker(control),
                       markersize=5, linewidth=1.6, label=plots.name(control))  # fmt: skip
            panel.axvline(knee, color=colour, linewidth=0.8, alpha=0.5)
        axes[0, 2].annotate(
            f"knee {knee:g}", (knee, line["power"].max()), xytext=(-4, 6),
            textcoords="offset points", ha="right", color=colour, fontsize=10,
        )  # fmt: skip
    for panel, name in zip(
        axes[0], ("throughput (Mbit/s)", "response time (ms)", "power (Mbit/s per s)"), strict=True
    ):
        panel.set(xlabel="load: arrivals over capacity", ylabel=name, xlim=(0, None))
    axes[0, 0].set_ylim(0, 160)
    axes[0, 1].set_yscale("log")
    axes[0, 2].set_yscale("log")
    plots.legend(figure, axes[0, 0])
    drawn.means(figure, loaded)
    return figure
