"""Figure 4, section III.D: utilisation, queue and drops against the load of short flows."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, both_directions, dumbbell

FIGURE = Experiment(
    id="figure-4",
    title="Short flows among the long ones",
    question="Which controller fills what short flows leave of the link?",
)
LIGHT = 0.032
UNLIMITED, NS2_WINDOW = 0, 20
"""The largest window of a short flow in packets: no limit, and ns-2's default."""


def points(scale: Scale) -> Iterator[Point]:
    """Every controller under every load; EXP-TCP also with short flows whose windows are limited.

    At a quarter of the capacity there are a quarter of the long flows.
    """
    quick = scale == "quick"
    runs = [(control, UNLIMITED) for control in CONTROLS] + [("exp", NS2_WINDOW)]
    for web in [0.002 * 2**k for k in (range(0, 9, 4) if quick else range(9))]:
        for control, window in runs:
            changes: dict[str, Any] = {}
            for way in ("forward", "backward"):
                changes[f"traffic.web-{way}.arrivals"] = {"load": f"{100 * web:g} %"}
                if window:
                    changes[f"traffic.web-{way}.max_window"] = window
            point = dumbbell(
                125e6 if quick else 500e6,
                control,
                flows=4 if quick else 16,
                set=changes | ({"duration": "60 s"} if quick else {}),
                web=web,
                web_window=window,
            )
            yield replace(point, scenario="web.toml")


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions; how long a short flow takes."""
    times = [group["completion_s"]["mean"] for group in run.summary["traffic"].values()]
    known = [time for time in times if time is not None]
    return both_directions(run) | {"completion_s": sum(known) / len(known) if known else None}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentence of section III.D for each of the three panels, compared run by run."""
    others = ("reno", "hstcp", "stcp")
    limited = at(rows, web_window=NS2_WINDOW)
    rows = at(rows, web_window=UNLIMITED)
    used = across(rows, "control", "utilisation", keep=["web"])
    dropped = across(rows, "control", "drop_rate", keep=["web"])
    exp = rows.filter(control="exp")
    lightest, heaviest = exp["web"].min(), exp["web"].max()

    def change(of: pl.DataFrame) -> list[float | None]:
        ends = of.with_columns(
            pl.when(pl.col("web") < heaviest)
            .then(pl.lit("light"))
            .otherwise(pl.lit("heavy"))
            .alias("end")
        )
        ends = ends.filter(pl.col("web").is_in([lightest, heaviest]))
        return per_seed(
            across(ends, "end", "utilisation", keep=[]), (pl.col("heavy") - pl.col("light")).first()
        )

    return {
        "figure-4/exp/best": per_seed(used, (pl.col("exp") - pl.max_horizontal(*others)).min()),
        "figure-4/exp/robust": change(exp),
        "figure-4/exp/robust/limited": change(limited),
        "figure-4/exp/queue": per_seed(exp, pl.col("queue_mean").max()),
        "figure-4/exp/drops": per_seed(dropped, (pl.col("exp") - pl.min_horizontal(*others)).max()),
        "figure-4/exp/bound": per_seed(exp, "utilisation", web=lightest),
        "figure-4/exp/bound/unlimited": per_seed(
            exp.filter(pl.col("web") <= LIGHT * 1.001), pl.col("utilisation").min()
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's three panels, and how long the short flows take."""
    figure, axes = plots.grid(2, 2, sharex=True)
    panels = (
        ("utilisation", "utilisation (%)"),
        ("queue_mean", "mean queue (% of buffer)"),
        ("drop_rate", "dropped (%)"),
        ("completion_s", "mean time of a short flow (s)"),
    )
    loads = sorted(rows["web"].unique())
    for panel, (column, label) in zip(axes.flat, panels, strict=True):
        plots.over(
            panel,
            at(rows, web_window=UNLIMITED),
            x="web",
            y=column,
            log=True,
            percent=column != "completion_s",
        )
        panel.set_ylabel(label)
        panel.set_xticks(loads, [f"{100 * load:g}" for load in loads])
        panel.set_ylim(bottom=0 if column in ("queue_mean", "drop_rate") else None)
    limited = (
        at(rows, web_window=NS2_WINDOW)
        .group_by("web")
        .agg(pl.col("utilisation").mean())
        .sort("web")
    )
    axes[0, 0].errorbar(
        limited["web"],
        100 * limited["utilisation"],
        marker="D",
        linestyle=(0, (3, 2)),
        color=plots.colour("exp"),
        markersize=4.5,
        markerfacecolor="white",
        linewidth=1.3,
        label="EXP-TCP, windows of short flows up to 20",
    )
    axes[0, 0].set_ylim(top=101)
    for panel in axes[1]:
        panel.set_xlabel("load of the short flows (% of the link)")
    plots.legend(figure, axes[0, 0])
    return figure
