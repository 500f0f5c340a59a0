"""Figure 4, section III.D: utilisation, queue and drops against the load of short flows."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from drawn import shares
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, RIVALS, both_directions, dumbbell, extreme

FIGURE = Experiment(
    id="figure-4",
    title="Short flows among the long ones",
    question="Which controller fills what short flows leave of the link?",
)
LIGHT = 0.032
NS2_WINDOW = 20
"""ns-2's largest window, in packets."""
PARETO, LIMITED, EXPONENTIAL = "Pareto", "Pareto, windows of at most 20", "exponential"
"""The sizes of short flows, and the limit of their windows."""
LOADS = (0.002, 0.032, 0.128, 0.512)
VARIED = {PARETO: LOADS, LIMITED: (0.002, 0.032, 0.512), EXPONENTIAL: (0.002, 0.512)}
"""The loads with each of them."""


def points(scale: Scale) -> Iterator[Point]:
    """Every controller under every load; EXP-TCP also with limited windows or exponential sizes of short flows.

    At a quarter of the capacity there are a quarter of the long flows.
    """
    quick = scale == "quick"
    runs = [(control, PARETO) for control in CONTROLS] + [("exp", LIMITED), ("exp", EXPONENTIAL)]
    for web in VARIED[LIMITED] if quick else LOADS:
        for control, sizes in runs:
            if web not in VARIED[sizes]:
                continue
            changes: dict[str, Any] = {}
            for way in ("forward", "backward"):
                changes[f"traffic.web-{way}.arrivals"] = {"load": f"{100 * web:g} %"}
                if sizes == LIMITED:
                    changes[f"traffic.web-{way}.max_window"] = NS2_WINDOW
                if sizes == EXPONENTIAL:
                    changes[f"traffic.web-{way}.size"] = {"exponential": {"mean": "30 packets"}}
            point = dumbbell(
                125e6 if quick else 500e6,
                control,
                flows=4 if quick else 16,
                seeds=3 if quick else 10,
                set=changes | ({"duration": "60 s"} if quick else {}),
                web=web,
                web_sizes=sizes,
            )
            yield replace(point, scenario="web.toml")


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions; how long a short flow takes."""
    times = [group["completion_s"]["mean"] for group in run.summary["traffic"].values()]
    known = [time for time in times if time is not None]
    return both_directions(run) | {"completion_s": sum(known) / len(known) if known else None}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentence of section III.D for each of the three panels, compared run by run."""
    exponential, limited = at(rows, web_sizes=EXPONENTIAL), at(rows, web_sizes=LIMITED)
    rows = at(rows, web_sizes=PARETO)
    used, queue, dropped = (
        across(rows, "control", column, keep=["web"])
        for column in ("utilisation", "queue_mean", "drop_rate")
    )
    exp = at(rows, control="exp")
    lightest, heaviest = exp["web"].min(), exp["web"].max()
    light = pl.col("web") <= LIGHT * 1.001
    utilisation = pl.col("utilisation")
    best, least = pl.max_horizontal(*RIVALS), pl.min_horizontal(*RIVALS)

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
        "figure-4/exp/best": extreme(used, pl.col("exp") - best, "web"),
        "figure-4/exp/robust": change(exp),
        "figure-4/exp/robust/limited": change(limited),
        "figure-4/exp/robust/exponential": change(exponential),
        "figure-4/exp/queue": extreme(queue, pl.col("exp") - least, "web", largest=True),
        "figure-4/exp/drops": extreme(dropped, pl.col("exp") - least, "web", largest=True),
        "figure-4/exp/bound": per_seed(exp, "utilisation", web=lightest),
        "figure-4/exp/bound/unlimited": extreme(exp.filter(light), utilisation, "web"),
        "figure-4/exp/bound/limited": extreme(limited.filter(light), utilisation, "web"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's three panels, and how long the short flows take."""
    figure, axes = plots.grid(2, 2, sharex=True)
    pareto = at(rows, web_sizes=PARETO)
    panels = (
        (axes[0, 0], "utilisation", "utilisation (%)"),
        (axes[0, 1], "queue_mean", "mean queue (% of buffer)"),
        (axes[1, 1], "completion_s", "mean time of a short flow (s)"),
    )
    for panel, column, label in panels:
        percent = column != "completion_s"
        plots.over(panel, pareto, x="web", y=column, log=True, percent=percent)
        panel.set_ylabel(label)
    axes[0, 1].set_ylim(bottom=0)
    shares(axes[1, 0], pareto, "drop_rate", x="web")
    axes[1, 0].set_ylabel("dropped (%), logarithmic")
    loads = sorted(rows["web"].unique())
    for panel in axes.flat:
        panel.set_xticks(loads, [f"{100 * load:g}" for load in loads])
    limited = (
        at(rows, web_sizes=LIMITED).group_by("web").agg(pl.col("utilisation").mean()).sort("web")
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
