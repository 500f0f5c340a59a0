"""What a cell has found: values, verdicts, a sentence, pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from longfat.evaluate._judge import Compared, Judged, Overall, compared, judged, overall
from longfat.evaluate._words import enumerated, filled, places, worded
from longfat.study import Estimate, Spent, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.evaluate._contender import Contender
    from longfat.evaluate._pool import Outcome, Use
    from longfat.evaluate.cells._cell import Cell, Line, Measure, Row

Verdict = Literal[
    "pass",
    "fail",
    "better",
    "as good",
    "worse",
    "mixed",
    "undecided",
    "evidence",
    "skipped",
    "error",
]

_SUBJECT = 0
_MOST_POINTS = 250
_DIGITS = 4


@dataclass(frozen=True)
class Value:
    """One measure of a cell.

    Attributes:
        measure: What was measured.
        ours: The mean of the subject over seeds, with its 95 % interval.
        theirs: The same of each incumbent.
        judged: Whether it meets the number that a source states; `None` without one.
        against: The verdict against each incumbent, and the mean difference, ours minus theirs, with its
            interval.
    """

    measure: Measure
    ours: Estimate
    theirs: Mapping[str, Estimate]
    judged: Judged | None
    against: Mapping[str, tuple[Compared, Estimate]]


@dataclass(frozen=True)
class Finding:
    """What a cell has found.

    Attributes:
        cell: The cell.
        verdict: For a cell with a number from a source `pass`, `fail` or `undecided`; for one that compares
            `better`, `as good`, `worse`, `mixed` or `undecided`, over all incumbents; `evidence`; `skipped`
            where the controller has no place, `error` where it could not be run.
        story: The finding in one sentence.
        why: Why it was skipped, or what went wrong.
        values: The measures.
        against: The verdict of the whole cell against each incumbent.
        lines: What its charts show: for each, the lines by their names.
        spent: What its simulations cost, those that other cells share included.
    """

    cell: Cell
    verdict: Verdict
    story: str
    why: str | None = None
    values: list[Value] = field(default_factory=list)
    against: Mapping[str, Overall] = field(default_factory=dict)
    lines: Sequence[Mapping[str, Line]] = ()
    spent: Spent = field(default_factory=Spent)

    def value(self, name: str) -> Value:
        """One of its measures.

        Raises:
            KeyError: There is no such measure.
        """
        known = {value.measure.name: value for value in self.values}
        return known[name]

    def unsaid(self) -> list[str]:
        """What verdicts against incumbents rest on that the story does not tell: measures with their values."""
        said = places(self.cell.says) | places(self.cell.briefly)
        told = []
        for value in self.values:
            measure = value.measure
            decided = [
                f"{verdict} than {name} ({worded(value.theirs[name].mean, measure)})"
                for name, (verdict, _) in value.against.items()
                if verdict in {"better", "worse"}
            ]
            if decided and measure.name not in said:
                ours = worded(value.ours.mean, measure)
                told.append(f"{measure.title}, {ours}: {', '.join(decided)}")
        return told

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row of a table for each measure."""
        for value in self.values:
            row: dict[str, Any] = {
                "cell": self.cell.name,
                "measure": value.measure.name,
                "unit": value.measure.unit,
                "mean": value.ours.mean,
                "half": value.ours.half_width,
            }
            for name, theirs in value.theirs.items():
                verdict = value.against.get(name)
                row |= {name: theirs.mean, f"{name} verdict": verdict[0] if verdict else None}
            yield row


def found_of(
    cell: Cell,
    outcomes: Mapping[Use, Outcome],
    names: Mapping[int, str],
    *,
    seeds: int,
    refused: str | None,
    subject: Contender,
) -> Finding:
    """What a cell has found.

    Args:
        cell: The cell.
        outcomes: What became of its simulations.
        names: Who took part, by their places; the subject has the place 0.
        seeds: How many seeds there were.
        refused: Why the subject has no place in it.
        subject: The subject.
    """
    if refused is not None:
        return Finding(cell, "skipped", f"{subject.name} has no place here: {refused}.", refused)
    spent = sum((outcome.spent for outcome in outcomes.values()), Spent())
    broken = {use.contender: outcome for use, outcome in outcomes.items() if outcome.error}
    if (failed := broken.get(_SUBJECT)) is not None:
        why = str(failed.error)
        if failed.refused:
            return Finding(cell, "skipped", f"{subject.name} has no place here: {why}", why)
        return Finding(cell, "error", f"{subject.name} could not be run: {why}", why, spent=spent)
    taken = {place: _rows(cell, outcomes, place, seeds) for place in names if place not in broken}
    values = [_value(measure, taken, names, chancy=cell.chancy) for measure in cell.measures]
    against: dict[str, Overall] = {
        names[place]: overall(value.against[names[place]][0] for value in values if value.against)
        for place in taken
        if place != _SUBJECT and any(value.against for value in values)
    }
    return Finding(
        cell,
        _verdict(cell, values, against),
        _story(cell, values, names, taken, subject),
        None,
        values,
        against,
        _lines(cell, outcomes, names),
        spent,
    )


def _rows(cell: Cell, outcomes: Mapping[Use, Outcome], place: int, seeds: int) -> list[Row]:
    """What was measured of one contender, for each seed."""
    found = []
    for seed in range(1, seeds + 1):
        scenes = {
            use.scene: outcome.row
            for use, outcome in outcomes.items()
            if use.contender == place and use.seed == seed
        }
        row = next(iter(scenes.values())) if cell.combine is None else cell.combine(scenes)
        found.append({name: _number(value) for name, value in row.items()})
    return found


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _value(
    measure: Measure, taken: Mapping[int, list[Row]], names: Mapping[int, str], *, chancy: bool
) -> Value:
    columns = {place: [row[measure.name] for row in rows] for place, rows in taken.items()}
    if not chancy:  # what has no chance is as sure as if it had been seen twice
        columns = {place: 2 * column for place, column in columns.items()}
    ours = estimate(columns[_SUBJECT])
    others = {place: column for place, column in columns.items() if place != _SUBJECT}
    return Value(
        measure,
        ours,
        {names[place]: estimate(column) for place, column in others.items()},
        judged(ours, measure),
        {
            names[place]: compared(columns[_SUBJECT], column, measure)
            for place, column in others.items()
        }
        if measure.better
        else {},
    )


def _verdict(cell: Cell, values: Sequence[Value], against: Mapping[str, Overall]) -> Verdict:
    if cell.kind == "pass or fail":
        found = {value.judged for value in values}
        return "fail" if "fail" in found else "undecided" if "undecided" in found else "pass"
    if cell.kind == "evidence" or not against:
        return "evidence"
    verdicts = set(against.values())
    return verdicts.pop() if len(verdicts) == 1 else "mixed"


def _story(
    cell: Cell,
    values: Sequence[Value],
    names: Mapping[int, str],
    taken: Mapping[int, list[Row]],
    subject: Contender,
) -> str:
    """One sentence: what the subject does, and what the incumbents do in its place."""
    ours = {value.measure.name: value.ours.mean for value in values}
    told = filled(cell.says, subject.name, ours, cell.measures)
    parts = []
    for place in taken:
        if place != _SUBJECT:
            theirs = {value.measure.name: value.theirs[names[place]].mean for value in values}
            parts.append(filled(cell.briefly, names[place], theirs, cell.measures))
    network = f", with {subject.network}, which {subject.name} needs" if subject.network else ""
    return f"{told}{network}; {enumerated(parts)}." if parts else f"{told}{network}."


def _lines(
    cell: Cell, outcomes: Mapping[Use, Outcome], names: Mapping[int, str]
) -> list[dict[str, Line]]:
    """The lines of each chart, thinned."""
    found: list[dict[str, Line]] = [{} for _ in cell.charts]
    for use, outcome in outcomes.items():
        drawn = [
            index
            for index, chart in enumerate(cell.charts)
            if use.contender == _SUBJECT or not chart.alone
        ]
        for index, lines in zip(drawn, outcome.lines, strict=False):
            for name, line in lines.items():
                label = name or names[use.contender]
                taken = label in found[index]
                found[index][f"{label} (incumbent)" if taken else label] = _thinned(line)
    return found


def _thinned(line: Line) -> Line:
    """At most so many points, to so many digits."""
    times, values = line
    step = max(1, math.ceil(len(times) / _MOST_POINTS))
    return (
        [_short(time) for time in times[::step]],
        [None if value is None else _short(value) for value in values[::step]],
    )


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
