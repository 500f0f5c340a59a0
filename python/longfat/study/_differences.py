"""Differences between settings, paired by seed: the same luck for both, so that luck cancels out."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

from longfat.errors import StudyError
from longfat.study._statistics import (
    Interval,
    corrected,
    estimate,
    squarable,
    t_probability,
)
from longfat.study._values import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

SIGNIFICANT = 0.05
SAME = "the same"
UNTOLD = "not enough seeds to tell"


def differences(
    rows: pl.DataFrame,
    keys: Sequence[str],
    of: str,
    between: str,
    *,
    tied: Sequence[str] = (),
    to: object = None,
    correction: str = "holm",
    interval: Interval = "student",
) -> pl.DataFrame:
    """Compares the values of a key, at every setting of the other keys.

    Args:
        rows: A row for each run.
        keys: What varies.
        tied: Keys that vary together with `between`: they are no other setting.
        of: The number.
        between: The key whose values are compared.
        to: Compare all others to this value; by default each is compared with each.
        correction: `holm` or `bonferroni`: for the number of comparisons, all settings together.
        interval: Of the mean difference.

    Returns:
        The other keys; `number`; `first` and `second`; `difference`, the mean over the seeds that both have of
        the second less the first; `half_width` of its 95 % interval, of this comparison alone; `n`; `p`, by
        Student's t for paired values; `p_corrected`; `comparisons` and `correction`; and `verdict`: `greater`,
        `less` or `not enough seeds to tell`; or `the same`, where no seed makes a difference.

    Raises:
        StudyError: There is no such number, key or value.
    """
    import polars as pl

    _check(rows, keys, of, between)
    values = list(dict.fromkeys(rows[between].to_list()))
    base = None if to is None else label(to)
    if base is not None and base not in values:
        message = f"`{between}` has no value {base!r}: there are {', '.join(map(str, values))}"
        raise StudyError(message)
    pairs = (
        list(combinations(values, 2))
        if base is None
        else [(base, value) for value in values if value != base]
    )
    others = [key for key in keys if key != between and key not in tied]
    found: list[dict[str, Any]] = []
    groups = rows.group_by(others, maintain_order=True) if others else [((), rows)]
    for place, group in groups:
        there = set(group[between].to_list())
        by_value: dict[Any, dict[int, float]] = {}
        for value, seed, number in group.select(between, "seed", of).iter_rows():
            if number is not None:
                by_value.setdefault(value, {})[seed] = number
        for first, second in pairs:
            if not {first, second} <= there:  # left out by `where`
                continue
            one, other = by_value.get(first, {}), by_value.get(second, {})
            paired = [other[seed] - one[seed] for seed in one if seed in other]
            mean = estimate(paired, interval)
            found.append(
                dict(zip(others, place, strict=True))
                | {"number": of, "first": first, "second": second}
                | {"difference": mean.mean, "half_width": mean.half_width, "n": mean.n}
                | {"p": _probability(paired), "same": not any(paired)}
            )
    if not found:
        message = f"nothing to compare: no two values of `{between}` meet at one setting of the other keys"
        raise StudyError(message)
    told = [row["p"] for row in found if row["p"] is not None]
    adjusted = iter(corrected(told, correction))
    for row in found:
        row["p_corrected"] = None if row["p"] is None else next(adjusted)
        row["comparisons"], row["correction"] = len(told), correction
        row["verdict"] = _verdict(row)
    return pl.DataFrame(found, infer_schema_length=None).drop("same")


def _check(rows: pl.DataFrame, keys: Sequence[str], of: str, between: str) -> None:
    from difflib import get_close_matches

    for name, known, what in (
        (between, list(keys), "nothing varies"),
        (of, [each for each in rows.columns if each not in keys], "there is no number"),
    ):
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
            message = f"{what} called `{name}`: {hint}"
            raise StudyError(message)


def _probability(paired: Sequence[float]) -> float | None:
    """How probable so large a mean difference were if there was none; `None` if that is unknown."""
    n = len(paired)
    # One pair says nothing about the spread, and what is infinite or no number nothing at all.
    if n < 2 or not all(map(math.isfinite, paired)):  # noqa: PLR2004
        return None
    paired, _ = squarable(paired)
    mean = math.fsum(paired) / n
    variance = math.fsum((value - mean) ** 2 for value in paired) / (n - 1)
    if variance == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return t_probability(mean / math.sqrt(variance / n), n - 1)


def _verdict(row: dict[str, Any]) -> str:
    if row["n"] and row["same"]:
        return SAME
    if row["p_corrected"] is None or row["p_corrected"] >= SIGNIFICANT:
        return UNTOLD
    return "greater" if row["difference"] > 0 else "less"
