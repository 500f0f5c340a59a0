"""The mean over seeds, and its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Interval = Literal["student", "bootstrap"]
"""How intervals are computed: by Student's t, or by resampling the values."""

_CONFIDENCE = 0.95
_SQUARABLE = 1e-100, 1e100
_RESAMPLES = 9999


@dataclass(frozen=True)
class Estimate:
    """A mean over independent runs.

    Attributes:
        mean: The mean; `None` where no run has a value.
        half_width: Half the width of the 95 % confidence interval: the truth lies within
            `mean ± half_width` in 95 of 100 such experiments. `None` with fewer than two values.
        n: The number of values.
    """

    mean: float | None
    half_width: float | None
    n: int


def estimate(values: Iterable[float | None], interval: Interval = "student") -> Estimate:
    """The mean and its 95 % confidence interval, by Student's t or by bootstrap; absent values are left out.

    Both are NaN if a value is infinite or NaN.

    >>> estimate([1.0, 2.0, 3.0])
    Estimate(mean=2.0, half_width=2.484137711..., n=3)
    """
    known = [value for value in values if value is not None]
    n = len(known)
    if n == 0:
        return Estimate(None, None, 0)
    if not all(map(math.isfinite, known)):
        return Estimate(math.nan, None if n == 1 else math.nan, n)
    if n > 1 and min(known) == max(known):
        # The sum of equal numbers may be rounded, and they would differ from it.
        return Estimate(float(known[0]), 0.0, n)
    known, exponent = squarable(known)
    mean = math.fsum(known) / n
    if interval == "bootstrap":
        half_width = bootstrap(known)
    elif n == 1:
        half_width = None
    else:
        variance = math.fsum((value - mean) ** 2 for value in known) / (n - 1)
        half_width = t_quantile(n - 1) * math.sqrt(variance / n)
    return Estimate(
        _times(mean, exponent), None if half_width is None else _times(half_width, exponent), n
    )


def squarable(values: Sequence[float]) -> tuple[list[float], int]:
    """The values over a power of two, where their squares would overflow or vanish; and its exponent.

    A power of two changes no digit, so that whatever does not depend on the scale stays what it is. Values
    that are not finite stay as they are.

    >>> squarable([3.0, 1.0]), squarable([1.5e300, 0.0])[0]
    (([3.0, 1.0], 0), [0.5..., 0.0])
    """
    largest = max(map(abs, values), default=0.0)
    if not 0 < largest < math.inf or _SQUARABLE[0] <= largest <= _SQUARABLE[1]:
        return list(values), 0
    exponent = math.frexp(largest)[1]
    return [math.ldexp(value, -exponent) for value in values], exponent


def _times(value: float, exponent: int) -> float:
    """The value times a power of two; infinite where that is too large."""
    half = exponent // 2
    return value * 2.0**half * 2.0 ** (exponent - half)


@lru_cache(maxsize=4096)
def t_quantile(freedom: int, confidence: float = _CONFIDENCE) -> float:
    """The t with which Student's distribution has `confidence` of its mass in [-t, t].

    For whole degrees of freedom the mass is a finite sum in the angle atan(t / sqrt(freedom))
    (Abramowitz and Stegun, equations 26.7.3 and 26.7.4), which bisection inverts to the last bit. Among
    libraries only scipy has it, at a hundred megabytes and half a second of import time.

    >>> round(t_quantile(2), 3), round(t_quantile(30), 3)
    (4.303, 2.042)
    """
    if freedom < 1:
        message = f"at least one degree of freedom is needed, not {freedom}"
        raise ValueError(message)
    low, high = 0.0, math.pi / 2
    while True:
        angle = (low + high) / 2
        if angle in (low, high):
            return math.sqrt(freedom) * math.tan(angle)
        if _mass(angle, freedom) < confidence:
            low = angle
        else:
            high = angle


def t_probability(t: float, freedom: int) -> float:
    """The probability that Student's t is as far from zero as `t`, on either side.

    >>> round(t_probability(4.303, 2), 3), t_probability(0.0, 5)
    (0.05, 1.0)
    """
    if math.isinf(t):
        return 0.0
    return min(1.0, max(0.0, 1.0 - _mass(math.atan(abs(t) / math.sqrt(freedom)), freedom)))


def bootstrap(values: Sequence[float], confidence: float = _CONFIDENCE) -> float | None:
    """Half the width of the bias-corrected and accelerated bootstrap interval of the mean (Efron 1987).

    It takes 9999 resamples by a generator of its own, so that the same values have the same interval.

    Raises:
        ImportError: scipy is not installed.
    """
    if len(values) < 2:  # noqa: PLR2004 - one value says nothing about the spread
        return None
    if min(values) == max(values):
        return 0.0
    try:
        from scipy import stats
    except ImportError as error:
        message = "bootstrap intervals need scipy, which is not installed: pip install scipy"
        raise ImportError(message) from error
    import numpy as np

    found = stats.bootstrap(
        (np.array(values),),
        np.mean,
        confidence_level=confidence,
        n_resamples=_RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(_RESAMPLES),
    ).confidence_interval
    return float(found.high - found.low) / 2


def corrected(probabilities: Sequence[float], correction: str) -> list[float]:
    """Probabilities of many comparisons, so that the chance of a single false finding stays what it says.

    >>> corrected([0.01, 0.04, 0.03], "holm"), corrected([0.01, 0.04, 0.5], "bonferroni")
    ([0.03, 0.06, 0.06], [0.03, 0.12, 1.0])

    Args:
        probabilities: One for each comparison.
        correction: `bonferroni` multiplies each by their number; `holm` (Holm 1979), which never finds less,
            the smallest by their number, the next by one less, and so on.
    """
    count = len(probabilities)
    if correction == "bonferroni":
        return [min(1.0, count * probability) for probability in probabilities]
    found = [1.0] * count
    largest = 0.0
    order = sorted(range(count), key=lambda index: probabilities[index])
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (count - rank) * probabilities[index]))
        found[index] = largest
    return found


def _mass(angle: float, freedom: int) -> float:
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2 == 1
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= k / (k + 1) * cosine * cosine
    return (angle + sine * total) * 2 / math.pi if odd else sine * total
