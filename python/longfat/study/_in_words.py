"""What a finished study found, as a table of texts, and what its numbers cannot say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from longfat.study._numbers import headings
from longfat.tables import TextTable
from longfat.units import ABSENT, PLAIN, plural, ruler, small, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from longfat.study._file import Plot, StudyFile

_MOST_NUMBERS = 6
_PLAINEST = (".goodput_bit_s", ".forward.utilisation")

_LEAST, _MOST = 1e-2, 1e6
"""Plain numbers below would show hardly more than zeros; those above have more digits than can be read."""


class Found(Protocol):
    """What is asked of a study, a `longfat.study.Study`."""

    @property
    def file(self) -> StudyFile: ...
    @property
    def keys(self) -> Sequence[str]: ...
    @property
    def numbers(self) -> Sequence[str]: ...
    @property
    def plots(self) -> Sequence[Plot]: ...
    def table(self, *numbers: str) -> pl.DataFrame: ...
    def differences(
        self, of: str, between: str, *, to: object = None, correction: str = "holm"
    ) -> pl.DataFrame: ...


def asked(found: Found) -> list[str]:
    """The numbers that the study asks about, six at most; if it asks for none, goodputs and utilisations."""
    names = [plot.y for plot in found.plots] + [each.of for each in found.file.compare]
    names = [*names, *found.file.derive] or [
        name for ending in _PLAINEST for name in found.numbers if name.endswith(ending)
    ]
    names = list(dict.fromkeys(names))[:_MOST_NUMBERS]
    return [name for name in names if name in found.numbers]


def means(found: Found, most: int) -> TextTable:
    """The numbers that the study asks about, at each point; a last row says what `most` rows leave out."""
    names = asked(found)
    table = found.table(*names)
    heads = (*found.keys, *headings(names), "seeds")
    columns = [aligned(name, table) for name in names]
    counts = table[f"{names[0]}_n"].to_list() if names else []
    made = TextTable(heads, words=len(found.keys))
    for index, row in enumerate(table.head(most).rows(named=True)):
        keys = (str(row[key]) for key in found.keys)
        cells = (column[index] for column in columns)
        made.add(*keys, *cells, str(counts[index]) if counts else "")
    if len(table) > most:
        made.add(f"… {len(table) - most:,} more in table.csv", *[""] * (len(heads) - 1))
    return made


def aligned(name: str, table: pl.DataFrame) -> list[str]:
    """A column of means with their intervals."""
    values = table[name].to_list()
    halves = table[f"{name}_half_width"].to_list()
    units = units_of(name) or PLAIN
    found = []
    for value, half in zip(values, halves, strict=True):
        if value is None:
            found.append(ABSENT)
            continue
        size, unit, decimals = ruler([value], units)
        if not unit and not _LEAST <= abs(value) < _MOST and math.isfinite(value):
            text = small(value, 2)
            spread = f" ± {small(half)}" if half else ""
        else:
            text = f"{value / size:.{decimals}f}"
            spread = "" if half is None else f" ± {half / size:.{decimals}f}"
        found.append(f"{text}{spread} {unit}".rstrip())
    return found


def doubts(found: Found) -> list[str]:
    """What the numbers cannot say, said aloud."""
    import polars as pl

    from longfat.study._differences import UNTOLD

    said: dict[str, list[str]] = {}
    drawn = [plot.y for plot in found.plots if plot.y in found.numbers] or asked(found)
    for name in dict.fromkeys(drawn):
        table = found.table(name)
        single = int(((table[f"{name}_n"] < 2) & (table[f"{name}_n"] > 0)).sum())  # noqa: PLR2004
        if single:
            doubt = f"one value at {plural(single, 'point')}, so no interval there"
            said.setdefault(doubt, []).append(name)
        same = table.filter((pl.col(f"{name}_half_width") == 0) & (pl.col(f"{name}_n") > 1))
        if len(same):
            doubt = f"all seeds give the same at {plural(len(same), 'point')}, so ± 0 says nothing there"
            said.setdefault(doubt, []).append(name)
    lines = [f"{', '.join(names)}: {doubt}" for doubt, names in said.items()]
    lines += [
        f"{name}: no finite number in some runs at {plural(points, 'point')}, so no mean there"
        for name in found.file.derive
        if name in found.numbers and (points := int(found.table(name)[name].is_nan().sum()))
    ]
    for each in found.file.compare:
        told = found.differences(each.of, each.between, to=each.to, correction=each.correction)
        untold = int((told["verdict"] == UNTOLD).sum())
        named = each.correction.capitalize()
        lines.append(
            f"{each.of} between values of {each.between}: {plural(len(told), 'comparison')}, paired by seed, "
            f"corrected by {named}; {UNTOLD} in {untold:,} of them (differences.csv)"
        )
    return lines
