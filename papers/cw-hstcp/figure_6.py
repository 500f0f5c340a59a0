"""Figure 6: three CW-HSTCP flows, which have the same window in the paper, and HSTCP for comparison.

Here they do not. The flows lose together nearly always, but that of 200 ms loses a little more often, and the
law makes much of that. HSTCP's windows are eight times further apart.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import windows_beside
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import THREE, cw, dumbbell, explained, more_losses, shares_and_windows

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
        "figure-6/lose-together": per_seed(found, "together", control="cw-hstcp"),
        "figure-6/by-chance": per_seed(
            found, pl.col("together") - pl.col("by_chance"), control="cw-hstcp"
        ),
        "figure-6/lose-as-often": per_seed(found, more_losses(), control="cw-hstcp"),
        "figure-6/explained": per_seed(found, explained(), control="cw-hstcp"),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How often HSTCP's flows lose together."""
    found = at(rows, kind="shares")
    return {
        "figure-6/hstcp/together": per_seed(found, "together", control="hstcp"),
        "figure-6/windows": per_seed(
            found, pl.col("w_first") / pl.col("w_last"), control="cw-hstcp"
        ),
        "figure-6/chance": per_seed(found, "by_chance", control="cw-hstcp"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one run with either controller."""
    titles = {
        control: f"{plots.name(control)}: largest over smallest mean window {{:.1f}}"
        for control in ("cw-hstcp", "hstcp")
    }
    return windows_beside(rows, "control", titles, THREE, "window_ratio")
