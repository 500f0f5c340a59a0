"""Section I calls AntiECN, which improves the increase, complementary: both together, and each alone."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import fiber, single

FIGURE = Experiment(
    id="anti-ecn",
    title="From 100 segments on 100 Mbit/s with a fibre loss of 1e-5",
    question="Do AntiECN's increase and the bounded decrease help each other?",
    by=("time_s",),
)
CONTROLS: dict[str, Any] = {
    "TCP": "reno",
    "fiber": fiber(),
    "AntiECN": {"kind": "anti-ecn", "on": "reno"},
    "AntiECN on fiber": {"kind": "anti-ecn", "on": "fiber"},
}


def points(scale: Scale) -> Iterator[Point]:
    """Four controllers, AVQ, a marker at nine tenths of the rate; slow start ends at 100 segments."""
    for name, law in CONTROLS.items():
        scenario = single(
            law, queue={"kind": "avq", "utilisation": 0.98}, duration_s=60, warmup_s=0,
            initial_threshold=100,
        )  # fmt: skip
        scenario["link"]["bottleneck"]["anti_ecn"] = {"threshold": 0.9}
        yield Point(
            scenario, labels={"control": name}, seeds=5 if scale == "quick" else 10,
            tables=("flow_series",),
        )  # fmt: skip


def measure(run: Measured) -> list[Row]:
    """Utilisation, at time -1; the window of the first seed."""
    rows: list[Row] = [{"time_s": -1.0, "utilisation": run.link()["utilisation"]}]
    if run.seed == 1:
        series = run.table("flow_series")
        rows += [
            {"time_s": time, "window": window}
            for time, window in zip(series["time_s"], series["window"], strict=True)
        ]
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Both together against the better of the two."""
    used = across(at(rows, time_s=-1.0), "control", "utilisation", keep=[])
    better = pl.max_horizontal("fiber", "AntiECN")
    return {"anti-ecn/fills": per_seed(used, pl.col("AntiECN on fiber") - better)}


def draw(rows: pl.DataFrame) -> Figure:
    """Windows of one seed, with the mean utilisation of all seeds."""
    figure, axes = plots.grid(1, 1, height=5.4)
    panel = axes[0, 0]
    tints = dict(zip(CONTROLS, ("#4D4D4D", "#E69F00", "#CC79A7", "#0072B2"), strict=True))
    for name, tint in tints.items():
        line = at(rows, control=name, seed=1).filter(pl.col("time_s") >= 0)
        used = at(rows, control=name, time_s=-1.0)["utilisation"].mean()
        plots.series(
            panel, line["time_s"], line["window"], color=tint, linewidth=1.6,
            label=f"{name}: {100 * float(str(used)):.0f} % used",
        )  # fmt: skip
    panel.axhline(1e8 * 0.1 / 12_000, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    panel.set(xlabel="time (s)", ylabel="window (packets)", xlim=(0, 60), ylim=(0, None))
    plots.legend(figure, panel)
    return figure
