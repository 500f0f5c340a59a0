"""Shared by Figures 3 to 7: the window of a lone flow over time, and the utilisation that results.

Without losses, the utilisation is what the flow delivers. Windows are in products of rate and round trip.
"""

from itertools import pairwise

import numpy as np
import polars as pl

from longfat.paper import Answer, at, plots
from longfat.study import Measured, Row
from shared import THRESHOLDS, Values

COLOURS = {
    0.0: plots.colour("reno"),
    0.4: "#0B3C5D",
    0.5: "#2E86AB",
    0.6: "#4FB286",
    0.75: "#E08E1B",
}
PRODUCT_S = 125_000
"""Packets per second of the link: a packet has 1000 bytes, the link 1 Gbit/s."""

SMOOTH = 6
"""Rows averaged for a utilisation in a picture: whole round trips, 25 at 200 ms and 75 at 40 ms."""


def evolution(run: Measured) -> list[Row]:
    """Window, share of room and utilisation; time is in products of rate and round trip squared."""
    series = run.table("flow_series").sort("time_s")
    rtt = float(run.summary["flows"][0]["rtt_s"])
    chosen = series.select("time_s", "window", "room_rate", "throughput_bit_s")
    return [
        {
            "time": round(time / (PRODUCT_S * rtt**2), 6),
            "window": window / (PRODUCT_S * rtt),
            "room": room,
            "used": rate / 1e9,
        }
        for time, window, room, rate in chosen.iter_rows()
    ]


def cuts(window: Values) -> list[int]:
    """The rows right after a mark cut the window; slow start is left out."""
    return [
        i for i in range(1, len(window)) if window[i - 1] > 0.5 and window[i] < 0.7 * window[i - 1]
    ]


def slope(line: pl.DataFrame, above: float) -> float:
    """Growth from `above` to the first mark, in packets per round trip (products per product of time)."""
    window, time = line["window"].to_numpy(), line["time"].to_numpy()
    first = cuts(window)[0]
    since = int(np.argmax(window[:first] > above))
    return float((window[first - 1] - window[since]) / (time[first - 1] - time[since]))


def room_above(line: pl.DataFrame, threshold: float) -> float:
    """The largest share of acknowledgments that reported room between two windows above the threshold."""
    window, room = line["window"].to_numpy(), line["room"].to_numpy()
    limit = 1.02 * threshold
    return max(float(room[i]) for i in range(1, len(window)) if min(window[i - 1 : i + 1]) > limit)


def answers(rows: pl.DataFrame, figure: str) -> dict[str, Answer]:
    """The sentences of Experiment 1 about one round trip. Runs of a lone flow are deterministic."""
    lines = {eta: at(rows, threshold=eta).sort("time") for eta in (0.0, *THRESHOLDS)}
    used = {eta: float(line["used"].to_numpy().mean()) for eta, line in lines.items()}
    told = [float((lines[eta]["room"] > 0).to_numpy().mean()) for eta in THRESHOLDS]
    halves = [
        float(window[i] / window[i - 1])
        for window in (line["window"].to_numpy() for line in lines.values())
        for i in cuts(window)
    ]
    before = [slope(lines[eta], 0.85) / slope(lines[0.0], 0.85) for eta in THRESHOLDS]
    above = [slope(lines[eta], 1.02 * eta) for eta in THRESHOLDS]
    return {
        f"{figure}/considerable": min(used[eta] / used[0.0] - 1 for eta in THRESHOLDS),
        f"{figure}/longer": min(b - a for a, b in pairwise(told)),
        f"{figure}/halved": max(halves, key=lambda ratio: abs(ratio - 0.5)),
        f"{figure}/before": max(before, key=lambda ratio: abs(ratio - 1)),
        f"{figure}/none": max(room_above(lines[eta], eta) for eta in THRESHOLDS),
        f"{figure}/one": max(above, key=lambda each: abs(each - 1)),
    }


def drawn(line: pl.DataFrame, what: str) -> pl.Series:
    """The window in products, or the smoothed utilisation in percent."""
    return (
        line["window"]
        if what == "window"
        else (100 * line["used"]).rolling_mean(SMOOTH, center=True)
    )
