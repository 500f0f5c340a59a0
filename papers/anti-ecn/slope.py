"""What explains Table I: in trains the window grows by 2 per round trip up to W*, and by 1 above.

The ramps of Figures 3 and 7: thresholds, and virtual buffers at a threshold of 50 %; the paper's link at
40 ms, P = 5000 packets. Also what the rest relies on: AVQ keeps the utilisation that it is asked for, and
AntiECN without a marker is TCP.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import THRESHOLDS

FIGURE = Experiment(
    id="slope",
    title="Slope 2 below W*, slope 1 above",
    question="Where does the growth of a lone flow change, for which threshold and virtual buffer?",
    by=("time_s",),
)
PIPE = 5000
RAMPS = [(eta, PIPE) for eta in THRESHOLDS] + [(0.5, 2500), (0.5, 1000), (0.5, 100)]
COLOURS = ("#0B3C5D", "#2E86AB", "#4FB286", "#E08E1B")


def knee(threshold: float, buffer: int) -> float:
    """W* = max(η P, P - B/η)."""
    return max(threshold * PIPE, PIPE - buffer / threshold)


def flow(control: str, **more: object) -> dict[str, Any]:
    """A flow as in the paper."""
    return {"name": "it", "control": control, "path": ["bottleneck"], "rtt": "40 ms"} | more


def ramp(
    control: str,
    threshold: float,
    buffer: int,
    *,
    start: float,
    seconds: float,
    sample: str = "200 ms",
    **more: object,
) -> Point:
    """A lone flow whose slow start ends at `start`, on a link that never marks congestion."""
    link: dict[str, Any] = {"rate": "1 Gbit/s", "delay": "10 ms", "buffer": "1 bdp"}
    if threshold:
        link["anti_ecn"] = {"threshold": threshold, "buffer": f"{buffer} packets"}
    return Point(
        {
            "duration": f"{seconds:g} s",
            "sample": sample,
            "link": {"bottleneck": link},
            "flow": [flow(control, packet="1000 B", initial_threshold=start, **more)],
        },
        labels={"control": control, "threshold": threshold, "buffer": buffer, "asked": 0.0},
        seeds=1,
        tables=("flow_series",),
    )


def points(_: Scale) -> Iterator[Point]:
    """Whole ramps; both controllers without a marker; AVQ."""
    for threshold, buffer in RAMPS:
        end = knee(threshold, buffer)
        seconds = round(0.04 * ((end - 100) / 2 + PIPE - 100 - end), 1)
        yield ramp("anti-ecn", threshold, buffer, start=100, seconds=seconds)
    for control in ("anti-ecn", "reno"):
        yield ramp(control, 0.0, 0, start=100, seconds=20)
    for asked in (0.90, 0.96):
        link = {
            "rate": "100 Mbit/s",
            "delay": "10 ms",
            "buffer": "1 bdp",
            "queue": {"kind": "avq", "utilisation": asked},
        }
        crowd = flow("reno", count=20, start={"uniform": ["0 s", "1 s"]})
        yield Point(
            {"duration": "60 s", "warmup": "20 s", "link": {"bottleneck": link}, "flow": [crowd]},
            labels={"control": "avq", "threshold": 0.0, "buffer": 0, "asked": asked},
            seeds=5,
        )


def measure(run: Measured) -> list[Row]:
    """Rows of the time series; for AVQ, the utilisation."""
    if run.labels["control"] == "avq":
        used = run.link()["utilisation"]
        return [{"time_s": 0.0, "window": None, "room": None, "used": used}]
    series = run.table("flow_series")
    return [
        {"time_s": time, "window": window, "room": room, "used": None}
        for time, window, room in series.select("time_s", "window", "room_rate").iter_rows()
    ]


def worst(values: list[float], wanted: float) -> float:
    """The value furthest from `wanted`."""
    return max(values, key=lambda value: abs(value - wanted))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Slopes, leaving out the rows that contain slow start or W*; a row is five round trips."""
    answers: dict[str, Answer] = {}
    below: list[float] = []
    above: list[float] = []
    told: list[float] = []
    for threshold, buffer in RAMPS:
        line = at(rows, threshold=threshold, buffer=buffer).sort("time_s")
        window, rooms = line["window"].to_list(), line["room"].to_list()
        last = max(i for i, room in enumerate(rooms) if room > 0)
        name = f"{threshold:.2f}" if buffer == PIPE else f"buffer/{buffer}"
        answers[f"slope/knee/{name}"] = window[last] / knee(threshold, buffer)
        slopes = [(b - a) / 5 for a, b in pairwise(window)]
        below.append(worst(slopes[1 : last - 1], 2))
        above.append(worst(slopes[last + 1 :], 1))
        each = [rooms[i] * (window[i - 1] + window[i]) / 2 for i in range(2, last)]
        told.append(worst(each, 1))
    answers |= {
        "slope/below": worst(below, 2),
        "slope/above": worst(above, 1),
        "slope/one": worst(told, 1),
    }
    off = [
        at(rows, control=control, threshold=0.0, asked=0.0).sort("time_s")["window"].to_numpy()
        for control in ("anti-ecn", "reno")
    ]
    answers["slope/off"] = float(abs(off[0] - off[1]).max())
    for asked in (0.90, 0.96):
        answers[f"slope/avq/{asked:.2f}"] = per_seed(rows, pl.col("used") / asked, asked=asked)
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Windows over time: thresholds on the left, virtual buffers on the right."""
    figure, axes = plots.grid(1, 2, sharey=True, width=13, height=5.4)
    sides = (
        ([(eta, PIPE) for eta in THRESHOLDS], "thresholds, B = 5000 packets"),
        ([(0.5, b) for b in (5000, 2500, 1000, 100)], "virtual buffers, threshold 50 %"),
    )
    for panel, (ramps, title) in zip(axes[0], sides, strict=True):
        for (threshold, buffer), colour in zip(ramps, COLOURS, strict=True):
            line = at(rows, threshold=threshold, buffer=buffer).sort("time_s")
            last = line.filter(pl.col("room") > 0).tail(1)
            dashed = buffer == 2500
            text = f"{100 * threshold:.0f} %" if "B =" in title else f"B = {buffer}"
            panel.plot(
                line["time_s"], line["window"], color=colour, linewidth=1.8, label=text,
                linestyle=plots.DASHED if dashed else "-", zorder=4 if dashed else 3,
            )  # fmt: skip
            panel.plot(last["time_s"], last["window"], "o", color=colour, markersize=7, zorder=5)
            if not dashed:
                together = ", 2500" if buffer == PIPE and "B =" not in title else ""
                panel.annotate(
                    f"{text}{together}: W* = {knee(threshold, buffer):.0f}",
                    (last["time_s"][0], last["window"][0]), (-10, 4), fontsize=10,
                    textcoords="offset points", ha="right", va="bottom", color=colour,
                )  # fmt: skip
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
        panel.set(xlabel="time (s)", ylim=(0, 5600), xlim=(-30, 165))
    axes[0, 0].set_ylabel("window (packets)")
    return figure
