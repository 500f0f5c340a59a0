"""Figure 2: on a link of capacity 5 the modified flow, which is first, takes little more than TCP. Fluid."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Computation, Measured, Row
from shared import fiber, solved, unit

FIGURE = Experiment(
    id="figure-2",
    title="Two flows on a link of 5; TCP joins at 50",
    question="Is the controller friendly to TCP where links are slow?",
    by=("flow", "time_s"),
)


def points(_: Scale) -> Iterator[Computation]:
    """One computation."""
    scenario = unit({"fiber": fiber(1e-2), "reno": "reno"}, 5, 200, joins=50)
    yield Computation({"capacity": 5}, solved, {"scenario": scenario})


def measure(run: Measured) -> list[Row]:
    """Every unit of time."""
    rows: list[Row] = run.value
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The modified flow alone, and both after thirty units together."""

    def of(flow: str, time: float) -> float:
        return float(at(rows, flow=flow, time_s=time)["window"][0])

    return {
        "figure-2/ratio": of("fiber", 80.0) / of("reno", 80.0),
        "figure-2/alone": of("fiber", 49.0),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Both rates."""
    figure, axes = plots.grid(1, 1, height=5.2)
    panel = axes[0, 0]
    for flow in ("fiber", "reno"):
        line = at(rows, flow=flow).sort("time_s")
        plots.series(
            panel, line["time_s"], line["window"], color=plots.colour(flow),
            label=plots.name(flow), linewidth=2,
        )  # fmt: skip
    panel.set(xlabel="time (round trips)", ylabel="rate (packets per round trip)", xlim=(0, 200))
    panel.set_ylim(0, 5.5)
    plots.legend(figure, panel)
    return figure
