"""Section III.A and the conclusion: the modified flow beside TCP on 10 Mbit/s, packet by packet."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

import longfat
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Computation, Measured, Point, Row
from shared import QUEUES, fiber, single

FIGURE = Experiment(
    id="friendliness",
    title="The modified flow beside TCP on 10 Mbit/s",
    question="What does TCP get beside the modified controller where links are slow?",
)
RATE = 1e7
ALPHAS = (0.0, 2e-6, 2e-5, 1e-4)
"""TCP itself; the paper's example for 10 Mbit/s; a tenth of TCP's loss rate there; that of section IV."""


def pair(alpha: float, queue: str) -> dict[str, Any]:
    """Both flows, with the same round trip; jitter at the hosts undoes phase effects."""
    scenario = single(
        fiber(alpha) if alpha else "reno", rate_bit_s=RATE, queue=QUEUES[queue], loss=0.0, duration_s=600,
        warmup_s=100, name="modified", host_jitter="1.2 ms",
    )  # fmt: skip
    (modified,) = scenario["flow"]
    scenario["flow"].append({**modified, "name": "tcp", "control": "reno"})
    return scenario


def points(scale: Scale) -> Iterator[Point | Computation]:
    """Packets with both queues; and the model in which both flows always lose together."""
    for alpha in ALPHAS:
        for queue in QUEUES:
            yield Point(
                pair(alpha, queue), labels={"queue": queue, "alpha": alpha},
                seeds=10 if scale == "quick" else 20,
            )  # fmt: skip
        yield Computation(
            {"queue": "together", "alpha": alpha}, together, {"scenario": pair(alpha, "drop-tail")}
        )


def together(scenario: dict[str, Any]) -> float:
    """The ratio of the mean windows where every loss hits both flows."""
    for flow in scenario["flow"]:
        del flow["host_jitter"]
        flow["initial_threshold"] = 40
    flows = longfat.fluid(scenario, model="synchronised").summary["flows"]
    return float(flows[0]["window_mean"] / flows[1]["window_mean"])


def measure(run: Measured) -> Row:
    """Rates of both, and their ratio."""
    if not run.summary:
        return {"ratio": run.value}
    (modified,), (tcp,) = run.flows("modified"), run.flows("tcp")
    rates = {"modified": modified["goodput_bit_s"], "tcp": tcp["goodput_bit_s"]}
    return {**rates, "ratio": rates["modified"] / rates["tcp"]}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Ratios of rates, and what TCP keeps of what it has beside another TCP."""
    answers: dict[str, Answer] = {}
    for queue in QUEUES:
        beside = at(rows, queue=queue)
        answers[f"friendliness/{queue}"] = per_seed(beside, "ratio", alpha=2e-6)
        tcp = beside.group_by("seed", maintain_order=True).agg(
            kept=pl.col("tcp").filter(pl.col("alpha") == 1e-4).first()
            / pl.col("tcp").filter(pl.col("alpha") == 0.0).first()
        )
        answers[f"friendliness/reasonable/{queue}"] = per_seed(tcp, "kept")
        model = float(at(rows, queue="together", alpha=1e-4)["ratio"][0])
        answers[f"friendliness/together/{queue}"] = per_seed(
            beside, pl.col("ratio") / model, alpha=1e-4
        )
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Rates of both against alpha."""
    figure, axes = plots.grid(1, 2, sharey=True, height=5.2)
    names = ["0", "2e-6", "2e-5", "1e-4"]
    for panel, queue in zip(axes[0], QUEUES, strict=True):
        for control, column in (("fiber", "modified"), ("reno", "tcp")):
            found = [
                plots.mean_and_half(at(rows, queue=queue, alpha=alpha)[column].to_list())
                for alpha in ALPHAS
            ]
            panel.errorbar(
                range(len(ALPHAS)), [mean / 1e6 for mean, _ in found],
                yerr=[half / 1e6 for _, half in found], color=plots.colour(control),
                marker=plots.marker(control), markersize=7, linewidth=1.6, capsize=3,
                label=plots.name(control),
            )  # fmt: skip
        panel.set_xticks(range(len(ALPHAS)), names)
        panel.annotate(queue, (0.98, 0.04), xycoords="axes fraction", ha="right", fontweight="bold")
        panel.set(xlabel="alpha; 0 is another TCP", ylim=(0, 6))
    axes[0, 0].set(ylabel="goodput (Mbit/s)")
    plots.legend(figure, axes[0, 0])
    return figure
