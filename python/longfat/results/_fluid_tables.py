"""What a fluid solution has found, as tables to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.tables import TextTable
from longfat.units import RATE, TIME, aligned, percent, small

if TYPE_CHECKING:
    from collections.abc import Iterable

_MANY = 8
"""Groups with more flows are summarised."""

_ROUND = 100
"""Larger factors are shown without decimals."""

Row = dict[str, Any]


def overview(summary: Row, packets: Row | None = None) -> list[TextTable | str]:
    """Means, the equilibrium, and whether it is stable, in order: tables, and lines of text.

    Args:
        summary: That of a solution.
        packets: That of a run of the same scenario.
    """
    parts: list[TextTable | str] = []
    if summary["flows"]:
        parts.append(_flows(summary, packets))
    if (rest := summary["equilibrium"]) is not None:
        table = _rest(rest)
        table.title = "equilibrium" if parts else ""
        parts += [table, _links(rest["links"])]
    parts += _charged(summary)
    if summary["stable"] is not None:
        parts.append(judgement(summary))
    return parts


def _flows(summary: Row, packets: Row | None) -> TextTable:
    """Means over the measured interval, of the fluid and of the packets."""
    headers = ["flow", "control", "rtt", "mean window", "mean rate"]
    rows: list[Row] = summary["flows"]
    keys = ["rtt_s", "window_mean", "rate_mean_bit_s"]
    if packets is not None:
        headers += ["of packets", "goodput of packets"]
        keys += ["packets_window", "packets_goodput"]
        simulated = {flow["name"]: flow for flow in packets["flows"]}
        rows = [
            {
                **row,
                "packets_window": simulated[row["name"]]["window_mean"],
                "packets_goodput": simulated[row["name"]]["goodput_bit_s"],
            }
            for row in rows
        ]
    rows = _summarised(rows, keys)
    scales = {"rtt_s": TIME, "rate_mean_bit_s": RATE, "packets_goodput": RATE}
    columns = [
        aligned([row[key] for row in rows], scales[key])
        if key in scales
        else _windows(row[key] for row in rows)
        for key in keys
    ]
    made = TextTable(headers, words=2)
    for row, *cells in zip(rows, *columns, strict=True):
        made.add(row["name"], row["control"], *cells)
    return made


def _rest(rest: dict[str, Any]) -> TextTable:
    keys = ["window", "rate_bit_s", "round_trip_s", "price"]
    rows = _summarised([{**row, "control": ""} for row in rest["flows"]], keys)
    columns = (
        _windows(row["window"] for row in rows),
        aligned([row["rate_bit_s"] for row in rows], RATE),
        aligned([row["round_trip_s"] for row in rows], TIME),
        [small(row["price"]) for row in rows],
    )
    made = TextTable(("flow", "window", "rate", "round trip", "price"))
    for row, *cells in zip(rows, *columns, strict=True):
        made.add(row["name"], *cells)
    return made


def _links(links: dict[str, Row]) -> TextTable:
    rows = []
    for name, link in links.items():
        rows += [{"name": name, **link}] if "price" in link else []
        rows += [{"name": f"{name}, reverse", **link["reverse"]}] if "reverse" in link else []
    queues = aligned([row["queue_s"] for row in rows], TIME)
    made = TextTable(("link", "load", "queue", "price"))
    for row, queue in zip(rows, queues, strict=True):
        made.add(row["name"], percent(row["load"]), queue, small(row["price"]))
    return made


def _charged(summary: Row) -> list[TextTable | str]:
    """What links charge, and where that is not what their queues do."""
    if summary["model"] == "synchronised":
        return []
    told = f"price: {summary['price']}"
    kinds: dict[str, list[str]] = {}
    for link, kind in summary["stand_ins"].items():
        kinds.setdefault(kind, []).append(link)
    lines = [
        f"a virtual queue (avq) stands in for {kind} on {', '.join(links)}, of which the model has no "
        "equations: windows and queues will differ from those of packets"
        for kind, links in kinds.items()
    ]
    return ["\n".join([told, *lines])]


def judgement(summary: Row) -> str:
    """Whether the equilibrium is stable, in words."""
    stable: bool = summary["stable"]
    margin: float | None = summary["margin"]
    if not summary["delay"]:
        return "stable, without feedback delay" if stable else "unstable, without feedback delay"
    if stable:
        if margin is None:
            return "stable, with any feedback delay"
        return f"stable: the feedback delay could be {_factor(margin)} times as long"
    if margin:
        return f"unstable: it would take a feedback delay {_factor(1 / margin)} times as short"
    return "unstable, even without feedback delay"


def _factor(value: float) -> str:
    return f"{value:,.0f}" if value >= _ROUND else f"{value:.3g}"


def _windows(values: Iterable[float]) -> list[str]:
    return [f"{value:,.1f}" for value in values]


def _summarised(rows: list[Row], keys: list[str]) -> list[Row]:
    """Large groups of flows as three rows: mean, least and most."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["name"].partition("[")[0], []).append(row)
    short: list[Row] = []
    for group, members in groups.items():
        if len(members) <= _MANY:
            short += members
            continue
        head = f"{group} × {len(members)}, "
        values = {key: [row[key] for row in members] for key in keys}
        for label, of in (("mean", lambda v: sum(v) / len(v)), ("least", min), ("most", max)):
            first = label == "mean"
            name = head + label if first else label.rjust(len(head) + len(label))
            control = members[0]["control"] if first else ""
            short.append({"name": name, "control": control} | {k: of(v) for k, v in values.items()})
    return short
