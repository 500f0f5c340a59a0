"""Section III: three STCP flows."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import bars, colours, note
from longfat.paper import Answer, Experiment, Measured, Point, Row, Scale, per_seed, plots
from setting import STCP, dumbbell, shares

FIGURE = Experiment(
    id="stcp",
    title="Three STCP flows: one takes nearly all",
    question="Is STCP less fair to round trips than HSTCP?",
)
PAPER = (91, 2.73, 0.77)


def points(scale: Scale) -> Iterator[Point]:
    """The paper's round trips, with STCP and, at the quick scale, with HSTCP to compare."""
    for control in ("stcp", "hstcp") if scale == "quick" else ("stcp",):
        yield dumbbell(scale, control, STCP, control=control)


def measure(run: Measured) -> Row:
    """Shares and the index."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The paper's three numbers, and the comparison, run by run."""
    answers: dict[str, Answer] = {
        "stcp/first": per_seed(rows, "u0", control="stcp"),
        "stcp/second": per_seed(rows, "u1", control="stcp"),
        "stcp/third": per_seed(rows, "u2", control="stcp"),
        "stcp/index": per_seed(rows, "jain", control="stcp"),
    }
    if "hstcp" in rows["control"]:
        index = rows.pivot(on="control", index="seed", values="jain")
        answers["stcp/more-severe"] = per_seed(index, pl.col("stcp") - pl.col("hstcp"))
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
