"""Section 3 taken further: a first window set by size over bandwidth-delay product, and its price."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row, estimate
from shared import ALONE, NETWORKS, best, largest, smallest

FIGURE = Experiment(
    id="sized-start",
    title="A first window sized by the file: most of the power, without switches",
    question="What does a first window made from size over bandwidth-delay product give, and cost?",
    by=("kind",),
)
NETS = ("reference", "faster", "slower", "large", "small")
SHARES = (0.2, 1.0)
LOADS: dict[Scale, tuple[float, ...]] = {
    "quick": (0.02, 0.3, 0.6, 0.8, 0.9, 1.3),
    "full": (0.02, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.3),
}
CONTROLS: dict[str, tuple[str, dict[str, Any]]] = {
    "reno-2": ("reno", {"traffic.files.initial_window": 2}),
    "reno-10": ("reno", {"traffic.files.initial_window": 10}),
    "sized-start": ("sized-start", {}),
    "blitz": ("blitz", {}),
}
LOSSY = ("reference", "slower", "large")
SHARED = ("reno", "reno-2", "reno-10", "sized-start")
SHARED_LOOK: dict[str, Any] = {
    "color": plots.colour("blitz"),
    "linewidth": 1.0,
    "linestyle": (0, (1, 1.2)),
}
LOOKS = {
    "reno": ("TCP", plots.colour("reno"), "o"),
    "reno-2": ("TCP, window 2", "#9a9a9a", "o"),
    "reno-10": ("TCP, window 10", "#B8860B", "s"),
    "sized-start": ("sized start", plots.colour("sized-start"), "h"),
    "blitz": ("Blitz with pushout", plots.colour("blitz"), "*"),
}


def points(scale: Scale) -> Iterator[Point]:
    """Power of each alone; and each beside standard transfers."""
    for each in shared.sweep(scale, NETS, CONTROLS, SHARES, LOADS[scale]):
        if each.labels["load"] != ALONE:
            yield each
    for share in SHARES:
        for label in SHARED:
            control, changes = CONTROLS.get(label, (label, {}))
            yield Point(
                "shared.toml",
                set={
                    "traffic.files.control": control,
                    "link.bottleneck.rate": f"{round(share * 150)} Mbit/s",
                    "duration": f"{(6 if scale == 'quick' else 20) / share} s",
                }
                | changes,
                labels={"network": "shared", "share": share, "control": label, "load": 0.6},
                seeds=shared.TRANSFERS[scale][0],
            )


def measure(run: Measured) -> Row:
    """Power; or completion time and loss of the standard transfers."""
    if run.labels["network"] != "shared":
        return {"kind": "power", "others_s": None, "others_lost": None} | shared.measure(run)
    others = run.summary["traffic"]["others"]
    return {
        "kind": "shared",
        "others_s": others["completion_s"]["mean"],
        "others_lost": others["drop_rate"],
        "power": None,
        "drop_rate": run.summary["traffic"]["files"]["drop_rate"],
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Powers compared; loss; and how long others took."""
    powers = at(rows, kind="power")
    wide = across(best(powers), "control", "best", keep=["network", "share"])
    full = at(wide, share=1.0)
    gained = pl.col("sized-start")
    took = across(at(rows, kind="shared"), "control", "others_s", keep=["share"])
    found: dict[str, Answer] = {
        f"sized-start/gap/{network}": per_seed(full, gained - pl.col("blitz"), network=network)
        for network in ("reference", "faster", "small")
    }
    for control in ("reno-2", "reno-10"):
        found[f"sized-start/above/{control}"] = smallest(
            full.with_columns((gained - pl.col(control)).alias("above")), "above", "network"
        )
    moderate = at(powers, control="sized-start", share=1.0, load=0.6)
    found["sized-start/loss"] = largest(moderate, "drop_rate", "network")
    longer = gained / pl.col("reno")
    found["sized-start/others"] = per_seed(took, longer, share=1.0)
    found["sized-start/others/bottleneck"] = per_seed(took, longer, share=0.2)
    return found


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Loss in each network, and what standard transfers beside sized starts lose and wait."""
    powers = at(rows, kind="power", share=1.0)
    lost = at(powers, load=0.6)
    gap = across(best(powers), "control", "best", keep=["network"])
    gap = gap.with_columns((pl.col("sized-start") - pl.col("reno-10")).alias("gap"))
    beside = at(rows, kind="shared", share=0.2)
    took = across(beside, "control", "others_s", keep=[])
    return {
        "sized-start/loss/reno-10": per_seed(
            lost, "drop_rate", control="reno-10", network="slower"
        ),
        "sized-start/loss/large": per_seed(
            lost, "drop_rate", control="sized-start", network="large"
        ),
        "sized-start/loss/faster": per_seed(
            lost, "drop_rate", control="sized-start", network="faster"
        ),
        "sized-start/loss/small": per_seed(
            lost, "drop_rate", control="sized-start", network="small"
        ),
        "sized-start/above/others": smallest(
            gap.filter(pl.col("network") != "slower"), "gap", "network"
        ),
        "sized-start/others/lost": per_seed(beside, "others_lost", control="sized-start"),
        "sized-start/others/longer": per_seed(took, pl.col("sized-start") - pl.col("reno")),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Power against the load in five networks; how long others take, and what is lost."""
    figure, axes = plots.grid(3, 4, width=15, height=11.5)
    powers = at(rows, kind="power")
    cells = [(network, share) for network in NETS for share in SHARES]
    for panel, (network, share) in zip(axes.flat, cells, strict=False):
        for control in CONTROLS:
            line = at(powers, network=network, share=share, control=control)
            mean = line.group_by("load").agg(pl.col("power").mean()).sort("load")
            _, colour, look = LOOKS[control]
            panel.plot(mean["load"], mean["power"], color=colour, marker=look, markersize=4.5,
                       linewidth=1.4)  # fmt: skip
        net = NETWORKS[network]
        drawn.ideal(panel, shared.lone_burst(network, share), SHARED_LOOK)
        panel.set_title(
            f"{net.name}\nbottleneck {share * net.rate:g} Mbit/s", loc="left", fontsize=10
        )
        panel.set(yscale="log", xlim=(0, None))
        panel.yaxis.set_minor_formatter(NullFormatter())
    for row in range(3):
        axes[row, 0].set_ylabel("power (Mbit/s per s)")
    panel = axes[2, 2]
    for index, control in enumerate(SHARED):
        for place, share in enumerate(SHARES):
            values = at(rows, kind="shared", control=control, share=share)["others_s"].to_list()
            known = estimate([1e3 * value for value in values])
            panel.bar(place + 0.2 * (index - 1.5), known.mean or 0.0, 0.18, yerr=known.half_width,
                      color=LOOKS[control][1], error_kw={"elinewidth": 1.0, "capsize": 2})  # fmt: skip
    panel.set_xticks(range(2), ["30 Mbit/s", "150 Mbit/s"])
    panel.set_title("standard TCP beside each,\nload 0.6: completion (ms)", loc="left", fontsize=10)
    panel.grid(visible=False, axis="x")
    panel = axes[2, 3]
    for index, control in enumerate(CONTROLS):
        for place, network in enumerate(LOSSY):
            found = at(powers, network=network, share=1.0, control=control, load=0.6)["drop_rate"]
            panel.bar(place + 0.2 * (index - 1.5), 100 * float(found.mean()), 0.18,  # type: ignore[arg-type]
                      color=LOOKS[control][1])  # fmt: skip
    panel.set_xticks(range(3), ["150 Mbit/s\n100 kB", "15 Mbit/s\n100 kB", "150 Mbit/s\n1 MB"],
                     fontsize=9)  # fmt: skip
    panel.set_title("no slower bottleneck,\nload 0.6: packets lost (%)", loc="left", fontsize=10)
    panel.grid(visible=False, axis="x")
    for panel in axes[1:, :].flat:
        if panel not in (axes[2, 2], axes[2, 3]):
            panel.set_xlabel("load")
    figure.subplots_adjust(top=0.84, hspace=0.5, wspace=0.32, left=0.07)
    handles = [Line2D([], [], color=c, marker=m, label=t) for t, c, m in LOOKS.values()]
    about = "lone bursts, processor sharing"
    drawn.keyed(figure, [*handles, Line2D([], [], **SHARED_LOOK, label=about)])
    return figure
