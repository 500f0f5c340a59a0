"""Section I: how long standard TCP takes to fill 10 Gbit/s, and how few losses it can bear there."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Computation, Measured, Row

FIGURE = Experiment(
    id="introduction",
    title="Standard TCP at 10 Gbit/s",
    question="How long does standard TCP take to fill 10 Gbit/s, and how seldom may it lose?",
    by=("hours",),
)
RATE_BIT_S, PACKET_BYTE, RTT_S = 10e9, 1500, 0.1
FULL = RATE_BIT_S * RTT_S / (8 * PACKET_BYTE)
"""The window that fills the path."""


def ramp(first: float) -> list[Row]:
    """A window that grows by one per round trip, until it fills the path; a hundred of its values."""
    steps = int(np.ceil(FULL - first))
    return [
        {"hours": step * RTT_S / 3600, "window": min(first + step, FULL), "round_trips": steps}
        for step in np.linspace(0, steps, 100).tolist()
    ]


def sawtooth() -> list[Row]:
    """Packets from one loss to the next, if the mean of the window fills the path."""
    top = FULL / 0.75
    windows = np.arange(top / 2, top)
    return [{"hours": 0.0, "packets": float(windows.sum())}]


def points(_: Scale) -> Iterator[Computation]:
    """From a window of one, and from half, as after a loss."""
    for kind, first in (("from one", 1.0), ("from half", FULL / 2)):
        yield Computation({"kind": kind}, ramp, {"first": first})
    yield Computation({"kind": "sawtooth"}, sawtooth)


def measure(run: Measured) -> list[Row]:
    """The rows as they are."""
    rows: list[Row] = run.value
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Round trips, hours, and packets per loss."""
    return {
        "introduction/round-trips": float(at(rows, kind="from one")["round_trips"][0]),
        "introduction/hours": float(at(rows, kind="from one")["hours"].to_list()[-1]),
        "introduction/loss": float(at(rows, kind="sawtooth")["packets"][0]),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """After a loss."""
    return {
        "introduction/half/hours": float(at(rows, kind="from half")["hours"].to_list()[-1]),
        "introduction/half/round-trips": float(at(rows, kind="from half")["round_trips"][0]),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The window over time."""
    figure, axes = plots.grid(1, 1, height=4.6)
    panel = axes[0, 0]
    for kind, style in (("from one", "-"), ("from half", "--")):
        found = at(rows, kind=kind).sort("hours")
        panel.plot(
            found["hours"],
            found["window"],
            style,
            color=plots.colour("reno"),
            label=f"{kind}, one more per round trip",
        )
    panel.axvline(1.5, color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
    panel.annotate("the paper: 1.5 h", (1.52, 5000), fontsize=10)
    panel.set(xlabel="time (h)", ylabel="window (packets)", xlim=(0, None), ylim=(0, None))
    plots.legend(figure, panel)
    return figure
