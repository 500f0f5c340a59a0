"""Which points a study has: grids, lists that go together, ranges, samples, and what is left out.

A design is a product of axes. A key of `[vary]` is an axis, and so is each `[[zip]]` and the `[sample]`, whose
entries set several keys at once. Points are made when they are asked for, so that a hundred thousand of them
take no memory.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.errors import StudyError
from longfat.foreign import shown
from longfat.study._expression import POSSIBLE, fault
from longfat.study._values import between, describe, label
from longfat.units import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    import polars as pl

MOST_POINTS = MOST_RUNS = 10_000_000
_SLICE = 65_536


@dataclass(frozen=True)
class Range:
    """Values from one end to the other.

    Attributes:
        low: The first.
        high: The last.
        scale: `linear` or `log`.
    """

    low: Any
    high: Any
    scale: str

    def at(self, share: float | Fraction) -> Any:  # noqa: ANN401 - a number or a text
        """The value at `share`, 0 to 1, of the way."""
        return between(self.low, self.high, share, self.scale)


@dataclass(frozen=True)
class Axis:
    """Keys that vary together.

    Attributes:
        keys: What is set.
        entries: The values of the keys, for each entry.
    """

    keys: tuple[str, ...]
    entries: Sequence[tuple[Any, ...]]


class Drawn:
    """Entries of an axis that are drawn at random, each when it is asked for: the same every time.

    The generator is Python's `random.Random(seed)`, whose `random()` gives the same numbers in every version.
    """

    def __init__(
        self, choices: Sequence[Range | list[Any]], points: int, seed: int, *, hypercube: bool
    ) -> None:
        """Draws the shares, 0 to 1; the values follow from them."""
        generator = random.Random(seed)  # noqa: S311 - it is to be repeatable, not secret
        self._choices = choices
        self._shares = []
        for _ in choices:
            column = np.array([generator.random() for _ in range(points)])
            if hypercube:
                # One in each of as many equal intervals as there are points, in random order.
                order = np.argsort([generator.random() for _ in range(points)], kind="stable")
                column = (order + column) / points
            self._shares.append(column)

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._shares[0])

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        """The values of one entry."""
        return tuple(
            choice.at(float(shares[index]))
            if isinstance(choice, Range)
            else choice[min(int(shares[index] * len(choice)), len(choice) - 1)]
            for choice, shares in zip(self._choices, self._shares, strict=True)
        )


@dataclass
class Design:
    """The points of a study, in order: the first axis changes slowest.

    Attributes:
        axes: What varies.
    """

    axes: Sequence[Axis]
    _kept: np.ndarray[Any, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuses more points than anybody could run.

        Raises:
            StudyError: There are too many.
        """
        self._sizes = [len(axis.entries) for axis in self.axes]
        if math.prod(self._sizes) > MOST_POINTS:
            count = math.prod(self._sizes)
            message = f"{count:,} points are more than {MOST_POINTS:,}: a `[sample]` needs fewer"
            raise StudyError(message)

    @property
    def keys(self) -> tuple[str, ...]:
        """What varies, in the order of the file."""
        return tuple(key for axis in self.axes for key in axis.keys)

    def together(self, key: str) -> tuple[str, ...]:
        """The keys that vary together with one, itself among them."""
        return next((axis.keys for axis in self.axes if key in axis.keys), ())

    def __len__(self) -> int:
        """How many points there are."""
        return math.prod(self._sizes) if self._kept is None else len(self._kept)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The values at one point."""
        rest = int(index if self._kept is None else self._kept[index])
        places = []
        for size in reversed(self._sizes):
            rest, place = divmod(rest, size)
            places.append(place)
        found: dict[str, Any] = {}
        for axis, place in zip(self.axes, reversed(places), strict=True):
            found.update(zip(axis.keys, axis.entries[place], strict=True))
        return found

    def labels(self, index: int) -> dict[str, Any]:
        """The values at one point, as cells of a table."""
        return {key: label(value) for key, value in self[index].items()}

    def frame(self, first: int, last: int) -> pl.DataFrame:
        """The labels of some points, a column for each key."""
        import polars as pl

        rows = [self.labels(index) for index in range(first, last)]
        return pl.DataFrame(
            {key: column([row[key] for row in rows], self.kind(key)) for key in self.keys}
        )

    def kind(self, key: str) -> type:
        """What the column of a key holds: whole numbers, numbers, truth values or texts."""
        if not hasattr(self, "_kinds"):
            self._kinds: dict[str, type] = {}
        if key not in self._kinds:
            axis = next(axis for axis in self.axes if key in axis.keys)
            place = axis.keys.index(key)
            kinds = {type(label(axis.entries[i][place])) for i in range(len(axis.entries))}
            self._kinds[key] = (
                kinds.pop() if len(kinds) == 1 else float if kinds == {int, float} else str
            )
        return self._kinds[key]

    def where(self, conditions: Sequence[str]) -> Design:
        """The points that meet all conditions, which are SQL over the keys as numbers.

        Raises:
            StudyError: A condition cannot be read, or no point meets all of them.
        """
        import polars as pl

        if not conditions:
            return self
        kept: list[np.ndarray[Any, Any]] = []
        for first in range(0, len(self), _SLICE):
            last = min(first + _SLICE, len(self))
            frame = with_numbers(self.frame(first, last), self.keys)
            met = np.ones(last - first, dtype=bool)
            for condition in conditions:
                found = evaluate(frame, condition, "where")
                if found.dtype != pl.Boolean:
                    message = f"`where` is true or false for a point, and `{condition}` is a {found.dtype}"
                    raise StudyError(message)
                met &= found.fill_null(value=False).to_numpy()
            kept.append(np.flatnonzero(met) + first)
        indices = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
        if not len(indices):
            message = f"no point is left: none meets {' and '.join(conditions)}"
            raise StudyError(message)
        return Design(self.axes, indices if self._kept is None else self._kept[indices])

    def check(self) -> None:
        """Refuses points that their labels do not tell apart.

        Raises:
            StudyError: A value is given twice.
        """
        for axis in self.axes:
            if isinstance(axis.entries, Drawn):
                continue
            seen = set()
            for entry in axis.entries:
                told = describe(dict(zip(axis.keys, map(label, entry), strict=True)))
                if told in seen:
                    message = f"{told} is given twice"
                    raise StudyError(message)
                seen.add(told)


def column(values: Sequence[Any], kind: type) -> pl.Series:
    """Labels as a column: numbers if all of them are, otherwise texts."""
    import polars as pl

    types = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}
    if kind is str:
        values = [value if isinstance(value, str) else str(value) for value in values]
    return pl.Series(values, dtype=types[kind], strict=False)


def with_numbers(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The same rows, with quantities as numbers: rates in bit/s, times in seconds, sizes in bytes."""
    import polars as pl

    made = []
    for key in keys:
        if key not in frame.columns or frame[key].dtype != pl.String:
            continue
        known = {text: number_of(text) for text in frame[key].unique().to_list()}
        # Seconds are not compared with packets: such a column stays as it is written.
        kinds = {None if number is None else number[1] for number in known.values()}
        if len(kinds) == 1 and None not in kinds:
            values = {text: number[0] for text, number in known.items() if number is not None}
            made.append(pl.col(key).replace_strict(values, return_dtype=pl.Float64))
    return frame.with_columns(made)


def evaluate(frame: pl.DataFrame, expression: str, what: str) -> pl.Series:
    """An SQL expression over the columns of a frame, in double quotes.

    Raises:
        StudyError: It cannot be read, or names a column that is not there.
    """
    import polars as pl

    read = read_expression(expression, what)
    try:
        found = frame.select(read.alias("value"))["value"]
    except (pl.exceptions.PolarsError, ValueError) as error:
        message = f"`{what}`: `{expression}` cannot be computed: {_first_line(error)}; " + _near(
            expression, frame.columns
        )
        raise StudyError(message) from error
    return found if len(found) == len(frame) else pl.Series([found[0]] * len(frame))


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def read_expression(expression: str, what: str) -> pl.Expr:
    """An SQL expression over columns in double quotes.

    Raises:
        StudyError: It cannot be read, or is more than an expression.
    """
    import polars as pl

    if wrong := fault(expression):
        message = f"`{what}`: `{shown(expression)}` is not possible: {shown(wrong)}; {POSSIBLE}"
        raise StudyError(message)
    try:
        return pl.sql_expr(expression)
    except (pl.exceptions.PolarsError, ValueError) as error:
        message = (
            f"`{what}`: `{expression}` cannot be read: {_first_line(error)}; "
            "it is SQL over names in double quotes"
        )
        raise StudyError(message) from error


def quoted(expression: str) -> list[str]:
    """The names in an expression, in double quotes."""
    return list(dict.fromkeys(re.findall(r'"([^"]+)"', expression)))


def _near(expression: str, names: Sequence[str]) -> str:
    """What a misspelt name was probably meant to be, or what there is."""
    from difflib import get_close_matches

    for name in quoted(expression):
        if name not in names:
            near = get_close_matches(name, names, n=1)
            return f'did you mean "{near[0]}"?' if near else f'there is no "{name}"'
    return "it is SQL over names in double quotes"


def axes_of(
    vary: Mapping[str, Any],
    zipped: Sequence[Mapping[str, Sequence[Any]]],
    sample: tuple[Mapping[str, Any], int, int, bool] | None,
) -> Iterator[Axis]:
    """The axes of a file: its `[vary]`, each `[[zip]]`, and its `[sample]`: keys, points, seed, hypercube."""
    for key, values in vary.items():
        yield Axis((key,), [(value,) for value in values])
    for together in zipped:
        yield Axis(tuple(together), list(zip(*together.values(), strict=True)))
    if sample is not None:
        choices, points, seed, hypercube = sample
        drawn = Drawn(list(choices.values()), points, seed, hypercube=hypercube)
        yield Axis(tuple(choices), drawn)  # type: ignore[arg-type]
