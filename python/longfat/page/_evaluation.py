"""The report of an evaluation: verdicts at a glance, and the story of each cell."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from longfat.page import _kit
from longfat.page._charts import Chart, Line
from longfat.page._drawn import Drawn, drawn
from longfat.page._evaluate_json import Cell, Evaluation, Group, read_evaluation
from longfat.page._evaluate_numbers import numbers
from longfat.units import TIME, amount, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from longfat.tables import TextTable

REPORT = "report.html"

JUDGED = ("pass", "fail", "undecided")
COMPARED = ("better", "as good", "worse", "mixed", "undecided")
_GAP = 0.8
"""Between the parts of a bar, in hundredths of it."""
_LOOKS = {
    "pass": "good",
    "better": "good",
    "as good": "same",
    "fail": "bad",
    "worse": "bad",
    "undecided": "unsure",
    "mixed": "both",
}


@dataclass(frozen=True)
class Share:
    """A part of a bar.

    Attributes:
        look: Its colour.
        x: Where it begins, in hundredths of the bar.
        width: How wide it is, likewise.
    """

    look: str
    x: float
    width: float


@dataclass(frozen=True)
class Tally:
    """How often there is each verdict.

    Attributes:
        shares: As a bar.
        told: In words.
    """

    shares: list[Share]
    told: str


@dataclass(frozen=True)
class Told:
    """A cell on the page.

    Attributes:
        cell: What it holds.
        place: Its address on the page.
        judged: The verdict by a number that a source states; empty where none does.
        source: Where it comes from, in words.
        picture: Its first chart.
        charts: Its other charts.
        numbers: Its measures.
        scenario: Its scenario.
        kinds: What filters know it by.
        note: What was thinned in its charts.
    """

    cell: Cell
    place: str
    judged: str
    source: str
    picture: list[Drawn]
    charts: list[Drawn]
    numbers: TextTable
    scenario: str | None
    kinds: str
    note: str


@dataclass(frozen=True)
class Part:
    """A group of cells on the page.

    Attributes:
        group: What it is about.
        place: Its address on the page.
        cells: Its cells.
        judged: How often their numbers pass.
        compared: How they compare, with each incumbent.
    """

    group: Group
    place: str
    cells: list[Told]
    judged: Tally | None
    compared: list[Tally | None]


def write_evaluation(folder: Path) -> Path:
    """Writes the report of an evaluation, `report.html`, into its folder.

    Args:
        folder: The folder, with `evaluate.json` and the scenarios that it names.

    Returns:
        The file.

    Raises:
        ResultError: The folder does not hold an evaluation, or only a part of one.
        OSError: It cannot be read or written.
    """
    return _kit.write(folder / REPORT, evaluation_page(folder))


def evaluation_page(folder: Path) -> str:
    """The report of an evaluation.

    Raises:
        ResultError: The folder does not hold one, or only a part.
        OSError: It cannot be read.
    """
    found, scenarios = read_evaluation(folder)
    told = [_told(found, cell, index, scenarios) for index, cell in enumerate(found.cells)]
    return _kit.page(
        "evaluation.html",
        kind="evaluation",
        title=found.subject.name,
        about=_about(found),
        subject=_subject(found),
        sentences=list(_sentences(found, told)),
        against=found.against,
        groups=_parts(found, told),
        whole=_tallies(told, found.against),
        total=len(told),
        filters=_filters(told),
        not_tested=found.not_tested,
        made_by=found.longfat,
    )


def _about(found: Evaluation) -> str:
    against = _enumerated(found.against)
    return (
        f"Evaluated against {against or 'nothing'} at {found.scale} scale: {plural(len(found.cells), 'cell')}, "
        f"{plural(found.seeds, 'seed')}, {plural(found.runs, 'run')} in {amount(found.wall_s, TIME)}."
    )


def _subject(found: Evaluation) -> list[tuple[str, str]]:
    """What was evaluated: its settings, where it comes from, what it needs."""
    subject = found.subject
    named = (
        ("controller", subject.control),
        ("from", subject.source),
        ("digest of its code", subject.digest),
        ("the network that it needs", subject.network),
    )
    return [
        (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in named
        if value
    ]


def _told(found: Evaluation, cell: Cell, index: int, scenarios: dict[str, str]) -> Told:
    charts, note = drawn(
        _charts(cell, [found.subject.name, *found.against]), prefix=f"cell-{index}"
    )
    judged = cell.verdict if cell.kind == "pass or fail" else ""
    return Told(
        cell,
        _address(cell.id),
        judged,
        _source(cell),
        charts[:1],
        charts[1:],
        numbers(found, cell),
        None if cell.scenario is None else scenarios[cell.scenario],
        _kinds(cell, judged),
        note,
    )


def _address(name: str) -> str:
    """The address of a cell on the page."""
    return "cell/" + re.sub(r"\s", "-", name)


def _source(cell: Cell) -> str:
    if cell.source is None:
        return ""
    section = f", section {cell.source.section}" if cell.source.section else ""
    return f"{cell.source.document}{section}"


def _kinds(cell: Cell, judged: str) -> str:
    """What a cell is found by: its verdicts, the kind of each first."""
    found = [f"judged-{judged}"] if judged else []
    found += [f"compared-{verdict}" for verdict in cell.against.values()]
    if not judged and not cell.against:
        found.append(cell.verdict)
    return " ".join(each.replace(" ", "-") for each in dict.fromkeys(found))


def _filters(told: Sequence[Told]) -> list[tuple[str, str]]:
    """The filters that leave something."""
    named = (
        ("judged-fail", "a source's number is not met"),
        ("compared-worse", "worse than an incumbent"),
        ("compared-better", "better than an incumbent"),
        ("compared-mixed", "mixed"),
        ("compared-undecided", "undecided"),
        ("evidence", "evidence"),
        ("skipped", "skipped"),
        ("error", "error"),
    )
    there = {kind for each in told for kind in each.kinds.split()}
    return [(kind, name) for kind, name in named if kind in there]


def _parts(found: Evaluation, told: Sequence[Told]) -> list[Part]:
    """The groups in their order; cells of none that is named come last."""
    groups = {group.id: group for group in found.groups}
    for each in told:
        groups.setdefault(each.cell.group, Group(each.cell.group, each.cell.group))
    parts = []
    for group in groups.values():
        cells = [each for each in told if each.cell.group == group.id]
        if cells:
            judged, compared = _tallies(cells, found.against)
            parts.append(Part(group, "group/" + _address(group.id), cells, judged, compared))
    return parts


def _tallies(
    cells: Sequence[Told], against: Sequence[str]
) -> tuple[Tally | None, list[Tally | None]]:
    judged = [each.judged for each in cells if each.judged]
    compared = [
        [each.cell.against[name] for each in cells if name in each.cell.against] for name in against
    ]
    return _tally(judged, JUDGED), [_tally(words, COMPARED) for words in compared]


def _tally(words: Sequence[str], order: Sequence[str]) -> Tally | None:
    """Verdicts counted, in an order; `None` if there are none."""
    counts = Counter(words)
    there = [word for word in (*order, *sorted(set(counts) - set(order))) if counts[word]]
    if not there:
        return None
    shares, at = [], 0.0
    for word in there:
        width = 100 * counts[word] / len(words)
        gap = _GAP if len(there) > 1 else 0.0
        shares.append(Share(_LOOKS.get(word, "none"), round(at, 2), round(width - gap, 2)))
        at += width
    return Tally(shares, ", ".join(f"{counts[word]} {word}" for word in there))


def _sentences(found: Evaluation, told: Sequence[Told]) -> Iterator[str]:
    """What it comes to, in a few sentences."""
    name = found.subject.name
    words = Counter(each.judged for each in told if each.judged)
    if total := sum(words.values()):
        parts = [f"meets it in {words['pass']} of {plural(total, 'cell')}"]
        parts += [f"fails in {words['fail']}"] if words["fail"] else []
        parts += [f"is undecided in {words['undecided']}"] if words["undecided"] else []
        yield f"Where a source states a number, {name} {_enumerated(parts)}."
    beside = {
        other: Counter(each.cell.against[other] for each in told if other in each.cell.against)
        for other in found.against
    }
    for word in ("better", "worse"):
        parts = [
            f"than {other} in {counts[word]} of {plural(sum(counts.values()), 'cell')}"
            for other, counts in beside.items()
            if counts
        ]
        if parts:
            yield f"It does {word} {_enumerated(parts)}."


def _enumerated(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _charts(cell: Cell, controllers: Sequence[str]) -> list[Chart]:
    made = []
    for chart in cell.charts:
        colours = _Colours(controllers)
        lines = tuple(
            Line(
                series.name,
                np.array(series.t, dtype=float),
                np.array([np.nan if v is None else v for v in series.v], dtype=float),
                colours.of(series.name),
            )
            for series in chart.series
            if series.t
        )
        x = f"{chart.x} ({chart.x_unit})" if chart.x_unit else chart.x
        time = chart.x_unit == "s"
        made.append(Chart(chart.title, chart.y_unit, lines, x=x, start=0.0 if time else None))
    return made


class _Colours:
    """The colours of a chart: a controller has the same in all, and what else is drawn has those left."""

    def __init__(self, controllers: Sequence[str]) -> None:
        self._known = {name: index for index, name in enumerate(controllers)}
        self._used: set[int] = set()

    def of(self, name: str) -> int:
        """The colour of a line: of its controller, or else one that no other line has."""
        owners = [each for each in self._known if re.match(rf"{re.escape(each)}(?![\w+-])", name)]
        wanted = self._known[max(owners, key=len)] if owners else len(self._known)
        while wanted in self._used:
            wanted = max(wanted + 1, len(self._known))
        self._used.add(wanted)
        return wanted
