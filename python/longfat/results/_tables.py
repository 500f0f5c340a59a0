"""The averages of one run, as tables to read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from longfat.tables import TextTable
from longfat.units import COUNT, PLAIN, RATE, TIME, aligned, amount, count, percent, plural, small

if TYPE_CHECKING:
    import polars as pl

_MANY = 8
"""Groups with more flows are summarised."""

MOST_ROWS = 500
"""Nobody reads more: flows are then summarised by their controllers, and of the rest the first are shown."""

MOST_NAMES = 20
"""A line of text has at most so many names."""

Row = dict[str, Any]


def links(summary: dict[str, dict[str, Row]]) -> TextTable:
    """One row for each direction of each link."""
    headers = ("link", "direction", "utilisation", "queue mean", "queue p99", "dropped", "marked")
    made = TextTable(headers, words=2)
    for link, directions in _first(summary, MOST_ROWS // 2):
        for index, (direction, row) in enumerate(directions.items()):
            made.add(
                link if index == 0 else "",
                direction,
                percent(row["utilisation"]),
                percent(row["queue_mean"]),
                percent(row["queue_p99"]),
                small(row["drop_rate"]),
                small(row["mark_rate"]),
            )
    return _told_more(made, len(summary) - MOST_ROWS // 2, "links.parquet")


def _first(summary: dict[str, Any], most: int = MOST_ROWS) -> list[tuple[str, Any]]:
    """Those that a table shows."""
    return list(islice(summary.items(), most))


def _told_more(made: TextTable, left: int, file: str) -> TextTable:
    """The table with a row that says how many are not in it, and which file of the folder has them."""
    if left > 0:
        made.add(f"{left:,} more: {file}", *[""] * (len(made.head) - 1))
    return made


DELAY_PERCENTILES = {share: f"queueing_delay_{share}_s" for share in ("p50", "p90", "p99")}
"""The percentiles of the queueing delay, which flows have if the scenario asks for them."""


def told_percentiles(flows: list[Row]) -> dict[str, str]:
    """Those that these flows of one run have."""
    return {share: key for share, key in DELAY_PERCENTILES.items() if flows and key in flows[0]}


def flows(summary: list[Row]) -> TextTable:
    """One row for each long flow; a large group has three: mean, least, most."""
    percentiles = told_percentiles(summary)
    headers = ("flow", "control", "rtt", "goodput", "resent", "time-outs", "queueing", *percentiles)
    made = TextTable(headers, words=2)
    rows = _rows(groups(summary))
    if len(rows) > MOST_ROWS:
        rows = _rows(_by_control(summary))
    columns = (
        aligned([row["rtt_s"] for row in rows], TIME),
        aligned([row["goodput_bit_s"] for row in rows], RATE),
        [small(row["retransmit_rate"]) for row in rows],
        [count(row["timeouts"]) for row in rows],
        aligned([row["queueing_delay_mean_s"] for row in rows], TIME),
        *(aligned([row[key] for row in rows], TIME) for key in percentiles.values()),
    )
    for row, *cells in zip(rows, *columns, strict=True):
        made.add(row["name"], row["control"], *cells)
    return made


def _rows(members: dict[str, list[Row]]) -> list[Row]:
    """The rows of some groups: of each member, or of a large group three."""
    rows: list[Row] = []
    for group, flows in members.items():
        rows += _summarised(group, flows) if len(flows) > _MANY else flows
    return rows


def _by_control(flows: list[Row]) -> dict[str, list[Row]]:
    """The flows of each controller."""
    found: dict[str, list[Row]] = {}
    for flow in flows:
        found.setdefault(flow["control"], []).append(flow)
    return found


def traffic(summary: dict[str, Row]) -> TextTable:
    """One row for each group of short flows, with its completion times."""
    made = TextTable(("short flows", "completed", "goodput", "dropped", "mean", "p50", "p99"))
    names, rows = _names_and_rows(summary)
    goodput = aligned([row["goodput_bit_s"] for row in rows], RATE)
    times = (
        aligned([row["completion_s"][key] for row in rows], TIME) for key in ("mean", "p50", "p99")
    )
    for name, row, rate, *spans in zip(names, rows, goodput, *times, strict=True):
        made.add(name, count(row["completed"]), rate, small(row["drop_rate"]), *spans)
    return _told_more(made, len(summary) - MOST_ROWS, "summary.json")


def _names_and_rows(summary: dict[str, Row]) -> tuple[list[str], list[Row]]:
    """Those groups that a table shows, and what is known of them."""
    shown = _first(summary)
    return [name for name, _ in shown], [row for _, row in shown]


_TIMES = {
    "delay_s": "delay",
    "response_s": "response",
    "page_load_s": "page load",
    "chunk_s": "chunk",
}


def applications(summary: dict[str, Row]) -> TextTable:
    """One row for each group of flows with applications: what these wait for, and how videos play."""
    headers = (
        "application",
        "kind",
        "time of",
        "goodput",
        "mean",
        "p50",
        "p99",
        "bit rate",
        "stalled",
    )
    made = TextTable(headers, words=3)
    names, rows = _names_and_rows(summary)
    waits = [next(key for key in _TIMES if key in row) for row in rows]
    goodput = aligned([row["goodput_bit_s"] for row in rows], RATE)
    times = (
        aligned([row[wait][key] for row, wait in zip(rows, waits, strict=True)], TIME)
        for key in ("mean", "p50", "p99")
    )
    rates = aligned([row.get("bit_rate_bit_s") for row in rows], RATE)
    for name, row, wait, rate, *spans, video in zip(
        names, rows, waits, goodput, *times, rates, strict=True
    ):
        stalled = percent(row["stalled"]) if "stalled" in row else ""
        shown = video if row["kind"] == "video" else ""
        made.add(name, row["kind"], _TIMES[wait], rate, *spans, shown, stalled)
    return _told_more(made, len(summary) - MOST_ROWS, "summary.json")


def overview(
    summary: dict[str, Any], duration_s: float, limits: pl.DataFrame
) -> list[TextTable | str]:
    """Links, flows, short flows and what else there is to say of a run, in order: tables, and lines of text."""
    parts: list[TextTable | str] = [links(summary["links"])]
    if summary["flows"]:
        parts.append(flows(summary["flows"]))
        if early := early_timeouts(summary["flows"], limits):
            each = few_of([f"{group} {number:,}" for group, number in early.items()])
            parts.append(f"time-outs in the warm-up, which averages leave out: {each}")
        fair = [f"{group} {index:.3f}" for group, index in fairness(summary).items()]
        if fair:
            parts.append(f"fairness (Jain's index): {few_of(fair)}")
    if summary.get("applications"):
        parts.append(applications(summary["applications"]))
    if summary["traffic"]:
        parts.append(traffic(summary["traffic"]))
    if told := anti_ecn(summary):
        parts.append("\n".join(told))
    engine = summary["engine"]
    parts.append(
        f"{plural(engine['data_packets'], 'packet')} in {amount(engine['wall_s'], TIME)}: "
        f"{amount(engine['packets_per_s'], COUNT)} packets/s, "
        f"{amount(duration_s / max(engine['wall_s'], 1e-9), PLAIN)} × real time"
    )
    return parts


def few_of(names: list[str]) -> str:
    """Names in a line of text, of many the first.

    >>> few_of(["a", "b"])
    'a, b'
    """
    more = [f"{len(names) - MOST_NAMES:,} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more])


def early_timeouts(flows: list[Row], limits: pl.DataFrame) -> dict[str, int]:
    """How many time-outs each group of long flows had in the warm-up: of those that had any.

    Args:
        flows: The averages of the long flows, which count those after it.
        limits: The table of that name, which counts all; empty where no time series were kept.
    """
    import polars as pl

    if limits.is_empty():
        return {}
    group = pl.col("flow").cast(pl.String).str.split("[").list.first()
    sums = limits.group_by(group).agg(pl.col("timeouts").sum())
    known = dict(sums.iter_rows())
    measured = {name: sum(flow["timeouts"] for flow in of) for name, of in groups(flows).items()}
    early = {name: int(known.get(name) or 0) - int(after) for name, after in measured.items()}
    return {name: number for name, number in early.items() if number > 0}


def anti_ecn(summary: dict[str, Any]) -> list[str]:
    """What became of AntiECN, in lines: which groups use it, and why others do not."""
    in_use: list[str] = []
    plain: dict[str, list[str]] = {}
    firsts = {group: members[0] for group, members in groups(summary["flows"]).items()}
    for group, row in {**firsts, **summary["traffic"]}.items():
        if row.get("anti_ecn"):
            in_use.append(group)
        elif row.get("anti_ecn") is False:
            plain.setdefault(str(row.get("unaware_link")), []).append(group)
    told = [f"AntiECN is in use: {few_of(in_use)}"] if in_use else []
    return told + [
        f"link {link} does not support AntiECN, so this is plain TCP: {few_of(names)}"
        for link, names in plain.items()
    ]


def fairness(summary: dict[str, Any]) -> dict[str, float]:
    """Jain's index of each group with several flows, where it has one."""
    shared = [group for group, members in groups(summary["flows"]).items() if len(members) > 1]
    jain = {group: summary["jain"].get(group) for group in shared}
    return {group: index for group, index in jain.items() if index is not None}


def groups(flows: list[Row]) -> dict[str, list[Row]]:
    """The flows of each group, in the order of the scenario."""
    found: dict[str, list[Row]] = {}
    for flow in flows:
        found.setdefault(flow["name"].partition("[")[0], []).append(flow)
    return found


def _summarised(group: str, members: list[Row]) -> list[Row]:
    """Three rows for a group: mean, least and most of each number."""
    head = f"{group} × {len(members)}, "
    rows: list[Row] = [
        {"name": head + "mean", "control": members[0]["control"]},
        {"name": "least".rjust(len(head) + 5), "control": ""},
        {"name": "most".rjust(len(head) + 4), "control": ""},
    ]
    keys = ["rtt_s", "goodput_bit_s", "retransmit_rate", "timeouts", "queueing_delay_mean_s"]
    keys += told_percentiles(members).values()
    for key in keys:
        known = [flow[key] for flow in members if flow[key] is not None]
        statistics = (sum(known) / len(known), min(known), max(known)) if known else (None,) * 3
        for row, value in zip(rows, statistics, strict=True):
            row[key] = value
    return rows
