"""What counts as a train: the start of a window in trains, behind access links and paced.

The virtual queue drains at η C. Packets that come faster, at C or at 0.8 C, find it empty once per round trip;
slower ones always do, and the window doubles. Threshold 50 %, 1 Gbit/s, 40 ms, from 100 packets.
"""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from slope import PIPE, ramp

FIGURE = Experiment(
    id="reach",
    title="How a window reaches the threshold",
    question="How long does it take in trains, behind a slower access link, and paced?",
    by=("time_s",),
)
GOAL = 0.95 * 0.5 * PIPE
WAYS: dict[str, tuple[str, dict[str, str], float]] = {
    "trains": ("in trains", {}, 50),
    "access-0.8": ("access link of 0.8 C", {"access": "800 Mbit/s"}, 50),
    "paced": ("paced", {"pacing": "spread"}, 2),
    "access-0.4": ("access link of 0.4 C", {"access": "400 Mbit/s"}, 2),
}
COLOURS = ("#0B3C5D", "#4FB286", "#C2185B", "#E08E1B")


def points(_: Scale) -> Iterator[Point]:
    """The ramp of `slope` at 50 %, long enough to reach `GOAL`."""
    for way, (_name, change, seconds) in WAYS.items():
        sample = "200 ms" if seconds > 10 else "10 ms"
        point = ramp("anti-ecn", 0.5, PIPE, start=100, seconds=seconds, sample=sample, **change)
        yield replace(point, labels={"way": way})


def measure(run: Measured) -> list[Row]:
    """The window over time."""
    series = run.table("flow_series").select("time_s", "window")
    return [{"time_s": time, "window": window} for time, window in series.iter_rows()]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Times to `GOAL` from the end of slow start."""
    answers: dict[str, Answer] = {}
    for way in WAYS:
        line = at(rows, way=way).sort("time_s")
        start = float(str(line.filter(pl.col("window") >= 100)["time_s"].min()))
        end = float(str(line.filter(pl.col("window") >= GOAL)["time_s"].min()))
        answers[f"reach/{way}"] = end - start
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Windows on a logarithmic time axis."""
    figure, axes = plots.grid(1, 1, width=10, height=5.6)
    panel = axes[0, 0]
    for (way, (name, _, _)), colour in zip(WAYS.items(), COLOURS, strict=True):
        line = at(rows, way=way).sort("time_s")
        dash = (0, (4, 3)) if way == "access-0.8" else "-"
        panel.plot(
            line["time_s"], line["window"], color=colour, linewidth=2, linestyle=dash, label=name
        )
    panel.axhline(0.5 * PIPE, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1, zorder=1)
    panel.set(
        xscale="log", xlim=(0.1, 60), ylim=(0, 3000), xlabel="time (s)", ylabel="window (packets)"
    )
    panel.set_xticks([0.1, 1, 10, 60], ["0.1", "1", "10", "60"])
    panel.minorticks_off()
    panel.annotate("threshold", (0.105, 0.5 * PIPE + 30), color=plots.FAINT, fontsize=10)
    plots.legend(figure, panel)
    return figure
