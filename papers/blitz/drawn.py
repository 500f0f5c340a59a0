"""Shared by the pictures: power against the rate of arrivals, with the yardstick."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from longfat.paper import at, plots
from longfat.power import ProcessorSharing
from shared import NETWORKS, yardstick

DASHES: dict[float, Any] = {1.0: "-", 0.6: (0, (5, 1.5)), 0.2: (0, (2, 1.2))}
LABELS = ("network", "share", "control", "load", "reading", "packets", "acks", "kind")
MARKERS = {1.0: "o", 0.6: "s", 0.2: "^"}


def powers(panel: Axes, rows: pl.DataFrame, network: str, title: str | None = None) -> None:
    """Power against arrivals: a line for each bottleneck and controller; the yardstick is dotted."""
    net = NETWORKS[network]
    here = at(rows, network=network).filter(pl.col("load") > 0)
    for control in ("reno", "blitz"):
        for share in sorted(here["share"].unique().to_list()):
            line = (
                at(here, control=control, share=share).group_by("load").agg(pl.col("power").mean())
            )
            line = line.sort("load")
            loads = np.asarray(line["load"])
            rate = loads / net.service_s(share)
            panel.plot(
                rate, line["power"], color=plots.colour(control), linestyle=DASHES[share],
                marker=MARKERS[share], markersize=4.2, linewidth=1.5,
            )  # fmt: skip
            measuring = yardstick(rows, network, share, control)
            fine = np.geomspace(loads.min(), 0.985, 200)
            panel.plot(
                fine / net.service_s(share),
                [measuring.power_bit_s2(load) / 1e6 for load in fine],
                color=plots.colour(control), linewidth=1.1, linestyle=(0, (1, 1.2)),
            )  # fmt: skip
    panel.set(xscale="log", yscale="log", xlabel="arrivals per second")
    panel.set_title(title or net.name, loc="left", fontsize=12, fontweight="bold")


def ideal(panel: Axes, sharing: ProcessorSharing, looks: Mapping[str, Any]) -> None:
    """The power of processor sharing against the load."""
    loads = np.linspace(0.02, 0.98, 49)
    panel.plot(loads, [sharing.power_bit_s2(load) / 1e6 for load in loads], **looks)


def over(panel: Axes, rows: pl.DataFrame, y: str, *, factor: float = 1.0, **labels: object) -> None:
    """Means against the load, a line for each controller, shaded from the smallest seed to the largest."""
    for control in ("reno", "blitz"):
        line = at(rows, control=control, **labels).group_by("load").agg(
            pl.col(y).mean(), pl.col(y).min().alias("least"), pl.col(y).max().alias("most")
        ).sort("load")  # fmt: skip
        colour = plots.colour(control)
        panel.fill_between(
            line["load"].to_list(), (factor * line["least"]).to_list(),
            (factor * line["most"]).to_list(), color=colour, alpha=0.18, linewidth=0,
        )  # fmt: skip
        panel.plot(line["load"], factor * line[y], color=colour, marker=plots.marker(control),
                   markersize=4.5, linewidth=1.6, label=plots.name(control))  # fmt: skip


def means(figure: Figure, rows: pl.DataFrame, spread: str = "") -> None:
    """Says in the title that curves are means of so many seeds, and what `spread` is drawn around them."""
    names = [name for name in rows.columns if name in LABELS]
    seeds = rows.filter(pl.col("load") > 0).group_by(names).agg(pl.len())["len"]
    low, high = int(str(seeds.min())), int(str(seeds.max()))
    number = f"{high}" if low == high else f"{low} to {high}"
    plots.shows(figure, f"mean of {number} seeds{spread}")


def lines() -> list[Line2D]:
    """What colours and lines stand for."""
    handles = [
        Line2D([], [], color=plots.colour(c), linewidth=2.4, label=plots.name(c))
        for c in ("blitz", "reno")
    ]
    for share, text in ((1.0, "bottleneck as fast as the network"), (0.6, "3/5"), (0.2, "1/5")):
        handles.append(
            Line2D([], [], color="#444444", linestyle=DASHES[share], marker=MARKERS[share],
                   markersize=4.2, label=text)
        )  # fmt: skip
    return handles


def key(figure: Figure) -> None:
    """A legend of colours, lines and markers below the title."""
    ideal: dict[str, Any] = {"color": "#444444", "linewidth": 0.9, "linestyle": (0, (1, 1.5))}
    keyed(figure, [*lines(), Line2D([], [], **ideal, label="processor sharing")])


def keyed(figure: Figure, handles: Sequence[Line2D]) -> None:
    """A legend in one row below the title."""
    height = figure.get_figheight()
    figure.legend(
        handles=list(handles), loc="center left", ncols=len(handles), frameon=False, fontsize=10,
        bbox_to_anchor=(figure.subplotpars.left - 0.008, 1 - 1.03 / height),
        handlelength=2.2, columnspacing=1.5,
    )  # fmt: skip


def pair(rows: pl.DataFrame, networks: Sequence[str]) -> Figure:
    """Two networks side by side, on one scale."""
    return several([(rows, network, None) for network in networks])


def several(panels: Sequence[tuple[pl.DataFrame, str, str | None]]) -> Figure:
    """Networks side by side, on one scale: rows, the network, and a title other than its name."""
    width = 13 if len(panels) < 3 else 16
    figure, axes = plots.grid(1, len(panels), sharey=True, width=width, height=6.6)
    figure.subplots_adjust(top=0.76)
    for panel, (rows, network, title) in zip(axes[0], panels, strict=True):
        powers(panel, rows, network, title)
    axes[0, 0].set_ylabel("power (Mbit/s per s)")
    key(figure)
    means(figure, pl.concat([rows for rows, _, _ in panels], how="diagonal").unique())
    return figure
