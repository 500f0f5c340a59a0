"""Figures 2, 3, 4 and 7 again, with all flows paced and with none: what the law does, and what pacing does.

The paper paces EXP-TCP and says nothing about the others. In its figures here EXP-TCP paces and the others do
not, so that two things differ at once.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import figure_7
from longfat.paper import Answer, Experiment, Scale, Untestable, across, at, per_seed, plots
from longfat.study import Measured, Point, Row
from shared import CONTROLS, RIVALS, both_directions, dumbbell, extreme, paced_or_not

FIGURE = Experiment(
    id="all-or-none",
    title="All paced, and none",
    question="How much of what the figures show comes from the law, and how much from pacing?",
)
LONG = ("forward", "backward")
CAPACITY, FLOWS, SHORT, CHANGE = "capacity", "flows", "short flows", "change"
"""What is varied: as in Figures 2, 3, 4 and 7."""
CAPACITIES = {10e6: 10, 40e6: 10, 160e6: 10, 640e6: 5, 10e9: 3}
"""Capacities in bit/s, and the seeds of each at full scale; the last only with all paced."""
EXTREME = ("stcp", "exp")
"""Who is run at the largest capacity: STCP, which the paper says drops there, and EXP-TCP, which does not."""
QUARTER = 125e6
"""A quarter of the paper's 500 Mbit/s for a quarter of its flows: the windows are the same."""
NUMBERS = (2, 16, 128)
LOADS = (0.002, 0.512)
FIGURES = {CAPACITY: "figure-2", FLOWS: "figure-3", SHORT: "figure-4"}
AXES = {
    CAPACITY: "capacity (bit/s), as in Figure 2",
    FLOWS: "flows each way, as in Figure 3",
    SHORT: "load of short flows (%), as in Figure 4",
}


def points(scale: Scale) -> Iterator[Point]:
    """Every controller, paced and not, over capacities, flows and loads of short flows, and after a change."""
    full = scale == "full"
    for paced in (True, False):
        for control in CONTROLS:
            yield from over_capacities(control, full=full, paced=paced)
            yield from over_flows(control, full=full, paced=paced)
            yield from over_loads(control, full=full, paced=paced)
            groups = ("original", "more", "backward")
            yield figure_7.change(
                control,
                "quick",
                seeds=10 if full else 3,
                set=paced_or_not(control, groups, paced=paced),
                **labels(CHANGE, None, paced=paced),
            )


def labels(kind: str, at_: float | None, *, paced: bool) -> dict[str, Any]:
    """What distinguishes the points of this experiment."""
    return {"kind": kind, "at": at_, "paced": paced}


def over_capacities(control: str, *, full: bool, paced: bool) -> Iterator[Point]:
    """Figure 2."""
    for rate, seeds in CAPACITIES.items():
        large = full and (paced or rate < 1e9) and (rate < 10e9 or control in EXTREME)
        if rate <= 160e6 or large:
            yield dumbbell(
                rate,
                control,
                seeds=seeds if full else 3,
                set=paced_or_not(control, LONG, paced=paced),
                **labels(CAPACITY, rate, paced=paced),
                phase_s=None,
            )


def over_flows(control: str, *, full: bool, paced: bool) -> Iterator[Point]:
    """Figure 3, at a quarter of its capacity."""
    for number in NUMBERS:
        yield dumbbell(
            QUARTER,
            control,
            flows=number,
            seeds=10 if full else 3,
            set=paced_or_not(control, LONG, paced=paced) | {"duration": "60 s"},
            **labels(FLOWS, number, paced=paced),
            phase_s=None,
        )


def over_loads(control: str, *, full: bool, paced: bool) -> Iterator[Point]:
    """Figure 4, at a quarter of its capacity."""
    for load in LOADS:
        changes = paced_or_not(control, LONG, paced=paced)
        for way in LONG:
            changes[f"traffic.web-{way}.arrivals.load"] = f"{100 * load:g} %"
        point = dumbbell(
            QUARTER,
            control,
            flows=4,
            seeds=10 if full else 3,
            set=changes | {"duration": "60 s"},
            **labels(SHORT, load, paced=paced),
            phase_s=None,
        )
        yield replace(point, scenario="web.toml")


def measure(run: Measured) -> Row:
    """The bottleneck: the mean of its two directions; after a change, how fast and how much of it is used."""
    names = ("utilisation", "signal_rate", "response_s", "at_end")
    if run.labels["kind"] == CHANGE:
        found = figure_7.response(run) | {"signal_rate": None}
    else:
        found = both_directions(run) | {"response_s": None, "at_end": None}
    return {name: found[name] for name in names}


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """The order of the controllers with all paced and with none; what pacing is worth to HSTCP; STCP's drop."""
    answers: dict[str, Answer] = {}
    exp, best = pl.col("exp"), pl.max_horizontal(*RIVALS)
    capacity = at(rows, kind=CAPACITY)
    for name, paced in (("paced", True), ("unpaced", False)):
        for kind, figure in FIGURES.items():
            used = across(rows, "control", "utilisation", keep=["at"], kind=kind, paced=paced)
            answers[f"all-or-none/{name}/{figure}"] = extreme(used.drop_nulls(), exp - best, "at")
        change = at(rows, kind=CHANGE, paced=paced)
        used = across(change, "control", "utilisation", keep=[])
        answers |= {
            f"all-or-none/{name}/highest": per_seed(used, (exp - best).first()),
            f"all-or-none/{name}/quickest": quickest(change),
            f"all-or-none/{name}/full": per_seed(change, "at_end", control="exp"),
            f"all-or-none/{name}/reno": slowest(change),
        }
    both = at(capacity, paced=False)["at"].max()
    hstcp = at(capacity, control="hstcp", at=both)
    sides = hstcp.with_columns(
        pl.when("paced").then(pl.lit("paced")).otherwise(pl.lit("unpaced")).alias("sides")
    )
    for name, column in (("gain", "utilisation"), ("signals", "signal_rate")):
        wide = across(sides, "sides", column, keep=["at"]).drop_nulls()
        what = pl.col("paced") - pl.col("unpaced")
        if name == "signals":
            what = pl.col("paced") / pl.col("unpaced")
        answers[f"all-or-none/hstcp/{name}"] = per_seed(wide, what.first())
    largest = across(capacity, "control", "utilisation", keep=["at"], at=both, paced=True)
    answers["all-or-none/paced/reno/lowest"] = per_seed(
        largest, (pl.col("reno") - pl.min_horizontal("hstcp", "stcp", "exp")).first()
    )
    if 10e9 not in capacity["at"]:
        return answers
    return answers | {
        "all-or-none/paced/stcp/drop": fall(at(capacity, paced=True, control="stcp"), 640e6, 10e9)
    }


def facts(rows: pl.DataFrame) -> dict[str, Answer]:
    """Utilisation at some points, and after the change how many runs come back to 95 %, and when."""
    found: dict[str, Answer] = {}
    places = {
        "10M": (CAPACITY, 10e6),
        "40M": (CAPACITY, 40e6),
        "640M": (CAPACITY, 640e6),
        "10G": (CAPACITY, 10e9),
        "two": (FLOWS, 2.0),
        "few": (SHORT, LOADS[0]),
    }
    for name, paced in (("paced", True), ("unpaced", False)):
        for place, (kind, where) in places.items():
            here = rows.filter(
                pl.col("kind") == kind, pl.col("at") == where, pl.col("paced") == paced
            )
            for control in CONTROLS:
                there = control in here["control"]
                found[f"all-or-none/{place}/{control}/{name}"] = (
                    per_seed(here, "utilisation", control=control)
                    if there
                    else Untestable("it is not run there")
                )
        change = at(rows, kind=CHANGE, paced=paced)
        for control in CONTROLS:
            response = at(change, control=control)["response_s"]
            found[f"all-or-none/reached/{control}/{name}"] = float(response.count())
            found[f"all-or-none/response/{control}/{name}"] = per_seed(
                change, "response_s", control=control
            )
    return found


def fall(rows: pl.DataFrame, start: float, end: float) -> list[float]:
    """How much more utilisation there is at the capacity `end` than at `start`, for each seed that has both."""
    ends = at(rows, at=[start, end]).pivot(on="at", index="seed", values="utilisation")
    change = ends.select("seed", (pl.col(str(end)) - pl.col(str(start))).alias("change"))
    return [float(value) for value in change.drop_nulls().sort("seed")["change"]]


def quickest(rows: pl.DataFrame) -> list[float | None]:
    """The response of EXP-TCP over that of the quickest other; who never gets there is given all the time."""
    given = rows.with_columns(pl.col("response_s").fill_null(pl.col("phase_s")))
    wide = across(given, "control", "response_s", keep=[])
    return per_seed(wide, (pl.col("exp") / pl.min_horizontal(*RIVALS)).first())


def slowest(rows: pl.DataFrame) -> list[float | None]:
    """The response of TCP over that of the slowest other; who never gets there is given all the time."""
    given = rows.with_columns(pl.col("response_s").fill_null(pl.col("phase_s")))
    wide = across(given, "control", "response_s", keep=[])
    return per_seed(wide, (pl.col("reno") / pl.max_horizontal("hstcp", "stcp", "exp")).first())


def draw(rows: pl.DataFrame) -> Figure:
    """All paced above, none below: utilisation against what is varied, and how long the change takes."""
    figure, axes = plots.grid(2, 4, width=15, height=8.4)
    figure.subplots_adjust(wspace=0.34, hspace=0.34, top=0.82)
    for line, paced in zip(axes, (True, False), strict=True):
        part = at(rows, paced=paced)
        for panel, (kind, label) in zip(line, AXES.items(), strict=False):
            chosen = at(part, kind=kind)
            plots.over(panel, chosen, x="at", y="utilisation", log=True, percent=True)
            places = sorted(chosen["at"].unique())
            if kind == CAPACITY:
                plots.rates(panel, places)
                panel.tick_params(labelsize=9)
            elif kind == FLOWS:
                panel.set_xticks(places, [f"{place:g}" for place in places])
            else:
                panel.set_xticks(places, [f"{100 * place:g}" for place in places])
            panel.set_xlabel(label)
        line[0].set_ylabel("utilisation (%)")
        line[0].set_title(
            "all paced" if paced else "none paced", loc="left", fontsize=12, fontweight="bold"
        )
        responses(line[-1], at(part, kind=CHANGE))
    for upper, lower in zip(*axes[:, :-1], strict=True):
        least = min(panel.get_ylim()[0] for panel in (upper, lower))
        for panel in (upper, lower):
            panel.set_ylim(max(0, least), 101)
    plots.legend(figure, axes[0, 0])
    return figure


def responses(panel: Axes, rows: pl.DataFrame) -> None:
    """How long each run takes; an arrow at the end where it never gets there."""
    phase = float(rows["phase_s"][0])
    for place, control in enumerate(reversed(CONTROLS)):
        values = at(rows, control=control)["response_s"]
        known = values.drop_nulls().to_list()
        colour = plots.colour(control)
        panel.plot(known, [place] * len(known), "o", color=colour, alpha=0.6, markersize=6)
        if len(known) < len(values):
            plots.never(panel, (phase, place), colour, along="x")
    panel.set_yticks(range(len(CONTROLS)), [plots.name(control) for control in reversed(CONTROLS)])
    panel.set(xlim=(0, 1.06 * phase), ylim=(-0.6, len(CONTROLS) - 0.4))
    panel.grid(visible=False, axis="y")
    panel.set_xlabel("after the change until 95 % is used (s)")
