"""Figure 7, section III.F: many flows join, and leave a hundred seconds later."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from longfat.paper import Answer, Experiment, Scale, across, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, LAWS

FIGURE = Experiment(
    id="figure-7",
    title="Four of five flows come and go",
    question="How fast do flows take back what others leave?",
    by=("kind", "time_s", "flow"),
)
FULL = 0.95
SEEDS: dict[Scale, int] = {"quick": 3, "full": 5}
SHOWN = 5
MOST_POINTS = 150

Numbers = NDArray[np.float64]


def points(scale: Scale) -> Iterator[Point]:
    """Every controller."""
    for control in CONTROLS:
        yield change(control, scale, seeds=SEEDS[scale])


def change(
    control: str,
    scale: Scale,
    *,
    seeds: int = 3,
    law: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as everywhere
    **labels: object,
) -> Point:
    """One controller. Quick runs keep what matters: the part of the time TCP needs to win its share back."""
    rate, originals, phase = (1e9, 10, 100) if scale == "full" else (200e6, 5, 40)
    changes: dict[str, Any] = {
        "duration": f"{3 * phase} s",
        "warmup": f"{phase // 5} s",
        "link.bottleneck.rate": f"{rate:.0f} bit/s",
        "flow.original.count": originals,
        "flow.backward.count": originals,
        "flow.more.count": 4 * originals,
        "flow.more.start": {"uniform": [f"{phase} s", f"{phase + 1} s"]},
        "flow.more.stop": f"{2 * phase} s",
    }
    for group in ("original", "more", "backward"):
        changes[f"flow.{group}.control"] = law or LAWS[control]
    return Point(
        "sudden.toml",
        set=changes | dict(set or {}),
        labels={"control": control, "rate_bit_s": rate, "phase_s": phase, **labels},
        seeds=seeds,
        tables=("flow_series", "link_series"),
    )


def response(run: Measured) -> Row:
    """How fast and how much of the link is used after the change, and how fast windows grow.

    The response lasts from the departure until the utilisation over a whole second is at least `FULL`; there is
    none if it never is. Growth is what a window gains in a round trip, as a share of the window: the mean
    over the original flows and all intervals of 200 ms in which it grows.
    """
    phase = float(run.labels["phase_s"])
    link = run.table("link_series").filter(direction="forward").sort("time_s")
    time = link["time_s"].to_numpy()
    used = link["utilisation"].to_numpy()
    step = float(time[1] - time[0])
    after = time > 2 * phase
    second = np.convolve(used[after], np.full(round(1 / step), step), mode="valid")
    full = np.flatnonzero(second >= FULL)
    growth = growths(run.table("flow_series").filter(group="original"), step)
    steady, later = (
        (growth["time_s"] > phase / 2) & (growth["time_s"] < phase),
        growth["time_s"] > 2 * phase + 0.2,
    )
    return {
        "response_s": float(full[0]) * step + 1 if len(full) else None,
        "regained": float(used[after & (time <= 2.2 * phase)].mean()),
        "at_end": float(used[time > 2.9 * phase].mean()),
        "utilisation": float(used[time > phase / 5].mean()),
        "steady_growth": growth.filter(steady)["growth"].mean(),
        "largest_growth": growth.filter(later)
        .group_by("time_s")
        .agg(pl.col("growth").median())["growth"]
        .max(),
        "queue": float(link["queue"].to_numpy()[time > phase / 5].mean()),
    }


def measure(run: Measured) -> list[Row]:
    """One row with what the claims need; for the picture, the link and five flows of the first seed."""
    rows: list[Row] = [{"kind": "run", "time_s": None, "flow": None} | response(run)]
    if run.seed != 1:
        return rows
    link = run.table("link_series").filter(direction="forward").sort("time_s")
    flows = run.table("flow_series").filter(group="original")
    time, used, waiting = (link[name].to_numpy() for name in ("time_s", "utilisation", "queue"))
    keep = np.union1d(plots.envelope(used, MOST_POINTS), plots.envelope(waiting, MOST_POINTS))
    rows += [
        {
            "kind": "link",
            "time_s": round(float(time[i]), 3),
            "flow": None,
            "used": float(used[i]),
            "waiting": float(waiting[i]),
        }
        for i in keep
    ]
    for number in range(SHOWN):
        flow = flows.filter(flow=f"original[{number}]").sort("time_s")
        when, values = flow["time_s"].to_numpy(), flow["throughput_bit_s"].to_numpy()
        rows += [
            {
                "kind": "flow",
                "time_s": round(float(when[i]), 3),
                "flow": f"original[{number}]",
                "throughput_bit_s": float(values[i]),
            }
            for i in plots.envelope(values, MOST_POINTS)
        ]
    return rows


def growths(flows: pl.DataFrame, step: float) -> pl.DataFrame:
    """What each window gains per round trip, as a share of it, in each interval in which it grows."""
    before = pl.col("window").shift(1).over("flow", order_by="time_s")
    gain = (pl.col("window") / before - 1) * pl.col("rtt_s") / step
    return (
        flows.with_columns(gain.alias("growth"))
        .filter(pl.col("growth") > 0)
        .select("time_s", "flow", "growth")
    )


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of section III.F. Controllers are compared run by run."""
    run = rows.filter(kind="run")
    exp, reno = pl.col("exp"), pl.col("reno")
    rivals = ("hstcp", "stcp")
    steady = per_seed(run, "steady_growth", control="exp")
    largest = per_seed(run, "largest_growth", control="exp")

    given = run.with_columns(pl.col("response_s").fill_null(pl.col("phase_s")))

    def compared(column: str, what: pl.Expr) -> list[float | None]:
        return per_seed(across(given, "control", column, keep=[]), what.first())

    return {
        "figure-7/reno/slowest": compared("regained", reno - pl.min_horizontal(*rivals, "exp")),
        "figure-7/reno/full": per_seed(run, "at_end", control="reno"),
        "figure-7/exp/quickest": compared("response_s", exp / pl.min_horizontal(*rivals, "reno")),
        "figure-7/exp/highest": compared("utilisation", exp - pl.max_horizontal(*rivals, "reno")),
        "figure-7/exp/gentle": compared("steady_growth", exp / pl.min_horizontal(*rivals)),
        "figure-7/exp/grows": [
            a / b if a and b else None for a, b in zip(largest, steady, strict=True)
        ],
        "figure-7/exp/fiercest": compared("largest_growth", exp / pl.max_horizontal(*rivals)),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How many runs of each controller come back to 95 %."""
    run = rows.filter(kind="run")
    return {
        f"figure-7/reached/{control}": float(
            run.filter(pl.col("control") == control)["response_s"].count()
        )
        for control in CONTROLS
    } | {
        f"figure-7/response/{control}": per_seed(run, "response_s", control=control)
        for control in CONTROLS
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's grid: throughputs, utilisation, queue; a line for each controller."""
    figure, axes = plots.grid(4, 3, width=12.5, height=11.5, sharex=True, sharey="col")
    phase = float(rows["phase_s"][0])
    titles = (
        "throughput of five original flows (Mbit/s)",
        "utilisation (%)",
        "queue (% of buffer)",
    )
    for line, control in zip(axes, CONTROLS, strict=True):
        one = rows.filter(control=control)
        for number in range(SHOWN):
            flow = one.filter(kind="flow", flow=f"original[{number}]").sort("time_s")
            line[0].plot(
                flow["time_s"], flow["throughput_bit_s"] / 1e6, linewidth=0.8, color=SHADES[number]
            )
        link = one.filter(kind="link").sort("time_s")
        for panel, column in zip(line[1:], ("used", "waiting"), strict=True):
            panel.plot(
                link["time_s"], 100 * link[column], linewidth=0.9, color=plots.colour(control)
            )
        for panel in line:
            panel.axvspan(phase, 2 * phase, color="#f0efe6", linewidth=0, zorder=0)
            panel.set_xlim(0, 3 * phase)
            panel.set_xticks([0, phase, 2 * phase, 3 * phase])
        responses = one.filter(kind="run")["response_s"]
        reached = responses.drop_nulls()
        line[0].set_ylabel(
            plots.name(control), fontweight="bold", color=plots.colour(control), fontsize=13
        )
        line[1].annotate(
            f"95 % after {plots.mean_and_half(reached.to_list())[0]:.1f} s"
            if len(reached) == len(responses)
            else f"95 % reached again in {len(reached)} of {len(responses)} runs",
            (2.95 * phase, 8),
            ha="right",
            fontsize=10,
            color=plots.FAINT,
        )
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title, loc="left", fontsize=11)
    fastest, longest = rows.select(pl.col("throughput_bit_s", "waiting").max()).row(0)
    for panel, most in zip(axes[0], (1.05e-6 * fastest, 104, 105 * longest), strict=True):
        panel.set_ylim(0, most)
    axes[0, 0].annotate(
        "four times as many\nflows more",
        (1.5 * phase, 0.97),
        xycoords=axes[0, 0].get_xaxis_transform(),
        ha="center",
        va="top",
        fontsize=9,
        color=plots.FAINT,
    )
    for panel in axes[-1]:
        panel.set_xlabel("time (s)")
    plots.shows(figure, "curves: seed 1; numbers: all runs")
    return figure


SHADES = ("#4D4D4D", "#E69F00", "#56B4E9", "#CC79A7", "#009E73")
