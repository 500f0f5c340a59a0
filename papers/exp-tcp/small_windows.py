"""Figure 3 where windows are small: EXP-TCP and STCP made faster or slower, paced and not."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import both_directions, dumbbell, paced_or_not

FIGURE = Experiment(
    id="small-windows",
    title="Windows near 20, and growth that varies",
    question="Why does STCP use more of the link than EXP-TCP where windows are small?",
)
VARIANTS: Mapping[str, tuple[str, dict[str, Any] | None, bool | None]] = {
    "EXP-TCP": ("exp", None, None),
    "EXP-TCP, γ = 0.03": ("exp", {"kind": "exp", "gamma": 0.03}, None),
    "EXP-TCP, not paced": ("exp", None, False),
    "STCP": ("stcp", None, None),
    "STCP, a = 0.015": ("stcp", {"kind": "stcp", "a": 0.015}, None),
    "STCP, a = 0.02": ("stcp", {"kind": "stcp", "a": 0.02}, None),
    "STCP, no legacy window": ("stcp", {"kind": "stcp", "legacy_window": 0}, None),
    "STCP, paced": ("stcp", None, True),
}
"""A controller, its law where it is not that of the figure, and whether it paces where that is changed."""


def points(scale: Scale) -> Iterator[Point]:
    """256 flows each way at 500 Mbit/s, or a quarter of both."""
    full = scale == "full"
    for variant, (control, law, paced) in VARIANTS.items():
        changes: dict[str, Any] = {} if full else {"duration": "60 s"}
        if paced is not None:
            changes |= paced_or_not(control, ("forward", "backward"), paced=paced)
        yield dumbbell(
            500e6 if full else 125e6,
            control,
            flows=256 if full else 64,
            law=law,
            set=changes,
            variant=variant,
        )


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions."""
    return both_directions(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Variants run by run."""
    used = across(rows.drop("control"), "variant", "utilisation", keep=[])
    signals = across(rows.drop("control"), "variant", "signal_rate", keep=[])

    def more(one: str, other: str) -> list[float | None]:
        return per_seed(used, (pl.col(one) - pl.col(other)).first())

    return {
        "small-windows/stcp/more": more("STCP", "EXP-TCP"),
        "small-windows/stcp/faster": more("STCP, a = 0.02", "STCP"),
        "small-windows/stcp/as-fast": more("EXP-TCP", "STCP, a = 0.02"),
        "small-windows/exp/slower": more("EXP-TCP, γ = 0.03", "EXP-TCP"),
        "small-windows/exp/signals": per_seed(
            signals, (pl.col("EXP-TCP") / pl.col("STCP")).first()
        ),
        "small-windows/pacing": more("STCP, paced", "STCP"),
        "small-windows/legacy": more("STCP, no legacy window", "STCP"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """What is left unused, and how many packets are dropped or marked, a line for each variant."""
    figure, axes = plots.grid(1, 2, width=12, height=5.4, sharey=True)
    figure.subplots_adjust(left=0.2)
    for place, (variant, (control, *_)) in enumerate(VARIANTS.items()):
        part = at(rows, variant=variant)
        colour = plots.colour(control)
        for panel, values in zip(
            axes[0],
            (100 * (1 - part["utilisation"]), 100 * part["signal_rate"]),
            strict=True,
        ):
            middle, half = plots.mean_and_half(values.to_list())
            panel.errorbar(
                middle,
                -place,
                xerr=half,
                color=colour,
                marker=plots.marker(control),
                markersize=7,
                capsize=3,
            )
    for panel in axes[0]:
        panel.set_yticks([-place for place in range(len(VARIANTS))], list(VARIANTS))
        panel.set_xlim(left=0)
        panel.grid(visible=False, axis="y")
    axes[0, 0].set_xlabel("link not used (%)")
    axes[0, 1].set_xlabel("packets dropped or marked (%)")
    return figure
