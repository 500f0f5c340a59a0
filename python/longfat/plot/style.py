"""How the pictures look: colours, axes, titles, legends, files."""

from __future__ import annotations

from functools import partial
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from longfat import foreign

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#8C6D00",
    "#4D4D4D",
    "#E69F00",
)
"""The palette of Okabe and Ito, which readers with any colour vision can tell apart; the yellow is darkened."""

LINK_COLOURS = ("#333333", "#E69F00", "#56B4E9", "#CC79A7", "#009E73", "#D55E00")
"""For links, so that a single link is not mistaken for the first flow."""

_INK = "#222222"
_FAINT = "#6b6b6b"
_GRID = "#e4e4e4"
_ALARM = "#B00020"
_WARMUP = "#f1f1ee"

_STEPS = [1, 2, 2.5, 5, 10]

_STYLE: Any = {
    "font.size": 11,
    "axes.edgecolor": "#9a9a9a",
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "lines.solid_capstyle": "round",
    "text.color": _INK,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "legend.frameon": False,
    # The same figure is written as the same bytes.
    "svg.hashsalt": "longfat",
}


def applied() -> AbstractContextManager[None]:
    """Applies the style within a `with` block."""
    return rc_context(_STYLE)


def figure(width: float, height: float, head: float) -> Figure:
    """An empty figure, sized in hundreds of pixels, with `head` of them at the top for titles."""
    made = Figure(figsize=(width, height), dpi=100)
    made.subplots_adjust(
        left=0.9 / width,
        right=1 - 0.85 / width,
        bottom=0.6 / height,
        top=1 - head / height,
        hspace=0.16,
        wspace=0.08,
    )
    return made


def save(drawn: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a picture; the suffix of the path selects the format.

    Raises:
        ValueError: There is no such format.
        OSError: The file cannot be written.
    """
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with applied():
        drawn.savefig(path, metadata=undated.get(Path(path).suffix.lower()))


def panel(axes: Axes, warmup: float, duration: float) -> None:
    """Sets what all panels share: the time axis, the shaded warm-up, few ticks."""
    axes.set_xlim(0, duration)
    axes.tick_params(length=0)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
    if warmup > 0:
        axes.axvspan(0, warmup, color=_WARMUP, linewidth=0, zorder=0)


def name_warmup(axes: Axes, warmup: float, duration: float) -> None:
    """Labels the shaded warm-up, if it is wide enough."""
    if warmup > duration / 12:
        axes.annotate(
            "warm-up",
            (warmup / 2, 0.97),
            xycoords=axes.get_xaxis_transform(),
            ha="center",
            va="top",
            color=_FAINT,
            fontsize=9,
        )


def large_numbers(axes: Axes) -> None:
    """Labels 20 000 as 20 k."""
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))


def legend(axes: Axes) -> None:
    """Names the lines above the panel, in one row."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1, 0.99),
            ncols=len(handles),
            fontsize=10,
            handlelength=1.2,
            columnspacing=1.4,
            borderaxespad=0,
        )


def second_scale(axes: Axes, factor: float, label: str) -> None:
    """Repeats the axis on the right, in other units."""
    other = axes.secondary_yaxis(
        "right", functions=(partial(mul, factor), partial(mul, 1 / factor))
    )
    other.set_ylabel(label, color=_FAINT)
    other.tick_params(length=0)
    other.spines["right"].set_visible(False)
    other.yaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
    other.yaxis.set_major_formatter(EngFormatter(sep=" "))


def rug(axes: Axes, times: Sequence[float], label: str) -> None:
    """Draws short marks at the top of a panel, at the times of something bad."""
    if times:
        axes.vlines(
            times,
            0.95,
            1.0,
            transform=axes.get_xaxis_transform(),
            color=_ALARM,
            linewidth=1.0,
        )
        axes.annotate(
            label,
            (0, 1),
            xytext=(0, 2),
            xycoords="axes fraction",
            textcoords="offset points",
            color=_ALARM,
            fontsize=9,
        )


def title(drawn: Figure, heading: str, detail: str) -> None:
    """Writes a heading with a fainter line below it, at the left; neither may hold formulas."""
    heading, detail = foreign.drawn(heading), foreign.drawn(detail)
    left, height = drawn.subplotpars.left, drawn.get_figheight()
    drawn.text(left, 1 - 0.33 / height, heading, fontsize=16, fontweight="bold", va="center")
    drawn.text(left, 1 - 0.64 / height, detail, fontsize=11, color=_FAINT, va="center")


def column_title(axes: Axes, heading: str, detail: str) -> None:
    """Writes a heading above a column of panels, with fainter lines below it; neither may hold formulas."""
    heading, detail = foreign.drawn(heading), foreign.drawn(detail)
    panel: dict[str, Any] = {
        "xy": (0, 1),
        "xycoords": "axes fraction",
        "textcoords": "offset points",
    }
    axes.annotate(heading, xytext=(0, 38), fontsize=13, fontweight="bold", **panel)
    axes.annotate(detail, xytext=(0, 8), fontsize=10, color=_FAINT, linespacing=1.35, **panel)
