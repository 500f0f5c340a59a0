"""Experiment 1 with other queues: "one can also use RED, REM, PI or any other"."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from beyond import beyond, head, ratio
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import QUICK, lone

FIGURE = Experiment(
    id="queues",
    title="AntiECN beside AVQ, RED, REM and PI",
    question="Does room help whichever queue marks congestion?",
)
KINDS = ("avq", "red", "rem", "pi")
THRESHOLDS = (0.0, 0.5, 0.75)
LENGTH_S = 200.0
START = 100
"""Where slow start ends. AVQ ends it; the others would let it fill the buffer first."""

FLOWS = 20
SEEDS: dict[Scale, dict[str, int]] = {
    "quick": dict.fromkeys(KINDS, 2),
    "full": {"avq": 1, "red": 3, "rem": 3, "pi": 10},
}
"""PI marks once or twice in a row, as chance has it."""


def queue(kind: str, rate_per_s: float, rtt_s: float) -> dict[str, Any]:
    """The queue, with what its paper says must follow the link.

    RED remembers ten round trips; REM's step is per packet, and its default is for 10 Mbit/s; PI's two numbers
    are those that its paper gives for 20 flows, see its description.
    """
    if kind == "red":
        return {"kind": "red", "weight": "auto"}
    if kind == "rem":
        return {"kind": "rem", "gamma": 0.001 * 1250 / rate_per_s}
    if kind == "pi":
        return {"kind": "pi"} | pi(rate_per_s, rtt_s)
    return {"kind": "avq", "utilisation": 0.96}


def pi(rate_per_s: float, rtt_s: float, interval_s: float = 6.25e-3) -> dict[str, float]:
    """PI's a and b for a link and 20 flows, by the rule of its paper."""
    zero = 2 * FLOWS / (rtt_s**2 * rate_per_s)
    gain = zero * (1 + (zero * rtt_s) ** 2) ** 0.5 * (2 * FLOWS) ** 2 / (rtt_s * rate_per_s) ** 3
    return {"a": gain * (1 / zero + interval_s / 2), "b": gain * (1 / zero - interval_s / 2)}


def points(scale: Scale) -> Iterator[Point]:
    """The lone flow of Experiment 1; and twenty flows on a link that they fill."""
    for kind in KINDS:
        for threshold in THRESHOLDS:
            yield alone(scale, kind, threshold)
        for control in ("reno", "anti-ecn"):
            changes: Mapping[str, Any] = {
                "link.bottleneck.queue": queue(kind, 12_500, 0.04),
                "flow.ours.control": control,
                "flow.theirs.control": control,
            }
            yield beyond(
                scale, 30, changes, seeds=5, scenario="beside.toml",
                queue=kind, flows=FLOWS, threshold=0.5 if control == "anti-ecn" else 0.0,
            )  # fmt: skip


def alone(scale: Scale, kind: str, threshold: float) -> Point:
    """Experiment 1 at 40 ms; AVQ as there."""
    small = QUICK[40] if scale == "quick" else 1
    made = lone(scale, 40, threshold or None, length_s=LENGTH_S)
    changes = dict(made.set) | {"flow.lone.initial_threshold": START / small}
    if kind != "avq":
        changes = {k: v for k, v in changes.items() if not k.startswith("link.bottleneck.queue.")}
        changes["link.bottleneck.queue"] = queue(kind, 125_000, 0.04 / small)
    labels = {"queue": kind, "flows": 1, "threshold": threshold}
    return Point(made.scenario, changes, labels, SEEDS[scale][kind], ("flow_series",))


def measure(run: Measured) -> Row:
    """Utilisation and marks; of a lone flow, what was told of room before the first cut and after."""
    link, flows = run.link(), run.flows()
    row: dict[str, Any] = {
        "used": link["utilisation"],
        "goodput_bit_s": sum(float(flow["goodput_bit_s"]) for flow in flows),
        "marks": link["mark_rate"],
        "dropped": link["dropped"],
        "after": None,
        "trough": None,
    }
    if run.labels["flows"] == 1:
        series = run.table("flow_series").sort("time_s")
        windows, rooms = series["window"].to_list(), series["room_rate"].to_list()
        cut = next((i for i, (a, b) in enumerate(pairwise(windows), 1) if b < 0.75 * a), None)
        if cut is not None:
            pipe = 125_000 * float(flows[0]["rtt_s"])
            row["trough"] = min(windows[cut : cut + 5]) / pipe
            late = [room for room in rooms[cut:] if room is not None]
            row["after"] = sum(room > 0 for room in late) / len(late) if late else None
    return row


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Gains over the same queue without AntiECN, seed by seed."""
    answers: dict[str, Answer] = {}
    for kind in KINDS:
        here = {"queue": kind, "flows": 1}
        if kind != "avq":
            for threshold in THRESHOLDS[1:]:
                over = ratio(
                    rows,
                    "goodput_bit_s",
                    here | {"threshold": threshold},
                    here | {"threshold": 0.0},
                )
                answers[f"queues/{kind}/gain/{threshold:g}"] = [
                    None if value is None else value - 1 for value in over
                ]
            answers[f"queues/{kind}/once"] = per_seed(rows, "after", **here, threshold=0.5)
            many = {"queue": kind, "flows": FLOWS}
            pair = many | {"threshold": 0.5}, many | {"threshold": 0.0}
            answers[f"queues/{kind}/congested"] = ratio(rows, "marks", *pair)
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """What the lone flow gains; the bottom of its sawtooth; and marks of twenty flows."""
    figure, axes = plots.grid(1, 2, width=12.5, height=5.4)
    figure.subplots_adjust(wspace=0.28)
    for place, (threshold, colour) in enumerate(
        zip((0.5, 0.75), ("#2E86AB", "#E08E1B"), strict=True)
    ):
        for x, kind in enumerate(KINDS):
            here = at(rows, queue=kind, flows=1)
            plain = at(here, threshold=0.0)["goodput_bit_s"].mean()
            value = 100 * (
                float(str(at(here, threshold=threshold)["goodput_bit_s"].mean()))
                / float(str(plain))
                - 1
            )
            at_x = x + 0.36 * (place - 0.5)
            axes[0, 0].bar(at_x, value, 0.33, color=colour,
                           label=f"threshold {100 * threshold:.0f} %" if x == 0 else None)  # fmt: skip
            axes[0, 0].annotate(f"{value:.1f}", (at_x, value), xytext=(0, 3), ha="center",
                                textcoords="offset points", fontsize=10)  # fmt: skip
    for x, kind in enumerate(KINDS):
        values = at(rows, queue=kind, flows=1)["trough"].drop_nulls()
        axes[0, 1].plot([x] * len(values), values, "o", color="#0B3C5D", markersize=7)
    for threshold in THRESHOLDS[1:]:
        axes[0, 1].axhline(threshold, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1)
        axes[0, 1].annotate(
            f"threshold {100 * threshold:.0f} %", (1.5, threshold + 0.006), ha="center", fontsize=10
        )
    for panel in axes[0]:
        panel.set_xticks(range(len(KINDS)), [kind.upper() for kind in KINDS])
        panel.set_xlim(-0.5, 3.5)
    axes[0, 0].set_ylabel(f"more throughput than TCP in {LENGTH_S:g} s (%)")
    axes[0, 1].set_ylabel("window after the first cut (products)")
    head(axes[0, 0], "lone flow: what it gains")
    head(axes[0, 1], "where the sawtooth begins")
    plots.legend(figure, axes[0, 0])
    return figure
