"""The outcome of a timed run of any simulator."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class NetworkOutcome:
    """What happened in the network in the measured interval, by the definitions of longfat.

    Queues are those of the directions that carry data.

    Attributes:
        goodput_bit_s: New data per second, all flows together.
        queue_mean: Mean queue as a share of the buffer.
        drop_rate: Dropped packets per packet that arrived.
        mark_rate: Marked packets per packet that arrived.
        jain: Jain's index, the mean over the groups of flows; `None` if nothing arrived.
    """

    goodput_bit_s: float
    queue_mean: float | None
    drop_rate: float
    mark_rate: float
    jain: float | None


NETWORK = ("goodput_bit_s", "queue_mean", "drop_rate", "mark_rate", "jain")
"""What is compared, in the order of the tables."""


@dataclass(frozen=True)
class Outcome:
    """One timed run.

    Attributes:
        simulator: `longfat`, `ns2`, `ns3` or `htsim`.
        seed: The seed of the scenario.
        engine_s: Wall time of the simulation itself, without reading, building and writing.
        cpu_s: Processor time of its whole process, building the network included.
        simulated_s: How far it got; less than the duration if it was stopped.
        measured_from_s: Where the measured interval begins: at the end of the warm-up, or earlier if the run
            was stopped before that; `None` if it was stopped at once.
        complete: Whether it reached the end.
        data_packets: New data packets that reached receivers in that time.
        peak_memory_bytes: The largest memory of its process.
        network: What happened in the network in that interval; `None` if there is none.
        loop_s: How long a fixed loop took before or after the run, whichever was longer, in seconds of wall
            time: up to twice as long on a core that others use as well. `None` for a peer.
    """

    simulator: str
    seed: int
    engine_s: float
    cpu_s: float
    simulated_s: float
    measured_from_s: float | None
    complete: bool
    data_packets: int
    peak_memory_bytes: int
    network: NetworkOutcome | None
    loop_s: float | None = None

    @property
    def packets_per_s(self) -> float:
        """Data packets per second of wall time."""
        return self.data_packets / max(self.engine_s, 1e-9)

    @property
    def times_real(self) -> float:
        """Simulated time over wall time."""
        return self.simulated_s / max(self.engine_s, 1e-9)

    def row(self) -> dict[str, Any]:
        """The run as a row of the JSON output."""
        return {
            **asdict(self),
            "packets_per_s": self.packets_per_s,
            "times_real": self.times_real,
        }


def of_summary(summary: Mapping[str, Any]) -> NetworkOutcome:
    """What the averages of a longfat run say."""
    directions = busy_directions(summary["scenario"])
    (link,) = summary["links"].values()
    used = [link[direction] for direction in directions]
    groups = [value for value in summary["jain"].values() if value is not None]
    traffic = summary["traffic"].values()
    arrived = max(1, sum(each["arrived"] for each in used))
    known = [each["queue_mean"] for each in used]
    return NetworkOutcome(
        goodput_bit_s=math.fsum(flow["goodput_bit_s"] for flow in summary["flows"])
        + math.fsum(group["goodput_bit_s"] for group in traffic),
        queue_mean=None if None in known else math.fsum(known) / len(known),
        drop_rate=sum(each["dropped"] for each in used) / arrived,
        mark_rate=sum(each["marked"] for each in used) / arrived,
        jain=math.fsum(groups) / len(groups) if groups else None,
    )


def busy_directions(scenario: Mapping[str, Any]) -> list[str]:
    """The directions of a single link that carry data."""
    groups = [*scenario["flow"], *scenario["traffic"]]
    reversed_ = {bool(group["reverse"]) for group in groups}
    return [name for name, flag in (("forward", False), ("reverse", True)) if flag in reversed_]
