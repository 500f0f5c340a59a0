"""The picture of an advice: what choices use of a link, against how long packets wait there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from longfat import foreign
from longfat.plot import style
from longfat.plot._intervals import reach
from longfat.units import TIME, number_of, plural, ruler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from longfat.plot._subjects import Chosen

_MARKERS = "os^Dv<>PX*hp"
_FILLS = ("none", "bottom", "left", "top", "right")
"""How markers are filled, from the smallest buffer on; those of the largest one are full."""
_FAINT = 0.35
_LEAST = 50.0
"""Where all use more of the link than this, in per cent, the axis does not begin at zero."""
_STEP = 5.0


def advice(
    closely: Sequence[Chosen], looked: Sequence[Chosen], advised: Chosen, title: str
) -> Figure:
    """Draws utilisation against the delay that the queue adds.

    Args:
        closely: The choices that were looked at closely, with intervals.
        looked: Every choice after a first look, drawn faintly.
        advised: That with a ring around it.
        title: The path.

    Returns:
        A figure: a colour for each controller, a marker for each number of streams, which the largest buffer
        fills. The axis of utilisation begins where it is needed.
    """
    with style.applied():
        return _advice(closely, looked, advised, title)


def _advice(
    closely: Sequence[Chosen], looked: Sequence[Chosen], advised: Chosen, title: str
) -> Figure:
    figure = style.figure(11, 7, head=1.15)
    figure.subplots_adjust(right=1 - 2.6 / 11)
    panel = figure.subplots()
    controls = list(dict.fromkeys(each.control for each in [*closely, *looked]))
    counts = sorted({each.streams for each in [*closely, *looked]})
    tints = {name: style.COLOURS[at % len(style.COLOURS)] for at, name in enumerate(controls)}
    shapes = {count: _MARKERS[at % len(_MARKERS)] for at, count in enumerate(counts)}
    fills = _fills([each.buffer for each in [*closely, *looked]])
    delays = [each.delay_s[0] for each in [*closely, *looked]]
    size, unit, _ = ruler([delay for delay in delays if delay is not None], TIME)
    for each in looked:
        (delay, _), (used, _) = each.delay_s, each.utilisation
        if delay is not None and used is not None:
            at = (delay / size, 100 * used)
            panel.plot(
                *at, shapes[each.streams], color=tints[each.control], alpha=_FAINT,
                fillstyle=fills[each.buffer],
            )  # fmt: skip
    for each in closely:
        (delay, late), (used, about) = each.delay_s, each.utilisation
        if delay is None or used is None:
            continue
        across = reach("delay_s", [delay / size], [(late or 0.0) / size])
        along = reach("utilisation", [100 * used], [100 * (about or 0.0)], 100.0)
        panel.errorbar(
            [delay / size], [100 * used], xerr=across, yerr=along, color=tints[each.control],
            marker=shapes[each.streams], markersize=8, elinewidth=1.0, capsize=2.5,
            fillstyle=fills[each.buffer], markeredgewidth=1.5,
        )  # fmt: skip
        if each is advised:
            panel.plot(
                delay / size, 100 * used, "o", markersize=18, markerfacecolor="none", color="0.2"
            )
    panel.set_xlim(left=0)
    panel.set_xlabel(f"delay that the queue adds, on average ({unit})")
    panel.set_ylabel("utilisation (%)")
    least = _least([*closely, *looked])
    panel.set_ylim(least, 100 + 0.05 * (100 - least))
    panel.tick_params(length=0)
    handles = [
        Line2D([], [], color=tints[name], marker="o", linestyle="", label=foreign.drawn(name))
        for name in controls
    ]
    handles += [
        Line2D(
            [],
            [],
            color="0.4",
            marker=shape,
            linestyle="",
            label=plural(count, "stream"),
        )
        for count, shape in shapes.items()
    ]
    handles += [
        Line2D(
            [],
            [],
            color="0.4",
            marker="o",
            linestyle="",
            fillstyle=fill,
            label=f"buffer {foreign.drawn(buffer)}",
        )
        for buffer, fill in fills.items()
    ]
    panel.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=10)
    style.title(figure, title, "bars: 95 % intervals · faint: one seed · ringed: advised")
    return figure


def _fills(buffers: Sequence[str]) -> dict[str, Any]:
    """How the markers of each buffer are filled, from the smallest on."""

    def size(buffer: str) -> float:
        number = number_of(buffer)
        return 0.0 if number is None else number[0]

    *others, largest = sorted(set(buffers), key=lambda buffer: (size(buffer), buffer))
    found: dict[str, Any] = {buffer: _FILLS[at % len(_FILLS)] for at, buffer in enumerate(others)}
    return {**found, largest: "full"}


def _least(choices: Sequence[Chosen]) -> float:
    """Where the axis of utilisation begins, in per cent: below every interval, at a round number."""
    ends = [
        100 * (used - (half or 0.0)) for used, half in (each.utilisation for each in choices)
        if used is not None
    ]  # fmt: skip
    lowest = min(ends, default=0.0)
    if lowest <= _LEAST:
        return 0.0
    return _STEP * math.floor((lowest - 0.1 * (100 - lowest)) / _STEP)
