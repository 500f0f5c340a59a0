"""Network power: the throughput of transfers over their response time, and what processor sharing would give.

Power, P = throughput / response time, peaks where a network is used best: beyond that load the response time
grows faster than the throughput (A. Giessler et al., Computer Networks 1, 1978; L. Kleinrock, ICC 1978). It is
measured over the middle part of a finite number of arrivals, after the start and before the arrivals end, so
that it is defined under overload too, which has no steady state.

>>> import longfat
>>> from longfat import power
>>> run = longfat.run("files.toml")  # doctest: +SKIP
>>> power.of_run(run, "files").power_bit_s2  # doctest: +SKIP
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from longfat.results import Finished
    from longfat.results._table import Table

__all__ = ["Power", "ProcessorSharing", "Times", "measure", "of_run"]

MIDDLE = (0.25, 0.75)


@dataclass(frozen=True)
class Times:
    """How long transfers took, in seconds.

    Attributes:
        mean: The mean.
        p50: Half of them took this long at most; like the others, it is the time of one of them.
        p90: Nine in ten took this long at most.
        p99: 99 in a hundred took this long at most.
    """

    mean: float
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True)
class Power:
    """What was measured of a group of transfers, between one arrival and another.

    Attributes:
        duration_s: Time between the two arrivals.
        arrivals: How many arrived, not counting the second of the two.
        unfinished: How many of these never completed.
        completed: How many completed in that time, whenever they had arrived.
        throughput_bit_s: Their size, headers included, over that time.
        response_s: From their arrival until their last data reached the receiver; `None` if none completed.
        acknowledged_s: From their arrival until the last acknowledgment reached the sender.
        power_bit_s2: Throughput over mean response time; `None` if none completed.
    """

    duration_s: float
    arrivals: int
    unfinished: int
    completed: int
    throughput_bit_s: float
    response_s: Times | None
    acknowledged_s: Times | None
    power_bit_s2: float | None

    @property
    def arrivals_per_s(self) -> float:
        """Arrivals per second."""
        return self.arrivals / self.duration_s


def of_run(run: Finished, group: str | None = None, *, part: tuple[float, float] = MIDDLE) -> Power:
    """The power of a group of short flows.

    Args:
        run: A finished run: what `longfat.run` returns, or anything else with its `summary` and `table`.
        group: The name of the group; may be omitted if there is only one.
        part: Which part of the arrivals: (0.25, 0.75) leaves out the first and the last quarter.

    Raises:
        ValueError: There is no such group, or its part has fewer than two arrivals.
    """
    traffic = run.summary["traffic"]
    if group is None and len(traffic) == 1:
        group = next(iter(traffic))
    if group not in traffic:
        known = ", ".join(traffic) or "none"
        asked = (
            "say which group of short flows to use"
            if group is None
            else f"no short flows are called {group!r}"
        )
        message = f"{asked}: there are {known}"
        raise ValueError(message)
    transfers = run.table("transfers")
    return measure(transfers.filter(transfers["group"].cast(str) == group), part=part)


def measure(transfers: Table | pl.DataFrame, *, part: tuple[float, float] = MIDDLE) -> Power:
    """The power of transfers of one group.

    Args:
        transfers: All of them, complete or not: rows of the table `transfers`.
        part: Which part of the arrivals, as shares of their number.

    Raises:
        ValueError: There is no such part, or it has fewer than two arrivals.
    """
    import polars as pl

    low, high = part
    if not 0.0 <= low < high <= 1.0:
        message = f"a part runs from one share to a larger one, both between 0 and 1, not from {low} to {high}"
        raise ValueError(message)
    rows = pl.DataFrame(transfers).sort("index")
    first, last = (
        math.floor(low * rows.height),
        min(math.floor(high * rows.height), rows.height - 1),
    )
    if first >= last:
        message = f"of {rows.height} arrivals, the part from {low} to {high} has fewer than the two needed"
        raise ValueError(message)
    begin, end = rows["start_s"][first], rows["start_s"][last]
    over = pl.col("start_s") + pl.col("completion_s")
    done = rows.filter((over > begin) & (over <= end))
    throughput = 8.0 * float(done["bytes"].sum()) / (end - begin)
    response = _times(done["completion_s"])
    return Power(
        duration_s=end - begin,
        arrivals=last - first,
        unfinished=rows["completion_s"][first:last].null_count(),
        completed=done.height,
        throughput_bit_s=throughput,
        response_s=response,
        acknowledged_s=_times(done["acknowledged_s"].drop_nulls()),
        power_bit_s2=None if response is None else throughput / response.mean,
    )


def _times(column: pl.Series) -> Times | None:
    if column.is_empty():
        return None
    values = sorted(column.to_list())

    def quantile(share: float) -> float:
        return float(values[math.ceil(share * len(values)) - 1])

    return Times(math.fsum(values) / len(values), quantile(0.5), quantile(0.9), quantile(0.99))


@dataclass(frozen=True)
class ProcessorSharing:
    """The yardstick: all transfers in progress share the bottleneck equally, and nothing is lost.

    With the service time S = size / rate and the load rho, the mean response time is

        R(rho) = (R0 - S) + S / (1 - rho)

    whatever the distribution of the sizes, for Poisson arrivals; and the power is rho * rate / R(rho).

    Attributes:
        rate_bit_s: The rate of the bottleneck.
        size_bytes: The size of a transfer, headers included.
        unloaded_s: R0, how long a transfer takes alone: S, and everything that does not depend on the load.
    """

    rate_bit_s: float
    size_bytes: float
    unloaded_s: float

    def __post_init__(self) -> None:
        """Refuses a transfer faster than its bottleneck."""
        if not 0.0 < self.service_s <= self.unloaded_s < math.inf:
            message = (
                f"a transfer that occupies the bottleneck for {self.service_s} s cannot be done in "
                f"{self.unloaded_s} s"
            )
            raise ValueError(message)

    @property
    def service_s(self) -> float:
        """S, how long a transfer occupies the bottleneck, in seconds."""
        return 8.0 * self.size_bytes / self.rate_bit_s

    def response_s(self, load: float) -> float:
        """Mean response time in seconds; infinite at a load of 1 and above."""
        if load >= 1.0:
            return math.inf
        return self.unloaded_s - self.service_s + self.service_s / (1.0 - load)

    def power_bit_s2(self, load: float) -> float:
        """Power in bit/s² at this load."""
        return load * self.rate_bit_s / self.response_s(load)

    @property
    def best_load(self) -> float:
        """The load at which the power is largest: 1 / (1 + sqrt(S / R0))."""
        return 1.0 / (1.0 + math.sqrt(self.service_s / self.unloaded_s))

    @property
    def best_power_bit_s2(self) -> float:
        """The largest power: rate / (sqrt(R0) + sqrt(S))²."""
        return self.rate_bit_s / (math.sqrt(self.unloaded_s) + math.sqrt(self.service_s)) ** 2
