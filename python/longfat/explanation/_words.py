"""Parts of sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.units import amount, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BY = {
    "link": ("a full link", "a full link"),
    "window": ("its window", "their windows"),
    "pacing": ("its pacing", "their pacing"),
    "receiver": ("its receiver", "their receivers"),
    "application": ("its application", "their applications"),
    "recovery": ("the repair of losses", "the repair of losses"),
}
"""What limits one flow, and several."""

_SECOND = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_LEAST_SHARE = 0.005


def causes(shares: Mapping[str, float], whole: str, *, several: bool = False) -> str:
    """What limited a flow, or several, the largest share first; `whole` says what these are shares of.

    >>> causes({"window": 0.75, "receiver": 0.25}, "its 4 s")
    'by its window for 75 % of its 4 s and by its receiver for 25 %'
    >>> causes({"window": 0.75, "receiver": 0.25}, "their time", several=True)
    'by their windows for 75 % of their time and by their receivers for 25 %'
    """
    named = [
        (_BY[cause][several], share) for cause, share in shares.items() if share >= _LEAST_SHARE
    ]
    named.sort(key=lambda each: -each[1])
    parts = [f"by {what} for {100 * share:.0f} %" for what, share in named]
    parts[0] += f" of {whole}"
    return listed(parts)


def events(losses: int, marks: int, timeouts: int) -> str:
    """What was answered; empty if there was nothing to answer."""
    told = [f"{losses:,} losses" if losses > 1 else "1 loss"] if losses else []
    told += [plural(marks, "mark")] if marks else []
    return listed([*told, plural(timeouts, "time-out")] if timeouts else told)


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence as a list.

    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', '')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def time(seconds: float) -> str:
    """A time to three digits."""
    return amount(seconds, _SECOND) if round(seconds, 9) else "0 s"
