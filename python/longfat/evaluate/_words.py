"""Values as people read them, and the sentence that tells what a cell has found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.units import ABSENT, RATE, TIME, amount, percent, small

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.evaluate.cells._cell import Measure

_PLACE = re.compile(r"\{(lose:)?(\w+)\}")
_SMALL = 0.01
_WHOLE, _HUNDREDTHS = 100.0, 0.095
_NOTHING = 1e-9
"""What is smaller is what rounding leaves of a zero."""


def worded(value: float | None, measure: Measure) -> str:
    """A value with its unit.

    >>> from longfat.evaluate import Measure
    >>> worded(0.984, Measure("used", "", "%")), worded(20.0, Measure("fill", "", "s", censored=20.0))
    ('98.4 %', 'more than 20 s')
    >>> worded(-7.2e-31, Measure("exponent", "", "")), worded(0.0012, Measure("exponent", "", ""))
    ('0', '0.0012')
    """
    if value is None:
        return ABSENT
    if measure.censored is not None and value >= measure.censored * (1 - 1e-9):
        return f"more than {_plain(measure.censored, measure.unit)}"
    return _plain(value, measure.unit)


def _plain(value: float, unit: str) -> str:
    if unit in _SHOWN:
        return _SHOWN[unit](value)
    if abs(value) >= _WHOLE:
        return f"{value:,.0f}"
    if abs(value) < _NOTHING:
        return "0"
    return f"{value:.2f}" if abs(value) >= _HUNDREDTHS else f"{value:.2g}"


def _probability(value: float) -> str:
    if value == 0.0:
        return "none"
    return small(value) if value < _SMALL else percent(value)


_SHOWN: dict[str, Callable[[float], str]] = {
    "%": percent,
    "s": lambda value: amount(value, TIME) if value else "0 s",
    "bit/s": lambda value: amount(value, RATE),
    "probability": _probability,
    "packets": lambda value: f"{value:,.0f} packets",
}


def filled(
    template: str, name: str, values: Mapping[str, float | None], measures: Sequence[Measure]
) -> str:
    """A template with what stands in braces filled in: measures, and `{name}`, else the name comes first.

    Of a loss, `{lose:goodput}`, one below zero is what they gain.

    >>> from longfat.evaluate import Measure
    >>> harm = [Measure("goodput", "", "%"), Measure("speed", "", "%")]
    >>> filled("flows {lose:goodput}, {name} {lose:speed}", "reno", {"goodput": 0.05, "speed": -0.281}, harm)
    'flows lose 5.0 %, reno gain 28.1 %'

    Raises:
        KeyError: There is no such measure.
    """
    words = {measure.name: worded(values[measure.name], measure) for measure in measures}
    whole = template if "{name}" in template else f"{{name}} {template}"
    by_name = {measure.name: measure for measure in measures}

    def word(found: re.Match[str]) -> str:
        place = found[2]
        if place == "name":
            return name
        if found[1] is None:
            return words[place]
        lost = values[place]
        if lost is None or lost >= 0.0:
            return f"lose {words[place]}"
        return f"gain {worded(-lost, by_name[place])}"

    return _PLACE.sub(word, whole)


def places(template: str) -> set[str]:
    """The measures that a template names.

    >>> sorted(places("{name} uses {used}, flows {lose:goodput}"))
    ['goodput', 'used']
    """
    return {found[2] for found in _PLACE.finditer(template)} - {"name"}


def enumerated(parts: Sequence[str]) -> str:
    """Parts of a sentence, one after the other.

    >>> enumerated(["reno", "cubic", "bbr3"])
    'reno, cubic and bbr3'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
