"""Appendix and section IV: what does TCP get beside EXP-TCP, HSTCP and STCP?"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from drawn import ratios, ticks
from longfat.paper import Answer, Experiment, Scale, across, plots
from longfat.study import Measured, Point, Row
from shared import BDP_S, PACKET_BIT

FIGURE = Experiment(
    id="friendliness",
    title="What TCP gets beside the others",
    question="Up to which window is EXP-TCP friendly to TCP, and how unfriendly is it beyond?",
)
OTHERS = ("hstcp", "stcp", "exp")
FLOWS = 4
FRIENDLY = 0.9
GAMMA, BETA = 0.05, 0.125
HSTCP_BEGINS = 1e-3


def points(scale: Scale) -> Iterator[Point]:
    """Two TCP flows and two others share a link that holds `window` packets for each flow."""
    quick = scale == "quick"
    for window in (8, 32, 128, 512) if quick else (8, 16, 32, 64, 128, 512, 2048):
        for other in ("reno", *OTHERS):
            changes: dict[str, Any] = {
                "link.bottleneck.rate": f"{window * FLOWS * PACKET_BIT / BDP_S:.0f} bit/s",
                "flow.other.control": other,
            }
            if not quick:
                changes |= {"duration": "120 s", "warmup": "40 s"}
            labels = {"control": other, "window": window}
            yield Point("friendliness.toml", set=changes, labels=labels, seeds=3 if quick else 4)


def measure(run: Measured) -> Row:
    """What a TCP flow gets, and what a flow of the other controller gets."""
    tcp, other = (
        float(np.mean([flow["goodput_bit_s"] for flow in run.flows(group)]))
        for group in ("tcp", "other")
    )
    return {"tcp": tcp, "other": other, "utilisation": run.link()["utilisation"]}


def relative(rows: pl.DataFrame) -> pl.DataFrame:
    """What TCP gets beside another controller, over what it gets beside TCP, run by run."""
    alone = rows.filter(pl.col("control") == "reno").select(
        "window", "seed", ((pl.col("tcp") + pl.col("other")) / 2).alias("alone")
    )
    beside = rows.filter(pl.col("control") != "reno").join(alone, on=["window", "seed"])
    return beside.with_columns((pl.col("tcp") / pl.col("alone")).alias("relative"))


def end_of_friendliness(window: np.ndarray, share: np.ndarray) -> float:
    """The window at which TCP's share falls below `FRIENDLY`, interpolated on a logarithmic scale."""
    below = np.flatnonzero(share < FRIENDLY)
    if not len(below):
        return float(window[-1])
    last = int(below[0])
    if last == 0:
        return float(window[0])
    x, y = np.log(window[last - 1 : last + 1]), share[last - 1 : last + 1]
    return float(np.exp(x[0] + (x[1] - x[0]) * (y[0] - FRIENDLY) / (y[0] - y[1])))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Shares at the smallest and the largest window, and where friendliness ends."""
    share = relative(rows)
    beside = across(share, "control", "relative", keep=["window"]).sort("seed", "window")
    least, most = int(rows["window"].min()), int(rows["window"].max())  # type: ignore[arg-type]
    small, large = (beside.filter(pl.col("window") == window) for window in (least, most))
    ends = [
        end_of_friendliness(part["window"].to_numpy().astype(float), part["exp"].to_numpy())
        for _, part in beside.group_by("seed", maintain_order=True)
    ]
    end = predicted_end("exp")
    return {
        "friendliness/exp/small": small["exp"].to_list(),
        "friendliness/exp/large": large["exp"].to_list(),
        "friendliness/exp/end": [each / end for each in ends],
        "friendliness/exp/hstcp": (large["hstcp"] - large["exp"]).to_list(),
        "friendliness/exp/stcp": (large["exp"] - large["stcp"]).to_list(),
    }


def reno_window(p: np.ndarray) -> np.ndarray:
    """1.22/√p."""
    window: np.ndarray = np.sqrt(1.5 / p)
    return window


def hstcp_window(p: np.ndarray) -> np.ndarray:
    """0.12/p^0.835 above 38 packets (RFC 3649)."""
    window: np.ndarray = np.where(p < HSTCP_BEGINS, 0.12 / p**0.835, reno_window(p))
    return window


def stcp_window(p: np.ndarray) -> np.ndarray:
    """0.075/p: a (1 - b/2)/b, above 16 packets."""
    window: np.ndarray = np.maximum(0.075 / p, np.minimum(reno_window(p), 16.0))
    return window


def exp_window(p: np.ndarray) -> np.ndarray:
    """From the packets of an epoch, (βW + (w₀ - s) ln(1 + βW/s))/γ, and its length, ln(1 + βW/s)/γ."""
    largest = np.geomspace(4, 1e6, 4000)
    after = (1 - BETA) * largest
    s = np.maximum(4.0, np.sqrt(after))
    length = np.log1p(BETA * largest / s) / GAMMA
    packets = BETA * largest / GAMMA + (after - s) * length
    mean = np.interp(np.log(1 / p), np.log(packets), np.log(packets / length))
    window: np.ndarray = np.exp(mean)
    return window


LAWS: dict[str, Callable[..., Any]] = {
    "hstcp": hstcp_window,
    "stcp": stcp_window,
    "exp": exp_window,
}


def predicted(control: str) -> tuple[np.ndarray, np.ndarray]:
    """The fair share in packets, and how much of it TCP gets if all see the same p."""
    p = np.geomspace(0.03, 1e-9, 4000)
    tcp, other = reno_window(p), LAWS[control](p)
    fair = (tcp + other) / 2
    return fair, tcp / fair


def predicted_end(control: str) -> float:
    """The window at which friendliness should end."""
    window, share = predicted(control)
    return end_of_friendliness(window, share)


def draw(rows: pl.DataFrame) -> Figure:
    """What TCP gets relative to its fair share, with what the response functions predict; utilisation."""
    figure, axes = plots.grid(1, 2, width=13, height=6.4)
    share, used = axes[0]
    windows = sorted(rows["window"].unique())
    ratios(share, relative(rows), x="window", y="relative", factor=100)
    for control in OTHERS:
        fair, expected = predicted(control)
        shown = (fair > windows[0]) & (fair < windows[-1])
        share.plot(
            fair[shown],
            100 * expected[shown],
            color=plots.colour(control),
            linestyle=plots.DOTTED,
            linewidth=1.4,
        )
    share.axhspan(100 * FRIENDLY, 118, color="#f0efe6", linewidth=0, zorder=0)
    plots.note(
        share,
        "friendly: within a tenth of what TCP gets beside TCP",
        (0.985, 0.985),
        ha="right",
        va="top",
    )
    plots.note(share, "dotted: by the response functions,\nwhere all see the same marks per packet")
    share.set(ylim=(0, 118), ylabel="rate of TCP (% of that beside TCP)")
    ratios(used, rows, x="window", y="utilisation", factor=100)
    used.set(ylabel="utilisation (%)", ylim=(min(84, used.get_ylim()[0]), 100.6))
    for panel in axes[0]:
        panel.set(xscale="log", xlabel="link, in packets for each of the four flows")
        ticks(panel.xaxis, windows)
    plots.legend(figure, used)
    return figure
