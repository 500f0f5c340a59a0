"""Figure 5: power in a network of 1.8 ms, and in one of 15 Mbit/s."""

import math
from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

import drawn
import shared
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed
from longfat.study import Point
from shared import READINGS, SHARES, at_each_load, best, gaps, smallest, steps, yardstick

FIGURE = Experiment(
    id="figure-5",
    title="Where a path holds less, bursts gain less",
    question="Is Blitz of use where the product of bandwidth and delay is small?",
)
measure = shared.measure


def points(scale: Scale) -> Iterator[Point]:
    """1.8 ms under both readings; 15 Mbit/s, whose text needs the small buffer; the reference."""
    yield from shared.read("minimum", scale, ("reference", "aurora", "slower"))
    yield from shared.read("ample", scale, ("reference", "aurora"), seeds=shared.MANY[scale])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Largest powers, and those at the lowest arrival rate."""
    found: dict[str, Answer] = {}
    for reading in READINGS:
        found |= left(at(rows, reading=reading), f"figure-5/{reading}")
    slower = at(rows, reading="minimum")
    each = at_each_load(at(slower, network="slower"))
    few = at(each, load=float(each["load"].min()))  # type: ignore[arg-type]
    found |= {
        "figure-5/slower/low-load": per_seed(few, "gap", share=0.2),
        "figure-5/slower/vanishes/load": per_seed(
            each.filter(pl.col("load") <= 1), pl.col("gap").max(), share=0.2
        ),
        "figure-5/slower/vanishes/bottleneck": smallest(at(few, share=[0.6, 1.0]), "gap", "share"),
        "figure-5/slower/above": smallest(gaps(at(slower, network="slower")), "gap", "share"),
    }
    for control in ("blitz", "reno"):
        fall = compared(slower, control, pl.col("reference") - pl.col("slower"))
        found[f"figure-5/slower/{control}"] = smallest(fall, "by", "share")
    return found


def left(rows: pl.DataFrame, name: str) -> dict[str, Answer]:
    """The sentences about 1.8 ms, in one reading."""
    gap = gaps(rows)
    wide = across(gap, "network", "gap", keep=["share"])
    wide = wide.with_columns((pl.col("reference") - pl.col("aurora")).alias("narrower"))
    near = at(gap, network="aurora")
    found: dict[str, Answer] = {
        f"{name}/narrower": smallest(wide, "narrower", "share"),
        f"{name}/above": smallest(near, "gap", "share"),
        f"{name}/gap-grows": steps(near, "gap"),
    }
    for control in ("blitz", "reno"):
        rise = compared(rows, control, pl.col("aurora") - pl.col("reference"))
        found[f"{name}/larger/{control}"] = smallest(rise, "by", "share")
    return found


def compared(rows: pl.DataFrame, control: str, difference: pl.Expr) -> pl.DataFrame:
    """One controller's largest power in two networks, for each bottleneck."""
    tops = at(best(rows), control=control)
    wide = across(tops, "network", "best", keep=["share"])
    return wide.with_columns(difference.alias("by"))


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """The gaps of Figure 4, left, where each packet is acknowledged; and what theory has at 1.8 ms."""
    ample = at(rows, reading="ample")
    gap = gaps(at(ample, network="reference"))
    found: dict[str, Answer] = {
        f"figure-5/acks/gap/{rate}": per_seed(gap, "gap", share=share)
        for share, rate in zip(SHARES, (30, 90, 150), strict=True)
    }
    blitz, reno = (
        yardstick(ample, "aurora", 0.2, control).best_power_bit_s2 for control in ("blitz", "reno")
    )
    return found | {"figure-5/sharing/above": math.log10(blitz / reno)}


def draw(rows: pl.DataFrame) -> Figure:
    """Power against arrivals: both readings of 1.8 ms, and 15 Mbit/s."""
    panels = (("aurora", "minimum"), ("aurora", "ample"), ("slower", "minimum"))
    titles = ("1.8 ms, buffer of a round trip", "1.8 ms, buffer of the reference", None)
    return drawn.several([
        (at(rows, reading=reading), network, title)
        for (network, reading), title in zip(panels, titles, strict=True)
    ])  # fmt: skip
