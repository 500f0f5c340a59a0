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

Name = tuple[object, ...]
Step = tuple[Name, Challenge]
"""A step towards a plainer challenge: what it is called, and where it leads."""

_PARTS = ("wave", "cross", "jitter_s", "loss", "flows", "rtt_ratio", "spread_s", "buffer_bdp")


def shrunk(challenge: Challenge, keeps: Callable[[Challenge], bool]) -> Challenge:
    """The plainest challenge that is reached from this one in steps that keep enough of its score.

    Args:
        challenge: Where to begin.
        keeps: Whether a challenge still has enough of it.
    """
    while True:
        before = challenge
        for steps in (plainer, rounder):
            challenge = _once(steps, challenge, keeps)
        if challenge == before:
            return challenge


def _once(
    steps: Callable[[Challenge], Iterator[Step]],
    challenge: Challenge,
    keeps: Callable[[Challenge], bool],
) -> Challenge:
    """Each step once: what cannot go is not asked about again because something else went."""
    tried: set[Name] = set()
    while True:
        for name, candidate in steps(challenge):
            if name in tried or candidate == challenge:
                continue
            tried.add(name)
            if keeps(candidate):
                challenge = candidate
                break
        else:
            return challenge


def plainer(challenge: Challenge) -> Iterator[Step]:
    """The same with less in it: what takes most away comes first."""
    changes = challenge.changes
    if changes:
        yield ("changes",), replace(challenge, changes=())
    for name in _PARTS:
        yield (name,), replace(challenge, **{name: getattr(PLAIN, name)})
    if challenge.flows > 1:
        yield ("flows", challenge.flows - 1), replace(challenge, flows=challenge.flows - 1)
    yield ("ordered",), replace(challenge, ordered=True)
    for index, change in enumerate(changes):
        before, after, at = changes[:index], changes[index + 1 :], change.at_s
        yield (at,), replace(challenge, changes=before + after)
        # A loss that comes later may as well be there from the start.
        if change.loss is not None:
            changed = before + _some(change, "loss") + after
            yield (at, "earlier"), replace(challenge, loss=change.loss, changes=changed)
        for name in ("rate", "delay_s", "loss"):
            if getattr(change, name) is not None:
                yield (at, name), replace(challenge, changes=before + _some(change, name) + after)
    cross = challenge.cross
    if cross is not None and cross.kind != "long":
        yield ("long",), replace(challenge, cross=Cross("long"))


def _some(change: Change, without: str) -> tuple[Change, ...]:
    """A change without one of its parts; nothing if that was all."""
    absent: dict[str, Any] = {without: None}
    left = replace(change, **absent)
    return () if left == Change(change.at_s) else (left,)


def rounder(challenge: Challenge) -> Iterator[Step]:
    """The same with one number rounded: to 1, 2 or 5 times a power of ten, else to one digit, else to two."""
    for digits, rounding in enumerate((_preferred, _one_digit, _two_digits)):
        for name in ("rtt_s", "buffer_bdp", "loss", "jitter_s", "rtt_ratio", "spread_s"):
            yield (digits, name), _with(challenge, name, rounding)
        for index, change in enumerate(challenge.changes):
            for name in ("at_s", "rate", "delay_s", "loss"):
                one = (_with(change, name, rounding),)
                changes = challenge.changes[:index] + one + challenge.changes[index + 1 :]
                in_order = tuple(sorted(changes, key=lambda each: each.at_s))
                yield (digits, index, name), replace(challenge, changes=in_order)
        for part in ("wave", "cross"):
            inner: Wave | Cross | None = getattr(challenge, part)
            if inner is not None:
                for name in (each.name for each in fields(inner) if each.name != "kind"):
                    rounded_part: dict[str, Any] = {part: _with(inner, name, rounding)}
                    yield (digits, part, name), replace(challenge, **rounded_part)


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
