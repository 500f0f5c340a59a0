"""Figure 5, section III.E: three flows join one after another; drop-tail, one round trip for all."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale
from longfat.study import Measured, Point, Row
from shared import CONTROLS, PACKET_BIT
from sharing import (
    FAIR,
    NAMES,
    Numbers,
    compared,
    draw_sharing,
    draw_waits,
    each,
    joining,
    series,
    shares_and_fairness,
)

FIGURE = Experiment(
    id="figure-5",
    title="Three flows join one after another: drop-tail",
    question="Do flows that lose together come to equal shares, and how fast?",
    by=("kind", "time_s", "flow"),
)
GAMMA, BETA, LEAST_START = 0.05, 0.125, 4.0
PROPAGATION_S = 0.04
TOGETHER_S = 0.3
"""Losses within four round trips are one event."""

SEEDS: dict[Scale, int] = {"quick": 3, "full": 8}


def points(scale: Scale) -> Iterator[Point]:
    """Every controller."""
    return joining(scale, {}, seeds=SEEDS[scale], epochs=True)


def measure(run: Measured) -> list[Row]:
    """Shares and fairness; for EXP-TCP also the epochs."""
    rows = shares_and_fairness(run)
    if run.labels["control"] == "exp":
        rows[0] |= epochs(run)
    return rows


def epochs(run: Measured) -> Row:
    """The epochs of EXP-TCP over ln(1 + βW/s)/γ: for the first flow alone, and for each of three flows.

    Neither counts the recovery, in which the window stands still. Alone, an epoch is counted in round trips,
    queue included. With three flows it is counted in windows of acknowledgments, and βW is replaced by what
    the window actually grew by, W - cwnd₀, which differs from it while shares change.
    """
    phase = float(run.labels["phase_s"])
    time, windows = series(run, "window")
    _, arrived = series(run, "throughput_bit_s")
    spacing = time[1] - time[0]
    rate = run.labels["rate_bit_s"]
    link = run.table("link_series").filter(direction="forward").sort("time_s")
    queue = np.interp(time, link["time_s"].to_numpy(), link["queue_packets"].to_numpy())
    round_trip = PROPAGATION_S + (queue + 1) * PACKET_BIT / rate
    alone: list[float] = []
    own: list[float] = []
    falls = [decreases(window) for window in windows]
    for window, packets, fall in zip(windows, arrived * spacing / PACKET_BIT, falls, strict=True):
        for begin, end in itertools.pairwise(fall):
            cwnd0, largest = window[begin], window[end - 1]
            start = max(LEAST_START, math.sqrt(cwnd0))
            grows = begin + int(np.argmax(window[begin:end] > cwnd0)) - 1
            span = slice(grows + 1, end)
            if 0.3 * phase < time[begin] and time[end] < phase:
                trips = float((spacing / round_trip[span]).sum())
                alone.append(trips * GAMMA / math.log(1 + BETA * largest / start))
            if time[begin] > 2.1 * phase:
                windows_acknowledged = float((packets[span] / window[span]).sum())
                own.append(windows_acknowledged * GAMMA / math.log(1 + (largest - cwnd0) / start))
    losses = bursts(time, falls, 2.1 * phase)
    return {
        "epoch_alone": float(np.mean(alone)),
        "epoch_three": float(np.mean(own)),
        "period_s": (losses[-1][0][0] - losses[0][0][0]) / (len(losses) - 1),
        "together": sum(len({flow for _, flow in loss}) == len(NAMES) for loss in losses)
        / len(losses),
        "contraction": contraction(windows, falls[0], falls[1], time, phase),
    }


def decreases(window: Numbers) -> list[int]:
    """The samples that show the window after a decrease. In recovery it may fall over two samples."""
    lower = np.flatnonzero(window[1:] < 0.95 * window[:-1]) + 1
    return [int(i) for i in lower if i + 1 < len(window) and window[i + 1] >= 0.95 * window[i]]


def bursts(time: Numbers, falls: list[list[int]], since: float) -> list[list[tuple[float, int]]]:
    """Losses after `since`, as times and flows: those within `TOGETHER_S` of the first of them count as one."""
    every = sorted(
        (float(time[i]), flow) for flow, fall in enumerate(falls) for i in fall if time[i] > since
    )
    groups: list[list[tuple[float, int]]] = []
    for when, flow in every:
        if groups and when - groups[-1][0][0] < TOGETHER_S:
            groups[-1].append((when, flow))
        else:
            groups.append([(when, flow)])
    return groups


def contraction(
    windows: Numbers, first: list[int], second: list[int], time: Numbers, phase: float
) -> float:
    """The factor by which the log ratio of the first two windows shrinks per epoch, while there are two.

    From the slope of its logarithm against the epoch number, over the losses at which both backed off.
    """
    near = np.array(second)
    common = [
        i
        for i in first
        if phase < time[i] < 2 * phase
        and len(near)
        and np.abs(time[near] - time[i]).min() < TOGETHER_S
    ]
    ratios = [math.log(windows[0, i] / windows[1, i]) for i in common]
    held = list(itertools.takewhile(lambda pair: pair[1] > 0.1, enumerate(ratios)))
    if len(held) < 4:
        return math.nan
    slope = np.polyfit([i for i, _ in held], [math.log(ratio) for _, ratio in held], 1)[0]
    return float(math.exp(slope))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of section III.E on drop-tail, and what theory predicts for EXP-TCP."""
    exp, hstcp = pl.col("exp"), pl.col("hstcp")
    capacity = float(rows["rate_bit_s"][0])
    return {
        "figure-5/stcp/starved": each(
            rows, pl.max_horizontal("share_second", "share_third"), "stcp"
        ),
        "figure-5/stcp/first": each(rows, "share_first", "stcp"),
        "figure-5/reno/converges": each(rows, "jain_end", "reno"),
        "figure-5/hstcp/converges": each(rows, "jain_end", "hstcp"),
        "figure-5/exp/converges": each(rows, "jain_end", "exp"),
        "figure-5/exp/better/hstcp": compared(rows, "converged_s", exp / hstcp),
        "figure-5/exp/better/reno": compared(rows, "converged_s", exp / pl.col("reno")),
        "figure-5/epoch/alone": each(rows, "epoch_alone", "exp"),
        "figure-5/epoch/three": each(rows, "epoch_three", "exp"),
        "figure-5/epoch/period": each(rows, pl.col("period_s") / period_s(capacity), "exp"),
        "figure-5/contraction": each(rows, "contraction", "exp"),
        "figure-5/fluid/stcp": each(rows, "jain_290", "stcp"),
        "figure-5/fluid/exp": each(rows, "jain_290", "exp"),
        "figure-5/fluid/two": compared(rows, "jain_190", exp - hstcp),
        "figure-5/fluid/three": compared(rows, "jain_290", exp - hstcp),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How long the third flow waits for its share: the mean, and the quickest and slowest run of EXP-TCP."""
    found: dict[str, Answer] = {
        f"figure-5/waits/{control}": each(rows, "converged_s", control) for control in CONTROLS
    }
    waits = [value for value in each(rows, "converged_s", "exp") if value is not None]
    return found | {
        "figure-5/waits/exp/least": min(waits),
        "figure-5/waits/exp/most": max(waits),
        "figure-5/together": each(rows, "together", "exp"),
    }


def period_s(rate_bit_s: float) -> float:
    """Theory: the time between losses of three equal flows that lose together.

    A round trip is what is in flight over the rate; each flow has (1 - β)W - s + s e^(γi) in flight after i.
    The loss is noticed a round trip later, with a full queue.
    """
    packets_s = rate_bit_s / PACKET_BIT
    full = 2 * packets_s * PROPAGATION_S
    largest = full / len(NAMES)
    cwnd0 = (1 - BETA) * largest
    start = math.sqrt(cwnd0)
    trips = math.log(1 + BETA * largest / start) / GAMMA
    under_way = (cwnd0 - start) * trips + start * math.expm1(GAMMA * trips) / GAMMA
    return (len(NAMES) * under_way + full) / packets_s


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's four panels; Jain's index over time, and how long the third flow waits for its share."""
    figure, more = draw_sharing(rows)
    draw_waits(more, rows)
    more.set_xlabel(f"from the third start until Jain's index is {FAIR} for good (s)")
    return figure
