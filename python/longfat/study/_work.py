"""Working off the runs of a study: in chunks, the most expensive first, whoever else is at it."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from longfat.study._cache import engine_address
from longfat.study._chunk import MOST_ROWS, Chunk, Task
from longfat.study._engines import LostError, Threads
from longfat.study._parts import ERROR, RUN, Claims, Parts, write_part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from typing_extensions import Self

    from longfat.study._engines import Engine
    from longfat.study._runs import Batch, Runs

FLUSH_S = 10.0
"""How much work is lost at most when a process is killed, in seconds of one worker."""

_FIRST_FLUSH_S = 0.5
_SHARE = 10
"""A chunk takes this share of the time since the beginning: what is lost is little, and there are few files."""

_LOOK_S = 0.1
_WAIT_S = 0.3
_AHEAD = 2
_WORTH = 50
"""A file is written after so many times what writing one takes."""

_TRIES = 3


@dataclass(frozen=True)
class Progress:
    """How far a study has come.

    Attributes:
        done: Runs finished since the beginning.
        failed: How many of them failed.
        total: How many there were to do.
        share: How much of the work is done, 0 to 1, weighted by what runs cost.
    """

    done: int
    failed: int
    total: int
    share: float


class StudyProgress(Protocol):
    """Is told how far a study has come, about ten times a second, on the thread of the caller."""

    def __call__(self, progress: Progress, /) -> object:
        """So far."""


@dataclass
class _Underway:
    chunk: Chunk
    runs: list[int]


@dataclass
class Work:
    """The runs of a batch that are not finished.

    Attributes:
        runs: The study.
        parts: What is finished.
        claims: What others are at.
        begin: Makes what runs them, when there is something to run: a study that is finished needs no cluster.
        mark: The checksum of the study file in the folder.
        tell: Told how far it has come.
        named: Told once which numbers simulations have, as soon as one is finished.
    """

    runs: Runs
    parts: Parts
    claims: Claims
    begin: Callable[[], Engine]
    mark: str
    tell: StudyProgress | None = None
    named: Callable[[Collection[str]], object] | None = None
    _elsewhere: list[int] = field(default_factory=list)
    _retry: deque[int] = field(default_factory=deque)
    _tries: dict[int, int] = field(default_factory=dict)

    @cached_property
    def engine(self) -> Engine:
        """What runs them, from now on."""
        return self.begin()

    def __enter__(self) -> Self:
        """Nothing is running yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stops what is running."""
        if "engine" in self.__dict__:
            self.engine.close()

    def work_off(self, batch: Batch) -> None:
        """Runs whatever of a batch is not finished.

        Raises:
            StudyError: The study asks for a number that runs do not have.
            KeyboardInterrupt: Ctrl-C. What is finished stays.
        """
        self.parts.refresh()
        todo = np.flatnonzero(~self.parts.finished(batch.ids))
        # A run that several points ask for is run once.
        _, first = np.unique(batch.ids[todo], return_index=True)
        todo = todo[np.sort(first)]
        self._batch = batch
        self._costs = self.runs.costs[batch.points]
        order = todo[np.argsort(-self._costs[todo], kind="stable")]
        self._order, self._at = order, 0
        self._left = float(self._costs[order].sum())
        self._total_cost = max(self._left, 1e-9)
        self._total, self._done, self._failed, self._done_cost = len(order), 0, 0, 0.0
        self._begun = time.monotonic()
        self._spent = self._worth = self._writing = 0.0
        self._written = 0
        if isinstance(self.engine, Threads):
            # This thread has little to do meanwhile: what draws is imported now, not at the end. An executor
            # may fork, and in a fork what was just being imported would be imported for ever.
            threading.Thread(target=import_module, args=["longfat.plot"], daemon=True).start()
        pending: dict[Any, _Underway] = {}
        while True:
            while len(pending) < _AHEAD * self.engine.slots and (next_ := self._next()):
                pending[self.engine.submit(next_.chunk)] = next_
            self._report()
            if not pending:
                if not (self._elsewhere or self._retry or self._at < len(self._order)):
                    return
                time.sleep(_WAIT_S)
                self._look_elsewhere()
                continue
            for ticket in self.engine.wait(pending, _LOOK_S):
                self._take(ticket, pending.pop(ticket))
            if self._elsewhere and self._at >= len(self._order):
                self._look_elsewhere()

    def _take(self, ticket: Any, over: _Underway) -> None:  # noqa: ANN401 - of the engine
        """Notes what has become of a chunk."""
        chunk = over.chunk
        try:
            finished = self.engine.result(ticket)
        except LostError as lost:
            self._lost(over, lost)
            return
        if finished.rows:
            write_part(Path(chunk.folder), finished.rows)
        for written in finished.written:
            self.parts.add(*written)
        self._writing += finished.writing
        self._written += len(finished.written)
        self._spent += finished.seconds
        self._worth += chunk.cost
        self._count(over.runs, finished.failed)
        if finished.names and self.named is not None:
            self.named(finished.names)
            self.named = None

    def _count(self, runs: Collection[int], failed: int) -> None:
        self._done += len(runs)
        self._failed += failed
        self._done_cost += float(self._costs[list(runs)].sum())
        self.claims.drop(int(self._batch.ids[run]) for run in runs)

    def _lost(self, over: _Underway, lost: LostError) -> None:
        """What a lost chunk had not written is run again, unless workers die of it again and again."""
        self.parts.refresh()
        there = self.parts.finished(self._batch.ids[over.runs])
        self._count([run for run, done in zip(over.runs, there, strict=True) if done], 0)
        for run, done in zip(over.runs, there, strict=True):
            if done:
                continue
            if lost.blamed and len(over.runs) == 1:
                self._tries[run] = self._tries.get(run, 0) + 1
                if self._tries[run] >= _TRIES:
                    name = self._name(run)
                    write_part(Path(over.chunk.folder), [{RUN: name, ERROR: str(lost)}])
                    self._count([run], 1)
                    continue
            self._retry.append(run)

    def _next(self) -> _Underway | None:
        """The next chunk, if there is anything that nobody is at."""
        if self._retry:  # one by one, to find out which of them is to blame
            return self._chunk([self._retry.popleft()])
        self.parts.refresh()
        while self._at < len(self._order):
            slice_ = self._order[self._at : self._at + MOST_ROWS]
            there = self.parts.finished(self._batch.ids[slice_])
            chosen: list[int] = []
            cost, most = 0.0, self._most()
            for run, done in zip(slice_.tolist(), there.tolist(), strict=True):
                if chosen and cost + self._costs[run] > most:
                    break
                self._at += 1
                self._left -= float(self._costs[run])
                if done:  # by somebody else
                    self._count([run], 0)
                elif self.claims.take(int(self._batch.ids[run])):
                    chosen.append(run)
                    cost += float(self._costs[run])
                else:
                    self._elsewhere.append(run)
            # Between the look and the claim it may have been finished, and given up, by somebody else.
            if chosen and self.parts.refresh():
                there = self.parts.finished(self._batch.ids[chosen])
                self._count([run for run, done in zip(chosen, there, strict=True) if done], 0)
                chosen = [run for run, done in zip(chosen, there, strict=True) if not done]
            if chosen:
                return self._chunk(chosen)
        return None

    def _look_elsewhere(self) -> None:
        """What somebody else was at: finished, given up, or still under way."""
        self.parts.refresh()
        waiting, self._elsewhere = self._elsewhere, []
        if not waiting:
            return
        there = self.parts.finished(self._batch.ids[waiting])
        for run, done in zip(waiting, there.tolist(), strict=True):
            if done:
                self._count([run], 0)
            elif self.claims.take(int(self._batch.ids[run])):
                self.parts.refresh()
                if self.parts.finished(self._batch.ids[[run]])[0]:
                    self._count([run], 0)
                else:
                    self._retry.append(run)
            else:
                self._elsewhere.append(run)

    def _flush_s(self) -> float:
        elapsed = time.monotonic() - self._begun
        one = self._writing / self._written if self._written else 0.0
        return min(FLUSH_S, max(_FIRST_FLUSH_S, elapsed / _SHARE, one * _WORTH))

    def _most(self) -> float:
        """What a chunk may cost: so much that writing it is cheap, so little that all workers end together."""
        pace = self._spent / self._worth if self._worth else 1.0
        return min(self._flush_s() / max(pace, 1e-6), self._left / (2 * self.engine.slots))

    def _name(self, run: int) -> str:
        return self.runs.name(int(self._batch.points[run]), int(self._batch.places[run]))

    def _chunk(self, chosen: list[int]) -> _Underway:
        tasks: list[Task] = []
        by_point: dict[int, list[int]] = {}
        for run in chosen:
            by_point.setdefault(int(self._batch.points[run]), []).append(run)
        for point, some in by_point.items():
            seeds = tuple(
                (self.runs.seed(int(self._batch.places[run])), self._name(run)) for run in some
            )
            cost = float(self.runs.costs[point])
            task = Task(self.runs.scenario(point), self.runs.engine(point), seeds, cost)
            tasks.append(task)
        chunk = Chunk(
            folder=str(self.parts.folder.resolve()),
            mark=self.mark,
            address=engine_address(),
            series=tuple(self.runs.file.series),
            fluid=self.runs.fluid_options,
            flush_s=self._flush_s(),
            tasks=tuple(tasks),
            code=self.runs.template.code,
        )
        return _Underway(chunk, chosen)

    def _report(self) -> None:
        if self.tell is not None:
            share = (self._done_cost + self.engine.under_way()) / self._total_cost
            if self._done >= self._total:
                share = 1.0
            self.tell(Progress(self._done, self._failed, self._total, min(share, 1.0)))
