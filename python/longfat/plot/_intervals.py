"""Intervals as pictures have them: never beyond what a number can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARES = frozenset(
    {"utilisation", "queue", "queue_mean", "queue_p99", "drop_rate", "mark_rate", "loss_rate",
     "retransmit_rate", "corruption_rate", "jain", "share"}
)  # fmt: skip
"""Numbers from 0 to 1, by the last part of their names."""
_COUNTS = frozenset({"timeouts", "window", "queue_packets", "packets", "completed", "events"})
_POSITIVE = ("_bit_s", "_bytes", "_packets", "_per_s", "rtt_s", "delay_s", "delay_mean_s")


def bounds(name: str) -> tuple[float, float]:
    """The least and the most that a number can be, as far as its name tells.

    >>> bounds("links.bottleneck.forward.utilisation"), bounds("goodput_bit_s"), bounds("lead")
    ((0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    section, _, _ = name.partition(".")
    last = name.rpartition(".")[2]
    if last in _SHARES or section == "jain":
        return 0.0, 1.0
    if last in _COUNTS or last.endswith(_POSITIVE):
        return 0.0, math.inf
    return -math.inf, math.inf


def reach(
    name: str, means: Sequence[float], halves: Sequence[float], factor: float = 1.0
) -> tuple[list[float], list[float]]:
    """How far intervals reach below and above their means, cut at what the number can be.

    A mean may lie outside by rounding; then nothing is drawn on that side.

    >>> reach("drop_rate", [0.25, 1.0], [0.5, 0.5])
    ([0.25, 0.5], [0.5, 0.0])

    Args:
        name: What the number is called.
        means: The means.
        halves: Half of the width of each interval.
        factor: What both are multiplied by: 100 for percentages.
    """
    least, most = (factor * bound for bound in bounds(name))
    pairs = list(zip(means, halves, strict=True))
    below = [max(0.0, min(half, mean - least)) for mean, half in pairs]
    above = [max(0.0, min(half, most - mean)) for mean, half in pairs]
    return below, above
