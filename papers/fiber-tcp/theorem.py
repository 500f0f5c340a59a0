"""Theorem 3.1: the controllers settle at one point, whatever they begin with, and it solves problem (12).

With a virtual queue the penalty of (12) becomes the constraint of (6). The optimum is found by an interior
point method that knows rates, capacities and utilities, and nothing of windows, marks or laws.
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import longfat
from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Computation, Measured, Row
from shared import PACKET_BIT

FIGURE = Experiment(
    id="theorem",
    title="Where controllers settle, against the optimum of their utilities",
    question="Do the controllers settle at one point, and does it solve the problem of the theorem?",
    by=("flow",),
)
ALPHA, C = 1e-2, 2.0
STARTS = (2.0, 5.0, 20.0)
"""Windows, in segments, with which all flows of a network begin."""

Numbers = np.ndarray[Any, Any]


def network(seed: int) -> tuple[list[float], list[list[int]], list[float], list[float]]:
    """Capacities in packets per second; the links, the round trip and the alpha of each flow. TCP has 0."""
    chance = random.Random(seed)  # noqa: S311 - shapes of networks
    links, flows = 4, 8
    capacities = [chance.uniform(20, 100) for _ in range(links)]
    # The first flows are alone on their links, so that every link has a price.
    routes = [[link] for link in range(links)]
    routes += [
        sorted(chance.sample(range(links), chance.randint(2, 3))) for _ in range(flows - links)
    ]
    round_trips = [round(chance.uniform(0.5, 1.5), 3) for _ in range(flows)]
    return capacities, routes, round_trips, [chance.choice([0.0, ALPHA]) for _ in range(flows)]


def settled(start: float, seed: int) -> list[Row]:
    """Rates in packets per second after 1000 s of the equations, and the best ones."""
    capacities, routes, round_trips, alphas = network(seed)
    scenario = {
        "duration": "1000 s",
        "sample": "10 s",
        "link": {
            f"l{i}": {
                "rate": f"{round(rate * PACKET_BIT)} bit/s",
                "delay": "0 s",
                "buffer": "1 packet",
            }
            for i, rate in enumerate(capacities)
        },
        "flow": [
            {
                "name": f"f{i}",
                "control": {"kind": "fiber", "alpha": alpha, "c": C},
                "path": [f"l{link}" for link in route],
                "rtt": f"{rtt} s",
                "initial_window": start,
                "initial_threshold": start,
            }
            for i, (route, rtt, alpha) in enumerate(zip(routes, round_trips, alphas, strict=True))
        ],
    }
    flows = longfat.fluid(scenario, price="avq", delay=False).summary["flows"]
    rates = [flow["window"][-1] / rtt for flow, rtt in zip(flows, round_trips, strict=True)]
    best = optimum(np.array(capacities), routes, np.array(round_trips), np.array(alphas))
    return [
        {"flow": i, "rate": rate, "best": float(b), "alpha": alpha}
        for i, (rate, b, alpha) in enumerate(zip(rates, best, alphas, strict=True))
    ]


def optimum(
    capacities: Numbers, routes: list[list[int]], round_trips: Numbers, alphas: Numbers
) -> Numbers:
    """The rates that maximise the sum of alpha x - c/(R² x) where no link is overloaded.

    Newton's method on the sum plus a logarithm of what each link has left, whose weight goes to zero.
    """
    crossed = np.array(
        [[float(link in route) for route in routes] for link in range(len(capacities))]
    )
    x = np.full(len(routes), 0.5 * float(np.min(capacities / crossed.sum(axis=1))))
    weight = 1.0
    while weight > 1e-14:
        for _ in range(60):
            left = capacities - crossed @ x
            slope = alphas + C / (round_trips * x) ** 2 - weight * (crossed.T @ (1 / left))
            bend = -np.diag(2 * C / (round_trips**2 * x**3)) - weight * crossed.T @ (
                crossed / (left**2)[:, None]
            )
            step = np.linalg.solve(bend, -slope)
            size = 1.0
            while np.any(x + size * step <= 0) or np.any(
                capacities - crossed @ (x + size * step) <= 0
            ):
                size /= 2
            x = x + size * step
            if float(np.max(np.abs(step) / x)) < 1e-12:
                break
        weight /= 4
    return x


def points(scale: Scale) -> Iterator[Computation]:
    """Random networks, each from three beginnings."""
    for start in STARTS:
        yield Computation(
            {"start": start},
            settled,
            {"start": start},
            seeds=5 if scale == "quick" else 20,
            seconds=0.4,
        )


def measure(run: Measured) -> list[Row]:
    """A row for each flow."""
    rows: list[Row] = run.value
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The largest distance from the optimum, and between beginnings."""
    off = (pl.col("rate") / pl.col("best") - 1).abs().max()
    apart = pl.col("rate").max().over("flow") / pl.col("rate").min().over("flow") - 1
    return {
        "theorem/optimum": per_seed(rows, off, start=STARTS[0]),
        "theorem/unique": per_seed(rows, apart.max()),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Rates against the best ones."""
    figure, axes = plots.grid(1, 1, height=5.4)
    panel = axes[0, 0]
    for control, alpha in (("fiber", ALPHA), ("reno", 0.0)):
        shown = at(rows, alpha=alpha, start=STARTS[0])
        panel.plot(
            shown["best"], shown["rate"], plots.marker(control), color=plots.colour(control),
            markersize=6, alpha=0.7, label=plots.name(control), linestyle="none",
        )  # fmt: skip
    low, high = 0.8 * min(rows["best"]), 1.2 * max(rows["best"])
    panel.plot([low, high], [low, high], color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    panel.set(
        xscale="log", yscale="log", xlabel="optimum of the theorem (packets/s)",
        ylabel="where the equations settle (packets/s)", xlim=(low, high), ylim=(low, high),
    )  # fmt: skip
    plots.shows(figure, "every flow of every network")
    plots.legend(figure, panel)
    return figure
