"""Numbers as people read them: three digits, a unit, and columns with their decimals lined up."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal

from longfat import _longfat

if TYPE_CHECKING:
    from collections.abc import Sequence

Units = tuple[tuple[float, str], ...]
"""Units from large to small, each with its size in the basic one."""

RATE: Units = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
TIME: Units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
SIZE: Units = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
LASTING: Units = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), *TIME)
SHARE: Units = ((0.01, "%"),)
PLAIN: Units = ((1.0, ""),)
COUNT: Units = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))

SECTIONS = ("links", "flows", "applications", "traffic", "jain", "engine")
"""The parts of a summary, in the order of tables: the names of the numbers of a run begin with them."""

STATISTICS = ("mean", "p50", "p90", "p99")
"""What is known of times that differ from one transfer to the next; the name of the time stands before it."""

Kind = Literal["rate", "time", "size"]
KINDS: tuple[Kind, ...] = ("rate", "time", "size")
"""What quantities of a scenario count."""

ABSENT = "–"
_DIGITS = 3
_MOST_NAMED = 12
_NOTHING = 1e-15
"""No probability of a packet is as small: rounding is."""
_QUANTITY = re.compile(
    r"\s*([-+]?(?:(?:\d{1,3}(?:_\d{3})+|\d+)\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s_].*?)\s*"
)


def amount(value: float | None, units: Units) -> str:
    """A quantity to three digits.

    >>> amount(48_230_000, RATE), amount(0.04, TIME)
    ('48.2 Mbit/s', '40 ms')
    """
    return ABSENT if value is None else " ".join(parts(value, units)).strip()


def spaced(text: str) -> str:
    """A time as it is shown elsewhere, if three digits hold all of it; otherwise as it is written.

    >>> spaced("5s"), spaced("1250 ms"), spaced("1234567 us")
    ('5 s', '1.25 s', '1234567 us')
    """
    number = number_of(text)
    told = text if number is None else amount(number[0], TIME)
    return told if number_of(told) == number else text


def parts(value: float, units: Units) -> tuple[str, str]:
    """A quantity to three digits: the number and the unit.

    >>> parts(48_230_000, RATE)
    ('48.2', 'Mbit/s')
    """
    size, unit, decimals = ruler([value], units)
    number = f"{value / size:.{decimals}f}"
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number, unit


def aligned(values: Sequence[float | None], units: Units) -> list[str]:
    """A column of quantities in one unit, with the decimals that suit the largest value.

    If that left some value with fewer than two digits, each gets a unit of its own.

    >>> aligned([48_230_000, 1_500_000, None], RATE)
    ['48.2 Mbit/s', '1.5 Mbit/s', '–']
    >>> aligned([2e9, 3e6], RATE)
    ['2 Gbit/s', '3 Mbit/s']
    """
    size, unit, decimals = ruler(values, units)
    least = min((abs(value) for value in values if value), default=size)
    if round(least / size, decimals) < 10 ** (1 - decimals):
        return [amount(value, units) for value in values]
    return [
        ABSENT if value is None else f"{value / size:.{decimals}f} {unit}".strip()
        for value in values
    ]


def units_of(name: str) -> Units | None:
    """The units of a number of a run, by what its name ends with; `None` where it has none.

    >>> units_of("flows.a.goodput_bit_s") is RATE, units_of("traffic.web.completion_s.p99") is TIME
    (True, True)
    """
    place, _, last = name.rpartition(".")
    of = place if last in STATISTICS else name
    return RATE if of.endswith("_bit_s") else TIME if of.endswith("_s") else None


def ruler(values: Sequence[float | None], units: Units) -> tuple[float, str, int]:
    """The unit that suits the largest value: its size, its name, and the decimals for three digits."""
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(known, default=0.0)
    # 999.7 would round to four digits, so it takes the next unit.
    size, unit = next(
        ((size, unit) for size, unit in units if largest >= size * (1 - 0.5 * 10**-_DIGITS)),
        units[-1],
    )
    if largest == 0.0:
        return size, unit, 0
    whole = math.floor(math.log10(largest / size * (1 + 0.5 * 10**-_DIGITS))) + 1
    return size, unit, max(0, _DIGITS - max(whole, 1))


def percent(value: float | None) -> str:
    """A share.

    >>> percent(0.9984), percent(None)
    ('99.8 %', '–')
    """
    return ABSENT if value is None else f"{100 * value:.1f} %"


def small(value: float | None, decimals: int = 1) -> str:
    """A probability, however small, with so many decimals.

    What is left of a zero by rounding is one.

    >>> small(0.000123), small(0.0), small(4.2e-17), small(None)
    ('1.2e-4', '0', '0', '–')
    """
    if value is None:
        return ABSENT
    if abs(value) < _NOTHING:
        return "0"
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def plain(value: float) -> str:
    """A number as scenarios have it.

    >>> plain(1e7), plain(0.00001), plain(0.5)
    ('1e7', '1e-5', '0.5')
    """
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{value:g}")


def count(value: float | None) -> str:
    """A count, or a mean of counts.

    >>> count(12_000), count(0.25)
    ('12,000', '0.2')
    """
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "flow"), plural(2, "flow")
    ('1 flow', '2 flows')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def some_of(names: Sequence[str]) -> str:
    """The first dozen of these names, and how many more there are.

    >>> some_of(["a", "b"]), some_of(list("abcdefghijklmn"))
    ('a, b', 'a, b, c, d, e, f, g, h, i, j, k, l and 2 more')
    """
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def number_of(value: object) -> tuple[float, str] | None:
    """A value of a scenario as a number, and what it counts; `None` if it is none.

    Rates are in bit/s, times in seconds, sizes in bytes; other units, such as `bdp`, are kept.

    >>> number_of("10 Mbit/s"), number_of("0.5 bdp"), number_of(3), number_of("reno")
    ((10000000.0, 'rate'), (0.5, 'bdp'), (3.0, ''), None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        try:
            return float(value), ""
        except OverflowError:
            return math.inf if value > 0 else -math.inf, ""
    if not isinstance(value, str) or (found := _QUANTITY.fullmatch(value)) is None:
        return None
    for kind in KINDS:
        try:
            base = _longfat.quantity(kind, value)
        except ValueError:
            continue
        return base / (1e12 if kind == "time" else 1.0), kind
    return float(found[1]), found[2]


def unit_of(value: object) -> str:
    """The unit of a quantity as it was written.

    >>> unit_of("10 Mbit/s")
    'Mbit/s'
    """
    found = _QUANTITY.fullmatch(str(value))
    return found[2] if found else ""
