"""Beyond the paper: each threshold with each number of flows.

The paper warns that a high threshold may lead to instability when many flows share the link.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from beyond import COLOURS, beyond, difference, head, marker, named, ratio, room
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="crowd",
    title="A high threshold and many flows",
    question="Does a higher threshold make the load unstable when there are many flows?",
)
FLOWS = (1, 5, 20)
MOST = FLOWS[-1]
PRODUCT = 250
"""Rate times round trip, in packets."""

THRESHOLDS = (0.0, 0.4, 0.75, 0.95)


def points(scale: Scale) -> Iterator[Point]:
    """In trains for all; paced only for the highest threshold and without AntiECN."""
    for flows in FLOWS:
        for threshold in THRESHOLDS:
            for sending in ("trains", "paced"):
                if sending == "paced" and threshold not in (0.0, THRESHOLDS[-1]):
                    continue
                changes = {
                    "sample": "500 ms",
                    "link.bottleneck.anti_ecn": marker(threshold),
                    "flow.flow.count": flows,
                    "flow.flow.pacing": "spread" if sending == "paced" else "controller",
                }
                yield beyond(
                    scale,
                    24,
                    changes,
                    tables=("link_series",),
                    flows=flows,
                    threshold=threshold,
                    sending=sending,
                )


def measure(run: Measured) -> Row:
    """Utilisation, and its coefficient of variation over half-second intervals."""
    series = run.table("link_series").filter(pl.col("direction").cast(pl.String) == "forward")
    late = series.filter(pl.col("time_s") > 4.5)["utilisation"].to_numpy()
    link = run.link()
    return {
        "used": link["utilisation"],
        "variation": float(np.std(late) / np.mean(late)),
        "marks": link["mark_rate"],
        "room": room(run),
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Compared with TCP, seed by seed."""
    few, many = ({"flows": flows, "sending": "trains"} for flows in (1, MOST))
    tcp, middle, high = (many | {"threshold": threshold} for threshold in (0.0, 0.75, 0.95))
    alone = few | {"threshold": 0.75}, few | {"threshold": 0.4}
    return {
        "crowd/gain": difference(rows, "used", *alone),
        "crowd/unstable": ratio(rows, "variation", middle, tcp),
        "crowd/unstable/high": ratio(rows, "variation", high, tcp),
        "crowd/paced": ratio(rows, "variation", high | {"sending": "paced"}, high),
        "crowd/paced/tcp": ratio(
            rows, "variation", high | {"sending": "paced"}, tcp | {"sending": "paced"}
        ),
        "crowd/useless": difference(rows, "used", middle, tcp),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """What most flows are told, how rarely each is, and what pacing alone does."""
    many = at(rows, flows=MOST)
    window = PRODUCT / MOST * pl.col("used")
    tcp = {"flows": MOST, "threshold": 0.0}
    return {
        "crowd/room/middle": per_seed(many, 1e3 * pl.col("room"), sending="trains", threshold=0.75),
        "crowd/room/high": per_seed(many, 1e3 * pl.col("room"), sending="trains", threshold=0.95),
        "crowd/rounds/high": per_seed(
            many, 1 / (window * pl.col("room")), sending="trains", threshold=0.95
        ),
        "crowd/paced/alone": ratio(
            rows, "variation", tcp | {"sending": "paced"}, tcp | {"sending": "trains"}
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Variation and utilisation against the number of flows."""
    figure, axes = plots.grid(1, 2, width=13, height=5.4)
    panels = (
        ("variation", "coefficient of variation of half seconds (%)", "How much the load varies"),
        ("used", "utilisation (%)", "How much of the link is used"),
    )
    lines = [(t, "trains") for t in THRESHOLDS] + [(0.0, "paced"), (THRESHOLDS[-1], "paced")]
    for panel, (column, label, title) in zip(axes[0], panels, strict=True):
        for place, (threshold, sending) in enumerate(lines):
            line = at(rows, threshold=threshold, sending=sending)
            values = np.array([at(line, flows=flows)[column].to_list() for flows in FLOWS])
            half = 2.78 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            panel.errorbar(
                np.array(FLOWS) * 1.04 ** (place - 2), 100 * values.mean(axis=1), yerr=100 * half,
                color=COLOURS[threshold], marker="os^vPD"[place], markersize=6, capsize=3,
                linewidth=1.6, linestyle="--" if sending == "paced" else "-",
                label=named(threshold) + (", paced" if sending == "paced" else ""),
            )  # fmt: skip
        panel.set_xscale("log")
        panel.set_xticks(FLOWS, [str(flows) for flows in FLOWS])
        panel.minorticks_off()
        panel.set(xlabel="flows", ylabel=label)
        head(panel, title)
    axes[0, 0].set_ylim(bottom=0)
    plots.legend(figure, axes[0, 0])
    return figure
