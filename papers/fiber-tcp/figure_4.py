"""Figure 4: utilisation in intervals of 10 s in the runs of Figure 3."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import QUEUES, sections

FIGURE = Experiment(
    id="figure-4",
    title="Utilisation of 100 Mbit/s with a fibre loss of 1e-5",
    question="Does bounding the losses from below make the link useful again?",
    by=("time_s",),
)


def points(scale: Scale) -> Iterator[Point]:
    """The runs of Figure 3."""
    yield from sections(scale, 1e8)


def measure(run: Measured) -> list[Row]:
    """The average, at time -1; the first 400 s in steps of 10 s."""
    series = run.table("link_series").filter(
        pl.col("link").cast(pl.String) == "bottleneck",
        pl.col("direction").cast(pl.String) == "forward",
        (pl.col("time_s") > 0) & (pl.col("time_s") <= 400),
    )
    tens = (
        series.with_columns((pl.col("time_s") / 10 - 1e-6).floor().alias("ten"))
        .group_by("ten")
        .agg(pl.col("utilisation").mean())
        .sort("ten")
    )
    rows: list[Row] = [{"time_s": -1.0, "utilisation": run.link()["utilisation"]}]
    for ten, used in tens.iter_rows():
        rows.append({"time_s": 10 * ten + 5, "utilisation": used})
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Means over the measured interval."""
    return {
        f"figure-4/{name}/{queue}": per_seed(
            rows, "utilisation", control=control, queue=queue, time_s=-1.0
        )
        for name, control in (("tcp", "reno"), ("fiber", "fiber"))
        for queue in QUEUES
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Means over the seeds, with their range."""
    figure, axes = plots.grid(1, 2, sharey=True, height=5.2)
    for panel, queue in zip(axes[0], QUEUES, strict=True):
        for control in ("fiber", "reno"):
            line = (
                at(rows, queue=queue, control=control)
                .filter(pl.col("time_s") >= 0)
                .group_by("time_s")
                .agg(
                    (100 * pl.col("utilisation")).mean().alias("mean"),
                    (100 * pl.col("utilisation")).min().alias("least"),
                    (100 * pl.col("utilisation")).max().alias("most"),
                )
                .sort("time_s")
            )
            tint = plots.colour(control)
            panel.fill_between(
                line["time_s"], line["least"], line["most"], color=tint, alpha=0.15, linewidth=0
            )
            panel.plot(line["time_s"], line["mean"], color=tint, label=plots.name(control))
        panel.annotate(queue, (0.98, 0.04), xycoords="axes fraction", ha="right", fontweight="bold")
        panel.set(xlabel="time (s)", xlim=(0, 400), ylim=(0, 103))
    axes[0, 0].set(ylabel="utilisation in 10 s (%), shaded: all seeds")
    plots.legend(figure, axes[0, 0])
    return figure
