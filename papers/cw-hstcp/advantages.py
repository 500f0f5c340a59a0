"""Section VI: does CW-HSTCP keep the advantages of HSTCP, friendliness at high loss and scale at low loss?

Lone flows on a link that is never full, which loses packets at random. At a loss of one in a hundred windows
are below 38, where HSTCP is standard TCP. CW-HSTCP still multiplies the increase by c RTT, which makes the
window larger by the square root of that.
"""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import THREE, cw

FIGURE = Experiment(
    id="advantages",
    title="The advantages of HSTCP: high loss and low loss",
    question="Is CW-HSTCP standard TCP where losses are frequent, and HSTCP where they are rare?",
)
HIGH, LOW = 1e-2, 1e-5
LOSSES = (HIGH, 1e-3, 1e-4, LOW)
CONTROLS = ("reno", "hstcp", "cw-hstcp")


def points(scale: Scale) -> Iterator[Point]:
    """Each controller, round trip and rate of loss; windows far below what the link holds."""
    for control in CONTROLS:
        for rtt in THREE:
            for loss in LOSSES:
                yield Point(
                    {
                        "duration": "300 s",
                        "warmup": "100 s",
                        "link": {
                            "bottleneck": {
                                "rate": "2 Gbit/s", "delay": "25 ms", "buffer": "unlimited",
                                "loss": loss,
                            }
                        },
                        "flow": [
                            {
                                "name": "fast",
                                "control": cw(10) if control == "cw-hstcp" else control,
                                "path": ["bottleneck"],
                                "rtt": f"{rtt} ms",
                                "profile": "ns2-2005",
                            }
                        ],
                    },
                    labels={"control": control, "rtt": rtt, "loss": loss},
                    seeds=3 if scale == "quick" else 8,
                )  # fmt: skip


def measure(run: Measured) -> Row:
    """The mean window, and the rate."""
    (flow,) = run.flows("fast")
    return {"window": flow["window_mean"], "rate_bit_s": flow["goodput_bit_s"]}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """CW-HSTCP's rate over standard TCP's at high loss, and over HSTCP's and standard TCP's at low loss."""
    wide = across(rows, "control", "rate_bit_s", keep=["rtt", "loss"])
    answers: dict[str, Answer] = {
        f"advantages/friendly/{rtt}": per_seed(
            wide, pl.col("cw-hstcp") / pl.col("reno"), rtt=rtt, loss=HIGH
        )
        for rtt in THREE
    }
    for rtt in THREE:
        answers[f"advantages/scale/{rtt}"] = per_seed(
            wide, pl.col("cw-hstcp") / pl.col("hstcp"), rtt=rtt, loss=LOW
        )
    return answers | {
        "advantages/standard": per_seed(
            wide, (pl.col("cw-hstcp") / pl.col("reno")).min(), loss=LOW
        ),
        "advantages/hstcp": per_seed(wide, (pl.col("hstcp") / pl.col("reno")).max(), loss=HIGH),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The mean window against the rate of loss, a panel for each round trip."""
    figure, axes = plots.grid(1, len(THREE), width=14, height=5.4, sharey=True)
    figure.subplots_adjust(top=0.74)
    for panel, rtt in zip(axes[0], THREE, strict=True):
        plots.over(panel, at(rows, rtt=rtt), x="loss", y="window", log=True)
        panel.set(xscale="log", yscale="log", xlabel="probability of loss")
        panel.set_title(f"{rtt} ms: η = {rtt / 100:g}", loc="left", fontsize=12, fontweight="bold")
    axes[0, 0].set_ylabel("mean window (packets)")
    plots.legend(figure, axes[0, 0])
    return figure
