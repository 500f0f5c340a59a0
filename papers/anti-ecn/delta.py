"""Section IV: the increase parameter Δ, which the paper leaves to future work, in trains and paced."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from beyond import beyond, difference, head
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import QUICK, lone

FIGURE = Experiment(
    id="delta",
    title="The increase parameter: what it changes in trains, and what paced",
    question="Which Δ uses more of the link, and do three flows stay equal with it?",
)
DELTAS: dict[str, float | str] = {
    "1": 1, "10": 10, "100": 100, "sqrt": "sqrt", "window": "window"
}  # fmt: skip
"""By name: constants, the square root of the window, and the window, which the paper uses."""

SENDING = ("trains", "paced")
START = 100
"""Where slow start ends; paced it would otherwise fill the path."""


def points(scale: Scale) -> Iterator[Point]:
    """A lone flow in the first 100 s of Experiment 1; and three flows on the smaller link."""
    for sending in SENDING:
        for name, value in {"TCP": None, **DELTAS}.items():
            control = "reno" if value is None else {"kind": "anti-ecn", "delta": value}
            pacing = "spread" if sending == "paced" else "none"
            small = QUICK[40] if scale == "quick" else 1
            scaled = max(1, value / small) if isinstance(value, float | int) else value
            lonely = "reno" if value is None else {"kind": "anti-ecn", "delta": scaled}
            changes = {
                "flow.lone.control": lonely,
                "flow.lone.pacing": pacing,
                "flow.lone.initial_threshold": START / small,
            }
            threshold = None if value is None else 0.5
            alone = lone(scale, 40, threshold, length_s=100, set=changes)
            labels = {"kind": "lone", "delta": name, "sending": sending}
            yield Point(alone.scenario, alone.set, labels, 1, ())
            three = {
                "flow.flow.control": control,
                "flow.flow.pacing": pacing,
                "flow.flow.count": 3,
                "link.bottleneck.anti_ecn": {"threshold": 0.9, "buffer": "1 bdp"},
            }
            yield beyond(scale, 24, three, seeds=10, kind="three", delta=name, sending=sending)


def measure(run: Measured) -> Row:
    """Utilisation, marks, and how equal the flows are."""
    link, flows = run.link(), run.flows()
    rates = [float(flow["goodput_bit_s"]) for flow in flows]
    return {
        "used": link["utilisation"],
        "marks": link["mark_rate"],
        "goodput_bit_s": sum(rates),
        "jain": sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates)),
    }


def gain(rows: pl.DataFrame, name: str, sending: str) -> float:
    """How much more a lone flow delivers than TCP."""
    line = at(rows, kind="lone", sending=sending)
    plain = float(at(line, delta="TCP")["goodput_bit_s"][0])
    return float(at(line, delta=name)["goodput_bit_s"][0]) / plain - 1


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic; three flows are compared seed by seed."""
    answers: dict[str, Answer] = {
        "delta/one": max(abs(gain(rows, "1", sending)) for sending in SENDING)
    }
    for sending in SENDING:
        share = gain(rows, "100", sending) / gain(rows, "window", sending)
        answers[f"delta/{sending}/hundred"] = share
        here = {"kind": "three", "sending": sending}
        tcp, window = (here | {"delta": name} for name in ("TCP", "window"))
        answers[f"delta/{sending}/fair"] = difference(rows, "jain", window, tcp)
        answers[f"delta/{sending}/used"] = difference(rows, "used", window, tcp)
        if sending == "paced":
            ten = here | {"delta": "10"}
            answers["delta/paced/ten/fair"] = difference(rows, "jain", ten, tcp)
            answers["delta/paced/ten/used"] = difference(rows, "used", ten, tcp)
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """What a lone flow gains; what three flows use, and how equal they are."""
    figure, axes = plots.grid(1, 3, width=15, height=5.4)
    figure.subplots_adjust(wspace=0.28)
    for place, (sending, colour) in enumerate(zip(SENDING, ("#0B3C5D", "#E08E1B"), strict=True)):
        gains = [100 * gain(rows, name, sending) for name in DELTAS]
        places = [x + 0.36 * (place - 0.5) for x in range(len(DELTAS))]
        axes[0, 0].bar(
            places,
            gains,
            0.33,
            color=colour,
            label=f"in {sending}" if sending == "trains" else sending,
        )
        for x, value in zip(places, gains, strict=True):
            axes[0, 0].annotate(f"{value:.1f}", (x, max(value, 0)), xytext=(0, 3), ha="center",
                                textcoords="offset points", fontsize=9)  # fmt: skip
        for panel, column in zip(axes[0, 1:], ("used", "jain"), strict=True):
            factor = 100 if column == "used" else 1
            for x, name in enumerate(("TCP", *DELTAS)):
                values = factor * at(rows, kind="three", sending=sending, delta=name)[column]
                half = 2.26 * float(str(values.std())) / len(values) ** 0.5
                panel.errorbar(x + 0.2 * (place - 0.5), float(str(values.mean())), yerr=half, fmt="o",
                               markersize=7, capsize=3, color=colour)  # fmt: skip
    names = ["1", "10", "100", "√w", "w"]
    axes[0, 0].set_xticks(range(len(DELTAS)), names)
    axes[0, 0].set(ylabel="more throughput than TCP (%)", xlabel="Δ")
    head(axes[0, 0], "lone flow, first 100 s")
    for panel, label, title in (
        (axes[0, 1], "utilisation (%)", "three flows, threshold 90 %"),
        (axes[0, 2], "Jain's index of goodputs", "three flows: how equal"),
    ):
        panel.set_xticks(range(len(names) + 1), ["TCP", *names])
        panel.set(ylabel=label, xlabel="Δ")
        head(panel, title)
    plots.legend(figure, axes[0, 0])
    return figure
