"""Figure 1: the fibre keeps TCP below 50, the modified flow takes the link. Fluid, and the same in packets.

Packets differ in one thing. A sender gains nothing while it repairs (RFC 5681, RFC 6675), and it repairs until
the last loss of the window in which it noticed the first has been retransmitted and acknowledged. With losses
at random, l = p w of them in a round trip:

    X round trips after the first the last is noticed, P(X <= x) = e^(-l (1 - x)), and the repair takes 1 + X
    if anything is lost in this X the next repair begins at once; if not, with probability E e^(-l X), the next
    loss is 1/l away:      gain = E e^(-l X)/l = e^-l (1 + l)/l   round trips of growth for each repair
    per round trip then    (gain - 1/(alpha w)) / (1 + E X + gain),   E X = 1 - (1 - e^-l)/l

Where l is small this is (1 - p/alpha)/(1 + l), and then the 1 - p/alpha of the fluid.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Computation, Measured, Point, Row
from shared import fiber, solved, unit

FIGURE = Experiment(
    id="figure-1",
    title="Rates on a link of 1000 with a fibre loss of 1e-3",
    question="Can a flow whose losses are bounded from below fill a link whose fibre loses packets?",
    by=("time_s",),
)
LAWS = {"reno": "reno", "fiber": fiber(1e-2)}
FIBRES = {1e-3: 1e-2, 3e-4: 3e-3, 1e-4: 1e-3}
"""Losses of the fibre, the paper's first, each with an alpha ten times as large."""
SINCE = 200
Law = Callable[[float, float, float], float]
"""Growth per round trip at a window, a loss and an alpha."""


def points(scale: Scale) -> Iterator[Point | Computation]:
    """Each flow alone, as equations and packets; rarer losses; a sender that notices lost retransmissions."""
    seeds = 10 if scale == "quick" else 20
    for control, law in LAWS.items():
        scenario = unit({control: law}, 1000, 1500)
        labels = {"control": control, "recovery": "sack", "fibre": 1e-3}
        yield Computation({**labels, "model": "fluid"}, solved, {"scenario": scenario})
        yield packets(scenario, {**labels, "model": "packets"}, seeds)
    for fibre, alpha in FIBRES.items():
        scenario = unit({"fiber": fiber(alpha)}, 1e4, 1500)
        scenario["link"]["bottleneck"]["loss"] = fibre
        scenario["flow"][0]["recovery"] = "rack"
        labels = {"control": "fiber", "recovery": "rack", "fibre": fibre, "model": "packets"}
        yield packets(scenario, labels, seeds)


def packets(scenario: dict[str, Any], labels: dict[str, Any], seeds: int) -> Point:
    """Packets, with the window over time."""
    return Point(scenario, labels=labels, seeds=seeds, tables=("flow_series",))


def measure(run: Measured) -> list[Row]:
    """Window and price in each unit of time; of most runs of packets what claims need."""
    if run.labels["model"] == "fluid":
        return [{key: row[key] for key in ("time_s", "window", "price")} for row in run.value]
    (flow,) = run.flows()
    series = run.table("flow_series")
    time, window = series["time_s"].to_numpy(), series["window"].to_numpy()
    begin, end = (float(window[np.searchsorted(time, t - 1e-6)]) for t in (SINCE, time[-1]))
    alpha = FIBRES[run.labels["fibre"]]
    rows: list[Row] = [
        {
            "time_s": -1.0,
            "timeouts": flow["timeouts"],
            "top": float(window.max()),
            "slope": (end - begin) / (time[-1] - SINCE),
            "law": after(growth, begin, run.labels["fibre"], alpha, time[-1] - SINCE),
            "simple": after(simple, begin, run.labels["fibre"], alpha, time[-1] - SINCE),
        }
    ]
    if run.seed == 1 and run.labels["fibre"] == 1e-3:
        rows += [
            {"time_s": t, "window": w}
            for t, w in zip(time, window, strict=True)
            if abs(t % 5) < 1e-6
        ]
    return rows


def growth(window: float, loss: float, alpha: float) -> float:
    """Segments per round trip, as derived above."""
    lost = loss * window
    gain = math.exp(-lost) * (1 + lost) / lost
    repair = 2 - (1 - math.exp(-lost)) / lost
    return (gain - 1 / (alpha * window)) / (repair + gain)


def simple(window: float, loss: float, alpha: float) -> float:
    """The same if each loss cost one round trip."""
    return (1 - loss / alpha) / (1 + loss * window)


def after(law: Law, window: float, loss: float, alpha: float, trips: float) -> float:
    """Growth per round trip from this window on, over so many of them."""
    return (path(law, window, loss, alpha, round(trips))[-1] - window) / trips


def path(law: Law, window: float, loss: float, alpha: float, trips: int) -> list[float]:
    """The window at each round trip."""
    windows = [window]
    for _ in range(trips):
        windows.append(windows[-1] + law(windows[-1], loss, alpha))
    return windows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The fluid's limits, its slope, and its time to fill the link; what packets make of it."""
    tcp, modified = (at(rows, model="fluid", control=control).sort("time_s") for control in LAWS)
    full = modified.filter(pl.col("window") >= 999.0)["time_s"][0]
    window = modified["window"]
    runs = at(rows, time_s=-1.0, control="fiber")
    over = pl.col("slope") / pl.col("law")
    farthest = over.sort_by((over - 1).abs()).last()
    return {
        "figure-1/tcp/settles": float(tcp["window"][-1]),
        "figure-1/fiber/slope": float((window[1000] - window[500]) / 500),
        "figure-1/fiber/full": float(full),
        "figure-1/fiber/price": float((modified["price"][-1] + 1e-3) / (1e-2 + 2 / 1000**2)),
        "figure-1/packets/full": per_seed(runs, pl.col("top") / 1000, recovery="sack"),
        "figure-1/packets/slope": per_seed(runs, "slope", recovery="rack", fibre=1e-3),
        "figure-1/packets/law": per_seed(runs, farthest, recovery="rack"),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Time-outs, and slopes by theory and with fewer losses."""
    runs = at(rows, time_s=-1.0, control="fiber")
    rack = at(runs, recovery="rack")
    return {
        "figure-1/packets/timeouts": per_seed(runs, "timeouts", recovery="sack"),
        "figure-1/packets/rack-timeouts": per_seed(rack, "timeouts", fibre=1e-3),
        "figure-1/packets/law-slope": per_seed(rack, "law", fibre=1e-3),
        "figure-1/packets/simple-slope": per_seed(rack, "simple", fibre=1e-3),
        "figure-1/packets/slope/1e-4": per_seed(rack, "slope", fibre=1e-4),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The fluid as lines, the packets faint behind them."""
    figure, axes = plots.grid(1, 1, height=5.6)
    panel = axes[0, 0]
    lines = (
        ("reno", "packets", "sack", 0.5, 1.2),
        ("fiber", "packets", "sack", 0.45, 1.2),
        ("fiber", "packets", "rack", 1.0, 1.2),
        ("reno", "fluid", "sack", 1.0, 2.0),
        ("fiber", "fluid", "sack", 1.0, 2.0),
    )
    for control, model, recovery, strength, width in lines:
        line = at(rows, model=model, control=control, recovery=recovery, fibre=1e-3)
        line = line.filter((pl.col("time_s") >= 0) & pl.col("window").is_not_null())
        line = line.filter(pl.col("seed").is_null() | (pl.col("seed") == 1)).sort("time_s")
        told = model if model == "fluid" or control == "reno" else recovery.upper()
        plots.series(
            panel, line["time_s"], line["window"], color=plots.colour(control),
            label=f"{plots.name(control)}, {told}", alpha=strength, linewidth=width,
        )  # fmt: skip
    windows = path(growth, 4.0, 1e-3, 1e-2, 1500)
    panel.plot(
        windows, color="#222222", linewidth=1.4, linestyle=plots.DOTTED, label="theory of packets"
    )
    panel.axhline(1000, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    panel.annotate("capacity", (5, 1000), (0, 3), textcoords="offset points", color=plots.FAINT)
    panel.set(
        xlabel="time (round trips)", ylabel="window (packets)", xlim=(0, 1500), ylim=(0, 1200)
    )
    plots.legend(figure, panel)
    plots.shows(figure, "packets: one run")
    return figure
