"""Section II: "this method in general can be used for any congestion controller", HighSpeed TCP among them."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from beyond import head
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import QUICK, delivered, lone

FIGURE = Experiment(
    id="laws",
    title="AntiECN on other controllers",
    question="What does room bring to controllers that are faster than TCP by themselves?",
    by=("products",),
)
LAWS = {"reno": "TCP", "fiber": "TCP for fibres", "hstcp": "HighSpeed TCP", "stcp": "Scalable TCP"}
START = 100
"""Where slow start ends, in packets."""


def points(scale: Scale) -> Iterator[Point]:
    """A lone flow for 100 s, threshold 75 %: each controller by itself, and AntiECN on it."""
    small = QUICK[40] if scale == "quick" else 1
    for law in LAWS:
        for room in (False, True):
            control = {"kind": "anti-ecn", "on": law} if room else law
            changes = {"flow.lone.control": control, "flow.lone.initial_threshold": START / small}
            made = lone(scale, 40, 0.75 if room else None, length_s=100, set=changes)
            yield Point(made.scenario, made.set, {"law": law, "room": room}, 1, made.tables)


def measure(run: Measured) -> list[Row]:
    """What was delivered, and the window, over time."""
    return delivered(run)


def gain(rows: pl.DataFrame, law: str) -> float:
    """How much more AntiECN delivers than the controller that it builds on."""
    used = [at(rows, law=law, room=room).sort("products")["used"][-1] for room in (False, True)]
    return float(used[1] / used[0]) - 1


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic."""
    gains = {law: gain(rows, law) for law in LAWS}
    answers: dict[str, Answer] = {f"laws/{law}": gains[law] for law in LAWS if law != "reno"}
    return answers | {"laws/less": max(gains["hstcp"], gains["stcp"]) / gains["reno"]}


def draw(rows: pl.DataFrame) -> Figure:
    """Windows over time, a panel for each controller."""
    figure, axes = plots.grid(1, len(LAWS), width=15, height=5.0, sharey=True)
    for panel, (law, name) in zip(axes[0], LAWS.items(), strict=True):
        for room, colour, text in (
            (False, "#6b6b6b", "by itself"),
            (True, "#E08E1B", "with AntiECN"),
        ):
            line = at(rows, law=law, room=room).sort("products")
            panel.plot(line["products"], line["window"], color=colour, linewidth=1.8, label=text)
        panel.axhline(0.75, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1, zorder=1)
        head(panel, f"{name}: {100 * gain(rows, law):+.1f} %")
        panel.set(xlabel="time (rate × round trip²)", ylim=(0, 1.1))
    axes[0, 0].set_ylabel("window (products)")
    plots.legend(figure, axes[0, 0])
    return figure
