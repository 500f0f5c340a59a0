"""From numbers to verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from longfat._statistics import estimate
from longfat._text import RATE, TIME, amount
from longfat.paper._claims import Untestable

if TYPE_CHECKING:
    from longfat.paper._claims import Claim, Scale

Word = Literal["reproduced", "differs", "not testable"]
Answer = Iterable[float | None] | float | None | Untestable
"""What a figure says to a claim: a value per seed, one value without chance, or why there is none."""


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Attributes:
        claim: The claim.
        verdict: `reproduced`, `differs` or `not testable`.
        value: Our number: the mean over the seeds.
        interval: Its 95 % confidence interval; `None` with fewer than two seeds, or without chance.
        seeds: How many seeds; `None` for a number without chance.
        decided: Does the whole interval say the same? `None` if one seed is all there is.
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
        """Is it a number from theory that does not hold?"""
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
            "reason": self.reason,
        }


def untestable(claim: Claim, reason: str) -> Verdict:
    """The verdict on a claim that has no answer."""
    return Verdict(claim, "not testable", decided=None, reason=reason)


def from_dict(claim: Claim, entry: dict[str, Any]) -> Verdict:
    """The verdict that `to_dict` wrote."""
    interval = entry["interval"]
    return Verdict(
        claim,
        verdict=entry["verdict"],
        value=entry["value"],
        interval=None if interval is None else (interval[0], interval[1]),
        seeds=entry["seeds"],
        decided=entry["decided"],
        reason=entry["reason"],
    )


def judge(claim: Claim, answer: Answer, scale: Scale) -> Verdict:
    """The verdict: the mean against the criterion, and how sure it is."""
    if scale in claim.untestable:
        return untestable(claim, claim.untestable[scale])
    if isinstance(answer, Untestable):
        return untestable(claim, answer.reason)
    if answer is None:
        return untestable(claim, "there is nothing to measure")
    by_seed = isinstance(answer, Iterable)
    values = [answer] if isinstance(answer, (int, float)) else list(answer)
    known = estimate(values)
    if known.mean is None:
        return untestable(claim, "no seed has a value")
    if not math.isfinite(known.mean):
        return untestable(claim, f"the value is {known.mean}")
    low, high = claim.bounds
    holds = low <= known.mean <= high
    word: Word = "reproduced" if holds else "differs"
    interval = None
    decided: bool | None = True
    reasons = [] if holds else [claim.cause or "no cause is given in claims.toml"]
    if known.half_width is not None:
        interval = (known.mean - known.half_width, known.mean + known.half_width)
        crossed = [bound for bound in (low, high) if interval[0] < bound < interval[1]]
        if crossed:
            decided = False
            bounds = " and ".join(show(bound, claim.unit) for bound in crossed)
            reasons.append(f"undecided with {known.n} seeds: the interval crosses {bounds}")
    elif by_seed:
        decided = None
    return Verdict(
        claim,
        word,
        value=known.mean,
        interval=interval,
        seeds=known.n if by_seed else None,
        decided=decided,
        reason="; ".join(reasons),
    )


def show(value: float, unit: str) -> str:
    """A number with its unit, to three or four digits.

    >>> show(0.9625, "%"), show(33.16, "round trips"), show(2.5e9, "bit/s"), show(-0.012, "%")
    ('96.2 %', '33.2 round trips', '2.5 Gbit/s', '-1.2 %')
    """
    return f"{_number(value, unit)} {_unit(value, unit)}".strip()


def show_estimate(verdict: Verdict) -> str:
    """Our number with half of its interval."""
    if verdict.value is None:
        return "–"
    unit = verdict.claim.unit
    if verdict.interval is None or unit in ("s", "bit/s"):
        text = show(verdict.value, unit)
        if verdict.interval is not None:
            text += f" ± {show((verdict.interval[1] - verdict.interval[0]) / 2, unit)}"
        return text
    half = (verdict.interval[1] - verdict.interval[0]) / 2
    return f"{_number(verdict.value, unit)} ± {_number(half, unit)} {_unit(half, unit)}".strip()


def show_criterion(claim: Claim) -> str:
    """The criterion in signs: `≥ 95.0 %`."""
    if claim.at_least is not None:
        return f"≥ {show(claim.at_least, claim.unit)}"
    if claim.at_most is not None:
        return f"≤ {show(claim.at_most, claim.unit)}"
    if claim.between is not None:
        low, high = claim.between
        return f"{_number(low, claim.unit)} to {show(high, claim.unit)}"
    if claim.equals is None:
        return "–"
    value = show(claim.equals, claim.unit)
    if claim.relative_tolerance is not None:
        return f"{value} ± {100 * claim.relative_tolerance:g} %"
    return f"{value} ± {show(claim.tolerance or 0.0, claim.unit)}"


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.1f}" if abs(value) >= 1e-3 or value == 0 else f"{100 * value:.2g}"
    if unit in ("s", "bit/s"):
        return amount(value, TIME if unit == "s" else RATE).split()[0]
    if value and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def _unit(value: float, unit: str) -> str:
    if unit in ("s", "bit/s"):
        return amount(value, TIME if unit == "s" else RATE).split()[1]
    return unit
