"""What theory promises for transfers that meet no others."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat import power
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import ALONE, CONTROLS, NETWORKS, PACKET_BIT, SHARES, point

FIGURE = Experiment(
    id="unloaded",
    title="Alone: what a burst takes is what theory says",
    question="Are completion and power of lone transfers exactly what the path makes them?",
)
WHOLE = {f"link.{link}.buffer": "112 packets" for link in ("bottleneck", "exit")}
"""What a round trip holds at 15 Mbit/s and 30 ms: 112.5 packets, rounded down; other figures round up."""

CASES = [(network, share) for network in NETWORKS for share in SHARES]


def points(_scale: Scale) -> Iterator[Point]:
    """Twelve transfers in 600 s with either controller, in every network."""
    for network, share in CASES:
        for control in CONTROLS:
            yield point(
                network,
                share,
                control,
                ALONE,
                12,
                seeds=1,
                set=WHOLE if network == "slower" else {},
            )


def measure(run: Measured) -> Row:
    """Completion and power, and how far both are from theory."""
    network, share = NETWORKS[run.labels["network"]], float(run.labels["share"])
    found = power.of_run(run, "files")
    table = run.table("transfers")
    took = table["completion_s"]
    response = 0.0 if found.response_s is None else found.response_s.mean
    size_bit = network.size_kb * 8e3
    waiting = (1 - share) * size_bit / PACKET_BIT
    traffic = run.summary["traffic"]["files"]
    return {
        "completion_s": float(took[0]),
        "over_packets": (response - network.blitz_alone_s(share))
        * share * network.rate * 1e6 / PACKET_BIT,
        "fits": waiting <= network.buffer,
        "power_over": (found.power_bit_s2 or 0.0)
        / (found.arrivals_per_s * size_bit / float(took[0])) - 1,
        "dropped": traffic["data_dropped"] / traffic["arrived"],
    }  # fmt: skip


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The worst case of each."""
    fits = at(rows, control="blitz", fits=True)
    over = pl.col("over_packets")
    worst = pl.col("power_over").sort_by(pl.col("power_over").abs()).last()
    slow = at(rows, network="slower", share=0.2)
    found: dict[str, Answer] = {
        "unloaded/completion": one(per_seed(fits, over.sort_by(over.abs()).last())),
        "unloaded/overflow": one(per_seed(slow, "dropped", control="blitz")),
        "unloaded/fits": one(per_seed(slow, "dropped", control="reno")),
    }
    for control in CONTROLS:
        found[f"unloaded/power/{control}"] = one(per_seed(rows, 1e6 * worst, control=control))
    return found


def one(values: list[float | None]) -> float:
    """The value of the only seed: chance plays no part."""
    (value,) = values
    if value is None:
        message = "nothing was measured"
        raise ValueError(message)
    return value


def draw(rows: pl.DataFrame) -> Figure:
    """Completion times of both in every network, with theory for Blitz."""
    figure, axes = plots.grid(1, 1, width=12, height=7.4)
    panel = axes[0, 0]
    names = [
        f"{NETWORKS[network].name}: {share * NETWORKS[network].rate:g} Mbit/s"
        for network, share in CASES
    ]
    for control in CONTROLS:
        took = [
            1e3 * at(rows, network=network, share=share, control=control)["completion_s"][0]
            for network, share in CASES
        ]
        panel.plot(took, range(len(CASES)), color=plots.colour(control), linestyle="none",
                   marker=plots.marker(control), markersize=7, label=plots.name(control))  # fmt: skip
    theory = [1e3 * NETWORKS[network].blitz_alone_s(share) for network, share in CASES]
    panel.plot(theory, range(len(CASES)), color="#222222", linestyle="none", marker="|",
               markersize=13, label="Blitz, theory without loss")  # fmt: skip
    panel.set_yticks(range(len(CASES)), names, fontsize=9)
    panel.invert_yaxis()
    panel.set(xscale="log", xlabel="completion alone (ms)")
    figure.subplots_adjust(left=0.29)
    plots.legend(figure, panel)
    return figure
