"""Figure 3: two flows that always lose together, in the plane of their windows (Chiu and Jain 1989).

Standard windows end on their line, CW-HSTCP's meet, HSTCP's drift apart; always in favour of the shorter
round trip, unlike the arrow from A.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import polars as pl
from matplotlib.figure import Figure

import longfat
from longfat import plot
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Computation, Measured, Row
from shared import PACKET_BIT, cw

FIGURE = Experiment(
    id="figure-3",
    title="Losses that come together, in the plane of windows",
    question="Where do two windows go that always lose together?",
    by=("step",),
)
RTTS_MS = (160, 80)
"""Round trips of flow 1 and flow 2: as in the figure, the first is the longer one."""
RATE_MBIT_S = 500
STARTS = {"A": 0.75, "G": 0.15}
"""Flow 1's share of the rate at the start."""
RATIOS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 50.0, 100.0, 200.0)
"""w₁ over w₂ at other starts."""
FILLED = 0.8
"""How full the link is at the start."""
EPOCHS = 60
LAWS: dict[str, tuple[str | Mapping[str, Any], int]] = {
    "reno": ("reno", 10_000),
    "hstcp": ("hstcp", 360),
    "cw-hstcp": (cw(10), 390),
}
"""The laws, and how many seconds each needs for `EPOCHS` losses."""


@cache
def synchronised(control: str, start: str, seconds: int) -> longfat.Fluid:
    """Both flows from one of the starts, without a queue."""
    law, _ = LAWS[control]
    packets = RATE_MBIT_S * 1e6 / PACKET_BIT
    shares = (STARTS[start], 1 - STARTS[start])
    return longfat.synchronised(
        law,
        rate=f"{RATE_MBIT_S} Mbit/s",
        rtt=[f"{rtt} ms" for rtt in RTTS_MS],
        window=[
            FILLED * packets * rtt / 1e3 * share for rtt, share in zip(RTTS_MS, shares, strict=True)
        ],
        duration=f"{seconds} s",
        packet=f"{PACKET_BIT // 8} B",
        sample=f"{seconds // 200} s",
    )


def losses(control: str, start: str) -> list[Row]:
    """Windows at each loss: when the link is full, and just after."""
    solved = synchronised(control, start, LAWS[control][1]).summary
    time = solved["t"]
    one, two = (flow["window"] for flow in solved["flows"])
    found = [k for k in range(len(time) - 1) if time[k] == time[k + 1]][:EPOCHS]
    return [
        {"step": 2 * loss + after, "w1": one[k + after], "w2": two[k + after]}
        for loss, k in enumerate(found)
        for after in (0, 1)
    ]


def change(ratio: float) -> float:
    """w₁/w₂ of HSTCP after `EPOCHS` losses together over w₁/w₂ at the start, which is `ratio`."""
    packets = FILLED * RATE_MBIT_S * 1e6 / PACKET_BIT
    one, two = (rtt / 1e3 for rtt in RTTS_MS)
    second = packets / (ratio / one + 1 / two)
    solved = longfat.synchronised(
        "hstcp",
        rate=f"{RATE_MBIT_S} Mbit/s",
        rtt=[f"{rtt} ms" for rtt in RTTS_MS],
        window=[ratio * second, second],
        duration="720 s",
        packet=f"{PACKET_BIT // 8} B",
        sample="2 s",
    ).summary
    time = solved["t"]
    found = [k for k in range(len(time) - 1) if time[k] == time[k + 1]][:EPOCHS]
    if len(found) < EPOCHS:
        message = f"only {len(found)} losses from w₁ = {ratio} w₂"
        raise ValueError(message)
    first, last = (flow["window"][found[-1]] for flow in solved["flows"])
    return float(first / last / ratio)


def points(_: Scale) -> Iterator[Computation]:
    """Three laws from the two starts of the figure; and HSTCP from others."""
    for ratio in RATIOS:
        yield Computation({"control": "hstcp", "start": f"{ratio:g}"}, change, {"ratio": ratio})
    for control in LAWS:
        for start in STARTS:
            arguments = {"control": control, "start": start}
            yield Computation(arguments, losses, arguments)


def measure(run: Measured) -> list[Row]:
    """The corners of the path; or by what the ratio of the windows has changed."""
    if isinstance(run.value, float):
        return [{"step": -1, "change": run.value}]
    corners: list[Row] = run.value
    return corners


def final(rows: pl.DataFrame, control: str, start: str) -> float:
    """w2 over w1 when the link was last full."""
    last = at(rows, control=control, start=start, step=2 * EPOCHS - 2)
    return float(last["w2"][0] / last["w1"][0])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Where the windows end up; for HSTCP, how far from the line, and how the longer path's grows."""
    fair = RTTS_MS[0] / RTTS_MS[1]
    answers: dict[str, Answer] = {}
    for name in STARTS:
        answers[f"figure-3/reno/{name}"] = final(rows, "reno", name)
        answers[f"figure-3/cw-hstcp/{name}"] = final(rows, "cw-hstcp", name)
        drifted = final(rows, "hstcp", name)
        answers[f"figure-3/hstcp/{name}"] = max(drifted / fair, fair / drifted)
    path = at(rows, control="hstcp", start="A").sort("step")["w1"].to_list()
    answers["figure-3/hstcp/larger"] = path[2 * EPOCHS - 2] / path[0]
    answers["figure-3/hstcp/from-anywhere"] = max(at(rows, step=-1)["change"].to_list())
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """A plane for each law."""
    figure, axes = plots.grid(1, 3, width=15, height=6.4, sharey=True)
    for panel, control in zip(axes[0], LAWS, strict=True):
        plot.phase_plane(
            {start: synchronised(control, start, LAWS[control][1]) for start in STARTS},
            fair=1 if control == "cw-hstcp" else RTTS_MS[0] / RTTS_MS[1],
            panel=panel,
        )
        ratios = " and ".join(f"{final(rows, control, start):.3g}" for start in STARTS)
        panel.set_title(
            f"{plots.name(control)}: w₂ ends at {ratios} w₁",
            loc="left", fontsize=12, fontweight="bold",
        )  # fmt: skip
        panel.set_xlabel(f"w₁, round trip {RTTS_MS[0]} ms (packets)")
    axes[0, 0].set_ylabel(f"w₂, round trip {RTTS_MS[1]} ms (packets)")
    for panel in axes[0, 1:]:
        panel.set_ylabel("")
    return figure
