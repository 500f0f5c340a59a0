"""From numbers to verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from longfat.paper._claims import Untestable
from longfat.study._statistics import estimate
from longfat.units import PLAIN, RATE, TIME, ruler, small

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.paper._claims import Claim, Scale
    from longfat.study._statistics import Estimate

_SCALES = {"s": TIME, "bit/s": RATE}
_LEAST, _MOST = 1e-2, 1e6
"""Numbers outside these bounds are written with a power of ten."""

Word = Literal["reproduced", "differs", "not testable"]
Answer = Iterable[float | None] | float | None | Untestable
"""What a figure answers: a value per seed, one value if chance plays no part, or why there is none."""


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim.

    Attributes:
        claim: The claim.
        verdict: `reproduced`, `differs` or `not testable`.
        value: Our number: the mean over the seeds.
        interval: Its 95 % confidence interval; `None` with fewer than two seeds, or if chance plays no part.
        seeds: How many seeds; `None` if chance plays no part.
        decided: Whether the whole interval gives the same verdict; `None` with a single seed.
        reason: Why it differs, why it is not testable, or why it is undecided.
    """

    claim: Claim
    verdict: Word
    value: float | None = None
    interval: tuple[float, float] | None = None
    seeds: int | None = None
    decided: bool | None = True
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is a number from theory that does not hold."""
        return self.claim.requirement and self.verdict == "differs"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data, for JSON."""
        return {
            "id": self.claim.id,
            "figure": self.claim.figure,
            "where": self.claim.where,
            "claim": self.claim.claim,
            "measured": self.claim.measured,
            "verdict": self.verdict,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "paper_value": self.claim.paper_value,
            "tolerance": self.claim.margin,
            "criterion": self.claim.criterion,
            "requirement": self.claim.requirement,
            "seeds": self.seeds,
            "decided": self.decided,
            "hindsight": self.claim.hindsight,
            "reason": self.reason,
        }


def untestable(claim: Claim, reason: str) -> ClaimVerdict:
    """The verdict on a claim without an answer."""
    return ClaimVerdict(claim, "not testable", decided=None, reason=reason)


def from_dict(claim: Claim, entry: dict[str, Any]) -> ClaimVerdict:
    """The verdict that `to_dict` wrote."""
    interval = entry["interval"]
    return ClaimVerdict(
        claim,
        verdict=entry["verdict"],
        value=entry["value"],
        interval=None if interval is None else (interval[0], interval[1]),
        seeds=entry["seeds"],
        decided=entry["decided"],
        reason=entry["reason"],
    )


def judge(claim: Claim, answer: Answer, scale: Scale) -> ClaimVerdict:
    """The verdict: the mean against the criterion, and how sure it is. `explained` says why."""
    if scale in claim.untestable:
        return untestable(claim, claim.untestable[scale])
    if isinstance(answer, Untestable):
        return untestable(claim, answer.reason)
    by_seed = isinstance(answer, Iterable)
    known = estimated(answer)
    if known.mean is None or not math.isfinite(known.mean):
        return untestable(
            claim, "there is nothing to measure" if known.mean is None else "no number"
        )
    low, high = claim.bounds
    interval = interval_of(known)
    decided: bool | None = None if by_seed else True
    if interval is not None:
        decided = not any(interval[0] < bound < interval[1] for bound in (low, high))
    return ClaimVerdict(
        claim,
        "reproduced" if low <= known.mean <= high else "differs",
        value=known.mean,
        interval=interval,
        seeds=known.n if by_seed else None,
        decided=decided,
    )


def explained(verdict: ClaimVerdict, cause: str) -> ClaimVerdict:
    """The verdict with its reason: the cause if it differs, and the bounds that its interval crosses."""
    if verdict.verdict == "not testable":
        return verdict
    reasons = [cause] if verdict.verdict == "differs" else []
    if verdict.interval is not None and verdict.decided is False:
        low, high = verdict.interval
        crossed = [bound for bound in verdict.claim.bounds if low < bound < high]
        bounds = " and ".join(show(bound, verdict.claim.unit) for bound in crossed)
        reasons.append(f"undecided with {verdict.seeds} seeds: the interval crosses {bounds}")
    return replace(verdict, reason="; ".join(reasons))


def seeds_to_decide(verdict: ClaimVerdict) -> int | None:
    """About how many seeds would decide a verdict, if the mean stays; `None` if it is decided, or on its bound.

    The interval shrinks with the root of the number of seeds.
    """
    if verdict.decided is not False or verdict.interval is None or verdict.value is None:
        return None
    low, high = verdict.interval
    value, half = verdict.value, (high - low) / 2
    crossed = [bound for bound in verdict.claim.bounds if low < bound < high]
    nearest = min(abs(value - bound) for bound in crossed)
    return math.ceil((verdict.seeds or 0) * (half / nearest) ** 2) if nearest else None


def estimated(answer: Iterable[float | None] | float | None) -> Estimate:
    """The mean over the seeds with its interval; or the one value."""
    return estimate(list(answer) if isinstance(answer, Iterable) else [answer])


def interval_of(known: Estimate) -> tuple[float, float] | None:
    """The 95 % confidence interval, if there is one."""
    if known.mean is None or known.half_width is None:
        return None
    if not math.isfinite(abs(known.mean) + known.half_width):
        return None
    return known.mean - known.half_width, known.mean + known.half_width


def counts(verdicts: Sequence[ClaimVerdict]) -> str:
    """How many verdicts there are of each kind, how many are undecided, and how many were chosen in hindsight.

    >>> counts([])
    'no claims'
    """
    words = [verdict.verdict for verdict in verdicts]
    kinds = ("reproduced", "differs", "not testable")
    told = ", ".join(f"{words.count(word)} {word}" for word in kinds if word in words)
    more = (
        ("undecided", sum(verdict.decided is False for verdict in verdicts)),
        ("chosen in hindsight", sum(bool(verdict.claim.hindsight) for verdict in verdicts)),
    )
    of_them = [f"{number} {word}" for word, number in more if number]
    return "; of them ".join([told, " and ".join(of_them)] if of_them else [told or "no claims"])


def show(value: float, unit: str) -> str:
    """A number with its unit, to three or four digits.

    >>> show(0.9625, "%"), show(33.16, "round trips"), show(2.5e9, "bit/s"), show(-0.012, "%")
    ('96.2 %', '33.2 round trips', '2.50 Gbit/s', '-1.2 %')
    """
    return _together([value], unit)


def show_estimate(verdict: ClaimVerdict) -> str:
    """Our number with half of its interval: `97.9 ± 0.1 %`."""
    return show_number(verdict.value, verdict.interval, verdict.claim.unit)


def show_number(value: float | None, interval: tuple[float, float] | None, unit: str) -> str:
    """A number with half of its interval, if it has one; a dash if there is no number."""
    if value is None:
        return "–"
    if interval is None:
        return show(value, unit)
    return _together([value, (interval[1] - interval[0]) / 2], unit)


def show_criterion(claim: Claim) -> str:
    """The criterion in signs: `≥ 95.0 %`."""
    for sign, bound in (("≥", claim.at_least), ("≤", claim.at_most)):
        if bound is not None:
            return f"{sign} {show(bound, claim.unit)}"
    if claim.between is not None:
        return _together(claim.between, claim.unit, " to ")
    if claim.equals is None:
        return "–"
    value = show(claim.equals, claim.unit)
    if claim.relative_tolerance is not None:
        return f"{value} ± {100 * claim.relative_tolerance:g} %"
    if not claim.tolerance:
        return value
    return _together([claim.equals, claim.tolerance], claim.unit)


def show_expected(claim: Claim) -> str:
    """The criterion, with the paper's number where that is another one: `≥ 95.0 % (paper: 97.0 %)`."""
    told = show_criterion(claim)
    if claim.paper_value is None or claim.paper_value == claim.equals:
        return told
    return f"{told} (paper: {show(claim.paper_value, claim.unit)})"


def _together(values: Sequence[float], unit: str, between: str = " ± ") -> str:
    """Numbers in one unit with equal decimals: those of the first, or of the largest if the first is 0."""
    scale = _SCALES.get(unit, PLAIN)
    size, name, decimals = ruler(values if not values[0] else values[:1], scale)
    largest = max(map(abs, values))
    if unit == "%":
        size, name, decimals = 0.01, "%", 1
    if unit not in _SCALES and largest and not _LEAST <= largest / size < _MOST:
        shown = [small(abs(value) / size) for value in values]
        shown = [
            f"-{each}" if value < 0 else each for each, value in zip(shown, values, strict=True)
        ]
    else:
        shown = [f"{value / size:,.{decimals}f}" for value in values]
    return f"{between.join(shown)} {name if unit in _SCALES else unit}".strip()
