"""Timing scenarios several times, and summing up the times."""

from __future__ import annotations

import platform
import statistics
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat._longfat import Scenario
from longfat.bench._longfat_run import timed
from longfat.bench._outcome import NETWORK, Outcome
from longfat.bench._peer import PeerAbsent
from longfat.bench._process import ProcessError
from longfat.study._statistics import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.bench._benchmarks import Benchmark
    from longfat.bench._peer import Peer

LONGFAT = "longfat"

ALONE = 1.1
"""A core counts as otherwise idle if the fixed loop took at most this multiple of its shortest time."""

CAP_S = 120.0
"""Wall time after which a run of a peer is stopped, in seconds."""


@dataclass(frozen=True)
class Spread:
    """The median of some values, and their range."""

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
class Timed:
    """All runs of one scenario.

    Attributes:
        benchmark: What was run.
        duration_s: Its simulated time.
        warmup_s: How much of it is left out of the network results.
        changes: Fields that were set in its scenario, which then has no target.
        outcomes: The runs of each simulator, in the order of the turns.
        same_part: For each run of a peer, the run of longfat that ends where it ended, for comparison; `None`
            where that is before all flows are sure to have begun.
        refused: Why the peers do not run the scenario, if they do not.
        failed: By the name of a peer, what it said when it failed; it was not run again.
    """

    benchmark: Benchmark
    duration_s: float
    warmup_s: float
    changes: tuple[str, ...] = ()
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    same_part: dict[str, list[Outcome | None]] = field(default_factory=dict)
    refused: str | None = None
    failed: dict[str, str] = field(default_factory=dict)

    def ratio(self, peer: str) -> Spread | None:
        """How many times as many packets per second longfat moves as a peer, turn by turn.

        For a peer that was stopped, over the part that it simulated: slow start is not the load that follows.
        """
        pairs = zip(self.same_part.get(peer, []), self.outcomes.get(peer, []), strict=True)
        return spread([ours.packets_per_s / theirs.packets_per_s for ours, theirs in pairs if ours])

    def network(self, simulator: str, name: str, *, part_of: str | None = None) -> Estimate:
        """A network result over the runs of a simulator; for longfat, over the part that a peer simulated."""
        runs = self.outcomes.get(simulator, [])
        if part_of is not None:
            pairs = zip(
                self.same_part.get(part_of, []), self.outcomes.get(part_of, []), strict=True
            )
            runs = [ours for ours, theirs in pairs if ours and theirs.network]
        return estimate(getattr(each.network, name) for each in runs if each.network)

    def packets_per_s(self, simulator: str = LONGFAT) -> Spread | None:
        """Data packets per second of wall time."""
        return spread([each.packets_per_s for each in self.outcomes.get(simulator, [])])

    def packets_per_s_alone(self, shortest_loop_s: float) -> list[float]:
        """Data packets per second of those runs of longfat that had their core to themselves."""
        limit = ALONE * shortest_loop_s
        runs = self.outcomes.get(LONGFAT, [])
        return [each.packets_per_s for each in runs if each.loop_s and each.loop_s <= limit]

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
    changes: Sequence[str] = (),
    peers: Sequence[Peer] = (),
    cap_s: float = CAP_S,
    progress: Callable[[str, float], None],
) -> list[Timed]:
    """Times each scenario `repeat` times, with seeds from 1 on, in longfat and the peers in turn.

    Args:
        benchmarks: What to run.
        repeat: How often.
        full: The full length instead of the short one.
        changes: Fields to set in each, as by `longfat run --set`.
        peers: Other simulators, which run the scenarios that they can.
        cap_s: Wall time after which a run of a peer is stopped.
        progress: Told what comes next, and what share of the runs is done.

    Raises:
        PeerAbsent: A peer is not installed.
        ProcessError: A simulation of longfat failed.
        ScenarioError: A scenario is wrong with these changes.
        OSError: A scenario is not there.
    """
    _find(peers)
    firsts = [each.scenario(full=full, seed=1, changes=changes) for each in benchmarks]
    found = []
    total = len(benchmarks) * repeat * (1 + len(peers))
    done = 0
    for benchmark, first in zip(benchmarks, firsts, strict=True):
        measured = Timed(benchmark, first.duration_s, first.warmup_s, tuple(changes))
        reasons = [peer.refusal(first) for peer in peers]
        measured.refused = next((reason for reason in reasons if reason), None)
        for turn in range(repeat):
            progress(f"{benchmark.letter} {LONGFAT}", done / total)
            scenario = first.with_seed(1 + turn)
            outcome, summary = timed(scenario)
            measured.outcomes.setdefault(LONGFAT, []).append(outcome)
            for index, peer in enumerate(peers, 1):
                if measured.refused is None and peer.name not in measured.failed:
                    progress(f"{benchmark.letter} {peer.title}", (done + index) / total)
                    _run_peer(peer, scenario, summary, measured, cap_s)
            done += 1 + len(peers)
        found.append(measured)
    return found


def _find(peers: Sequence[Peer]) -> None:
    """Raises PeerAbsent that names everything missing, not only the first."""
    missing = [reason for peer in peers if (reason := peer.absence())]
    if missing:
        raise PeerAbsent("; ".join(missing))


def _run_peer(
    peer: Peer, scenario: Scenario, summary: Mapping[str, Any], measured: Timed, cap_s: float
) -> None:
    try:
        outcome = peer.timed(scenario, summary, cap_s=cap_s)
    except ProcessError as error:
        measured.failed[peer.name] = str(error)
        return
    measured.outcomes.setdefault(peer.name, []).append(outcome)
    ours: Outcome | None = measured.outcomes[LONGFAT][-1]
    if not outcome.complete:
        ours = _until(outcome, scenario)
    measured.same_part.setdefault(peer.name, []).append(ours)


def _until(stopped: Outcome, scenario: Scenario) -> Outcome | None:
    """A run of longfat that ends where a peer was stopped."""
    begin = stopped.measured_from_s or 0.0
    changes = [f'duration="{stopped.simulated_s:.9f} s"', f'warmup="{begin:.9f} s"']
    try:
        part = Scenario.parse(scenario.to_toml(), overrides=changes)
    except ValueError:  # flows begin later, or may
        return None
    return timed(part)[0]


def reached(measured: Timed, all_measured: Sequence[Timed]) -> tuple[float | None, str]:
    """How much of its target a scenario reached: a multiple, and its unit; nothing if it was changed."""
    of = measured.benchmark.speed.of
    if of == "real time":
        value = None if measured.changes else measured.times_real()
        return (value.median if value else None), "× real"
    speed = None if measured.changes else measured.packets_per_s()
    if speed is None:
        return None, "packets/s"
    if of == "packets/s":
        return speed.median, "packets/s"
    other = next((each for each in all_measured if each.benchmark.letter == of), None)
    base = other.packets_per_s() if other else None
    return (speed.median / base.median if base else None), f"× {of}"


def loops(found: Sequence[Timed]) -> Spread | None:
    """How long the fixed loop took next to the runs of longfat, in seconds."""
    outcomes = [run for measured in found for run in measured.outcomes.get(LONGFAT, [])]
    return spread([run.loop_s for run in outcomes if run.loop_s])


def busy(found: Sequence[Timed]) -> float:
    """The largest ratio of wall time to processor time among the runs: 1 on a quiet machine."""
    outcomes = [run for measured in found for runs in measured.outcomes.values() for run in runs]
    return max((run.engine_s / max(run.cpu_s, 1e-9) for run in outcomes), default=1.0)


def as_json(found: Sequence[Timed], peers: Sequence[Peer] = ()) -> dict[str, Any]:
    """Everything that was measured, as one object."""
    facts = {**machine(), **{peer.name: peer.version() for peer in peers}}
    return {"machine": facts, "scenarios": [_scenario_json(each, found) for each in found]}


def _scenario_json(measured: Timed, found: Sequence[Timed]) -> dict[str, Any]:
    benchmark = measured.benchmark
    value, _ = reached(measured, found)
    loop = loops(found)
    alone = measured.packets_per_s_alone(loop.lowest) if loop else []
    simulators = {}
    for name, outcomes in measured.outcomes.items():
        peer = None if name == LONGFAT else name
        speed, ratio = measured.packets_per_s(name), measured.ratio(peer) if peer else None
        simulators[name] = {
            "packets_per_s": asdict(speed) if speed else None,
            "longfat_is_faster": asdict(ratio) if ratio else None,
            "network": {key: asdict(measured.network(name, key)) for key in NETWORK},
            "longfat_over_the_same_part": {
                key: asdict(measured.network(LONGFAT, key, part_of=peer)) for key in NETWORK
            },
            "runs": [outcome.row() for outcome in outcomes],
        }
    return {
        "scenario": benchmark.letter,
        "title": benchmark.title,
        "file": benchmark.file,
        "duration_s": measured.duration_s,
        "warmup_s": measured.warmup_s,
        "changes": list(measured.changes),
        "target": {**asdict(benchmark.speed), "reached": value, "ratios": benchmark.ratios},
        "refused": measured.refused,
        "failed": measured.failed,
        "packets_per_s_alone": asdict(each) if (each := spread(alone)) else None,
        "simulators": simulators,
    }


def machine() -> dict[str, Any]:
    """What the times were measured on, and when."""
    return {
        "longfat": _longfat.__version__,
        "profiled": _longfat.PROFILED,
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
