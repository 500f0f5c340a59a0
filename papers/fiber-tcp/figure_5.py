"""Figure 5: the window over time, packet by packet, with drop-tail and with AVQ."""

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
from setting import QUEUES, fiber, outcome, sections, single

FIGURE = Experiment(
    id="figure-5",
    title="The same flow on 10 Mbit/s",
    question="Is TCP as good where the link, and not the fibre, holds the window?",
    by=("time_s",),
)
RATE = 1e7


def points(scale: Scale) -> Iterator[Point]:
    """Both controllers, both queues; the modified one with a smaller alpha."""
    yield from sections(scale, RATE)
    yield Point(
        single(fiber(2e-5), rate_bit_s=RATE, queue=QUEUES["avq"]),
        labels={"control": "small alpha", "queue": "avq"},
        seeds=5 if scale == "quick" else 15,
        tables=("flow_series",),
    )


def measure(run: Measured) -> list[Row]:
    """The averages, at time -1, and the window of the first 400 s of the first seed every second."""
    rows: list[Row] = [{"time_s": -1.0, **outcome(run)}]
    if run.seed == 1:
        series = run.table("flow_series").filter(pl.col("time_s") <= 400)
        rows += [
            {"time_s": time, "window": window}
            for time, window in zip(series["time_s"], series["window"], strict=True)
        ]
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """How far apart the utilisations are, seed by seed."""
    used = across(at(rows, time_s=-1.0), "control", "utilisation", keep=["queue"])
    answers: dict[str, Answer] = {
        f"figure-5/{queue}": per_seed(used, (pl.col("fiber") - pl.col("reno")).abs(), queue=queue)
        for queue in QUEUES
    }
    gentle = (pl.col("small alpha") - pl.col("reno")).abs()
    return answers | {"figure-5/avq/small-alpha": per_seed(used, gentle, queue="avq")}


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one seed; the dashed line is what the path holds."""
    figure, axes = plots.grid(1, 2, sharey=True, height=5.2)
    for panel, queue in zip(axes[0], QUEUES, strict=True):
        for control in ("fiber", "reno"):
            line = at(rows, queue=queue, control=control, seed=1).filter(pl.col("time_s") >= 0)
            plots.series(
                panel, line["time_s"], line["window"], color=plots.colour(control),
                label=plots.name(control), linewidth=1.5,
            )  # fmt: skip
        panel.axhline(RATE * 0.1 / 12_000, color="#6b6b6b", linewidth=1, linestyle=(0, (4, 3)))
        panel.annotate(queue, (0.98, 0.04), xycoords="axes fraction", ha="right", fontweight="bold")
        panel.set(xlabel="time (s)", xlim=(0, 400))
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, None))
    plots.legend(figure, axes[0, 0])
    return figure
