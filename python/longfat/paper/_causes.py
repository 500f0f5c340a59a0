"""Causes: why a claim differs, in words whose numbers were measured in the same room.

A cause quotes a number as `{figure-5/avq}`, a claim with its own unit, or as `{figure-5/avq/full-target:%}`, a
fact: what the function `facts(rows)` of an experiment returns under that name. `{~ID}` leaves out the interval.
The numbers are filled in from the run that is reported, so a text cannot fall behind its room. Any other number
in a cause is part of a set-up, and stands in the files of the room as well.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.paper._claims import QUOTE, Untestable, quoted
from longfat.paper._verdict import estimated, interval_of, show_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from longfat.paper._claims import Claim
    from longfat.paper._room import Room
    from longfat.paper._verdict import Answer, ClaimVerdict

_NUMBER = re.compile(r"(?<![\w.⁻^/-])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?")
_CODE = re.compile(r"`[^`]*`|RFC \d+(, (section )?[\d.]*\d)?")
_MEASURED = re.compile(r"\s*(±|(times|fold|points?|decades?)\b)")
_FACTORS = {
    "%": 1e-2,
    "ms": 1e-3,
    "kB": 1e3,
    "kbit": 1e3,
    "MB": 1e6,
    "Mbit": 1e6,
    "GB": 1e9,
    "Gbit": 1e9,
}
_UNIT = re.compile(r"\s*(%|[A-Za-z]+)")
_SAME = 1e-9


@dataclass(frozen=True)
class Fact:
    """A measured number that causes quote.

    Attributes:
        value: The mean over the seeds, or the one value; `None` if there is none.
        interval: Its 95 % confidence interval, if it has one.
        seeds: How many seeds; `None` if chance plays no part.
        unit: The unit in which it is shown if a quotation names none.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    seeds: int | None = None
    unit: str = ""

    @classmethod
    def of(cls, answer: Answer) -> Fact:
        """What an experiment returned."""
        if isinstance(answer, Untestable):
            return cls(None)
        known = estimated(answer)
        value = known.mean if known.mean is not None and math.isfinite(known.mean) else None
        seeds = None if answer is None or isinstance(answer, float | int) else known.n
        return cls(value, interval_of(known), seeds)

    @classmethod
    def claimed(cls, verdict: ClaimVerdict) -> Fact:
        """The number of a claim."""
        return cls(verdict.value, verdict.interval, verdict.seeds, verdict.claim.unit)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], unit: str = "") -> Fact:
        """What `to_dict` wrote, or the entry of a claim."""
        interval = entry["interval"]
        return cls(
            entry["value"],
            None if interval is None else (interval[0], interval[1]),
            entry["seeds"],
            unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """The fact as plain data, for JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "seeds": self.seeds}

    def same(self, other: Fact) -> bool:
        """Whether both have the same number."""
        if self.value is None or other.value is None:
            return self.value is other.value
        return math.isclose(self.value, other.value, rel_tol=_SAME, abs_tol=_SAME**2)


def filled(claim: Claim, facts: Mapping[str, Fact]) -> str:
    """The cause of a claim with its numbers; a number that nobody measured is said to be missing."""
    if claim.cause is None:
        return "no cause is given in claims.toml"

    def number(found: re.Match[str]) -> str:
        plain, name, unit = found.groups()
        fact = facts.get(name)
        if fact is None or fact.value is None:
            return f"({name}: not measured)"
        return show_number(
            fact.value, None if plain else fact.interval, fact.unit if unit is None else unit
        )

    return QUOTE.sub(number, claim.cause)


def committed_facts(room: Room, content: Mapping[str, Any] | None) -> dict[str, Fact]:
    """The numbers of claims and facts in committed results."""
    if content is None:
        return {}
    units = {claim.id: claim.unit for claim in room.claims}
    claims = {
        entry["id"]: Fact.from_dict(entry, units.get(entry["id"], ""))
        for entry in content["claims"]
    }
    return claims | {
        name: Fact.from_dict(entry) for name, entry in content.get("facts", {}).items()
    }


def cause_here(
    verdict: ClaimVerdict,
    facts: Mapping[str, Fact],
    committed: Mapping[str, Fact],
    *,
    changed: bool,
) -> str:
    """The cause of a claim, if it was found in this room and not in an earlier or another one.

    Args:
        verdict: The verdict on the claim.
        facts: What was measured now, and for what was not, what is committed.
        committed: What was measured when the cause was committed.
        changed: Whether the room was changed for this run.
    """
    claim = verdict.claim
    if claim.cause is None:
        return filled(claim, facts)
    then = committed.get(claim.id)
    if then is None:
        if changed:
            return "a cause is known for the room without these changes only"
        return filled(claim, facts)
    if not then.same(Fact.claimed(verdict)):
        was = show_number(then.value, then.interval, claim.unit)
        return f"the cause in claims.toml was found where this was {was}"
    for name in quoted(claim):
        if name in committed and name in facts and not committed[name].same(facts[name]):
            return f"the cause in claims.toml was found with another {name}"
    return filled(claim, facts)


def unfounded(room: Room) -> list[str]:
    """The numbers in causes that no experiment of the room gives, as far as a program can tell.

    A number that is not filled in must occur in the set-up: in the code and the scenarios of the room, in what
    its claims say apart from their causes, or in its deviations. One with an interval, or before `times` or
    `points`, is measured whatever the set-up has. What stands between backticks is a formula or a setting; RFCs
    have numbers of their own.

    Returns:
        A sentence for each, with the claim.
    """
    known = set(_set_up(room))
    return [
        f'claim "{claim.id}": no experiment of the room gives the `{text}` of its cause: quote it, {{ID:unit}}'
        for claim in room.claims
        for text in _unfounded(QUOTE.sub(" ", _CODE.sub(" ", claim.cause or "")), known)
    ]


def _unfounded(cause: str, known: set[float]) -> Iterator[str]:
    for found in _NUMBER.finditer(cause):
        rest = cause[found.end() :]
        unit = _UNIT.match(rest)
        word = unit[1] if unit else ""
        value = _value(found[0])
        scaled = value * _FACTORS.get(word, 1.0)
        if _MEASURED.match(rest) or not _among((value, scaled), known):
            yield f"{found[0]} {word}".strip()


def _among(values: Iterable[float], known: set[float]) -> bool:
    return any(value in known or float(f"{value:.12g}") in known for value in values)


def _set_up(room: Room) -> Iterator[float]:
    texts = [path.read_text("utf-8") for path in room.files_of_code]
    texts += [
        path.read_text("utf-8") for path in room.path.glob("*.toml") if path.name != "claims.toml"
    ]
    for claim in room.claims:
        texts += [claim.claim, claim.where, claim.measured, claim.because]
        texts += [str(value) for value in (*claim.criterion.values(), claim.paper_value)]
    for text in texts:
        plain = text.replace("_", "")
        for found in _NUMBER.finditer(plain):
            value = _value(found[0])
            unit = _UNIT.match(plain[found.end() :])
            yield value
            yield float(f"{value * _FACTORS.get(unit[1] if unit else '', 1.0):.12g}")


def _value(text: str) -> float:
    return float(text.replace(",", ""))
