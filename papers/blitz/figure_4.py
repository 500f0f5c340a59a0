"""Figure 4: power in the reference network and at 1 Gbit/s."""

import math
from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import SHARES, at_each_load, best, gaps, smallest, steps, yardstick

FIGURE = Experiment(
    id="figure-4",
    title="Bursts have ten times the power of TCP, and more at 1 Gbit/s",
    question="How much more power has Blitz, and does it scale with bandwidth?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """Both networks."""
    return shared.sweep(scale, ("reference", "faster"), seeds=shared.MANY[scale])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Largest powers, and their ratios."""
    gap, top = gaps(rows), best(rows)
    before, after = at(gap, network="reference"), at(gap, network="faster")
    low = at_each_load(at(rows, network="reference")).filter(pl.col("load") <= 0.9)
    found: dict[str, Answer] = {
        "figure-4/all-bottlenecks": smallest(low, "gap", "share", "load"),
        "figure-4/gap-grows": steps(before, "gap"),
        "figure-4/faster/gap-grows": steps(after, "gap"),
        "figure-4/90-above-150": per_seed(
            before,
            pl.col("blitz").filter(pl.col("share") == 0.6).first()
            - pl.col("reno").filter(pl.col("share") == 1.0).first(),
        ),
    }
    for control in ("blitz", "reno"):
        found[f"figure-4/grows/{control}"] = steps(before, control)
    for share, slow, fast in zip(SHARES, (30, 90, 150), (200, 600, 1000), strict=True):
        found[f"figure-4/gap/{slow}"] = per_seed(before, "gap", share=share)
        for control in ("blitz", "reno"):
            rise = across(at(top, control=control, share=share), "network", "best", keep=[])
            found[f"figure-4/faster/{control}/{fast}"] = per_seed(
                rise, pl.col("faster") - pl.col("reference")
            )
        wide = across(at(gap, share=share), "network", "gap", keep=[])
        found[f"figure-4/faster/times/{fast}"] = per_seed(
            wide, 10 ** (pl.col("faster") - pl.col("reference"))
        )
    wide = across(gap, "network", "gap", keep=["share"])
    wide = wide.with_columns((pl.col("faster") - pl.col("reference")).alias("wider"))
    found["figure-4/faster/wider"] = smallest(wide, "wider", "share")
    return found


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Who waits near saturation, and by how much Blitz is ahead below it."""
    here = at(rows, network="reference")
    low = at_each_load(here).filter(pl.col("load") <= 0.6)
    low = low.with_columns((10 ** pl.col("gap")).alias("times"))
    found: dict[str, Answer] = {
        "figure-4/waits": per_seed(here, "timed_out", control="blitz", share=0.2, load=0.9),
        "figure-4/moderate": smallest(low, "times", "share", "load"),
    }
    for share, slow, fast in zip(SHARES, (30, 90, 150), (200, 600, 1000), strict=True):
        ideal = {
            (network, control): math.log10(
                yardstick(rows, network, share, control).best_power_bit_s2
            )
            for network in ("reference", "faster")
            for control in ("blitz", "reno")
        }
        before, after = (ideal[n, "blitz"] - ideal[n, "reno"] for n in ("reference", "faster"))
        found[f"figure-4/sharing/gap/{slow}"] = before
        found[f"figure-4/sharing/times/{fast}"] = 10 ** (after - before)
        for control in ("blitz", "reno"):
            rise = ideal["faster", control] - ideal["reference", control]
            found[f"figure-4/sharing/{control}/{fast}"] = rise
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Power against arrivals."""
    return drawn.pair(rows, ("reference", "faster"))
