"""The page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.explanation import explain
from longfat.page import _kit
from longfat.page._drawn import drawn
from longfat.page._series import of_run
from longfat.plot._run import headline
from longfat.results import _tables
from longfat.results._folder import LIMITS
from longfat.units import PLAIN, RATE, TIME, amount, count, percent, plural, small

if TYPE_CHECKING:
    from longfat.results._saved import SavedRun
    from longfat.tables import TextTable

_FEW_LINKS = 3
_MOST_SENTENCES = 100


def run_page(run: SavedRun) -> str:
    """The page of a run: sentences, charts, tables, the scenario to copy."""
    charts, note = drawn(of_run(run))
    about, _ = headline(run.name, run.summary)
    measured = run.duration_s - run.warmup_s
    return _kit.page(
        "run.html",
        kind="run",
        title=run.name,
        about=about.partition(": ")[2] + ".",
        figures=_figures(run.summary),
        sentences=sentences(run),
        charts=charts,
        note=note,
        measured=(
            f"Over the last {amount(measured, TIME)} of {amount(run.duration_s, TIME)}; the first "
            f"{amount(run.warmup_s, TIME)} are warm-up, shaded in the charts."
            if run.warmup_s
            else f"Over all of {amount(run.duration_s, TIME)}."
        ),
        tables=tables(run.summary),
        limits=_limits(run),
        scenario=run.scenario,
        folder=str(run.folder),
        origin=f"were written by longfat {run.version}"
        if run.version
        else "do not say which version wrote them",
        changed=run.changed,
    )


def tables(summary: dict[str, Any]) -> list[tuple[str, TextTable]]:
    """The tables that there is something to say in."""
    found = [("Links", _tables.links(summary["links"]))]
    if summary["flows"]:
        found.append(("Flows", _tables.flows(summary["flows"])))
    if summary["traffic"]:
        found.append(("Short flows", _tables.traffic(summary["traffic"])))
    if summary.get("applications"):
        found.append(("Applications", _tables.applications(summary["applications"])))
    return found


def _limits(run: SavedRun) -> list[str]:
    """What limited its flows, a paragraph each; nothing where the run did not keep that."""
    if not (run.folder / f"{LIMITS}.parquet").is_file() or not len(run.link_series):
        return []
    told = explain(run)
    left = len(told.sentences) - _MOST_SENTENCES
    if left <= 0:
        return [" ".join(part.split("\n")) for part in str(told).split("\n\n")]
    more = f"{left:,} more are told by `longfat explain` of the folder."
    return [*told.sentences[:_MOST_SENTENCES], more]


def _figures(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The few numbers that one wants first."""
    name, link = _busiest(summary)
    rates = [flow["goodput_bit_s"] for flow in summary["flows"]]
    rates += [row["goodput_bit_s"] for row in summary["traffic"].values()]
    known = [rate for rate in rates if rate is not None]
    of = f" of {name}" if len(summary["links"]) > 1 else ""
    found = [
        ("goodput of all flows", amount(sum(known) if known else None, RATE)),
        (f"utilisation{of}", percent(link["utilisation"])),
        ("mean queue, of the buffer", percent(link["queue_mean"])),
        ("packets dropped", small(link["drop_rate"])),
    ]
    if fair := _tables.fairness(summary):
        group, index = min(fair.items(), key=lambda each: each[1])
        found.append((f"Jain's index of {group}", f"{index:.3f}"))
    return found


def _busiest(summary: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The direction of a link that is used most."""
    name, direction = max(
        ((name, each) for name, link in summary["links"].items() for each in link),
        key=lambda place: summary["links"][place[0]][place[1]]["utilisation"],
    )
    return (
        name if direction == "forward" else f"{name}, {direction}",
        summary["links"][name][direction],
    )


def sentences(run: SavedRun) -> list[str]:
    """What came out of a run, in a few sentences."""
    summary = run.summary
    told = [*_of_links(summary), *_of_flows(summary["flows"], _early(run))]
    told += _tables.anti_ecn(summary)
    groups = list(summary["traffic"].items())
    for name, row in groups[:_MOST_SENTENCES]:
        times = row["completion_s"]
        told.append(
            f"Of the short flows {name}, {count(row['completed'])} completed, in {amount(times['mean'], TIME)} "
            f"on average and {amount(times['p99'], TIME)} at the 99th percentile."
            if row["completed"]
            else f"Of the short flows {name}, none completed."
        )
    if len(groups) > _MOST_SENTENCES:
        told.append(
            f"{len(groups) - _MOST_SENTENCES:,} more groups of short flows are in the folder."
        )
    return told


def _early(run: SavedRun) -> int:
    """How many time-outs there were in the warm-up, as far as is known."""
    if not (run.folder / f"{LIMITS}.parquet").is_file():
        return 0
    return sum(_tables.early_timeouts(run.summary["flows"], run.table(LIMITS)).values())


def _of_links(summary: dict[str, Any]) -> list[str]:
    told = []
    links = sorted(summary["links"].items(), key=lambda item: -_most_used(item[1]))
    for name, directions in links[:_FEW_LINKS]:
        direction, link = max(directions.items(), key=lambda item: item[1]["utilisation"])
        which = name if direction == "forward" else f"{name}, {direction},"
        queue = (
            ""
            if link["queue_mean"] is None
            else f"; its queue held {percent(link['queue_mean'])} of its buffer on average and "
            f"{percent(link['queue_p99'])} at the 99th percentile"
        )
        lost = (
            f"It dropped {count(link['dropped'])} of {plural(link['arrived'], 'packet')} "
            f"({small(link['drop_rate'])})."
            if link["dropped"]
            else "It dropped nothing."
        )
        told.append(f"{which} was {percent(link['utilisation'])} busy{queue}. {lost}")
    if len(links) > _FEW_LINKS:
        told.append(
            f"{plural(len(links) - _FEW_LINKS, 'more link')} were used less: see the table."
        )
    return told


def _most_used(directions: dict[str, Any]) -> float:
    return max(float(each["utilisation"]) for each in directions.values())


def _of_flows(flows: list[dict[str, Any]], early: int) -> list[str]:
    """What became of the long flows, of which so many time-outs were in the warm-up."""
    told = []
    known = [flow for flow in flows if flow["goodput_bit_s"] is not None]
    if known and not any(flow["goodput_bit_s"] for flow in known):
        who = "The flow" if len(known) == 1 else f"None of the {len(known):,} flows"
        verb = "had no data" if len(known) == 1 else "had any data"
        told.append(f"{who} {verb} arrive in the time that was measured.")
    elif len(known) > 1:
        most = max(known, key=lambda flow: float(flow["goodput_bit_s"]))
        least = min(known, key=lambda flow: float(flow["goodput_bit_s"]))
        high, low = most["goodput_bit_s"], least["goodput_bit_s"]
        ratio = f", {amount(high / low, PLAIN)} times as much" if low else ""
        told.append(
            f"{most['name']} ({most['control']}) had the most, {amount(high, RATE)}{ratio} as "
            f"{least['name']} ({least['control']}) with {amount(low, RATE)}."
            if ratio
            else f"{most['name']} ({most['control']}) had {amount(high, RATE)}, "
            f"{least['name']} ({least['control']}) {amount(low, RATE)}."
        )
    elif known:
        told.append(
            f"{known[0]['name']} ({known[0]['control']}) had {amount(known[0]['goodput_bit_s'], RATE)}."
        )
    pauses = sum(flow["timeouts"] for flow in flows)
    if flows:
        told.append(
            f"There were {plural(int(pauses), 'retransmission time-out')}."
            if pauses
            else "No flow met a retransmission time-out."
        )
        if early:
            told[-1] = f"{told[-1][:-1]} after the warm-up, and {early:,} in it."
    return told
