"""A comparison as a table: one column per controller, each number with its confidence interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from longfat.tables import TextTable
from longfat.units import ABSENT, LASTING, PLAIN, RATE, SHARE, TIME, Units, ruler, small

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.study._statistics import Estimate


class Numbered(Protocol):
    """What has numbers over several seeds."""

    @property
    def label(self) -> str:
        """What people call it."""

    @property
    def numbers(self) -> Mapping[str, Estimate]:
        """Its numbers by name."""


_ROWS: tuple[tuple[str, str, Units], ...] = (
    ("goodput", "goodput_bit_s", RATE),
    ("utilisation", "utilisation", SHARE),
    ("queue mean", "queue_mean", SHARE),
    ("queueing mean", "queue_mean_s", TIME),
    ("queue p99", "queue_p99", SHARE),
    ("queueing p99", "queue_p99_s", TIME),
    ("dropped", "drop_rate", ()),
    ("fairness", "jain", PLAIN),
    ("time-outs", "timeouts", PLAIN),
    ("time for 1 TB", "terabyte_s", LASTING),
)
"""What the rows are called, what they hold, and in which units; none for probabilities."""


def comparison_table(found: Sequence[Numbered], queues: Sequence[str] = ()) -> TextTable:
    """A column for each, with a row for each number, below one for their `queues` if there are any."""
    made = TextTable(("", *(each.label for each in found)))
    if queues:
        made.add("queue", *queues)
    for name, key, units in _ROWS:
        made.add(name, *_cells([each.numbers[key] for each in found], key, units))
    return made


def _cells(values: Sequence[Estimate], key: str, units: Units) -> list[str]:
    if not units:
        return [_probability(value) for value in values]
    size, unit, digits = ruler([value.mean for value in values], units)
    digits = {"jain": 3, "timeouts": 1}.get(key, 1 if units is SHARE else digits)
    return [with_interval(value, size, digits, unit) for value in values]


def with_interval(value: Estimate, size: float, digits: int, unit: str) -> str:
    """A mean and half of its interval, in one unit."""
    if value.mean is None:
        return ABSENT
    mean = f"{value.mean / size:,.{digits}f}"
    if value.half_width is not None:
        mean += f" ± {value.half_width / size:,.{digits}f}"
    return f"{mean} {unit}".strip()


def _probability(value: Estimate) -> str:
    if value.half_width is None or not value.mean:
        return small(value.mean)
    return f"{small(value.mean)} ± {small(value.half_width)}"
