"""How the pictures look: colours, axes, titles, legends, files."""

from __future__ import annotations

import io
import os
from functools import partial
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context, rcParams
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from longfat import foreign
from longfat._fork import need_threads

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.axes._secondary_axes import SecondaryAxis

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
_MARGIN = 0.25
_HEADING, _DETAIL = 0.3, 0.22
"""Inches from line to line of a title."""
_LONGEST_SVG = 1_000_000
"""A notebook keeps no longer pictures as SVG."""

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
    # Text stays text: fonts are embedded in PDF as TrueType (42), and SVG names them.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
}


def applied() -> AbstractContextManager[None]:
    """Applies the style within a `with` block.

    Raises:
        ForkError: This process is a fork without threads, which tables need that are drawn.
    """
    need_threads()
    return rc_context(_STYLE)


def use() -> None:
    """Applies the style to all that is drawn from here on: for notebooks and scripts."""
    rcParams.update(_STYLE)


class Picture(Figure):
    """A figure that is written in the house style whoever writes it, and that a notebook shows."""

    def savefig(self, fname: Any, **options: Any) -> None:  # noqa: ANN401 - as matplotlib has them
        """Writes the picture, without a date, so that the same picture is the same bytes.

        Args:
            fname: A path, of which the suffix selects the format, or a file.
            options: Those of matplotlib.

        Raises:
            ValueError: There is no such format.
            OSError: The file cannot be written.
        """
        suffix = Path(fname).suffix.lower() if isinstance(fname, (str, os.PathLike)) else ""
        kind = str(options.get("format") or suffix).lstrip(".")
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        options.setdefault("metadata", undated.get(kind))
        with applied():
            super().savefig(fname, **options)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        """What a notebook shows: the picture as PNG, and as SVG unless that is long."""
        shown: dict[str, Any] = {}
        for mime, kind in (("image/png", "png"), ("image/svg+xml", "svg")):
            if (include and mime not in include) or (exclude and mime in exclude):
                continue
            file = io.BytesIO()
            self.savefig(file, format=kind)
            if kind == "png":
                shown[mime] = file.getvalue()
            elif len(file.getvalue()) <= _LONGEST_SVG:
                shown[mime] = file.getvalue().decode()
        return shown


def figure(width: float, height: float, head: float) -> Figure:
    """An empty figure, sized in hundreds of pixels, with `head` of them at the top for titles."""
    made = Picture(figsize=(width, height), dpi=100)
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
    drawn.savefig(path)


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


def large_numbers(axes: Axes | SecondaryAxis) -> None:
    """Labels 20 000 as 20 k."""
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))


def thousands(value: float, _place: int | None = None) -> str:
    """A number on an axis: 20 000 as 20 k, and 0.05 as it is.

    >>> thousands(20_000), thousands(0.05), thousands(-2.5e6), thousands(0)
    ('20 k', '0.05', '−2.5 M', '0')
    """
    sign = "−" if value < 0 else ""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{sign}{abs(value) / size:g}{letter}"
    return f"{sign}{abs(value):g}"


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


def figure_legend(drawn: Figure, axes: Axes) -> None:
    """Names the lines of a panel above the heads of columns, for all panels of a figure."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        height = drawn.get_figheight()
        drawn.legend(
            handles,
            labels,
            loc="center left",
            bbox_to_anchor=(drawn.subplotpars.left, drawn.subplotpars.top + 0.98 / height),
            ncols=len(handles),
            fontsize=10,
            handlelength=1.2,
            columnspacing=1.4,
            borderaxespad=0,
            borderpad=0,
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
    large_numbers(other)


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
        note(axes, label, _ALARM)


def note(axes: Axes, text: str, colour: str = _FAINT) -> None:
    """Writes a few words above a panel, at the left."""
    axes.annotate(
        text,
        (0, 1),
        xytext=(0, 2),
        xycoords="axes fraction",
        textcoords="offset points",
        color=colour,
        fontsize=9,
    )


def title(drawn: Figure, heading: str, detail: str) -> None:
    """Writes a heading with fainter text below it, at the left; neither may hold formulas.

    What is too long for the width goes on in another line, and the figure grows by it.
    """
    left = drawn.subplotpars.left
    room = (1 - left) * drawn.get_figwidth() - _MARGIN
    bold: dict[str, Any] = {"fontsize": 16, "fontweight": "bold"}
    faint: dict[str, Any] = {"fontsize": 11, "color": _FAINT}
    headings, details = _lines(heading, room, 16, "bold"), _lines(detail, room, 11)
    below = _HEADING * (len(headings) - 1)
    _grow(drawn, below + _DETAIL * (len(details) - 1))
    height = drawn.get_figheight()
    for place, line in enumerate(headings):
        drawn.text(left, 1 - (0.33 + _HEADING * place) / height, line, va="center", **bold)
    for place, line in enumerate(details):
        drawn.text(left, 1 - (0.64 + below + _DETAIL * place) / height, line, va="center", **faint)


def _lines(text: str, room: float, size: float, weight: str = "normal") -> list[str]:
    """A text in lines that are no wider than so many inches, broken between words."""
    lines: list[str] = []
    for word in foreign.drawn(text).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _width(longer, size, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return [fitted(line, room, size, weight) for line in lines]


def fitted(text: str, room: float, size: float, weight: str = "normal") -> str:
    """A text cut to so many inches, with an ellipsis."""
    if _width(text, size, weight) <= room:
        return text
    while len(text) > 1 and _width(f"{text}…", size, weight) > room:
        text = text[:-1]
    return f"{text}…"


def _width(text: str, size: float, weight: str) -> float:
    """The inches that a text takes."""
    font = FontProperties(size=size, weight=weight)
    points, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(points) / 72


def _grow(drawn: Figure, inches: float) -> None:
    """Makes a figure higher; what it gains is above its panels."""
    if inches <= 0:
        return
    before, pars = drawn.get_figheight(), drawn.subplotpars
    height = before + inches
    drawn.set_figheight(height)
    drawn.subplots_adjust(
        top=1 - ((1 - pars.top) * before + inches) / height, bottom=pars.bottom * before / height
    )


def column_title(axes: Axes, heading: str, detail: str) -> None:
    """Writes a heading above a column of panels, with fainter lines below it; neither may hold formulas."""
    room = axes.get_position().width * axes.figure.get_figwidth()  # type: ignore[union-attr]
    heading = fitted(foreign.drawn(heading), room, 13, "bold")
    detail = foreign.drawn(detail)
    panel: dict[str, Any] = {
        "xy": (0, 1),
        "xycoords": "axes fraction",
        "textcoords": "offset points",
    }
    axes.annotate(heading, xytext=(0, 38), fontsize=13, fontweight="bold", **panel)
    axes.annotate(detail, xytext=(0, 8), fontsize=10, color=_FAINT, linespacing=1.35, **panel)
