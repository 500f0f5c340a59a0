"""The tables and the pictures of both pages, from rows that were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat_forms.report import filled, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
"""A measured quantity: `part`, `at`, `what`, `mean`, `half`, `n`."""

COMMAND = "bench/time-outs"

TITLES = {
    "never": "never",
    "first": "first (default)",
    "each": "each",
    "linux": "first, estimator of Linux",
}

PAGES = {"time-outs": ("grid", "timers"), "phase-effects": ("shares",)}


def write(rows: Sequence[Row], docs: Path) -> None:
    """Puts the tables into the pages in `concepts`, and the pictures into the folder `images`."""
    for name, parts in PAGES.items():
        page = docs / "concepts" / f"{name}.md"
        tables = {part: TABLES[part](rows) for part in parts}
        page.write_text(filled(page.read_text("utf-8"), tables, COMMAND), "utf-8")
    from longfat.plot import style

    for name, draw in {"time-outs": draw_timers, "phase-effects": draw_phases}.items():
        drawn = draw(rows)
        for ending in ("png", "svg"):
            style.save(drawn, docs / "images" / f"{name}.{ending}")


def _by(rows: Sequence[Row], part: str, *keys: str) -> dict[tuple[Any, ...], dict[str, Row]]:
    """The rows of a part by what distinguishes them, and by what they measure."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        if row["part"] == part:
            place = tuple(row["at"][key] for key in keys)
            found.setdefault(place, {})[row["what"]] = row
    return found


def _count(row: Row) -> str:
    """A number of time-outs, with its interval where there is one."""
    if row["mean"] == 0:
        return "0"
    return f"{row['mean']:.1f} ± {row['half']:.1f}"


def _percent(row: Row) -> str:
    return f"{100 * row['mean']:.2f} ± {100 * row['half']:.2f} %"


def grid(rows: Sequence[Row]) -> str:
    """Before and after over the scenarios compared with ns-2 and ns-3: those that have any time-outs."""
    found = _by(rows, "grid", "name", "timer")
    names = list(dict.fromkeys(name for name, _ in found))
    lines = []
    for name in names:
        before, after = found[name, "never"], found[name, "first"]
        if before["timeouts"]["mean"] or after["timeouts"]["mean"]:
            counts = [_count(each["timeouts"]) for each in (before, after)]
            used = [_percent(each["utilisation"]) for each in (before, after)]
            lines.append([name, *counts, *used])
    head = ["", "time-outs, never", "first", "used, never", "first"]
    return table(head, lines)


def timers(rows: Sequence[Row]) -> str:
    """Time-outs of all timers, where any of them has some."""
    found = _by(rows, "timers", "rtt", "flows", "buffer", "timer")
    lines = []
    for rtt, flows, buffer in dict.fromkeys(place[:3] for place in found):
        cells = [found[rtt, flows, buffer, timer] for timer in TITLES]
        if any(cell["timeouts"]["mean"] for cell in cells):
            place = [f"{1e3 * rtt:g} ms", f"{flows:g}", f"{buffer:g} bdp"]
            counts = [_count(cell["timeouts"]) for cell in cells]
            used = [f"{100 * cell['utilisation']['mean']:.1f} %" for cell in cells]
            told = [f"{count}; {share}" for count, share in zip(counts, used, strict=True)]
            lines.append([*place, *told])
    return table(["round trip", "flows", "buffer", *TITLES.values()], lines)


SHARES = {
    "drop tail": "drop tail",
    "drop tail, jitter": "drop tail, host jitter of up to 10 ms",
    "RED": "RED",
}


def shares(rows: Sequence[Row]) -> str:
    """The share of the flow with the longer round trip: its range within each packet time."""
    found = _by(rows, "shares", "kind", "longer")
    lines = []
    for kind, title in SHARES.items():
        line = [title]
        for first in range(3):
            means = [
                each["share"]["mean"]
                for (name, longer), each in found.items()
                if name == kind and first <= longer < first + 1
            ]
            line.append(f"{100 * min(means):.0f} to {100 * max(means):.0f} %")
        lines.append(line)
    return table(["longer by", "0 to 10 ms", "10 to 20 ms", "20 to 30 ms"], lines)


TABLES: dict[str, Callable[[Sequence[Row]], str]] = {
    "grid": grid,
    "timers": timers,
    "shares": shares,
}


def draw_timers(rows: Sequence[Row]) -> Figure:
    """Time-outs of a hundred flows over the round trip, for the smallest and a usual buffer."""
    from longfat.plot import style

    found = _by(rows, "timers", "rtt", "flows", "buffer", "timer")
    many = max(flows for _, flows, _, _ in found)
    trips = sorted({rtt for rtt, *_ in found})
    with style.applied():
        drawn = style.figure(11.0, 5.2, 1.1)
        for place, buffer in enumerate((0.1, 1.0)):
            axes = drawn.add_subplot(1, 2, 1 + place)
            for timer, colour in zip(TITLES, style.COLOURS, strict=False):
                minutes = {rtt: 0.75 * max(60.0, 200 * rtt) / 60 for rtt in trips}
                means = [
                    found[rtt, many, buffer, timer]["timeouts"]["mean"] / many / minutes[rtt]
                    for rtt in trips
                ]
                axes.plot(
                    [1e3 * rtt for rtt in trips], means,
                    marker="o", markersize=5, color=colour, label=TITLES[timer],
                )  # fmt: skip
            axes.set(xscale="log", xlabel=f"round trip, ms (buffer {buffer:g} bdp)")
            axes.set_yscale("symlog", linthresh=0.1)
            axes.set_ylim(0, 1000)
            if place == 0:
                axes.set_ylabel("time-outs per flow and minute")
            else:
                axes.tick_params(labelleft=False)
                axes.legend(loc="upper right")
        style.title(
            drawn, "Which timer waits for long enough?",
            f"{many:g} Reno flows on 100 Mbit/s, means of three seeds; linear below 0.1",
        )  # fmt: skip
    return drawn


def _curve(axes: Axes, points: Sequence[tuple[float, Row]], colour: str, title: str) -> None:
    """Means with their 95 % confidence intervals."""
    axes.errorbar(
        [x for x, _ in points],
        [row["mean"] for _, row in points],
        yerr=[row["half"] or 0.0 for _, row in points],
        marker="o", markersize=3.5, color=colour, elinewidth=1, capsize=2, label=title,
    )  # fmt: skip


def draw_phases(rows: Sequence[Row]) -> Figure:
    """Who gets the link, and how often a paced flow times out: both over a little of the set-up."""
    from matplotlib.ticker import PercentFormatter

    from longfat.plot import style

    with style.applied():
        drawn = style.figure(11.0, 5.2, 1.1)
        drawn.subplots_adjust(wspace=0.22)
        axes = drawn.add_subplot(1, 2, 1)
        found = _by(rows, "shares", "kind", "longer")
        for (kind, title), colour in zip(SHARES.items(), style.COLOURS, strict=False):
            points = sorted(
                (longer, each) for (name, longer), each in found.items() if name == kind
            )
            _curve(axes, [(10 * longer, each["share"]) for longer, each in points], colour, title)
        axes.set(
            xlabel="its round trip is longer by, ms", ylabel="share of the second flow", ylim=(0, 1)
        )
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.legend(loc="lower left")
        axes = drawn.add_subplot(1, 2, 2)
        counts = _by(rows, "paced", "jitter", "buffer")
        titles = {"none": "no jitter", "60 us": "host jitter of up to 60 µs, five seeds"}
        for (jitter, title), colour in zip(titles.items(), style.COLOURS, strict=False):
            points = sorted(
                (buffer, each) for (name, buffer), each in counts.items() if name == jitter
            )
            _curve(axes, [(buffer, each["timeouts"]) for buffer, each in points], colour, title)
        axes.set(xlabel="buffer, packets", ylabel="time-outs in 300 s", ylim=(0, 25))
        axes.legend(loc="upper left")
        style.title(
            drawn, "Phase effects",
            "left: two Reno flows on 800 kbit/s, a packet takes 10 ms; right: a paced EXP flow on 200 Mbit/s",
        )  # fmt: skip
    return drawn
