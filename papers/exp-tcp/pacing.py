"""Section II.C: what pacing changes when acknowledgments queue behind data."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, dumbbell

FIGURE = Experiment(
    id="pacing",
    title="Pacing and compressed acknowledgments",
    question="Does pacing make up for what bursts and compressed acknowledgments cost?",
)
QUEUES = ("DropTail", "RED")
ONE_WAY, BOTH_WAYS = "one way", "both ways"
STEP = "5 ms"
WARMUP_S = 20
FULL = 100
EPISODE_S = 0.15
"""The longest round trip, 100 ms, and half of the queue."""


def points(scale: Scale) -> Iterator[Point]:
    """Every controller with and without pacing, data in one direction or in both, DropTail and RED."""
    rate, flows, duration, seeds = (40e6, 4, 45, 3) if scale == "quick" else (160e6, 8, 60, 6)
    for queue in QUEUES:
        for traffic in (ONE_WAY, BOTH_WAYS):
            for control in CONTROLS:
                for paced in (False, True):
                    changes = changed(duration, queue, traffic, paced=paced)
                    labels: dict[str, Any] = {"queue": queue, "traffic": traffic, "paced": paced}
                    made = dumbbell(rate, control, flows=flows, seeds=seeds, set=changes, **labels)
                    flow = ("flow_series",) if counted(queue, traffic) else ()
                    yield replace(made, tables=("link_series", *flow))


def counted(queue: str, traffic: str) -> bool:
    """Where it is counted how many flows back off together."""
    return queue == "DropTail" and traffic == BOTH_WAYS


def changed(duration: float, queue: str, traffic: str, *, paced: bool) -> dict[str, Any]:
    """The dumbbell of Figure 2, changed. One way: flows in the other direction send one packet each."""
    changes: dict[str, Any] = {"duration": f"{duration} s", "sample": STEP}
    for group in ("forward", "backward"):
        changes[f"flow.{group}.pacing"] = "spread" if paced else "none"
    if queue == "DropTail":
        changes["link.bottleneck.queue"] = "drop-tail"
    if traffic == ONE_WAY:
        changes["flow.backward.size"] = "1 packets"
    return changes


def measure(run: Measured) -> Row:
    """The mean over the directions that carry data. How far the queue moves in 5 ms shows bursts."""
    ways = ("forward",) if run.labels["traffic"] == ONE_WAY else ("forward", "reverse")
    series = run.table("link_series").filter(pl.col("time_s") > WARMUP_S)
    rows = []
    for way in ways:
        queue = series.filter(pl.col("direction") == way)["queue"].to_numpy()
        link = run.link(direction=way)
        rows.append(
            {
                "utilisation": link["utilisation"],
                "queue_mean": link["queue_mean"],
                "move": float(np.sqrt(np.mean(np.diff(queue) ** 2))),
                "queue_p99": link["queue_p99"],
                "signal_rate": link["drop_rate"] + link["mark_rate"],
            }
        )
    means: Row = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    known = counted(str(run.labels["queue"]), str(run.labels["traffic"]))
    return means | {"together": together(run) if known else None}


def together(run: Measured) -> float:
    """The flows of one direction that back off in an episode of losses, as a share of all of them.

    An episode begins with a decrease by more than a twentieth and lasts for one round trip of the slowest flow.
    """
    flows = run.table("flow_series").filter(
        pl.col("time_s") > WARMUP_S, pl.col("group") == "forward"
    )
    before = pl.col("window").shift(1).over("flow", order_by="time_s")
    falls = flows.filter(pl.col("window") < 0.95 * before).sort("time_s")
    episodes: list[set[str]] = []
    begun = -1.0
    for time, flow in falls.select("time_s", "flow").iter_rows():
        if time > begun + EPISODE_S:
            episodes.append(set())
            begun = time
        episodes[-1].add(flow)
    return float(np.mean([len(each) for each in episodes])) / flows["flow"].n_unique()


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Paced against unpaced, one way against both ways, run by run."""
    answers: dict[str, Answer] = {}
    used = at(sides(rows, "utilisation"), traffic=BOTH_WAYS)
    gain = pl.col("paced") - pl.col("unpaced")
    ratio = pl.col("paced") / pl.col("unpaced")
    for queue in QUEUES:
        here = f"pacing/{queue.lower()}"
        exp = {"queue": queue, "control": "exp"}
        unpaced = across(rows, "traffic", "utilisation", keep=["control"], queue=queue, paced=False)
        answers |= {
            f"{here}/bursts": per_seed(
                sides(rows, "move"), ratio.first(), traffic=BOTH_WAYS, **exp
            ),
            f"{here}/compression": per_seed(
                unpaced, (pl.col(ONE_WAY) - pl.col(BOTH_WAYS)).first(), control="exp"
            ),
            f"{here}/utilisation": per_seed(used, gain.first(), **exp),
            **{
                f"{here}/{control}": per_seed(used, gain.first(), queue=queue, control=control)
                for control in CONTROLS
                if control != "exp"
            },
        }
    answers["pacing/red/queue"] = per_seed(
        sides(rows, "queue_p99"), ratio.first(), traffic=BOTH_WAYS, queue="RED", control="exp"
    )
    unpaced = across(rows, "control", "move", keep=[], queue="RED", traffic=BOTH_WAYS, paced=False)
    answers["pacing/red/hstcp/bursts"] = per_seed(
        unpaced, (pl.col("hstcp") / pl.max_horizontal("stcp", "exp")).first()
    )
    kept = across(
        rows, "queue", "queue_mean", keep=[], control="exp", traffic=BOTH_WAYS, paced=True
    )
    answers["pacing/red/low"] = per_seed(kept, (pl.col("RED") / pl.col("DropTail")).first())
    return answers


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Utilisation and flows that back off together, with drop-tail and data both ways, paced and not."""
    found: dict[str, Answer] = {}
    for control in ("reno", "hstcp"):
        for name, paced in (("paced", True), ("unpaced", False)):
            here: dict[str, Any] = {
                "queue": "DropTail",
                "traffic": BOTH_WAYS,
                "control": control,
                "paced": paced,
            }
            for column in ("utilisation", "together"):
                found[f"pacing/{control}/{name}/{column}"] = per_seed(rows, column, **here)
    return found


def sides(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """A measured column, paced beside unpaced."""
    named = rows.with_columns(
        pl.when("paced").then(pl.lit("paced")).otherwise(pl.lit("unpaced")).alias("paced")
    )
    return across(named, "paced", column, keep=["queue", "traffic", "control"])


def draw(rows: pl.DataFrame) -> Figure:
    """For each controller from unpaced (hollow) to paced (filled)."""
    panels = (
        ("utilisation", "utilisation (%)"),
        ("move", "queue moves in 5 ms, rms (% of buffer)"),
        ("queue_p99", "queue, 99th percentile (% of buffer)"),
        ("signal_rate", "dropped or marked (%)"),
    )
    figure, axes = plots.grid(2, 4, width=15, height=8.6, sharey=True)
    figure.subplots_adjust(left=0.115, hspace=0.24)
    for line, queue in zip(axes, QUEUES, strict=True):
        for panel, (column, label) in zip(line, panels, strict=True):
            places = [
                (traffic, control, -(5.3 * block + index))
                for block, traffic in enumerate((ONE_WAY, BOTH_WAYS))
                for index, control in enumerate(CONTROLS)
            ]
            for traffic, control, y in places:
                pair(
                    panel,
                    at(rows, queue=queue, traffic=traffic, control=control),
                    column,
                    control,
                    y,
                )
            panel.set_yticks(
                [y for *_, y in places], [plots.name(control) for _, control, _ in places]
            )
            panel.grid(visible=False, axis="y")
            panel.xaxis.set_major_locator(MaxNLocator(4))
            panel.set_ylim(-8.9, 1.4)
            panel.margins(x=0.06)
            low, high = panel.get_xlim()
            panel.set_xlim(max(low, -0.03 * high), min(high, 1.04 * FULL) if high > FULL else high)
            for traffic, y in ((ONE_WAY, 0.75), (BOTH_WAYS, -4.55)):
                panel.annotate(
                    f"data {traffic}",
                    (0.01, y),
                    xycoords=panel.get_yaxis_transform(),
                    fontsize=9,
                    color=plots.FAINT,
                    va="center",
                )
            if queue == QUEUES[-1]:
                panel.set_xlabel(label)
        line[0].set_title(queue, loc="left", fontsize=12, fontweight="bold", x=-0.34)
    looks = {"color": "#4D4D4D", "marker": "o", "linestyle": "none", "markersize": 8}
    axes[0, 0].plot([], [], markerfacecolor="white", label="not paced", **looks)
    axes[0, 0].plot([], [], label="paced: a window spread over the round trip", **looks)
    plots.legend(figure, axes[0, 0])
    return figure


def pair(panel: Axes, rows: pl.DataFrame, column: str, control: str, y: float) -> None:
    """One controller: its two means with intervals, and a line between them."""
    ends = []
    for paced, shift in ((False, 0.13), (True, -0.13)):
        middle, half = plots.mean_and_half((100 * at(rows, paced=paced)[column]).to_list())
        panel.errorbar(
            middle,
            y + shift,
            xerr=half,
            color=plots.colour(control),
            marker="o",
            markersize=8,
            markerfacecolor=plots.colour(control) if paced else "white",
            elinewidth=1.1,
            capsize=2.5,
            zorder=4,
        )
        ends.append((middle, y + shift))
    panel.add_line(
        Line2D(
            *zip(*ends, strict=True),
            color=plots.colour(control),
            linewidth=2.2,
            alpha=0.45,
            zorder=3,
        )
    )
