"""What `evaluate.json` holds, as far as a page shows it; what else it holds is passed over."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from longfat.errors import ResultError
from longfat.foreign import read_text, shown

if TYPE_CHECKING:
    from pathlib import Path

EVALUATION = "evaluate.json"
_FORMAT = "longfat evaluation 1"
_LATEST = 1e15
_MOST_BYTES = 512_000_000


class Estimate(msgspec.Struct):
    """A mean over seeds.

    Attributes:
        mean: The mean; `None` where there was nothing to measure.
        half: Half of its 95 % interval; `None` with fewer than two seeds.
        n: How many seeds.
    """

    mean: float | None = None
    half: float | None = None
    n: int = 0


class Against(msgspec.Struct):
    """A comparison with an incumbent, paired by seed: a verdict, and the mean difference with its interval."""

    verdict: str
    difference: float | None = None
    half: float | None = None


class Threshold(msgspec.Struct):
    """The number that a source states: the least or the most that passes."""

    at_least: float | None = None
    at_most: float | None = None


class Measure(msgspec.Struct):
    """A number of a cell, of the subject and of the incumbents."""

    id: str
    title: str
    value: Estimate
    unit: str = ""
    better: str | None = None
    incumbents: dict[str, Estimate] = {}
    against: dict[str, Against] = {}
    threshold: Threshold | None = None
    judged: str | None = None
    censored: float | None = None


class Source(msgspec.Struct):
    """Where a cell comes from, and what is said there, in our words."""

    document: str
    section: str | None = None
    says: str = ""
    url: str | None = None


class Series(msgspec.Struct):
    """A line of a chart: where, and how much."""

    name: str
    t: list[float]
    v: list[float | None]


class ChartData(msgspec.Struct):
    """A chart of a cell."""

    title: str
    series: list[Series]
    x: str = "time"
    x_unit: str = "s"
    y_unit: str = ""


class Cell(msgspec.Struct):
    """A question about the subject, with its answer."""

    id: str
    group: str
    title: str
    kind: str
    verdict: str
    story: str = ""
    question: str = ""
    source: Source | None = None
    scenario: str | None = None
    measures: list[Measure] = []
    against: dict[str, str] = {}
    charts: list[ChartData] = []
    why: str | None = None


class Group(msgspec.Struct):
    """Cells that belong together."""

    id: str
    title: str
    about: str = ""


class Untested(msgspec.Struct):
    """What a source asks for, and was not tested."""

    what: str
    why: str = ""
    source: str = ""


class Subject(msgspec.Struct):
    """What was evaluated."""

    name: str
    control: object = None
    source: str = ""
    digest: str | None = None
    network: object = None


class Evaluation(msgspec.Struct):
    """The whole file."""

    format: str
    subject: Subject
    against: list[str]
    cells: list[Cell]
    groups: list[Group] = []
    longfat: str = ""
    scale: str = ""
    seeds: int = 0
    runs: int = 0
    wall_s: float = 0.0
    not_tested: list[Untested] = []


def read_evaluation(folder: Path) -> tuple[Evaluation, dict[str, str]]:
    """An evaluation, and the scenarios of its cells by their files.

    Raises:
        ResultError: The file cannot be understood, or a scenario that it names is missing or elsewhere.
        OSError: A file cannot be read.
    """
    place = shown(str(folder / EVALUATION))
    try:
        text = read_text(folder / EVALUATION, _MOST_BYTES)
        found = msgspec.json.decode(text, type=Evaluation)
    except (ValueError, msgspec.DecodeError) as error:
        message = f"{place} cannot be understood: {shown(str(error))}; evaluate again"
        raise ResultError(message) from error
    if found.format != _FORMAT:
        message = (
            f"{place} has the format {shown(repr(found.format))}, and this longfat reads {_FORMAT!r}: "
            "evaluate again"
        )
        raise ResultError(message)
    for cell in found.cells:
        for chart in cell.charts:
            for line in chart.series:
                _check_line(line, f"{place}: cell {shown(cell.id)}, chart {shown(chart.title)}")
    files = dict.fromkeys(cell.scenario for cell in found.cells if cell.scenario is not None)
    return found, {name: _scenario(folder, name) for name in files}


def _check_line(line: Series, place: str) -> None:
    """Refuses a line without order.

    Raises:
        ResultError: Its columns are not of one length, or its times do not ascend.
    """
    if len(line.t) != len(line.v):
        message = f"{place}: `{shown(line.name)}` has {len(line.t)} times and {len(line.v)} values"
        raise ResultError(message)
    if any(abs(time) > _LATEST for time in line.t):
        message = f"{place}: `{shown(line.name)}` has a time beyond {_LATEST:g}"
        raise ResultError(message)
    if any(later < earlier for earlier, later in pairwise(line.t)):
        message = f"{place}: the times of `{shown(line.name)}` do not ascend"
        raise ResultError(message)


def _scenario(folder: Path, name: str) -> str:
    """The text of a scenario, which lies in the folder."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        message = (
            f"{shown(str(folder))} names `{shown(name)}`, which lies elsewhere: evaluate again"
        )
        raise ResultError(message)
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        what = "is missing" if isinstance(error, OSError) else f"cannot be read: {error}"
        message = (
            f"{shown(str(folder))} is only a part of an evaluation: `{shown(name)}` {what}; "
            "evaluate again"
        )
        raise ResultError(message) from error
