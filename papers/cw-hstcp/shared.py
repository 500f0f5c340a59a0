"""Shared by the experiments of the CW-HSTCP paper: the dumbbell, its background, and what is measured."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from longfat import fairness
from longfat.paper import Scale
from longfat.scenario import PICOSECONDS
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
"""PI with the constants of its authors' example, which holds the queue midway between RED's thresholds."""
PI_INTERVAL_S = 6.25e-3

MANY = 10
"""Number of seeds where five leave the question open."""

BACKGROUND = ("background", "web")
SCALES = (1, 2, 5, 10, 20, 50)
PACKET_BIT = 8000

FELL = 0.95
"""A window below this share of what it was a sample ago has met congestion: HSTCP gives up a tenth or more."""


def cw(c: float) -> dict[str, Any]:
    """CW-HSTCP with this c in 1/s."""
    return {"kind": "cw-hstcp", "c": f"{c:g} /s"}


def held_by(window: pl.Expr) -> pl.Expr:
    """Losses per second that hold CW-HSTCP at this window, over c: gain over what a loss takes.

    With a(w) and b(w) of section II that is a(w)/(b(w) w), or 2 w p(w)/(2 - b(w)). As p(w) falls nearly like
    1/w, with w to the power of -1.2, this hardly depends on w: a few losses more make a window that is much
    smaller.
    """
    low, high, low_p, high_p, b_high = 38.0, 83_000.0, 1e-3, 1e-7, 0.1
    place = (window / low).log() / math.log(high / low)
    p = (math.log(low_p) + place * math.log(high_p / low_p)).exp()
    b = 0.5 + place * (b_high - 0.5)
    return 2 * window * p / (2 - b)


def more_losses() -> pl.Expr:
    """How much more often the longest round trip loses than the shortest."""
    return pl.col("events_last") / pl.col("events_first")


def explained() -> pl.Expr:
    """That, over what the law makes of the two windows: 1 if losses alone set windows apart."""
    return more_losses() / (held_by(pl.col("w_last")) / held_by(pl.col("w_first")))


def bottleneck(scale: Scale) -> int:
    """Rate of the bottleneck in Mbit/s."""
    return QUICK_RATE if scale == "quick" else FULL_RATE


def pi(scale: Scale, rtts_ms: Sequence[int] = THREE, queue_s: float = 0.025) -> dict[str, Any]:
    """PI with the constants that its authors' rule gives for this link.

    The rule (Hollot et al. 2001; `crates/queue/src/discipline/pi.rs`) takes the capacity C in packets per
    second, the least number N of long flows of standard TCP and the longest round trip R.
    """
    c = bottleneck(scale) * 1e6 / PACKET_BIT
    n = len(rtts_ms) + STANDARD[scale][0]
    r = max(rtts_ms) / 1e3 + queue_s
    zero = 2 * n / (r * r * c)
    gain = zero * math.hypot(1, zero * r) * (2 * n) ** 2 / (r * c) ** 3
    half = PI_INTERVAL_S / 2
    a, b = (gain * (1 / zero + sign * half) for sign in (1, -1))
    return PI | {"a": a, "b": b, "interval": f"{1e3 * PI_INTERVAL_S} ms"}


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
    rate = bottleneck(scale)
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
        "w_first": windows[0],
        "w_last": windows[-1],
        "events_first": events[0],
        "events_last": events[-1],
        "rate_bit_s": rate,
        "utilisation": run.link()["utilisation"],
        "queue_mean": run.link()["queue_mean"],
        "dropped": run.link()["drop_rate"],
        "marked": run.link()["mark_rate"],
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


def coincidence(run: Measured) -> Row:
    """How often flows lose together, from samples of their windows half a second apart.

    Two losses are together if they fall into the same sample or into neighbouring ones.

    Returns:
        `together`: the share of all losses that every flow suffers together; `with_second`: the share of the
        first flow's losses that the second shares; `by_chance`: what `together` is on average after the series
        of the flows have been moved against each other by ten seconds and more.
    """
    series = run.table("flow_series").filter(
        pl.col("group").cast(pl.String) == "fast",
        pl.col("time_s") > run.quantities.warmup_ps / PICOSECONDS,
    )
    wide = series.pivot(on="flow", index="time_s", values="window").sort("time_s")
    found = wide.select(sorted(set(wide.columns) - {"time_s"})).to_numpy().T
    lost = found[:, 1:] < FELL * found[:, :-1]
    near = lost.copy()
    near[:, 1:] |= lost[:, :-1]
    near[:, :-1] |= lost[:, 1:]
    count = int(lost.sum())
    if not count:
        return {"together": None, "with_second": None, "by_chance": None}
    moved = [
        sum(
            int(
                (one & np.all([np.roll(each, k * (j - i)) for j, each in enumerate(near)], 0)).sum()
            )
            for i, one in enumerate(lost)
        )
        / count
        for k in range(20, lost.shape[1] // len(lost), 7)
    ]
    return {
        "together": int((lost & near.all(axis=0)).sum()) / count,
        "with_second": int((lost[0] & near[1]).sum()) / max(int(lost[0].sum()), 1),
        "by_chance": float(np.mean(moved)),
    }


def shares_and_windows(run: Measured) -> list[Row]:
    """A row of shares; for the first seed also rows of windows over time, for the picture."""
    drawn = windows(run) if run.seed == 1 else []
    return [
        {"kind": "shares"} | shares(run) | coincidence(run),
        *({"kind": "window"} | one for one in drawn),
    ]
