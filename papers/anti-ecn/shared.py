"""Shared by the experiments: the lone flow of Experiment 1, and its smaller equivalents."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from longfat.paper import Scale, at
from longfat.study import Measured, Point, Row

THRESHOLDS = (0.40, 0.50, 0.60, 0.75)
TABLE: dict[int, tuple[float, ...]] = {40: (0.10, 0.12, 0.17, 0.19), 200: (0.17, 0.20, 0.26, 0.29)}
"""Table I: the row for each round trip in milliseconds."""

LENGTH_S = {40: 300.0, 200: 5000.0}
"""Fitted: the paper does not say how long its runs were."""

QUICK = {40: 5, 200: 10}
"""How many times smaller the round trip is at the quick scale."""

ALPHA = {40: 3.75, 200: 1.5}
"""AVQ's adaptation at the quick scale, per second: 0.03 per round trip, the largest at the full
scale. With more, the virtual capacity would follow each train."""

ROWS = 600
Values = np.ndarray[Any, Any]


def product_s(rtt_ms: int) -> float:
    """Packet rate times round trip squared: the time in which a window grows from nothing to a product."""
    return 125_000 * (rtt_ms / 1000) ** 2


def lone(
    scale: Scale,
    rtt_ms: int,
    threshold: float | None,
    *,
    length_s: float | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as everywhere
    **labels: object,
) -> Point:
    """The flow at this round trip; at the quick scale a smaller one, with everything else in proportion.

    A path with an s times smaller round trip holds 1/s of the packets and fills in 1/s² of the time.
    """
    small = QUICK[rtt_ms] if scale == "quick" else 1
    length = (length_s or LENGTH_S[rtt_ms]) / small**2
    alpha = ALPHA[rtt_ms] if scale == "quick" else 0.15
    changes: dict[str, Any] = {
        "duration": f"{length:g} s",
        "sample": f"{1e6 * length / ROWS:.0f} us",
        "link.bottleneck.queue.limit": f"{50 // small} packets",
        "link.bottleneck.queue.alpha": f"{alpha:g} /s",
        "link.bottleneck.anti_ecn": False
        if threshold is None
        else {"threshold": threshold, "buffer": "1 bdp"},
        "flow.lone.rtt": f"{rtt_ms / small:g} ms",
    }
    return Point(
        "lone.toml",
        set=changes | dict(set or {}),
        labels={"rtt_ms": rtt_ms, "threshold": threshold or 0.0, **labels},
        seeds=1,
        tables=("flow_series",),
    )


def delivered(run: Measured) -> list[Row]:
    """Rows over time, in products: the share of the capacity delivered so far, and the window."""
    series = run.table("flow_series")
    times = series["time_s"].to_numpy()
    rtt = float(run.summary["flows"][0]["rtt_s"])
    product = 125_000 * rtt**2
    used = np.cumsum(series["throughput_bit_s"].to_numpy()) / np.arange(1, len(times) + 1) / 1e9
    window = series["window"].to_numpy() / (125_000 * rtt)
    return [
        {"products": round(float(t / product), 6), "used": float(u), "window": float(w)}
        for t, u, w in zip(times, used, window, strict=True)
    ]


def improvements(rows: pl.DataFrame, **labels: object) -> tuple[Values, Values]:
    """Run lengths in products, and the improvement at each: a column per threshold."""
    plain = at(rows, threshold=0.0, **labels).sort("products")
    columns = [
        at(rows, threshold=threshold, **labels).sort("products")["used"].to_numpy()
        / plain["used"].to_numpy()
        - 1
        for threshold in THRESHOLDS
    ]
    return plain["products"].to_numpy(), np.stack(columns, axis=1)


def misses(found: Values, rtt_ms: int) -> Values:
    """How far our row is from the table's at each length: root mean square over the cells."""
    return np.asarray(np.sqrt(((found - np.array(TABLE[rtt_ms])) ** 2).mean(axis=1)))
