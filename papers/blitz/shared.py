"""Shared by the experiments: the paper's networks, the loads, and what is measured at each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from longfat import power
from longfat.paper import Scale, across, at, per_seed
from longfat.study import Measured, Point, Row

CONTROLS = ("reno", "blitz")
SHARES = (0.2, 0.6, 1.0)
"""Rate of the bottleneck over that of the network."""

PACKET_BIT = 4000
LOADS: dict[Scale, tuple[float, ...]] = {
    "quick": (0.02, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0, 1.3),
    "full": (
        *(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65),
        *(0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.1, 1.3, 1.6),
    ),
}
"""Arrivals over what the bottleneck can carry; they set the arrival rates."""

TRANSFERS: dict[Scale, tuple[int, int]] = {"quick": (2, 150), "full": (5, 400)}
"""Seeds, and the least number of arrivals in each."""

MANY: dict[Scale, int] = {"quick": 2, "full": 20}
"""Seeds where the paper gives numbers, or where few leave a verdict undecided."""

PEAKS: dict[str, tuple[float, ...]] = {
    "reno": (0.8, 0.85, 0.9, 0.95, 1.0),
    "blitz": (0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9),
}
"""Loads around the largest power, which get these seeds; the others have as many as everywhere."""

EACH = {"traffic.files.delayed_ack": False}
"""Every packet is acknowledged."""

LASTING: dict[Scale, int] = {"quick": 6, "full": 12}
"""How long arrivals go on at least, in multiples of what TCP takes for a lone transfer."""

TIMED_OUT_S: dict[Scale, float] = {"quick": 5.0, "full": 10.0}
"""How long arrivals go on at least if a file is larger than half a buffer: several time-outs, each 1 s or more.

In a shorter run transfers that wait for one would not finish, and the mean would be that of the lucky ones."""

ALONE = 0.0
"""Stands for transfers so rare that none meets another."""

ROUNDS = {10: 8, 100: 11, 1000: 22}
"""Roughly how many round trips TCP takes for a lone file, by its size in kB; sets only the length of runs."""


@dataclass(frozen=True)
class Network:
    """Rate of all links but the bottleneck in Mbit/s, round trip in ms, files in kB."""

    rate: int
    delay_ms: float
    size_kb: int

    @property
    def buffer(self) -> int:
        """The packets that a switch holds."""
        return math.ceil(self.rate * self.delay_ms * 1000 / PACKET_BIT)

    @property
    def name(self) -> str:
        """As the paper writes it."""
        rate = "1 Gbit/s" if self.rate == 1000 else f"{self.rate} Mbit/s"
        size = "1 MB" if self.size_kb == 1000 else f"{self.size_kb} kB"
        return f"{rate}, {self.delay_ms:g} ms, {size}"

    def service_s(self, share: float) -> float:
        """How long a file occupies the bottleneck."""
        return self.size_kb * 8e-3 / (share * self.rate)

    def blitz_alone_s(self, share: float) -> float:
        """Half a round trip, the file through the bottleneck, and a packet on the other two links."""
        return self.delay_ms / 2e3 + self.service_s(share) + 2 * PACKET_BIT / (self.rate * 1e6)


NETWORKS = {
    "reference": Network(150, 30, 100),
    "faster": Network(1000, 30, 100),
    "aurora": Network(150, 1.8, 100),
    "middle": Network(150, 3, 100),
    "slower": Network(15, 30, 100),
    "large": Network(150, 30, 1000),
    "large-faster": Network(1000, 30, 1000),
    "small": Network(150, 30, 10),
}


READINGS: dict[str, dict[str, Any]] = {
    "minimum": {},
    "ample": EACH
    | {
        f"link.{link}.buffer": f"{NETWORKS['reference'].buffer} packets"
        for link in ("bottleneck", "exit")
    },
}
"""Two ways to read what the paper leaves open, where D is small.

The paper has "at least" what the link sends in a round trip as buffer, and says nothing of delayed
acknowledgments. "minimum" is the least buffer with delayed acknowledgments; "ample" has the switches of the
reference network and acknowledges every packet. With an initial window of one packet, a delayed acknowledgment
holds up the first packet of a transfer for 100 ms, whatever D is.
"""


def point(
    network: str,
    share: float,
    control: str | Mapping[str, Any],
    load: float,
    count: int,
    *,
    seeds: int,
    label: str | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as everywhere
    tables: tuple[str, ...] = ("transfers",),
) -> Point:
    """`count` transfers at one load, all with one controller."""
    net = NETWORKS[network]
    kind = control if isinstance(control, str) else control["kind"]
    queue = "pushout" if kind == "blitz" else "drop-tail"
    rate = load / net.service_s(share) if load else 0.02
    changes: dict[str, Any] = {
        "duration": f"{round(count / rate, 6)} s" if load else "20000 s",
        "link.bottleneck.rate": f"{round(share * net.rate)} Mbit/s",
        "link.exit.rate": f"{net.rate} Mbit/s",
        "traffic.files.control": control,
        "traffic.files.rtt": f"{net.delay_ms:g} ms",
        "traffic.files.access": f"{net.rate} Mbit/s",
        "traffic.files.size": f"{net.size_kb} kB",
        "traffic.files.arrivals": {"poisson": f"{round(rate, 9)} /s"},
        "traffic.files.count": count,
    }
    for link in ("bottleneck", "exit"):
        changes |= {f"link.{link}.buffer": f"{net.buffer} packets", f"link.{link}.queue": queue}
    return Point(
        "network.toml",
        set=changes | dict(set or {}),
        labels={"network": network, "share": share, "control": label or str(kind), "load": load},
        seeds=seeds,
        tables=tables,
    )


def sweep(
    scale: Scale,
    networks: Sequence[str],
    controls: Mapping[str, tuple[str | Mapping[str, Any], Mapping[str, Any]]] | None = None,
    shares: Sequence[float] = SHARES,
    loads: Sequence[float] = (),
    *,
    seeds: int | None = None,
) -> Iterator[Point]:
    """All loads of some networks, and a few lone transfers; by default with TCP Reno and Blitz.

    `seeds` are those of the loads in `PEAKS`, if they are more than usual.
    """
    few, least = TRANSFERS[scale]
    for network in networks:
        net = NETWORKS[network]
        for share in shares:
            lasts = net.delay_ms / 1e3 * ROUNDS[net.size_kb] + net.service_s(share)
            for label, (control, set_) in (controls or {c: (c, {}) for c in CONTROLS}).items():
                for load in (ALONE, *(loads or LOADS[scale])):
                    lasting = LASTING[scale] * lasts
                    if net.size_kb * 2 > net.buffer:
                        lasting = max(lasting, TIMED_OUT_S[scale])
                    arriving = math.ceil(lasting * load / net.service_s(share))
                    count = max(least, arriving) if load else 12
                    own = seeds if seeds and load in PEAKS.get(label, LOADS[scale]) else few
                    yield point(
                        network, share, control, load, count, seeds=own, label=label, set=set_
                    )  # fmt: skip


def read(
    reading: str,
    scale: Scale,
    networks: Sequence[str],
    shares: Sequence[float] = SHARES,
    *,
    seeds: int | None = None,
) -> Iterator[Point]:
    """All loads of some networks under one of the `READINGS`, which becomes a label."""
    controls = {control: (control, READINGS[reading]) for control in CONTROLS}
    for each in sweep(scale, networks, controls, shares, seeds=seeds):
        yield labelled(each, reading=reading)


def labelled(one: Point, **labels: object) -> Point:
    """The same point with more labels."""
    return replace(one, labels={**one.labels, **labels})


def measure(run: Measured) -> Row:
    """Power in Mbit/s per second and its components, over the middle half of the arrivals."""
    found = power.of_run(run, "files")
    table = run.table("transfers")
    took = found.response_s
    traffic = run.summary["traffic"]["files"]
    at_least_once = table.filter(pl.col("timeouts") > 0).height
    rates = [1 / each for each in table["completion_s"].drop_nulls().to_list()]
    return {
        "rate_per_s": found.arrivals_per_s,
        "power": (found.power_bit_s2 or 0.0) / 1e6,
        "throughput": found.throughput_bit_s / 1e6,
        "response_s": None if took is None else took.mean,
        "p50_s": None if took is None else took.p50,
        "p99_s": None if took is None else took.p99,
        "acknowledged_s": None if found.acknowledged_s is None else found.acknowledged_s.mean,
        "carried": found.completed / found.arrivals,
        "drop_rate": traffic["drop_rate"],
        "sent_again": float(table["retransmitted"].sum()) / float(table["packets"].sum()),
        "timed_out": at_least_once / table.height,
        "utilisation": run.link()["utilisation"],
        "jain": sum(rates) ** 2 / (len(rates) * sum(r * r for r in rates)) if rates else None,
    }


def best(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """The base-10 logarithm of the largest power of the mean curve, with what each seed contributes to it.

    The largest of each seed's own powers would be too high, the more so the more the seeds differ. Here the
    powers of all seeds are averaged at each load, and of the loads with most seeds that with the largest mean
    is taken. The value of a seed is

        log10(mean) + (power/mean - 1)/ln(10)

    with its own power at that load, which is in `power`: the values average to log10(mean) exactly, and their
    spread is that of the logarithm of a mean, to first order.
    """
    keys = ["network", "share", "control", *by]
    curve = rows.group_by(*keys, "load").agg(
        pl.col("power").mean().alias("mean"), pl.len().alias("seeds")
    )
    top = curve.sort("seeds", "mean").group_by(*keys).last()
    own = (pl.col("power") / pl.col("mean") - 1) / math.log(10)
    return (
        rows.join(top, on=[*keys, "load"])
        .with_columns((pl.col("mean").log10() + own).alias("best"))
        .select(*keys, "seed", "best", "power")
        .sort(*keys, "seed")
    )


def gaps(rows: pl.DataFrame, *by: str, first: str = "blitz", second: str = "reno") -> pl.DataFrame:
    """By how many decades one controller's largest power exceeds another's."""
    wide = across(best(rows, *by), "control", "best", keep=["network", "share", *by])
    return wide.with_columns((pl.col(first) - pl.col(second)).alias("gap"))


def smallest(rows: pl.DataFrame, column: str, *over: str) -> list[float | None]:
    """The value of each seed in the case, of those that differ in `over`, whose mean is the smallest."""
    return _case(rows, column, over, 0)


def largest(rows: pl.DataFrame, column: str, *over: str) -> list[float | None]:
    """The same where the mean is the largest."""
    return _case(rows, column, over, -1)


def _case(rows: pl.DataFrame, column: str, over: Sequence[str], place: int) -> list[float | None]:
    means = rows.group_by(*over).agg(pl.col(column).mean().alias("mean")).sort("mean")
    return per_seed(rows, column, **{label: means[label][place] for label in over})


def steps(rows: pl.DataFrame, column: str) -> list[float | None]:
    """The smallest step from one bottleneck to the next faster one."""
    rows = rows.sort("seed", "share")
    rows = rows.with_columns(pl.col(column).diff().over("seed").alias("step"))
    return smallest(rows.filter(pl.col("step").is_not_null()), "step", "share")


def at_each_load(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """By how many decades Blitz's power exceeds TCP's at the same arrival rate."""
    loaded = rows.filter(pl.col("load") > 0)
    wide = across(loaded, "control", "power", keep=["network", "share", "load", *by])
    return wide.with_columns((pl.col("blitz") / pl.col("reno")).log10().alias("gap"))


def yardstick(
    rows: pl.DataFrame, network: str, share: float, control: str
) -> power.ProcessorSharing:
    """Processor sharing, given what a lone transfer of this controller was found to take."""
    alone = at(rows, network=network, share=share, control=control, load=ALONE)["response_s"]
    net = NETWORKS[network]
    return power.ProcessorSharing(share * net.rate * 1e6, net.size_kb * 1000, float(alone[0]))


def lone_burst(network: str, share: float) -> power.ProcessorSharing:
    """Processor sharing, given what theory says a lone burst without loss takes."""
    net = NETWORKS[network]
    alone = net.blitz_alone_s(share)
    return power.ProcessorSharing(share * net.rate * 1e6, net.size_kb * 1000, alone)
