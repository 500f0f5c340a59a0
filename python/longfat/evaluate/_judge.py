"""Verdicts: a value against a number, and against that of an incumbent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from longfat.study import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longfat.evaluate.cells._cell import Measure

Judged = Literal["pass", "fail", "undecided"]
Compared = Literal["better", "as good", "worse", "undecided"]
Overall = Literal["better", "as good", "worse", "mixed", "undecided"]

_EXACT = 1e-12


def judged(value: Estimate, measure: Measure) -> Judged | None:
    """Whether the 95 % interval of a value lies on the side of a threshold that passes.

    Returns:
        `pass` if all of it does, `fail` if none of it does, `undecided` in between, and for a single run;
        `None` where no source states a number.
    """
    if not measure.has_threshold:
        return None
    if value.mean is None or value.half_width is None:
        return "undecided"
    least, most = value.mean - value.half_width, value.mean + value.half_width
    verdicts = set()
    if measure.at_least is not None:
        verdicts.add(_side(least >= measure.at_least, most < measure.at_least))
    if measure.at_most is not None:
        verdicts.add(_side(most <= measure.at_most, least > measure.at_most))
    return next(verdict for verdict in _SEVEREST if verdict in verdicts)


_SEVEREST: tuple[Judged, ...] = ("fail", "undecided", "pass")


def _side(passes: bool, fails: bool) -> Judged:  # noqa: FBT001 - both halves of one question
    return "pass" if passes else "fail" if fails else "undecided"


def compared(
    ours: Sequence[float | None], theirs: Sequence[float | None], measure: Measure
) -> tuple[Compared, Estimate]:
    """Our values against theirs, seed by seed.

    With the same seed both had the same luck, so the differences are taken seed by seed, and luck cancels out.

    Args:
        ours: Our value for each seed.
        theirs: Theirs, in the same order.
        measure: What is compared; it says which direction is better, and which difference matters.

    Returns:
        The verdict, and the mean difference with its 95 % interval. `better` and `worse` if the interval
        does not hold zero and the mean difference matters; `as good` if no value in the interval matters;
        otherwise `undecided`.
    """
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
    found = estimate(a - b for a, b in pairs)
    if found.mean is None or found.half_width is None:
        return "undecided", found
    matters = measure.least_difference(sum(b for _, b in pairs) / len(pairs))
    least, most = found.mean - found.half_width, found.mean + found.half_width
    if max(abs(least), abs(most)) <= matters + _EXACT:
        return "as good", found
    if (least > 0 or most < 0) and abs(found.mean) >= matters:
        return ("better" if (found.mean > 0) == (measure.better == "more") else "worse"), found
    return "undecided", found


def overall(verdicts: Iterable[Compared]) -> Overall:
    """What the measures of a cell say together.

    `mixed` if some are better and others worse; `better` or `worse` if some are and none is the opposite.

    >>> overall(["better", "undecided"]), overall(["better", "worse"]), overall(["as good", "undecided"])
    ('better', 'mixed', 'undecided')
    """
    found = set(verdicts)
    if {"better", "worse"} <= found:
        return "mixed"
    for verdict in ("better", "worse", "undecided", "as good"):
        if verdict in found:
            return verdict
    return "undecided"
