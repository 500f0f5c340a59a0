"""Shared by the experiments of the CW-HSTCP paper: the dumbbell, its background, and what is measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from longfat import fairness
from longfat.paper import Scale
from longfat.study import Measured, Point, Row

QUICK_RATE, FULL_RATE = 100, 1000
"""Rate of the bottleneck in Mbit/s."""

STANDARD = {"quick": (3, 4), "full": (5, 8)}
"""Long standard flows, and web load in percent: with c = 10 their share is about that of Table 3."""

ACCESS = 10.0
"""Rate of a sender's own link over that of the bottleneck."""

THREE = (80, 140, 200)
FIVE_HSTCP = (60, 80, 140, 200, 240)
FIVE_CW = (60, 80, 140, 160, 200)
STCP = (120, 160, 240)
"""Round trips in milliseconds."""

RED: dict[str, Any] = {"kind": "red", "min": "0.1667 buffer", "max": "0.5 buffer"}
"""RED within the paper's buffer: the gentle range ends at its limit, and max is three times min."""

PI: dict[str, Any] = {"kind": "pi", "target": "0.3333 buffer"}
"""PI that holds the queue midway between RED's thresholds."""

MANY = {"quick": 10, "full": 20}
"""Number of seeds where five leave the question open."""

BACKGROUND = ("background", "web")
SCALES = (1, 2, 5, 10, 20, 50)
PACKET_BIT = 8000


def cw(c: float) -> dict[str, Any]:
    """CW-HSTCP with this c in 1/s."""
    return {"kind": "cw-hstcp", "c": f"{c:g} /s"}


def dumbbell(
    scale: Scale,
    control: str | Mapping[str, Any],
    rtts_ms: Sequence[int] = THREE,
    /,
    *,
    seeds: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as everywhere
    **labels: object,
) -> Point:
    """One flow of the controller for each round trip, and the background."""
    rate = QUICK_RATE if scale == "quick" else FULL_RATE
    long, web = STANDARD[scale]
    changes: dict[str, Any] = {
        "flow.background.count": long,
        "traffic.web.arrivals": {"load": f"{web} %"},
        "link.bottleneck.rate": f"{rate} Mbit/s",
        "flow.fast.access": f"{ACCESS * rate:g} Mbit/s",
        "flow.fast.control": dict(control) if isinstance(control, Mapping) else control,
        "flow.fast.count": len(rtts_ms),
        "flow.fast.rtt": [f"{rtt} ms" for rtt in rtts_ms],
    }
    return Point(
        "dumbbell.toml",
        set=changes | dict(set or {}),
        labels=labels,
        seeds=seeds or 5,
        tables=("flow_series",),
    )


def shares(run: Measured) -> Row:
    """Shares of the link: of each fast flow, u0 to u4, and of the background; index, losses, windows."""
    flows = run.flows("fast")
    rate = run.quantities.links["bottleneck"].forward.rate_bit_s
    row: Row = {f"u{i}": flow["goodput_bit_s"] / rate for i, flow in enumerate(flows)}
    windows = [flow["window_mean"] for flow in flows]
    events = [flow["congestion_events"] for flow in flows]
    return row | {
        "background": fairness.share(run, *BACKGROUND),
        "web": fairness.share(run, "web"),
        "total": sum(row.values()) + fairness.share(run, *BACKGROUND),
        "jain": fairness.index(run, "fast"),
        "background_loss": fairness.loss_rate(run, *BACKGROUND),
        "fast_loss": fairness.loss_rate(run, "fast"),
        "window_ratio": max(windows) / min(windows),
        "events_first": events[0],
        "events_last": events[-1],
        "utilisation": run.link()["utilisation"],
        "queue_mean": run.link()["queue_mean"],
    }


def windows(run: Measured, every_s: float = 2.0) -> list[Row]:
    """The window of each fast flow every `every_s` seconds."""
    series = run.table("flow_series").filter(pl.col("group").cast(pl.String) == "fast")
    step = (pl.col("time_s") / every_s - (pl.col("time_s") / every_s).round()).abs() < 1e-6
    return [
        {"flow": int(name[5:-1]), "time_s": time, "window": window}
        for name, time, window in series.filter(step)
        .select(pl.col("flow").cast(pl.String), "time_s", "window")
        .iter_rows()
    ]


def shares_and_windows(run: Measured) -> list[Row]:
    """A row of shares; for the first seed also rows of windows over time, for the picture."""
    drawn = windows(run) if run.seed == 1 else []
    return [{"kind": "shares"} | shares(run), *({"kind": "window"} | one for one in drawn)]
