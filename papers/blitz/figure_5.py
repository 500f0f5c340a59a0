"""Figure 5: power in a network of 1.8 ms, and in one of 15 Mbit/s."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import at_each_load, best, gaps

FIGURE = Experiment(
    id="figure-5",
    title="Where a path holds less, bursts gain less",
    question="Is Blitz of use where the product of bandwidth and delay is small?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """Both networks, and the reference for comparison."""
    return shared.sweep(scale, ("reference", "aurora", "slower"))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Largest powers, and those at the lowest arrival rate."""
    gap, top = gaps(rows), best(rows)
    wide = across(gap, "network", "gap", keep=["share"])
    near, slow = at(gap, network="aurora").sort("share"), at(gap, network="slower")
    each = at_each_load(at(rows, network="slower"))
    few = at(each, load=float(each["load"].min()))  # type: ignore[arg-type]
    found: dict[str, Answer] = {
        "figure-5/narrower": per_seed(wide, (pl.col("reference") - pl.col("aurora")).min()),
        "figure-5/above": per_seed(near, pl.col("gap").min()),
        "figure-5/gap-grows": per_seed(near, pl.col("gap").diff().min()),
        "figure-5/slower/low-load": per_seed(few, "gap", share=0.2),
        "figure-5/slower/vanishes/load": per_seed(
            each.filter(pl.col("load") <= 1), pl.col("gap").max(), share=0.2
        ),
        "figure-5/slower/vanishes/bottleneck": per_seed(few, pl.col("gap").min(), share=[0.6, 1.0]),
        "figure-5/slower/above": per_seed(slow, pl.col("gap").min()),
    }
    for control in ("blitz", "reno"):
        powers = across(at(top, control=control), "network", "best", keep=["share"])
        found[f"figure-5/larger/{control}"] = per_seed(
            powers, (pl.col("aurora") - pl.col("reference")).min()
        )
        found[f"figure-5/slower/{control}"] = per_seed(
            powers, (pl.col("reference") - pl.col("slower")).min()
        )
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Power against arrivals."""
    return drawn.pair(rows, ("aurora", "slower"))
