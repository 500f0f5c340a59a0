"""Tables and a picture of a comparison of simulators, for docs/validation.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.bench._outcome import NETWORK
from longfat.study._statistics import Estimate, estimate
from longfat.units import ABSENT, RATE, ruler, small
from longfat_peers import VALIDATING
from longfat_peers._grid import CHANGES, GRID, NEWCOMERS
from longfat_peers._today import TODAY, TODAY_CHANGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from longfat_peers._cells import Cell, Change

Row = dict[str, Any]

OPENING, CLOSING = "<!-- {}: written by bench/validate -->\n", "<!-- end of {} -->"

TITLES = {"longfat": "longfat", "ns2": "ns-2", "ns3": "ns-3"}

_HEAD = "| goodput | queue mean | dropped | marked | Jain's index |\n"

_SHARE, _RATE = 0.01, 0.1
"""Differences worth reporting: in goodput, buffer and Jain's index; and in a drop or mark rate."""


def write(rows: Sequence[Row], docs: Path) -> None:
    """Puts the tables into `validation.md`, and the picture into the folder `images`."""
    page = docs / "validation.md"
    text = page.read_text("utf-8")
    tables = {
        "results": results(rows, GRID),
        "newcomers": results(rows, NEWCOMERS),
        "changes": changes(rows, CHANGES),
        "today": results(rows, TODAY),
        "changes of today": changes(rows, TODAY_CHANGES),
    }
    for name, table in tables.items():
        opening, closing = OPENING.format(name), CLOSING.format(name)
        before, _, rest = text.partition(opening)
        _, _, after = rest.partition(closing)
        text = f"{before}{opening}\n{table}\n{closing}{after}"
    page.write_text(text, "utf-8")
    from longfat.plot import style

    drawn = picture(rows)
    for ending in ("png", "svg"):
        style.save(drawn, docs / "images" / f"validation.{ending}")


def found(rows: Sequence[Row], key: str, simulator: str, name: str) -> Estimate:
    """The mean of a result over seeds, with its interval."""
    return estimate(
        row["network"][name]
        for row in rows
        if row["key"] == key and row["simulator"] == simulator and row["network"]
    )


def differs(name: str, ours: Estimate, theirs: Estimate) -> bool:
    """Whether two results differ by more than their intervals, and by enough to matter."""
    if None in (ours.mean, theirs.mean, ours.half_width, theirs.half_width):
        return False
    gap = abs((theirs.mean or 0.0) - (ours.mean or 0.0))
    largest = max(ours.mean or 0.0, theirs.mean or 0.0)
    floor = {"goodput_bit_s": _SHARE * largest, "queue_mean": _SHARE, "jain": _SHARE}
    return gap > (ours.half_width or 0.0) + (theirs.half_width or 0.0) and gap > floor.get(
        name, _RATE * largest
    )


def results(rows: Sequence[Row], cells: Sequence[Cell]) -> str:
    """Scenarios as a table with a row for each simulator; what differs from longfat is bold."""
    lines = ["| scenario | simulator " + _HEAD + "|---|---|" + "---|" * len(NETWORK)]
    for cell in cells:
        lines += _rows(rows, cell.name, cell.name, *VALIDATING)
    return "\n".join(lines) + "\n"


def changes(rows: Sequence[Row], made: Sequence[Change]) -> str:
    """The effect of each change: the scenario before it, then longfat and the peer with it."""
    lines = ["| what is changed | simulator " + _HEAD + "|---|---|" + "---|" * len(NETWORK)]
    shown = None
    for change in made:
        if shown != (change.before, change.peer):
            shown = (change.before, change.peer)
            lines += _rows(rows, change.before, change.before, change.peer)
        lines += _rows(rows, change.name, change.name, change.peer)
    return "\n".join(lines) + "\n"


def _rows(rows: Sequence[Row], key: str, title: str, *peers: str) -> Iterator[str]:
    for simulator in ("longfat", *peers):
        word = TITLES[simulator]
        cells = []
        for name in NETWORK:
            ours, value = (found(rows, key, each, name) for each in ("longfat", simulator))
            cells.append(_cell(name, value, bold=differs(name, ours, value)))
        if any(cell != ABSENT for cell in cells):
            yield f"| {title} | {word} | {' | '.join(cells)} |"
            title = ""


def _cell(name: str, value: Estimate, *, bold: bool) -> str:
    if value.mean is None:
        return ABSENT
    half = value.half_width or 0.0
    if name == "goodput_bit_s":
        size, unit, digits = ruler([value.mean], RATE)
        text = f"{value.mean / size:.{digits}f} ± {half / size:.{digits}f} {unit}"
    elif name == "queue_mean":
        text = f"{100 * value.mean:.1f} ± {100 * half:.1f} %"
    elif name == "jain":
        text = f"{value.mean:.3f} ± {half:.3f}"
    else:
        text = f"{small(value.mean)} ± {small(half)}" if value.mean else "0"
    return f"**{text}**" if bold else text


def picture(rows: Sequence[Row]) -> Any:  # noqa: ANN401 - matplotlib is imported late
    """Draws what the peers found against what longfat found, with the intervals of both."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    from longfat.plot import style

    rates = {"10 Mbit/s": 1e7, "100 Mbit/s": 1e8, "1 Gbit/s": 1e9}
    panels: list[tuple[str, str, Callable[[Any], float]]] = [
        ("goodput, share of the link", "goodput_bit_s", lambda cell: 1 / rates[cell.rate]),
        ("mean queue, share of the buffer", "queue_mean", lambda _: 1.0),
        ("dropped or marked, per packet", "", lambda _: 1.0),
        ("Jain's index", "jain", lambda _: 1.0),
    ]
    with style.applied():
        drawn = style.figure(9.2, 9.0, 1.35)
        drawn.subplots_adjust(hspace=0.35, wspace=0.3)
        for index, (title, name, scale) in enumerate(panels):
            axes = drawn.add_subplot(2, 2, index + 1)
            everything = []
            for peer, colour in (("ns2", style.COLOURS[0]), ("ns3", style.COLOURS[1])):
                label = TITLES[peer]
                for cell in GRID:
                    names = [name] if name else [_signal(cell.queue)]
                    (ours, theirs) = (
                        found(rows, cell.name, each, names[0]) for each in ("longfat", peer)
                    )
                    if ours.mean is None or theirs.mean is None or not (name or ours.mean):
                        continue
                    x, y = ours.mean * scale(cell), theirs.mean * scale(cell)
                    everything += [x, y]
                    axes.errorbar(
                        x, y,
                        xerr=(ours.half_width or 0) * scale(cell),
                        yerr=(theirs.half_width or 0) * scale(cell),
                        fmt="o", markersize=5, color=colour, elinewidth=0.8, label=label,
                    )  # fmt: skip
                    label = "_"
            low, high = min(everything, default=0.1), max(everything, default=1.0)
            if name:
                margin = 0.06 * (high - low) or 0.05
                low, high = low - margin, high + margin
                axes.set(xlim=(low, high), ylim=(low, high))
                axes.xaxis.set_major_locator(MaxNLocator(5))
                if name != "jain":
                    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
                    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            else:
                low, high = low / 1.5, high * 1.5
                axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
            axes.axline((low, low), (high, high), color="#9a9a9a", linewidth=0.8, zorder=0)
            axes.set_title(title, loc="left", fontsize=11)
            axes.set_xlabel("longfat")
            if index == 0:
                axes.legend(loc="upper left")
        style.title(
            drawn,
            "Three simulators, the same scenarios",
            "a point is a scenario, bars are 95 % confidence intervals over seeds; on the line both agree",
        )
    return drawn


def _signal(queue: str) -> str:
    """What signals congestion to the senders in this queue."""
    return "drop_rate" if queue == "drop tail" else "mark_rate"
