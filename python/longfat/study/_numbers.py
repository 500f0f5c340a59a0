"""A finished run as flat numbers: each under its path in the summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat.units import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from longfat._longfat import Scenario

_SUMMED = frozenset({"goodput_bit_s", "timeouts", "congestion_events", "data_sent", "data_dropped"})
"""What a group of flows has altogether; of everything else it has the mean."""

_COUNTED = ("data_packets", "events")
"""What the engine counts. The rest of what it says depends on the clock, and no two runs agree on it."""


def of_summary(summary: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a simulation, as `longfat run --json` prints them; absent ones are left out.

    >>> of_summary({"links": {"a": {"forward": {"utilisation": 1}}}, "flows": [], "jain": {"b": None}})
    {'links.a.forward.utilisation': 1.0}
    """
    found: dict[str, float] = {}
    for section in ("links", "applications", "traffic", "jain"):
        found.update(_leaves(summary.get(section, {}), section))
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for flow in summary["flows"]:
        groups.setdefault(flow["name"].partition("[")[0], []).append(flow)
    for group, members in groups.items():
        found.update(_of_group(f"flows.{group}", members))
    engine = summary.get("engine", {})
    found.update({f"engine.{name}": float(engine[name]) for name in _COUNTED if name in engine})
    return found


def names_of(summary: Mapping[str, Any]) -> set[str]:
    """The names of the numbers that runs like this one may have, also of those that this one lacks.

    >>> sorted(names_of({"flows": [{"name": "a[0]", "rtt_s": None}], "jain": {"a": None}}))
    ['flows.a.rtt_s', 'jain.a']
    """
    flows = {flow["name"].partition("[")[0]: flow for flow in summary["flows"]}
    return set(of_summary(_filled({**summary, "flows": list(flows.values())})))


def _filled(value: Any) -> Any:  # noqa: ANN401 - of a summary
    if isinstance(value, dict):
        return {key: _filled(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry) for entry in value]
    return 0.0 if value is None else value


def of_fluid(
    scenario: Scenario, *, model: str, price: str, delay: bool, equilibrium: bool
) -> dict[str, float]:
    """Solves the fluid model, and puts its numbers under the names that packets have for them.

    Rates become `goodput_bit_s`, loads `utilisation`, queues shares of the buffer. `price`, the probability of
    a mark or a loss, has no counterpart.

    Raises:
        FluidError: It cannot be solved as asked.
    """
    from longfat.results._fluid import solve

    solved = solve(
        scenario,
        "study",
        model=model,  # type: ignore[arg-type]
        price=price,  # type: ignore[arg-type]
        delay=delay,
        integrate=not equilibrium,
        equilibrium=equilibrium,
        stability=False,
    )
    if equilibrium:
        rest = solved.equilibrium or {"flows": [], "links": {}}
        flows = [
            {
                "name": flow["name"],
                "goodput_bit_s": flow["rate_bit_s"],
                "window_mean": flow["window"],
            }
            for flow in rest["flows"]
        ]
        links = {
            (name, direction): (state["load"], state["queue_s"], state["price"])
            for name, link in rest["links"].items()
            for direction, state in (("forward", link), ("reverse", link.get("reverse")))
            if state and "load" in state
        }
    else:
        flows = [
            {
                "name": flow["name"],
                "goodput_bit_s": flow["rate_mean_bit_s"],
                "window_mean": flow["window_mean"],
            }
            for flow in solved.flows.to_polars().to_dicts()
        ]
        links = _over_time(scenario, solved.link_series.to_polars())
    found: dict[str, float] = {}
    for (name, direction), (load, queue_s, charge) in links.items():
        place = f"links.{name}.{direction}"
        found[f"{place}.utilisation"] = min(load, 1.0)
        found[f"{place}.price"] = charge
        share = _share_of_buffer(scenario, name, direction, queue_s)
        if share is not None:
            found[f"{place}.queue_mean"] = share
    groups: dict[str, list[dict[str, Any]]] = {}
    for flow in flows:
        groups.setdefault(flow["name"].partition("[")[0], []).append(flow)
    for group, members in groups.items():
        found.update(_of_group(f"flows.{group}", members))
        rates = [flow["goodput_bit_s"] for flow in members]
        if squares := math.fsum(rate * rate for rate in rates):
            found[f"jain.{group}"] = math.fsum(rates) ** 2 / (len(rates) * squares)
    return found


def in_order(names: Sequence[str]) -> list[str]:
    """Names of numbers in the one order that every table has them in: that of the sections of a summary."""

    def place(name: str) -> tuple[int, str]:
        section = name.partition(".")[0]
        return SECTIONS.index(section) if section in SECTIONS else len(SECTIONS), name

    return sorted(names, key=place)


def headings(names: Sequence[str]) -> list[str]:
    """Names of numbers for a table: what they belong to, and what they are, unless that leaves two alike.

    >>> headings(["flows.a.goodput_bit_s", "traffic.web.completion_s.mean", "jain.a", "share"])
    ['a.goodput_bit_s', 'web.completion_s.mean', 'jain.a', 'share']
    """

    def short(name: str) -> str:
        section, _, rest = name.partition(".")
        return rest if section in SECTIONS and "." in rest else name

    made = [short(name) for name in names]
    return [
        name if made.count(heading) > 1 else heading
        for name, heading in zip(names, made, strict=True)
    ]


def _leaves(value: object, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _leaves(entry, f"{path}.{key}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, float(value)


def _of_group(path: str, members: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    found = {}
    for name in dict.fromkeys(name for flow in members for name in flow):
        values = [flow.get(name) for flow in members]
        numbers = [
            float(value)
            for value in values
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        if numbers:
            total = math.fsum(numbers)
            found[f"{path}.{name}"] = total if name in _SUMMED else total / len(numbers)
    return found


def _over_time(
    scenario: Scenario, series: pl.DataFrame
) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Means of load, queue and price of each direction after the warm-up."""
    import polars as pl

    means = (
        series.filter(pl.col("time_s") >= scenario.warmup_s)
        .group_by("link", "direction", maintain_order=True)
        .agg(pl.col("load", "queue_s", "price").mean())
    )
    return {
        (str(row["link"]), str(row["direction"])): (row["load"], row["queue_s"], row["price"])
        for row in means.to_dicts()
    }


def _share_of_buffer(scenario: Scenario, name: str, direction: str, queue_s: float) -> float | None:
    from longfat.scenario import quantities

    given = quantities(scenario)
    side = getattr(given.links[name], direction)
    if not side.buffer:
        return None
    crossing = [group.packet_bytes for group in given.groups.values() if name in group.path]
    unit = 8 * (max(crossing, default=1) if side.unit == "packets" else 1)
    return queue_s * side.rate_bit_s / unit / side.buffer if unit else None
