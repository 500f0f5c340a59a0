"""Scenarios of cells: paths in numbers become the content of scenario files."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from longfat.study._setup import RECOVERY, exact_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.evaluate.cells._cell import Control

LINK = "bottleneck"
GROUP = "flow"

STANDARD, JUMBO = 1500, 9000
"""Sizes of packets in bytes; large ones at 10 Gbit/s and more, as in networks of such rates."""

_JUMBO_FROM = 10e9
_SPREAD = 0.02
_RATES = (("Tbit/s", 10**12), ("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3), ("bit/s", 1))
_SAMPLES = 400
_STEPS = (1, 2, 5, 10)


def rate(bit_s: float) -> str:
    """A rate as a scenario writes it, exactly.

    >>> rate(1e9), rate(64e3), rate(1.5e6)
    ('1 Gbit/s', '64 kbit/s', '1500 kbit/s')
    """
    whole = round(bit_s)
    unit, size = next((unit, size) for unit, size in _RATES if whole % size == 0)
    return f"{whole // size} {unit}"


def time(seconds: float) -> str:
    """A time as a scenario writes it, to the nanosecond.

    >>> time(0.05), time(1.5), time(120)
    ('50 ms', '1500 ms', '120 s')
    """
    return exact_time(int(Decimal(repr(seconds)).quantize(Decimal("1e-9")).scaleb(12)))


def name_of(bit_s: float) -> str:
    """A rate in the name of a cell.

    >>> name_of(1e9)
    '1Gbit'
    """
    return rate(bit_s).replace(" ", "").removesuffix("/s")


def packet_of(bit_s: float) -> int:
    """The size of packets that networks of this rate use, in bytes."""
    return JUMBO if bit_s >= _JUMBO_FROM else STANDARD


def sample_of(duration_s: float, samples: int = _SAMPLES) -> str:
    """A spacing of the time series with at most so many rows."""
    least = duration_s / samples
    power = 1e-9
    while True:
        for step in _STEPS:
            if step * power >= least * (1 - 1e-9):
                return time(step * power)
        power *= 10


def around(seconds: float) -> dict[str, list[str]]:
    """Round trips of two percent more or less: seeds draw them, and flows do not run in step."""
    return {"uniform": [time(seconds * (1 - _SPREAD)), time(seconds * (1 + _SPREAD))]}


def flow(
    control: Control,
    rtt: float,
    *,
    name: str = GROUP,
    path: list[Any] | None = None,
    **more: object,
) -> dict[str, Any]:
    """A group of flows that begin within five round trips.

    Args:
        control: Their controller.
        rtt: Their round trip in seconds, in the middle.
        name: Their name.
        path: The links that they cross.
        more: Further keys of a scenario file.
    """
    return {
        "name": name,
        "control": control,
        "path": [LINK] if path is None else path,
        "rtt": around(rtt),
        "start": {"uniform": ["0 s", time(5 * rtt)]},
        **more,
    }


def link(bit_s: float, rtt: float, *, buffer: str = "1 bdp", **more: object) -> dict[str, Any]:
    """A link that has four fifths of a round trip.

    Args:
        bit_s: Its rate.
        rtt: The round trip in seconds.
        buffer: What its queue holds.
        more: Further keys of a scenario file.
    """
    return {"rate": rate(bit_s), "delay": time(0.4 * rtt), "buffer": buffer, **more}


def path(
    duration_s: float,
    warmup_s: float,
    links: dict[str, dict[str, Any]],
    flows: list[dict[str, Any]],
    *,
    traffic: Sequence[dict[str, Any]] = (),
    samples: int = _SAMPLES,
) -> dict[str, Any]:
    """A scenario with hosts of today: so many seconds, of which averages leave out the first few.

    Args:
        duration_s: Simulated time.
        warmup_s: What averages leave out.
        links: The links by their names.
        flows: The groups of flows.
        traffic: The groups of short flows.
        samples: How many rows the time series have at most.
    """
    content: dict[str, Any] = {
        "duration": time(duration_s),
        "warmup": time(warmup_s),
        "sample": sample_of(duration_s, samples),
        "link": links,
    }
    for key, groups in (("traffic", traffic), ("flow", flows)):
        if groups:
            content[key] = [{"recovery": RECOVERY, **group} for group in groups]
    return content


def dumbbell(
    control: Control,
    *,
    bit_s: float,
    rtt: float,
    duration_s: float,
    warmup_s: float | None = None,
    flows: int = 1,
    buffer: str = "1 bdp",
    samples: int = _SAMPLES,
    link_keys: dict[str, Any] | None = None,
    flow_keys: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Some flows of one kind on one link.

    Args:
        control: Their controller.
        bit_s: The rate of the link.
        rtt: The round trip in seconds.
        duration_s: Simulated time.
        warmup_s: What averages leave out; a third of it by default.
        flows: How many flows.
        buffer: What the queue holds.
        samples: How many rows the time series have at most.
        link_keys: Further keys of the link.
        flow_keys: Further keys of the flows.
    """
    keys = {"packet": f"{packet_of(bit_s)} B", "count": flows, **(flow_keys or {})}
    return path(
        duration_s,
        duration_s / 3 if warmup_s is None else warmup_s,
        {LINK: link(bit_s, rtt, buffer=buffer, **(link_keys or {}))},
        [{**flow(control, rtt), **keys}],
        samples=samples,
    )
