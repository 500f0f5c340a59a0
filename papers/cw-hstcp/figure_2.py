"""Figure 2 and section III: five HSTCP flows of different round trips, with DropTail and with RED."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import lines, mean_and_half, note
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
from setting import FIVE_HSTCP, RED, dumbbell, shares, windows

FIGURE = Experiment(
    id="figure-2",
    title="Five HSTCP flows: a short round trip takes the link",
    question="How unequal do HSTCP's windows become, and does RED prevent it?",
    by=("kind", "flow", "time_s"),
)


def points(scale: Scale) -> Iterator[Point]:
    """The five flows with DropTail, and with RED."""
    yield dumbbell(scale, "hstcp", FIVE_HSTCP, queue="DropTail")
    yield dumbbell(scale, "hstcp", FIVE_HSTCP, set={"link.bottleneck.queue": RED}, queue="RED")


def measure(run: Measured) -> list[Row]:
    """Shares; of the first seed the windows, too."""
    row: Row = {"kind": "shares"} | shares(run)
    drawn = windows(run) if run.seed == 1 else []
    return [row, *({"kind": "window"} | one for one in drawn)]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Shares over the steady part."""
    found = at(rows, kind="shares")
    jain = across(found, "queue", "jain", keep=[])
    short, long = pl.col("u0"), pl.col("u4")
    return {
        "figure-2/severe": per_seed(found, "jain", queue="DropTail"),
        "figure-2/ratio": per_seed(found, short / long, queue="DropTail"),
        "figure-2/red/index": per_seed(jain, pl.col("RED") - pl.col("DropTail")),
        "figure-2/red/not-severe": per_seed(found, short / long, queue="RED"),
        "figure-2/small-windows-lose-less": per_seed(
            found, pl.col("events_last") / pl.col("events_first"), queue="DropTail"
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one run with either queue."""
    figure, axes = plots.grid(1, 2, sharey=True, width=13, height=5.6)
    figure.subplots_adjust(top=0.74)
    for panel, queue in zip(axes[0], ("DropTail", "RED"), strict=True):
        lines(panel, at(rows, kind="window", queue=queue), FIVE_HSTCP)
        index, _ = mean_and_half(at(rows, kind="shares", queue=queue)["jain"].to_list())
        panel.set_title(
            f"{queue}: Jain's index {index:.2f}", loc="left", fontsize=12, fontweight="bold"
        )
        panel.set(xlabel="time (s)", xlim=(0, 200))
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, None))
    note(axes[0, 1], "windows: the first seed", (0.98, 0.96), ha="right", va="top")
    plots.legend(figure, axes[0, 0])
    return figure
