"""What a paper claims, and where we deviate from it: reads and checks `claims.toml` and `deviations.toml`."""

from __future__ import annotations

import difflib
import math
import re
import sys
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from longfat.errors import RoomError
from longfat.foreign import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path

Scale = Literal["quick", "full"]
SCALES: tuple[Scale, ...] = ("quick", "full")

QUOTE = re.compile(r"\{(~?)([^{}:~]+)(?::([^{}]*))?\}")
"""A number in a cause: `{ID}`, `{ID:UNIT}`, or `{~ID}` without its interval."""

_ID = re.compile(r"[a-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)*")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`")
_MISSING = re.compile(r"Object missing required field `(.*?)`")
_PLACE = re.compile(r" - at (?:`key` in )?`\$\.?(.*?)`$")


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of a TOML file that refuses unknown keys."""


class Paper(Strict, frozen=True):
    """`[paper]`: the paper itself.

    Attributes:
        title: Its title.
        authors: Its authors.
        venue: Where it appeared.
        year: When it appeared; `None` if it does not say.
    """

    title: str
    authors: list[str]
    venue: str
    year: int | None = None


class Untestable(msgspec.Struct, frozen=True):
    """Why a claim cannot be answered.

    Attributes:
        reason: Shown among the verdicts.
    """

    reason: str


class Claim(Strict, frozen=True):
    """`[[claim]]`: one sentence of a paper, and what would confirm it, written down before the run.

    It has one criterion: `at_least`, `at_most`, `between`, or `equals` with a tolerance.

    Attributes:
        id: Its name, which starts with its figure: `figure-2/exp/utilisation`.
        figure: The experiment that answers it.
        where: Where the paper says it: `Section III.B, Fig. 2`.
        claim: What the paper says, in our words.
        measured: What our number is, in words, with its unit.
        because: Where the bound or the tolerance comes from.
        unit: How numbers are shown: `%` for shares, `s`, `bit/s`, or any word to follow them.
        paper_value: The paper's number.
        at_least: The criterion: our number is this or more.
        at_most: The criterion: our number is this or less.
        between: The criterion: our number lies between these two.
        equals: The criterion: our number is this, within one of the two tolerances.
        tolerance: How far from `equals` it may be.
        relative_tolerance: How far, as a share of `equals`.
        requirement: Whether the number comes from theory: if it differs, we are wrong, not the paper.
        cause: Why it differs, if it does. What it measured stands in it as `{ID}` or `{ID:UNIT}`, see
            docs/guides/papers.md.
        hindsight: If the criterion was chosen after its number had been seen: what was known then.
        untestable: Why it cannot be answered, for each scale at which it cannot.
    """

    id: str
    where: str
    claim: str
    figure: str | None = None
    measured: str = ""
    because: str = ""
    unit: str = ""
    paper_value: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    between: tuple[float, float] | None = None
    equals: float | None = None
    tolerance: float | None = None
    relative_tolerance: float | None = None
    requirement: bool = False
    cause: str | None = None
    hindsight: str | None = None
    untestable: dict[Scale, str] = {}

    def __post_init__(self) -> None:
        """Checks what involves several fields."""
        if not _ID.fullmatch(self.id):
            _refuse(
                "id",
                f"`{self.id}` is not an id: an id is words separated by `/`, as in figure-2/exp/utilisation",
            )
        if self.hindsight is not None and not self.hindsight.strip():
            _refuse("hindsight", "`hindsight` is empty: say what was known, or leave it out")
        given = self._one_criterion()
        if set(self.untestable) == set(SCALES):
            if given:
                _refuse(given, "a claim that no scale can answer must not have a criterion")
            return
        needed = (("a criterion", given), ("`figure`", self.figure), ("`measured`", self.measured))
        for what, found in (*needed, ("`because`", self.because)):
            if not found:
                _refuse("id", f"{what} is missing")

    def _one_criterion(self) -> str | None:
        """The name of the criterion, if there is one; checks that there is at most one, and its tolerance."""
        criteria = ("at_least", "at_most", "between", "equals")
        self._check_numbers()
        given = [name for name in criteria if getattr(self, name) is not None]
        if len(given) > 1:
            _refuse(given[1], f"two criteria, `{given[0]}` and `{given[1]}`: a claim has only one")
        tolerances = [
            name for name in ("tolerance", "relative_tolerance") if getattr(self, name) is not None
        ]
        if self.equals is not None and len(tolerances) != 1:
            _refuse("equals", "`equals` needs either `tolerance` or `relative_tolerance`")
        if self.equals is None and tolerances:
            _refuse(tolerances[0], f"`{tolerances[0]}` belongs to `equals`, which is not given")
        for name in tolerances:
            if getattr(self, name) < 0:
                _refuse(name, f"`{name}` is negative")
        if self.between is not None and self.between[0] > self.between[1]:
            _refuse("between", "the first number of `between` is larger than the second")
        return given[0] if given else None

    def _check_numbers(self) -> None:
        """Refuses `inf` and `nan`, which TOML has, and a tolerance beyond all numbers."""
        names = ("paper_value", "at_least", "at_most", "equals", "tolerance", "relative_tolerance")
        given = [(name, getattr(self, name)) for name in names]
        given += [("between", bound) for bound in self.between or ()]
        for name, value in given:
            if value is not None and not math.isfinite(value):
                _refuse(name, f"`{name}` is {value}, which is no number to compare with")
        low, high = self.bounds
        if self.equals is not None and not math.isfinite(high - low):
            _refuse("equals", "its tolerance is larger than any number")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that the criterion allows."""
        if self.at_least is not None:
            return self.at_least, math.inf
        if self.at_most is not None:
            return -math.inf, self.at_most
        if self.between is not None:
            return self.between
        if self.equals is None:
            return -math.inf, math.inf
        margin = self.margin or 0.0
        return self.equals - margin, self.equals + margin

    @property
    def margin(self) -> float | None:
        """The tolerance around `equals`, in the unit of the value."""
        if self.equals is None:
            return None
        if self.tolerance is not None:
            return self.tolerance
        return abs(self.equals) * (self.relative_tolerance or 0.0)

    @property
    def criterion(self) -> dict[str, Any]:
        """The criterion as it was written."""
        names = ("at_least", "at_most", "between", "equals", "tolerance", "relative_tolerance")
        given = {name: getattr(self, name) for name in names}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None
        }


class Deviation(Strict, frozen=True):
    """`[[deviation]]`: where we do not or cannot do what the paper did.

    Attributes:
        id: Its name.
        paper: What the paper says, or leaves open.
        here: What we do.
        why: Why.
        shown_by: The figure or claim that shows what difference it makes.
    """

    id: str
    paper: str
    here: str
    why: str
    shown_by: str | None = None


class _Claims(Strict, frozen=True):
    paper: Paper
    claim: list[dict[str, Any]] = []


class _Deviations(Strict, frozen=True):
    deviation: list[dict[str, Any]] = []


def quoted(claim: Claim) -> list[str]:
    """The ids that the cause of a claim quotes."""
    return [name for _, name, _ in QUOTE.findall(claim.cause or "")]


def read_claims(path: Path) -> tuple[Paper, list[Claim]]:
    """Reads `claims.toml`.

    Raises:
        RoomError: It is wrong; the message lists every problem with its line.
        OSError: It cannot be read.
    """
    text, content = _load(path)
    tables = _convert(path, text, content, _Claims)
    claims = _entries(path, text, "claim", tables.claim, Claim)
    return tables.paper, claims


def read_deviations(path: Path) -> list[Deviation]:
    """Reads `deviations.toml`; a room without one deviates in nothing.

    Raises:
        RoomError: It is wrong; the message lists every problem with its line.
        OSError: It cannot be read.
    """
    if not path.exists():
        return []
    text, content = _load(path)
    tables = _convert(path, text, content, _Deviations)
    return _entries(path, text, "deviation", tables.deviation, Deviation)


T = TypeVar("T")
E = TypeVar("E", Claim, Deviation)


def _load(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = read_text(path)
        return text, tomllib.loads(text)
    except ValueError as error:
        message = f"{path}: {error}"
        raise RoomError(message) from error
    except RecursionError as error:
        message = f"{path}: it is nested too deeply"
        raise RoomError(message) from error


def _convert(path: Path, text: str, content: object, into: type[T]) -> T:
    try:
        return msgspec.convert(content, into)
    except msgspec.ValidationError as error:
        reason, key = _explained(str(error), into)
        line = _line(text.splitlines(), 0, key.partition(".")[2] or key)
        message = f"{path}:{line}: {reason}"
        raise RoomError(message) from error


def _entries(
    path: Path, text: str, name: str, tables: list[dict[str, Any]], into: type[E]
) -> list[E]:
    """Converts each `[[name]]`, or raises one error that lists everything wrong with them."""
    lines = text.splitlines()
    header = re.compile(rf"\s*\[\[\s*{name}\s*\]\]")
    starts = [index for index, line in enumerate(lines) if header.match(line)]
    found: list[E] = []
    problems = []
    first: dict[str, int] = {}
    for table, start in zip(tables, starts, strict=False):
        title = f'{name} "{table["id"]}"' if "id" in table else name
        try:
            entry = msgspec.convert(table, into)
        except msgspec.ValidationError as error:
            reason, key = _explained(str(error), into)
            problems.append(f"{path}:{_line(lines, start, key)}: {title}: {reason}")
            continue
        if entry.id in first:
            line = _line(lines, start, "id")
            problems.append(f"{path}:{line}: {title}: line {first[entry.id]} already has this id")
        first.setdefault(entry.id, _line(lines, start, "id"))
        found.append(entry)
    if problems:
        raise RoomError("\n".join(problems))
    return found


def _explained(message: str, table: type) -> tuple[str, str]:
    """What is wrong, in our words, and the key to point at."""
    place = _PLACE.search(message)
    key = place[1] if place else ""
    message = _PLACE.sub("", message)
    if unknown := _UNKNOWN.match(message):
        known = {field.name: field for field in msgspec.structs.fields(table)}
        if key and isinstance(known.get(key), object):
            inner = getattr(known.get(key), "type", None)
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                known = {field.name: field for field in msgspec.structs.fields(inner)}
        near = difflib.get_close_matches(unknown[1], known, n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return f"`{unknown[1]}` is not a key here{hint}", unknown[1]
    if missing := _MISSING.match(message):
        return f"`{missing[1]}` is missing", key
    if refused := re.match(r"\[(\w+)\] (.*)", message, re.DOTALL):
        return refused[2], refused[1]
    return f"`{key}`: {message}" if key else message, key


def _line(lines: list[str], start: int, key: str) -> int:
    """The line, from 1, of `key` in the table that begins at `start`, or else that of the table."""
    name = re.escape(re.split(r"[.\[]", key)[0])
    wanted = re.compile(rf"\s*{name}\b\s*[.=]|\s*\[{name}\]")
    for index in range(start, len(lines)):
        if index > start and lines[index].lstrip().startswith("[["):
            break
        if name and wanted.match(lines[index]):
            return index + 1
    return start + 1


def _refuse(key: str, reason: str) -> None:
    message = f"[{key}] {reason}"
    raise ValueError(message)
