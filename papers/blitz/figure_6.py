"""Figure 6: files of 1 MB."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import SHARES, at_each_load, best, gaps, smallest

FIGURE = Experiment(
    id="figure-6",
    title="Large files: TCP has time to find its rate",
    question="What is left of Blitz's advantage when files are ten times as large?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """Both networks, and files of 100 kB for comparison."""
    return shared.sweep(scale, ("reference", "large", "large-faster"))


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Largest powers, and those at the lowest arrival rate."""
    gap, top = gaps(rows), best(rows)
    wide = across(gap, "network", "gap", keep=["share"])
    each = at_each_load(at(rows, network="large"))
    few = at(each, load=float(each["load"].min()))  # type: ignore[arg-type]
    wide = wide.with_columns(
        (pl.col("reference") - pl.col("large")).alias("narrower"),
        (pl.col("large-faster") - pl.col("large")).alias("wider"),
    )
    found: dict[str, Answer] = {
        "figure-6/narrower": smallest(wide, "narrower", "share"),
        "figure-6/low-load": per_seed(few, "gap", share=0.2),
        "figure-6/low-load/150": per_seed(few, "gap", share=1.0),
        "figure-6/deteriorates": deteriorates(rows),
        "figure-6/response": response(rows),
        "figure-6/faster/wider": smallest(wide, "wider", "share"),
    }
    fall = (pl.col("reference") - pl.col("large")).alias("fall")
    blitz, reno = (
        across(at(top, control=control), "network", "best", keep=["share"]).with_columns(fall)
        for control in ("blitz", "reno")
    )
    found["figure-6/falls/blitz"] = smallest(blitz, "fall", "share")
    for share, rate in zip(SHARES, (30, 90, 150), strict=True):
        found[f"figure-6/falls/reno/{rate}"] = per_seed(reno, "fall", share=share)
    return found


def response(rows: pl.DataFrame) -> Answer:
    """How much longer Blitz takes for ten times as much, where it grows least."""
    low = at(rows, control="blitz", load=0.3, network=["reference", "large"])
    wide = across(low, "network", "response_s", keep=["share"])
    wide = wide.with_columns((pl.col("large") / pl.col("reference")).alias("times"))
    return smallest(wide, "times", "share")


def deteriorates(rows: pl.DataFrame) -> Answer:
    """TCP's power at full load over the largest of its mean curve, in decades."""
    slow = at(rows, network="large", control="reno", share=0.2)
    full = at(slow, load=1.0).select("seed", pl.col("power").log10().alias("full"))
    return per_seed(best(slow).join(full, on="seed"), pl.col("full") - pl.col("best"))


def draw(rows: pl.DataFrame) -> Figure:
    """Power against arrivals."""
    return drawn.pair(rows, ("large", "large-faster"))
