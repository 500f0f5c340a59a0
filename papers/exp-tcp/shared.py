"""Shared by the experiments of sections III.B to III.D: the dumbbell, the controllers, what is measured."""

from collections.abc import Mapping
from typing import Any

from longfat.study import Measured, Point, Row

CONTROLS = ("reno", "hstcp", "stcp", "exp")
BDP_S = 0.080
PACKET_BIT = 8000
FLOWS = 16


def dumbbell(
    rate_bit_s: float,
    control: str,
    *,
    flows: int = FLOWS,
    seeds: int = 3,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as everywhere
    **labels: object,
) -> Point:
    """A point of Figures 2 to 4: `flows` flows each way, all with one controller, on a link of this rate."""
    packets = rate_bit_s * BDP_S / PACKET_BIT
    least = 2 * flows
    changes: dict[str, Any] = {
        "link.bottleneck.rate": f"{rate_bit_s:.0f} bit/s",
        "link.bottleneck.buffer": f"{least} packets" if packets < least else "1 bdp",
    }
    for group in ("forward", "backward"):
        changes |= {f"flow.{group}.control": control, f"flow.{group}.count": flows}
    return Point(
        "dumbbell.toml",
        set=changes | dict(set or {}),
        labels={"control": control, "rate_bit_s": rate_bit_s, **labels},
        seeds=seeds,
    )


def both_directions(run: Measured) -> Row:
    """Utilisation, queue, drops and marks of the bottleneck: the mean of its two directions."""
    ways = [run.link(direction=direction) for direction in ("forward", "reverse")]
    row = {
        name: sum(way[name] for way in ways) / len(ways)
        for name in ("utilisation", "queue_mean", "drop_rate", "mark_rate")
    }
    return row | {"signal_rate": row["drop_rate"] + row["mark_rate"]}
