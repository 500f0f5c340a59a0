"""An evaluation: running it, and what it found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.evaluate import _report
from longfat.evaluate._prepared import INCUMBENTS, Prepared
from longfat.results._folder import ResultFolder

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import polars as pl

    from longfat.evaluate._finding import Finding
    from longfat.evaluate.cells._cell import Scale
    from longfat.own import Brought
    from longfat.study import Cache, ProgressCallback, Spent


@dataclass(frozen=True)
class Evaluation:
    """A finished evaluation.

    Attributes:
        prepared: What was asked.
        findings: What each cell found, in order.
        spent: What all simulations cost.
        wall_s: How long it took, in seconds.
        folder: Where it was written; `None` if it was not.
    """

    prepared: Prepared = field(repr=False)
    findings: list[Finding] = field(repr=False)
    spent: Spent
    wall_s: float
    folder: Path | None = None

    def __repr__(self) -> str:
        """Who was evaluated, against whom, and the counts, in one line."""
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        names = ", ".join(each.name for each in self.prepared.against)
        return f"<Evaluation {self.prepared.subject.name} against {names}: {counts}>"

    @property
    def counts(self) -> dict[str, int]:
        """How many cells have each verdict."""
        found: dict[str, int] = {}
        for finding in self.findings:
            found[finding.verdict] = found.get(finding.verdict, 0) + 1
        return found

    @property
    def failed(self) -> list[Finding]:
        """The cells that fail a number that a source states, or that could not be run."""
        return [finding for finding in self.findings if finding.verdict in ("fail", "error")]

    def cell(self, name: str) -> Finding:
        """What a cell found.

        Raises:
            KeyError: There is no such cell.
        """
        return next(finding for finding in self.findings if finding.cell.name == name)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each measure of each cell.

        Columns: `cell`, `measure`, `unit`, the `mean` and `half` of its 95 % interval; and for each incumbent
        its mean and the verdict against it, in columns named after it.
        """
        import polars as pl

        rows = [row for finding in self.findings for row in finding.rows()]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """The content of `evaluate.json`, as plain data."""
        return _report.content(self.prepared, self.findings, self.spent, self.wall_s)

    def save(self, folder: str | os.PathLike[str] | None = None) -> Path:
        """Writes a folder: `evaluate.json`, `junit.xml`, the scenarios, and the report.

        Args:
            folder: Where; by default `runs/evaluate-NAME-SCALE`. An earlier evaluation there is replaced whole.

        Returns:
            The folder.

        Raises:
            FileExistsError: Something other than an evaluation is there.
            OSError: The folder cannot be written; nothing is left half-written.
        """
        target = default_folder(self.prepared) if folder is None else Path(folder)
        with ResultFolder(target, _report.KIND) as result:
            self._write(result.path)
            result.commit()
        return target

    def _write(self, folder: Path) -> None:
        _report.write(folder, self.to_dict(), self.findings, self.prepared.scenarios)


def evaluate(
    control: str | Mapping[str, Any] | Brought,
    *,
    against: Sequence[str | Mapping[str, Any] | Brought] = INCUMBENTS,
    scale: Scale = "quick",
    cells: Sequence[str] = (),
    seeds: int | None = None,
    out: str | os.PathLike[str] | None = None,
    allow_code: bool = False,
    workers: int | None = None,
    cache: Cache | None = None,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Shows what RFC 9743 and its kin want to be shown of a congestion controller.

    It runs in many cells: paths, competitors and disturbances, each with its source. Every cell is also run
    with each incumbent in its place, with the same seeds. Finished runs are kept, so incumbents are
    simulated once for all evaluations.

    Args:
        control: The controller: a name, a table such as `{"kind": "exp", "gamma": 0.1}`, a name in a file
            (`rules.py:gentle`) or library (`librules.so:gentle`), or an object, as `controllers=` of
            `longfat.run` takes.
        against: The incumbents, likewise.
        scale: `quick`, minutes, or `full`, up to an hour.
        cells: Only these: names, groups, or patterns with `*`. By default all.
        seeds: How many seeds; 3 or 8 by default. One gives values without verdicts.
        out: A folder to write; without it nothing is written.
        allow_code: Let it name code, which is then loaded, and run.
        workers: How many runs at a time; by default one for each core.
        cache: Where finished runs are kept; by default where all are.
        progress: Told how far it has come.

    Returns:
        The evaluation: `.findings`, `.table`, `.failed`, `.save()`.

    Raises:
        EvaluationError: Something is asked for that there is not.
        ScenarioError: A controller is refused.
        OSError: The folder cannot be written.
        KeyboardInterrupt: Ctrl-C. What is finished stays in the cache.
    """
    prepared = Prepared(
        control,
        against=against,
        scale=scale,
        cells=cells,
        seeds=seeds,
        allow_code=allow_code,
        cache=cache,
    )
    return run(prepared, out, workers=workers, progress=progress)


def default_folder(prepared: Prepared) -> Path:
    """Where an evaluation is written by default."""
    return Path("runs") / f"evaluate-{_report.word(prepared.subject.name)}-{prepared.scale}"


def run(
    prepared: Prepared,
    out: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Runs what is not in the cache, judges, and writes a folder.

    That the folder can be written is known before anything runs.

    Args:
        prepared: What was asked.
        out: The folder; without it nothing is written.
        workers: How many runs at a time; by default one for each core.
        progress: Told how far it has come.

    Raises:
        FileExistsError: Something other than an evaluation is there.
        OSError: The folder cannot be written.
        KeyboardInterrupt: Ctrl-C. What is finished stays in the cache.
    """
    if out is None:
        return _run(prepared, None, workers, progress)
    with ResultFolder(out, _report.KIND) as result:
        found = _run(prepared, Path(out), workers, progress)
        found._write(result.path)  # noqa: SLF001 - of this module
        result.commit()
    return found


def _run(
    prepared: Prepared,
    folder: Path | None,
    workers: int | None,
    progress: ProgressCallback | None,
) -> Evaluation:
    begun = time.monotonic()
    outcomes, spent = prepared.pool.run(workers=workers, progress=progress)
    findings = [prepared.finding(cell, outcomes) for cell in prepared.cells]
    return Evaluation(prepared, findings, spent, time.monotonic() - begun, folder)
