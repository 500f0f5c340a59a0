"""What a course of windows says in numbers, in the same way for real flows and simulated ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

LEAST_FALL = 1
"""A window that falls by so many segments from one sample to the next is a response to congestion."""

APART = 2
"""Falls within so many round trips are one response: Linux takes that long to come to its new window."""


@dataclass(frozen=True)
class Course:
    """Numbers of all flows together, after the warm-up.

    Attributes:
        seconds: From the warm-up to the last sample.
        window: Mean over time in segments, of the flows' means: over the whole epochs of each flow, or over
            all the time where it has none.
        throughput_bit_s: Of all flows, headers included.
        epochs: How many whole ones there are: from one response to congestion of a flow to its next.
        epoch_s: Their mean length; `None` without any.
        share: What the larger of two flows has of the throughput; `None` where there are not two.
    """

    seconds: float
    window: float
    throughput_bit_s: float
    epochs: int
    epoch_s: float | None
    share: float | None


def course(
    series: pl.DataFrame, throughputs: Sequence[float], *, warmup_s: float, rtt_s: float
) -> Course | None:
    """The numbers of a time series; `None` where a flow has not two samples after the warm-up.

    Args:
        series: Rows with `time_s`, `flow`, `window` and `rtt_s`, in the order of time.
        throughputs: Of each flow in bit/s, headers included.
        warmup_s: What is left out.
        rtt_s: The round trip where the series has none.
    """
    import numpy as np

    windows, spans = [], []
    epochs, seconds = 0, 0.0
    for (_,), flow in series.group_by(["flow"], maintain_order=True):
        times, held, trips = of_flow(flow, rtt_s)
        if not len(times) or warmup_s > times[-1]:
            return None
        seconds = max(seconds, float(times[-1]) - warmup_s)
        found = [each for each in responses(times, held, trips) if times[each] >= warmup_s]
        own = len(found) - 1
        first, last = int(np.argmax(times >= warmup_s)), len(times) - 1
        if times[first] == times[last]:
            return None
        if own > 0:
            first, last = found[0], found[-1]
            epochs += own
            spans.append(float(times[last] - times[first]))
        windows.append(mean_over_time(times[first : last + 1], held[first : last + 1]))
    total = sum(throughputs)
    return Course(
        seconds=seconds,
        window=sum(windows) / len(windows),
        throughput_bit_s=total,
        epochs=epochs,
        epoch_s=sum(spans) / epochs if epochs else None,
        share=max(throughputs) / total if len(throughputs) == 2 and total else None,  # noqa: PLR2004
    )


def of_flow(flow: pl.DataFrame, rtt_s: float) -> tuple[Numbers, Numbers, Numbers]:
    """Times, whole windows and round trips of the rows of a flow, as `responses` takes them."""
    import numpy as np

    # A window in Linux is a whole number of segments.
    held = np.floor(flow["window"].to_numpy())
    return flow["time_s"].to_numpy(), held, flow["rtt_s"].fill_null(rtt_s).to_numpy()


def responses(times: Numbers, windows: Numbers, trips: Numbers) -> list[int]:
    """At which samples a response to congestion was first seen."""
    import numpy as np

    found: list[int] = []
    before = -math.inf
    for place in np.flatnonzero(np.diff(windows) <= -LEAST_FALL) + 1:
        if times[place] - before > APART * max(trips[place], 0.0):
            found.append(int(place))
        before = times[place]
    return found


def mean_over_time(times: Sequence[float] | Numbers, values: Sequence[float] | Numbers) -> float:
    """The mean of values of which each holds until the next; there are two or more."""
    seconds = float(times[-1] - times[0])
    held = (
        value * (then - now) for value, (now, then) in zip(values, pairwise(times), strict=False)
    )
    return float(sum(held)) / seconds
