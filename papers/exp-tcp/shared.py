"""Shared by the experiments of sections III.B to III.D: the dumbbell, the controllers, what is measured."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from longfat.study import Measured, Point, Row

CONTROLS = ("reno", "hstcp", "stcp", "exp")
RIVALS = ("reno", "hstcp", "stcp")
LAWS: Mapping[str, str | dict[str, Any]] = {
    "reno": "reno",
    "hstcp": {"kind": "hstcp", "low_window": 31},
    "stcp": "stcp",
    "exp": "exp",
}
"""The controllers with the parameters of section III.A: HSTCP begins at 31 packets, as in the draft of 2002."""
BDP_S = 0.080
PACKET_BIT = 8000
FLOWS = 16


def dumbbell(
    rate_bit_s: float,
    control: str,
    *,
    flows: int = FLOWS,
    seeds: int = 3,
    law: str | Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as everywhere
    **labels: object,
) -> Point:
    """A point of Figures 2 to 4: `flows` flows each way, all with one controller, on a link of this rate.

    `law` is that controller with parameters other than those of `LAWS`.
    """
    changes: dict[str, Any] = {"link.bottleneck.rate": f"{rate_bit_s:.0f} bit/s"}
    for group in ("forward", "backward"):
        changes |= {f"flow.{group}.control": law or LAWS[control], f"flow.{group}.count": flows}
    return Point(
        "dumbbell.toml",
        set=changes | dict(set or {}),
        labels={"control": control, "rate_bit_s": rate_bit_s, **labels},
        seeds=seeds,
    )


def paced_or_not(control: str, groups: tuple[str, ...], *, paced: bool) -> dict[str, str]:
    """What makes all flows of a controller pace, or none; nothing where it does so anyway: runs are shared."""
    if paced == (control == "exp"):
        return {}
    return {f"flow.{group}.pacing": "spread" if paced else "none" for group in groups}


def both_directions(run: Measured) -> Row:
    """Utilisation, queue, drops and marks of the bottleneck: the mean of its two directions."""
    ways = [run.link(direction=direction) for direction in ("forward", "reverse")]
    row = {
        name: sum(way[name] for way in ways) / len(ways)
        for name in ("utilisation", "queue_mean", "drop_rate", "mark_rate")
    }
    return row | {"signal_rate": row["drop_rate"] + row["mark_rate"]}


def extreme(rows: pl.DataFrame, what: pl.Expr, over: str, *, largest: bool = False) -> list[float]:
    """A value per seed, at that value of the label `over` where its mean over the seeds is smallest or largest.

    Smallest of the means, not mean of the smallest: the latter sinks with the noise of each point. Rows
    without a value are left out, so points may have different numbers of seeds.
    """
    values = rows.select(over, "seed", what.alias("value")).drop_nulls("value")
    means = (
        values.group_by(over).agg(pl.col("value").mean()).sort("value", over, descending=largest)
    )
    chosen = values.filter(pl.col(over) == means[over][0]).sort("seed")
    return [float(value) for value in chosen["value"]]
