"""What no answer may hold: what is no number, shares above one, packets from nowhere, impossible rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.scenario import Quantities

Row = dict[str, Any]

SHARES = frozenset(
    [
        "utilisation",
        "queue",
        "queue_mean",
        "queue_p99",
        "drop_rate",
        "mark_rate",
        "retransmit_rate",
        "room_rate",
        "price",
    ]
)

CEILING = 1e12
"""Segments: no window is larger, in either model."""

EXACT = 1e-9
"""What sums of real numbers may be off by, as a share."""

BEYOND = 10.0
"""The flows of a link that charges for its capacity bring less than so many times what it carries, or what they
must send in any case. Slow start goes too far by a feedback delay, in which windows grow by some factor of e;
over 7700 solutions the mean was at most 2.4 times as much."""

EXPLICIT = frozenset(["vcp", "xcp"])
"""Prices that routers state, which are no probabilities."""

FLOOR = 2.0
"""Segments: what a loss or a mark leaves of a window."""


class AbsurdError(Exception):
    """A result that cannot be."""


def refuse(condition: object, where: str, what: str) -> None:
    """Refuses the answer if the condition holds.

    Raises:
        AbsurdError: With place and value.
    """
    if condition:
        message = f"{where}: {what}"
        raise AbsurdError(message)


def check_numbers(where: str, row: Row) -> None:
    """All numbers are finite and none is negative; shares are at most one."""
    for key, value in row.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        wrong = not math.isfinite(value) or value < 0 or (key in SHARES and value > 1)
        refuse(wrong, where, f"{key} = {value}")


def check_run(summary: Row, given: Quantities) -> None:
    """Refuses averages of a run that cannot be."""
    for where, row in rows(summary):
        check_numbers(where, row)
    for name, value in summary["jain"].items():
        refuse(
            value is not None and not 0 < value <= 1, f"Jain's index of {name}", f"jain = {value}"
        )
    for flow in summary["flows"]:
        window = flow["window_mean"]
        refuse(
            window is not None and not 1 <= window <= CEILING, flow["name"], f"window = {window}"
        )
        _check_goodput(flow, given)
    if (
        given.warmup_ps == 0
    ):  # else what was under way when the measuring began may be lost after it
        for where, row in rows(summary):
            _check_parts(where, row)
        _check_losses(summary)
        _check_arrivals(summary, given)


def rows(summary: Row) -> Iterator[tuple[str, Row]]:
    """The links in both directions, the flows and the groups of short flows."""
    for name, link in summary["links"].items():
        yield f"{name}, forward", link["forward"]
        yield f"{name}, reverse", link["reverse"]
    for flow in summary["flows"]:
        yield flow["name"], flow
    yield from summary["traffic"].items()


def _group(flow: Row) -> str:
    name: str = flow["name"]
    return name.rpartition("[")[0]


def _check_goodput(flow: Row, given: Quantities) -> None:
    """No flow gets more than its narrowest link carries, and the packet that was under way when it began."""
    group = given.groups[_group(flow)]
    crossed = [given.links[name].direction(backwards=way) for name, way in group.crossed.items()]
    if any(link.varies for link in crossed):  # what was under way may arrive all at once
        return
    narrowest = min(link.rate_bit_s for link in crossed)
    end = given.duration_ps / 1e12
    if flow["completion_s"] is not None:
        end = min(end, flow["start_s"] + flow["completion_s"])
    if group.stop_ps is not None:
        end = min(end, group.stop_ps / 1e12)
    active = end - max(flow["start_s"], given.warmup_ps / 1e12)
    if active <= 1e-9:
        return
    most = narrowest * (1 + 1e-6) + group.packet_bytes * 8 / active
    refuse(flow["goodput_bit_s"] > most, flow["name"], f"goodput = {flow['goodput_bit_s']}")


def _check_parts(where: str, row: Row) -> None:
    """No more is dropped, marked or lost than there was."""
    for part, whole in (
        ("dropped", "arrived"),
        ("marked", "arrived"),
        ("data_dropped", "data_sent"),
    ):
        if part in row:
            refuse(row[part] > row[whole], where, f"{row[part]} {part} of {row[whole]}")
    if "corrupted" in row:
        lost = row["dropped"] + row["corrupted"]
        refuse(lost > row["arrived"], where, f"{lost} dropped or corrupted of {row['arrived']}")


def _check_losses(summary: Row) -> None:
    """Links drop all that flows miss; acknowledgments come on top."""
    missed = sum(flow["data_dropped"] for flow in (*summary["flows"], *summary["traffic"].values()))
    dropped = sum(
        direction["dropped"] for link in summary["links"].values() for direction in link.values()
    )
    refuse(missed > dropped, "all links", f"{dropped} dropped, and flows miss {missed}")


def _may_copy(given: Quantities) -> bool:
    """Whether a wire may make copies, which count as arrivals and drops but not as sent."""
    sides = (side for link in given.links.values() for side in (link.forward, link.reverse))
    return any(side.varies for side in sides)


def _sends_more(summary: Row) -> bool:
    """Whether links carry data that no flow of the summary sends there: requests, or flows of a list."""
    listed = any("replay" in group for group in summary["scenario"]["traffic"])
    return listed or "applications" in summary


def _check_arrivals(summary: Row, given: Quantities) -> None:
    """What leaves a link has arrived, what arrives has been sent, and what is not lost leaves or waits."""
    sent: dict[tuple[str, str], int] = {}
    for row in (
        *summary["flows"],
        *({"name": f"{name}[", **row} for name, row in summary["traffic"].items()),
    ):
        group = given.groups[_group(row)]
        for link in group.path:
            # Each data packet is acknowledged at most once, on the way back.
            for direction in ("forward", "reverse"):
                sent[link, direction] = sent.get((link, direction), 0) + row["data_sent"]
    if _may_copy(given) or _sends_more(summary):
        return
    packets = [group.packet_bytes for group in given.groups.values()]
    for (name, direction), most in sent.items():
        where = f"{name}, {direction}"
        row = summary["links"][name][direction]
        refuse(row["arrived"] > most, where, f"{row['arrived']} arrived of {most}")
        link = getattr(given.links[name], direction)
        left_bytes = row["utilisation"] * link.capacity_bit_s * given.measured_s / 8
        carried = row["arrived"] - row["dropped"]
        largest, least = max([40, *packets]), min([40, *packets])
        refuse(
            left_bytes > carried * largest * (1 + EXACT), where, f"{left_bytes} B left of {carried}"
        )
        if link.buffer is not None:
            inside = 1 + (link.buffer if link.unit == "packets" else link.buffer // least)
            few = left_bytes < (carried - inside) * least * (1 - EXACT)
            refuse(few, where, f"{left_bytes} B left of {carried}, {inside} inside")


def check_columns(name: str, columns: Mapping[str, Sequence[float | None]]) -> None:
    """The same for whole columns; where there is no value there is none to check."""
    for key, values in columns.items():
        known = [value for value in values if value is not None]
        refuse(not all(map(math.isfinite, known)), name, f"{key} is not finite")
        if known:
            check_numbers(name, {key: min(known)})
            check_numbers(name, {key: max(known)})


def check_tables(
    summary: Row, flows: list[Row], links: Mapping[str, Sequence[float | None]], given: Quantities
) -> None:
    """Refuses counts of the whole run, and rows of a series, that cannot be."""
    for flow in flows:
        new = flow["sent"] - flow["retransmitted"]
        refuse(flow["delivered"] > new, flow["name"], f"{flow['delivered']} delivered of {new}")
        if given.warmup_ps == 0:
            left = flow["sent"] - flow["data_dropped"]
            refuse(
                flow["delivered"] > left and not _may_copy(given),
                flow["name"],
                f"{flow['delivered']} delivered of {left}",
            )
            same = flow["sent"] == flow["data_sent"]
            refuse(not same, flow["name"], f"{flow['sent']} sent and {flow['data_sent']}")
    delivered = sum(flow["delivered"] for flow in flows)
    total = summary["engine"]["data_packets"]
    more = summary["traffic"] or _sends_more(summary)
    wrong = delivered > total if more else delivered != total
    refuse(wrong, "engine", f"{total} data packets, {delivered} of flows")
    check_columns("the series of the links", links)


def check_fluid(solved: Row, given: Quantities, *, priced: bool) -> None:
    """Refuses a solution in time that cannot be. If nothing is `priced`, windows may grow up to the ceiling."""
    times = solved["t"]
    refuse(any(one > other for one, other in zip(times, times[1:])), "the fluid", "time goes back")  # noqa: B905, RUF007 - pairs
    for flow in solved["flows"]:
        name = flow["name"]
        check_numbers(name, flow)
        check_columns(name, {key: flow[key] for key in ("window", "rate_bit_s")})
        outside = [each for each in flow["window"] if each and not 1 - EXACT <= each <= CEILING]
        refuse(outside, name, f"window = {outside[:1]}")
        packet = given.groups[_group(flow)].packet_bytes * 8
        most = CEILING * packet / flow["rtt_s"]
        refuse(flow["rate_mean_bit_s"] > most, name, f"mean rate = {flow['rate_mean_bit_s']}")
    for name, link in _directions(solved["links"]):
        check_columns(name, {key: link[key] for key in ("load", "queue_s")})
        if solved["price"] in EXPLICIT:
            # What routers ask to be given back, and below zero what they offer.
            refuse(not all(map(math.isfinite, link["price"])), name, "price is not finite")
        else:
            check_columns(name, {"price": link["price"]})
    if priced:
        _check_rates(solved["flows"], "rate_mean_bit_s", "rtt_s", given)


def check_rest(rest: Row, given: Quantities, *, priced: bool) -> None:
    """Refuses an equilibrium that cannot be."""
    for flow in rest["flows"]:
        name = flow["name"]
        check_numbers(name, {key: value for key, value in flow.items() if key != "price"})
        refuse(
            not 0 <= flow["price"] < math.inf, name, f"price = {flow['price']}"
        )  # a sum over links
        stopped = flow["window"] == 0
        outside = not stopped and not 1 - EXACT <= flow["window"] <= CEILING
        refuse(outside, name, f"window = {flow['window']}")
    if priced:
        _check_rates(rest["flows"], "rate_bit_s", "round_trip_s", given)
    for name, link in _directions(rest["links"]):
        check_numbers(name, link)
        # What exceeds the capacity is lost: that is at most the price.
        left = link["load"] * (1 - link["price"])
        refuse(
            priced and left > 1 + 1e-3, name, f"load = {link['load']} at a price of {link['price']}"
        )


def _check_rates(flows: list[Row], key: str, trip: str, given: Quantities) -> None:
    """What the flows of a link bring it together is not far beyond what it carries, or what they must send."""
    brought: dict[tuple[str, bool], list[float]] = {}
    for flow in flows:
        group = given.groups[_group(flow)]
        windows = flow["window"] if isinstance(flow["window"], list) else []
        began = max(FLOOR, *windows[:1], FLOOR)
        # A flow that has stopped has no round trip.
        least = began * group.packet_bytes * 8 / flow[trip] if flow[trip] else 0.0
        for crossed in group.crossed.items():
            sums = brought.setdefault(crossed, [0.0, 0.0])
            sums[0] += flow[key]
            sums[1] += least
    for (name, backwards), (sum_, least) in brought.items():
        most = BEYOND * max(given.links[name].direction(backwards=backwards).rate_bit_s, least)
        refuse(sum_ > most, f"the flows of {name}", f"mean rate = {sum_}")


def _directions(links: Row) -> Iterator[tuple[str, Row]]:
    for name, link in links.items():
        if "price" in link:
            yield name, {key: value for key, value in link.items() if key != "reverse"}
        if "reverse" in link:
            yield f"{name}, reverse", link["reverse"]
