"""The scenarios that other simulators can run too: dumbbells, one link with long flows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.bench._outcome import busy_directions
from longfat.scenario import quantities

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat._longfat import Scenario
    from longfat.scenario import Direction, Group

_PICO = 1e-12

CONTROLS = ("reno", "hstcp", "stcp")
"""The controllers that ns-2 and ns-3 have too."""

_PLAIN: dict[str, Any] = {
    "stop": "none",
    "size": "unlimited",
    "initial_threshold": "none",
    "slow_start": "standard",
    "delayed_ack": False,
    "access": "none",
    "rto_tick": "none",
    "pacing": "controller",
    "window_validation": "none",
    "careful_resume": "none",
}
"""Settings that flows must leave at their defaults, because they are not passed to the peers."""

_QUEUES = ("drop-tail", "red")

_RECOVERIES = ("sack", "newreno")

Lines = list[str]


@dataclass(frozen=True)
class Way:
    """One direction of the link, with lengths in the unit in which its queue counts.

    Attributes:
        rate_bit_s: Rate.
        delay_s: Propagation delay.
        kind: `drop-tail` or `red`.
        buffer: What the queue holds.
        unit: `packets` or `bytes`.
        packet: The largest packet that crosses, in bytes.
        red: The parameters of RED, with lengths in `unit`; empty for drop tail.
    """

    rate_bit_s: int
    delay_s: float
    kind: str
    buffer: int
    unit: str
    packet: int
    red: Mapping[str, float | bool]


@dataclass(frozen=True)
class Sender:
    """One long flow."""

    group: str
    direction: str
    control: str
    parameters: Mapping[str, float]
    packet: int
    rtt_s: float
    start_s: float
    initial_window: float
    rto_min_s: float
    ecn: bool
    recovery: str
    max_window: float | None


@dataclass(frozen=True)
class Dumbbell:
    """A scenario in the form that the peers receive."""

    duration_s: float
    warmup_s: float
    seed: int
    ways: Mapping[str, Way]
    flows: tuple[Sender, ...]
    busy: tuple[str, ...]


def refusal(scenario: Scenario) -> str | None:
    """Why the peers cannot run a scenario; `None` if they can."""
    given = json.loads(scenario.to_json())
    return next(_refusals(given), None)


def _refusals(given: Mapping[str, Any]) -> Iterator[str]:
    if len(given["link"]) != 1:
        yield "it has more than one link"
    if given["traffic"]:
        yield "it has short flows"
    for link in given["link"].values():
        for way in (link, {**link, **link.get("reverse", {})}):
            yield from _refusals_of_way(way)
    for group in given["flow"]:
        control = _choice(group["control"])["kind"]
        if control not in CONTROLS:
            yield f"it has the controller `{control}`"
        if group["recovery"] not in _RECOVERIES:
            yield f"`recovery` of group `{group['name']}` is {group['recovery']!r}"
        for key, value in _PLAIN.items():
            if group[key] != value:
                yield f"`{key}` of group `{group['name']}` is {group[key]!r}"


def _refusals_of_way(way: Mapping[str, Any]) -> Iterator[str]:
    queue = _choice(way["queue"])
    if queue["kind"] not in _QUEUES:
        yield f"it has the queue `{queue['kind']}`"
    if queue.get("weight") == "auto":
        yield 'its queue has `weight = "auto"`'
    if way["loss"]:
        yield "its link corrupts packets"
    if way["buffer"] == "unlimited":
        yield "its buffer is unlimited"


def dumbbell(scenario: Scenario, summary: Mapping[str, Any]) -> Dumbbell:
    """A scenario that longfat has run, with the round trips and starts that it drew.

    Args:
        scenario: The scenario.
        summary: The averages of the run, with the `start_s` of each flow.

    Raises:
        ValueError: The peers cannot run the scenario.
    """
    if reason := refusal(scenario):
        message = f"other simulators cannot run the scenario: {reason}"
        raise ValueError(message)
    given, numbers = json.loads(scenario.to_json()), quantities(scenario)
    (words,), (link,) = given["link"].values(), numbers.links.values()
    largest = max(group.packet_bytes for group in numbers.groups.values())
    ways = {
        "forward": _way(words, link.forward, largest),
        "reverse": _way({**words, **words.get("reverse", {})}, link.reverse, largest),
    }
    members = [group for group in given["flow"] for _ in range(int(group["count"]))]
    flows = [
        _sender(group, numbers.groups[group["name"]], flow)
        for group, flow in zip(members, summary["flows"], strict=True)
    ]
    return Dumbbell(
        duration_s=scenario.duration_s,
        warmup_s=scenario.warmup_s,
        seed=scenario.seed,
        ways=ways,
        flows=tuple(flows),
        busy=tuple(busy_directions(given)),
    )


def lines(scene: Dumbbell, *, cap_s: float, options: Mapping[str, object]) -> Lines:
    """The scenario as the programs for the peers read it: one item per line, `NAME KEY VALUE KEY VALUE …`.

    Args:
        scene: The scenario.
        cap_s: Wall time after which the peer stops.
        options: Further options of the peer; see bench/peers/README.md.
    """
    top = {
        "duration": scene.duration_s,
        "warmup": scene.warmup_s,
        "seed": scene.seed,
        "cap": cap_s,
        **options,
    }
    made = [_line("top", top)]
    for direction, way in scene.ways.items():
        link = {
            "rate": way.rate_bit_s,
            "delay": way.delay_s,
            "queue": way.kind,
            "buffer": way.buffer,
            "unit": way.unit,
            "packet": way.packet,
            **way.red,
        }
        made.append(_line(f"link {direction}", link))
    for flow in scene.flows:
        on_link = scene.ways["forward"].delay_s + scene.ways["reverse"].delay_s
        elsewhere = max(0.0, (flow.rtt_s - on_link) / 2)
        # The position of the hosts matters only if acknowledgments share a queue with data. Then they are where
        # longfat has them, at equal distances from the link; otherwise where the peer has the least to do.
        shared = len(scene.busy) > 1
        values = {
            "direction": flow.direction,
            "control": flow.control,
            "packet": flow.packet,
            "start": flow.start_s,
            "rtt": flow.rtt_s,
            "delay_before": elsewhere / 2 if shared else elsewhere,
            "delay_behind": elsewhere / 2 if shared else "none",
            "initial_window": flow.initial_window,
            "rto_min": flow.rto_min_s,
            "ecn": flow.ecn,
            "recovery": flow.recovery,
            "max_window": "none" if flow.max_window is None else flow.max_window,
            **flow.parameters,
        }
        made.append(_line("flow", values))
    return made


def _line(name: str, values: Mapping[str, object]) -> str:
    words = [name]
    for key, value in values.items():
        words += [key, str(int(value)) if isinstance(value, bool) else str(value)]
    return " ".join(words)


def _way(words: Mapping[str, Any], direction: Direction, packet: int) -> Way:
    queue = _choice(words["queue"])
    in_bytes = direction.unit == "bytes"
    lengths = {
        key: int(length) if in_bytes else length
        for key, length in direction.queue.items()
        if key in ("min", "max")
    }
    red = {
        key: lengths.get(key, value) for key, value in queue.items() if key not in ("kind", "mode")
    }
    return Way(
        rate_bit_s=direction.rate_bit_s,
        delay_s=direction.delay_ps * _PICO,
        kind=queue["kind"],
        buffer=direction.buffer or 0,
        unit=direction.unit,
        packet=packet,
        red=red,
    )


def _sender(group: Mapping[str, Any], numbers: Group, flow: Mapping[str, Any]) -> Sender:
    control = _choice(group["control"])
    parameters = {key: value for key, value in control.items() if key != "kind" and value != "auto"}
    return Sender(
        group=group["name"],
        direction="reverse" if group["reverse"] else "forward",
        control=control["kind"],
        parameters=parameters,
        packet=numbers.packet_bytes,
        rtt_s=flow["rtt_s"],
        start_s=flow["start_s"],
        initial_window=group["initial_window"],
        rto_min_s=numbers.rto_min_ps * _PICO,
        ecn=group["ecn"],
        recovery=group["recovery"],
        max_window=None if group["max_window"] == "none" else group["max_window"],
    )


def _choice(choice: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A choice as a table, even if it was written as a bare name."""
    return {"kind": choice} if isinstance(choice, str) else choice
