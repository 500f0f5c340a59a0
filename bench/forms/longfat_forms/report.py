"""The tables and the pictures of docs/closed-forms.md, from rows that were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.units import ABSENT
from longfat_forms import laws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

Row = dict[str, Any]
"""A measured quantity: `law`, `name`, `at`, `what`, `theory`, `mean`, `half`, `n`."""

OPENING, CLOSING = "<!-- {}: written by {} -->\n", "<!-- end of {} -->"

COMMAND = "bench/closed-forms"


def write(rows: Sequence[Row], docs: Path) -> None:
    """Puts the tables into `closed-forms.md`, and the pictures into the folder `images`."""
    page = docs / "closed-forms.md"
    tables = {name: made(rows) for name, made in TABLES.items()}
    page.write_text(filled(page.read_text("utf-8"), tables, COMMAND), "utf-8")
    from longfat.plot import style

    drawings = {"queues": draw_queues, "losses": draw_losses, "buffers": draw_buffers}
    for name, draw in drawings.items():
        drawn = draw(rows)
        for ending in ("png", "svg"):
            style.save(drawn, docs / "images" / f"closed-forms-{name}.{ending}")


def filled(text: str, tables: Mapping[str, str], command: str) -> str:
    """The page with these tables, each between its marks.

    Args:
        text: The page.
        tables: The tables by name.
        command: What writes them, as the marks say.

    Raises:
        ValueError: The page has no place for one of them.
    """
    for name, lines in tables.items():
        opening, closing = OPENING.format(name, command), CLOSING.format(name)
        before, found, rest = text.partition(opening)
        _, ended, after = rest.partition(closing)
        if not (found and ended):
            message = f"the page has no place for `{name}`: put {opening!r} and {closing!r} there"
            raise ValueError(message)
        text = f"{before}{opening}\n{lines}\n{closing}{after}"
    return text


def _of(rows: Sequence[Row], law: str, what: str) -> Iterator[Row]:
    return (row for row in rows if (row["law"], row["what"]) == (law, what))


def _value(row: Row | None, digits: int, scale: float = 1.0) -> str:
    if row is None:
        return ABSENT
    return f"{scale * row['mean']:.{digits}f} ± {scale * row['half']:.{digits}f}"


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _compared(row: Row, digits: int, scale: float = 1.0) -> list[str]:
    off, width = row["mean"] / row["theory"] - 1, row["half"] / row["theory"]
    return [
        f"{scale * row['theory']:.{digits}f}",
        _value(row, digits, scale),
        f"{100 * off:+.1f} ± {100 * width:.1f} %",
    ]


def queues(rows: Sequence[Row]) -> str:
    """Mean queue and mean wait, each beside theory."""
    waits = {row["name"]: row for row in _of(rows, "queues", "wait_s")}
    lines = [
        [row["name"], *_compared(row, 4), *_compared(waits[row["name"]], 3, 1e3)]
        for row in _of(rows, "queues", "queue")
    ]
    head = ["queue", "waiting by theory", "in longfat", "off by"]
    return table([*head, "wait by theory, ms", "in longfat", "off by"], lines)


def sharing(rows: Sequence[Row]) -> str:
    """Mean response times beside theory."""
    lines = [[row["name"], *_compared(row, 2, 1e3)] for row in _of(rows, "sharing", "response_s")]
    return table(["transfers", "mean response by theory, ms", "in longfat", "off by"], lines)


KINDS = ("independent", "rounds", "rounds, repairs arrive")


def losses(rows: Sequence[Row]) -> str:
    """Rates under independent losses, for each recovery, as multiples of the formula."""
    return _ratios(rows, "losses", ("sack", "newreno", "reno"))


def rounds(rows: Sequence[Row]) -> str:
    """Rates with selective acknowledgments, for each kind of losses, and in the process of the formula."""
    return _ratios(rows, "rounds", (*KINDS, "process"))


def _ratios(rows: Sequence[Row], law: str, names: Sequence[str]) -> str:
    measured = {(row["at"]["p"], row["name"]): row for row in _of(rows, law, "packets_per_s")}
    titles = {
        "sack": "SACK",
        "newreno": "NewReno",
        "reno": "Reno",
        "independent": "independent",
        "rounds": "rest of the round lost",
        "rounds, repairs arrive": "the same, repairs arrive",
        "process": "the formula's own process",
    }
    lines = []
    for p in sorted({p for p, _ in measured}):
        row = measured[p, names[0]]
        cells = [_value(measured.get((p, name)), 3, 1 / row["theory"]) for name in names]
        lines.append([f"{100 * p:g} %", f"{row['theory']:.2f}", *cells])
    return table(["loss", "formula, packets/s", *(titles[name] for name in names)], lines)


def buffers(rows: Sequence[Row]) -> str:
    """Utilisation beside the bound, and how far flows move in step."""
    steps = {_place(row): row for row in _of(rows, "buffers", "in_step")}
    lines = []
    for row in _of(rows, "buffers", "utilisation"):
        used = _value(row, 2, 100) + " %"
        if row["mean"] + row["half"] < row["theory"]:
            used = f"**{used}**"
        at = row["at"]
        lines.append(
            [
                row["name"],
                f"{at['buffers']:g} D/√n",
                f"{100 * at['buffers'] / at['flows'] ** 0.5:.1f} % of D",
                f"{100 * row['theory']:.2f} %",
                used,
                _value(steps[_place(row)], 2),
            ]
        )
    return table(["flows", "buffer", "which is", "at least", "used in longfat", "in step"], lines)


def _place(row: Row) -> tuple[float, ...]:
    return tuple(row["at"].values())


TABLES: dict[str, Callable[[Sequence[Row]], str]] = {
    "queues": queues,
    "sharing": sharing,
    "losses": losses,
    "rounds": rounds,
    "buffers": buffers,
}


def draw_queues(rows: Sequence[Row]) -> Figure:
    """Mean queue over load: curves and points."""
    from longfat.plot import style

    with style.applied():
        drawn = style.figure(9.2, 5.6, 1.1)
        axes = drawn.add_subplot()
        loads = [0.2 + 0.005 * step for step in range(145)]
        for name, sizes, colour in (
            ("M/M/1", laws.LAGUERRE, style.COLOURS[1]),
            ("M/D/1", ((1.0, 1.0),), style.COLOURS[0]),
        ):
            axes.plot(
                loads, [laws.waiting(load, sizes) for load in loads], color=colour, label=name
            )
            points = [row for row in _of(rows, "queues", "queue") if row["name"].startswith(name)]
            _points(axes, points, "load", colour, f"{name} in longfat")
        axes.set(yscale="log", xlabel="load", ylabel="packets waiting, mean")
        axes.legend(loc="upper left")
        style.title(drawn, "Packets that arrive at random", "points: longfat, with 95 % intervals")
    return drawn


def draw_losses(rows: Sequence[Row]) -> Figure:
    """Rate over loss: the formula, its process, and what longfat sends."""
    from matplotlib.ticker import PercentFormatter

    from longfat.plot import style
    from longfat_forms.experiments import RTT_S, TIMEOUT_S

    with style.applied():
        drawn = style.figure(9.2, 6.2, 1.1)
        axes = drawn.add_subplot()
        chances = [0.0008 * 1.05**step for step in range(104)]
        formula = [laws.pftk(p, RTT_S, TIMEOUT_S) for p in chances]
        axes.plot(chances, formula, color=style.COLOURS[0], label="formula")
        axes.plot(
            chances, [laws.SQUARE_ROOT / (RTT_S * p**0.5) for p in chances],
            color="#9a9a9a", linewidth=1, label="1.31/√p: independent losses, no time-outs",
        )  # fmt: skip
        process = [row for row in _of(rows, "rounds", "packets_per_s") if row["name"] == "process"]
        axes.plot(
            [row["at"]["p"] for row in process], [row["mean"] for row in process],
            color=style.COLOURS[0], linestyle=":", label="the formula's own process",
        )  # fmt: skip
        labels = ("independent losses", "rest of the round lost", "the same, repairs arrive")
        for kind, label, colour in zip(KINDS, labels, style.COLOURS[1:], strict=False):
            points = [row for row in _of(rows, "rounds", "packets_per_s") if row["name"] == kind]
            _points(axes, points, "p", colour, f"longfat: {label}")
        axes.set(xscale="log", yscale="log", xlabel="probability of loss", ylabel="packets/s")
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=1))
        axes.legend(loc="lower left")
        style.title(
            drawn, "A Reno flow with time-outs",
            "round trip 0.1 s, time-outs from 1 s; points: longfat with SACK",
        )  # fmt: skip
    return drawn


def draw_buffers(rows: Sequence[Row]) -> Figure:
    """Unused capacity over the number of flows, for each buffer."""
    from matplotlib.ticker import PercentFormatter

    from longfat.plot import style

    with style.applied():
        drawn = style.figure(9.2, 5.6, 1.1)
        axes = drawn.add_subplot()
        numbers = [8 * 1.1**step for step in range(55)]
        used = list(_of(rows, "buffers", "utilisation"))
        for size, colour in ((0.5, style.COLOURS[1]), (1.0, style.COLOURS[0])):
            bound = [laws.small_buffer(round(n), size) for n in numbers]
            axes.plot(numbers, bound, color=colour, label=f"at least, {size:g} D/√n")
            points = [
                row for row in used if (row["at"]["buffers"], row["at"]["window"]) == (size, 12)
            ]
            _points(axes, points, "flows", colour, f"{size:g} D/√n, share 12 packets")
        points = [row for row in used if (row["at"]["window"], row["at"]["paced"]) == (50, 0)]
        _points(axes, points, "flows", style.COLOURS[2], "1 D/√n, share 50 packets: in step")
        axes.set(xscale="log", xlabel="flows", ylabel="capacity used", ylim=(0.7, 1.005))
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.legend(loc="lower right", bbox_to_anchor=(1, 0.35))
        style.title(
            drawn, "Buffers of many flows",
            "lines: the least by Appenzeller, Keslassy, McKeown; points: longfat, with 95 % intervals",
        )  # fmt: skip
    return drawn


def _points(axes: Any, rows: Sequence[Row], key: str, colour: str, label: str) -> None:  # noqa: ANN401
    axes.errorbar(
        [row["at"][key] for row in rows], [row["mean"] for row in rows],
        yerr=[row["half"] for row in rows],
        fmt="o", markersize=5, color=colour, elinewidth=1, capsize=2, label=label,
    )  # fmt: skip
