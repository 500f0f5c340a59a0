"""Figure 1 and the arithmetic of section II.B: one window of EXP-TCP from loss to loss."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="figure-1",
    title="The window of EXP-TCP from loss to loss",
    question="How long is an epoch, and how does the window grow in it?",
    by=("kind", "index"),
)
GAMMA, BETA = 0.05, 0.125
WINDOWS = (100, 1000, 10_000)
Series = npt.NDArray[np.float64]
SHOWN_EPOCHS, SHOWN_WINDOW = 4, 1000


def points(scale: Scale) -> Iterator[Point]:
    """A path for each window, and one on which a window of 100 grows a hundredfold without a loss."""
    for window in (*WINDOWS, 100_000) if scale == "full" else WINDOWS:
        yield point(window, window, "40 s" if window <= max(WINDOWS) else "80 s")
    yield point(0, 20_000, "12.5 s", threshold=100)


def point(window: int, path: int, duration: str, threshold: int | None = None) -> Point:
    """One flow on a path that holds `path` packets. A label of 0 stands for growth without a loss."""
    changes = {
        "duration": duration,
        "link.bottleneck.rate": f"{path * 100} kbit/s",
        "flow.exp.initial_threshold": threshold or round(0.95 * path),
    }
    return Point(
        "epoch.toml", set=changes, labels={"path": window}, seeds=1, tables=("flow_series",)
    )


def measure(run: Measured) -> list[Row]:
    """A row for each whole epoch, and the window once per half round trip for the picture."""
    flow = run.table("flow_series")
    time, window = flow["time_s"].to_numpy(), flow["window"].to_numpy()
    # Round trips since the start: each sample lasts a fraction of the round trip at its time.
    trip = np.concatenate(
        ([0.0], np.cumsum(np.diff(time) / flow["rtt_s"].fill_null(0.08).to_numpy()[1:]))
    )
    if run.labels["path"] == 0:
        last = int(np.searchsorted(window, 10_000))
        first = int(np.searchsorted(trip, trip[last] - 1))
        return [
            {
                "kind": "free",
                "index": 0,
                "window": window[last],
                "growth": window[last] / window[first] - 1,
            }
        ]
    falls = [int(index) + 1 for index in np.flatnonzero(window[1:] < 0.95 * window[:-1])]
    epochs = [epoch(window, trip, *pair) for pair in itertools.pairwise(falls)]
    if run.labels["path"] != SHOWN_WINDOW:
        return [{"kind": "epoch", "index": index} | row for index, row in enumerate(epochs)]
    keep = slice(falls[0] - 2, falls[min(SHOWN_EPOCHS, len(falls) - 1)] + 40, 10)
    curve = zip(trip[keep] - trip[falls[0]], window[keep], strict=True)
    return [
        *({"kind": "epoch", "index": index} | row for index, row in enumerate(epochs)),
        *({"kind": "curve", "index": i, "trip": t, "window": w} for i, (t, w) in enumerate(curve)),
    ]


def epoch(window: Series, trip: Series, fall: int, end: int) -> Row:
    """From the decrease at `fall` to the next at `end`. At first, in recovery, the window stands still."""
    cwnd0, largest = float(window[fall]), float(window[end - 1])
    begin = fall + int(np.argmax(window[fall:end] > cwnd0)) - 1
    grown = np.interp(trip[begin] + np.arange(0.0, trip[end] - trip[begin]), trip, window)
    i = np.arange(len(grown))
    paper = cwnd0 - math.sqrt(cwnd0) + (1 + GAMMA) ** i * math.sqrt(cwnd0)
    s = max(4.0, math.sqrt((1 - BETA) * largest))
    exact = math.log(1 + BETA * largest / s) / GAMMA
    length = float(trip[end] - trip[begin])
    return {
        "window": largest,
        "cwnd0": cwnd0,
        "length": length,
        "recovery": float(trip[begin] - trip[fall]),
        "exact": exact,
        "length_over_exact": length / exact,
        "paper": math.log(math.sqrt(largest) / 8, 1 + GAMMA),
        "curve_error": float(np.abs(grown / paper - 1).max()),
        "last_step": float(grown[-1] - grown[-2]) / (GAMMA * BETA * float(grown[-1])),
        "gain_in_10": float(grown[10] - grown[0]),
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Means over the epochs. Runs of a lone flow are deterministic."""
    epochs = at(rows, kind="epoch")

    def mean(column: str, path: int) -> float:
        value = at(epochs, path=path)[column].mean()
        return float(value)  # type: ignore[arg-type]

    answers: dict[str, Answer] = {
        f"figure-1/epoch/exact/{path}": mean("length_over_exact", path) for path in WINDOWS
    }
    answers |= {
        f"figure-1/epoch/paper/{path}": mean("length", path) / mean("paper", path)
        for path in (1000, 10_000)
    }
    answers["figure-1/epoch/logarithmic"] = mean("length", 10_000) - mean("length", 1000)
    answers["figure-1/curve"] = mean("curve_error", 10_000)
    answers["figure-1/rate-at-loss"] = mean("last_step", 10_000)
    answers["figure-1/square-root"] = mean("gain_in_10", 10_000) / mean("gain_in_10", 1000)
    answers["figure-1/asymptotic"] = float(at(rows, kind="free")["growth"][0])
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """The sawtooth with cwnd₀ on the left; the length of an epoch against the window on the right."""
    figure, axes = plots.grid(1, 2, height=5.4)
    left, right = axes[0]
    curve = at(rows, kind="curve", path=SHOWN_WINDOW)
    left.plot(curve["trip"], curve["window"], color=plots.colour("exp"), linewidth=1.6)
    shown = at(rows, kind="epoch", path=SHOWN_WINDOW).head(SHOWN_EPOCHS)
    begin = 0.0
    for row in shown.iter_rows(named=True):
        end = begin + row["recovery"] + row["length"]
        left.hlines(
            row["cwnd0"], begin, end, color=plots.FAINT, linestyle=plots.DASHED, linewidth=1
        )
        begin = end
    left.annotate(
        "cwnd₀",
        (begin / 2, shown["cwnd0"][0]),
        (0, -5),
        textcoords="offset points",
        va="top",
        ha="center",
    )
    left.set(xlabel="round trips", ylabel="window (packets)", ylim=(870, 1080))
    lengths = (
        at(rows, kind="epoch").group_by("path").agg(pl.col("window", "length").mean()).sort("path")
    )
    w = np.geomspace(70, max(lengths["window"].to_list()), 200)
    s = np.maximum(4, np.sqrt((1 - BETA) * w))
    right.plot(w, np.log(1 + BETA * w / s) / GAMMA, color="#4D4D4D", label="ln(1 + βW/s)/γ, exact")
    right.plot(
        w,
        np.log(np.sqrt(w) / 8) / math.log(1 + GAMMA),
        color="#4D4D4D",
        linestyle="--",
        label="log₁.₀₅(√W/8), the paper",
    )
    right.plot(
        lengths["window"],
        lengths["length"],
        "D",
        color=plots.colour("exp"),
        markersize=8,
        label="measured",
    )
    right.set(
        xscale="log",
        xlabel="window W at the loss (packets)",
        ylabel="epoch (round trips)",
        ylim=(0, None),
    )
    right.legend(loc="upper left")
    return figure
