"""Beyond the paper: two links, one of which does not know AntiECN, and the bit as the paper words it.

The paper says that routers AND their decisions, and that they "set" the bit; taken literally, the
second lets the last router speak for all.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from beyond import FULL_LENGTH, head
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="deployment",
    title="Two links: one unaware link makes TCP, and the last may not overrule the first",
    question="What happens on two links if one does not know AntiECN, or overwrites what the other said?",
    by=("time_s",),
)
NARROW, WIDE = "50 Mbit/s", "150 Mbit/s"
ORDERS = ("narrow first", "wide first")
KINDS = ("TCP", "and", "overwrite", "narrow unaware", "wide unaware")
COLOURS = {"and": "#2E86AB", "overwrite": "#C0392B", "narrow unaware": plots.FAINT}
PRODUCT = 250
THRESHOLD = 0.5
SHOWN_S = 20
"""The beginning, which the picture shows; after that, every fifth row is enough."""


def link(rate: str, kind: str, unaware: bool) -> dict[str, Any]:  # noqa: FBT001 - private
    """A link of the path."""
    says = {
        "threshold": THRESHOLD,
        "buffer": "1 bdp",
        "mode": kind if kind == "overwrite" else "and",
    }
    buffer = {"buffer": "0.25 bdp", "bdp": "40 ms", "queue": "drop-tail"}
    return {"rate": rate, "delay": "1 ms", "anti_ecn": False if unaware else says} | buffer


def points(scale: Scale) -> Iterator[Point]:
    """Both orders; one seed, as a lone flow whose slow start ends at 20 packets is deterministic."""
    seconds = 60 * (FULL_LENGTH if scale == "full" else 1)
    for order in ORDERS:
        for kind in KINDS:
            flow = {
                "name": "it",
                "control": "reno" if kind == "TCP" else "anti-ecn",
                "path": ["narrow", "wide"] if order == "narrow first" else ["wide", "narrow"],
                "rtt": "40 ms",
                "profile": "ns2-2005",
                "initial_threshold": 20,
            }
            links = {
                "narrow": link(NARROW, kind, kind == "narrow unaware"),
                "wide": link(WIDE, kind, kind == "wide unaware"),
            }
            yield Point(
                {"duration": f"{seconds} s", "sample": "200 ms", "link": links, "flow": [flow]},
                labels={"order": order, "kind": kind},
                seeds=1,
                tables=("flow_series",),
            )


def measure(run: Measured) -> list[Row]:
    """The series, and in each row what the summary says about the whole run."""
    flow = run.flows()[0]
    whole = {
        "says": flow["anti_ecn"],
        "unaware": flow["unaware_link"],
        "told": flow["room_rate"],
        "dropped": run.link("narrow")["dropped"],
        "used": run.link("narrow")["utilisation"],
    }
    series = run.table("flow_series").select("time_s", "window", "room_rate")
    later = pl.col("time_s") > SHOWN_S
    series = pl.concat([series.filter(~later), series.filter(later).gather_every(5)])
    return [
        {"time_s": time, "window": window, "room": room} | whole
        for time, window, room in series.iter_rows()
    ]


def last_room(rows: pl.DataFrame, order: str) -> float:
    """The window at the last row with room before the window first shrinks, over η P."""
    line = at(rows, order=order, kind="and").sort("time_s")
    windows = line["window"].to_list()
    end = next(i for i in range(1, len(windows)) if windows[i] < windows[i - 1])
    ramp = line.head(end).filter(pl.col("room") > 0)
    return float(ramp["window"][-1]) / (THRESHOLD * PRODUCT)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic."""
    apart, says = [], []
    for order in ORDERS:
        plain = at(rows, order=order, kind="TCP").sort("time_s")["window"].to_numpy()
        for name in ("narrow", "wide"):
            line = at(rows, order=order, kind=f"{name} unaware").sort("time_s")
            apart.append(float(abs(line["window"].to_numpy() - plain).max()))
            says.append(line["says"][0] is False and line["unaware"][0] == name)
    knees = [last_room(rows, order) for order in ORDERS]

    def whole(order: str, kind: str, column: str) -> float:
        return float(at(rows, order=order, kind=kind)[column][0])

    first, last = ORDERS
    return {
        "deployment/unaware": max(apart),
        "deployment/says": sum(says) / len(says),
        "deployment/and": max(knees, key=lambda knee: abs(knee - 1)),
        "deployment/overwrite/room": whole(first, "overwrite", "told"),
        "deployment/overwrite/losses": whole(first, "overwrite", "dropped")
        / whole(first, "and", "dropped"),
        "deployment/overwrite/last-narrow": whole(last, "overwrite", "told")
        / whole(last, "and", "told"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Windows over time in both orders."""
    figure, axes = plots.grid(1, 2, sharey=True, width=13, height=5.2)
    titles = ("50 Mbit/s, then 150 Mbit/s", "150 Mbit/s, then 50 Mbit/s")
    names = {
        "narrow unaware": "one link unaware (= TCP)",
        "and": "and",
        "overwrite": "overwrite, as worded",
    }
    for panel, order, title in zip(axes[0], ORDERS, titles, strict=True):
        for kind in ("overwrite", "narrow unaware", "and"):
            line = at(rows, order=order, kind=kind).sort("time_s")
            line = line.filter(pl.col("time_s") <= SHOWN_S)
            same = kind == "overwrite" and order == "wide first"
            panel.plot(
                line["time_s"], line["window"], color=COLOURS[kind], label=names[kind],
                linewidth=5 if same else 1.7, alpha=0.35 if same else 1,
            )  # fmt: skip
        panel.axhline(
            THRESHOLD * PRODUCT, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1, zorder=1
        )
        panel.annotate("η P of the narrow link", (SHOWN_S, THRESHOLD * PRODUCT), (-2, -4), ha="right", va="top",
                       textcoords="offset points", fontsize=9, color=plots.FAINT,
                       bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=6)  # fmt: skip
        lost = [
            at(rows, order=order, kind=kind)["dropped"][0]
            for kind in ("narrow unaware", "and", "overwrite")
        ]
        panel.annotate(
            f"lost in the whole run: TCP {lost[0]}, and {lost[1]}, overwrite {lost[2]}",
            (0.02, 0.94), xycoords="axes fraction", ha="left", fontsize=10,
        )  # fmt: skip
        head(panel, title)
        panel.set(xlabel="time (s)", xlim=(0, SHOWN_S), ylim=(0, 460))
    axes[0, 0].set_ylabel("window (packets)")
    plots.legend(figure, axes[0, 0])
    return figure
