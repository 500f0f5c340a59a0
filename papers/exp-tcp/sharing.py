"""Shared by Figures 5 and 6: three flows that join one after another, and how equal their shares are."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from longfat.paper import Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, LAWS

Numbers = NDArray[np.float64]

NAMES = ("first", "second", "third")
FAIR = 0.9
"""Shares count as equal from this Jain's index: 0.9 still lets one of three flows have half of the link."""
BIN_S = 0.2
"""The paper's interval: throughputs are means over 200 ms."""
SHADES = {"first": "#4D4D4D", "second": "#E69F00", "third": "#56B4E9"}
MOST_POINTS = 200


def joining(
    scale: Scale, changes: Mapping[str, Any], *, seeds: int = 3, epochs: bool = False
) -> Iterator[Point]:
    """Every controller. A fifth of the capacity for 70 % of the time has as many epochs of EXP-TCP.

    With `epochs`, EXP-TCP is sampled finely enough to measure them.
    """
    rate, phase = (1e9, 100) if scale == "full" else (200e6, 70)
    for control in CONTROLS:
        changed: dict[str, Any] = {
            "duration": f"{3 * phase} s",
            "link.bottleneck.rate": f"{rate:.0f} bit/s",
        }
        for index, name in enumerate(NAMES):
            begin = index * phase
            changed |= {
                f"flow.{name}.control": LAWS[control],
                f"flow.{name}.start": {"uniform": [f"{begin} s", f"{begin + 0.2} s"]},
            }
        fine = epochs and control == "exp"
        yield Point(
            "convergence.toml",
            set=changed | dict(changes) | ({"sample": "10 ms"} if fine else {}),
            labels={"control": control, "rate_bit_s": rate, "phase_s": phase},
            seeds=seeds,
            tables=("flow_series", "link_series") if fine else ("flow_series",),
        )


def series(run: Measured, column: str) -> tuple[Numbers, Numbers]:
    """The times, and the values of each flow in a row of its own; NaN before it has started.

    The first time is one interval after 0, even if no flow has started by then.
    """
    wide = run.table("flow_series").pivot(on="group", index="time_s", values=column).sort("time_s")
    time = wide["time_s"].to_numpy()
    missing = round(time[0] / (time[1] - time[0])) - 1
    values = np.array([wide[name].cast(pl.Float64).to_numpy() for name in NAMES])
    values = np.pad(values, ((0, 0), (missing, 0)), constant_values=np.nan)
    return np.arange(1, values.shape[1] + 1) * (time[-1] / values.shape[1]), values


def throughputs(run: Measured) -> tuple[Numbers, Numbers]:
    """The ends of the 200 ms intervals, and throughputs in them as shares of the link, 0 before a start."""
    time, values = series(run, "throughput_bit_s")
    step = round(BIN_S / (time[1] - time[0]))
    whole = len(time) // step * step
    means = np.nan_to_num(values[:, :whole]).reshape(len(NAMES), -1, step).mean(axis=2)
    return time[step - 1 : whole : step], means / run.labels["rate_bit_s"]


def jain(shares: Numbers) -> Numbers:
    """Jain's index of each column."""
    squares = len(shares) * (shares**2).sum(axis=0)
    index: Numbers = shares.sum(axis=0) ** 2 / np.where(squares > 0, squares, np.nan)
    return index


def smooth(values: Numbers, width: int) -> Numbers:
    """Means over the last `width` columns, fewer at the start."""
    total = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    last = np.arange(1, values.shape[1] + 1)
    before = np.maximum(last - width, 0)
    means: Numbers = (total[:, last] - total[:, before]) / (last - before)
    return means


def shares_and_fairness(run: Measured) -> list[Row]:
    """One row with what the claims need; for the picture, throughputs of the first seed and Jain's index.

    Jain's index is that of mean throughputs over the last tenth of the time between two starts. `converged_s`
    is the time from the third start until the index is at least `FAIR` for good, or to the end if it never is,
    which `reached` tells.
    """
    phase = float(run.labels["phase_s"])
    time, shares = throughputs(run)
    smoothed = smooth(shares, round(phase / 10 / BIN_S))
    index = np.where(time <= phase, 1.0, jain(smoothed[:2]))
    index = np.where(time <= 2 * phase, index, jain(smoothed))
    third = time > 2 * phase
    unfair = time[third & (index < FAIR)]
    last = shares[:, time > 2.5 * phase].mean(axis=1)
    when, windows = series(run, "window")
    windows = windows[:, when > 2.5 * phase]
    row: Row = {
        "kind": "run",
        "time_s": None,
        "flow": None,
        "converged_s": float(unfair.max(initial=2 * phase)) - 2 * phase,
        "reached": bool(index[-1] >= FAIR),
        "jain_joined": float(index[time > phase].mean()),
        "jain_190": float(index[np.searchsorted(time, 1.9 * phase)]),
        "jain_290": float(index[np.searchsorted(time, 2.9 * phase)]),
        "jain_end": float(jain(last[:, None])[0]),
        "utilisation": float(shares[:, time > 0.2 * phase].sum(axis=0).mean()),
        "swing": float((windows.std(axis=1) / windows.mean(axis=1)).mean()),
    }
    rows = [row | {f"share_{name}": float(share) for name, share in zip(NAMES, last, strict=True)}]
    every = slice(round(phase / 100 / BIN_S) - 1, None, round(phase / 100 / BIN_S))
    rows += [
        {"kind": "jain", "time_s": round(float(t), 3), "flow": None, "jain": float(value)}
        for t, value in zip(time[every], index[every], strict=True)
        if t > phase
    ]
    if run.seed == 1:
        for number, name in enumerate(NAMES):
            begun = np.flatnonzero(time > number * phase)
            keep = begun[plots.envelope(shares[number, begun], MOST_POINTS)]
            rows += [
                {
                    "kind": "flow",
                    "time_s": round(float(time[i]), 3),
                    "flow": name,
                    "share": float(shares[number, i]),
                }
                for i in keep
            ]
    return rows


def runs(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with what the claims need: one for each controller and seed."""
    return rows.filter(kind="run")


def each(rows: pl.DataFrame, what: str | pl.Expr, control: str) -> list[float | None]:
    """A value per seed for one controller."""
    if isinstance(what, pl.Expr):
        what = what.first()
    return per_seed(runs(rows), what, control=control)


def compared(rows: pl.DataFrame, column: str, what: pl.Expr) -> list[float | None]:
    """A value per seed of all controllers side by side."""
    return per_seed(across(runs(rows), "control", column, keep=[]), what.first())


def draw_sharing(rows: pl.DataFrame) -> tuple[Figure, Axes]:
    """Throughputs above, a panel for each controller; below, Jain's index and an empty panel for more."""
    figure, axes = plots.grid(2, 4, width=13.0, height=8.6)
    figure.subplots_adjust(top=0.815, wspace=0.1, hspace=0.36)
    for panel in axes[1]:
        panel.remove()
    cells = axes[0, 0].get_gridspec()
    phase = float(rows["phase_s"][0])
    rate = float(rows["rate_bit_s"][0])
    for panel, control in zip(axes[0], CONTROLS, strict=True):
        one = rows.filter(kind="flow", control=control)
        for number, name in enumerate(NAMES, 1):
            line = one.filter(flow=name).sort("time_s")
            panel.plot(
                line["time_s"],
                line["share"] * rate / 1e6,
                color=SHADES[name],
                linewidth=0.9,
                label=f"{name} flow",
                zorder=6 - number,
            )
            panel.hlines(
                rate / 1e6 / number,
                (number - 1) * phase,
                number * phase,
                color="#B00020",
                linewidth=1.0,
                linestyle=plots.DASHED,
                zorder=8,
                label="fair share" if number == 3 else None,
            )
        panel.set_title(
            plots.name(control),
            loc="left",
            fontsize=12,
            fontweight="bold",
            color=plots.colour(control),
        )
        panel.set(xlim=(0, 3 * phase), ylim=(0, 1.05 * rate / 1e6), xlabel="time (s)")
        panel.set_xticks([0, phase, 2 * phase, 3 * phase])
        if panel is not axes[0, 0]:
            panel.set_yticklabels([])
    axes[0, 0].set_ylabel("throughput (Mbit/s)")
    plots.legend(figure, axes[0, 0])
    below = cells[1, :].subgridspec(1, 2, wspace=0.22, width_ratios=[1.25, 1])
    fairness = figure.add_subplot(below[0])
    fairness.axhspan(FAIR, 1.0, color="#f0efe6", linewidth=0, zorder=0)
    means = (
        rows.filter(kind="jain")
        .group_by("control", "time_s")
        .agg(pl.col("jain").mean())
        .sort("time_s")
    )
    for control in CONTROLS:
        line = means.filter(control=control)
        fairness.plot(
            line["time_s"],
            line["jain"],
            color=plots.colour(control),
            linewidth=1.8,
            label=plots.name(control),
        )
    fairness.set(
        xlim=(phase, 3 * phase), ylim=(0.3, 1.01), xlabel="time (s)", ylabel="Jain's index"
    )
    fairness.set_title("How equal are the shares?", loc="left", fontsize=12)
    fairness.tick_params(length=0)
    fairness.legend(loc="lower left", fontsize=10, ncols=2, handlelength=1.4)
    more = figure.add_subplot(below[1])
    more.tick_params(length=0)
    plots.shows(figure, f"throughputs: seed 1; all else: {rows['seed'].n_unique()} seeds")
    return figure, more


def draw_waits(panel: Axes, rows: pl.DataFrame) -> None:
    """How long the third flow waits: each run a small dot, the mean a large one, a line for each controller.

    Where not all runs get there, those that do not are an arrow, and there is no mean.
    """
    phase = float(rows["phase_s"][0])
    for place, control in enumerate(reversed(CONTROLS)):
        one = at(runs(rows), control=control)
        values = one.filter("reached")["converged_s"].to_list()
        colour = plots.colour(control)
        panel.plot(
            values, [place] * len(values), "o", color=colour, alpha=0.5, markersize=5, zorder=3
        )
        if len(values) < len(one):
            plots.never(panel, (phase, place), colour, along="x")
            continue
        panel.plot(
            [sum(values) / len(values)],
            [place],
            plots.marker(control),
            color=colour,
            markersize=10,
            markeredgecolor="white",
            zorder=4,
        )
    panel.set_yticks(range(len(CONTROLS)), [plots.name(control) for control in reversed(CONTROLS)])
    panel.set_ylim(-0.6, len(CONTROLS) - 0.4)
    panel.set_xlim(0, 1.05 * phase)
    panel.grid(visible=False, axis="y")
