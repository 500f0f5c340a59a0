"""What one worker does at a time: a few runs, in this process or on another machine."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat._fork import has_threads
from longfat.errors import ForkError, StudyError
from longfat.own import NOTHING, Code
from longfat.results._folder import checksum
from longfat.study._cache import engine_address
from longfat.study._numbers import names_of, of_fluid, of_summary
from longfat.study._parts import ERROR, PARTS, RUN, SERIES, write_part, write_series
from longfat.study._runner import Call, Job, Simulator

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ROWS = 256
"""So many rows at most wait for being written."""

FILE = "study.toml"


@dataclass(frozen=True)
class Task:
    """Some seeds of one point.

    Attributes:
        scenario: The resolved scenario, or its text.
        engine: `packets` or `fluid`.
        seeds: The seeds, with the name of each run.
        cost: What one run is expected to take, in seconds.
    """

    scenario: _longfat.Scenario | str
    engine: str
    seeds: tuple[tuple[int, str], ...]
    cost: float = 1.0

    def portable(self) -> Task:
        """The same, for another process."""
        return (
            self
            if isinstance(self.scenario, str)
            else replace(self, scenario=self.scenario.to_toml())
        )


@dataclass(frozen=True)
class Chunk:
    """Runs for one worker.

    Attributes:
        folder: The folder of the study, which the worker may see or not.
        mark: The checksum of the study file in it, by which the worker knows that it does.
        address: The engine: a worker with another one would compute something else.
        series: Time series to keep.
        fluid: How fluid models are solved.
        flush_s: After so many seconds, what is finished is written.
        tasks: The runs.
        code: What their scenarios use beyond longfat, or the same for another process.
    """

    folder: str
    mark: str
    address: str
    series: tuple[str, ...]
    fluid: dict[str, Any]
    flush_s: float
    tasks: tuple[Task, ...]
    code: Code | bytes = NOTHING

    def portable(self) -> Chunk:
        """The same, for another process."""
        code = self.code.portable() if isinstance(self.code, Code) else self.code
        return replace(self, tasks=tuple(task.portable() for task in self.tasks), code=code)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(len(task.seeds) for task in self.tasks)

    @property
    def cost(self) -> float:
        """What they are expected to take, in seconds."""
        return sum(task.cost * len(task.seeds) for task in self.tasks)


@dataclass
class Finished:
    """What has become of a chunk.

    Attributes:
        failed: How many runs failed.
        seconds: What the chunk took.
        writing: How much of that was for writing.
        written: The files that were written: name, runs, which of them failed.
        rows: The rows, where the worker could not write them itself.
        names: The numbers that simulations of the study have, if there was one.
    """

    failed: int = 0
    seconds: float = 0.0
    writing: float = 0.0
    written: list[tuple[str, list[str], list[bool]]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


def run_chunk(
    chunk: Chunk,
    simulator: Simulator | None = None,
    advanced: Callable[[float], object] | None = None,
) -> Finished:
    """Runs a chunk, and writes its rows as soon as they are worth a file.

    Args:
        chunk: The runs.
        simulator: What the runs of this process share.
        advanced: Told how many runs are done, in parts.

    Raises:
        StudyError: This worker has another engine.
        ForkError: It is a fork without threads, which fluid solutions and time series need.
        Cancelled: It was interrupted; what had been finished is written.
    """
    if chunk.address != engine_address():
        message = (
            "a worker has another build of longfat than the study: install the same one everywhere"
        )
        raise StudyError(message)
    simulator = Simulator(None) if simulator is None else simulator
    folder = Path(chunk.folder)
    shared = _is_shared(chunk)
    code = Code.restored(chunk.code) if isinstance(chunk.code, bytes) else chunk.code
    finished = Finished()
    begun = flushed = time.monotonic()
    rows: list[dict[str, Any]] = []
    done = 0

    def flush() -> None:
        nonlocal flushed
        if rows and shared:
            before = time.monotonic()
            path = write_part(folder, rows)
            failed = [ERROR in row for row in rows]
            finished.written.append((path.name, [row[RUN] for row in rows], failed))
            finished.writing += time.monotonic() - before
            rows.clear()
        flushed = time.monotonic()

    def part(share: float) -> None:
        if advanced is not None:
            advanced(done + min(share, 1.0))

    try:
        for task in chunk.tasks:
            scenario = (
                _longfat.Scenario.parse(task.scenario, own=code.handles(), code=code.fetcher(None))
                if isinstance(task.scenario, str)
                else task.scenario
            )
            for seed, name in task.seeds:
                row = _row(chunk, task, scenario.with_seed(seed), name, (simulator, part, finished))
                rows.append(row)
                finished.failed += ERROR in row
                done += 1
                part(0.0)
                if time.monotonic() - flushed >= chunk.flush_s or len(rows) >= MOST_ROWS:
                    flush()
    finally:
        flush()
    finished.rows = rows
    finished.seconds = time.monotonic() - begun
    return finished


def _row(
    chunk: Chunk,
    task: Task,
    scenario: _longfat.Scenario,
    name: str,
    means: tuple[Simulator, Callable[[float], object], Finished],
) -> dict[str, Any]:
    simulator, advanced, finished = means
    if task.engine == "fluid":
        returned = simulator.call(Call(of_fluid, {"scenario": scenario, **chunk.fluid}))
        if returned.error is not None:
            return {RUN: name, ERROR: returned.error}
        return {RUN: name, **returned.value}
    result = simulator.run(Job(scenario, None, chunk.series), advanced)
    if result.summary is None:
        return {RUN: name, ERROR: result.error}
    finished.names = finished.names or names_of(result.summary)
    row: dict[str, Any] = {RUN: name, **of_summary(result.summary)}
    for series, table in result.tables.items():
        row[f"{SERIES}{series}"] = write_series(Path(chunk.folder), series, name, table)
    return row


def _is_shared(chunk: Chunk) -> bool:
    """Whether this worker writes its rows itself; otherwise they go back to whoever has asked.

    Raises:
        StudyError: They have to be written here, and the folder cannot be seen.
        ForkError: Here is a fork without threads, in which nothing can be written, or solved.
    """
    folder = Path(chunk.folder)
    here, able = _is_here(folder, chunk.mark), has_threads()
    if chunk.series and not here:
        message = f"a worker cannot see {folder}, and time series are not sent: share the folder, or keep none"
        raise StudyError(message)
    if not able and (chunk.series or any(task.engine == "fluid" for task in chunk.tasks)):
        raise ForkError
    return here and able


def _is_here(folder: Path, mark: str) -> bool:
    """Whether this machine sees the folder of the study."""
    try:
        return (folder / PARTS).is_dir() and checksum(folder / FILE) == mark
    except OSError:
        return False
