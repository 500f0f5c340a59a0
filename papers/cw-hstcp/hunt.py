"""Where is the paper's index? Buffers, senders' links and the share of the web that the paper may have had.

A search, made after the room's first results had a lower index than the paper: what it finds is a lead, not a
confirmation. It asks for the paper's index together with the paper's use of the link.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import ACCESS, bottleneck, cw, dumbbell, more_losses, shares

FIGURE = Experiment(
    id="hunt",
    title="In search of the paper's index",
    question="Which buffer, senders' links and web give the paper's index at the paper's use of the link?",
)
BUFFERS_MS = (10, 15, 20, 25)
LINKS = (1.25, ACCESS)
LITTLE = 2
"""A smaller load of the web, in percent."""
PAPER_INDEX, PAPER_USE = 0.961, 0.945
TO_A_PERCENT = 0.01


def points(scale: Scale) -> Iterator[Point]:
    """Buffers with either kind of links; and the buffer of the other experiments with less of the web."""
    for links in LINKS:
        for buffer in BUFFERS_MS:
            yield point(scale, links, buffer, "usual", {})
        yield point(scale, links, 25, "little", {"traffic.web.arrivals": {"load": f"{LITTLE} %"}})


def point(scale: Scale, links: float, buffer: int, web: str, more: dict[str, Any]) -> Point:
    """CW-HSTCP with these links, this buffer and this web."""
    change: dict[str, Any] = {} if buffer == 25 else {"link.bottleneck.buffer": f"{buffer} ms"}
    if links != ACCESS:
        change["flow.fast.access"] = f"{links * bottleneck(scale):.1f} Mbit/s"
    return dumbbell(scale, cw(10), set=change | more, links=links, buffer=buffer, web_load=web)


def measure(run: Measured) -> Row:
    """Shares, index, losses."""
    return shares(run)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The largest index; the largest of those that use the link as in the paper; what each change does."""
    means = (
        rows.group_by("links", "buffer", "web_load")
        .agg(pl.col("jain", "total").mean())
        .sort("jain", descending=True)
    )
    full = means.filter(pl.col("total") >= PAPER_USE - TO_A_PERCENT)
    answers: dict[str, Answer] = {}
    for name, chosen in (("index", means), ("both", full)):
        best = {key: chosen[key][0] for key in ("links", "buffer", "web_load")}
        answers[f"hunt/{name}"] = per_seed(rows, "jain", **best)
    best = {key: means[key][0] for key in ("links", "buffer", "web_load")}
    answers["hunt/index/used"] = per_seed(rows, "total", **best)
    usual = at(rows, web_load="usual")
    little = across(at(rows, buffer=25), "web_load", "jain", keep=["links"])
    buffers = across(usual, "buffer", "jain", keep=["links"])
    links = across(usual, "links", "jain", keep=["buffer"])
    return answers | {
        "hunt/web": per_seed(little, (pl.col("little") - pl.col("usual")).mean()),
        "hunt/buffer": per_seed(buffers, (pl.col("10") - pl.col("25")).mean()),
        "hunt/links": per_seed(links, (pl.col("1.25") - pl.col("10.0")).mean()),
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Each set-up: index, use of the link, and how much more often 200 ms loses than 80 ms."""
    found: dict[str, Answer] = {}
    for links in LINKS:
        for buffer in BUFFERS_MS:
            here = at(rows, links=links, buffer=buffer, web_load="usual")
            name = f"hunt/{links:g}/{buffer}"
            found[f"{name}/index"] = per_seed(here, "jain")
            found[f"{name}/used"] = per_seed(here, "total")
            found[f"{name}/events"] = per_seed(here, more_losses())
        little = at(rows, links=links, web_load="little")
        found[f"hunt/{links:g}/little/index"] = per_seed(little, "jain")
        found[f"hunt/{links:g}/little/background"] = per_seed(little, "background")
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Index against use of the link: a marker for each set-up, its buffer beside it; and the paper's place."""
    figure, axes = plots.grid(1, 1, height=6)
    panel = axes[0, 0]
    for links, shape in zip(LINKS, "os", strict=True):
        for web in ("usual", "little"):
            found = at(rows, links=links, web_load=web).sort("buffer")
            x: list[float] = []
            y: list[float] = []
            for buffer in found["buffer"].unique().sort():
                use, across_use = plots.mean_and_half(at(found, buffer=buffer)["total"].to_list())
                index, half = plots.mean_and_half(at(found, buffer=buffer)["jain"].to_list())
                x.append(100 * use)
                y.append(index)
                panel.errorbar(
                    100 * use, index, xerr=100 * across_use, yerr=half, marker=shape, markersize=8,
                    color=plots.colour("cw-hstcp"), capsize=3, elinewidth=0.9,
                    markerfacecolor="white" if web == "little" else plots.colour("cw-hstcp"),
                )  # fmt: skip
                text = f"{buffer} ms"
                panel.annotate(text, (100 * use, index), (7, 6), textcoords="offset points")
            panel.plot(x, y, color=plots.colour("cw-hstcp"), linewidth=0.8, alpha=0.6)
    panel.plot(100 * PAPER_USE, PAPER_INDEX, "*", color="#222222", markersize=16)
    panel.annotate("the paper", (100 * PAPER_USE, PAPER_INDEX), (9, 4), textcoords="offset points")
    for links, shape in zip(LINKS, "os", strict=True):
        look = {"marker": shape, "color": plots.colour("cw-hstcp"), "linestyle": ""}
        label = f"senders' links {links:g} times the bottleneck"
        panel.plot([], [], label=label, **look)
        panel.plot([], [], label=f"the same, {LITTLE} % of web", markerfacecolor="white", **look)
    plots.legend(figure, panel)
    panel.set(xlabel="link used (%)", ylabel="Jain's index of the three flows", ylim=(0.4, 1.02))
    return figure
