"""Whether what was measured is what is simulated, within stated tolerances."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from longfat.units import ABSENT, RATE, TIME, amount, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.live._course import Course

Verdict = Literal["agrees", "differs", "undecided"]

WINDOW, THROUGHPUT, EPOCH, SHARE = 0.02, 0.01, 0.05, 0.05
"""How far what was measured may be from what was simulated, as a share of the latter."""

EPOCHS = {"fiber": 0.08}
"""For epochs of controllers of which a response is hardly more than a segment."""

WHOLE_EPOCHS, FEW_EPOCHS = 10, 3
"""So many whole epochs have a mean length that tells something, and so many a mean window."""

ROUND_TRIPS = 100
"""Averages over fewer round trips tell little."""

_SPARE = 1.1
"""How much longer than just enough a measurement is asked to be."""


@dataclass(frozen=True)
class Finding:
    """One number of both, and what comes of it.

    Attributes:
        name: `window_mean`, `throughput_bit_s`, `epoch_s` or `share`.
        verdict: What comes of it.
        measured: The number of the real flows; `None` without one.
        simulated: The mean over the simulated seeds; `None` without one.
        least: The smallest of the seeds.
        most: The largest of the seeds.
        difference: Measured over simulated, less 1.
        tolerance: How far the difference may be from 0; with `throughput_bit_s` only downwards.
        why: Why it is undecided, and what would decide it; empty otherwise.
    """

    name: str
    verdict: Verdict
    measured: float | None
    simulated: float | None
    least: float | None
    most: float | None
    difference: float | None
    tolerance: float
    why: str = ""

    @property
    def what(self) -> str:
        """What it is about, in words."""
        return _WORDS[self.name]

    def told(self, value: float | None) -> str:
        """A number of its kind as people read it."""
        if value is None:
            return ABSENT
        if self.name == "throughput_bit_s":
            return amount(value, RATE)
        if self.name == "epoch_s":
            return amount(value, TIME)
        return percent(value) if self.name == "share" else f"{value:.1f}"

    @property
    def allowed(self) -> str:
        """The tolerance in words."""
        if self.name == "throughput_bit_s":
            return f"at least {100 * (1 - self.tolerance):g} %"
        return f"± {100 * self.tolerance:g} %"

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)


_WORDS = {
    "window_mean": "mean window (segments)",
    "throughput_bit_s": "throughput with headers",
    "epoch_s": "epoch between responses",
    "share": "share of the larger flow",
}


def judged(
    measured: Course, simulated: Sequence[Course], *, kind: str, rtt_s: float, warmup_s: float
) -> list[Finding]:
    """What comes of each number.

    Where seeds differ by more than the tolerance, chance decides more than what is asked: then something
    differs only outside of what all seeds have, by the tolerance, and is otherwise undecided.

    Args:
        measured: The real flows.
        simulated: The same flows in the simulator, for each seed.
        kind: The controller.
        rtt_s: The round trip of the link.
        warmup_s: What is left out of the measurement.
    """
    need = _Need(measured, simulated, rtt_s, warmup_s)
    both = (measured, *simulated)
    short = need.time()
    laws = any(each.epochs for each in both)
    window = short or (need.epochs(FEW_EPOCHS) if laws else "")
    epoch = need.epochs(WHOLE_EPOCHS)
    rows = [
        _finding("window_mean", [each.window for each in both], WINDOW, window),
        _finding("throughput_bit_s", [each.throughput_bit_s for each in both], THROUGHPUT, short),
        _finding("epoch_s", [each.epoch_s for each in both], EPOCHS.get(kind, EPOCH), epoch),
    ]
    if measured.share is not None:
        rows.append(_finding("share", [each.share for each in both], SHARE, epoch))
    return rows


@dataclass(frozen=True)
class _Need:
    """What is missing for a verdict, in words; nothing where it is all there."""

    measured: Course
    simulated: Sequence[Course]
    rtt_s: float
    warmup_s: float

    def time(self) -> str:
        """For averages over time."""
        least = ROUND_TRIPS * self.rtt_s
        seconds = min(self.measured.seconds, *(each.seconds for each in self.simulated))
        # Samples do not quite reach the end.
        if seconds >= least * (1 - 1 / ROUND_TRIPS):
            return ""
        asked = math.ceil((self.warmup_s + least) * _SPARE)
        return (
            f"{amount(seconds, TIME)} after the warm-up are fewer than {ROUND_TRIPS} round trips: "
            f"measure and simulate for {asked} s or more"
        )

    def epochs(self, least: int) -> str:
        """For averages over epochs."""
        simulated = min(each.epochs for each in self.simulated)
        if min(self.measured.epochs, simulated) >= least:
            return ""
        told = f"{self.measured.epochs} whole epochs were measured and {simulated} simulated, of {least} needed"
        lengths = [
            each.epoch_s for each in (self.measured, *self.simulated) if each.epoch_s is not None
        ]
        if not lengths:
            return f"{told}: measure and simulate for longer, unless the controller makes none"
        asked = math.ceil((self.warmup_s + (least + 1) * max(lengths)) * _SPARE)
        return f"{told}: measure and simulate for {asked} s or more"


def _finding(name: str, values: Sequence[float | None], tolerance: float, missing: str) -> Finding:
    """The verdict about the first value, beside the others."""
    measured, known = values[0], [each for each in values[1:] if each is not None]
    if measured is None or not known or not sum(known):
        mean = sum(known) / len(known) if known else None
        why = missing or "there is no such number"
        return Finding(name, "undecided", measured, mean, None, None, None, tolerance, why)
    least, most = min(known), max(known)
    mean = sum(known) / len(known)
    difference = measured / mean - 1
    numbers = (measured, mean, least, most, difference, tolerance)
    if missing:
        return Finding(name, "undecided", *numbers, why=missing)
    one_sided = name == "throughput_bit_s"
    spread = max(most / mean - 1, 1 - least / mean)
    if spread <= tolerance:
        below, above = mean * (1 - tolerance), mean * (1 + tolerance)
        within = below <= measured and (one_sided or measured <= above)
        return Finding(name, "agrees" if within else "differs", *numbers)
    below, above = least * (1 - tolerance), most * (1 + tolerance)
    if measured < below or (measured > above and not one_sided):
        return Finding(name, "differs", *numbers)
    why = (
        "the simulated seeds are further apart than the tolerance: measure and simulate for longer"
    )
    return Finding(name, "undecided", *numbers, why=why)
