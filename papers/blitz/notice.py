"""When a source learns of a loss: a scan for a delay with which TCP is better at few arrivals."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Point
from shared import ALONE, NETWORKS, SHARES, gaps, labelled, largest, point, smallest

FIGURE = Experiment(
    id="notice",
    title="Blitz that is told of losses late: TCP is better where few arrive",
    question="Is there a delay of the notice that gives both of the paper's exceptions?",
)
NETS = ("slower", "large")
DELAYS_MS = (200, 300, 400, 450, 500, 550, 600, 650, 700, 800, 1000)
CHOSEN_MS = 500
"""The tick of the timers of that time."""

LOADS: dict[Scale, tuple[float, ...]] = {
    "quick": (0.02, 0.3, 0.6, 0.8, 0.9),
    "full": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}


def points(scale: Scale) -> Iterator[Point]:
    """Lone transfers with each delay; and all loads with one of them."""
    for network in NETS:
        for share in SHARES:
            for name, control, changes in ways():
                alone = point(network, share, control, ALONE, 12, seeds=1, label=name, set=changes)
                yield labelled(alone, kind="alone")
    late: dict[str, tuple[str | Mapping[str, Any], Mapping[str, Any]]] = {
        "reno": ("reno", {}),
        "blitz": (by_timer(), delay(CHOSEN_MS)),
    }
    for network in NETS:
        shares = SHARES if network == "slower" else (0.2,)
        for each in shared.sweep(scale, (network,), late, shares, LOADS[scale]):
            if each.labels["load"] != ALONE:
                yield labelled(each, kind="loaded")


def by_timer() -> dict[str, Any]:
    """Blitz that no duplicate acknowledgment tells of a loss."""
    return {"kind": "blitz", "duplicates": 1000}


def delay(milliseconds: int) -> dict[str, Any]:
    """Nothing acknowledged for this long means a loss."""
    return {"traffic.files.rto_min": f"{milliseconds} ms", "traffic.files.rto_tick": "none"}


def ways() -> Iterator[tuple[str, str | dict[str, Any], dict[str, Any]]]:
    """TCP; Blitz with three duplicates; with a timer of each delay; and with that of 1995."""
    yield "reno", "reno", {}
    yield "blitz", "blitz", {}
    yield "1995", by_timer(), {}
    for milliseconds in DELAYS_MS:
        yield f"{milliseconds} ms", by_timer(), delay(milliseconds)


measure = shared.measure


def alone(rows: pl.DataFrame) -> pl.DataFrame:
    """By how many decades lone transfers exceed TCP's power, for each way, network and bottleneck."""
    powers = at(rows, kind="alone")
    tcp = at(powers, control="reno").select("network", "share", pl.col("power").alias("tcp"))
    found = powers.filter(pl.col("control") != "reno").join(tcp, on=["network", "share"])
    return found.with_columns((pl.col("power") / pl.col("tcp")).log10().alias("gap"))


def both(rows: pl.DataFrame) -> list[int]:
    """The delays with which TCP is better behind both slowest bottlenecks, at 15 Mbit/s slightly."""
    few = at(alone(rows), share=0.2)
    found = []
    for milliseconds in DELAYS_MS:
        gap = {
            network: float(at(few, control=f"{milliseconds} ms", network=network)["gap"][0])
            for network in NETS
        }
        if -0.3 <= gap["slower"] <= 0 and gap["large"] <= 0:
            found.append(milliseconds)
    return found


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Which delays fit; and the other sentences with one of them."""
    fit = both(rows)
    quick = at(alone(rows), control=f"{CHOSEN_MS} ms", share=[0.6, 1.0])
    few = at(alone(rows), control="1995", share=0.2, network="slower")
    loaded = at(rows, kind="loaded")
    gap = gaps(at(loaded, network="slower"))
    each = shared.at_each_load(at(loaded, network="slower", share=0.2))
    return {
        "notice/both": len(fit),
        "notice/shortest": fit[0] / 1e3 if fit else float("nan"),
        "notice/longest": fit[-1] / 1e3 if fit else float("nan"),
        "notice/timer": float(few["gap"][0]),
        "notice/faster-bottlenecks": float(quick["gap"].min()),  # type: ignore[arg-type]
        "notice/more-arrivals": largest(each, "gap", "load"),
        "notice/above": smallest(gap, "gap", "share"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Lone transfers against the delay; and power against the load with the delay that was chosen."""
    figure, axes = plots.grid(1, 3, width=15, height=5.6)
    figure.subplots_adjust(top=0.74, wspace=0.28)
    found = alone(rows)
    panel = axes[0, 0]
    for network, colour, look in (("slower", "#0B3C5D", "o"), ("large", "#E08E1B", "s")):
        gap = [
            float(at(found, control=f"{each} ms", network=network, share=0.2)["gap"][0])
            for each in DELAYS_MS
        ]
        panel.plot(
            DELAYS_MS, gap, color=colour, marker=look, linewidth=1.7, label=NETWORKS[network].name
        )
    fit = both(rows)
    if fit:
        panel.axvspan(fit[0], fit[-1], color="#e6e6e6", zorder=0)
    panel.axhline(0, color="#888888", linewidth=0.8)
    panel.axhline(-0.3, color="#888888", linewidth=0.8, linestyle=plots.DOTTED)
    panel.set(xlabel="delay of the notice (ms)", ylabel="power alone, Blitz over TCP (decades)")
    panel.set_title("grey: both sentences hold", loc="left", fontsize=12, fontweight="bold")
    panel.legend(frameon=False, fontsize=10)
    loaded = at(rows, kind="loaded")
    drawn.means(figure, loaded)
    drawn.keyed(figure, drawn.lines())
    for panel, network in zip(axes[0, 1:], NETS, strict=True):
        for control in shared.CONTROLS:
            for share, dashes in drawn.DASHES.items():
                line = loaded.filter(
                    (pl.col("network") == network)
                    & (pl.col("control") == control)
                    & (pl.col("share") == share)
                )
                mean = line.group_by("load").agg(pl.col("power").mean()).sort("load")
                if not mean.is_empty():
                    panel.plot(mean["load"], mean["power"], color=plots.colour(control), linestyle=dashes,
                               marker=drawn.MARKERS[share], markersize=4.5, linewidth=1.5)  # fmt: skip
        panel.set(xscale="log", yscale="log", xlabel="load", ylabel="power (Mbit/s per s)")
        panel.set_title(f"{NETWORKS[network].name}: {CHOSEN_MS} ms", loc="left", fontsize=12,
                        fontweight="bold")  # fmt: skip
    return figure
