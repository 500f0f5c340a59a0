"""A found challenge made plain: what does not matter goes, and numbers become round.

The idea is that of delta debugging (A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input", IEEE TSE 28(2), 2002): leave something out, keep what still fails, until nothing more can go.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from longfat.attack._challenge import Challenge, Change, Cross, Wave
from longfat.attack._genome import rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEPT = 0.9
"""The share of its score that a challenge keeps."""

PLAIN = Challenge()


def shrunk(challenge: Challenge, keeps: Callable[[Challenge], bool]) -> Challenge:
    """The plainest challenge that is reached from this one in steps that keep enough of its score.

    Args:
        challenge: Where to begin.
        keeps: Whether a challenge still has enough of it.
    """
    refused: set[Challenge] = set()

    def next_step() -> Challenge | None:
        for steps in (plainer, rounder):
            for candidate in steps(challenge):
                if candidate == challenge or candidate in refused:
                    continue
                if keeps(candidate):
                    return candidate
                refused.add(candidate)
        return None

    while (found := next_step()) is not None:
        challenge = found
    return challenge


def plainer(challenge: Challenge) -> Iterator[Challenge]:
    """The same with less in it: what takes most away comes first."""
    changes = challenge.changes
    if changes:
        yield replace(challenge, changes=())
    for name in (
        "wave",
        "cross",
        "jitter_s",
        "loss",
        "flows",
        "rtt_ratio",
        "spread_s",
        "buffer_bdp",
    ):
        yield replace(challenge, **{name: getattr(PLAIN, name)})
    if challenge.flows > 1:
        yield replace(challenge, flows=challenge.flows - 1)
    yield replace(challenge, ordered=True)
    for index, change in enumerate(changes):
        before, after = changes[:index], changes[index + 1 :]
        yield replace(challenge, changes=before + after)
        # A loss or a delay that comes later may as well be there from the start.
        if change.loss is not None:
            yield replace(
                challenge, loss=change.loss, changes=before + _some(change, "loss") + after
            )
        for name in ("rate", "delay_s", "loss"):
            if getattr(change, name) is not None:
                yield replace(challenge, changes=before + _some(change, name) + after)
    cross = challenge.cross
    if cross is not None and cross.kind != "long":
        yield replace(challenge, cross=Cross("long"))


def _some(change: Change, without: str) -> tuple[Change, ...]:
    """A change without one of its parts; nothing if that was all."""
    absent: dict[str, Any] = {without: None}
    left = replace(change, **absent)
    return () if left == Change(change.at_s) else (left,)


def rounder(challenge: Challenge) -> Iterator[Challenge]:
    """The same with one number rounded: to 1, 2 or 5 times a power of ten, else to one digit, else to two."""
    for rounding in (_preferred, _one_digit, _two_digits):
        for name in ("rtt_s", "buffer_bdp", "loss", "jitter_s", "rtt_ratio", "spread_s"):
            yield _with(challenge, name, rounding)
        for index, change in enumerate(challenge.changes):
            for name in ("at_s", "rate", "delay_s", "loss"):
                one = (_with(change, name, rounding),)
                changes = challenge.changes[:index] + one + challenge.changes[index + 1 :]
                yield replace(challenge, changes=tuple(sorted(changes, key=lambda each: each.at_s)))
        for part in ("wave", "cross"):
            inner: Wave | Cross | None = getattr(challenge, part)
            if inner is not None:
                for name in (each.name for each in fields(inner) if each.name != "kind"):
                    yield replace(challenge, **{part: _with(inner, name, rounding)})


def _with(owner: Any, name: str, rounding: Callable[[float], float]) -> Any:  # noqa: ANN401 - any of the parts
    value = getattr(owner, name)
    return owner if not value else replace(owner, **{name: rounding(value)})


def _preferred(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, on a scale of logarithms.

    >>> _preferred(0.0142), _preferred(35.0), _preferred(0.8)
    (0.02, 50.0, 1.0)
    """
    power = float(f"1e{f'{value:e}'.partition('e')[2]}")
    choices = (power, 2 * power, 5 * power, 10 * power)
    return rounded(min(choices, key=lambda each: max(each / value, value / each)))


def _one_digit(value: float) -> float:
    return rounded(value, 1)


def _two_digits(value: float) -> float:
    return rounded(value, 2)
