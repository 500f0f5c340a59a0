"""The page of a fluid solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.page import _kit
from longfat.page._charts import Chart, Line
from longfat.page._drawn import drawn
from longfat.page._series import flow_lines, numbers
from longfat.plot._panels import ROUTERS, directions, in_order
from longfat.results._fluid_tables import judgement, overview
from longfat.tables import TextTable
from longfat.units import RATE, TIME, amount, percent, plural, small

if TYPE_CHECKING:
    from longfat.results._saved_fluid import SavedFluid

_MODELS = {
    "mean-field": "rates, of which losses and marks are a share",
    "hybrid": "windows that grow continuously and jump at random losses",
    "synchronised": "flows that lose together on one drop-tail link",
}


def fluid_page(solved: SavedFluid) -> str:
    """The page of a fluid solution: sentences, charts, tables, the scenario to copy."""
    summary = solved.summary
    charts, note = drawn(_charts(solved)) if solved.integrated else ([], "")
    parts = overview(summary)
    tables = [part for part in parts if isinstance(part, TextTable)]
    return _kit.page(
        "fluid.html",
        kind="fluid",
        title=solved.name,
        about=f"A scenario as differential equations: {_MODELS.get(summary['model'], summary['model'])}.",
        figures=_figures(solved),
        sentences=_sentences(summary),
        charts=charts,
        note=note,
        tables=list(zip(_headings(solved), tables, strict=True)),
        scenario=solved.scenario,
        folder=str(solved.folder),
        origin=f"were written by longfat {solved.version}"
        if solved.version
        else "do not say which version wrote them",
        changed=solved.changed,
    )


def _headings(solved: SavedFluid) -> list[str]:
    """What the tables of the overview are, in its order."""
    measured = solved.duration_s - solved.warmup_s
    means = f"Means over the last {amount(measured, TIME)} of {amount(solved.duration_s, TIME)}"
    rest = ["Where the flows settle", "Where the links settle"]
    return [
        *([means] if solved.summary["flows"] else []),
        *(rest if solved.summary["equilibrium"] is not None else []),
    ]


def _charts(solved: SavedFluid) -> list[Chart]:
    """Window and rate of the flows; price, load and queue of the links."""
    flows = in_order(solved.flow_series.to_polars(), solved.summary)
    links = solved.link_series.to_polars()
    found = [
        Chart(title, unit, tuple(flow_lines(flows, column)), shaded=solved.warmup_s)
        for column, title, unit in (
            ("window", "window", "segments"),
            ("rate_bit_s", "rate", "bit/s"),
        )
    ]
    told = solved.summary["price"] in ROUTERS
    price = "asked back, of the rate" if told else "price: share that is marked or lost"
    for column, title, unit in (
        ("price", price, "%"),
        ("load", "load, share of the rate", "%"),
        ("queue_s", "queue", "s"),
    ):
        lines = [
            Line(name, numbers(line, "time_s"), numbers(line, column), index)
            for index, (name, line) in enumerate(directions(links))
            if column != "queue_s" or line[column].max()
        ]
        if lines:
            found.append(
                Chart(title, unit, tuple(lines), shaded=solved.warmup_s, from_zero=not told)
            )
    return found


def _figures(solved: SavedFluid) -> list[tuple[str, str]]:
    """The few numbers that one wants first."""
    summary, rest = solved.summary, solved.summary["equilibrium"]
    found = []
    if summary["flows"]:
        total = sum(flow["rate_mean_bit_s"] for flow in summary["flows"])
        found.append(("mean rate of all flows", amount(total, RATE)))
    if rest is not None:
        settled = [link for link in _settled(rest) if link[1]["load"] is not None]
        name, busiest = max(settled, key=lambda link: float(link[1]["load"]))
        found += [
            (f"load of {name} at rest", percent(busiest["load"])),
            ("its queue", amount(busiest["queue_s"], TIME)),
            ("its price", small(busiest["price"])),
        ]
    if summary["stable"] is not None:
        found.append(("equilibrium", "stable" if summary["stable"] else "unstable"))
    return found


def _settled(rest: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The directions of links at rest that are known."""
    found = [(name, link) for name, link in rest["links"].items() if "price" in link]
    return found + [
        (f"{name}, reverse", link["reverse"])
        for name, link in rest["links"].items()
        if "reverse" in link
    ]


def _sentences(summary: dict[str, Any]) -> list[str]:
    """What was solved and what came of it."""
    feedback = (
        "A flow learns a round trip late what its packets met."
        if summary["delay"]
        else "Flows learn at once what their packets met."
    )
    told = []
    if summary["model"] != "synchronised":
        price = summary["price"]
        charged = (
            f"The routers of {price} say how rates change."
            if price in ROUTERS
            else f"What links charge: {price}."
        )
        told.append(f"{charged} {feedback}")
    kinds: dict[str, list[str]] = {}
    for link, kind in summary["stand_ins"].items():
        kinds.setdefault(kind, []).append(link)
    told += [
        f"A virtual queue stands in for {kind} on {', '.join(links)}, of which the model has no equations: "
        "windows and queues will differ from those of packets."
        for kind, links in kinds.items()
    ]
    flows = summary["flows"]
    if len(flows) > 1:
        most = max(flows, key=lambda flow: float(flow["rate_mean_bit_s"]))
        least = min(flows, key=lambda flow: float(flow["rate_mean_bit_s"]))
        high, low = (amount(flow["rate_mean_bit_s"], RATE) for flow in (most, least))
        told.append(
            f"Each of {plural(len(flows), 'flow')} had {high} on average."
            if high == low
            else f"{most['name']} ({most['control']}) had the most, {high} on average, and {least['name']} "
            f"({least['control']}) the least, {low}, of {plural(len(flows), 'flow')}."
        )
    if summary["stable"] is not None:
        judged = judgement(summary)
        told.append(f"The equilibrium is {judged}.")
    return told
