"""Table 2: the share of the link that each of five HSTCP flows takes, in slices of 50 s.

The order and the growth of the first are as in the paper; the first has more, 77 % instead of 53 %.
"""

import itertools
from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import bars, colours
from longfat import fairness
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import ACCESS, FIVE_HSTCP, bottleneck, dumbbell

FIGURE = Experiment(
    id="table-2",
    title="Shares of five HSTCP flows, slice by slice",
    question="What does each flow take, and does it become worse?",
    by=("slice", "flow"),
)
SLOW = 1.25
"""Rate of slower links of the senders over that of the bottleneck."""
EDGES = (50, 100, 150, 200)
PAPER = (
    (38.98, 20.96, 18.24, 2.38, 1.06),
    (48.10, 21.35, 14.10, 1.77, 0.84),
    (52.97, 21.39, 11.56, 1.52, 0.80),
)


def points(scale: Scale) -> Iterator[Point]:
    """The runs of Figure 2 with DropTail; and with slower links of the senders."""
    seeds = 5 if scale == "quick" else 10
    yield dumbbell(scale, "hstcp", FIVE_HSTCP, seeds=seeds, links=ACCESS)
    slow = {"flow.fast.access": f"{SLOW * bottleneck(scale):.1f} Mbit/s"}
    yield dumbbell(scale, "hstcp", FIVE_HSTCP, set=slow, links=SLOW)


def measure(run: Measured) -> list[Row]:
    """A row for each slice and flow."""
    table = fairness.utilisation(run, "fast", edges=EDGES)
    return [
        {
            "slice": int(row["from_s"] // 50 - 1),
            "flow": int(row["flow"].rpartition("[")[2][:-1]),
            "share": row["utilisation"],
        }
        for row in table.iter_rows(named=True)
    ]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The paper's table, and what it says about it."""
    rows = at(rows, links=ACCESS)
    last = across(rows, "flow", "share", keep=[], slice=2)
    first = across(rows, "slice", "share", keep=[], flow=0)
    fourth = across(rows, "slice", "share", keep=[], flow=3)
    final = across(rows, "slice", "share", keep=[], flow=4)
    index = rows.group_by("seed", "slice").agg(
        (pl.col("share").sum() ** 2 / (5 * (pl.col("share") ** 2).sum())).alias("jain")
    )
    jain = across(index, "slice", "jain", keep=[])
    steps = [(pl.col(str(i)) - pl.col(str(i + 1))) for i in range(4)]
    total = rows.group_by("seed", "slice").agg(pl.col("share").sum())
    answers: dict[str, Answer] = {}
    for k, begin in enumerate(EDGES[:-1]):
        answers[f"table-2/total/{begin}"] = per_seed(total, "share", slice=k)
        for flow, rtt in enumerate(FIVE_HSTCP):
            answers[f"table-2/cell/{begin}/{rtt}"] = per_seed(rows, "share", slice=k, flow=flow)
    return answers | {
        "table-2/first-two": per_seed(last, pl.col("0") + pl.col("1")),
        "table-2/ordered": per_seed(last, pl.min_horizontal(*steps)),
        "table-2/first/grows": per_seed(first, pl.col("2") - pl.col("0")),
        "table-2/fourth/falls": per_seed(fourth, pl.col("2") - pl.col("0")),
        "table-2/last/falls": per_seed(final, pl.col("2") - pl.col("0")),
        "table-2/index": per_seed(jain, "2"),
        "table-2/index/falls": per_seed(jain, pl.col("2") - pl.col("0")),
        "table-2/ratio": per_seed(last, pl.col("0") / pl.col("4")),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """The last slice with slower links of the senders."""
    last = across(at(rows, links=SLOW), "flow", "share", keep=[], slice=2)
    shares = [pl.col(str(flow)) for flow in range(5)]
    squares = pl.sum_horizontal(*(share**2 for share in shares))
    return {
        "table-2/links/first": per_seed(last, "0"),
        "table-2/links/last": per_seed(last, "4"),
        "table-2/links/index": per_seed(last, pl.sum_horizontal(*shares) ** 2 / (5 * squares)),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Bars for each slice, with the paper's numbers as lines across them."""
    rows = at(rows, links=ACCESS)
    figure, axes = plots.grid(1, 1, height=5.6)
    panel = axes[0, 0]
    for flow, colour in enumerate(colours(5)):
        bars(
            panel,
            [k + 0.16 * (flow - 2) for k in range(3)],
            [at(rows, slice=k, flow=flow)["share"].to_list() for k in range(3)],
            colour,
            width=0.16,
            paper=[PAPER[k][flow] for k in range(3)],
            label=f"{FIVE_HSTCP[flow]} ms",
        )
    panel.set_xticks(range(3), [f"{a} to {b} s" for a, b in itertools.pairwise(EDGES)])
    panel.grid(visible=False, axis="x")
    panel.set(ylabel="share of the link (%)", ylim=(0, None))
    plots.note(panel, "black lines: Table 2", (0.99, 0.96), ha="right", va="top")
    plots.legend(figure, panel)
    return figure
