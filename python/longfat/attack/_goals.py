"""Ways to fail: what is measured in a run, and how bad it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.attack._challenge import LINK, SUBJECT
from longfat.units import percent

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Goal:
    """A way to fail.

    Attributes:
        name: What it is called.
        measure: The number, of the averages of a run and of what its link could carry in bit/s.
        badness: How bad such a number is: from 0, nothing wrong, to 1, as bad as it can be.
        told: The number in words.
    """

    name: str
    measure: Callable[[dict[str, Any], float], float]
    badness: Callable[[float], float]
    told: Callable[[float], str]


def _long_flows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The flows that always have something to send."""
    sources = summary.get("applications", {})
    return [flow for flow in summary["flows"] if _group(flow) not in sources]


def _subjects(summary: dict[str, Any]) -> list[dict[str, Any]]:
    return [flow for flow in summary["flows"] if _group(flow) == SUBJECT]


def _group(flow: dict[str, Any]) -> str:
    name: str = flow["name"]
    return name.partition("[")[0]


def _least_share(summary: dict[str, Any], capacity: float) -> float:
    """What the slowest flow of the controller gets of an equal share among all long flows."""
    equal = capacity / len(_long_flows(summary))
    slowest = min(flow["goodput_bit_s"] or 0.0 for flow in _subjects(summary))
    return float(slowest / equal)


def _utilisation(summary: dict[str, Any], _capacity: float) -> float:
    return float(summary["links"][LINK]["forward"]["utilisation"])


def _waiting(summary: dict[str, Any], _capacity: float) -> float:
    """The share of a round trip beyond the shortest there is: a mean over flows."""
    flows = _subjects(summary)
    delays = [(flow["queueing_delay_mean_s"] or 0.0, flow["rtt_s"]) for flow in flows]
    return float(sum(delay / (delay + rtt) for delay, rtt in delays) / len(delays))


def _dropped(summary: dict[str, Any], _capacity: float) -> float:
    flows = _subjects(summary)
    sent = sum(flow["data_sent"] for flow in flows)
    return float(sum(flow["data_dropped"] for flow in flows) / sent) if sent else 0.0


def _evenness(summary: dict[str, Any], _capacity: float) -> float:
    """Jain's index of all long flows, stretched to go from 0, one has everything, to 1."""
    rates = [flow["goodput_bit_s"] or 0.0 for flow in _long_flows(summary)]
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or not squares:  # noqa: PLR2004 - a single flow shares with nobody
        return 1.0
    least = 1 / len(rates)
    return (sum(rates) ** 2 * least / squares - least) / (1 - least)


def _lack(value: float) -> float:
    return min(max(1.0 - value, 0.0), 1.0)


def _excess(value: float) -> float:
    return min(max(value, 0.0), 1.0)


_KINDS = (
    Goal(
        "starve",
        _least_share,
        _lack,
        lambda value: f"its slowest flow gets {percent(value)} of an equal share",
    ),
    Goal(
        "underuse",
        _utilisation,
        _lack,
        lambda value: f"{percent(value)} of the link is used",
    ),
    Goal(
        "queue",
        _waiting,
        _excess,
        lambda value: f"{percent(value)} of a round trip is waiting",
    ),
    Goal(
        "loss",
        _dropped,
        _excess,
        lambda value: f"{percent(value)} of its packets are dropped",
    ),
    Goal(
        "unfair",
        _evenness,
        _lack,
        lambda value: f"the flows share with an evenness of {percent(value)}",
    ),
)

GOALS: dict[str, Goal] = {goal.name: goal for goal in _KINDS}
"""The ways to fail, by their names."""
