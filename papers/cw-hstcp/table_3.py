"""Table 3: CW-HSTCP with c = 5, 10 and 20, beside standard traffic.

The column called an index is the sum of the shares. c = 10 is the fairest in the paper;
here c = 20 is fairer.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import bars, colours
from longfat import fairness
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import FIVE_CW, MANY, THREE, cw, dumbbell, more_losses, shares

FIGURE = Experiment(
    id="table-3",
    title="The choice of c: shares, fairness and losses of the others",
    question="Which c is best, and what do standard flows lose?",
)
PAPER = {
    5: (29.79, 16.80, 14.38, 26.96, 87.93),
    10: (32.22, 26.61, 19.36, 16.35, 94.54),
    20: (44.85, 24.69, 19.92, 5.55, 95.01),
}
CELLS = {"80": "u0", "140": "u1", "200": "u2", "background": "background"}


def points(scale: Scale) -> Iterator[Point]:
    """Three values of c; at the full scale also c = 10 for twice as long, with the last 150 s counted."""
    for c in PAPER:
        yield dumbbell(scale, cw(c), seeds=MANY, c=c, from_s=50)
    if scale == "full":
        later = {"duration": "400 s", "warmup": "250 s"}
        yield dumbbell(scale, cw(10), seeds=5, set=later, c=10, from_s=250)


def measure(run: Measured) -> Row:
    """Shares, index, losses."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The cells, what the text says of the rows, and the mislabelled column."""
    times = across(rows, "from_s", "jain", keep=[], c=10)
    rows = at(rows, from_s=50)
    answers: dict[str, Answer] = {}
    for c in PAPER:
        for name, column in CELLS.items():
            answers[f"table-3/cell/{c}/{name}"] = per_seed(rows, column, c=c)
        answers[f"table-3/total/{c}"] = per_seed(rows, "total", c=c)
        answers[f"table-3/loss/{c}"] = per_seed(rows, "background_loss", c=c)
        if c != 10:
            answers[f"table-3/index/{c}"] = per_seed(rows, "jain", c=c)
    each = across(
        rows.unpivot(("u0", "u1", "u2"), index=["seed", "c"], variable_name="flow", value_name="share"),
        "c", "share", keep=["flow"],
    )  # fmt: skip
    jain = across(rows, "c", "jain", keep=[])
    total = across(rows, "c", "total", keep=[])
    fast = across(
        rows.with_columns(pl.sum_horizontal("u0", "u1", "u2").alias("fast")), "c", "fast", keep=[]
    )
    background = across(rows, "c", "background", keep=[])
    worst = max(abs(sum(row[:4]) - row[4]) for row in PAPER.values())
    true = {c: fairness.jain(row[:3]) or 0.0 for c, row in PAPER.items()}
    for rtts in (THREE, FIVE_CW):
        answers[f"table-3/equal-windows/{len(rtts)}"] = fairness.jain(1 / rtt for rtt in rtts)
    answers |= {
        "table-3/column": worst,
        "table-3/column/best": true[10] - max(true[5], true[20]),
        "table-3/index": per_seed(rows, "jain", c=10),
        "table-3/small-c/each": per_seed(each, (pl.col("10") - pl.col("5")).min()),
        "table-3/small-c/total": per_seed(fast, pl.col("10") - pl.col("5")),
        "table-3/small-c/used": per_seed(total, pl.col("10") - pl.col("5")),
        "table-3/large-c/short": [
            b - a
            for a, b in zip(per_seed(rows, "u0", c=10), per_seed(rows, "u0", c=20), strict=True)
            if a is not None and b is not None
        ],
        "table-3/large-c/fairness": per_seed(jain, pl.col("20") - pl.col("10")),
        "table-3/best-c": per_seed(jain, pl.col("10") - pl.max_horizontal("5", "20")),
        "table-3/large-c/background": per_seed(background, pl.col("20") - pl.col("10")),
        "table-3/friendly": per_seed(rows, pl.col("background_loss").max()),
    }
    if "250" in times.columns:
        answers["table-3/later"] = per_seed(times, pl.col("250") - pl.col("50"))
    return answers


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How much more often 200 ms loses than 80 ms; and the windows and losses that the paper's shares mean."""
    rows = at(rows, from_s=50)
    found: dict[str, Answer] = {
        f"table-3/events/{c}": per_seed(rows, more_losses(), c=c) for c in PAPER
    }
    for c, (first, _, last, *_) in PAPER.items():
        found[f"table-3/paper/windows/{c}"] = last * THREE[-1] / (first * THREE[0])
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Shares beside the paper's, and the index, which the paper's own column is not."""
    rows = at(rows, from_s=50)
    figure, axes = plots.grid(1, 2, width=13, height=5.6)
    left, right = axes[0]
    names = [*(f"{rtt} ms" for rtt in THREE), "background"]
    for k, (column, colour) in enumerate(
        zip(("u0", "u1", "u2", "background"), [*colours(3), "#9a9a9a"], strict=True)
    ):
        bars(
            left, [i + 0.2 * (k - 1.5) for i in range(3)],
            [at(rows, c=c)[column].to_list() for c in PAPER],
            colour, width=0.2, paper=[row[k] for row in PAPER.values()], label=names[k],
        )  # fmt: skip
    left.set_xticks(range(3), [f"c = {c} /s" for c in PAPER])
    left.grid(visible=False, axis="x")
    left.set(ylabel="share of the link (%)", ylim=(0, 85))
    plots.note(left, "black lines: Table 3", (0.02, 0.96), va="top")
    found = [plots.mean_and_half(at(rows, c=c)["jain"].to_list()) for c in PAPER]
    right.errorbar(
        range(3), [mean for mean, _ in found], yerr=[half for _, half in found],
        color=plots.colour("cw-hstcp"), marker="<", capsize=3, linewidth=1.6,
    )  # fmt: skip
    true = [fairness.jain(row[:3]) for row in PAPER.values()]
    right.plot(range(3), true, "o-", color="#222222", markerfacecolor="white")
    right.plot(range(3), [row[4] / 100 for row in PAPER.values()], "x--", color="#999999")
    last = (
        (found[2][0], "measured", plots.colour("cw-hstcp")),
        (true[2] or 0, "from the paper's shares", "#222222"),
        (PAPER[20][4] / 100, "the paper's column:\nthe sum of the shares", "#777777"),
    )
    for value, text, colour in last:
        right.annotate(
            text,
            (2, value),
            (9, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            fontsize=10,
        )
    right.set_xticks(range(3), [f"c = {c} /s" for c in PAPER])
    right.set(ylabel="Jain's index of the three flows", xlim=(-0.2, 3.25), ylim=(0.3, 1.0))
    plots.legend(figure, left)
    return figure
