"""Beyond the paper: does the rate of the senders' own links decide whether flows lose together?

In part: with links hardly faster than the bottleneck, CW-HSTCP is as fair as in the model in which losses
always come together. The paper's index is higher than that.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

import longfat
from longfat import fairness
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Computation, Measured, Point, Row
from shared import (
    ACCESS,
    MANY,
    THREE,
    bottleneck,
    coincidence,
    cw,
    dumbbell,
    explained,
    more_losses,
    shares,
)

FIGURE = Experiment(
    id="access",
    title="Senders' links, bursts, and whether windows meet",
    question="Why do windows not meet, and what brings them together?",
)
FACTORS = (1.25, 2.0, 5.0, 10.0)
APART, EQUAL = (4.0, 2.0, 1.0), (2.0, 2.0, 2.0)
MODELS: dict[str, dict[str, Any]] = {
    "model": {"first": APART, "from_s": 100, "until_s": 600},
    "model, late": {"first": APART, "from_s": 1500, "until_s": 2000},
    "model, equal": {"first": EQUAL, "from_s": 100, "until_s": 600},
}
"""Windows at the start in packets for each Mbit/s, and the time over which the index is taken."""
SPREAD = 20.0
"""Stands for packets spread over the round trip, at an access rate of 10."""
SLOW = FACTORS[0]
BASE = cw(10) | {"rtt": "base"}
"""With η from the round trip without the queue."""


def together(rate: int, first: Sequence[float], from_s: int, until_s: int) -> float | None:
    """Jain's index if all flows lose at once, from these windows: the model of Chiu and Jain, with a queue."""
    solved = longfat.synchronised(
        cw(10),
        rate=f"{rate} Mbit/s",
        rtt=[f"{rtt} ms" for rtt in THREE],
        window=[rate * share for share in first],
        duration=f"{until_s} s",
        buffer="25 ms",
        packet="1000 B",
        sample="50 ms",
    )
    late = solved.flow_series.to_polars().filter(pl.col("time_s") > from_s)
    means = late.group_by("flow").agg(pl.col("rate_bit_s").mean())
    return fairness.jain(means["rate_bit_s"].to_list())


def points(scale: Scale) -> Iterator[Point | Computation]:
    """Four access rates; evenly spread packets; and the model in which nobody loses alone."""
    rate = bottleneck(scale)
    for control, law in (("cw-hstcp", cw(10)), ("hstcp", "hstcp")):
        for factor in (*FACTORS, SPREAD):
            if control == "hstcp" and factor not in (SLOW, ACCESS):
                continue
            spread = factor == SPREAD
            many = control == "cw-hstcp" and factor in (SLOW, ACCESS)
            yield dumbbell(
                scale,
                law,
                seeds=MANY if many else 5,
                set={"flow.fast.pacing": "spread"}
                if spread
                else {"flow.fast.access": f"{factor * rate:.1f} Mbit/s"},
                control=control,
                factor=factor,
            )
    yield dumbbell(
        scale,
        BASE,
        seeds=5,
        set={"flow.fast.access": f"{SLOW * rate:.1f} Mbit/s"},
        control="base",
        factor=SLOW,
    )
    for kind, given in MODELS.items():
        labels = {"control": kind, "factor": 0.0}
        yield Computation(labels, together, {"rate": rate} | given)


def measure(run: Measured) -> Row:
    """Shares, index, losses, and how often they come together."""
    if run.labels["control"] in MODELS:
        return {"jain": run.value}
    return shares(run) | coincidence(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """What happens when bursts are no faster than the bottleneck, and when there are none."""
    wide = across(at(rows, control="cw-hstcp"), "factor", "jain", keep=[])
    coincide = across(at(rows, control="cw-hstcp"), "factor", "together", keep=[])
    return {
        "access/together": float(at(rows, control="model")["jain"][0]),
        "access/links": per_seed(wide, pl.col("1.25") - pl.col("10.0")),
        "access/spread": per_seed(wide, pl.col(str(SPREAD)) - pl.col("10.0")),
        "access/base": per_seed(rows, "jain", control="base"),
        "access/cw/index": per_seed(rows, "jain", control="cw-hstcp", factor=1.25),
        "access/cw/spread": per_seed(rows, "jain", control="cw-hstcp", factor=SPREAD),
        "access/together/late": float(at(rows, control="model, late")["jain"][0]),
        "access/together/equal": float(at(rows, control="model, equal")["jain"][0]),
        "access/lose-together": per_seed(rows, "together", control="cw-hstcp", factor=1.25),
        "access/together-more": per_seed(coincide, pl.col("1.25") - pl.col("10.0")),
        "access/lose-as-often": per_seed(rows, more_losses(), control="cw-hstcp", factor=1.25),
        "access/explained": per_seed(rows, explained(), control="cw-hstcp", factor=1.25),
        "access/hstcp/index": per_seed(rows, "jain", control="hstcp", factor=1.25),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How much more often 200 ms loses than 80 ms; the model; HSTCP."""
    packets = rows.filter(~pl.col("control").is_in(list(MODELS)))
    return {
        "access/events/spread": per_seed(packets, more_losses(), control="cw-hstcp", factor=SPREAD),
        "access/events/base": per_seed(packets, more_losses(), control="base"),
        "access/spread/together": per_seed(packets, "together", control="cw-hstcp", factor=SPREAD),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The index, and how often the longest round trip loses relative to the shortest."""
    figure, axes = plots.grid(1, 2, width=13, height=5.6)
    model = float(at(rows, control="model")["jain"][0])
    rows = rows.filter(~pl.col("control").is_in(list(MODELS)))
    figure.subplots_adjust(bottom=0.17)
    rows = rows.with_columns(more_losses().alias("events"))
    for panel, column, label in zip(
        axes[0],
        ("jain", "events"),
        ("Jain's index", "losses of 200 ms over those of 80 ms"),
        strict=True,
    ):
        lines = rows.filter(pl.col("factor") != SPREAD, pl.col("control") != "base")
        plots.over(panel, lines, x="factor", y=column, log=True)
        for control, factor, x, face in (
            ("cw-hstcp", SPREAD, 0.97 * SPREAD, "white"),
            ("base", SLOW, 1.09 * SLOW, plots.colour("cw-hstcp")),
        ):
            mean, half = plots.mean_and_half(
                at(rows, control=control, factor=factor)[column].to_list()
            )
            like = "cw-hstcp" if control == "base" else control
            panel.errorbar(
                [x], [mean], yerr=[half], fmt="*" if control == "base" else plots.marker(like),
                color=plots.colour(like), markersize=8, markerfacecolor=face,
                markeredgewidth=1.6, elinewidth=1.1, capsize=3,
                label="CW-HSTCP, η from the base round trip" if control == "base" else None,
            )  # fmt: skip
        panel.set(
            xscale="log",
            xlabel="rate of the sender's link over that of the bottleneck",
            ylabel=label,
        )
        panel.set_xticks([*FACTORS, SPREAD], ["1.25", "2", "5", "10", "10, packets\nspread"])
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlim(1.05, 29)
    for value, text in ((model, "all lose together"), (0.961, "the paper")):
        axes[0, 0].axhline(value, color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
        axes[0, 0].annotate(
            f"{text}: {value:.2f}", (5.4, value), (0, 3), textcoords="offset points", fontsize=10,
        )  # fmt: skip
    axes[0, 0].set_ylim(0.3, 1.02)
    axes[0, 1].axhline(1, color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
    axes[0, 1].annotate("as often", (11.5, 1.005), fontsize=10, va="bottom")
    plots.legend(figure, axes[0, 0])
    return figure
