"""How large alpha may be: losses, marks and utilisation as alpha w goes from 0.05 to 10. Not in the paper.

One reaction per window takes away 1/(alpha w) segments, a round trip adds one. w is what the path
holds for each flow.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import QUEUES, UTILISATION, fiber, single

FIGURE = Experiment(
    id="control",
    title="Losses and load while alpha w goes from 0.05 to 10",
    question="How large may alpha be on a path?",
)
PRODUCTS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
PATHS = {
    "quick": ((10, 1), (100, 1), (100, 8)),
    "full": ((10, 1), (100, 1), (100, 8)),
}
WAYS = (("drop-tail", False), ("avq", False), ("avq", True))


def points(scale: Scale) -> Iterator[Point]:
    """Capacities, flows, queues and reactions."""
    for rate, flows in PATHS[scale]:
        for queue, per_mark in WAYS:
            for product in PRODUCTS:
                segments = rate * 1e6 * 0.1 / 12_000 / flows
                lost = (rate, flows, queue, per_mark, product) == (100, 1, "avq", False, 10.0)
                yield Point(
                    single(
                        fiber(product / segments, per_mark=per_mark), rate_bit_s=rate * 1e6,
                        queue=QUEUES[queue], loss=0.0, duration_s=60, warmup_s=30, count=flows,
                        initial_threshold=max(2, round((1.4 if queue == "drop-tail" else 0.9) * segments)),
                        start={"uniform": ["0 s", "2 s"]},
                    ),
                    labels={
                        "path": f"{rate} Mbit/s, {flows} flow{'s' if flows > 1 else ''}",
                        "way": queue + (", every mark" if per_mark else ""),
                        "product": product,
                        "segments": segments,
                    },
                    seeds=60 if lost else 5 if scale == "quick" else 10,
                )  # fmt: skip


def measure(run: Measured) -> Row:
    """Signals, also per window and per second; how often flows reacted to them; the load; time-outs."""
    link = run.link()
    signals = link["drop_rate"] + link["mark_rate"]
    return {
        "utilisation": link["utilisation"],
        "signals": signals,
        "per_window": signals * run.labels["segments"],
        "full": signals * 1.5 * run.labels["segments"],
        "excess": link["utilisation"] - UTILISATION,
        "signals_s": signals * link["arrived"] / run.quantities.measured_s,
        "reactions_s": sum(flow["congestion_events"] for flow in run.flows())
        / run.quantities.measured_s,
        "timeouts": sum(flow["timeouts"] for flow in run.flows()),
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """One flow at 100 Mbit/s."""
    one = at(rows, path="100 Mbit/s, 1 flow")
    kept = one.filter(pl.col("product") <= 1)
    excess = pl.col("excess")
    return {
        "control/drop-tail": per_seed(one, pl.col("full").max(), way="drop-tail"),
        "control/avq/kept": per_seed(kept, excess.max(), way="avq"),
        "control/avq/lost": per_seed(one, "excess", way="avq", product=10.0),
        "control/per-mark": per_seed(one, "excess", way="avq, every mark", product=10.0),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Signals above, load below; a column for each path."""
    paths = list(dict.fromkeys(rows["path"].to_list()))
    figure, axes = plots.grid(2, len(paths), sharex=True, sharey="row", width=4.2 * len(paths))
    for column, path in enumerate(paths):
        chosen = at(rows, path=path)
        upper, lower = axes[0, column], axes[1, column]
        plots.over(upper, chosen, x="product", y="per_window", by="way", log=True)
        plots.over(lower, chosen, x="product", y="utilisation", by="way", log=True, percent=True)
        upper.set(yscale="log")
        upper.set_title(path, loc="left", fontsize=11, fontweight="bold")
        for panel in (upper, lower):
            panel.axvline(1, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
            panel.set_xticks(list(PRODUCTS), [f"{p:g}" for p in PRODUCTS])
        upper.set_ylim(1e-2, 3e2)
        lower.set(xlabel="alpha w", ylim=(60, 103))
    axes[0, 0].set_ylabel("drops and marks per window")
    axes[1, 0].set_ylabel("utilisation (%)")
    figure.subplots_adjust(top=1 - 1.75 / figure.get_figheight())
    plots.legend(figure, axes[0, 0])
    return figure
