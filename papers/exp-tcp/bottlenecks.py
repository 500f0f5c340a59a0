"""Section IV: several bottlenecks, one after the other, each with flows of its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from drawn import ratios, ticks
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import BDP_S, CONTROLS

FIGURE = Experiment(
    id="bottlenecks",
    title="Two flows through several bottlenecks",
    question="What do flows get that cross several full links, and do these stay full?",
)
HOPS = (1, 2, 3, 5)
EACH, MANY = 2, 8
"""Flows over all links, and as many over each one."""
EXPONENT = {"reno": 0.5, "hstcp": 0.835, "stcp": 1.0, "exp": 0.78}
"""d in window ∝ p^-d: square root; RFC 3649; MIMD; EXP-TCP's packets per epoch at windows of 100 to 1000."""


def points(scale: Scale) -> Iterator[Point]:
    """Every controller over one, two, three and five links; two of them over two links with more flows."""
    rate, duration, seeds = (40e6, 45, 3) if scale == "quick" else (120e6, 90, 6)
    for hops in HOPS:
        for control in CONTROLS:
            yield Point(
                parking_lot(rate, duration, hops, control),
                labels={"control": control, "hops": hops, "each": EACH},
                seeds=seeds,
            )
    for control in ("hstcp", "exp"):
        yield Point(
            parking_lot(rate, duration, 2, control, each=MANY),
            labels={"control": control, "hops": 2, "each": MANY},
            seeds=seeds,
        )


def parking_lot(
    rate: float, duration: float, hops: int, control: str, *, each: int = EACH
) -> dict[str, Any]:
    """Two flows over all links, two over each one; round trips of 80 ms, RED with the paper's numbers."""
    names = [f"hop{index}" for index in range(1, hops + 1)]
    red = {
        "kind": "red",
        "min": "0.1 bdp",
        "max": "0.3 bdp",
        "weight": 0.002,
        "max_p": 0.1,
        "gentle": True,
        "ecn": True,
    }
    link = {
        "rate": f"{rate:.0f} bit/s",
        "delay": "5 ms",
        "buffer": "1 bdp",
        "bdp": f"{BDP_S * 1e3:.0f} ms",
        "queue": red,
    }
    flow = {
        "control": control,
        "count": each,
        "rtt": f"{BDP_S * 1e3:.0f} ms",
        "start": {"uniform": ["0 s", "5 s"]},
        "profile": "ns2-2005",
    }
    return {
        "duration": f"{duration:.0f} s",
        "warmup": "15 s",
        "link": {name: dict(link) for name in names},
        "flow": [
            {"name": "all", "path": names, **flow},
            *({"name": f"on-{name}", "path": [name], **flow} for name in names),
        ],
    }


def measure(run: Measured) -> Row:
    """Flows over all links, relative to those over a single one: rate, and losses and marks per packet."""
    whole = [flow for flow in run.flows() if flow["name"].startswith("all[")]
    single = [flow for flow in run.flows() if not flow["name"].startswith("all[")]
    links = [ways["forward"] for ways in run.summary["links"].values()]
    return {
        "share": mean(whole, "goodput_bit_s") / mean(single, "goodput_bit_s"),
        "events": events_per_bit(whole) / events_per_bit(single),
        "utilisation": min(link["utilisation"] for link in links),
        "signal_rate": sum(link["drop_rate"] + link["mark_rate"] for link in links) / len(links),
    }


def mean(flows: list[dict[str, Any]], column: str) -> float:
    """The mean of a column over some flows."""
    return float(np.mean([flow[column] for flow in flows]))


def events_per_bit(flows: list[dict[str, Any]]) -> float:
    """Window decreases per bit delivered."""
    return mean(flows, "congestion_events") / mean(flows, "goodput_bit_s")


def exponents(rows: pl.DataFrame, control: str, column: str = "share") -> list[float]:
    """The slope of log ratio against log links for each seed. At one link, all flows are alike: ratio 1."""
    found = []
    chosen = rows.filter(pl.col("control") == control, pl.col("hops") > 1)
    for _, part in chosen.sort("seed", "hops").group_by("seed", maintain_order=True):
        x, y = np.log(part["hops"].to_numpy()), np.log(part[column].to_numpy())
        found.append(float(x @ y / (x @ x)))
    return found


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Exponents fitted per seed; utilisation of the least used link."""
    rows = at(rows, each=EACH)
    answers: dict[str, Answer] = {
        f"bottlenecks/{control}/share": exponents(rows, control) for control in CONTROLS
    }
    answers["bottlenecks/exp/stcp"] = [
        exp - stcp
        for exp, stcp in zip(exponents(rows, "exp"), exponents(rows, "stcp"), strict=True)
    ]
    for control in ("hstcp", "stcp", "exp"):
        answers[f"bottlenecks/{control}/law"] = [
            -share / events
            for share, events in zip(
                exponents(rows, control), exponents(rows, control, "events"), strict=True
            )
        ]
    answers["bottlenecks/exp/utilisation"] = per_seed(
        rows, pl.col("utilisation").min(), control="exp"
    )
    return answers


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """The exponent over two links, with two flows and with eight; that of decreases per packet."""
    few, many = (at(rows, each=each, hops=2) for each in (EACH, MANY))
    found: dict[str, Answer] = {}
    for control in ("hstcp", "exp"):
        found[f"bottlenecks/{control}/two"] = exponents(few, control)
        found[f"bottlenecks/{control}/eight"] = exponents(many, control)
    for control in ("hstcp", "stcp", "exp"):
        found[f"bottlenecks/{control}/events"] = exponents(at(rows, each=EACH), control, "events")
    return found


def draw(rows: pl.DataFrame) -> Figure:
    """Shares and losses per packet, each with what theory predicts; utilisation."""
    rows = at(rows, each=EACH)
    figure, axes = plots.grid(1, 3, width=14, height=6.0)
    share, events, used = axes[0]
    hops = np.linspace(1, max(HOPS), 60)
    ratios(share, rows, x="hops", y="share")
    for control in CONTROLS:
        share.plot(
            hops,
            hops ** -EXPONENT[control],
            color=plots.colour(control),
            linestyle=plots.DOTTED,
            linewidth=1.2,
        )
    ratios(events, rows, x="hops", y="events")
    events.plot(hops, hops, color="#4D4D4D", linestyle=plots.DOTTED, linewidth=1.4)
    plots.over(used, rows, x="hops", y="utilisation", percent=True)
    for panel in axes[0]:
        panel.set(xscale="log", xlabel="full links one after the other")
        ticks(panel.xaxis, HOPS)
    share.set(
        yscale="log", ylabel="rate: flow through all links over flow through one", ylim=(0.03, 2)
    )
    ticks(share.yaxis, (0.05, 0.1, 0.2, 0.3, 0.5, 1, 2))
    plots.note(share, "dotted: links$^{-d}$, as the window\ngoes with (marks per packet)$^{-d}$")
    events.set(yscale="log", ylabel="decreases per packet: the same ratio", ylim=(0.5, 30))
    ticks(events.yaxis, (0.5, 1, 2, 3, 5, 10, 20))
    plots.note(events, "dotted: every link\nmarks packets alike", (0.97, 0.04), ha="right")
    used.set(
        ylabel="utilisation of the worst used link (%)", ylim=(max(60, used.get_ylim()[0]), 101)
    )
    plots.legend(figure, used)
    return figure
