"""Beyond the paper: whether AntiECN is the same as TCP where a link is congested, as it promises."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from beyond import COLOURS, beyond, head, marker, named, ratio, room
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="congested",
    title="A congested link: AntiECN is TCP, if its threshold is below the load",
    question="Do twenty AntiECN flows behave as twenty TCP flows, and as each other's equals?",
)
THRESHOLDS = (0.5, 0.75, 0.95)
LENGTHS = {"short": 30, "long": 150}
"""Two lengths in seconds at either scale, to see what AVQ does when it has had time to settle."""


def points(scale: Scale) -> Iterator[Point]:
    """Twenty flows on 100 Mbit/s: all TCP, all AntiECN, half and half."""
    for sending, thresholds in (("TCP", (0.0,)), ("AntiECN", THRESHOLDS), ("both", THRESHOLDS)):
        for threshold in thresholds:
            changes = {
                "link.bottleneck.anti_ecn": marker(threshold),
                "flow.ours.control": "reno" if sending == "TCP" else "anti-ecn",
                "flow.theirs.control": "anti-ecn" if sending == "AntiECN" else "reno",
            }
            yield beyond(
                scale,
                30,
                changes,
                seeds=8,
                scenario="beside.toml",
                sending=sending,
                threshold=threshold,
                length="whole",
            )
    for length, seconds in LENGTHS.items():
        yield Point(
            "beside.toml",
            set={
                "duration": f"{seconds} s",
                "warmup": "5 s",
                "link.bottleneck.anti_ecn": marker(0.95),
            },
            labels={"sending": "AntiECN", "threshold": 0.95, "length": length},
            seeds=8,
        )


def measure(run: Measured) -> Row:
    """Utilisation, marks per packet, room; goodput of AntiECN over TCP's."""
    link = run.link()
    flows = run.flows()
    ours = sum(float(flow["goodput_bit_s"]) for flow in flows if flow["name"].startswith("ours"))
    theirs = sum(float(flow["goodput_bit_s"]) for flow in flows) - ours
    return {
        "used": link["utilisation"],
        "marks": link["mark_rate"],
        "room": room(run),
        "share": ours / theirs,
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Compared with TCP, seed by seed."""
    settling = {"sending": "AntiECN", "threshold": 0.95}
    short, long = (at(rows, **settling, length=length) for length in LENGTHS)
    rows = at(rows, length="whole")
    tcp = {"sending": "TCP", "threshold": 0.0}
    half, high = ({"sending": "AntiECN", "threshold": t} for t in (0.5, 0.95))
    return {
        "congested/utilisation": ratio(rows, "used", half, tcp),
        "congested/marks": ratio(rows, "marks", half, tcp),
        "congested/room": per_seed(rows, "room", **half),
        "congested/share": per_seed(rows, "share", sending="both", threshold=0.5),
        "congested/high": ratio(rows, "marks", high, tcp),
        "congested/high/short": per_seed(short, 1e3 * pl.col("room")),
        "congested/high/long": per_seed(long, 1e3 * pl.col("room")),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Marks, room and shares against the threshold."""
    rows = at(rows, length="whole")
    figure, axes = plots.grid(1, 3, width=14, height=5.0)
    panels = (
        ("AntiECN", "marks", 100, "marked (%)", "20 AntiECN flows: marks"),
        ("AntiECN", "room", 100, "ACKs that told of room (%)", "20 AntiECN flows: room"),
        ("both", "share", 1, "goodput, AntiECN over TCP", "10 beside 10: what they get"),
    )
    for panel, (sending, column, factor, label, title) in zip(axes[0], panels, strict=True):
        for place, threshold in enumerate(THRESHOLDS):
            values = factor * at(rows, sending=sending, threshold=threshold)[column]
            mean = float(str(values.mean()))
            half = 2.36 * float(str(values.std())) / len(values) ** 0.5
            panel.errorbar(
                place, mean, yerr=half, fmt="o", markersize=8, capsize=4, color=COLOURS[threshold]
            )
            text = f"{mean:.2f}" if mean >= 0.01 or not mean else f"{mean:.1g}"
            panel.annotate(text, (place, mean), (10, 9), textcoords="offset points", va="center")
        panel.set_xticks(range(3), [named(threshold) for threshold in THRESHOLDS])
        panel.set(xlabel="threshold", ylabel=label, xlim=(-0.5, 2.6))
        head(panel, title)
    tcp = 100 * float(str(at(rows, sending="TCP")["marks"].mean()))
    for panel, level, text in ((axes[0, 0], tcp, "20 TCP flows"), (axes[0, 2], 1.0, "equal")):
        panel.axhline(level, color=COLOURS[0.0], linestyle=plots.DASHED, linewidth=1.2, zorder=1)
        panel.annotate(
            text, (2.55, level), (0, 4), textcoords="offset points", ha="right", color=COLOURS[0.0]
        )
    return figure
