"""Figure 1: what TCP and Blitz send, drawn from what arrives."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, per_seed, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="figure-1",
    title="A file of 200 packets: many rounds, or one burst and what it lost",
    question="What do the streams of TCP and of Blitz look like?",
    by=("time_s",),
)
SLOW = {
    "link.bottleneck.rate": "3 Mbit/s",
    "link.exit.rate": "15 Mbit/s",
    "flow.lone.access": "15 Mbit/s",
    "link.bottleneck.buffer": "112 packets",
    "link.exit.buffer": "112 packets",
}
SLOW_ALONE_S = 0.015 + 200 * 4000 / 3e6 + 2 * 4000 / 15e6


def points(_scale: Scale) -> Iterator[Point]:
    """A file alone in the reference network, and in one where its burst overflows."""
    for rate, changes in ((150, {}), (15, SLOW)):
        for control in ("reno", "blitz"):
            queue = "pushout" if control == "blitz" else "drop-tail"
            yield Point(
                "lone.toml",
                set=changes
                | {"flow.lone.control": control}
                | {f"link.{link}.queue": queue for link in ("bottleneck", "exit")},
                labels={"control": control, "rate": rate},
                seeds=1,
                tables=("flow_series",),
            )


def measure(run: Measured) -> list[Row]:
    """Packets arrived and packets sent again by each millisecond, until the file is complete."""
    (flow,) = run.flows("lone")
    series = run.table("flow_series").sort("time_s")
    series = series.with_columns(
        (pl.col("throughput_bit_s") * 1e-3 / 4000).cum_sum().alias("arrived"),
        pl.col("retransmitted").cast(pl.Int64).cum_sum().alias("again"),
    ).filter(pl.col("time_s") <= flow["completion_s"] + 0.002)
    rows = series.select("time_s", "arrived", "again").to_dicts()
    return [row | {"completion_s": flow["completion_s"]} for row in rows]


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """How long each took."""

    def took(control: str, rate: int) -> float:
        (value,) = per_seed(rows, pl.col("completion_s").first(), control=control, rate=rate)
        return float(value or 0.0)

    return {
        "figure-1/rounds": took("reno", 150) / took("blitz", 150),
        "figure-1/restart": took("blitz", 15) - SLOW_ALONE_S,
        "figure-1/restart/again": float(at(rows, control="blitz", rate=15)["again"].max()),  # type: ignore[arg-type]
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Packets arrived and packets sent again, over time."""
    figure, axes = plots.grid(1, 2, sharey=True, width=13, height=5.8)
    figure.subplots_adjust(top=0.74)
    texts = {150: "150 Mbit/s: nothing is lost", 15: "15 into 3 Mbit/s: the burst overflows 112"}
    for panel, rate in zip(axes[0], (150, 15), strict=True):
        for control in ("reno", "blitz"):
            line = at(rows, control=control, rate=rate)
            time = 1e3 * line["time_s"]
            colour = plots.colour(control)
            panel.plot(
                time, line["arrived"], color=colour, linewidth=1.9, label=plots.name(control)
            )
            if line["again"].max():
                panel.plot(time, line["again"], color=colour, linewidth=1.2, linestyle=":")
                panel.annotate(
                    "sent again", (time[-1], line["again"][-1]), xytext=(5, 0), color=colour,
                    textcoords="offset points", fontsize=10, va="center",
                )  # fmt: skip
        panel.set_title(texts[rate], loc="left", fontsize=12, fontweight="bold")
        panel.set(xlabel="time (ms)", ylim=(0, 215), xlim=(0, None))
    axes[0, 0].set_ylabel("packets that have arrived")
    for trip in range(1, 11):
        axes[0, 0].axvline(30 * trip, color="#d8d8d8", linewidth=0.8, zorder=0)
    plots.note(axes[0, 0], "grey: round trips of 30 ms", (0.98, 0.04), ha="right")
    plots.legend(figure, axes[0, 0])
    return figure
