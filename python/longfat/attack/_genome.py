"""Challenges as points of a cube, which is what an optimiser looks through.

Each coordinate goes from 0 to 1. Those of what a path may have or not, such as losses, are its absence up to
0.4 and beyond that its amount, which begins where absence ends: so there is no step in between.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.attack._challenge import Challenge, Change, Cross, Wave

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from longfat.attack._challenge import CrossKind, Ground

_ABSENT = 0.4
_DIGITS = 3


@dataclass(frozen=True)
class Bounds:
    """Between which values a search looks, each a pair of the least and the most.

    Attributes:
        rtt_s: Round trip in seconds.
        buffer_bdp: Buffer in products of bandwidth and delay.
        loss: Probability of corruption.
        jitter_s: Longest additional delay of a packet in seconds.
        flows: How many flows of the controller.
        rtt_ratio: Round trip of the last over that of the first.
        spread: When the last flow starts, as a share of the run.
        rate: What the rate of the link falls to, as a share of that at the start; the second is where nothing
            changes.
        delay_s: By how much the propagation delay grows, one way, in seconds.
        period_s: From one fall of the rate to the next, in seconds.
        share: What other traffic asks for, as a share of the rate of the link.
        on_s: How long a source of other traffic is on, or off, in seconds.
        changes: How many times the path may change, besides its wave.
        wave: Whether its rate may go up and down.
        cross: What other traffic there may be: nothing else if empty.
    """

    rtt_s: tuple[float, float] = (0.01, 0.3)
    buffer_bdp: tuple[float, float] = (0.02, 8.0)
    loss: tuple[float, float] = (1e-5, 0.05)
    jitter_s: tuple[float, float] = (1e-4, 0.05)
    flows: tuple[int, int] = (1, 4)
    rtt_ratio: tuple[float, float] = (1.0, 8.0)
    spread: tuple[float, float] = (0.01, 0.4)
    rate: tuple[float, float] = (0.1, 1.0)
    delay_s: tuple[float, float] = (0.001, 0.2)
    period_s: tuple[float, float] = (0.05, 10.0)
    share: tuple[float, float] = (0.05, 0.5)
    on_s: tuple[float, float] = (0.02, 10.0)
    changes: int = 3
    wave: bool = True
    cross: tuple[CrossKind, ...] = ("long", "on-off", "short")

    @staticmethod
    def of(ground: Ground) -> Bounds:
        """The bounds for a ground: corruption from one packet of the run on."""
        packets = ground.rate_bit_s * ground.duration_s / (8 * 1500)
        return Bounds(loss=(min(max(1 / packets, 1e-9), 1e-3), 0.05))


class Genome:
    """How a point becomes a challenge.

    Attributes:
        size: How many coordinates a point has.
    """

    def __init__(self, ground: Ground, bounds: Bounds | None = None) -> None:
        """A genome for challenges on this ground."""
        self._ground = ground
        self._bounds = Bounds.of(ground) if bounds is None else bounds
        endless, taken = itertools.repeat(0.5), itertools.count()
        self._decoded(each for each, _ in zip(endless, taken, strict=False))
        self.size = next(taken)

    def challenge(self, point: Iterable[float]) -> Challenge:
        """The challenge that a point stands for; its coordinates go from 0 to 1."""
        return self._decoded(iter(point))

    def _decoded(self, genes: Iterator[float]) -> Challenge:
        # Every coordinate is taken, whatever the others are, so that each keeps its place.
        bounds, duration = self._bounds, self._ground.duration_s
        fewest, most = bounds.flows
        rtt = _log(next(genes), bounds.rtt_s)
        buffer = _log(next(genes), bounds.buffer_bdp)
        loss = _maybe(next(genes), bounds.loss) or 0.0
        jitter = _maybe(next(genes), bounds.jitter_s) or 0.0
        ordered = next(genes) < 0.75  # noqa: PLR2004 - rather kept than not
        flows = min(fewest + int(next(genes) * (most + 1 - fewest)), most)
        ratio = _maybe(next(genes), bounds.rtt_ratio) or 1.0
        spread = _maybe(next(genes), bounds.spread) or 0.0
        wave = self._wave(next(genes), next(genes), next(genes))
        cross = self._cross(next(genes), next(genes), next(genes), next(genes))
        changes = [
            self._change(next(genes), next(genes), next(genes), next(genes))
            for _ in range(bounds.changes)
        ]
        several = flows > 1
        if wave is not None:  # the rate is the wave's
            changes = [replace(each, rate=None) for each in changes]
        return Challenge(
            rtt_s=rtt,
            buffer_bdp=buffer,
            loss=loss,
            jitter_s=jitter,
            ordered=ordered or not jitter,
            flows=flows,
            rtt_ratio=ratio if several else 1.0,
            spread_s=rounded(spread * duration) if several else 0.0,
            changes=tuple(sorted((each for each in changes if _is_any(each)), key=_when)),
            wave=wave,
            cross=cross,
        )

    def _wave(self, depth: float, period: float, low: float) -> Wave | None:
        rate = _fall(depth, self._bounds.rate)
        lasts = _log(period, self._bounds.period_s)
        return (
            None
            if rate is None or not self._bounds.wave
            else Wave(lasts, rounded(lasts * (0.1 + 0.8 * low)), rate)
        )

    def _cross(self, kind: float, share: float, on: float, off: float) -> Cross | None:
        asked = _log(share, self._bounds.share)
        times = _log(on, self._bounds.on_s), _log(off, self._bounds.on_s)
        kinds = self._bounds.cross
        if kind < _ABSENT or not kinds:
            return None
        chosen = kinds[min(int((kind - _ABSENT) / (1 - _ABSENT) * len(kinds)), len(kinds) - 1)]
        if chosen == "long":
            return Cross(chosen)
        return Cross(chosen, asked, *times) if chosen == "on-off" else Cross(chosen, asked)

    def _change(self, at: float, rate: float, delay: float, loss: float) -> Change:
        # Not in the last tenth: what happens then hardly shows in an average.
        when = rounded(max(0.9 * at, 0.001) * self._ground.duration_s)
        fall = _fall(rate, self._bounds.rate)
        added = _maybe(delay, self._bounds.delay_s)
        return Change(when, fall, added, _maybe(loss, self._bounds.loss))


def _is_any(change: Change) -> bool:
    return (change.rate, change.delay_s, change.loss) != (None, None, None)


def _when(change: Change) -> float:
    return change.at_s


def _log(gene: float, bounds: tuple[float, float]) -> float:
    """The value at a share of the way between two bounds, on a scale of logarithms."""
    low, high = bounds
    return rounded(low * (high / low) ** min(max(gene, 0.0), 1.0))


def _maybe(gene: float, bounds: tuple[float, float]) -> float | None:
    return None if gene < _ABSENT else _log((gene - _ABSENT) / (1 - _ABSENT), bounds)


def _fall(gene: float, bounds: tuple[float, float]) -> float | None:
    """The same for what begins at its upper bound."""
    low, high = bounds
    return _maybe(gene, (high, low))


def rounded(value: float, digits: int = _DIGITS) -> float:
    """A value to so many digits.

    >>> rounded(0.0123456), rounded(98765.0, 1)
    (0.0123, 100000.0)
    """
    return float(f"{value:.{digits - 1}e}") if math.isfinite(value) else value
