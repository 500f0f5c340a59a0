"""Section I: what the square-root formula says, checked on the sawtooth that it describes.

The synchronised fluid of one flow on a link without a buffer is that sawtooth: it loses once per epoch.
"""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import longfat
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Computation, Measured, Row

FIGURE = Experiment(
    id="section-1",
    title="The arithmetic of the introduction",
    question="Are the numbers that motivate the paper right?",
)
FRIENDLY, ALPHA = 10e6, 2e-6


def sawtooth(rate_bit_s: float, packet_byte: int) -> tuple[float, float]:
    """Mean rate of a lone TCP flow on a link without a buffer, and losses per packet."""
    top = rate_bit_s * 0.1 / (8 * packet_byte)
    trips = top / 2
    found = longfat.synchronised(
        "reno", rate=f"{rate_bit_s - 8 * packet_byte / 0.1:.0f} bit/s", rtt="100 ms", window=[top / 2],
        duration=f"{8 * trips * 0.1:.3f} s", packet=f"{packet_byte} B",
    )  # fmt: skip
    series = found.flow_series.to_polars()
    time, window = series["time_s"].to_numpy(), series["window"].to_numpy()
    falls = np.flatnonzero(np.diff(window) < -0.1 * top)
    whole = slice(falls[0] + 1, falls[-1] + 1)
    seconds = time[falls[-1]] - time[falls[0]]
    packets = float(np.trapezoid(window[whole], time[whole])) / 0.1
    return packets * 8 * packet_byte / seconds, (len(falls) - 1) / packets


def points(_: Scale) -> Iterator[Computation]:
    """Links whose sawtooth has the loss or the mean of each example."""
    top = math.sqrt(8 / (3 * 1e-9)) * 12_000 / 0.1
    for case, rate, packet in (
        ("eq-1", top, 1500),
        ("no-loss", 100e9, 1500),
        ("fast", 100e9 / 0.75, 1000),
    ):
        yield Computation({"case": case}, sawtooth, {"rate_bit_s": rate, "packet_byte": packet})


def measure(run: Measured) -> Row:
    """Rate and loss."""
    rate, loss = run.value
    return {"rate_bit_s": rate, "loss": loss}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Rates and losses; HSTCP by the formula of the paper."""

    def of(case: str, column: str) -> float:
        return float(at(rows, case=case)[column][0])

    # Scaled, as the loss goes with 1/w²: in a small sawtooth the one packet of its buffer would show.
    p = of("no-loss", "loss") * (of("no-loss", "rate_bit_s") / FRIENDLY) ** 2
    return {
        "section-1/eq-1": of("eq-1", "rate_bit_s"),
        "section-1/no-loss": of("no-loss", "rate_bit_s"),
        "section-1/fast": of("fast", "loss") * 1e12,
        "section-1/slow": p * 1e4,
        "section-1/friendly": math.sqrt(p / (p - ALPHA)),
        "section-1/hstcp": hstcp_bit_s(1e-9) / 100e9,
    }


def facts(_: pl.DataFrame) -> dict[str, Answer]:
    """The rate of HSTCP in the example."""
    return {"section-1/hstcp-rate": hstcp_bit_s(1e-9)}


def hstcp_bit_s(loss: float) -> float:
    """Eq. (2), at 100 ms and 1500 bytes."""
    return 0.15 / math.pow(loss, 0.82) * 12_000 / 0.1


def draw(rows: pl.DataFrame) -> Figure:
    """Rates against loss by the formulas, at 100 ms and 1500 bytes; and the measured sawtooth."""
    figure, axes = plots.grid(1, 1, height=5.4)
    panel = axes[0, 0]
    p = np.geomspace(1e-12, 1e-3, 400)
    segment = 12_000 / 0.1
    alpha = 1e-7
    panel.plot(p, segment * np.sqrt(1.5 / p), color=plots.colour("reno"), label="TCP, eq. (1)")
    panel.plot(p, segment * 0.15 / p**0.82, color=plots.colour("hstcp"), label="HSTCP, eq. (2)")
    above = p[p > alpha * 1.000001]
    panel.plot(
        above, segment * np.sqrt(2 / (above - alpha)), color=plots.colour("fiber"),
        label="fiber TCP, eq. (10), alpha = 1e-7",
    )  # fmt: skip
    shown = at(rows, case=["eq-1", "no-loss"])
    panel.plot(shown["loss"], shown["rate_bit_s"], "o", color="#222222", label="measured sawtooth")
    panel.annotate(
        "100 Gbit/s", (1e-4, 100e9), (0, 3), textcoords="offset points", color=plots.FAINT
    )
    panel.axhline(100e9, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    panel.axvline(1e-9, color=plots.FAINT, linewidth=1, linestyle=plots.DASHED)
    panel.annotate("the fibre", (1e-9, 2e6), (4, 0), textcoords="offset points", color=plots.FAINT)
    panel.set(
        xscale="log", yscale="log", xlabel="losses per packet", ylabel="rate (bit/s)",
        ylim=(1e6, 1e12), xlim=(1e-12, 1e-3),
    )  # fmt: skip
    plots.legend(figure, panel)
    return figure
