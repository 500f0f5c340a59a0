"""Figure 6: three CW-HSTCP flows; and with what is changed, to see why they do not meet."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from drawn import lines, mean_and_half, note
from longfat.paper import Answer, Experiment, Measured, Point, Row, Scale, at, per_seed, plots
from setting import THREE, cw, dumbbell, shares, windows

FIGURE = Experiment(
    id="figure-6",
    title="Three CW-HSTCP flows",
    question="Do windows become equal, whatever the round trip?",
    by=("kind", "flow", "time_s"),
)


def points(scale: Scale) -> Iterator[Point]:
    """C = 10, and HSTCP to compare."""
    yield dumbbell(scale, cw(10), control="cw-hstcp")
    yield dumbbell(scale, "hstcp", control="hstcp")


def measure(run: Measured) -> list[Row]:
    """Shares and mean windows; of the first seed the windows over time."""
    row: Row = {"kind": "shares"} | shares(run)
    drawn = windows(run) if run.seed == 1 else []
    return [row, *({"kind": "window"} | one for one in drawn)]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """How far windows are apart, and how often each flow loses."""
    found = at(rows, kind="shares")
    ratio = found.pivot(on="control", index="seed", values="window_ratio")
    return {
        "figure-6/equal": per_seed(found, "window_ratio", control="cw-hstcp"),
        "figure-6/better": per_seed(ratio, pl.col("hstcp") / pl.col("cw-hstcp")),
        "figure-6/below-inverse": per_seed(
            found,
            pl.max_horizontal(
                pl.col("u0") / pl.col("u1") / (140 / 80), pl.col("u0") / pl.col("u2") / (200 / 80)
            ),
            control="cw-hstcp",
        ),
        "figure-6/lose-together": per_seed(
            found, pl.col("events_last") / pl.col("events_first"), control="cw-hstcp"
        ),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """The windows of one run."""
    figure, axes = plots.grid(1, 2, sharey=True, width=13, height=5.6)
    figure.subplots_adjust(top=0.74)
    for panel, control in zip(axes[0], ("cw-hstcp", "hstcp"), strict=True):
        lines(panel, at(rows, kind="window", control=control), THREE)
        ratio, _ = mean_and_half(at(rows, kind="shares", control=control)["window_ratio"].to_list())
        panel.set_title(
            f"{plots.name(control)}: largest over smallest mean window {ratio:.1f}",
            loc="left", fontsize=12, fontweight="bold",
        )  # fmt: skip
        panel.set(xlabel="time (s)", xlim=(0, 200))
    axes[0, 0].set(ylabel="window (packets)", ylim=(0, None))
    note(axes[0, 1], "windows: the first seed", (0.98, 0.96), ha="right", va="top")
    plots.legend(figure, axes[0, 0])
    return figure
