"""The tables and the picture of docs/reality.md, from what is kept in bench/reality.jsonl.

.venv/bin/python bench/reality/reality.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "bench/reality.jsonl"
PAGE = ROOT / "docs/reality.md"
PICTURE = ROOT / "docs/images/reality.png"

STACKS = {
    "tcp": "Linux, by the daemon",
    "tcp-kernel": "Linux, by a table",
    "linux": "Linux's own",
    "quic": "QUIC",
}
COLOURS = {"tcp": "#0072B2", "tcp-kernel": "#009E73", "linux": "#CC79A7", "quic": "#D55E00"}
WIDEST = 10.0
"""The largest difference with a place in the picture, in percent; beyond it there is an arrow."""

COUNTED = 6
"""Of how many responses the page tells."""

BEGIN = "<!-- {}: written by bench/reality/reality.py -->\n"
END = "<!-- end of {} -->"

Row = dict[str, Any]
"""A line of the kept file, as bench/reality/measure.py writes it."""


def kept() -> list[Row]:
    """What was measured, the slow links first."""
    rows = [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()]
    rates = {"M": 1, "G": 1000}
    return sorted(
        rows,
        key=lambda row: (
            list(STACKS).index(row["stack"]),
            int(row["rate"][:-1]) * rates[row["rate"][-1]],
            int(row["rtt"].removesuffix("ms")),
            row["flows"],
        ),
    )


def _simulated(finding: Row) -> float:
    return float((finding["least"] + finding["most"]) / 2)


def _numbers(row: Row, name: str, digits: int) -> list[str]:
    """Measured, simulated, and by how much they differ; bold where that is too much."""
    finding = row["findings"].get(name)
    if finding is None or finding["measured"] is None or finding["least"] is None:
        return ["–"] * 3
    told = f"{100 * finding['difference']:+.1f} %"
    marks = {"agrees": told, "differs": f"**{told}**", "undecided": f"({told})"}
    numbers = (finding["measured"], _simulated(finding))
    return [*(f"{number:.{digits}f}" for number in numbers), marks[finding["verdict"]]]


def _link(row: Row) -> str:
    return f"{row['rate'][:-1]} {row['rate'][-1]}bit/s, {row['rtt'].removesuffix('ms')} ms"


def _kind(row: Row) -> str:
    """The controller without its parameters."""
    named = re.search(r'kind = "([^"]+)"', row["control"])
    return named[1] if named else str(row["control"])


def table(found: Sequence[Row], stack: str) -> str:
    """Windows, epochs and throughput of one stack."""
    columns = [
        "link",
        "controller",
        "window",
        "simulated",
        "",
        "epoch (s)",
        "simulated",
        "",
        "throughput",
    ]
    lines = [f"| {' | '.join([*columns, 'p99 of lateness'])} |", "|---|---|" + "--:|" * 8]
    for row in found:
        if row["stack"] != stack:
            continue
        flows = f"{row['flows']} × " if row["flows"] > 1 else ""
        cells = [
            _link(row),
            f"{flows}`{row['control']}`",
            *_numbers(row, "window_mean", 1),
            *_numbers(row, "epoch_s", 2),
            _numbers(row, "throughput_bit_s", 0)[2],
            f"{row['lateness']['p99'] * 1e6:.0f} µs",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def beginnings(found: Sequence[Row]) -> str:
    """When CUBIC of Linux answered congestion, and with which window it met it."""
    head = ["link", "", *(f"{number}." for number in range(1, COUNTED + 1))]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "--:|" * COUNTED]
    for row in found:
        if (row["stack"], row["control"]) != ("linux", "cubic"):
            continue
        for who, own in row["responses"].items():
            cells = [f"{window:.0f}, {time:.2f} s" for time, window in own[:COUNTED]]
            cells += ["–"] * (COUNTED - len(cells))
            lines.append(f"| {' | '.join([_link(row), who, *cells])} |")
    return "\n".join(lines) + "\n"


def tables(found: Sequence[Row]) -> dict[str, str]:
    """What the page holds between its marks, by their names."""
    return {stack: table(found, stack) for stack in STACKS} | {"beginnings": beginnings(found)}


def picture(found: Sequence[Row]) -> Figure:
    """How far windows and epochs are from those simulated, each measurement a dot."""
    from matplotlib.lines import Line2D

    from longfat.plot import style

    with style.applied():
        drawn = style.figure(11.0, 5.6, 1.0)
        left, right = drawn.subplots(1, 2)
        drawn.subplots_adjust(bottom=0.2)
        controls = list(dict.fromkeys(_kind(row) for row in found))
        for axes, name, what in ((left, "window_mean", "mean window"), (right, "epoch_s", "epoch")):
            _dots(axes, found, controls, name)
            axes.set_xlabel(f"{what}: measured beside simulated (%)")
        right.set_yticklabels([])
        present = [stack for stack in STACKS if any(row["stack"] == stack for row in found)]
        handles = [
            Line2D([], [], marker="o", linestyle="", color=COLOURS[stack], label=STACKS[stack])
            for stack in present
        ]
        left.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(-0.02, -0.16), ncols=len(present)
        )
        style.title(
            drawn,
            "Real stacks beside the simulator",
            "dots: measurements; shaded: within the tolerance; hollow: too few epochs to tell; arrow: beyond",
        )
    return drawn


def _dots(axes: Axes, found: Sequence[Row], controls: Sequence[str], name: str) -> None:
    for row in found:
        finding = row["findings"].get(name)
        if finding is None or finding["measured"] is None or finding["least"] is None:
            continue
        place = controls.index(_kind(row))
        shift = 0.2 * (list(COLOURS).index(row["stack"]) - 1)
        colour = COLOURS[row["stack"]]
        face = "none" if finding["verdict"] == "undecided" else colour
        difference = 100 * finding["difference"]
        marker = "o" if abs(difference) <= WIDEST else ">" if difference > 0 else "<"
        at = min(max(difference, -WIDEST), WIDEST)
        (dot,) = axes.plot(at, place + shift, marker, color=colour, clip_on=False, zorder=3)
        dot.set(markerfacecolor=face, markersize=5)
        tolerance = 100 * finding["tolerance"]
        axes.fill_betweenx(
            [place - 0.4, place + 0.4], -tolerance, tolerance, color="#E8F1E4", zorder=0
        )
    axes.axvline(0.0, color="#999999", linewidth=0.8)
    axes.set_xlim(-WIDEST, WIDEST)
    axes.set_xticks([-WIDEST, -WIDEST / 2, 0, WIDEST / 2, WIDEST])
    axes.set_yticks(range(len(controls)), controls)
    axes.set_ylim(len(controls) - 0.5, -0.5)


def write(found: Sequence[Row]) -> None:
    """Puts the tables into the page, and draws the picture."""
    from longfat.plot import style

    text = PAGE.read_text("utf-8")
    for name, made in tables(found).items():
        begin, end = BEGIN.format(name), END.format(name)
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = before + begin + made + end + after
    PAGE.write_text(text, "utf-8")
    style.save(picture(found), PICTURE)


if __name__ == "__main__":
    write(kept())
