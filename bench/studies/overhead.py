"""What a study costs beside its simulations: time of 1000 runs of 50 ms, and memory of 10³ to 10⁵ tiny ones.

    bench/studies/overhead.py time      the simulations alone, on two cores, on a local Dask cluster
    bench/studies/overhead.py memory    the largest resident memory at 1 000, 10 000 and 100 000 runs

Times are those of the wall and of the processors; on a busy machine the latter mean more. A fixed quiet
machine makes the former repeatable.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from longfat import _longfat
from longfat.scenario import read

ROOT = Path(__file__).resolve().parents[2]
RUNS = 1000
RATES = 10
SECONDS = "34 s"
"""Simulated time of a run that takes some 50 ms."""

STUDY = """
scenario = "{scenario}"
seeds = {seeds}
[set]
duration = "{duration}"
warmup = "{warmup}"
[vary]
"link.bottleneck.rate" = {rates}
"""


def study(folder: Path, *, runs: int, duration: str, warmup: str, rates: list[str]) -> Path:
    """The file of a study with so many runs."""
    path = folder / "study.toml"
    text = STUDY.format(
        scenario=ROOT / "scenarios/two-way.toml",
        seeds=runs // len(rates),
        duration=duration,
        warmup=warmup,
        rates=str(rates).replace("'", '"'),
    )
    path.write_text(text, "utf-8")
    return path


def bare(rates: list[str], seeds: int, duration: str) -> None:
    """The simulations of the study without the study: two threads, nothing kept."""
    scenarios = [
        read(
            ROOT / "scenarios/two-way.toml",
            changes={"link.bottleneck.rate": rate, "duration": duration, "warmup": "4 s"},
        )[0].with_seed(seed)
        for rate in rates
        for seed in range(1, seeds + 1)
    ]
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda scenario: _longfat.simulate(scenario, record=False), scenarios):
            pass


def measured(name: str, command: list[str]) -> tuple[float, float]:
    """Wall and processor time of a command, and of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:30} {wall:7.2f} s wall {cpu:7.2f} s of processors", flush=True)
    return wall, cpu


def times(repeat: int) -> None:
    """Runs the simulations alone, as a study, and on a Dask cluster of two processes."""
    rates = [f"{rate} Mbit/s" for rate in range(91, 91 + RATES)]
    itself = [sys.executable, __file__]
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as work:
        path = study(Path(work), runs=RUNS, duration=SECONDS, warmup="4 s", rates=rates)
        for attempt in range(repeat):
            out = Path(work) / f"run-{attempt}"
            base = [sys.executable, "-m", "longfat", "study", str(path), "--quiet"]
            found.setdefault("simulations", []).append(
                measured("the simulations alone", [*itself, "bare"])
            )
            found.setdefault("study", []).append(
                measured("the study", [*base, "--out", f"{out}-cores", "--workers", "2"])
            )
            found.setdefault("dask", []).append(
                measured("on a Dask cluster", [*itself, "dask", str(path), f"{out}-dask"])
            )
    plain_wall, plain_cpu = (min(each[i] for each in found["simulations"]) for i in (0, 1))
    for name in ("study", "dask"):
        wall, cpu = (min(each[i] for each in found[name]) for i in (0, 1))
        print(
            f"{name}: {wall / plain_wall - 1:+.1%} of wall, {cpu / plain_cpu - 1:+.1%} of processors"
        )


def on_dask(path: str, out: str) -> None:
    """Runs a study on a cluster of two processes, which is already there when the clock begins."""
    from distributed import LocalCluster

    import longfat

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        begun = time.perf_counter()
        longfat.study(path, out=out, dask=cluster.scheduler_address)  # type: ignore[operator]
        print(f"of which the study: {time.perf_counter() - begun:.2f} s", file=sys.stderr)


def memory() -> None:
    """The largest resident memory of studies of tiny runs."""
    for runs in (1_000, 10_000, 100_000):
        with tempfile.TemporaryDirectory() as work:
            rates = [f"{1 + index / 1000:.3f} Mbit/s" for index in range(100)]
            path = study(Path(work), runs=runs, duration="3 s", warmup="2.5 s", rates=rates)
            command = [sys.executable, "-m", "longfat", "study", str(path), "--out", f"{work}/out"]
            process = subprocess.Popen([*command, "--quiet"])  # noqa: S603 - ours
            begun = time.perf_counter()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begun
            print(
                f"{runs:7,} runs: {usage.ru_maxrss / 1024:5.0f} MB, {wall:.0f} s, status {status}",
                flush=True,
            )


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["time", "memory", "bare", "dask"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    if given.what == "time":
        times(given.repeat)
    elif given.what == "memory":
        memory()
    elif given.what == "bare":
        bare([f"{rate} Mbit/s" for rate in range(91, 91 + RATES)], RUNS // RATES, SECONDS)
    else:
        on_dask(*given.rest)


if __name__ == "__main__":
    main()
