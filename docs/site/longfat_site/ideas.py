"""The pictures and the tables of `docs/concepts/ideas.md`: one experiment each, as packets and as a fluid."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

import longfat
from longfat_forms.report import filled, table
from longfat_site.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMMAND = "docs/site/figures"
PAGE = "docs/concepts/ideas.md"
PACKET_BITS = 12_000
"""Of a packet of 1500 bytes."""


@dataclass
class Idea:
    """What one experiment found: lines for both panels, rows for the table, and how to label them."""

    title: str
    detail: str
    x: str
    y: str
    head: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    packets: dict[str, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    fluid: dict[str, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    limits: tuple[float, float] | None = None
    """Of both axes, where neither is the time."""
    level: float | None = None
    """From where the link is full."""


def scenario(
    *, rate: str, rtt: str, buffer: str, duration: str, warmup: str = "0 s", sample: str = "100 ms",
    queue: object = "drop-tail", **flow: object,
) -> dict[str, Any]:  # fmt: skip
    """One link, one group of flows."""
    link = {"rate": rate, "delay": "5 ms", "buffer": buffer, "queue": queue}
    group = {"name": "flow", "control": "reno", "path": ["bottleneck"], "rtt": rtt, **flow}
    top = {"duration": duration, "warmup": warmup, "sample": sample}
    return {**top, "link": {"bottleneck": link}, "flow": [group]}


def window() -> Idea:
    """What a fixed window does on 100 Mbit/s and 40 ms."""
    full = 100e6 * 0.04 / PACKET_BITS
    idea = Idea(
        title="Too small a window wastes the link, too large a one waits",
        detail="a flow with a fixed window on 100 Mbit/s, round trip 40 ms, buffer two products",
        x="window, bandwidth-delay products", y="used of the link; waiting, round trips",
        head=["window, products", "used, packets", "used, fluid", "waiting, packets", "waiting, fluid"],
    )  # fmt: skip
    shares = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
    found: dict[str, list[float]] = {"packets": [], "fluid": []}
    waits: dict[str, list[float]] = {"packets": [], "fluid": []}
    for share in shares:
        asked = scenario(
            rate="100 Mbit/s", rtt="40 ms", buffer="2 bdp", duration="5 s", warmup="2 s",
            max_window=int(share * full),
        )  # fmt: skip
        run = longfat.run(asked).summary
        solved = longfat.fluid(asked, price="overflow")
        found["packets"].append(run["links"]["bottleneck"]["forward"]["utilisation"])
        waits["packets"].append(run["flows"][0]["queueing_delay_mean_s"] / 0.04)
        found["fluid"].append(solved.summary["flows"][0]["rate_mean_bit_s"] / 100e6)
        waits["fluid"].append(solved.link_series.to_polars()["queue_s"][-1] / 0.04)
        told = [found[kind][-1] for kind in found], [waits[kind][-1] for kind in waits]
        idea.rows.append(
            [f"{share:g}"]
            + [f"{100 * each:.1f} %" for each in told[0]]
            + [f"{40 * each:.1f} ms" for each in told[1]]
        )
    idea.packets = {"used": (shares, found["packets"]), "waiting": (shares, waits["packets"])}
    idea.fluid = {"used": (shares, found["fluid"]), "waiting": (shares, waits["fluid"])}
    return idea


def sawtooth() -> Idea:
    """One Reno flow with a large and with a small buffer."""
    idea = Idea(
        title="The sawtooth: a buffer bridges what a loss takes",
        detail="one Reno flow on 100 Mbit/s, 40 ms; above the dotted line, one product, the queue grows",
        x="time (s)", y="window (segments)", level=100e6 * 0.04 / PACKET_BITS,
        head=["buffer", "used, packets", "used, fluid", "losses, packets", "losses, fluid"],
    )  # fmt: skip
    for buffer in ("1 bdp", "0.1 bdp"):
        asked = scenario(
            rate="100 Mbit/s", rtt="40 ms", buffer=buffer, duration="60 s", warmup="20 s"
        )
        run = longfat.run(asked)
        solved = longfat.fluid(asked, model="synchronised")
        used = run.summary["links"]["bottleneck"]["forward"]["utilisation"]
        flow, same = run.summary["flows"][0], solved.summary["flows"][0]
        idea.rows.append(
            [
                buffer,
                f"{100 * used:.1f} %",
                f"{100 * min(1.0, same['rate_mean_bit_s'] / 100e6):.1f} %",
                str(flow["congestion_events"]),
                str(_falls(solved, after=20.0)),
            ]
        )
        name = f"buffer of {buffer}"
        idea.packets[name] = _windows(run.flow_series.to_polars())
        idea.fluid[name] = _windows(solved.flow_series.to_polars())
    return idea


def _windows(series: pl.DataFrame, flow: str = "flow[0]") -> tuple[list[float], list[float]]:
    one = series.filter(pl.col("flow") == flow)
    return one["time_s"].to_list(), one["window"].to_list()


def _falls(solved: longfat.Fluid, after: float) -> int:
    series = solved.flow_series.to_polars().filter(pl.col("time_s") > after)
    return int((series["window"].diff() < 0).sum())


def recovery() -> Idea:
    """How long laws take from half a window to a full link."""
    full = 1e9 * 0.04 / PACKET_BITS
    idea = Idea(
        title="After a loss: additive increase takes a minute where others take seconds",
        detail="from half a bandwidth-delay product on 1 Gbit/s, 40 ms; on the dotted line the link is full",
        x="time (s)", y="window (segments)", level=full,
        head=["controller", "full link after, packets", "full link after, fluid"],
    )  # fmt: skip
    half = int(full / 2)
    for control in ("reno", "hstcp", "exp", "stcp"):
        asked = scenario(
            rate="1 Gbit/s", rtt="40 ms", buffer="1 bdp", duration="75 s", control=control,
            initial_window=half, initial_threshold=half,
        )  # fmt: skip
        packets = _windows(longfat.run(asked).flow_series.to_polars())
        fluid = _windows(longfat.fluid(asked, model="synchronised").flow_series.to_polars())
        times = [_first(line, full) for line in (packets, fluid)]
        idea.rows.append([f"`{control}`", *(f"{time:.1f} s" for time in times)])
        idea.packets[control], idea.fluid[control] = packets, fluid
    return idea


def _first(line: tuple[Sequence[float], Sequence[float]], level: float) -> float:
    """When a line is first above a level."""
    return next(time for time, value in zip(*line, strict=True) if value >= level)


def fairness() -> Idea:
    """Two flows that lose together, one of which was there before."""
    idea = Idea(
        title="Why multiplicative decrease is fair: each loss halves the difference",
        detail="two Reno flows on 100 Mbit/s, 40 ms, buffer one product; along the diagonal both are equal",
        x="window of the first flow (segments)", y="window of the second",
        head=["after", "second over first, packets", "second over first, fluid"],
        limits=(0, 700),
    )  # fmt: skip
    asked = scenario(
        rate="100 Mbit/s", rtt="40 ms", buffer="1 bdp", duration="120 s", count=2,
        start={"spread": ["0 s", "20 s"]},
    )  # fmt: skip
    solutions = {
        "packets": longfat.run(asked).flow_series.to_polars(),
        "fluid": longfat.fluid(asked, model="synchronised").flow_series.to_polars(),
    }
    ratios = {}
    for kind, series in solutions.items():
        one, two = (
            series.filter(pl.col("flow") == f"flow[{index}]")
            .group_by("time_s")
            .agg(pl.col("window").last())
            for index in (0, 1)
        )
        both = one.join(two, on="time_s").filter(pl.col("time_s") > 20.5).sort("time_s")  # noqa: PLR2004
        line = (both["window"].to_list(), both["window_right"].to_list())
        getattr(idea, kind)["both flows"] = line
        ratios[kind] = both.select("time_s", ratio=pl.col("window_right") / pl.col("window"))
    for after in (30, 60, 120):
        shares = [
            each.filter(pl.col("time_s") <= after)["ratio"][-1]
            for each in (ratios["packets"], ratios["fluid"])
        ]
        idea.rows.append([f"{after} s", *(f"{share:.2f}" for share in shares)])
    return idea


def stability() -> Idea:
    """The same queue discipline at a short and at a long round trip."""
    idea = Idea(
        title="Late feedback: the same RED is calm at 40 ms and swings at 160 ms",
        detail="30 Reno flows on 100 Mbit/s; RED with thresholds of 20 and 200 packets and weight 1e-4",
        x="time (s)", y="queue (packets)",
        head=[
            "round trip", "queue, packets", "queue, fluid", "delays could be longer by, fluid",
        ],
    )  # fmt: skip
    red = {"kind": "red", "min": "20 packets", "max": "200 packets", "weight": 1e-4, "max_p": 0.1}
    places = 400
    for rtt in ("160 ms", "40 ms"):
        asked = scenario(
            rate="100 Mbit/s", rtt=rtt, buffer=f"{places} packets", duration="60 s", warmup="20 s",
            queue=red, count=30, start={"uniform": ["0 s", "1 s"]},
        )  # fmt: skip
        links = longfat.run(asked).link_series.to_polars().filter(pl.col("direction") == "forward")
        solved = longfat.fluid(asked, price="red", stability=True)
        other = solved.link_series.to_polars()
        lines = {
            "packets": (links["time_s"], links["queue"] * places),
            "fluid": (other["time_s"], other["queue_s"] * 100e6 / PACKET_BITS),
        }
        told = []
        for kind, (times, queue) in lines.items():
            getattr(idea, kind)[f"round trip {rtt}"] = (times.to_list(), queue.to_list())
            settled = queue.filter(times > 20)  # noqa: PLR2004 - the warm-up
            told.append(f"{settled.mean():.0f} ± {settled.std():.0f} packets")
        idea.rows.append(
            [rtt, *told, f"a factor of {solved.margin:.1f}" if solved.stable else "it is unstable"]
        )
    return idea


IDEAS: dict[str, Callable[[], Idea]] = {
    "window": window,
    "sawtooth": sawtooth,
    "recovery": recovery,
    "fairness": fairness,
    "stability": stability,
}
"""The experiments, by the name of their picture and their table."""


def made() -> dict[str, Idea]:
    """Runs all of them."""
    return {name: make() for name, make in IDEAS.items()}


def tables(found: dict[str, Idea]) -> dict[str, str]:
    """Their tables."""
    return {name: table(idea.head, idea.rows) for name, idea in found.items()}


def draw(idea: Idea) -> Figure:
    """Packets on the left, the fluid on the right, on the same axes."""
    from longfat.plot import style

    with style.applied():
        drawn = style.figure(11.0, 4.6, 1.1)
        panels = drawn.subplots(1, 2, sharex=True, sharey=True)
        for panel, kind in zip(panels, ("packets", "fluid"), strict=True):
            _panel(panel, getattr(idea, kind), idea, style.COLOURS)
            panel.set_xlabel(f"{idea.x}: {kind}")
        panels[0].set_ylabel(idea.y)
        if len(idea.packets) > 1:
            panels[1].legend(loc="best")
        style.title(drawn, idea.title, idea.detail)
    return drawn


def _panel(panel: Axes, lines: dict[str, Any], idea: Idea, colours: Sequence[str]) -> None:
    for colour, (name, (x, y)) in zip(colours, lines.items(), strict=False):
        marker = "o" if len(x) < 20 else None  # noqa: PLR2004 - few enough to see each
        panel.plot(x, y, color=colour, linewidth=1.3, label=name, marker=marker, markersize=4)
    dotted: Any = {"color": "#6b6b6b", "linewidth": 1.0, "linestyle": ":"}
    if idea.level is not None:
        panel.axhline(idea.level, **dotted)
    if idea.limits is not None:
        panel.plot(idea.limits, idea.limits, **dotted)
        panel.set(xlim=idea.limits, ylim=idea.limits)
    else:
        panel.set_ylim(bottom=0)
        panel.set_xlim(left=0)


def write(docs: Path) -> None:
    """Writes the tables into the page, and the pictures beside the others of the documents."""
    from longfat.plot import style

    found = made()
    page = docs / "concepts/ideas.md"
    page.write_text(filled(page.read_text("utf-8"), tables(found), COMMAND), "utf-8")
    for name, idea in found.items():
        drawn = draw(idea)
        for ending in ("png", "svg"):
            style.save(drawn, docs / "images" / f"ideas-{name}.{ending}")


if __name__ == "__main__":
    write(ROOT / "docs")
