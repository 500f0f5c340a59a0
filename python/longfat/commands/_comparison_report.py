"""A comparison as a table: one column per controller, each number with its confidence interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.commands._console import table
from longfat.units import ABSENT, RATE, ruler, small

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from longfat.study._comparison import Contender
    from longfat.study._statistics import Estimate

_LABEL_WIDTH = 12
_COLUMN_WIDTH = 21


def comparison_tables(found: Sequence[Contender], width: int) -> Iterator[Table]:
    """As many columns per table as `width` characters hold."""
    fitting = max(1, (width - _LABEL_WIDTH) // _COLUMN_WIDTH)
    for first in range(0, len(found), fitting):
        yield _table(found[first : first + fitting])


def _table(found: Sequence[Contender]) -> Table:
    made = table("", *(each.label for each in found))
    size, unit, digits = ruler([each.goodput_bit_s.mean for each in found], RATE)
    made.add_row("goodput", *(_cell(each.goodput_bit_s, size, digits, unit) for each in found))
    made.add_row("utilisation", *(_percent(each.utilisation) for each in found))
    made.add_row("queue mean", *(_percent(each.queue_mean) for each in found))
    made.add_row("queue p99", *(_percent(each.queue_p99) for each in found))
    made.add_row("dropped", *(_small(each.drop_rate) for each in found))
    made.add_row("fairness", *(_cell(each.jain, 1.0, 3, "") for each in found))
    made.add_row("time-outs", *(_cell(each.timeouts, 1.0, 1, "") for each in found))
    return made


def _percent(value: Estimate) -> str:
    return _cell(value, 0.01, 1, "%")


def _cell(value: Estimate, size: float, digits: int, unit: str) -> str:
    if value.mean is None:
        return ABSENT
    mean = f"{value.mean / size:.{digits}f}"
    if value.half_width is not None:
        mean += f" ± {value.half_width / size:.{digits}f}"
    return f"{mean} {unit}".strip()


def _small(value: Estimate) -> str:
    if value.half_width is None or not value.mean:
        return small(value.mean)
    return f"{small(value.mean)} ± {small(value.half_width)}"
