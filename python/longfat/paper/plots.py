"""Pictures of papers: one look, one colour for each controller, in all rooms.

    figure, axes = grid(rows=1, columns=3)
    for panel in axes.flat: ...
    over(axes[0, 0], rows, x="rate_bit_s", y="utilisation", by="control", log=True)

Titles are set by the runner: experiment, paper, scale, seeds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.container import ErrorbarContainer
from matplotlib.ticker import FuncFormatter, NullLocator

from longfat.paper._files import aggregate
from longfat.paper._looks import colour, looks, marker, name
from longfat.paper._select import at
from longfat.plot import style
from longfat.plot._intervals import reach
from longfat.study._statistics import estimate
from longfat.units import RATE, parts, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.paper._room import Experiment

__all__ = [
    "DASHED",
    "DOTTED",
    "FAINT",
    "colour",
    "envelope",
    "expected",
    "geometric",
    "grid",
    "head",
    "kind_of",
    "legend",
    "looks",
    "marker",
    "mean_and_half",
    "name",
    "never",
    "note",
    "over",
    "rates",
    "series",
    "shows",
    "times",
]
"""What rooms use."""

_SHOWN: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()
"""What the curves of a picture are, where they are not means."""

_HEAD = 1.35
_MOST_POINTS = 400
_ASIDE = 0.012
"""How far apart coinciding lines are drawn on a logarithmic axis, in decades."""

_SAME_PLACE = 1e-9

FAINT = "#6b6b6b"
"""Colour of what stays in the background: remarks and reference lines."""
DOTTED = (0, (2, 2))
"""Dashes for what theory or the paper expects."""
DASHED = (0, (4, 3))
"""Dashes for a bound: a capacity, a limit."""
_EXPECTED = "#f0efe6"


def grid(
    rows: int = 1,
    columns: int = 1,
    *,
    width: float = 12.0,
    height: float | None = None,
    sharex: bool | Literal["none", "all", "row", "col"] = False,
    sharey: bool | Literal["none", "all", "row", "col"] = False,
) -> tuple[Figure, np.ndarray[Any, Any]]:
    """A figure with `rows` times `columns` panels, and space for titles and a legend above.

    Args:
        rows: Panels above each other.
        columns: Panels side by side.
        width: In hundreds of pixels.
        height: In hundreds of pixels; by default 3.4 for each row.
        sharex: As in `Figure.subplots`.
        sharey: As in `Figure.subplots`.

    Returns:
        The figure, and its panels as a two-dimensional array.
    """
    tall = (3.4 * rows + _HEAD + 0.6) if height is None else height
    figure = style.figure(width, tall, _HEAD)
    figure.subplots_adjust(right=1 - 0.25 / width, wspace=0.28, hspace=0.32)
    if sharex in (True, "col"):
        figure.subplots_adjust(hspace=0.14)
    if sharey in (True, "row"):
        figure.subplots_adjust(wspace=0.08)
    axes = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
    for panel in axes.flat:
        panel.tick_params(length=0)
    return figure, axes


def over(
    panel: Axes,
    rows: pl.DataFrame,
    *,
    x: str,
    y: str,
    by: str = "control",
    log: bool = False,
    percent: bool = False,
    **labels: object,
) -> None:
    """Draws means over seeds with their 95 % intervals against a label, one line per controller.

    Args:
        panel: Where.
        rows: The rows of an experiment.
        x: The label along the axis, which is a number.
        y: The measured column.
        by: The label that distinguishes the lines; controllers have their own colours and markers.
        log: Whether the axis of `x` is logarithmic.
        percent: Whether shares are drawn as percentages.
        labels: Only the rows with these labels.
    """
    chosen = at(rows, **labels) if labels else rows
    means = aggregate(chosen.select(by, x, "seed", y), [by, x]).sort(x)
    factor = 100.0 if percent else 1.0
    lines = list(means.group_by(by, maintain_order=True))
    styles = looks([str(key[0]) for key, _ in lines], by)
    for index, (_, line) in enumerate(lines):
        half = line[f"{y}_half_width"].cast(float)
        middle = (factor * line[y].cast(float).fill_null(math.nan)).to_list()
        bars = reach(y, middle, (factor * half.fill_null(0)).to_list(), factor)
        # Side by side, so that lines which coincide can all be seen.
        aside = index - (len(lines) - 1) / 2
        where = line[x] * 10 ** (_ASIDE * aside) if log else line[x]
        panel.errorbar(
            where.to_list(),
            middle,
            yerr=None if half.null_count() == len(half) else bars,
            color=styles[index][0],
            marker=styles[index][1],
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            linewidth=1.6,
            elinewidth=1.1,
            capsize=3,
            label=styles[index][2],
            zorder=3 + index,
        )
    if log:
        panel.set_xscale("log")
        panel.set_xticks(sorted(means[x].unique().to_list()))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(style.thousands))
        panel.margins(x=0.06)


def rates(panel: Axes, values: Sequence[float] | None = None) -> None:
    """Labels an axis of rates 2.5 M, 10 M, …; the label of the axis has the unit."""
    ticks = list(panel.get_xticks()) if values is None else list(values)
    panel.set_xticks(ticks)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short_rate(value)))


def _short_rate(value: float) -> str:
    number, unit = parts(value, RATE)
    return f"{number} {unit.removesuffix('bit/s')}".strip()


def expected(
    panel: Axes, low: float | None = None, high: float | None = None, *, text: str = ""
) -> None:
    """Shades where the paper says the values lie; an open end reaches to the edge of the panel.

    To be called once the limits of the panel are set.
    """
    least, most = panel.get_ylim()
    bottom, top = least if low is None else low, most if high is None else high
    panel.axhspan(bottom, top, color=_EXPECTED, linewidth=0, zorder=0)
    panel.set_ylim(least, most)
    if text:
        panel.annotate(
            text,
            (0.99, bottom if low is not None else top),
            xycoords=panel.get_yaxis_transform(),
            xytext=(0, 3 if low is not None else -3),
            textcoords="offset points",
            ha="right",
            va="bottom" if low is not None else "top",
            fontsize=9,
            color=FAINT,
            zorder=1,
        )


def mean_and_half(values: Sequence[float]) -> tuple[float, float]:
    """The mean over the seeds and half of its 95 % interval; NaN, which is not drawn, if there is none."""
    known = estimate(list(values))
    mean, half = (math.nan if each is None else each for each in (known.mean, known.half_width))
    return mean, half


def geometric(values: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean over the seeds, and how far the interval of the logarithm goes below and above."""
    mean, half = mean_and_half(np.log(values).tolist())
    middle = float(np.exp(mean))
    return middle, middle * float(1 - np.exp(-half)), middle * float(np.exp(half) - 1)


def times(
    panel: Axes,
    rows: pl.DataFrame,
    *,
    x: str,
    y: str,
    by: str = "control",
    end: float,
    log: bool = False,
    **labels: object,
) -> None:
    """Draws how long something took, like `over`, where some runs end before it has happened.

    Such a run has null in the column `y`, and no place among the means: a point says below how many of its runs
    the mean is of, and where not a single run came so far an open arrow points up from the end of the runs.

    Args:
        panel: Where.
        rows: The rows of an experiment.
        x: The label along the axis, which is a number.
        y: The measured time; null where the run ended first.
        by: The label that distinguishes the lines.
        end: How long the runs were watched, in the unit of `y`.
        log: Whether the axis of `x` is logarithmic.
        labels: Only the rows with these labels.
    """
    chosen = at(rows, **labels) if labels else rows
    over(panel, chosen, x=x, y=y, by=by, log=log)
    places = chosen.select(by, x, y).sort(x, maintain_order=True)
    order = places[x].cast(float).unique().sort().to_list()
    groups = list(places.group_by(by, maintain_order=True))
    styles = looks([str(key[0]) for key, _ in groups], by)
    for index, (_, line) in enumerate(groups):
        tint = styles[index][0]
        aside = index - (len(groups) - 1) / 2
        for place in order:
            at_place = line.filter((line[x].cast(float) - place).abs() <= _SAME_PLACE * abs(place))
            reached = len(at_place) - at_place[y].null_count()
            if reached == len(at_place):
                continue
            where = place * 10 ** (_ASIDE * aside) if log else place
            if reached:
                middle = float(at_place[y].drop_nulls().cast(float).sum()) / reached
                told = f"{reached} of {len(at_place)}"
                _count(panel, (where, middle), told, tint, above=True)
            else:
                never(panel, (where, end), tint)


def never(
    panel: Axes, place: tuple[float, float], tint: str, *, along: Literal["x", "y"] = "y"
) -> None:
    """Marks a time that was not reached: an arrow from where the runs end, towards later.

    Args:
        panel: Where.
        place: The end of the runs, in the coordinates of the panel.
        tint: Its colour.
        along: The axis that has the time.
    """
    arrow = r"$\uparrow$" if along == "y" else r"$\rightarrow$"
    panel.plot(*([each] for each in place), marker=arrow, color=tint, markersize=11, zorder=9)
    _count(panel, place, "never", tint, above=along == "x")


def _count(
    panel: Axes, place: tuple[float, float], text: str, tint: str, *, above: bool = False
) -> None:
    panel.annotate(
        text,
        place,
        xytext=(0, 8 if above else -9),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        fontsize=8,
        color=tint,
        zorder=9,
    )


def note(
    panel: Axes,
    text: str,
    place: tuple[float, float] = (0.03, 0.04),
    ha: Literal["left", "right"] = "left",
    va: Literal["bottom", "top"] = "bottom",
) -> None:
    """Writes a faint remark inside a panel, at a place given in shares of its width and height."""
    panel.annotate(text, place, xycoords="axes fraction", fontsize=9, color=FAINT, ha=ha, va=va)


def legend(figure: Figure, panel: Axes) -> None:
    """Names the lines of a panel once for the whole figure, below the title."""
    handles, labels = panel.get_legend_handles_labels()
    handles = [each[0] if isinstance(each, ErrorbarContainer) else each for each in handles]
    height = figure.get_figheight()
    figure.legend(
        handles,
        labels,
        loc="center left",
        bbox_to_anchor=(figure.subplotpars.left - 0.008, 1 - (_HEAD - 0.32) / height),
        ncols=len(handles),
        fontsize=11,
        handlelength=1.8,
        columnspacing=1.8,
        borderaxespad=0,
    )


def series(
    panel: Axes,
    time: pl.Series,
    values: pl.Series,
    *,
    most: int = _MOST_POINTS,
    **style_: Any,  # noqa: ANN401 - what matplotlib takes
) -> None:
    """Draws a time series with few enough points for a small file: the extremes of each stretch.

    Args:
        panel: Where.
        time: The times, ascending.
        values: The values; nulls leave gaps.
        most: About how many points are drawn at most.
        style_: As for `Axes.plot`.
    """
    x, y = time.to_numpy(), values.cast(float).to_numpy()
    keep = envelope(y, most)
    panel.plot(x[keep], y[keep], **style_)


def envelope(values: np.ndarray[Any, Any], most: int) -> np.ndarray[Any, Any]:
    """Which values to draw, at most about `most`: the extremes of each stretch, the first and the last."""
    if len(values) <= most:
        return np.arange(len(values))
    kept = {0, len(values) - 1}
    for part in np.array_split(np.arange(len(values)), max(1, most // 2)):
        finite = part[np.isfinite(values[part])]
        if len(finite):
            kept |= {int(finite[values[finite].argmin()]), int(finite[values[finite].argmax()])}
    return np.array(sorted(kept))


def kind_of(figure: str) -> str | None:
    """What the paper calls an experiment, such as `Figure 2`; `None` if it is one of ours."""
    kind, _, number = figure.partition("-")
    return f"{kind.capitalize()} {number}" if kind in ("figure", "table") else None


def shows(figure: Figure, what: str) -> None:
    """Says what the curves of a picture are where they are not means over the seeds: `seed 1`.

    The runner writes it into the title.
    """
    _SHOWN[figure] = what


def head(
    figure: Figure,
    about: Experiment,
    slug: str,
    scale: str,
    seeds: Sequence[int],
    *,
    changes: str = "",
) -> None:
    """Writes the titles of a picture: what it shows; paper, figure and scale; how many seeds a point has.

    Args:
        figure: The picture.
        about: Its experiment.
        slug: The room.
        scale: `quick` or `full`.
        seeds: How many seeds each point has.
        changes: What was changed in the room, if anything was.
    """
    parts = [
        slug,
        *([] if kind_of(about.id) is None else [str(kind_of(about.id))]),
        f"{scale} scale",
    ]
    fewest, most = min(seeds, default=0), max(seeds, default=0)
    if figure in _SHOWN:
        parts.append(_SHOWN[figure])
    elif most == 1:
        parts.append("1 seed")
    elif most:
        number = plural(most, "seed") if fewest == most else f"{fewest} to {plural(most, 'seed')}"
        parts.append(f"mean of {number} with its 95 % interval")
    if changes:
        parts.append(f"changed: {changes}")
    with style.applied():
        style.title(figure, about.title, " · ".join(parts))
