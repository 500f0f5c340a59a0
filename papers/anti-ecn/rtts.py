"""Beyond the paper: flows with different round trips, a question that the paper leaves open."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from beyond import COLOURS, beyond, difference, head, marker, named
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="rtts",
    title="Different round trips: who gains from room?",
    question="Does AntiECN change how TCP shares a link between flows of different round trips?",
)
ROUND_TRIPS = {2: (20, 80), 8: (10, 13, 18, 24, 33, 44, 59, 80)}
THRESHOLDS = (0.0, 0.5, 0.9)


def points(scale: Scale) -> Iterator[Point]:
    """Two and eight flows, without AntiECN and with two thresholds."""
    for flows, rtts in ROUND_TRIPS.items():
        for threshold in THRESHOLDS:
            changes = {
                "link.bottleneck.anti_ecn": marker(threshold),
                "flow.flow.count": flows,
                "flow.flow.rtt": [f"{rtt} ms" for rtt in rtts],
            }
            yield beyond(scale, 60, changes, seeds=5, flows=flows, threshold=threshold)


def measure(run: Measured) -> Row:
    """The exponent e of rate ~ rtt^-e, fitted; utilisation; goodputs by round trip."""
    flows = sorted(run.flows(), key=lambda flow: float(flow["rtt_s"]))
    rates = np.array([float(flow["goodput_bit_s"]) for flow in flows])
    rtts = np.array([float(flow["rtt_s"]) for flow in flows])
    slope = np.polyfit(np.log(rtts), np.log(rates), 1)[0]
    shares = {f"share_{i}": float(x) for i, x in enumerate(rates / rates.sum())}
    return {
        "exponent": -float(slope),
        "used": run.link()["utilisation"],
        **{f"share_{i}": None for i in range(8)},
        **shares,
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Compared with TCP, seed by seed."""
    answers: dict[str, Answer] = {}
    gains = []
    for flows in ROUND_TRIPS:
        for name, threshold in (("half", 0.5), ("high", 0.9)):
            pair = {"flows": flows, "threshold": threshold}, {"flows": flows, "threshold": 0.0}
            answers[f"rtts/{flows}/{name}"] = difference(rows, "exponent", *pair)
            gains.append(difference(rows, "used", *pair))
    answers["rtts/utilisation"] = [
        min(x for x in each if x is not None) for each in zip(*gains, strict=True)
    ]
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Shares of the link against the round trip."""
    figure, axes = plots.grid(1, 2, width=13, height=5.2)
    for panel, (flows, rtts) in zip(axes[0], ROUND_TRIPS.items(), strict=True):
        for place, threshold in enumerate(THRESHOLDS):
            some = at(rows, flows=flows, threshold=threshold)
            values = np.array([some[f"share_{i}"].to_list() for i in range(flows)], dtype=float)
            half = 2.78 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            x = np.array(rtts) * 1.02 ** (place - 1)
            exponent = float(str(some["exponent"].mean()))
            panel.errorbar(
                x, 100 * values.mean(axis=1), yerr=100 * half, color=COLOURS[threshold],
                marker="os^"[place], markersize=6, linewidth=1.6, capsize=3,
                label=f"{named(threshold)}: rate ~ RTT$^{{-{exponent:.2f}}}$",
            )  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        ticks = rtts if flows == 2 else (10, 20, 40, 80)
        panel.set_xticks(ticks, [str(rtt) for rtt in ticks])
        panel.set_yticks((2, 5, 10, 20, 50), ["2", "5", "10", "20", "50"])
        panel.minorticks_off()
        panel.set(xlabel="round trip (ms)", xlim=(min(rtts) / 1.15, max(rtts) * 1.15))
        panel.set_ylim((5, 100) if flows == 2 else (1, 50))
        head(panel, f"{flows} flows")
        panel.legend(
            loc="lower left", fontsize=10, frameon=False, title="threshold", alignment="left"
        )
    axes[0, 0].set_ylabel("share of the goodput (%)")
    return figure
