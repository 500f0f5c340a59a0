"""Figure 5: a window in two blocks, and all at once."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import cw

FIGURE = Experiment(
    id="figure-5",
    title="A window at once, and in two blocks",
    question="What does block pacing do to what a flow sends?",
    by=("time_s",),
)
WINDOW, RTT_S, RATE = 1000, 0.140, 200e6


def points(_: Scale) -> Iterator[Point]:
    """A lone flow of 140 ms, c = 10: two blocks. The path would hold five such windows."""
    for pacing in ("none", "controller"):
        yield Point(
            {
                "duration": "1400 ms",
                "sample": "1 ms",
                "link": {
                    "bottleneck": {"rate": "200 Mbit/s", "delay": "10 ms", "buffer": "unlimited"}
                },
                "flow": [
                    {
                        "name": "fast",
                        "control": cw(10),
                        "path": ["bottleneck"],
                        "rtt": "140 ms",
                        "packet": "1000 B",
                        "initial_window": WINDOW,
                        "initial_threshold": 2,
                        "pacing": pacing,
                    }
                ],
            },
            labels={"pacing": pacing},
            seeds=1,
            tables=("flow_series",),
        )


def measure(run: Measured) -> list[Row]:
    """Arrivals in each millisecond over the rate of the link, for the last three round trips of the run."""
    series = run.table("flow_series").filter(pl.col("time_s") > 1.4 - 3 * RTT_S)
    return [
        {"time_s": time - (1.4 - 3 * RTT_S), "load": rate / RATE}
        for time, rate in series.select("time_s", "throughput_bit_s").iter_rows()
    ]


def trains(load: list[float]) -> tuple[int, int]:
    """The number of trains of packets, and the length of the longest in milliseconds."""
    count = longest = length = 0
    for value in [*load, 0.0]:
        if value > 0:
            length += 1
            continue
        count += length > 0
        longest, length = max(longest, length), 0
    return count, longest


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Trains per round trip, and how long they are."""
    blocks = trains(at(rows, pacing="controller").sort("time_s")["load"].to_list())
    once = trains(at(rows, pacing="none").sort("time_s")["load"].to_list())
    return {"figure-5/trains": blocks[0] / 3, "figure-5/length": blocks[1] / once[1]}


def draw(rows: pl.DataFrame) -> Figure:
    """Load of the link over three round trips."""
    figure, axes = plots.grid(2, 1, sharex=True, sharey=True, height=5.8)
    figure.subplots_adjust(hspace=0.3)
    for panel, (pacing, title) in zip(
        axes[:, 0], (("none", "at once"), ("controller", "two blocks")), strict=True
    ):
        found = at(rows, pacing=pacing).sort("time_s")
        panel.fill_between(
            1e3 * found["time_s"].to_numpy(), 100 * found["load"].to_numpy(), step="pre",
            color=plots.colour("cw-hstcp"), linewidth=0,
        )  # fmt: skip
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
        panel.set(ylabel="link used (%)", ylim=(0, 110), xlim=(0, 3e3 * RTT_S))
        panel.set_xticks([140 * k for k in range(4)])
    axes[1, 0].set_xlabel("time (ms); a tick for each round trip")
    return figure
