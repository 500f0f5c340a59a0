"""Beyond the paper: tiny virtual buffers where short flows come and go.

The paper says that a very small virtual buffer makes the link aggressive in the presence of short flows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from beyond import beyond, difference, head, marker, ratio, room
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="short-flows",
    title="Tiny virtual buffers with short flows",
    question="What does a tiny virtual buffer do to long flows and to the short ones among them?",
)
TEN = 10
BUFFERS = {"none": "", "250": "1 bdp", "25": "25 packets", "10": "10 packets", "2": "2 packets"}


def points(scale: Scale) -> Iterator[Point]:
    """Long flows with a threshold of 50 %; short flows of standard TCP add a load of 30 %."""
    for flows in (2, TEN):
        for name, buffer in BUFFERS.items():
            changes: dict[str, Any] = {
                "link.bottleneck.anti_ecn": marker(0.5 if buffer else 0.0, buffer),
                "flow.flow.count": flows,
            }
            if flows == 2 or name in ("none", "250", "2"):
                yield beyond(
                    scale, 40, changes, seeds=10, scenario="short-flows.toml", buffer=name, flows=flows
                )  # fmt: skip


def measure(run: Measured) -> Row:
    """Utilisation, marks, room of the long flows, completion times of the short ones."""
    link, short = run.link(), run.summary["traffic"]["web"]
    return {
        "used": link["utilisation"],
        "marks": link["mark_rate"],
        "room": room(run),
        "median": short["completion_s"]["p50"],
        "late": short["completion_s"]["p99"],
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Seed by seed; all buffers meet the same short flows."""
    tiny, whole, tcp = ({"buffer": name, "flows": 2} for name in ("2", "250", "none"))
    ten = tiny | {"flows": TEN}, whole | {"flows": TEN}
    rooms = zip(per_seed(rows, "room", **tiny), per_seed(rows, "room", **whole), strict=True)
    twice: Answer = [None if a is None or b is None else a - 2 * b for a, b in rooms]
    return {
        "short-flows/aggressive": twice,
        "short-flows/utilisation": difference(rows, "used", tiny, whole),
        "short-flows/utilisation/ten": difference(rows, "used", *ten),
        "short-flows/valleys": per_seed(rows, "used", **whole),
        "short-flows/marks": ratio(rows, "marks", tiny, whole),
        "short-flows/completion": ratio(rows, "late", tiny, tcp),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Four numbers against the virtual buffer."""
    figure, axes = plots.grid(1, 4, width=15, height=5.0)
    figure.subplots_adjust(wspace=0.32)
    panels = (
        ("room", 100, "%", "ACKs that told of room"),
        ("used", 100, "%", "utilisation"),
        ("marks", 100, "%", "packets marked"),
        ("late", 1, "s", "99 % of short flows end in"),
    )
    colours = [plots.FAINT] + ["#2E86AB"] * (len(BUFFERS) - 1)
    for panel, (column, factor, unit, title) in zip(axes[0], panels, strict=True):
        values = factor * np.array(
            [at(rows, buffer=name, flows=2)[column].to_list() for name in BUFFERS]
        )
        half = 2.26 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        for place, (mean, each, colour) in enumerate(
            zip(values.mean(axis=1), half, colours, strict=True)
        ):
            panel.errorbar(place, mean, yerr=each, fmt="o", markersize=8, capsize=4, color=colour)
        panel.set_xticks(range(len(BUFFERS)), ["TCP", *list(BUFFERS)[1:]])
        panel.set(xlabel="virtual buffer (packets)", ylabel=f"{title} ({unit})", xlim=(-0.5, 4.5))
        top = max(values.mean(axis=1) + half)
        panel.set_ylim((60, 100) if column == "used" else (0, 1.15 * top))
        head(panel, title)
        panel.set_ylabel(unit)
    return figure
