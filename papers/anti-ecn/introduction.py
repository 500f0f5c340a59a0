"""Section I: how long TCP takes to fill 1 Gbit/s at 100 ms, which is what the paper sets out from."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="introduction",
    title="1 Gbit/s at 100 ms: how long a window takes",
    question="How large must TCP's window be, and how many round trips does it take from 1000 segments?",
    by=("time_s",),
)
WINDOW = 12_500
START = 1000
"""Where slow start ends, says the paper."""

SMALLER: dict[Scale, int] = {"quick": 10, "full": 1}
"""How many times smaller the round trip is: windows and numbers of round trips shrink alike."""

WAYS = {"reno": "TCP", "high": "AntiECN, threshold 75 %"}
THRESHOLDS = {"high": 0.75}
LENGTH_S = {"reno": 1200, "high": 800}


def points(scale: Scale) -> Iterator[Point]:
    """A lone flow on a link that marks no congestion, until TCP has filled it."""
    small = SMALLER[scale]
    for way in WAYS:
        link = {"rate": "1 Gbit/s", "delay": "10 us", "buffer": "1 bdp"}
        marker = {"threshold": THRESHOLDS.get(way), "buffer": "1 bdp"}
        flow = {
            "name": "it",
            "control": "anti-ecn" if way in THRESHOLDS else "reno",
            "path": ["bottleneck"],
            "rtt": f"{100 / small:g} ms",
            "packet": "1000 B",
            "initial_threshold": START / small,
        }
        yield Point(
            {
                "duration": f"{LENGTH_S[way] / small**2:g} s",
                "sample": f"{1000 / small**2:g} ms",
                "link": {"bottleneck": link | ({"anti_ecn": marker} if way in THRESHOLDS else {})},
                "flow": [flow],
            },
            labels={"way": way, "smaller": small},
            seeds=1,
            tables=("flow_series",),
        )


def measure(run: Measured) -> list[Row]:
    """Window and utilisation over time; times are those of 100 ms."""
    small = int(run.labels["smaller"])
    series = run.table("flow_series").select("time_s", "window", "throughput_bit_s")
    return [
        {"time_s": round(time * small**2, 6), "window": window * small, "used": rate / 1e9}
        for time, window, rate in series.iter_rows()
    ]


def full(rows: pl.DataFrame, way: str) -> tuple[float, float]:
    """When the link is first full, and with which window."""
    line = at(rows, way=way).sort("time_s").filter(pl.col("used") >= 0.999)
    return float(line["time_s"][0]), float(line["window"][0])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic."""
    tcp, window = full(rows, "reno")
    started = at(rows, way="reno").sort("time_s").filter(pl.col("window") >= START)["time_s"][0]
    rounds = (tcp - float(started)) / 0.1
    return {
        "introduction/window": window,
        "introduction/rounds": rounds,
        "introduction/rounds/law": rounds,
        "introduction/faster": full(rows, "high")[0] / tcp,
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Windows over time."""
    figure, axes = plots.grid(1, 1, width=10, height=5.4)
    panel = axes[0, 0]
    for (way, name), colour in zip(WAYS.items(), ("#6b6b6b", "#E08E1B"), strict=True):
        line = at(rows, way=way).sort("time_s")
        panel.plot(line["time_s"], line["window"], color=colour, linewidth=1.9, label=name)
    panel.axhline(WINDOW, color="#9a9a9a", linestyle=plots.DOTTED, linewidth=1, zorder=1)
    panel.annotate("12 500: the link is full", (20, WINDOW + 150), color=plots.FAINT, fontsize=10)
    panel.set(xlabel="time (s)", ylabel="window (packets)", xlim=(0, 1200), ylim=(0, 14_500))
    plots.legend(figure, panel)
    return figure
