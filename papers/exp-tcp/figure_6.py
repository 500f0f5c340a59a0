"""Figure 6, section III.E: three flows join one after another; RED, round trips that differ by 10 %."""

import math
from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, plots
from longfat.study import Measured, Point, Row
from shared import PACKET_BIT
from sharing import compared, draw_sharing, each, joining, runs, shares_and_fairness

FIGURE = Experiment(
    id="figure-6",
    title="Three flows join one after another: RED",
    question="Do shares become equal when losses do not come together, and round trips differ?",
    by=("kind", "time_s", "flow"),
)
RED = {
    "kind": "red",
    "min": "0.1 bdp",
    "max": "0.3 bdp",
    "weight": 0.002,
    "max_p": 0.1,
    "gentle": True,
    "ecn": True,
}
GAMMA, BETA, MEAN_S = 0.05, 0.125, 0.040
ROUND_TRIPS_S = {"first": 0.042, "second": 0.040, "third": 0.038}

SEEDS: dict[Scale, int] = {"quick": 3, "full": 8}


def points(scale: Scale) -> Iterator[Point]:
    """Every controller. The first flow has the longest round trip, so the shortest has no head start."""
    changes = {f"flow.{name}.rtt": f"{1000 * rtt:.0f} ms" for name, rtt in ROUND_TRIPS_S.items()}
    return joining(scale, changes | {"link.bottleneck.queue": RED}, seeds=SEEDS[scale])


def measure(run: Measured) -> list[Row]:
    """Shares and fairness."""
    return shares_and_fairness(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The sentences of section III.E on RED."""
    reno, exp = pl.col("reno"), pl.col("exp")
    shortest = pl.col("share_third") / pl.col("share_first")
    others = pl.max_horizontal("hstcp", "stcp", "exp")
    return {
        "figure-6/stcp/unfair": each(rows, "jain_end", "stcp"),
        "figure-6/reno/swing": compared(rows, "swing", reno / others),
        "figure-6/reno/converges": each(rows, "jain_end", "reno"),
        "figure-6/hstcp/converges": each(rows, "jain_end", "hstcp"),
        "figure-6/hstcp/slow": each(rows, pl.col("converged_s") / pl.col("phase_s"), "hstcp"),
        "figure-6/exp/quicker": compared(rows, "converged_s", exp - pl.col("hstcp")),
        "figure-6/rtt/hstcp": each(rows, shortest, "hstcp"),
        "figure-6/rtt/exp": each(rows, shortest, "exp"),
        "figure-6/rtt/bound": each(rows, shortest / together(float(rows["rate_bit_s"][0])), "exp"),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How long the third flow waits for its share, and how equal shares are in the end."""
    waits: dict[str, Answer] = {
        f"figure-6/waits/{control}": each(rows, "converged_s", control)
        for control in ("hstcp", "exp")
    }
    return waits


def together(rate_bit_s: float) -> float:
    """Theory: the ratio of rates at 38 ms and 42 ms if all flows backed off at once, at a load of 1.1 bdp."""
    largest = 1.1 * rate_bit_s / PACKET_BIT * MEAN_S / len(ROUND_TRIPS_S)
    trips = math.log(1 + BETA * largest / math.sqrt((1 - BETA) * largest)) / GAMMA
    short, long = (ROUND_TRIPS_S[name] + 0.1 * MEAN_S for name in ("third", "first"))
    epoch = trips * (MEAN_S + 0.1 * MEAN_S)
    return (
        long / short * (math.expm1(GAMMA * epoch / short) / math.expm1(GAMMA * epoch / long)) ** 2
    )


def draw(rows: pl.DataFrame) -> Figure:
    """The paper's four panels; Jain's index over time, and the shares at the end."""
    figure, more = draw_sharing(rows)
    parts = [
        runs(rows).select(
            "control",
            "seed",
            pl.lit(1000 * rtt).alias("rtt_ms"),
            pl.col(f"share_{name}").alias("share"),
        )
        for name, rtt in ROUND_TRIPS_S.items()
    ]
    plots.over(more, pl.concat(parts), x="rtt_ms", y="share", percent=True)
    more.axhline(100 / len(parts), color="#B00020", linewidth=1, linestyle=plots.DASHED)
    more.set_title("Who has the link in the end?", loc="left", fontsize=12)
    more.set_xticks([1000 * rtt for rtt in ROUND_TRIPS_S.values()])
    more.set(xlabel="round-trip propagation delay (ms)", ylabel="share (%)", ylim=(0, None))
    return figure
