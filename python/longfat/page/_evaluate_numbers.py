"""The numbers of a cell of an evaluation, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.page._evaluate_json import Estimate
from longfat.paper._verdict import show, show_number
from longfat.tables import TextTable
from longfat.units import ABSENT, small

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.page._evaluate_json import Cell, Evaluation, Measure


def numbers(found: Evaluation, cell: Cell) -> TextTable:
    """The measures: of the subject, of each incumbent, what is asked, and what differs."""
    others = [
        name for name in found.against if any(name in each.incumbents for each in cell.measures)
    ]
    asked = any(each.threshold is not None for each in cell.measures)
    heads = ("measure", found.subject.name, *(("asked",) if asked else ()), *others)
    rows: list[Sequence[str]] = []
    for each in cell.measures:
        sense = {"more": " (more is better)", "less": " (less is better)"}.get(
            each.better or "", ""
        )
        row = [f"{each.title}{sense}", _value(each.value, each)]
        if asked:
            row.append(_asked(each))
        for name in others:
            value = _value(each.incumbents.get(name, Estimate()), each)
            verdict = each.against[name].verdict if name in each.against else ""
            row.append(f"{value}\n{verdict}" if verdict else value)
        rows.append(tuple(row))
    return TextTable(heads, rows=rows)


def _value(value: Estimate, measure: Measure) -> str:
    """A mean with half of its interval."""
    if value.mean is None:
        return ABSENT
    if measure.censored is not None and value.mean >= measure.censored * (1 - 1e-9):
        return f"more than {show(measure.censored, measure.unit)}"
    if measure.unit == "probability":
        return _probability(value.mean, value.half)
    if not value.mean and not value.half:
        return "0"
    interval = None if value.half is None else (value.mean - value.half, value.mean + value.half)
    return show_number(value.mean, interval, measure.unit)


def _probability(mean: float, half: float | None) -> str:
    """A small share with half of its interval, both to the same power of ten.

    >>> _probability(2.2e-4, 3.6e-5), _probability(2.2e-4, 1e-9), _probability(0.0, 0.0)
    ('2.2e-4 ± 0.4e-4', '2.2e-4 ± 0.0e-4', '0 ± 0')
    """
    if half is None:
        return small(mean)
    if not mean:
        return f"0 ± {small(half)}"
    power = math.floor(math.log10(float(f"{abs(mean):.1e}")))
    return f"{small(mean)} ± {half / 10.0**power:.1f}e{power}"


def _asked(measure: Measure) -> str:
    """What a source asks for, and whether it is met."""
    if measure.threshold is None:
        return ""
    unit = "" if measure.unit == "probability" else measure.unit
    signs = (("≥", measure.threshold.at_least), ("≤", measure.threshold.at_most))
    told = [f"{sign} {show(bound, unit)}" for sign, bound in signs if bound is not None]
    return "\n".join([" and ".join(told), *([measure.judged] if measure.judged else [])])
