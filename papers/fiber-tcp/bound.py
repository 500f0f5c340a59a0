"""Section III: the lower bound on the marking probability, measured where RED holds the flow."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import fiber, single

FIGURE = Experiment(
    id="bound",
    title="Marks per packet on 100 Mbit/s, against alpha",
    question="Is the marking probability never below alpha?",
)
RED = {"kind": "red", "min": "0.1 bdp", "max": "2 bdp", "max_p": 0.05}
JUDGED = 1e-3


def points(_: Scale) -> Iterator[Point]:
    """Values of alpha; a reaction to every mark, and one per window. The buffer is too large for drops."""
    for alpha in (3e-4, 1e-3, 3e-3):
        for reaction in ("every mark", "per window"):
            scenario = single(
                fiber(alpha, per_mark=reaction == "every mark"),
                queue=RED,
                loss=0.0,
                duration_s=400,
                warmup_s=200,
                initial_threshold=800,
            )
            scenario["link"]["bottleneck"]["buffer"] = "4 bdp"
            labels = {"alpha": alpha, "reaction": reaction}
            yield Point(scenario, labels={**labels, "warmup_s": 200}, seeds=5)
            if reaction == "every mark" and alpha == 3e-3:
                short = {**scenario, "duration": "100 s", "warmup": "20 s"}
                yield Point(short, labels={**labels, "warmup_s": 20}, seeds=5)


def measure(run: Measured) -> Row:
    """Reductions per packet, and what theory expects."""
    (flow,) = run.flows()
    window, alpha = flow["window_mean"], run.labels["alpha"]
    p = flow["congestion_events"] / run.link()["arrived"]
    fluid = alpha + 2 / window**2
    return {
        "p": p,
        "window": window,
        "over_alpha": p / alpha,
        "over_fluid": p / ((1 - p) * fluid),
        "over_answering": p / (fluid / (1 + alpha * window)),
        "marks_over_alpha": run.link()["mark_rate"] / alpha,
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """With a reaction to every mark at all alpha; per window at one."""
    every = at(rows, reaction="every mark", warmup_s=200)
    farthest = pl.col("over_fluid").sort_by((pl.col("over_fluid") - 1).abs()).last()
    return {
        "bound/per-mark": per_seed(every, pl.col("over_alpha").min()),
        "bound/per-mark/law": per_seed(every, farthest),
        "bound/per-window": per_seed(rows, "over_alpha", alpha=JUDGED, reaction="per window"),
        "bound/answering": per_seed(rows, "over_answering", alpha=JUDGED, reaction="per window"),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """How far below alpha the bound is by the law, and what a short run seems to say."""
    every = at(rows, reaction="every mark", alpha=3e-3)
    return {
        "bound/deficit": 3e-3 / (1 + 3e-3),
        "bound/short": per_seed(every, "over_alpha", warmup_s=20),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Reductions over alpha; the line at 1 is alpha itself."""
    rows = at(rows, warmup_s=200)
    figure, axes = plots.grid(1, 1, height=5.2)
    panel = axes[0, 0]
    plots.over(panel, rows, x="alpha", y="over_alpha", by="reaction", log=True)
    alphas = sorted(rows["alpha"].unique())
    panel.set_xticks(alphas, [f"{alpha:g}" for alpha in alphas])
    panel.axhline(1, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    law = at(rows, reaction="per window").group_by("alpha").agg(pl.col("window").mean())
    law = law.sort("alpha")
    panel.plot(
        law["alpha"], 1 / (1 + law["alpha"] * law["window"]), color="#222222",
        linestyle=plots.DOTTED, label="1/(1 + alpha w)",
    )  # fmt: skip
    panel.set(xlabel="alpha", ylabel="reductions per packet, over alpha", ylim=(0, 1.3))
    plots.legend(figure, panel)
    return figure
