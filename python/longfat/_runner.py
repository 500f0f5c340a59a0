"""Many simulations: in parallel, cached, in order.

    scenario, _ = read("scenarios/first.toml")
    jobs = [Job(scenario, seed) for seed in range(1, 11)]
    for result in run_many(jobs):
        print(result.job.seed, result.summary if result.summary else result.error)

One simulation uses one core and runs without the interpreter's lock, so threads are enough.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from longfat import _longfat
from longfat._cache import Cache
from longfat._table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
class Result:
    """What became of a job: either `summary` or `error` is there.

    Attributes:
        job: The job.
        summary: The averages, as `longfat run --json` prints them.
        tables: The tables that the job asked for.
        error: What went wrong, in words.
        cached: Was it simulated earlier?
    """

    job: Job
    summary: dict[str, Any] | None = None
    tables: dict[str, Table] = field(default_factory=dict)
    error: str | None = None
    cached: bool = False


class ProgressCallback(Protocol):
    """Told how far the jobs are, some ten times a second, always on the caller's thread."""

    def __call__(self, finished: int, total: int, share: float, /) -> object:
        """`finished` of `total` jobs are done; `share` counts the begun ones in part, 0 to 1."""


def run_many(
    jobs: Iterable[Job],
    *,
    workers: int | None = None,
    cache: Cache | None = None,
    fresh: bool = False,
    progress: ProgressCallback | None = None,
) -> Iterator[Result]:
    """Runs jobs in parallel and yields their results in the order of the jobs, each as soon as possible.

    A job that fails yields a result with an error and disturbs no other. Every finished job is in the cache
    at once, so that an interrupted call loses no work. Interrupting it (Ctrl-C), closing it or leaving the
    loop cancels what runs.

    Args:
        jobs: What to simulate.
        workers: How many at a time; by default one per core that this process may use.
        cache: Where finished runs are kept; by default `Cache()`.
        fresh: Simulate everything, even what the cache has.
        progress: Told how far the jobs are.

    Yields:
        One result per job.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    todo = list(jobs)
    batch = _Batch(Cache() if cache is None else cache, [0.0] * len(todo), fresh=fresh)
    pool = ThreadPoolExecutor(workers or usable_cores(), thread_name_prefix="longfat")
    try:
        futures = [pool.submit(batch.work, index, job) for index, job in enumerate(todo)]
        todo.clear()
        futures.reverse()
        while futures:
            future = futures.pop()
            while not _arrived(future):
                batch.tell(progress)
            batch.tell(progress)
            yield future.result()
    finally:
        batch.cancellation.cancel()
        pool.shutdown(wait=True, cancel_futures=True)


def usable_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Batch:
    """What the workers of one call share."""

    def __init__(self, cache: Cache, shares: list[float], *, fresh: bool) -> None:
        self.cache = cache
        self.shares = shares
        self.fresh = fresh
        self.cancellation = _longfat.Cancellation()

    def tell(self, progress: ProgressCallback | None) -> None:
        if progress is not None:
            total = len(self.shares)
            finished = sum(share >= 1.0 for share in self.shares)
            progress(finished, total, sum(min(share, 1.0) for share in self.shares) / total)

    def work(self, index: int, job: Job) -> Result:
        try:
            return self._simulate(index, job)
        except _longfat.Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - one job that fails must not lose the others
            return Result(job, error=str(error) or type(error).__name__)
        finally:
            self.shares[index] = 1.0

    def _simulate(self, index: int, job: Job) -> Result:
        scenario = job.resolved
        if not self.fresh and (found := self.cache.load(scenario, job.tables)):
            return Result(job, *found, cached=True)

        def advanced(share: float) -> None:
            # A run is finished when its tables are there, not when its time has passed.
            self.shares[index] = min(share, 0.999)

        recording = _longfat.simulate(
            scenario,
            record=any(name.endswith("_series") for name in job.tables),
            progress=advanced,
            cancellation=self.cancellation,
        )
        summary = json.loads(recording.summary_json())
        tables = {name: Table(recording.table(name)) for name in job.tables}
        self.cache.store(scenario, summary, tables)
        return Result(job, summary, tables)


def _arrived(future: Future[Result]) -> bool:
    done, _ = wait([future], timeout=_LOOK_S)
    return bool(done)
