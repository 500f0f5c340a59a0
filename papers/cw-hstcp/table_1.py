"""Table 1, and the example of section IV: what a flow adds in a round trip, and what it gives up."""

from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row
from shared import cw

FIGURE = Experiment(
    id="table-1",
    title="What HSTCP adds in a round trip, and gives up at a loss",
    question="Does the sender do what Table 1 says?",
)
TABLE = {38: (1, 0.50), 118: (2, 0.44), 221: (3, 0.41), 347: (4, 0.38), 84035: (71, 0.10)}


def points(_: Scale) -> Iterator[Point]:
    """Growth on a path that is never full; a decrease on one that is full at the window of the table."""
    for window in TABLE:
        buffer = max(15, round(window * 0.02))
        yield growing("HSTCP", window, 100, "hstcp")
        yield Point(
            {
                "duration": "7 s",
                "sample": "10 ms",
                "link": {
                    "bottleneck": {
                        "rate": f"{(window - buffer) * 80} kbit/s",
                        "delay": "10 ms",
                        "buffer": f"{buffer} packets",
                    }
                },
                "flow": [
                    flow("hstcp", 100)
                    | {
                        "initial_threshold": max(
                            2, round(window * (0.985 if window > 1000 else 0.8))
                        ),
                        "pacing": "spread",
                    }
                ],
            },
            labels={"kind": "decrease", "control": "HSTCP", "table": window, "rtt_ms": 100},
            seeds=1,
            tables=("flow_series",),
        )
    for rtt in (100, 200):
        yield growing("CW-HSTCP", 1000, rtt, cw(10))


def flow(control: object, rtt: int) -> Row:
    """A lone flow with the paper's packet size."""
    return {
        "name": "fast",
        "control": control,
        "path": ["bottleneck"],
        "rtt": f"{rtt} ms",
        "packet": "1000 B",
    }


def growing(name: str, window: int, rtt: int, control: object) -> Point:
    """A flow in congestion avoidance from its first packet, on a path wide enough not to fill."""
    return Point(
        {
            "duration": f"{rtt * 1.9:.0f} ms",
            "sample": f"{rtt // 20} ms",
            "link": {"bottleneck": {"rate": "200 Gbit/s", "delay": "10 ms", "buffer": "unlimited"}},
            "flow": [flow(control, rtt) | {"initial_window": window, "initial_threshold": 2}],
        },
        labels={"kind": "growth", "control": name, "table": window, "rtt_ms": rtt},
        seeds=1,
        tables=("flow_series",),
    )


def measure(run: Measured) -> Row:
    """a(w): packets added in the first round trip. b(w): the share that the first loss took."""
    window = run.table("flow_series")["window"].to_list()
    if run.labels["kind"] == "growth":
        return {"a": window[-1] - window[0], "b": None, "at": window[0]}
    fall = next(i for i in range(1, len(window)) if window[i] < 0.95 * window[i - 1])
    return {
        "a": None,
        "b": 1 - min(window[fall : fall + 30]) / window[fall - 1],
        "at": window[fall - 1],
    }


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Runs of a lone flow are deterministic."""
    answers: dict[str, Answer] = {}
    for window in TABLE:
        for name, kind in (("a", "growth"), ("b", "decrease")):
            found = at(rows, control="HSTCP", kind=kind, table=window)
            answers[f"table-1/{name}/{window}"] = float(found[name][0])
    grown = {rtt: at(rows, control="CW-HSTCP", rtt_ms=rtt)["a"][0] for rtt in (100, 200)}
    answers["table-1/fair-factor"] = grown[200] / grown[100]
    return answers


def draw(rows: pl.DataFrame) -> Figure:
    """Measured values, and the table's as rings."""
    figure, axes = plots.grid(1, 2, height=5.2)
    for panel, name, kind, place in zip(
        axes[0], ("a", "b"), ("growth", "decrease"), (0, 1), strict=True
    ):
        found = at(rows, control="HSTCP", kind=kind)
        panel.plot(
            list(TABLE),
            [value[place] for value in TABLE.values()],
            "o",
            markersize=14,
            markerfacecolor="none",
            markeredgecolor="#222222",
            label="Table 1",
        )
        panel.plot(
            found["at"],
            found[name],
            plots.marker("hstcp"),
            color=plots.colour("hstcp"),
            markersize=6,
            label="measured",
        )
        for row in found.iter_rows(named=True):
            right = row["table"] < 1000 and (name == "a" or row["table"] != 221)
            panel.annotate(
                f"{row[name]:.2f}" if row[name] < 10 else f"{row[name]:.1f}",
                (row["at"], row[name]),
                (11 if right else -11, 0),
                textcoords="offset points",
                va="center",
                ha="left" if right else "right",
            )
        panel.set(xscale="log", xlabel="window w (packets)", xlim=(20, 2e5))
    axes[0, 0].set(yscale="log", ylabel="a(w), packets added per round trip", ylim=(0.7, 120))
    axes[0, 1].set(ylabel="b(w), share given up at a loss", ylim=(0, 0.6))
    plots.legend(figure, axes[0, 0])
    return figure
