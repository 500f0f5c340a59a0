"""Figure 5 taken apart: what the buffer does to it, and what delayed acknowledgments do."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Point
from shared import (
    ALONE,
    CONTROLS,
    EACH,
    NETWORKS,
    SHARES,
    at_each_load,
    best,
    gaps,
    labelled,
    point,
    smallest,
)

FIGURE = Experiment(
    id="buffers",
    title="Small products: what the buffer does, and what delayed acknowledgments do",
    question="What takes Blitz's advantage where the path holds little, the buffer or the acknowledgments?",
)
AMPLE = NETWORKS["reference"].buffer
SIZES = {
    "aurora": (NETWORKS["aurora"].buffer, 136, 272, AMPLE),
    "slower": (NETWORKS["slower"].buffer, 155, 226, AMPLE),
}
"""Buffers in packets: from a round trip to that of the reference network.

A lone burst of 200 that meets a bottleneck a fifth as fast needs 159."""

ACKS: dict[str, dict[str, Any]] = {"delayed": {}, "each": EACH}
LOADS = (ALONE, 0.02, 0.3, 0.6, 0.8, 0.9)


def points(scale: Scale) -> Iterator[Point]:
    """The network of 1.8 ms with each buffer and both kinds of acknowledgment; 15 Mbit/s with delayed ones."""
    kinds = [("aurora", acks) for acks in ACKS] + [("slower", "delayed")]
    for network, acks in kinds:
        for packets in SIZES[network]:
            for share in SHARES:
                for control in CONTROLS:
                    for load in LOADS:
                        made = arrivals(scale, network, share, control, load, packets, acks)
                        yield labelled(made, packets=packets, acks=acks)


def arrivals(  # noqa: PLR0917 - what the points differ in
    scale: Scale, network: str, share: float, control: str, load: float, packets: int, acks: str
) -> Point:
    """Transfers at one load for five seconds and more: in less time none would wait for a timer."""
    buffers = {f"link.{link}.buffer": f"{packets} packets" for link in ("bottleneck", "exit")}
    seeds, least = shared.TRANSFERS[scale]
    count = max(least, round(5.0 * load / NETWORKS[network].service_s(share))) if load else 12
    return point(network, share, control, load, count, seeds=seeds, set=buffers | ACKS[acks])


measure = shared.measure


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Gaps with one of the two changed; powers and waits of the small buffer."""
    near = at(rows, network="aurora")
    least = SIZES["aurora"][0]
    gap = gaps(near, "packets", "acks")
    tops = at(best(near, "packets", "acks"), share=0.2, control="reno", acks="delayed")
    wide = across(tops, "packets", "best", keep=[])
    alone = at(near, load=ALONE, share=1.0, packets=AMPLE, control="reno")
    small = at(near, packets=least, acks="delayed", share=0.2)
    slower = at(rows, network="slower", packets=AMPLE)
    few = at_each_load(at(slower, load=LOADS[1], share=0.2))
    return {
        "buffers/above": smallest(at(gap, packets=AMPLE, acks="delayed"), "gap", "share"),
        "buffers/acks": smallest(at(gap, packets=least, acks="each"), "gap", "share"),
        "buffers/reno": per_seed(wide, 10 ** (pl.col(f"{AMPLE}") - pl.col(f"{least}"))),
        "buffers/alone/delayed": per_seed(alone, "response_s", acks="delayed"),
        "buffers/alone/each": per_seed(alone, "response_s", acks="each"),
        "buffers/waits/reno": per_seed(small, "timed_out", control="reno", load=ALONE),
        "buffers/waits/blitz": per_seed(small, "timed_out", control="blitz", load=0.6),
        "buffers/slower/above": smallest(gaps(slower), "gap", "share"),
        "buffers/slower/low-load": per_seed(few, "gap"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The largest power against the buffer, in both networks."""
    figure, axes = plots.grid(2, 3, sharey="row", width=14, height=9.4)
    figure.subplots_adjust(top=0.84, hspace=0.42)
    tops = best(rows, "packets", "acks")
    for row, (network, sizes) in enumerate(SIZES.items()):
        for panel, share in zip(axes[row], SHARES, strict=True):
            here = at(tops, network=network, share=share)
            for acks, dashes in (("delayed", "-"), ("each", (0, (4, 2)))):
                for control in CONTROLS if acks in here["acks"].unique() else ():
                    line = at(here, acks=acks, control=control)
                    mean = line.group_by("packets").agg(pl.col("power").mean()).sort("packets")
                    each = ", each packet acknowledged" if acks == "each" else ""
                    panel.plot(
                        mean["packets"], mean["power"], color=plots.colour(control), linestyle=dashes,
                        marker=plots.marker(control), markersize=6, linewidth=1.7,
                        label=plots.name(control) + each,
                    )  # fmt: skip
            panel.axvline(200, color="#cccccc", linewidth=1, zorder=0)
            panel.set(xscale="log", yscale="log", xlabel="buffer (packets)")
            panel.set_xticks(sizes, [str(size) for size in sizes])
            panel.xaxis.set_minor_locator(NullLocator())
            net = NETWORKS[network]
            panel.set_title(
                f"{net.delay_ms:g} ms, {share * net.rate:g} of {net.rate} Mbit/s", loc="left",
                fontsize=12, fontweight="bold",
            )  # fmt: skip
        axes[row, 0].set_ylabel("largest power (Mbit/s per s)")
    plots.note(axes[0, 0], "grey: a file, 200 packets", (0.98, 0.04), ha="right")
    plots.legend(figure, axes[0, 0])
    drawn.means(figure, rows)
    return figure
