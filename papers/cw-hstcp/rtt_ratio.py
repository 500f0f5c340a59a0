"""Beyond the paper: every controller at ratios of round trips from 1 to 8, and what theory expects."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drawn import DOTTED, note
from longfat._statistics import estimate
from longfat.paper import Answer, Experiment, Measured, Point, Row, Scale, at, plots
from setting import PACKET_BIT

FIGURE = Experiment(
    id="rtt-ratio",
    title="Round trips that differ: every controller",
    question="How does the ratio of rates grow with the ratio of round trips?",
)
RATIOS = (1, 2, 4, 8)
SHORT_MS = 40
SHOWN = {
    "constant-rate": 0,
    "cw-hstcp": 1,
    "cubic": 1,
    "reno": 2,
    "hstcp": 6.06,
    "stcp": None,
    "exp": None,
    "fiber": None,
    "anti-ecn": 2,
    "sized-start": 2,
}
"""Controllers, in the order of what is expected of them, and the exponents."""


def points(_: Scale) -> Iterator[Point]:
    """Each controller at each ratio."""
    for control in SHOWN:
        for ratio in RATIOS:
            yield Point(
                "rtt-ratio.toml",
                set={
                    "flow.fast.control": control,
                    "flow.fast.rtt": [f"{SHORT_MS} ms", f"{SHORT_MS * ratio} ms"],
                    "duration": "110 s",
                },
                labels={"control": control, "ratio": ratio},
                seeds=3,
            )


def measure(run: Measured) -> Row:
    """Rate of the shorter round trip over that of the longer; the round trips with the queue."""
    short, long = run.flows("fast")
    least = PACKET_BIT
    real = [flow["rtt_s"] + (flow["queueing_delay_mean_s"] or 0.0) for flow in (short, long)]
    return {
        "rates": max(short["goodput_bit_s"], least) / max(long["goodput_bit_s"], least),
        "real_ratio": real[1] / real[0],
    }


def exponents(rows: pl.DataFrame, control: str) -> list[float]:
    """Per seed the slope of log rates against log round trips, queue included: a line through 1."""
    found = []
    for _, part in at(rows, control=control).sort("seed").group_by("seed", maintain_order=True):
        part = part.filter(pl.col("ratio") > 1)  # noqa: PLW2901 - the same rows, fewer
        x, y = np.log(part["real_ratio"].to_numpy()), np.log(part["rates"].to_numpy())
        found.append(float((x * y).sum() / (x * x).sum()))
    return found


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Exponents, queue included."""
    found = {control: exponents(rows, control) for control in SHOWN}
    return {
        "rtt-ratio/cw-hstcp": found["cw-hstcp"],
        "rtt-ratio/constant-rate": found["constant-rate"],
        "rtt-ratio/reno": found["reno"],
        "rtt-ratio/hstcp": found["hstcp"],
        "rtt-ratio/order": [
            other - cw for other, cw in zip(found["hstcp"], found["cw-hstcp"], strict=True)
        ],
    }


def draw(rows: pl.DataFrame) -> Figure:
    """A panel for each controller: measured on the prediction."""
    figure, axes = plots.grid(3, 4, width=14, height=10.6, sharex=True, sharey=True)
    for panel, (control, exponent) in zip(axes.flat, SHOWN.items(), strict=False):
        one(panel, at(rows, control=control), control, exponent)
    for panel in axes[:, 0]:
        panel.set_ylabel("rate of the short over that of the long")
    for panel in (*axes[2, :2], axes[1, 2], axes[1, 3]):
        panel.set_xlabel("ratio of round trips")
        panel.tick_params(labelbottom=True)
    for last in axes[2, 2:]:
        last.set_axis_off()
    last = axes[2, 2]
    note(
        last,
        "dotted: what theory expects of flows\nthat lose together, without a queue\n\n"
        "AntiECN without its routers and sized start\n"
        "with an unlimited file are standard TCP;\n"
        "blitz needs priorities and has no window\n\n"
        f"short round trip: {SHORT_MS} ms, queue up to 50 ms",
        (0.05, 0.9), va="top",
    )  # fmt: skip
    return figure


def one(panel: Axes, rows: pl.DataFrame, control: str, exponent: float | None) -> None:
    """Geometric means with intervals."""
    means, lows, highs = [], [], []
    for ratio in RATIOS:
        known = estimate(np.log(at(rows, ratio=ratio)["rates"].to_numpy()).tolist())
        mean, half = np.exp(known.mean or 0.0), known.half_width or 0.0
        means.append(mean)
        lows.append(mean * (1 - np.exp(-half)))
        highs.append(mean * (np.exp(half) - 1))
    x = np.array(RATIOS)
    if exponent is not None:
        panel.plot(x, x**exponent, color="#222222", linestyle=DOTTED, linewidth=1.4)
    panel.errorbar(
        x, means, yerr=[lows, highs], color=plots.colour(control), marker=plots.marker(control),
        capsize=3, linewidth=1.6,
    )  # fmt: skip
    expected = {"stcp": "no bound", "exp": "no power law", "fiber": "no prediction"}.get(
        control, f"exponent {exponent:g}" if exponent is not None else ""
    )
    panel.set_title(
        f"{plots.name(control)}: {expected}", loc="left", fontsize=11, fontweight="bold"
    )
    panel.set(xscale="log", yscale="log", ylim=(0.2, 3000))
    panel.set_xticks(x, [str(ratio) for ratio in RATIOS])
    panel.set_xticks([], minor=True)
    panel.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
