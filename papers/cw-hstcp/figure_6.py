"""Figure 6: three CW-HSTCP flows, which have the same window in the paper, and HSTCP for comparison.

Here they do not within 200 s: the largest is two and a half times the smallest. HSTCP's are seven times
further apart.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import windows_beside
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import THREE, cw, dumbbell, shares_and_windows

FIGURE = Experiment(
    id="figure-6",
    title="Three CW-HSTCP flows",
    question="Do windows become equal, whatever the round trip?",
    by=("kind", "flow", "time_s"),
)


def points(scale: Scale) -> Iterator[Point]:
    """CW-HSTCP with c = 10, and HSTCP for comparison."""
    for control, law in (("cw-hstcp", cw(10)), ("hstcp", "hstcp")):
        yield dumbbell(scale, law, seeds=5 if scale == "quick" else 10, control=control)


def measure(run: Measured) -> list[Row]:
    """Shares; for the first seed also the windows."""
    return shares_and_windows(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """How far apart the windows are, and how often each flow loses."""
    found = at(rows, kind="shares")
    ratio = found.pivot(on="control", index="seed", values="window_ratio")
    return {
        "figure-6/equal": per_seed(found, "window_ratio", control="cw-hstcp"),
        "figure-6/better": per_seed(ratio, pl.col("hstcp") / pl.col("cw-hstcp")),
        "figure-6/below-inverse": per_seed(
            found,
            pl.max_horizontal(
                pl.col("u0") / pl.col("u1") / (140 / 80), pl.col("u0") / pl.col("u2") / (200 / 80)
            ),
            control="cw-hstcp",
        ),
        "figure-6/lose-together": per_seed(
            found, pl.col("events_last") / pl.col("events_first"), control="cw-hstcp"
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one run with either controller."""
    titles = {
        control: f"{plots.name(control)}: largest over smallest mean window {{:.1f}}"
        for control in ("cw-hstcp", "hstcp")
    }
    return windows_beside(rows, "control", titles, THREE, "window_ratio")
