"""Fluid against packets: mean windows under independent losses, and what the mean field misses."""

from collections.abc import Iterator
from typing import Literal

import polars as pl
from matplotlib.figure import Figure

import longfat
from longfat.paper import Answer, Experiment, Scale, across, per_seed, plots
from longfat.study import Computation, Measured, Point, Row
from shared import fiber, single

FIGURE = Experiment(
    id="jumps",
    title="Mean windows of the two fluid readings, over that of packets",
    question="How far can the fluid be trusted under random losses?",
)
CONTROLS = ("reno", "fiber", "hstcp", "stcp", "exp")
LOSSES = {"quick": (1e-3,), "full": (1e-3, 1e-4)}
MODELS = ("packets", "hybrid", "mean-field")
SEEDS = {"stcp": 40, "exp": 30}
"""The controllers whose windows vary most; others have 10 seeds, and all have 4 where losses are rare."""


def scenario(control: str, loss: float) -> dict[str, object]:
    """A link that never fills, long enough for hundreds of losses."""
    window = {"reno": 41, "fiber": 47, "hstcp": 44, "stcp": 76, "exp": 80}[control] * (
        1e-3 / loss
    ) ** 0.9
    duration = (1500 if loss == 1e-3 else 500) / loss / window * 0.1
    return single(
        fiber(loss / 5) if control == "fiber" else control,
        rate_bit_s=1e10,
        loss=loss,
        duration_s=round(duration),
        warmup_s=round(duration / 6),
    )


def points(scale: Scale) -> Iterator[Point | Computation]:
    """Packets, and both readings of the laws; the mean field is deterministic."""
    for loss in LOSSES[scale]:
        for control in CONTROLS:
            source = scenario(control, loss)
            labels = {"control": control, "loss": loss}
            seeds = SEEDS.get(control, 10) if loss == 1e-3 else 4
            yield Point(source, labels={**labels, "model": "packets"}, seeds=seeds)
            for model in ("hybrid", "mean-field"):
                yield Computation(
                    {**labels, "model": model}, window, {"source": source, "model": model},
                    seeds=seeds,
                )  # fmt: skip


def window(source: dict[str, object], model: Literal["hybrid", "mean-field"], seed: int) -> float:
    """The mean window of the fluid."""
    found = longfat.fluid(source, seed=seed, model=model, price="loss")
    return float(found.summary["flows"][0]["window_mean"])


def measure(run: Measured) -> Row:
    """The mean window."""
    return {"window": run.flows()[0]["window_mean"] if run.summary else run.value}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Hybrid over packets; Reno's constant."""
    wide = across(rows, "model", "window", keep=["control", "loss"], loss=1e-3)
    answers: dict[str, Answer] = {
        f"jumps/{control}": per_seed(wide, pl.col("hybrid") / pl.col("packets"), control=control)
        for control in CONTROLS
    }
    answers["jumps/reno/theory"] = per_seed(
        wide, pl.col("packets") * pl.col("loss").sqrt(), control="reno"
    )
    answers["jumps/stcp/theory"] = per_seed(
        wide, pl.col("packets") * pl.col("loss"), control="stcp"
    )
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """A group for each controller, with a place for each loss."""
    figure, axes = plots.grid(1, 1, height=5.2)
    panel = axes[0, 0]
    losses = sorted(rows["loss"].unique(), reverse=True)
    places = {(c, p): 2 * i + 0.8 * j for i, c in enumerate(CONTROLS) for j, p in enumerate(losses)}
    wide = across(rows, "model", "window", keep=["control", "loss"])
    for model, sign, tint in (("hybrid", "o", "#0072B2"), ("mean-field", "s", "#D55E00")):
        ratios = wide.with_columns((pl.col(model) / pl.col("packets")).alias("ratio"))
        for index, ((control, loss), place) in enumerate(places.items()):
            values = per_seed(ratios, "ratio", control=control, loss=loss)
            known = [value for value in values if value is not None]
            middle = sum(known) / len(known)
            panel.plot([place] * len(known), known, sign, color=tint, alpha=0.3, markersize=4)
            panel.plot(
                place, middle, sign, color=tint, markersize=9, label=model if index == 0 else None
            )
    panel.axhspan(0.95, 1.05, color="#f0efe6", linewidth=0, zorder=0)
    panel.axhline(1, color=plots.FAINT, linewidth=1)
    names = [f"{plots.name(c)}\np = {p:g}" for c, p in places]
    panel.set_xticks(list(places.values()), names)
    panel.set(ylabel="mean window over that of packets", ylim=(0.8, 1.5))
    plots.legend(figure, panel)
    return figure
