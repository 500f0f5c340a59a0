"""Values that vary: what they are as numbers, what lies between two of them, and how people read them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from longfat._longfat import quantity
from longfat.scenario import toml_value
from longfat.units import KINDS, SIZE, number_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.units import Kind

_UNITS = {
    "rate": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "time": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "size": SIZE,
}
_LEAST = {
    "rate": (1.0, "bit/s", "a bit per second"),
    "time": (1e12, "ps", "a picosecond"),
    "size": (1.0, "B", "a byte"),
}
"""The least that scenarios tell apart: how many make one of what `number_of` counts, its unit, and in words."""
_DIGITS = 6
_OF_RANGE = 3
"""As many digits of the length of a range, at least."""
_MOST_DIGITS = 17
_EXACT = 2**53
"""Beyond this a float does not tell whole numbers apart."""


def between(low: object, high: object, share: float | Fraction, scale: str) -> Any:  # noqa: ANN401 - a number or a text
    """What lies at `share`, 0 to 1, of the way from one value to another, on a `linear` or `log` scale.

    Whole numbers stay whole; quantities keep their unit. Ends are as given. What lies between them has six
    digits, or as many as tell a thousandth of the range, and does not leave it; nor is it finer than a bit
    per second, a picosecond or a byte.

    >>> between("10 Mbit/s", "1 Gbit/s", 0.5, "log"), between(1, 1000, 1 / 3, "log")
    ('100 Mbit/s', 10)
    >>> between(0, 2**60 + 2, Fraction(1, 2), "linear") - 2**59
    1
    >>> between(0.99999991, 0.99999999, 0.5, "linear")
    0.99999995

    Raises:
        ValueError: One of them is no number, they count different things, or a logarithm does not exist.
    """
    start, end, kind = _ends(low, high, scale)
    if isinstance(low, int) and isinstance(high, int) and max(abs(low), abs(high)) > _EXACT:
        return _exact(low, high, share, scale)
    share = float(share)
    if scale == "log":
        found = 10 ** (math.log10(start) + share * (math.log10(end) - math.log10(start)))
    else:
        found = start + share * (end - start)
    made = _made(found, kind, low, high, _digits(start, end))
    number, _ = cast("tuple[float, str]", number_of(made))
    said = {0.0: low, 1.0: high}.get(share, made)
    if not min(start, end) <= number <= max(start, end):
        said = low if abs(number - start) <= abs(number - end) else high
    return made if number_of(made) == number_of(said) else said


def _ends(low: object, high: object, scale: str) -> tuple[float, float, str]:
    """The ends of a range as numbers, and what they count; raises `ValueError` if they are none."""
    first, last = number_of(low), number_of(high)
    if first is None or last is None:
        wrong = low if first is None else high
        message = f"{toml_value(wrong)} is neither a number nor a quantity"
        raise ValueError(message)
    for value, (_, unit) in ((low, first), (high, last)):
        one = None if unit in KINDS else number_of(f"1 {unit}")
        if one is not None and one[1] in KINDS:
            _refuse(value, one[1])
    if first[1] != last[1]:
        message = f"{toml_value(low)} and {toml_value(high)} do not count the same"
        raise ValueError(message)
    start, end, kind = first[0], last[0], first[1]
    if not (math.isfinite(start) and math.isfinite(end)):
        message = "a range needs two ends that are finite numbers"
        raise ValueError(message)
    if scale == "log" and (start <= 0 or end <= 0):
        message = (
            f"a logarithmic scale needs ends above 0, not {toml_value(low if start <= 0 else high)}"
        )
        raise ValueError(message)
    return start, end, kind


def _exact(low: int, high: int, share: float | Fraction, scale: str) -> int:
    """What lies between two whole numbers that a float does not hold; on a logarithmic scale nearly."""
    if share in (0, 1):
        return high if share else low
    found: int
    if scale == "log":
        found = round(low * (high / low) ** float(share))
    else:
        found = low + round((high - low) * Fraction(share))
    return max(min(found, max(low, high)), min(low, high))


def _refuse(value: object, kind: Kind) -> None:
    """Raises `ValueError`: with a unit of this kind it is none that scenarios can have."""
    try:
        quantity(kind, str(value))
    except ValueError as error:
        least = f": {_LEAST[kind][2]} is the least" if "finer" in str(error) else ""
        message = f"{error}{least}"
        raise ValueError(message) from None


def _digits(start: float, end: float) -> int:
    """How many digits what lies between two numbers has."""
    largest, length = max(abs(start), abs(end)), abs(end - start)
    if not 0 < length < math.inf:
        return _DIGITS
    lost = math.log10(largest) - math.log10(length)
    return min(max(_DIGITS, _OF_RANGE + math.ceil(lost)), _MOST_DIGITS)


def _made(found: float, kind: str, low: object, high: object, digits: int) -> int | float | str:
    """A number between two values as they are: whole, plain, or with a unit."""
    if isinstance(low, int) and isinstance(high, int):
        return round(found)
    if not kind:
        return float(f"{found:.{digits}g}")
    size, unit = 1.0, kind
    if kind in KINDS:
        own = {unit_of(low), unit_of(high)}
        size, unit = _suitable(found, kind)
        if len(own) == 1:
            unit = own.pop()
            size = cast("tuple[float, str]", number_of(f"1 {unit}"))[0]
    made = f"{_plain(found / size, digits)} {unit}"
    if kind in KINDS and cast("tuple[float, str]", number_of(made))[1] != kind:
        made = _whole(found, kind, unit)
    return made


def _whole(found: float, kind: Kind, unit: str) -> str:
    """A quantity that scenarios can have: of a whole number of bits per second, picoseconds or bytes."""
    count, base, _ = _LEAST[kind]
    whole = round(found * count)
    made = f"{_plain_decimal(Decimal(whole) / quantity(kind, f'1 {unit}'))} {unit}"
    known = cast("tuple[float, str]", number_of(made))
    return made if known == number_of(f"{whole} {base}") else f"{whole} {base}"


def label(value: object) -> Any:  # noqa: ANN401 - a plain value
    """A value as a cell of a table: plain values as they are, tables and lists in one line.

    >>> label({"kind": "exp", "gamma": 0.1}), label("1 bdp")
    ('exp, gamma = 0.1', '1 bdp')
    """
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        rest = [f"{key} = {_word(entry)}" for key, entry in value.items() if key != "kind"]
        return ", ".join([str(value["kind"]), *rest] if "kind" in value else rest)
    return toml_value(value)


def describe(labels: Mapping[str, Any]) -> str:
    """A point in words.

    >>> describe({"flow.forward.control": "exp", "seed": 3})
    'flow.forward.control = exp, seed = 3'
    """
    return ", ".join(f"{name} = {value}" for name, value in labels.items())


def _word(value: object) -> str:
    return value if isinstance(value, str) else toml_value(value)


def _suitable(value: float, kind: str) -> tuple[float, str]:
    """The largest unit in which a value is one at least."""
    units = _UNITS[kind]
    return next((each for each in units if abs(value) >= each[0] * (1 - 1e-9)), units[-1])


def _plain(number: float, digits: int) -> str:
    """A number to so many digits, without an exponent."""
    return _plain_decimal(Decimal(f"{number:.{digits}g}"))


def _plain_decimal(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
