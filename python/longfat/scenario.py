"""Scenarios: where they come from (files, dictionaries, text), and what they say in numbers."""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, ClassVar, Literal, SupportsIndex

import msgspec

from longfat._longfat import LONGEST_FILE, Scenario, ScenarioError, profiles
from longfat.foreign import read_text, shown
from longfat.own import NOTHING, Code
from longfat.units import number_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A path, the text of a scenario file (recognised by its line breaks), or its contents as a dictionary."""


class Piped(msgspec.Struct, frozen=True):
    """What came through the standard input: the files that it names are in the working folder, or below."""

    text: str
    origin: ClassVar[str] = "standard input"
    name: ClassVar[str] = "stdin"


Changes = Mapping[str, Any] | Sequence[str]
"""Fields to set: `{"link.bottleneck.rate": "1 Gbit/s"}` or `["link.bottleneck.rate=1 Gbit/s"]`."""


PICOSECONDS = 10**12
"""In a second: the unit of time of the simulator."""

LARGEST_SEED = 2**63 - 1
"""TOML has no larger integer."""

MOST_CASES = 1_000_000
"""No more sequences of events are tried of a controller."""

LARGEST_TRACE = 10**12
"""So many packets are some 80 TB of a trace."""

MOST_SEEDS = 10_000
"""No setting is simulated with more of them: intervals would be a hundredth of the spread by then."""

_DEEPEST = 32

_PROFILE = re.compile(
    r"\s*(flow|traffic)\s*\.\s*([\w*-]+)\s*\.\s*profile\s*=\s*[\"']?([\w.-]+)[\"']?\s*"
)
"""A change that sets the profile of groups."""


def read(
    source: Source | Piped, *, seed: int | None = None, changes: Changes = (), code: Code = NOTHING
) -> tuple[Scenario, str]:
    """Reads and checks a scenario.

    Args:
        source: A path, the text of a scenario file, or its content as a dictionary. Only a file can name
            traces and lists of flows, in its own folder, and what was piped, in the working folder.
        seed: Replaces the seed of the scenario, from 0 up.
        changes: Fields to set before the check.
        code: What it may use beyond longfat.

    Returns:
        The scenario, and a short name for it: the stem of the file, or `scenario`.

    Raises:
        ScenarioError: The scenario is wrong.
        OSError: The file cannot be read.
    """
    loaded = Template(source, code)
    return loaded.read(seed=seed, changes=changes), loaded.name


class Template:
    """A scenario that is read many times, each time with other changes.

    Attributes:
        text: The scenario file.
        name: A short name for it, as from `read`.
        folder: Where the files are that it names, if it can name any.
        code: What it may use beyond longfat.
    """

    def __init__(
        self, source: Source | Piped, code: Code = NOTHING, *, folder: Path | None = None
    ) -> None:
        """Loads a scenario from anywhere; nothing is checked yet.

        Args:
            source: The scenario.
            code: What it may use beyond longfat.
            folder: Where the files are that it names, if it is none itself; by default it can name none.

        Raises:
            ScenarioError: It is no text, or a dictionary that TOML cannot hold.
            OSError: The file cannot be read.
        """
        self.text, self._origin, self.name, beside = _load(source)
        self.folder = folder if beside is None else beside
        self.code = code
        self._lists: dict[Path, str] = {}

    def read(self, *, seed: int | None = None, changes: Changes = ()) -> Scenario:
        """Reads and checks it, with changes.

        Raises:
            ScenarioError: The scenario is wrong.
        """
        overrides = assignments(changes)
        for given in (self.text, *overrides):
            if not _is_unicode(given):
                message = f"`{shown(given[:80])}` is not Unicode text"
                raise ScenarioError(message)
        number = None if seed is None else check_seed(seed)
        found = Scenario.parse(
            self.text,
            shown(self._origin),
            overrides=overrides,
            seed=number,
            folder=self.folder,
            tables=self._list,
            own=self.code.handles(),
            code=self.code.fetcher(self.folder),
        )
        for change in overrides:
            if told := _PROFILE.fullmatch(change):
                self._refuse_idle(change, *told.groups())
        return found

    def _list(self, path: str | Path) -> str:
        """A list of flows in a Parquet file as text, read once: studies read a scenario for each point."""
        place = Path(path)
        if place not in self._lists:
            self._lists[place] = flow_list(place)
        return self._lists[place]

    def _refuse_idle(self, change: str, section: str, which: str, name: str) -> None:
        """Refuses a change of a profile that changes nothing: groups have all of its keys themselves.

        Raises:
            ScenarioError: It does; the message says which keys they are.
        """
        profile = next((each for each in profiles() if each["name"] == name), None)
        groups = [
            group
            for place, group in enumerate(tomllib.loads(self.text).get(section, ()))
            if which in ("*", str(place), group.get("name"))
        ]
        if profile is None or not groups:
            return
        sets = dict(profile["keys"]) | {
            key: value
            for kind, key, value in profile["with"]
            if all(kind in (it := group.get("control"), _kind(it)) for group in groups)
        }
        if not all(key in group for key in sets for group in groups):
            return
        differ = {
            key: value
            for key, value in sets.items()
            if any(_plain(group[key]) != _plain(value) for group in groups)
        }
        if differ:
            place = f"{section}.{which}"
            each = [f"--set '{place}.{key}={_bare(value)}'" for key, value in differ.items()]
            message = (
                f"error: `{shown(change.strip())}` changes nothing: keys that a group has itself override its "
                f"profile, and here are all that `{name}` sets: {', '.join(sets)}\n"
                f"  = help: set those that differ: {' '.join(each)}"
            )
            raise ScenarioError(message)


def _plain(value: object) -> object:
    """A value of a key such that the same quantities are equal, however they are written."""
    return number_of(value) or value


def _bare(value: object) -> str:
    """A value as a change may have it."""
    return value if isinstance(value, str) else toml_value(value)


def _kind(control: object) -> object:
    """The name of a controller that is written as a table."""
    return control.get("kind") if isinstance(control, Mapping) else None


def check_seed(seed: SupportsIndex) -> int:
    """The seed as a plain number, if a scenario file could say it.

    Raises:
        ScenarioError: It is negative, too large, or no whole number.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number <= LARGEST_SEED:
        told = shown(repr(seed))[:40]
        message = f"the seed is {told}, not a whole number from 0 to {LARGEST_SEED}"
        raise ScenarioError(message)
    return number


def _load(source: Source | Piped) -> tuple[str, str, str, Path | None]:
    """The text, what stands for its file in messages, its short name, and the folder of its traces."""
    if isinstance(source, Piped):
        return source.text, source.origin, source.name, Path()
    if isinstance(source, Mapping):
        import tomli_w

        try:
            return tomli_w.dumps(plain_value(source)), "scenario", "scenario", None
        except (TypeError, ValueError) as error:
            message = f"the dictionary cannot be written as TOML: {error}"
            raise ScenarioError(message) from error
    if isinstance(source, str) and "\n" in source:
        return source, "scenario", "scenario", None
    if source == "":
        message = "an empty text is neither the path of a scenario file nor its content"
        raise ScenarioError(message)
    path = Path(source)
    try:
        return read_text(path, LONGEST_FILE), str(path), path.stem, path.parent
    except ValueError as error:
        message = f"{shown(str(path))} is not a scenario file: {error}"
        raise ScenarioError(message) from error


_LIST = ("time", "time_s", "size", "size_bytes", "rtt", "rtt_s", "path", "control")
_MOST_ROWS = 20_000_000
_LONGEST_LIST = 64_000_000


def flow_list(path: str | Path) -> str:
    """A list of flows in a Parquet file as the text that a scenario could name instead.

    Raises:
        ValueError: It is none; the message does not repeat what the file says.
    """
    from longfat.parquet import csv_of

    return csv_of(path, _LIST, rows=_MOST_ROWS, length=_LONGEST_LIST)


def assignments(changes: Changes) -> list[str]:
    """Fields to set, as on the command line: `link.bottleneck.rate="1 Gbit/s"`.

    Raises:
        ScenarioError: A value is none that TOML has, or a change in a list is no text.
        TypeError: They are a single text.
    """
    if isinstance(changes, str):
        message = "a list of changes is needed, such as ['seed=2'], not a single text"
        raise TypeError(message)
    if isinstance(changes, Mapping):
        try:
            return [f"{key}={toml_value(value)}" for key, value in changes.items()]
        except (TypeError, ValueError) as error:
            message = f"a change cannot be written as TOML: {error}"
            raise ScenarioError(message) from error
    made: list[Any] = list(changes)
    for change in made:
        if not isinstance(change, str):
            message = f"a change is a text such as 'seed=2', not {shown(repr(change)[:80])}"
            raise ScenarioError(message)
    return made


def made_here(error: ScenarioError) -> ScenarioError:
    """A refusal of a scenario that no user has written: it names no line of a file that nobody finds."""
    told = re.sub(r"(?m)(--> )scenario:\d+:\d+$", r"\1a scenario that longfat made", str(error))
    return ScenarioError(told)


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def plain_value(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any value that TOML has
    """A value as TOML writes it: what libraries for numbers have, such as `numpy.float64`, becomes a number.

    Raises:
        TypeError: TOML has no such value.
        ValueError: It is nested too deeply, or holds itself.
    """
    if depth > _DEEPEST:
        message = f"it is nested more than {_DEEPEST} deep, or holds itself"
        raise ValueError(message)
    if isinstance(value, Mapping):
        return {str(key): plain_value(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(entry, depth + 1) for entry in value]
    if type(value) in (str, bool, int, float, date, datetime, time):
        return value
    if isinstance(value, str):  # not `str(value)`: an `Enum` that is a text says its own name there
        return str.__str__(value)
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    if callable(listed := getattr(value, "tolist", None)):  # an array, or a single number, of numpy
        return plain_value(listed(), depth + 1)
    message = f"`{shown(repr(value)[:80])}` is neither a text, a number, a truth value, a list nor a table"
    raise TypeError(message)


def toml_value(value: object) -> str:
    """A plain value as TOML writes it in one line.

    >>> toml_value({"kind": "red", "min": "0.1 bdp", "ecn": True})
    '{ "kind" = "red", "min" = "0.1 bdp", "ecn" = true }'

    Raises:
        TypeError: TOML has no such value.
        ValueError: It is nested too deeply.
    """
    return _toml_value(plain_value(value))


def _toml_value(value: object) -> str:
    import json

    if isinstance(value, dict):
        entries = (f"{_toml_value(key)} = {_toml_value(entry)}" for key, entry in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(entry) for entry in value)}]"
    if isinstance(value, (str, bool)):
        # Texts and truth values look alike in JSON and TOML.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value) if isinstance(value, (date, datetime, time)) else repr(value)


class Direction(msgspec.Struct, frozen=True):
    """One direction of a link, in numbers.

    Attributes:
        rate_bit_s: Its rate, before any change.
        delay_ps: Propagation delay in picoseconds, before any change.
        buffer: What the queue holds, in `unit`; `None` if unlimited.
        unit: What the queue counts: `packets` or `bytes`.
        queue: Those parameters of the queue discipline that are numbers; lengths in `unit`.
        capacity_bit_s: What it can carry on average over the measured interval.
        varies: Whether it changes in time, by its changes or because it follows a trace.
    """

    rate_bit_s: int
    delay_ps: int
    buffer: int | None
    unit: Literal["packets", "bytes"]
    queue: dict[str, float]
    capacity_bit_s: float
    varies: bool = False


class Link(msgspec.Struct, frozen=True):
    """Both directions of a link, in numbers."""

    forward: Direction
    reverse: Direction

    def direction(self, *, backwards: bool) -> Direction:
        """The direction of travel."""
        return self.reverse if backwards else self.forward


class Group(msgspec.Struct, frozen=True):
    """A group of flows, in numbers.

    Attributes:
        short: Whether these are short flows, which arrive at random.
        path: The links that its data cross, in order.
        backwards: For each of these links, whether they cross it backwards.
        packet_bytes: Size of a data packet, headers included.
        count: How many flows; `None` if they arrive as long as the run lasts.
        size_bytes: What each has to send, or of short flows the mean; `None` if without end.
        stop_ps: When they stop sending new data, in picoseconds; `None` if never.
        rto_min_ps: Smallest retransmission time-out, in picoseconds.
    """

    short: bool
    path: tuple[str, ...]
    backwards: tuple[bool, ...]
    packet_bytes: int
    count: int | None
    size_bytes: float | None
    stop_ps: int | None
    rto_min_ps: int

    @property
    def crossed(self) -> dict[str, bool]:
        """The links of the path in order, and whether each is crossed backwards."""
        return dict(zip(self.path, self.backwards, strict=True))


class Quantities(msgspec.Struct, frozen=True):
    """The quantities of a resolved scenario, in numbers: exact, and parsed only once.

    Attributes:
        duration_ps: Simulated time in picoseconds.
        warmup_ps: How much of the beginning every average leaves out, in picoseconds.
        sample_ps: Spacing of the time series in picoseconds.
        links: The links by name, in the order of the file.
        groups: The groups by name, long flows before short ones, in the order of the file.
    """

    duration_ps: int
    warmup_ps: int
    sample_ps: int
    links: dict[str, Link]
    groups: dict[str, Group]

    @property
    def measured_s(self) -> float:
        """The measured interval in seconds: what comes after the warm-up."""
        return (self.duration_ps - self.warmup_ps) / PICOSECONDS


def quantities(scenario: Scenario) -> Quantities:
    """What a scenario says in numbers."""
    given = scenario.quantities()
    given |= {"links": dict(given["links"]), "groups": dict(given["groups"])}
    return msgspec.convert(given, Quantities)


def no_series(scenario: Mapping[str, Any]) -> str:
    """That a run kept no time series, why, and what to do about it: a message goes on so after its name.

    Args:
        scenario: What a summary has of the scenario.
    """
    sample, duration = (number_of(str(scenario.get(key))) for key in ("sample", "duration"))
    if sample is not None and duration is not None and sample[0] > duration[0]:
        reason = f"its `sample`, {shown(scenario['sample'])}, is longer than the run; choose a smaller one"
    else:
        reason = "run it with record=True"
    return f"kept no time series: {reason}"
