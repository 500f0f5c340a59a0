"""A run of longfat in a process of its own, so that its memory can be measured and nothing is warm from before.

As a program, `python -m longfat.bench._longfat_run SCENARIO RESULT` simulates the scenario file and writes its
averages, with the start of each long flow.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.bench._outcome import Outcome, of_summary
from longfat.bench._process import KIBI, run

if TYPE_CHECKING:
    from longfat._longfat import Scenario


_ROUNDS = 2_000_000
"""Rounds of the fixed loop: about a tenth of a second."""


def timed(scenario: Scenario) -> tuple[Outcome, dict[str, Any]]:
    """Simulates a scenario; the outcome, and the averages with the start of each flow as `start_s`.

    Raises:
        ProcessError: The simulation failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder, "scenario.toml"), Path(folder, "result.json")
        given.write_text(scenario.to_toml(), "utf-8")
        command = [sys.executable, "-m", __name__, str(given), str(written)]
        usage = run(command)
        summary: dict[str, Any] = json.loads(written.read_bytes())
    engine = summary["engine"]
    outcome = Outcome(
        simulator="longfat",
        seed=scenario.seed,
        engine_s=engine["wall_s"],
        simulated_s=scenario.duration_s,
        measured_from_s=scenario.warmup_s,
        complete=True,
        cpu_s=usage.cpu_s,
        data_packets=engine["data_packets"],
        peak_memory_bytes=engine["peak_memory_bytes"],
        network=of_summary(summary),
        loop_s=engine["loop_s"],
    )
    return outcome, summary


def _main(given: str, written: str) -> None:
    import resource

    from longfat import _longfat

    scenario = _longfat.Scenario.parse(Path(given).read_text("utf-8"), given)
    before = _loop()
    # Finished transfers are taken away, as for a result folder, so that only live flows take memory.
    recording = _longfat.simulate(scenario, record=False, transfers=lambda _: None)
    after = _loop()
    summary = json.loads(recording.summary_json())
    summary["engine"]["loop_s"] = max(before, after)
    # Read before importing anything that the simulation does not need.
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBI
    summary["engine"]["peak_memory_bytes"] = used
    from longfat.results._table import Table

    starts = Table(recording.table("flows")).to_polars()["start_s"].to_list()
    for flow, start in zip(summary["flows"], starts, strict=True):
        flow["start_s"] = start
    Path(written).write_text(json.dumps(summary), "utf-8")


def _loop() -> float:
    """How long a fixed piece of work takes, in seconds: it shows what else the core is doing."""
    begin = time.perf_counter()
    value = 0
    for round_ in range(_ROUNDS):
        value = (31 * value + round_) & 0xFFFF
    return time.perf_counter() - begin


if __name__ == "__main__":
    _main(*sys.argv[1:])
