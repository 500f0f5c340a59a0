"""Section IV: eight flows of one controller, with round trips from 10 to 300 ms, at one bottleneck."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drawn import ratios, ticks
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, PACKET_BIT

FIGURE = Experiment(
    id="rtt-range",
    title="Round trips from 10 to 300 ms at one bottleneck",
    question="How do shares depend on the round trip?",
    by=("rtt_s",),
)
QUEUES = ("DropTail", "RED")
RANDOM = "random loss"
LOSS = 5e-4
LARGE = ("hstcp", "stcp")
"""A link that no controller fills, and losses that hit all packets alike."""
GAMMA = 0.05


def points(scale: Scale) -> Iterator[Point]:
    """Every controller with DropTail and with RED, and two where nothing but chance drops packets."""
    rate, duration, seeds = ("80 Mbit/s", 60, 4) if scale == "quick" else ("400 Mbit/s", 150, 6)
    for queue in (*QUEUES, RANDOM):
        for control in LARGE if queue == RANDOM else CONTROLS:
            changes: dict[str, Any] = {
                "link.bottleneck.rate": rate,
                "duration": f"{duration} s",
                "warmup": f"{duration // 3} s",
                "flow.flow.control": control,
            }
            if queue == "DropTail":
                changes["link.bottleneck.queue"] = "drop-tail"
            if queue == RANDOM:
                changes["link.bottleneck.queue"] = "drop-tail"
                changes["link.bottleneck.rate"] = "2 Gbit/s"
                changes["link.bottleneck.loss"] = LOSS
            yield Point(
                "rtt-range.toml",
                set=changes,
                labels={"queue": queue, "control": control},
                seeds=seeds,
            )


def measure(run: Measured) -> list[Row]:
    """A row for each flow. Its round trip includes the queue; an epoch is the time per loss."""
    flows = run.flows()
    total = sum(flow["goodput_bit_s"] for flow in flows)
    measured_s = run.quantities.measured_s
    return [
        {
            "rtt_s": flow["rtt_s"],
            "real_rtt_s": flow["rtt_s"] + (flow["queueing_delay_mean_s"] or 0.0),
            "share": max(flow["goodput_bit_s"], PACKET_BIT / measured_s) / total,
            "events": (flow["congestion_events"] + flow["timeouts"])
            / max(flow["goodput_bit_s"], PACKET_BIT / measured_s),
            "epoch_s": measured_s / max(1, flow["congestion_events"] + flow["timeouts"]),
            "utilisation": run.link()["utilisation"],
        }
        for flow in flows
    ]


def exponents(rows: pl.DataFrame, control: str, queue: str, column: str = "share") -> list[float]:
    """The slope of log share against log round trip, for each seed; of another column where that is not 0."""
    chosen = at(rows, control=control, queue=queue).filter(pl.col(column) > 0).sort("seed", "rtt_s")
    return [
        float(
            np.polyfit(np.log(part["real_rtt_s"].to_numpy()), np.log(part[column].to_numpy()), 1)[0]
        )
        for _, part in chosen.group_by("seed", maintain_order=True)
    ]


def synchronised(rtt_s: np.ndarray, epoch_s: float) -> np.ndarray:
    """Shares of EXP-TCP flows that lose together every `epoch_s`: (e^(γT/R) - 1)²/R, scaled to 1."""
    rate = 2 * np.log(np.expm1(GAMMA * epoch_s / rtt_s)) - np.log(rtt_s)
    share = np.exp(rate - rate.max())
    scaled: np.ndarray = share / share.sum()
    return scaled


def bound(rows: pl.DataFrame) -> list[float]:
    """EXP-TCP, DropTail: decades between the shares of the shortest and longest round trip, over predicted."""
    found = []
    chosen = at(rows, control="exp", queue="DropTail").sort("seed", "rtt_s")
    for _, part in chosen.group_by("seed", maintain_order=True):
        share = part["share"].to_numpy()
        epoch = float(np.median(part["epoch_s"].to_numpy()))
        predicted = synchronised(part["real_rtt_s"].to_numpy(), epoch)
        found.append(float(np.log(share[0] / share[-1]) / np.log(predicted[0] / predicted[-1])))
    return found


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Exponents fitted per seed; the prediction for losses that come together."""
    red = {control: exponents(rows, control, "RED") for control in CONTROLS}
    tail = {control: exponents(rows, control, "DropTail") for control in CONTROLS}
    used = (
        at(rows, control="exp", queue=list(QUEUES))
        .group_by("seed")
        .agg(pl.col("utilisation").min())
        .sort("seed")
    )
    return {
        "rtt-range/exp/unequal": red["exp"],
        "rtt-range/hstcp/unequal": red["hstcp"],
        **{f"rtt-range/{control}/red": red[control] for control in CONTROLS},
        "rtt-range/reno/droptail": tail["reno"],
        "rtt-range/exp/steeper": [
            exp - reno for exp, reno in zip(tail["exp"], tail["reno"], strict=True)
        ],
        "rtt-range/exp/bound": bound(rows),
        "rtt-range/exp/utilisation": used["utilisation"].to_list(),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """The exponent of decreases per packet, with RED and random losses; of shares with random losses."""
    found: dict[str, Answer] = {}
    for control in CONTROLS:
        found[f"rtt-range/{control}/events"] = exponents(rows, control, "RED", "events")
    for control in LARGE:
        found[f"rtt-range/{control}/events/random"] = exponents(rows, control, RANDOM, "events")
        found[f"rtt-range/{control}/random"] = exponents(rows, control, RANDOM)
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Shares against round trips, both logarithmic, and the exponents."""
    rows = at(rows, queue=list(QUEUES))
    figure, axes = plots.grid(1, 3, width=14, height=6.2)
    figure.subplots_adjust(wspace=0.3, top=0.75)
    tail, red, slopes = axes[0]
    for panel, queue in ((tail, "DropTail"), (red, "RED")):
        ratios(
            panel,
            at(rows, queue=queue).with_columns(pl.col("rtt_s") * 1e3),
            x="rtt_s",
            y="share",
            factor=100,
        )
        panel.set(
            xscale="log",
            yscale="log",
            xlabel="round-trip propagation delay (ms)",
            ylabel="share (%)",
            ylim=(0.03, 130),
        )
        panel.set_title(queue, loc="left", fontsize=12, fontweight="bold")
        ticks(panel.xaxis, (10, 30, 100, 300))
        ticks(panel.yaxis, (0.1, 0.3, 1, 3, 10, 30, 100))
    exp = (
        at(rows, queue="DropTail", control="exp")
        .group_by("rtt_s")
        .agg(pl.col("real_rtt_s", "epoch_s").mean())
        .sort("rtt_s")
    )
    predicted = synchronised(
        exp["real_rtt_s"].to_numpy(), float(np.median(exp["epoch_s"].to_numpy()))
    )
    tail.plot(
        exp["rtt_s"] * 1e3,
        100 * predicted,
        color=plots.colour("exp"),
        linestyle=plots.DOTTED,
        linewidth=1.6,
    )
    plots.note(tail, "dotted: EXP-TCP,\nif all lose together")
    even = at(rows, queue="RED").group_by("rtt_s").agg(pl.col("real_rtt_s").mean()).sort("rtt_s")
    inverse = 1 / even["real_rtt_s"].to_numpy()
    red.plot(
        even["rtt_s"] * 1e3,
        100 * inverse / inverse.sum(),
        color="#222222",
        linestyle=plots.DOTTED,
        linewidth=1.6,
        zorder=6,
    )
    plots.note(red, "dotted: equal windows,\nrates as 1/round trip")
    fitted(slopes, rows)
    plots.legend(figure, red)
    return figure


def fitted(panel: Axes, rows: pl.DataFrame) -> None:
    """The fitted exponents: hollow with DropTail, filled with RED."""
    for index, control in enumerate(CONTROLS):
        for queue, shift in (("DropTail", 0.14), ("RED", -0.14)):
            middle, half = plots.mean_and_half(exponents(rows, control, queue))
            face = plots.colour(control) if queue == "RED" else "white"
            panel.errorbar(
                middle, -index + shift, xerr=half, color=plots.colour(control), marker=plots.marker(control),
                markersize=8, markerfacecolor=face, elinewidth=1.1, capsize=3,
            )  # fmt: skip
    panel.set_yticks(
        [-index for index in range(len(CONTROLS))], [plots.name(control) for control in CONTROLS]
    )
    panel.set(ylim=(0.5 - len(CONTROLS), 0.5), xlim=(min(panel.get_xlim()[0], -3), 0))
    panel.grid(visible=False, axis="y")
    panel.set_title("Exponents", loc="left", fontsize=12, fontweight="bold")
    plots.note(panel, "hollow: DropTail\nfilled: RED", (0.03, 0.04))
    panel.set_xlabel("rate ∝ (round trip, queue included)$^x$")
