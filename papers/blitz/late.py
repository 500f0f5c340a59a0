"""Section 2.1: short transfers that arrive during a long burst, with priorities and without."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="late",
    title="Late short transfers pass a long burst, thanks to pushout",
    question="Does a burst without an end leave room for files that come later?",
)


def points(scale: Scale) -> Iterator[Point]:
    """With priorities and pushout; with neither."""
    for priorities in (True, False):
        queue = "pushout" if priorities else "drop-tail"
        yield Point(
            "late.toml",
            set={
                "flow.long.control.priorities": priorities,
                "traffic.late.control.priorities": priorities,
                "link.bottleneck.queue": queue,
                "link.exit.queue": queue,
            },
            labels={"queue": queue},
            seeds=3 if scale == "quick" else 5,
            tables=("transfers",),
        )


def measure(run: Measured) -> Row:
    """Loss and completion of the short transfers; goodput of the long one."""
    late = run.summary["traffic"]["late"]
    (long,) = run.flows("long")
    took = run.table("transfers").filter(pl.col("group").cast(pl.String) == "late")["completion_s"]
    return {
        "drop_rate": late["drop_rate"],
        "completed": 1 - took.null_count() / max(1, took.len()),
        "median_s": took.median(),
        "long": long["goodput_bit_s"] / (30e6 - late["goodput_bit_s"]),
        "utilisation": run.link()["utilisation"],
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Loss with either queue; completion with pushout."""
    return {
        "late/protected": per_seed(rows, "drop_rate", queue="pushout"),
        "late/exposed": per_seed(rows, "drop_rate", queue="drop-tail"),
        "late/complete": per_seed(rows, "completed", queue="pushout"),
        "late/long": per_seed(rows, "long", queue="pushout"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Three shares, with pushout and without."""
    figure, axes = plots.grid(1, 1, width=10, height=5.2)
    panel = axes[0, 0]
    columns = {
        "drop_rate": "short: packets lost",
        "completed": "short: complete",
        "long": "long: goodput over what is left",
    }
    for index, (queue, colour) in enumerate(
        (("pushout", plots.colour("blitz")), ("drop-tail", plots.colour("reno")))
    ):
        for place, column in enumerate(columns):
            mean = 100 * float(at(rows, queue=queue)[column].mean() or 0.0)  # type: ignore[arg-type]
            x = place + 0.36 * (index - 0.5)
            panel.bar(x, mean, 0.33, color=colour, label=queue if place == 0 else None)
            panel.annotate(f"{mean:.1f}", (x, mean), xytext=(0, 4), ha="center", fontsize=10,
                           textcoords="offset points")  # fmt: skip
    panel.set_xticks(range(3), list(columns.values()))
    panel.grid(visible=False, axis="x")
    panel.set(ylabel="share (%)", ylim=(0, 112))
    plots.legend(figure, panel)
    return figure
