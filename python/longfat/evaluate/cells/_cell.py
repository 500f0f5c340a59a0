"""What an evaluation consists of: groups of cells, each a question with its source, runs and measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from longfat.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.study import Measured

Control = str | dict[str, Any]
"""A controller as a scenario names it."""

Row = dict[str, float | None]
"""What was measured, by the names of the measures; `None` where there is nothing to measure."""

Line = tuple[list[float], list[float | None]]
"""A line of a chart: times in seconds, and values."""

Better = Literal["more", "less"]
Scale = Literal["quick", "full"]
Kind = Literal["pass or fail", "comparative", "evidence"]

SCALES: tuple[Scale, ...] = ("quick", "full")


@dataclass(frozen=True)
class Source:
    """Where a cell comes from.

    Attributes:
        document: The document: `RFC 9743`, or authors, venue and year.
        says: What it says of this, in our words, one sentence.
        section: The number of its section; `None` where the whole document says it.
    """

    document: str
    says: str
    section: str | None = None


@dataclass(frozen=True)
class Measure:
    """A number of a cell.

    Attributes:
        name: What stands for it in stories and in JSON.
        title: What it is, in a few words.
        unit: `%` for a share from 0 to 1, `probability` for a small one, `s`, `bit/s`, `packets`, or nothing
            for a plain number.
        better: Whether more or less of it is better; `None`: neither, it is evidence.
        matters: The smallest difference that matters, in its unit.
        matters_share: The same as a share of the other value; the larger of the two holds.
        at_least: The least value that passes, where a source states one.
        at_most: The largest value that passes, likewise.
        censored: A value from here on means "at least this": the run ended before.
    """

    name: str
    title: str
    unit: str = ""
    better: Better | None = None
    matters: float = 0.0
    matters_share: float = 0.0
    at_least: float | None = None
    at_most: float | None = None
    censored: float | None = None

    @property
    def has_threshold(self) -> bool:
        """Whether a source states a number for it."""
        return self.at_least is not None or self.at_most is not None

    def least_difference(self, other: float) -> float:
        """The smallest difference to another value that matters."""
        return max(self.matters, self.matters_share * abs(other))


@dataclass(frozen=True)
class Chart:
    """What a run contributes to a picture.

    Attributes:
        title: What is drawn.
        unit: As that of a measure.
        lines: Draws the lines of a run, by their names; an empty name stands for that of the controller.
        alone: Only the controller in question is drawn, not the incumbents.
    """

    title: str
    unit: str
    lines: Callable[[Measured], Mapping[str, Line]]
    alone: bool = False


@dataclass(frozen=True)
class Scene:
    """One simulation of a cell, for one controller.

    Attributes:
        scenario: The content of a scenario file.
        measure: Turns a finished run into numbers.
        tables: The tables that `measure` and the charts look at.
    """

    scenario: dict[str, Any]
    measure: Callable[[Measured], Row]
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Solved:
    """What takes the place of a simulation where a cell asks the fluid model.

    Attributes:
        scenario: The content of a scenario file.
        solve: Solves the equations and measures the solution. It is called with the scenario, and, as keywords,
            with what the scenario may use beyond longfat.
    """

    scenario: dict[str, Any]
    solve: Callable[..., Row]


@dataclass(frozen=True)
class Cell:
    """A question about a controller.

    Attributes:
        name: The group and a name within it: `range/1Gbit-100ms-1bdp`.
        title: The path, or what is done, in a few words.
        source: Where it comes from.
        question: What is measured, one sentence.
        scenes: Makes the simulations for a controller, by names that `combine` knows.
        measures: What is reported.
        says: What the story says of the controller: a template with measures in braces, such as `uses {used}`,
            that follows its name, or holds it as `{name}`.
        briefly: The same of an incumbent in its place, in brackets behind its name.
        charts: What is drawn of the first scene, for the first seed.
        combine: Makes the measures of what was measured in each scene; by default those of the only one.
        beside: The incumbent that the cell is about; it is then the only one that is compared with.
        full_only: Whether it belongs to the full scale alone.
        most_seeds: How many seeds it has at most, where runs are long.
        chancy: Whether seeds change anything: the equations of the fluid model have no chance.
    """

    name: str
    title: str
    source: Source
    question: str
    scenes: Callable[[Control], Mapping[str, Scene | Solved]]
    measures: tuple[Measure, ...]
    says: str
    briefly: str
    charts: tuple[Chart, ...] = ()
    combine: Callable[[Mapping[str, Row]], Row] | None = None
    beside: str | None = None
    full_only: bool = False
    most_seeds: int | None = None
    chancy: bool = True

    @property
    def group(self) -> str:
        """The group that it belongs to."""
        return self.name.partition("/")[0]

    @property
    def kind(self) -> Kind:
        """What kind of verdict it has."""
        if any(measure.has_threshold for measure in self.measures):
            return "pass or fail"
        return "comparative" if any(measure.better for measure in self.measures) else "evidence"


@dataclass(frozen=True)
class Group:
    """Cells that belong together.

    Attributes:
        name: Its name, with which those of its cells begin.
        title: Its title.
        about: What it is about, one sentence.
        make: Makes its cells, given the names of the incumbents with their controllers.
    """

    name: str
    title: str
    about: str
    make: Callable[[Mapping[str, Control]], Sequence[Cell]] = field(repr=False)


def chosen(cells: Sequence[Cell], patterns: Sequence[str]) -> list[Cell]:
    """The cells whose names match a pattern: a name, a group, or either with `*`.

    Raises:
        EvaluationError: A pattern matches none; the message names the nearest.
    """
    from difflib import get_close_matches
    from fnmatch import fnmatchcase

    if not patterns:
        return list(cells)
    found: set[str] = set()
    for pattern in patterns:
        matching = {
            cell.name for cell in cells if fnmatchcase(cell.name, pattern) or cell.group == pattern
        }
        if not matching:
            names = [*dict.fromkeys(cell.group for cell in cells), *(cell.name for cell in cells)]
            near = get_close_matches(pattern, names, n=1)
            hint = (
                f"did you mean `{near[0]}`?" if near else "`longfat evaluate --list` shows them all"
            )
            message = f"there is no cell `{pattern}` at this scale: {hint}"
            raise EvaluationError(message)
        found |= matching
    return [cell for cell in cells if cell.name in found]
