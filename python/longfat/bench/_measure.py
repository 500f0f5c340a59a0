"""Timing scenarios, several times, and what the times come to."""

from __future__ import annotations

import platform
import statistics
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.bench._longfat_run import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.bench._outcome import Outcome
    from longfat.bench._scenarios import Benchmark

LONGFAT = "longfat"


@dataclass(frozen=True)
class Spread:
    """The middle of some values, and how far they lie apart."""

    median: float
    lowest: float
    highest: float


def spread(values: Sequence[float]) -> Spread | None:
    """Median and range; `None` of nothing.

    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, lowest=1.0, highest=3.0)
    """
    if not values:
        return None
    return Spread(statistics.median(values), min(values), max(values))


@dataclass
class Measured:
    """All runs of one scenario.

    Attributes:
        benchmark: What was run.
        duration_s: Its simulated time.
        warmup_s: How much of it the network results leave out.
        outcomes: The runs of each simulator, in the order of the turns.
    """

    benchmark: Benchmark
    duration_s: float
    warmup_s: float
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)

    def packets_per_s(self, simulator: str = LONGFAT) -> Spread | None:
        """Data packets per second of wall time."""
        return spread([each.packets_per_s for each in self.outcomes.get(simulator, [])])

    def times_real(self) -> Spread | None:
        """Simulated over wall time, of longfat."""
        return spread([each.times_real for each in self.outcomes[LONGFAT]])

    def utilised(self, rate_bit_s: float) -> float:
        """The share of a rate that goodput fills, of longfat."""
        networks = [each.network for each in self.outcomes[LONGFAT] if each.network]
        return statistics.median(each.goodput_bit_s for each in networks) / rate_bit_s


def measure(
    benchmarks: Sequence[Benchmark],
    *,
    repeat: int,
    full: bool,
    progress: Callable[[str, float], None],
) -> list[Measured]:
    """Times each scenario `repeat` times, with the seeds from 1 on.

    Args:
        benchmarks: What to run.
        repeat: How often.
        full: The full length instead of the short one.
        progress: Told what comes next, and the share of the runs that is done.

    Raises:
        ProcessError: A simulation failed.
        OSError: A scenario is not there.
    """
    found = []
    total = len(benchmarks) * repeat
    done = 0
    for benchmark in benchmarks:
        first = benchmark.scenario(full=full, seed=1)
        measured = Measured(benchmark, first.duration_s, first.warmup_s)
        for turn in range(repeat):
            progress(f"{benchmark.letter} {LONGFAT}", done / total)
            outcome, _ = timed(first.with_seed(1 + turn))
            measured.outcomes.setdefault(LONGFAT, []).append(outcome)
            done += 1
        found.append(measured)
    return found


def reached(measured: Measured, all_measured: Sequence[Measured]) -> tuple[float | None, str]:
    """What the target of a scenario is about: the measured multiple, and its unit."""
    of = measured.benchmark.speed.of
    if of == "real time":
        value = measured.times_real()
        return (value.median if value else None), "× real"
    speed = measured.packets_per_s()
    if speed is None:
        return None, "packets/s"
    if of == "packets/s":
        return speed.median, "packets/s"
    other = next((each for each in all_measured if each.benchmark.letter == of), None)
    base = other.packets_per_s() if other else None
    return (speed.median / base.median if base else None), f"× {of}"


def busy(found: Sequence[Measured]) -> float:
    """How much more wall time than processor time the runs took at worst: 1 on a quiet machine."""
    outcomes = [run for measured in found for runs in measured.outcomes.values() for run in runs]
    return max((run.engine_s / max(run.cpu_s, 1e-9) for run in outcomes), default=1.0)


def as_json(found: Sequence[Measured]) -> dict[str, Any]:
    """Everything that was measured, as one object."""
    scenarios = []
    for measured in found:
        benchmark = measured.benchmark
        value, _ = reached(measured, found)
        scenarios.append(
            {
                "scenario": benchmark.letter,
                "title": benchmark.title,
                "file": benchmark.file,
                "duration_s": measured.duration_s,
                "warmup_s": measured.warmup_s,
                "target": {**asdict(benchmark.speed), "reached": value},
                "simulators": {
                    name: {
                        "packets_per_s": asdict(speed) if speed else None,
                        "runs": [outcome.row() for outcome in outcomes],
                    }
                    for name, outcomes in measured.outcomes.items()
                    for speed in [measured.packets_per_s(name)]
                },
            }
        )
    return {"machine": machine(), "scenarios": scenarios}


def machine() -> dict[str, Any]:
    """What the times were measured on, and when."""
    return {
        "longfat": _longfat.__version__,
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    known: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        known.setdefault(name.strip(), value.strip())
    processors = sum(line.startswith("processor") for line in lines)
    family = f", family {known['cpu family']}" if "cpu family" in known else ""
    return f"{known.get('model name', platform.machine())}{family}, {processors} processors"
