"""Section III: three STCP flows."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import bars, colours, note
from longfat.paper import Answer, Experiment, Measured, Point, Row, Scale, at, per_seed, plots
from setting import MANY, STCP, dumbbell, shares, windows

FIGURE = Experiment(
    id="stcp",
    title="Three STCP flows: one takes nearly all",
    question="Is STCP less fair to round trips than HSTCP?",
)
PAPER = (91, 2.73, 0.77)
EARLY_S = 50.0


STARTS = {
    "drawn": "starts drawn from 20 s",
    "together": "all start at 0 s",
    "long": "600 s, not 200 s",
}


def points(scale: Scale) -> Iterator[Point]:
    """The paper's round trips, with STCP and, to compare, with HSTCP; and with one thing changed."""
    yield dumbbell(scale, "stcp", STCP, seeds=MANY[scale], control="stcp", kind="drawn")
    yield dumbbell(scale, "hstcp", STCP, seeds=MANY[scale] // 2, control="hstcp", kind="drawn")
    start = {"flow.fast.start": "0 s"}
    yield dumbbell(scale, "stcp", STCP, seeds=10, set=start, control="stcp", kind="together")
    if scale == "full":
        long = {"duration": "600 s", "warmup": "450 s"}
        yield dumbbell(scale, "stcp", STCP, seeds=10, set=long, control="stcp", kind="long")


def measure(run: Measured) -> Row:
    """Shares and the index; when each flow began, and its window after 50 s."""
    flows = run.flows("fast")
    found = [row["window"] for row in windows(run, 50.0) if row["time_s"] == EARLY_S]
    return (
        shares(run)
        | {f"start{i}": flow["start_s"] for i, flow in enumerate(flows)}
        | {f"early{i}": window for i, window in enumerate(found)}
    )


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The paper's three numbers, the comparison, run by run, and what decides who wins."""
    drawn = at(rows, kind="drawn")
    index = drawn.pivot(on="control", index="seed", values="jain")
    lead = pl.col("early0") / pl.max_horizontal("early1", "early2")
    ahead = at(drawn, control="stcp").with_columns(lead.alias("lead"))
    answers: dict[str, Answer] = {
        "stcp/first": per_seed(drawn, "u0", control="stcp"),
        "stcp/second": per_seed(drawn, "u1", control="stcp"),
        "stcp/third": per_seed(drawn, "u2", control="stcp"),
        "stcp/index": per_seed(drawn, "jain", control="stcp"),
        "stcp/more-severe": per_seed(index, pl.col("stcp") - pl.col("hstcp")),
        "stcp/together/first": per_seed(rows, "u0", kind="together"),
        "stcp/early": float(ahead.select(pl.corr("lead", "u0", method="spearman")).item()),
    }
    if "long" in rows["kind"]:
        answers["stcp/long/first"] = per_seed(rows, "u0", kind="long")
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Shares, with the paper's."""
    figure, axes = plots.grid(1, 1, height=5.2, width=9)
    panel = axes[0, 0]
    shown = [control for control in ("stcp", "hstcp") if control in rows["control"]]
    for flow, colour in enumerate(colours(3)):
        found = [
            rows.filter(pl.col("control") == control)[f"u{flow}"].to_list() for control in shown
        ]
        bars(
            panel, [k + 0.25 * (flow - 1) for k in range(len(shown))], found, colour, width=0.25,
            paper=[PAPER[flow]], label=f"{STCP[flow]} ms",
        )  # fmt: skip
    panel.set_xticks(range(len(shown)), ["STCP", "HSTCP, to compare"][: len(shown)])
    panel.grid(visible=False, axis="x")
    panel.set(ylabel="share of the link (%)", ylim=(0, 100))
    note(panel, "black lines: the paper", (0.98, 0.95), ha="right", va="top")
    plots.legend(figure, panel)
    return figure
