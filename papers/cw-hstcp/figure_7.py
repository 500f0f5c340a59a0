"""Figure 7 and the five flows of section V: the index of four controllers at several time scales.

CW-HSTCP is fairer than HSTCP and STCP at each, as in the paper, but less fair than equal windows would be.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from longfat import fairness
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import ACCESS, BACKGROUND, FIVE_CW, MANY, SCALES, THREE, bottleneck, cw, dumbbell

FIGURE = Experiment(
    id="figure-7",
    title="Fairness of four controllers, at time scales of 1 to 50 s",
    question="Is CW-HSTCP the fairest, over short and long times?",
    by=("scale_s",),
)
SLOW = 1.25
"""Rate of the slower sender links over that of the bottleneck."""
CONTROLS = ("cw-hstcp", "hstcp", "stcp", "reno")


def points(scale: Scale) -> Iterator[Point]:
    """Three flows of each controller; and five of CW-HSTCP, also with slower sender links."""
    for control in CONTROLS:
        seeds = MANY if control in ("cw-hstcp", "hstcp") else 5
        law = cw(10) if control == "cw-hstcp" else control
        yield dumbbell(scale, law, THREE, seeds=seeds, control=control, flows=3, links=ACCESS)
    for links in (ACCESS, SLOW):
        rate = links * bottleneck(scale)
        yield dumbbell(
            scale,
            cw(10),
            FIVE_CW,
            set={"flow.fast.access": f"{rate:g} Mbit/s"},
            control="cw-hstcp",
            flows=5,
            links=links,
        )


def measure(run: Measured) -> list[Row]:
    """A row for each time scale; scale 0 stands for the whole steady part."""
    table = fairness.by_time_scale(run, "fast", scales=SCALES)
    rows = [{"scale_s": row["scale_s"], "jain": row["jain"]} for row in table.iter_rows(named=True)]
    whole = {
        "jain": fairness.index(run, "fast"),
        "share": fairness.share(run, "fast"),
        "background": fairness.share(run, *BACKGROUND),
    }
    return [*rows, {"scale_s": 0.0} | whole | {"used": run.link()["utilisation"]}]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """CW-HSTCP against each of the others at every scale; five flows."""
    three = at(rows, flows=3)
    wide = across(three.filter(pl.col("scale_s") > 0), "control", "jain", keep=["scale_s"])
    five = across(rows, "links", "jain", keep=[], flows=5, scale_s=0.0)
    whole = at(three, scale_s=0.0)
    share = across(whole, "control", "share", keep=[])
    used = across(whole, "control", "used", keep=[])
    background = across(whole, "control", "background", keep=[])
    cw_hstcp = pl.col("cw-hstcp")
    answers: dict[str, Answer] = {
        f"figure-7/best/{other}": per_seed(wide, (pl.col("cw-hstcp") - pl.col(other)).min())
        for other in CONTROLS[1:]
    }
    return answers | {
        "figure-7/room": per_seed(background, cw_hstcp / pl.col("reno")),
        "figure-7/keeps/used": per_seed(used, cw_hstcp - pl.col("hstcp")),
        "figure-7/keeps/share": per_seed(share, cw_hstcp - pl.col("hstcp")),
        "figure-7/keeps/standard": per_seed(share, cw_hstcp - pl.col("reno")),
        "figure-7/cw/index": per_seed(three, "jain", control="cw-hstcp", scale_s=0.0),
        "figure-7/five": per_seed(rows, "jain", flows=5, links=ACCESS, scale_s=0.0),
        "figure-7/five/links": per_seed(five, pl.col(str(SLOW)) - pl.col(str(ACCESS))),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """What the background has beside each controller."""
    three = at(rows, flows=3, scale_s=0.0)
    return {
        f"figure-7/background/{control}": per_seed(three, "background", control=control)
        for control in CONTROLS
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The index against the time scale."""
    figure, axes = plots.grid(1, 1, height=5.8)
    panel = axes[0, 0]
    three = at(rows, flows=3).filter(pl.col("scale_s") > 0)
    plots.over(panel, three, x="scale_s", y="jain", log=True)
    for value, text in ((0.872, "equal windows"), (0.961, "the paper, c = 10")):
        panel.axhline(value, color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
        panel.annotate(
            f"{text}: {value:.2f}", (0.99, value), xycoords=panel.get_yaxis_transform(),
            xytext=(0, 4), textcoords="offset points", ha="right", fontsize=10,
        )  # fmt: skip
    panel.set_xticks(list(SCALES), [f"{scale}" for scale in SCALES])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set(xlabel="time scale (s)", ylabel="Jain's index", ylim=(0.3, 1))
    plots.legend(figure, panel)
    return figure
