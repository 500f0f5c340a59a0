"""Beyond the paper: thirteen controllers at ratios of round trips from 1 to 8, and what theory predicts.

Most are near the exponents of losses that come together; HSTCP stays far below its limit, as in the model
with a queue.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import longfat
from longfat import fairness
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Computation, Measured, Point, Row, estimate
from shared import PACKET_BIT

FIGURE = Experiment(
    id="rtt-ratio",
    title="Round trips that differ: thirteen controllers",
    question="How does the ratio of rates grow with the ratio of round trips?",
)
RATIOS = (1, 2, 4, 8)
SHORT_MS = 40
COLUMNS = 4
CONTROLLERS = (
    "anti-ecn",
    "blitz",
    "constant-rate",
    "cubic",
    "cw-hstcp",
    "dctcp",
    "exp",
    "fiber",
    "hstcp",
    "prague",
    "reno",
    "sized-start",
    "stcp",
)
"""Those of the papers and of their peers; studies/rtt-fairness.toml has all."""

EXPECTED: dict[str, float | str] = {
    "constant-rate": 0,
    "cw-hstcp": 1,
    "cubic": 1,
    "reno": 2,
    "anti-ecn": 2,
    "sized-start": 2,
    "hstcp": 6.06,
    "stcp": "without bound",
    "exp": "no power law",
}
"""Exponents of controllers whose flows lose together, without a queue; theory says nothing about the others."""


def model(control: str, rate: int, ratio: int) -> Row | None:
    """The ratio of rates if both flows always lose together, 300 to 600 s; `None` without a window law."""
    rtts = (SHORT_MS, SHORT_MS * ratio)
    try:
        solved = longfat.synchronised(
            control,
            rate=f"{rate} Mbit/s",
            rtt=[f"{rtt} ms" for rtt in rtts],
            window=[rate * rtt / 16 for rtt in rtts],
            duration="600 s",
            buffer="50 ms",
            packet="1000 B",
            sample="100 ms",
        )
    except (longfat.FluidError, longfat.ScenarioError):
        return None
    late = pl.col("time_s") > 300
    flows = solved.flow_series.to_polars().filter(late)
    queue = float(solved.link_series.to_polars().filter(late).select(pl.mean("queue_s")).item())
    short, long = flows.group_by("flow").agg(pl.mean("rate_bit_s")).sort("flow")["rate_bit_s"]
    real = [rtt / 1e3 + queue for rtt in rtts]
    return {"rates": short / long, "real_ratio": real[1] / real[0]}


def points(scale: Scale) -> Iterator[Point | Computation]:
    """Every controller at each ratio; and the model in which nobody loses alone."""
    rate, seconds, warmup, seeds = (40, 110, 30, 3) if scale == "quick" else (200, 200, 50, 5)
    for control in CONTROLLERS:
        for ratio in RATIOS:
            change: dict[str, Any] = {
                "flow.fast.control": control,
                "flow.fast.rtt": [f"{SHORT_MS} ms", f"{SHORT_MS * ratio} ms"],
                "flow.fast.access": f"{2 * rate} Mbit/s",
                "link.bottleneck.rate": f"{rate} Mbit/s",
                "duration": f"{seconds} s",
                "warmup": f"{warmup} s",
            }
            if control == "blitz":  # its bursts rely on queues that heed priorities
                change["link.bottleneck.queue"] = "pushout"
            labels = {"control": control, "ratio": ratio}
            yield Point("rtt-ratio.toml", change, labels | {"kind": "packets"}, seeds)
            yield Computation(
                labels | {"kind": "model"},
                model,
                {"control": control, "rate": rate, "ratio": ratio},
            )


def measure(run: Measured) -> Row | list[Row]:
    """Rate of the shorter round trip over that of the longer; ratio of the round trips, queue included."""
    if run.labels["kind"] == "model":
        return run.value or []
    short, long = run.flows("fast")
    least = PACKET_BIT
    real = [flow["rtt_s"] + (flow["queueing_delay_mean_s"] or 0.0) for flow in (short, long)]
    return {
        "rates": max(short["goodput_bit_s"], least) / max(long["goodput_bit_s"], least),
        "real_ratio": real[1] / real[0],
    }


def exponents(rows: pl.DataFrame, control: str, kind: str = "packets") -> list[float]:
    """The exponent of the rates over the round trips, queue included, for each seed."""
    chosen = at(rows, control=control, kind=kind).sort("seed")
    return [
        fairness.fit_exponent(part["real_ratio"], 1 / part["rates"]).value
        for _, part in chosen.group_by("seed", maintain_order=True)
    ]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Exponents, queue included."""
    found = {control: exponents(rows, control) for control in ("cw-hstcp", "reno", "hstcp")}
    answers: dict[str, Answer] = {
        "rtt-ratio/constant-rate": exponents(rows, "constant-rate"),
        "rtt-ratio/order": [
            other - cw for other, cw in zip(found["hstcp"], found["cw-hstcp"], strict=True)
        ],
    }
    for control in ("cw-hstcp", "reno", "constant-rate"):
        answers[f"rtt-ratio/model/{control}"] = exponents(rows, control, "model")[0]
    return answers | {f"rtt-ratio/{control}": values for control, values in found.items()}


def draw(rows: pl.DataFrame) -> Figure:
    """A panel for each controller: measurements drawn over predictions."""
    count = -(-(len(CONTROLLERS) + 1) // COLUMNS)
    figure, axes = plots.grid(
        count, COLUMNS, width=15, height=1 + 3.3 * count, sharex=True, sharey=True
    )
    figure.subplots_adjust(hspace=0.3)
    known = sorted(
        CONTROLLERS, key=lambda name: list(EXPECTED).index(name) if name in EXPECTED else 99
    )
    for panel, control in zip(axes.flat, known, strict=False):
        one(panel, at(rows, control=control), control)
    for panel in axes[:, 0]:
        panel.set_ylabel("rate of the short\nover that of the long")
    for place, panel in enumerate(axes.flat):
        if place >= len(known):
            panel.set_axis_off()
        elif place + COLUMNS >= len(known):
            panel.set_xlabel("ratio of round trips")
            panel.tick_params(labelbottom=True)
    plots.note(
        axes.flat[len(known)],
        "dotted: theory, flows that lose\ntogether, without a queue\n"
        "dashed: the same as a model,\nwith the queue\n\n"
        "AntiECN without its routers and\nsized start with an unlimited file\nare standard TCP;\n"
        "Blitz has a pushout queue\n\n"
        f"short round trip {SHORT_MS} ms, buffer 50 ms",
        (0.02, 0.98), va="top",
    )  # fmt: skip
    return figure


def one(panel: Axes, rows: pl.DataFrame, control: str) -> None:
    """Geometric means with intervals, and the lines of theory."""
    means, lows, highs = [], [], []
    for ratio in RATIOS:
        found = at(rows, ratio=ratio, kind="packets")["rates"].to_list()
        mean, below, above = plots.geometric(found)
        means.append(mean)
        lows.append(below)
        highs.append(above)
    x = np.array(RATIOS)
    expected = EXPECTED.get(control, "no prediction")
    if not isinstance(expected, str):
        panel.plot(x, x**expected, color="#222222", linestyle=plots.DOTTED, linewidth=1.4)
    if control in EXPECTED:
        solved = rows.filter(pl.col("kind") == "model").sort("ratio")
        panel.plot(solved["ratio"], solved["rates"], color="#777777", linestyle="--", linewidth=1.2)
    panel.errorbar(
        x, means, yerr=[lows, highs], color=plots.colour(control), marker=plots.marker(control),
        capsize=3, linewidth=1.6,
    )  # fmt: skip
    known = estimate(exponents(rows, control))
    text = expected if isinstance(expected, str) else f"theory {expected:g}"
    text += f", measured {known.mean:.1f} ± {known.half_width:.1f}"
    panel.set_title(plots.name(control), loc="left", fontsize=12, fontweight="bold")
    plots.note(panel, text, (0.97, 0.03), ha="right")
    panel.set(xscale="log", yscale="log", ylim=(0.2, 3000))
    panel.set_xticks(x, [str(ratio) for ratio in RATIOS])
    panel.set_xticks([], minor=True)
    panel.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    panel.set_yticks([], minor=True)
