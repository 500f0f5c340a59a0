"""The picture of a study: a number against what varies, with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib import colormaps, rcParams

from longfat import foreign
from longfat.plot import style
from longfat.plot._across import LETTER, WIDE, Across
from longfat.plot._intervals import reach
from longfat.plot._labels import labels
from longfat.units import SECTIONS, STATISTICS, ruler, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.plot._subjects import Drawing

_ENGINE = "engine"
_DASHES: dict[str, Any] = {"packets": "-", "fluid": (0, (4, 2))}
_MARKERS = "os^Dv<>PX*hp"
_MORE = ("#7A3E9D", "#A0522D", "#2F4F9F", "#5F9E6E")
"""For more settings than the palette has colours."""
_MOST_COLUMNS = 3
_SLANTED = 0.95
"""The inches below panels that numbers need which are slanted."""
_LEGEND = 2.0
"""The inches beside panels that are there for a legend, at least."""


def study(
    chosen: Drawing, table: pl.DataFrame, keys: Sequence[str], spread: pl.DataFrame | None = None
) -> Figure:
    """Draws a number of a study: a line for each setting, with its 95 % intervals.

    Args:
        chosen: What is drawn.
        table: A row for each point: its keys, the number, and `…_half_width`.
        keys: What varies.
        spread: The same of the number along x, where that was measured and not set: then there are intervals
            both ways, and a line joins its points in the order of what varies along it, if that is one thing.

    Returns:
        A figure, with a panel for each value of `chosen.panel`.
    """
    with style.applied():
        return _study(chosen, table, keys, spread)


def _study(
    chosen: Drawing, table: pl.DataFrame, keys: Sequence[str], spread: pl.DataFrame | None
) -> Figure:
    x_size, x_label = None, chosen.x
    if spread is not None:
        table = table.with_columns(spread.select(chosen.x, f"{chosen.x}_half_width"))
        x_size, x_unit = _scale(chosen.x, table)
        x_label = _named(chosen.x, x_unit)
    panels = _values(table, chosen.panel)
    columns = min(len(panels), _MOST_COLUMNS)
    lines = math.ceil(len(panels) / columns)
    across = Across(table[chosen.x].to_list(), x_size)
    order = _order(chosen, table, keys)
    width = across.least_width if across.crowded else 4.6
    beside = _beside(chosen, table, keys)
    width = max(9.0, width * columns) + max(0.0, beside - _LEGEND)
    figure = style.figure(width, 1.4 + 4.4 * lines, head=1.15)
    figure.subplots_adjust(hspace=0.32, right=1 - 0.3 / figure.get_figwidth())
    if across.crowded:
        figure.subplots_adjust(bottom=1.7 / figure.get_figheight())
    elif across.slanted:
        figure.subplots_adjust(bottom=_SLANTED / figure.get_figheight())
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    headings = labels(panels, f"{chosen.panel} = ")
    colours = _values(table, chosen.colour)
    palette = _palette(colours)
    size, unit = _scale(chosen.y, table)
    for index, value in enumerate(panels):
        axes: Axes = grid[index // columns][index % columns]
        rows = table.rows(named=True)
        if chosen.panel is not None:
            rows = [row for row in rows if row[chosen.panel] == value]
            axes.set_title(foreign.drawn(headings[value]), loc="left", fontsize=10)
        _lines(axes, chosen, rows, keys, (across, order, palette, size))
        across.apply(axes)
        axes.tick_params(length=0)
        if index % columns == 0:
            axes.set_ylabel(foreign.drawn(_named(chosen.y, unit)))
        if index >= len(panels) - columns:
            axes.set_xlabel(foreign.drawn(x_label))
    for index in range(len(panels), lines * columns):
        grid[index // columns][index % columns].set_visible(False)
    _y_axis(grid[0][0], table, chosen, size)
    _legend(figure, chosen, table, palette, keys)
    _set_apart(figure, columns, across.between)
    across.thin_out(grid[0][0], figure)
    counts = [n for n in table[f"{chosen.y}_n"].to_list() if n]
    seeds = (
        f"{min(counts)} to {max(counts)}"
        if counts and min(counts) < max(counts)
        else (str(max(counts)) if counts else "no")
    )
    title = chosen.title or f"{_short(chosen.y)} against {_short(chosen.x)}"
    detail = f"means over {seeds} seeds, bars: 95 % intervals · {chosen.y}"
    if spread is not None:
        detail += f" against {chosen.x}"
        detail += f" · lines: in the order of {order}" if order in keys else ""
    style.title(figure, title, detail)
    return figure


def _set_apart(figure: Figure, columns: int, inches: float) -> None:
    """Sets panels so far apart that there are as many inches between the ticks of two of them."""
    pars = figure.subplotpars
    room = (pars.right - pars.left) * figure.get_figwidth()
    # With n panels a inches wide and gaps of w·a, the room is n·a + (n - 1)·w·a; the outer ticks of a panel are
    # m/(1 + 2m)·a from its edges.
    margin = rcParams["axes.xmargin"]
    inner = 2 * margin / (1 + 2 * margin)
    least = (inches * columns - room * inner) / (room - (columns - 1) * inches)
    if columns > 1 and least > pars.wspace:
        figure.subplots_adjust(wspace=least)


def _order(chosen: Drawing, table: pl.DataFrame, keys: Sequence[str]) -> str | None:
    """What joins the points of a line, in its order; `None` if nothing does.

    Along a number that was measured that is what varies along a line, if one thing tells its points apart. A
    number that follows from the settings is as good as one of them.
    """
    if chosen.x in keys:
        return chosen.x
    of_line = _apart(chosen, keys)
    if chosen.panel is not None:
        of_line.append(chosen.panel)
    for key in keys:
        if key in of_line or table[key].n_unique() == 1:
            continue
        if not table.select(*of_line, key).is_duplicated().any():
            return key
    sure = table[f"{chosen.x}_half_width"].fill_null(0.0) <= 1e-9 * table[chosen.x].abs()
    drawn = chosen.x.partition(".")[0] in SECTIONS or not sure.fill_null(value=True).all()
    return None if drawn else chosen.x


def _apart(chosen: Drawing, keys: Sequence[str]) -> list[str]:
    """The keys of which each value has a line of its own within a panel."""
    apart = [key for key in keys if key not in (chosen.x, chosen.panel)]
    if chosen.x in keys:
        return apart
    # Along a number that was measured, whatever has no colour of its own is on one line.
    return [key for key in apart if key in (chosen.colour, _ENGINE)]


def _lines(
    axes: Axes,
    chosen: Drawing,
    rows: list[dict[str, Any]],
    keys: Sequence[str],
    looks: tuple[Across, str | None, dict[Any, Any], float],
) -> None:
    across, order, palette, size = looks
    apart = _apart(chosen, keys)
    along = across if order == chosen.x else Across([row[order] for row in rows]) if order else None
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row[chosen.y] is not None:
            groups.setdefault(tuple(row[key] for key in apart), []).append(row)
    for some in groups.values():
        if along is not None and order is not None:
            some.sort(key=lambda row: along.at(row[order]))
        first = some[0]
        colour, marker = palette[first[chosen.colour] if chosen.colour else None]
        halves = [(row[f"{chosen.y}_half_width"] or 0.0) / size for row in some]
        xs = [across.at(row[chosen.x]) for row in some]
        ys = [row[chosen.y] / size for row in some]
        joined = along is not None and not across.crowded
        dashes = _DASHES.get(str(first.get(_ENGINE)), "-") if joined else ""
        axes.plot(
            xs, ys, color=colour, linestyle=dashes, marker=marker, linewidth=1.6, markersize=5
        )
        look: dict[str, Any] = {"color": colour, "fmt": "none", "elinewidth": 1.0, "capsize": 2.5}
        if any(halves):
            bars = reach(chosen.y, ys, halves, 1 / size)
            axes.errorbar(xs, ys, yerr=bars, **look)
        wide = [(row.get(f"{chosen.x}_half_width") or 0.0) / across.size for row in some]
        if any(wide):
            bars = reach(chosen.x, xs, wide, 1 / across.size)
            axes.errorbar(xs, ys, xerr=bars, **look)


def _palette(values: Sequence[Any]) -> dict[Any, tuple[Any, str]]:
    """A colour and a marker for each value; for many numbers, along a scale."""
    colours = (*style.COLOURS, *_MORE)
    if len(values) <= len(colours):
        return {value: (colours[index], _MARKERS[index]) for index, value in enumerate(values)}
    scale = colormaps["viridis"]
    return {
        value: (scale(0.9 * index / (len(values) - 1)), _MARKERS[index % len(_MARKERS)])
        for index, value in enumerate(values)
    }


def _legend(
    figure: Figure,
    chosen: Drawing,
    table: pl.DataFrame,
    palette: dict[Any, Any],
    keys: Sequence[str],
) -> None:
    from matplotlib.lines import Line2D

    handles = []
    if chosen.colour is not None:
        names = labels(list(palette))
        handles = [
            Line2D(
                [],
                [],
                color=palette[value][0],
                marker=palette[value][1],
                label=foreign.drawn(names[value]),
            )
            for value in palette
        ]
    if _ENGINE in keys and _ENGINE not in (chosen.colour, chosen.panel, chosen.x):
        handles += [
            Line2D([], [], color="#4d4d4d", linestyle=_DASHES[name], label=name)
            for name in _values(table, _ENGINE)
        ]
    if handles:
        width, beside = figure.get_figwidth(), _beside(chosen, table, keys)
        figure.legend(
            handles=handles,
            title=foreign.drawn(chosen.colour or ""),
            title_fontsize=9,
            loc="upper left",
            bbox_to_anchor=(1 - beside / width, 1 - 1.0 / figure.get_figheight()),
            fontsize=9,
        )
        figure.subplots_adjust(right=1 - (beside + 0.1) / width)


def _beside(chosen: Drawing, table: pl.DataFrame, keys: Sequence[str]) -> float:
    """The inches that the legend takes."""
    words = [chosen.colour or "", *labels(_values(table, chosen.colour)).values()]
    if _ENGINE in keys:
        words.append(max(_DASHES, key=len))
    return max(_LEGEND, 0.82 + LETTER * max(map(len, words)))


def _y_axis(axes: Axes, table: pl.DataFrame, chosen: Drawing, size: float) -> None:
    """A logarithmic axis for positive numbers that span much; otherwise it begins at zero."""
    rows = table.select(chosen.y, f"{chosen.y}_half_width").iter_rows()
    known = [(mean, half or 0.0) for mean, half in rows if mean is not None and math.isfinite(mean)]
    values = [mean / size for mean, _ in known]
    if not values:
        return
    if min(values) > 0 and max(values) / min(values) > WIDE:
        axes.set_yscale("log")
    elif min(values) >= 0:
        tops = [mean + reach(chosen.y, [mean], [half])[1][0] for mean, half in known]
        axes.set_ylim(0, max(tops) / size * 1.04 or 1.0)


def _values(table: pl.DataFrame, key: str | None) -> list[Any]:
    return [None] if key is None else list(dict.fromkeys(table[key].to_list()))


def _scale(name: str, table: pl.DataFrame) -> tuple[float, str]:
    """The unit of a number, by the end of its name."""
    units = units_of(name)
    if units is None:
        return 1.0, ""
    values: Iterable[float | None] = table[name].to_list()
    size, unit, _ = ruler(list(values), units)
    return size, unit


def _named(name: str, unit: str) -> str:
    """A number in words, with its unit."""
    return _short(name) + (f" ({unit})" if unit else "")


def _short(name: str) -> str:
    """A number in words: the last part of its path, and of what it is.

    >>> _short("links.bottleneck.forward.utilisation"), _short("flows.web.goodput_bit_s"), _short("share")
    ('utilisation of bottleneck, forward', 'goodput of web', 'share')
    >>> _short("traffic.web.completion_s.p99")
    'p99 completion of web'
    """
    section, _, rest = name.partition(".")
    if not rest or section not in SECTIONS:
        return name
    *place, last = rest.split(".")
    if section == "jain":
        return f"fairness of {rest}"
    which = ""
    if last in STATISTICS:
        which = f"{last} "
        last = place.pop()
    words = which + last.removesuffix("_bit_s").removesuffix("_s").replace("_", " ")
    return f"{words} of {', '.join(place)}" if place else words
