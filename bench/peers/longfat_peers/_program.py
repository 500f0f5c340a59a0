"""Running a scenario in another simulator, and reading what it wrote."""

from __future__ import annotations

import math
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.bench._outcome import NetworkOutcome, Outcome
from longfat.bench._peer import PeerAbsent
from longfat.bench._process import ProcessError, run
from longfat.fairness import jain
from longfat_peers._dumbbell import COMMON, dumbbell, lines, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat._longfat import Scenario
    from longfat_peers._dumbbell import Abilities, Dumbbell

_SPARE_S = 600.0
"""Wall time that a peer may take beyond its cap, to build the network."""


class Program(ABC):
    """A simulator that is driven by one of the programs in the parent folder.

    Attributes:
        name: Its name on the command line: `ns2`.
        title: Its name in print: `ns-2`.
        defaults: The options with which it comes closest to longfat.
        abilities: What it has of longfat.
    """

    name: str
    title: str
    defaults: Mapping[str, object]
    abilities: Abilities = COMMON

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The program that takes a scenario and a result file, made ready to run.

        Raises:
            PeerAbsent: It is not installed.
            ProcessError: It cannot be compiled.
        """

    @abstractmethod
    def version(self) -> str:
        """The version that is installed.

        Raises:
            PeerAbsent: It is not installed.
        """

    def absence(self) -> str | None:
        """Why it cannot be run on this machine; `None` if it can."""
        try:
            self.command()
        except PeerAbsent as error:
            return str(error)
        return None

    def refusal(self, scenario: Scenario) -> str | None:
        """Why it cannot run a scenario; `None` if it can."""
        return refusal(scenario, self.abilities)

    def timed(self, scenario: Scenario, summary: Mapping[str, Any], *, cap_s: float) -> Outcome:
        """Runs a scenario with the round trips and starts that longfat drew."""
        return timed(self, dumbbell(scenario, summary, self.abilities), cap_s=cap_s)


def timed(
    peer: Program, scene: Dumbbell, *, cap_s: float, options: Mapping[str, object] | None = None
) -> Outcome:
    """Runs a scenario in a peer.

    Args:
        peer: The simulator.
        scene: The scenario.
        cap_s: Wall time after which it stops, wherever it is.
        options: Options that differ from its defaults.

    Raises:
        PeerAbsent: It is not installed.
        ProcessError: It failed.
    """
    told = {**peer.defaults, **(options or {})}
    unknown = told.keys() - peer.defaults.keys()
    if unknown:
        message = f"{peer.title} has no option {sorted(unknown)}"
        raise KeyError(message)
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder, "scenario"), Path(folder, "result")
        given.write_text("\n".join(lines(scene, cap_s=cap_s, options=told)) + "\n", "utf-8")
        command = [*peer.command(), str(given), str(written)]
        usage = run(command, limit_s=cap_s + _SPARE_S)
        try:
            result = read_result(written.read_text("utf-8"))
            first = first_reading(scene, result)
            network = network_of(scene, first, result.readings[-1]) if first else None
        except (OSError, ValueError, LookupError) as error:
            message = f"{peer.title} wrote no result of this scenario: {error}"
            raise ProcessError(message) from error
    return Outcome(
        simulator=peer.name,
        seed=scene.seed,
        engine_s=result.engine_s,
        cpu_s=usage.cpu_s,
        simulated_s=result.reached_s,
        measured_from_s=first.time_s if first else None,
        complete=result.reached_s >= scene.duration_s * (1 - 1e-9),
        data_packets=sum(flow["delivered"] for flow in result.readings[-1].flows),
        peak_memory_bytes=usage.peak_memory_bytes,
        network=network,
    )


@dataclass(frozen=True)
class Reading:
    """All counts at one instant, for each flow and each direction of the link."""

    time_s: float
    flows: list[dict[str, int]]
    links: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Written:
    """What a peer wrote: readings during the warm-up and at its end, as far as it got, and a final one."""

    engine_s: float
    reached_s: float
    readings: list[Reading]


def read_result(text: str) -> Written:
    """Reads what the program for a peer wrote.

    Raises:
        ValueError: It wrote something else.
    """
    top: dict[str, float] = {}
    readings: list[Reading] = []
    for line in text.splitlines():
        name, *words = line.split()
        if name == "top":
            top = _pairs(words)
        elif name == "at":
            readings.append(Reading(float(words[0]), [], {}))
        elif name == "flow":
            counts = {key: int(value) for key, value in _pairs(words[1:]).items()}
            readings[-1].flows.append(counts)
        elif name == "link":
            readings[-1].links[words[0]] = _pairs(words[1:])
        else:
            message = f"an unexpected line in the result of a peer: {line}"
            raise ValueError(message)
    if not readings:
        message = "the result of a peer has no readings"
        raise ValueError(message)
    return Written(top["engine_s"], top["reached_s"], readings)


def _pairs(words: Sequence[str]) -> dict[str, float]:
    return {key: float(value) for key, value in zip(words[::2], words[1::2], strict=True)}


def first_reading(scene: Dumbbell, result: Written) -> Reading | None:
    """The reading at the end of the warm-up; if the run ended earlier, the last before its middle, if any."""
    nearly = 1 - 1e-9
    reached = result.readings[-1].time_s
    if reached * nearly > scene.warmup_s:
        return next(each for each in result.readings if each.time_s >= scene.warmup_s * nearly)
    before = [each for each in result.readings if each.time_s <= reached / 2]
    return before[-1] if before else None


def network_of(scene: Dumbbell, first: Reading, last: Reading) -> NetworkOutcome:
    """The difference between two readings, in longfat's terms."""
    goodputs: dict[str, list[float]] = {}
    pairs = zip(scene.flows, first.flows, last.flows, strict=True)
    for flow, before, after in pairs:
        active = last.time_s - max(first.time_s, flow.start_s)
        bits = 8 * flow.packet * (after["delivered"] - before["delivered"])
        goodputs.setdefault(flow.group, []).append(bits / active if active > 0 else 0.0)
    counts = {
        key: sum(last.links[way][key] - first.links[way][key] for way in scene.busy)
        for key in ("arrived", "dropped", "marked")
    }
    span = last.time_s - first.time_s
    queues = [
        (last.links[way]["backlog_s"] - first.links[way]["backlog_s"])
        / span
        / scene.ways[way].buffer
        for way in scene.busy
    ]
    fairness = [value for group in goodputs.values() if (value := jain(group)) is not None]
    arrived = max(1.0, counts["arrived"])
    return NetworkOutcome(
        goodput_bit_s=math.fsum(math.fsum(group) for group in goodputs.values()),
        queue_mean=math.fsum(queues) / len(queues),
        drop_rate=counts["dropped"] / arrived,
        mark_rate=counts["marked"] / arrived,
        jain=math.fsum(fairness) / len(fairness) if fairness else None,
    )
