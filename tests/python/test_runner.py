from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from longfat import _longfat
from longfat.errors import MemoryWarning
from longfat.results._simulate import simulate
from longfat.scenario import read
from longfat.study import _runner
from longfat.study._runner import Job, Result, run_many
from support import ENDLESS, SMALL


@pytest.fixture
def scenario() -> _longfat.Scenario:
    return read(SMALL)[0]


def facts(result: Result) -> dict[str, Any]:
    """Everything except what depends on the clock."""
    assert result.summary is not None, result.error
    return {key: value for key, value in result.summary.items() if key != "engine"}


def test_results_come_in_the_order_of_the_jobs(scenario: _longfat.Scenario) -> None:
    long, _ = read(SMALL, changes=["duration=40 s"])
    jobs = [Job(long, 1), *(Job(scenario, seed) for seed in range(2, 8))]
    results = list(run_many(jobs, workers=3))
    assert [result.job for result in results] == jobs
    assert [facts(result)["seed"] for result in results] == list(range(1, 8))


def test_parallel_cached_and_alone_give_the_same(scenario: _longfat.Scenario) -> None:
    jobs = [Job(scenario, seed) for seed in (1, 2, 3)]
    parallel = list(run_many(jobs, workers=3))
    cached = list(run_many(jobs, workers=3))
    alone = list(run_many(jobs, workers=1, fresh=True))
    assert [result.cached for result in parallel + cached + alone] == [False] * 3 + [True] * 3 + [
        False
    ] * 3
    assert [*map(facts, parallel)] == [*map(facts, cached)] == [*map(facts, alone)]
    direct = json.loads(_longfat.simulate(scenario.with_seed(2)).summary_json())
    assert facts(parallel[1]) == {key: value for key, value in direct.items() if key != "engine"}


def test_tables_come_on_request_and_are_cached(scenario: _longfat.Scenario) -> None:
    list(run_many([Job(scenario)]))
    (fresh,) = run_many([Job(scenario, tables=("flow_series", "links"))])
    (cached,) = run_many([Job(scenario, tables=("flow_series", "links"))])
    assert (fresh.cached, cached.cached) == (False, True)
    for name in ("flow_series", "links"):
        assert len(fresh.tables[name]) > 0
        assert fresh.tables[name].to_polars().equals(cached.tables[name].to_polars())
    assert next(run_many([Job(scenario)])).cached


def test_one_failure_loses_nothing_else(
    scenario: _longfat.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = _longfat.simulate

    def breaks(scenario: _longfat.Scenario, **options: Any) -> _longfat.Recording:
        if scenario.seed == 2:
            message = "the window became negative"
            raise _longfat.EngineError(message)
        return simulate(scenario, **options)

    monkeypatch.setattr("longfat._longfat.simulate", breaks)
    results = list(run_many(Job(scenario, seed) for seed in (1, 2, 3)))
    assert [result.error for result in results] == [None, "the window became negative", None]
    assert [result.summary is None for result in results] == [False, True, False]


def test_progress_counts_to_the_end(scenario: _longfat.Scenario) -> None:
    seen: list[tuple[int, int, float]] = []
    threads = set()

    def watch(finished: int, total: int, share: float) -> None:
        threads.add(threading.get_ident())
        seen.append((finished, total, share))

    list(run_many([Job(scenario, seed) for seed in range(4)], progress=watch))
    assert threads == {threading.get_ident()}
    assert seen == sorted(seen)
    assert seen[-1] == (4, 4, 1.0)


def test_leaving_the_loop_cancels_what_runs(scenario: _longfat.Scenario) -> None:
    endless, _ = read(ENDLESS)
    results = run_many([Job(scenario), Job(endless), Job(endless, 2)], workers=3)
    assert next(results).summary
    begin = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - begin < 2
    assert next(run_many([Job(scenario)])).cached


def test_an_error_of_the_caller_keeps_what_is_finished(scenario: _longfat.Scenario) -> None:
    endless, _ = read(ENDLESS)

    def stop(finished: int, _total: int, _share: float) -> None:
        if finished == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_many([Job(endless), Job(scenario)], workers=2, progress=stop))
    assert next(run_many([Job(scenario)])).cached


def test_no_jobs_no_results() -> None:
    assert list(run_many([])) == []


def test_cancelled_before_it_begins(scenario: _longfat.Scenario) -> None:
    cancellation = _longfat.Cancellation()
    cancellation.cancel()
    assert cancellation.cancelled
    with pytest.raises(_longfat.Cancelled):
        _longfat.simulate(scenario, cancellation=cancellation)


def test_runs_that_do_not_fit_together_wait_for_each_other(
    scenario: _longfat.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [Job(scenario, seed) for seed in range(1, 7)]
    each = jobs[0].scenario.estimate(record=False)["memory"]
    lock = threading.Lock()
    at_once, most = 0, 0

    def counted(*arguments: Any, **options: Any) -> _longfat.Recording:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        try:
            time.sleep(0.05)  # long enough for whoever does not wait to come in between
            return simulate(*arguments, **options)
        finally:
            with lock:
                at_once -= 1

    monkeypatch.setattr(_runner, "simulate", counted)
    monkeypatch.setattr(_runner, "free_memory", lambda: 2.5 * each)
    with pytest.warns(MemoryWarning, match="fewer runs at a time, for want of memory"):
        results = list(run_many(jobs, workers=4, fresh=True))
    assert [result.error for result in results] == [None] * 6
    assert most == 2

    most = 0
    monkeypatch.setattr(_runner, "free_memory", lambda: 0.5 * each)
    with pytest.warns(MemoryWarning):
        results = list(run_many(jobs, workers=4, fresh=True))
    assert most == 1, "what does not even fit alone is for the estimate of a single run to refuse"
