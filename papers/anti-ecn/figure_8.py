"""Figures 8 to 10: three flows at 40 ms, threshold 50 %, with AntiECN and without."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import lone

FIGURE = Experiment(
    id="figure-8",
    title="Three flows: AntiECN helps them start",
    question="Do three AntiECN flows use more of the link, and are they as fair as TCP?",
    by=("kind", "time", "flow"),
)
START = 100.0


def points(scale: Scale) -> Iterator[Point]:
    """300 s, starts in the first 10 s; scaled down at the quick scale as the other figures are."""
    latest = 10.0 / (25 if scale == "quick" else 1)
    for threshold in (None, 0.5):
        point = lone(scale, 40, threshold)
        changes = {"flow.lone.count": 3, "flow.lone.start": {"uniform": ["0 s", f"{latest:g} s"]}}
        yield Point(
            "lone.toml",
            set=dict(point.set) | changes,
            labels={"sending": "TCP" if threshold is None else "AntiECN"},
            seeds=20 if scale == "full" else 10,
            tables=("flow_series", "link_series"),
        )


def measure(run: Measured) -> list[Row]:
    """Utilisation over the first third, the last and the whole; fairness of windows; first seed's series."""
    link = run.table("link_series").filter(pl.col("direction").cast(pl.String) == "forward")
    windows = run.table("flow_series").with_columns(pl.col("flow").cast(pl.String))
    end = float(str(link["time_s"].max()))
    scaled = {"time": pl.col("time_s") * 300 / end}
    link, windows = link.with_columns(**scaled), windows.with_columns(**scaled)
    late = windows.filter(pl.col("time") > 200).group_by("time").agg(pl.col("window"))
    jain = [sum(w) ** 2 / (3 * sum(x * x for x in w)) for w in late["window"]]
    means = windows.filter(pl.col("time") > 100).group_by("flow").agg(pl.col("window").mean())
    mean = means["window"].to_list()
    rows: list[Row] = [
        {
            "kind": "run",
            "start": link.filter(pl.col("time") <= START)["utilisation"].mean(),
            "settled": link.filter(pl.col("time") > 200)["utilisation"].mean(),
            "whole": link["utilisation"].mean(),
            "jain": sum(jain) / len(jain),
            "jain_means": sum(mean) ** 2 / (3 * sum(x * x for x in mean)),
        }
    ]
    if run.seed == 1:
        pipe = 125_000 * float(run.summary["flows"][0]["rtt_s"])
        rows += [
            {"kind": "window", "flow": flow, "time": time, "value": window / pipe}
            for flow, time, window in windows.select("flow", "time", "window").iter_rows()
        ]
        rows += [
            {"kind": "used", "flow": "", "time": time, "value": used}
            for time, used in link.select("time", "utilisation").iter_rows()
        ]
    return rows


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """AntiECN minus TCP, seed by seed."""
    runs = at(rows, kind="run")

    def gain(column: str) -> Answer:
        return per_seed(across(runs, "sending", column, keep=[]), pl.col("AntiECN") - pl.col("TCP"))

    return {
        "figure-8/start": gain("start"),
        "figure-8/whole": gain("whole"),
        "figure-8/settled": gain("settled"),
        "figure-8/equal": per_seed(runs, "jain", sending="AntiECN"),
        "figure-8/equal/means": per_seed(runs, "jain_means", sending="AntiECN"),
        "figure-8/fair": gain("jain"),
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Total utilisation of both; the windows of each in the first seed."""
    figure, axes = plots.grid(1, 3, width=14, height=5.4)
    for sending, colour in (("AntiECN", plots.colour("anti-ecn")), ("TCP", plots.colour("reno"))):
        used = at(rows, kind="used", sending=sending).sort("time")
        smooth = (100 * used["value"]).rolling_mean(7, center=True)
        plots.series(axes[0, 0], used["time"], smooth, color=colour, linewidth=1.8, label=sending)
    axes[0, 0].set(ylabel="link used (%)", ylim=(0, 105))
    axes[0, 0].legend(loc="lower right")
    axes[0, 0].set_title("Figure 8", loc="left", fontsize=12, fontweight="bold")
    for panel, sending, figure_of in (
        (axes[0, 1], "AntiECN", "Figure 9"),
        (axes[0, 2], "TCP", "Figure 10"),
    ):
        windows = at(rows, kind="window", sending=sending).sort("time")
        for flow, colour in zip(range(3), ("#0B3C5D", "#4FB286", "#E08E1B"), strict=True):
            line = at(windows, flow=f"lone[{flow}]")
            plots.series(panel, line["time"], line["value"], color=colour, linewidth=1.4)
        panel.set_title(f"{figure_of}: {sending}", loc="left", fontsize=12, fontweight="bold")
        panel.set(ylabel="window (products)", ylim=(0, 0.8))
    for panel in axes[0]:
        panel.set(xlabel="time (s at 40 ms; first seed)", xlim=(0, 300))
    return figure
