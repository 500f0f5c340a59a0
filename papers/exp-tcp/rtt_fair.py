"""Section IV: EXP-TCP made fair across round trips, with the option `rtt_fair`, against plain EXP-TCP."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drawn import ratios, ticks
from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="rtt-fair",
    title="EXP-TCP made fair to round trips",
    question="Do flows of different round trips get the same rate, and what does it cost?",
)
QUEUES = ("DropTail", "RED")
RANDOM = "random loss"
LARGEST = 8
MIDDLE_S = 0.040
QUEUED_S = 0.076
GAMMA = 0.05
PLAIN, FAIR = "EXP-TCP", "EXP-TCP with rtt_fair"
LOOKS = {PLAIN: (plots.colour("exp"), "D"), FAIR: ("#0B6E8A", "o")}


def points(scale: Scale) -> Iterator[Point]:
    """Two flows with a short and two with a long round trip, around 40 ms, which is the reference.

    At the largest ratio also with a reference of 76 ms, which is the middle with a full queue, and where
    nothing but chance drops packets.
    """
    rate, duration, seeds = ("40 Mbit/s", 90, 3) if scale == "quick" else ("120 Mbit/s", 200, 6)
    for queue in QUEUES:
        for ratio in (1, 2, 4, LARGEST):
            for kind in LOOKS:
                control = {
                    "kind": "exp",
                    "rtt_fair": kind == FAIR,
                    "reference_rtt": f"{MIDDLE_S * 1e3:.0f} ms",
                }
                changes: dict[str, Any] = {
                    "link.bottleneck.rate": rate,
                    "duration": f"{duration} s",
                    "warmup": f"{duration // 3} s",
                    "flow.short.control": control,
                    "flow.long.control": control,
                    "flow.short.rtt": f"{MIDDLE_S * 1e6 / ratio**0.5:.0f} us",
                    "flow.long.rtt": f"{MIDDLE_S * 1e6 * ratio**0.5:.0f} us",
                }
                if queue == "DropTail":
                    changes["link.bottleneck.queue"] = "drop-tail"
                yield point(changes, queue, ratio, kind, seeds=seeds)
                if queue == "DropTail" and ratio == LARGEST and kind == FAIR:
                    queued = control | {"reference_rtt": f"{QUEUED_S * 1e3:.0f} ms"}
                    laws = {"flow.short.control": queued, "flow.long.control": queued}
                    made = changes | laws
                    yield point(made, queue, ratio, kind, seeds=seeds, reference_s=QUEUED_S)
                    chance = {
                        "link.bottleneck.rate": "2 Gbit/s",
                        "link.bottleneck.loss": 1e-3,
                    }
                    yield point(changes | chance, RANDOM, ratio, kind, seeds=seeds)


def point(
    changes: dict[str, Any],
    queue: str,
    ratio: int,
    kind: str,
    *,
    seeds: int,
    reference_s: float = MIDDLE_S,
) -> Point:
    """The scenario with these changes and labels."""
    labels = {"queue": queue, "ratio": float(ratio), "kind": kind, "reference_s": reference_s}
    return Point("rtt-fair.toml", set=changes, labels=labels, seeds=seeds)


def measure(run: Measured) -> Row:
    """Rate of the short round trip over that of the long one, and what happens at the bottleneck."""
    short, long = run.flows("short"), run.flows("long")
    link = run.link()
    return {
        "share": mean(short, "goodput_bit_s") / mean(long, "goodput_bit_s"),
        "predicted": synchronised(run, short, long),
        "events": per_bit(short) / per_bit(long),
        "utilisation": link["utilisation"],
        "queue_mean": link["queue_mean"],
        "signal_rate": link["drop_rate"] + link["mark_rate"],
    }


def mean(flows: list[dict[str, Any]], column: str) -> float:
    """The mean of a column over some flows."""
    return float(np.mean([flow[column] for flow in flows]))


def per_bit(flows: list[dict[str, Any]]) -> float:
    """Window decreases per bit delivered; one at least, so that a ratio exists."""
    return max(mean(flows, "congestion_events"), 0.5) / mean(flows, "goodput_bit_s")


def synchronised(run: Measured, short: list[dict[str, Any]], long: list[dict[str, Any]]) -> float:
    """What plain flows would get if they lost together as often as these: (R₂/R₁) (…)², queue included."""
    epoch_s = run.quantities.measured_s / max(1.0, mean([*short, *long], "congestion_events"))
    first, second = (
        mean(flows, "rtt_s") + mean(flows, "queueing_delay_mean_s") for flows in (short, long)
    )
    grown = np.expm1(GAMMA * epoch_s / first) / np.expm1(GAMMA * epoch_s / second)
    return float(second / first * grown**2)


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Fairness at the largest ratio of round trips; fair against plain, run by run, for what it costs."""
    rows = at(rows, queue=list(QUEUES), reference_s=MIDDLE_S)
    answers: dict[str, Answer] = {}
    for queue in QUEUES:
        for name, kind in (("plain", PLAIN), ("fair", FAIR)):
            answers[f"rtt-fair/{queue.lower()}/{name}"] = per_seed(
                rows, "share", queue=queue, kind=kind, ratio=8.0
            )
    decades = pl.col("share").log() / pl.col("predicted").log()
    answers["rtt-fair/droptail/bound"] = per_seed(
        rows, decades.first(), queue="DropTail", kind=PLAIN, ratio=8.0
    )
    used = across(rows, "kind", "utilisation", keep=["queue", "ratio"])
    answers["rtt-fair/utilisation"] = per_seed(used, (pl.col(FAIR) - pl.col(PLAIN)).min())
    lost = across(rows, "kind", "signal_rate", keep=["queue", "ratio"])
    answers["rtt-fair/losses"] = per_seed(lost, (pl.col(FAIR) / pl.col(PLAIN)).mean())
    return answers


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """At the largest ratio: random losses, a reference that counts the queue, and who backs off more.

    Losses are those of 10 000 packets.
    """
    queued = at(rows, reference_s=QUEUED_S)
    plain = at(rows, queue="DropTail", kind=PLAIN, ratio=float(LARGEST))
    fair = at(rows, queue="DropTail", kind=FAIR, ratio=float(LARGEST), reference_s=MIDDLE_S)
    both = {kind: at(rows, queue="RED", kind=kind, ratio=float(LARGEST)) for kind in (PLAIN, FAIR)}
    return {
        "rtt-fair/random": per_seed(at(rows, queue=RANDOM), "share"),
        "rtt-fair/queued": per_seed(queued, "share"),
        "rtt-fair/queued/signals": per_seed(queued, 1e4 * pl.col("signal_rate")),
        "rtt-fair/plain/signals": per_seed(plain, 1e4 * pl.col("signal_rate")),
        "rtt-fair/fair/signals": per_seed(fair, 1e4 * pl.col("signal_rate")),
        "rtt-fair/plain/events": per_seed(both[PLAIN], "events"),
        "rtt-fair/fair/events": per_seed(both[FAIR], "events"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Ratio of rates, utilisation and losses against the ratio of round trips; DropTail above, RED below."""
    rows = at(rows, queue=list(QUEUES), reference_s=MIDDLE_S)
    figure, axes = plots.grid(2, 3, width=14, height=8.6, sharex=True)
    figure.subplots_adjust(top=0.82, hspace=0.2)
    for line, queue in zip(axes, QUEUES, strict=True):
        chosen = at(rows, queue=queue)
        share, used, lost = line
        ratios(share, chosen, x="ratio", y="share", by="kind", looks=LOOKS)
        ratios(used, chosen, x="ratio", y="utilisation", by="kind", factor=100, looks=LOOKS)
        ratios(lost, chosen, x="ratio", y="signal_rate", by="kind", factor=100, looks=LOOKS)
        share.set(
            xscale="log", yscale="log", ylim=(0.5, 40), ylabel="rate: short over long round trip"
        )
        ticks(share.xaxis, (1, 2, 4, 8))
        ticks(share.yaxis, (0.5, 1, 2, 4, 8, 16, 32))
        share.axhline(1, color=plots.FAINT, linewidth=0.8)
        used.set(ylabel="utilisation (%)", ylim=(min(94.5, used.get_ylim()[0]), 100.4))
        lost.set(ylabel="dropped or marked (%)", ylim=(0, None))
        share.set_title(queue, loc="left", fontsize=12, fontweight="bold")
        predict(share, chosen, queue)
    for panel in axes[1]:
        panel.set_xlabel("ratio of round trips")
    plots.legend(figure, axes[0, 0])
    return figure


def predict(panel: Axes, rows: pl.DataFrame, queue: str) -> None:
    """What theory predicts for plain flows: losing together with DropTail, equal windows with RED."""
    plain = (
        at(rows, kind=PLAIN)
        .group_by("ratio")
        .agg(pl.col("predicted").log().mean().exp())
        .sort("ratio")
    )
    if queue == "DropTail":
        x, y, text = plain["ratio"], plain["predicted"], "dotted: plain, if all lose together"
    else:
        x, y, text = plain["ratio"], plain["ratio"], "dotted: plain, equal windows"
    panel.plot(x, y, color=plots.colour("exp"), linestyle=plots.DOTTED, linewidth=1.6)
    plots.note(panel, text, (0.03, 0.95), va="top")
