"""Simulating what this machine can hold: work and memory are estimated before they are spent."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from longfat import _longfat
from longfat.errors import ScenarioError
from longfat.units import COUNT, amount

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.results._table import ArrowStream
    from longfat.results._traces import Traces

_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_LONG = ((365.25 * 86_400, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes"))

_WORTH_TELLING_S = 60.0

REMEDIES = {
    "packets": "most of it for packets in flight: smaller buffers, a smaller `initial_window` or a "
    "`max_window` would help",
    "links": "most of it for links: fewer links would help",
    "flows": "most of it for long flows: a smaller `count` would help",
    "applications": "most of it for applications: a longer `think` or a shorter `duration` would help",
    "transfers": "most of it for short flows: fewer `arrivals` or a shorter `duration` would help",
    "rows": "most of it for the time series: a longer `sample` would help",
}
"""What would make a run need less memory, by what takes most of it."""


def simulate(
    scenario: _longfat.Scenario,
    *,
    record: bool = True,
    progress: Callable[[float], object] | None = None,
    transfers: Callable[[ArrowStream], object] | None = None,
    cancellation: _longfat.Cancellation | None = None,
    traces: Traces | None = None,
) -> _longfat.Recording:
    """Simulates a scenario to its end, unless its memory could not be had.

    Args:
        scenario: The scenario.
        record: Keep the time series.
        progress: Called with the share of simulated time that has passed.
        transfers: Takes the transfers that are over, from time to time.
        cancellation: Stops the simulation when it is raised.
        traces: Trace files to write.

    Raises:
        ScenarioError: It would need more memory than is free; the message says what to change.
    """
    needed = scenario.estimate(record=record, transfers=transfers is None)
    refuse_excess(needed["memory"], REMEDIES[needed["largest"]])
    return _longfat.simulate(
        scenario,
        record=record,
        progress=progress,
        transfers=transfers,
        cancellation=cancellation,
        trace=None if traces is None else traces.handle,
    )


def refuse_excess(memory: float, remedy: str) -> None:
    """Refuses work that takes more memory than is free.

    Args:
        memory: What it takes, in bytes.
        remedy: What would make it less.

    Raises:
        ScenarioError: It takes more; the message says what to change.
    """
    free = free_memory()
    if memory > free:
        message = f"this run needs about {in_bytes(memory)} of memory, and {in_bytes(free)} are free: {remedy}"
        raise ScenarioError(message)


def in_bytes(memory: float) -> str:
    """An amount of memory as people read it."""
    return amount(memory, _BYTES)


def warning(scenarios: Sequence[_longfat.Scenario], *, runs: int = 1) -> str | None:
    """What long simulations ask for, in a sentence; `None` if they are soon done.

    Args:
        scenarios: What is simulated.
        runs: How often each of them.
    """
    needed = [scenario.estimate() for scenario in scenarios]
    seconds = runs * sum(each["seconds"] for each in needed)
    packets = runs * sum(each["packets"] for each in needed)
    if seconds < _WORTH_TELLING_S:
        return None
    size, unit = next(each for each in _LONG if seconds >= each[0])
    lasts = f"{seconds / size:,.0f} {unit}"
    return f"at most about {amount(packets, COUNT)} packets, {lasts} of one core; Ctrl-C ends it"


def free_memory() -> float:
    """How much memory this process can still have, in bytes; infinite where nobody tells."""
    return min(_of_machine(), _of_group(), _of_process())


def _of_machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        told = {
            name: float(rest.split()[0]) * 1024
            for name, _, rest in (line.partition(":") for line in lines)
        }
        return told["MemAvailable"] + told["SwapFree"]
    except (OSError, ValueError, KeyError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _of_group() -> float:
    """What is left to the control group of a container."""
    group = Path("/sys/fs/cgroup")
    try:
        return float((group / "memory.max").read_text()) - float(
            (group / "memory.current").read_text()
        )
    except (OSError, ValueError):  # none, or "max"
        return float("inf")


def _of_process() -> float:
    if sys.platform == "win32":
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)
