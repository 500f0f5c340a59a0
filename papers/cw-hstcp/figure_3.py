"""Figure 3: two flows that always lose together, in the plane of their windows (Chiu and Jain 1989)."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drawn import FAINT
from longfat.paper import Answer, Computation, Experiment, Measured, Row, Scale, at, plots

FIGURE = Experiment(
    id="figure-3",
    title="Losses that come together, in the plane of windows",
    question="Where do two windows go that always lose together?",
    by=("step",),
)
Windows = npt.NDArray[np.float64]
Law = Callable[[Windows, Windows], Windows]

RTTS = np.array([0.160, 0.080])
"""Round trips of flow 1 and flow 2, in seconds: as in the figure, the first is the longer."""
CAPACITY = 62_500.0
"""In packets per second: 500 Mbit/s."""
STARTS = {"A": 0.75, "G": 0.15}
"""Share of the rate that flow 1 has at first."""
EPOCHS = 60
LOW_W, HIGH_W, LOW_P, HIGH_P, HIGH_B = 38.0, 83_000.0, 1e-3, 1e-7, 0.1


def hstcp_b(w: Windows) -> Windows:
    """b(w) of section II."""
    share = np.log(np.maximum(w, LOW_W) / LOW_W) / np.log(HIGH_W / LOW_W)
    b: Windows = (HIGH_B - 0.5) * share + 0.5
    return b


def hstcp_a(w: Windows) -> Windows:
    """a(w) of section II, 1 below Low_Window."""
    share = np.log(np.maximum(w, LOW_W) / LOW_W) / np.log(HIGH_W / LOW_W)
    p = LOW_P * (HIGH_P / LOW_P) ** share
    b = hstcp_b(w)
    return np.where(w > LOW_W, w**2 * p * 2 * b / (2 - b), 1.0)


LAWS: dict[str, tuple[Law, Callable[[Windows], Windows]]] = {
    "reno": (lambda w, _: np.ones_like(w), lambda w: np.full_like(w, 0.5)),
    "hstcp": (lambda w, _: hstcp_a(w), hstcp_b),
    "cw-hstcp": (lambda w, rtt: 10 * rtt * hstcp_a(w), hstcp_b),
}
"""What each adds per round trip, and the share that it gives up."""


def synchronised(control: str, start: float) -> list[Row]:
    """Windows at the corners of the path: each full, and each after the loss."""
    increase, decrease = LAWS[control]
    window = CAPACITY * RTTS * np.array([start, 1 - start]) * 0.8
    corners = [window]
    step_s = 0.01
    for _ in range(EPOCHS):
        while (window / RTTS).sum() < CAPACITY:
            window = window + increase(window, RTTS) * step_s / RTTS
            if control == "reno":  # its epochs are long and straight: one step
                left = CAPACITY - (window / RTTS).sum()
                window = window + max(0.0, left) / (1 / RTTS**2).sum() / RTTS
        corners.append(window)
        window = np.maximum(1.0, window * (1 - decrease(window)))
        corners.append(window)
    return [
        {"step": step, "w1": float(one), "w2": float(two)}
        for step, (one, two) in enumerate(corners)
    ]


def points(_: Scale) -> Iterator[Computation]:
    """Three laws from the two starts of the figure."""
    for control in LAWS:
        for name, start in STARTS.items():
            yield Computation(
                {"control": control, "start": name},
                synchronised,
                {"control": control, "start": start},
            )


def measure(run: Measured) -> list[Row]:
    """The corners."""
    corners: list[Row] = run.value
    return corners


def final(rows: pl.DataFrame, control: str, start: str) -> float:
    """w2 over w1 when the link was full for the last time."""
    last = at(rows, control=control, start=start, step=2 * EPOCHS - 1)
    return float(last["w2"][0] / last["w1"][0])


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Where the windows are at last; for HSTCP the longer path drifts from the line."""
    fair = float(RTTS[0] / RTTS[1])
    answers: dict[str, Answer] = {}
    for name in STARTS:
        answers[f"figure-3/reno/{name}"] = final(rows, "reno", name)
        answers[f"figure-3/cw-hstcp/{name}"] = final(rows, "cw-hstcp", name)
        answers[f"figure-3/hstcp/{name}"] = max(
            final(rows, "hstcp", name) / fair, fair / final(rows, "hstcp", name)
        )
    path = at(rows, control="hstcp", start="A").sort("step")["w1"].to_list()
    answers["figure-3/hstcp/larger"] = path[2 * EPOCHS - 1] / path[1]
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """A plane for each law."""
    figure, axes = plots.grid(1, 3, width=15, height=6.4, sharey=True)
    for panel, control in zip(axes[0], LAWS, strict=True):
        plane(panel, at(rows, control=control), control)
        panel.set_title(plots.name(control), loc="left", fontsize=12, fontweight="bold")
        panel.set_xlabel(f"w₁, round trip {RTTS[0] * 1e3:.0f} ms (packets)")
    axes[0, 0].set_ylabel(f"w₂, round trip {RTTS[1] * 1e3:.0f} ms (packets)")
    return figure


def plane(panel: Axes, rows: pl.DataFrame, control: str) -> None:
    """Efficiency and fairness lines, and both paths."""
    full = CAPACITY * RTTS
    panel.plot([0, full[0]], [full[1], 0], color=FAINT, linewidth=1.2)
    panel.annotate("link full", (full[0] * 0.9, full[1] * 0.13), fontsize=9, color=FAINT)
    slope = 1.0 if control == "cw-hstcp" else RTTS[0] / RTTS[1]
    end = 0.9 * full[1] / max(1.0, slope)
    panel.plot([0, end], [0, slope * end], color=FAINT, linewidth=1.2, linestyle="--")
    text = "equal windows" if control == "cw-hstcp" else "w₁ : w₂ = R₂ : R₁"
    panel.annotate(
        text, (end, slope * end), (5, 0), textcoords="offset points", fontsize=9, color=FAINT
    )
    for name, colour in (("A", plots.colour(control)), ("G", "#222222")):
        path = at(rows, start=name).sort("step").filter(pl.col("step") <= 60)
        panel.plot(path["w1"], path["w2"], color=colour, linewidth=0.9, alpha=0.75)
        first = path.row(0, named=True)
        last = at(rows, start=name).sort("step").row(-2, named=True)
        panel.plot([last["w1"]], [last["w2"]], "o", color=colour, markersize=8, zorder=6)
        panel.annotate(
            name, (first["w1"], first["w2"]), (4, -12), textcoords="offset points",
            fontweight="bold", color=colour,
        )  # fmt: skip
    panel.set(xlim=(0, full[0] * 1.03), ylim=(0, full[1] * 1.03))
