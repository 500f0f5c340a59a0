"""Section III: three STCP flows, the first of which has 91 % in the paper.

Its share in the first 200 s depends on what slow start left: the ratio of two windows that lose together
only drifts, as exp(0.01 t (1/R₁ - 1/R₂)). After ten minutes the first flow has nearly everything in every run.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from drawn import bars, colours
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import STCP, dumbbell, shares, windows

FIGURE = Experiment(
    id="stcp",
    title="Three STCP flows: one takes nearly all",
    question="Is STCP less fair to round trips than HSTCP?",
)
PAPER = (91, 2.73, 0.77)
EARLY_S = 50.0


KINDS = {
    "drawn": "STCP, starts\ndrawn from 20 s",
    "together": "STCP, all\nstart at once",
    "long": "STCP, 450\nto 600 s",
}


def points(scale: Scale) -> Iterator[Point]:
    """The paper's round trips with STCP, and HSTCP for comparison; and STCP with one thing changed."""
    yield dumbbell(
        scale, "stcp", STCP, seeds=10 if scale == "quick" else 20, control="stcp", kind="drawn"
    )
    yield dumbbell(scale, "hstcp", STCP, seeds=5, control="hstcp", kind="drawn")
    start = {"flow.fast.start": "0 s"}
    yield dumbbell(
        scale,
        "stcp",
        STCP,
        seeds=5,
        set=start,
        control="stcp",
        kind="together",
    )
    if scale == "full":
        long = {"duration": "600 s", "warmup": "450 s"}
        yield dumbbell(scale, "stcp", STCP, seeds=3, set=long, control="stcp", kind="long")


def measure(run: Measured) -> Row:
    """Shares and the index; when each flow started, and its window after 50 s."""
    flows = run.flows("fast")
    found = [row["window"] for row in windows(run, 50.0) if row["time_s"] == EARLY_S]
    return (
        shares(run)
        | {f"start{i}": flow["start_s"] for i, flow in enumerate(flows)}
        | {f"early{i}": window for i, window in enumerate(found)}
    )


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The paper's three numbers; the comparison, run by run; and what decides who wins."""
    drawn = at(rows, kind="drawn")
    index = drawn.pivot(on="control", index="seed", values="jain")
    lead = pl.col("early0") / pl.max_horizontal("early1", "early2")
    start = pl.min_horizontal("start1", "start2") - pl.col("start0")
    ahead = at(drawn, control="stcp").with_columns(lead.alias("lead"), start.alias("head_start"))
    answers: dict[str, Answer] = {
        "stcp/first": per_seed(drawn, "u0", control="stcp"),
        "stcp/second": per_seed(drawn, "u1", control="stcp"),
        "stcp/third": per_seed(drawn, "u2", control="stcp"),
        "stcp/index": per_seed(drawn, "jain", control="stcp"),
        "stcp/more-severe": per_seed(index, pl.col("stcp") - pl.col("hstcp")),
        "stcp/together/first": per_seed(rows, "u0", kind="together"),
        "stcp/head-start": float(
            ahead.select(pl.corr("head_start", "u0", method="spearman")).item()
        ),
        "stcp/early": float(ahead.select(pl.corr("lead", "u0", method="spearman")).item()),
    }
    if "long" in rows["kind"]:
        answers["stcp/long/first"] = per_seed(rows, "u0", kind="long")
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Shares beside the paper's; and the first flow's share against its lead at 50 s."""
    figure, axes = plots.grid(1, 2, height=5.6, width=14)
    left, right = axes[0]
    shown = [
        (control, kind)
        for control, kind in (*(("stcp", kind) for kind in KINDS), ("hstcp", "drawn"))
        if not rows.filter(pl.col("control") == control, pl.col("kind") == kind).is_empty()
    ]
    for flow, colour in enumerate(colours(3)):
        bars(
            left,
            [k + 0.25 * (flow - 1) for k in range(len(shown))],
            [at(rows, control=control, kind=kind)[f"u{flow}"].to_list() for control, kind in shown],
            colour,
            width=0.25,
            paper=[PAPER[flow] if control == "stcp" else None for control, _ in shown],
            label=f"{STCP[flow]} ms",
        )
    names = [KINDS[kind] if control == "stcp" else "HSTCP,\nto compare" for control, kind in shown]
    left.set_xticks(range(len(shown)), names)
    left.grid(visible=False, axis="x")
    left.set(ylabel="share of the link (%)", ylim=(0, 100))
    plots.note(left, "black lines: the paper", (0.98, 0.95), ha="right", va="top")
    seeds = at(rows, control="stcp", kind="drawn")
    lead = (
        seeds["early0"] / seeds.select(pl.max_horizontal("early1", "early2")).to_series()
    ).to_list()
    right.plot(
        lead, 100 * seeds["u0"], plots.marker("stcp"), color=plots.colour("stcp"), markersize=7
    )
    right.axvline(1, color="#222222", linestyle=plots.DOTTED, linewidth=1.2)
    right.set(
        xscale="log", xlabel="window of 120 ms at 50 s over the larger of the others",
        ylabel="share of 120 ms, 50 to 200 s (%)", ylim=(0, 100),
        xlim=(min(0.005, 0.7 * min(lead)), max(20.0, 1.5 * max(lead))),
    )  # fmt: skip
    right.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    plots.note(right, "a point for each run of STCP, starts drawn", (0.03, 0.95), va="top")
    plots.legend(figure, left)
    return figure
