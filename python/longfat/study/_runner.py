"""Many simulations: parallel, cached, in order.

    scenario, _ = read("scenarios/first.toml")
    jobs = [Job(scenario, seed) for seed in range(1, 11)]
    for result in run_many(jobs):
        print(result.job.seed, result.summary if result.summary else result.error)

A simulation uses one core and runs without the interpreter's lock, so threads are enough.

`reduce_many` is for many runs of which little is kept: it starts the most expensive first and reduces each one
in the thread that ran it, so no table outlives its run.
"""

from __future__ import annotations

import os
import threading
import warnings
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from longfat import _longfat
from longfat.errors import MemoryWarning
from longfat.results._folder import LIMITS
from longfat.results._json import decoded
from longfat.results._simulate import free_memory, in_bytes, simulate
from longfat.results._table import Table
from longfat.study._cache import Cache
from longfat.study._threads import SimulationThreads
from longfat.units import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

T = TypeVar("T")

_LOOK_S = 0.1
"""How often progress is reported, in seconds."""


@dataclass(frozen=True)
class Job:
    """One simulation to run.

    Attributes:
        scenario: A resolved scenario.
        seed: Replaces the seed of the scenario; `None` keeps it.
        tables: The tables wanted besides the averages, such as `("flow_series",)`.
    """

    scenario: _longfat.Scenario
    seed: int | None = None
    tables: tuple[str, ...] = ()

    @property
    def resolved(self) -> _longfat.Scenario:
        """The scenario with the seed of the job."""
        return self.scenario if self.seed is None else self.scenario.with_seed(self.seed)


@dataclass(frozen=True)
class Call:
    """A Python function to call among the simulations. It is not cached and cannot be cancelled.

    Attributes:
        function: What to call.
        arguments: Its arguments by name.
    """

    function: Callable[..., object]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """The outcome of a job: it has either a `summary` or an `error`.

    Attributes:
        job: The job.
        summary: The averages, as `longfat run --json` prints them.
        tables: The tables that the job asked for.
        error: What went wrong.
        cached: Whether it came from the cache.
    """

    job: Job
    summary: dict[str, Any] | None = None
    tables: dict[str, Table] = field(default_factory=dict)
    error: str | None = None
    cached: bool = False

    @property
    def scenario(self) -> _longfat.Scenario:
        """What was simulated."""
        return self.job.resolved


@dataclass(frozen=True)
class Returned:
    """The outcome of a call.

    Attributes:
        value: What the function returned.
        error: What it raised.
    """

    value: Any = None
    error: str | None = None


class ProgressCallback(Protocol):
    """Called with how far the jobs have come, about ten times a second, always on the caller's thread."""

    def __call__(self, finished: int, total: int, share: float, /) -> object:
        """`finished` of `total` jobs are done; `share`, 0 to 1, also counts the started ones in part."""


def run_many(
    jobs: Iterable[Job],
    *,
    workers: int | None = None,
    cache: Cache | None = None,
    fresh: bool = False,
    progress: ProgressCallback | None = None,
) -> Iterator[Result]:
    """Runs jobs in parallel and yields their results in the order of the jobs, each as soon as possible.

    A job that fails yields a result with an error and disturbs no other. Every finished job goes into the
    cache at once, so an interrupted call loses no work. Interrupting the iterator (Ctrl-C), closing it or
    leaving the loop cancels whatever is running.

    Args:
        jobs: What to simulate.
        workers: How many at a time; by default one per core that this process may use.
        cache: Where finished runs are kept; by default `Cache()`.
        fresh: Simulate everything, even what is cached.
        progress: Told how far the jobs have come.

    Yields:
        One result per job.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    todo = list(jobs)
    batch = _Batch(cache, [1.0] * len(todo), fresh=fresh)
    with batch.pool(workers) as pool:
        futures = [pool.submit(batch.work, index, job) for index, job in enumerate(todo)]
        todo.clear()
        futures.reverse()
        while futures:
            future = futures.pop()
            while not wait([future], timeout=_LOOK_S).done:
                batch.tell(progress)
            batch.tell(progress)
            yield future.result()


def reduce_many(
    jobs: Sequence[Job | Call],
    reduce: Callable[[int, Result | Returned], T],
    *,
    costs: Sequence[float],
    workers: int | None = None,
    cache: Cache | None = None,
    fresh: bool = False,
    progress: ProgressCallback | None = None,
) -> Iterator[tuple[int, T]]:
    """Runs jobs in parallel, the most expensive first, and yields what `reduce` makes of each.

    Expensive jobs come first so that all cores finish at about the same time. Failures, the cache and
    interruptions are handled as in `run_many`.

    Args:
        jobs: What to run.
        reduce: Called with the index of a job and its result, in the thread that ran it; the result is dropped
            when it returns. What it raises is raised here.
        costs: The cost of each job, in any unit: for the order and for `progress`.
        workers: How many at a time; by default one per core that this process may use.
        cache: Where finished runs are kept; by default `Cache()`.
        fresh: Simulate everything, even what is cached.
        progress: Told how far the jobs have come, weighted by their costs.

    Yields:
        The index of each job in `jobs`, and what `reduce` made of it.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    batch = _Batch(cache, costs, fresh=fresh)

    def work(index: int) -> tuple[int, T]:
        job = jobs[index]
        try:
            result = batch.simulator.call(job) if isinstance(job, Call) else batch.work(index, job)
            return index, reduce(index, result)
        finally:
            batch.shares[index] = 1.0

    with batch.pool(workers) as pool:
        expensive_first = sorted(range(len(jobs)), key=lambda index: -costs[index])
        pending = {pool.submit(work, index) for index in expensive_first}
        while pending:
            finished, pending = wait(pending, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
            batch.tell(progress)
            for future in finished:
                yield future.result()


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Memory:
    """The memory that runs share: as many at a time as fit into what is free."""

    def __init__(self, cancellation: _longfat.Cancellation) -> None:
        self._cancellation = cancellation
        self._changed = threading.Condition()
        self._free = free_memory()
        self._taken: list[float] = []
        self._warned = False

    @contextmanager
    def share(self, needed: float) -> Iterator[None]:
        """Waits until a run that needs so much fits beside the others, and keeps it for the block.

        One that would not even fit alone does not wait: it is for `simulate` to refuse.

        Raises:
            Cancelled: The batch was cancelled.
        """
        with self._changed:
            while self._taken and needed > min(self._free - sum(self._taken), free_memory()):
                if self._cancellation.cancelled:
                    message = "the simulation was cancelled"
                    raise _longfat.Cancelled(message)
                self._warn(needed)
                self._changed.wait(_LOOK_S)
            self._taken.append(needed)
        try:
            yield
        finally:
            with self._changed:
                self._taken.remove(needed)
                self._changed.notify_all()

    def _warn(self, needed: float) -> None:
        warned, self._warned = self._warned, True
        if not warned:
            message = (
                f"fewer runs at a time, for want of memory: one needs about {in_bytes(needed)}, "
                f"{plural(len(self._taken), 'other')} {in_bytes(sum(self._taken))}, and "
                f"{in_bytes(self._free)} were free"
            )
            warnings.warn(message, MemoryWarning, stacklevel=2)


class Simulator:
    """What all runs of a process share: the memory, a cache, and the flag that stops them.

    Any thread may call `run`. Without a cache every run is simulated, and kept by nobody but the caller.
    """

    def __init__(self, cache: Cache | None, *, fresh: bool = False) -> None:
        """Runs with a cache, or with none; `fresh` simulates even what is in it."""
        self.cache = cache
        self.fresh = fresh
        self.cancellation = _longfat.Cancellation()
        self._memory = _Memory(self.cancellation)

    def run(self, job: Job, advanced: Callable[[float], object] | None = None) -> Result:
        """Runs one job; `advanced` is told which share of it is done. A failure becomes an error in the result.

        Raises:
            Cancelled: The flag was raised.
        """
        try:
            return self._simulate(job, advanced)
        except _longfat.Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - one job that fails must not lose the others
            return Result(job, error=str(error) or type(error).__name__)

    def call(self, job: Call) -> Returned:
        """Calls the function of a computation; what it raises becomes an error in the result."""
        try:
            return Returned(job.function(**job.arguments))
        except Exception as error:  # noqa: BLE001 - as above
            return Returned(error=f"{type(error).__name__}: {error}")

    def _simulate(self, job: Job, advanced: Callable[[float], object] | None) -> Result:
        scenario = job.resolved
        if self.cache and not self.fresh and (found := self.cache.load(scenario, job.tables)):
            return Result(job, *found, cached=True)
        record = any(name.endswith("_series") or name == LIMITS for name in job.tables)
        with self._memory.share(scenario.estimate(record=record)["memory"]):
            recording = simulate(
                scenario, record=record, progress=advanced, cancellation=self.cancellation
            )
        summary = decoded(recording.summary_json())
        tables = {name: Table(recording.table(name)) for name in job.tables}
        if self.cache:
            self.cache.store(scenario, summary, tables)
        return Result(job, summary, tables)


class _Batch:
    """What the workers of one call share."""

    def __init__(self, cache: Cache | None, costs: Sequence[float], *, fresh: bool) -> None:
        self.simulator = Simulator(Cache() if cache is None else cache, fresh=fresh)
        self.costs = costs
        self.shares = [0.0] * len(costs)

    @contextmanager
    def pool(self, workers: int | None) -> Iterator[SimulationThreads]:
        """Threads that are stopped when the block is left, however it is left."""
        pool = SimulationThreads(workers or usable_cores())
        try:
            yield pool
        finally:
            pool.stop(self.simulator.cancellation)

    def tell(self, progress: ProgressCallback | None) -> None:
        if progress is not None:
            total = len(self.shares)
            finished = sum(share >= 1.0 for share in self.shares)
            weighted = zip(self.costs, self.shares, strict=True)
            share = sum(cost * min(share, 1.0) for cost, share in weighted) / (
                sum(self.costs) or 1.0
            )
            progress(finished, total, share)

    def work(self, index: int, job: Job) -> Result:
        def advanced(share: float) -> None:
            # A run is finished once its tables exist, not when its simulated time is over.
            self.shares[index] = min(share, 0.999)

        try:
            return self.simulator.run(job, advanced)
        finally:
            self.shares[index] = 1.0
