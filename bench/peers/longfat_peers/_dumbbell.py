"""The scenarios that other simulators can run too: dumbbells, one link with long flows."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.bench._outcome import busy_directions
from longfat.scenario import quantities
from longfat.units import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat._longfat import Scenario
    from longfat.scenario import Direction, Group

_PICO = 1e-12


@dataclass(frozen=True)
class Abilities:
    """What a peer has of longfat.

    Attributes:
        controls: Controllers.
        queues: Queue disciplines.
        recoveries: How losses are found and repaired.
        delayed_ack: Whether its receivers may hold acknowledgments back.
        rto_min_s: The only least time-out that it has; `None` if it may have any.
        initial_threshold: Whether slow start may end at a number of segments, not only at a loss.
    """

    controls: frozenset[str]
    queues: frozenset[str]
    recoveries: frozenset[str]
    delayed_ack: bool
    rto_min_s: float | None = None
    initial_threshold: bool = False


COMMON = Abilities(
    controls=frozenset({"reno", "hstcp", "stcp"}),
    queues=frozenset({"drop-tail", "red"}),
    recoveries=frozenset({"sack", "newreno"}),
    delayed_ack=False,
)
"""What both ns-2 and ns-3 have."""

_PLAIN: dict[str, Any] = {
    "stop": "none",
    "size": "unlimited",
    "initial_threshold": "none",
    "slow_start": "standard",
    "access": "none",
    "rto_tick": "none",
    "pacing": "controller",
    "window_validation": "none",
    "careful_resume": "none",
}
"""Settings that flows must leave at their defaults, because they are not passed to the peers."""

_COUNTS_MARKS = ("dctcp",)
"""Controllers that are told of every mark, in longfat and in the peers; others are not."""

Lines = list[str]


@dataclass(frozen=True)
class Way:
    """One direction of the link, with lengths in the unit in which its queue counts.

    Attributes:
        rate_bit_s: Rate.
        delay_s: Propagation delay.
        kind: The queue discipline.
        buffer: What the queue holds.
        unit: `packets` or `bytes`.
        packet: The largest packet that crosses, in bytes.
        parameters: Those of the discipline, with lengths in `unit` and times in seconds.
    """

    rate_bit_s: int
    delay_s: float
    kind: str
    buffer: int
    unit: str
    packet: int
    parameters: Mapping[str, object]


@dataclass(frozen=True)
class Sender:
    """One long flow."""

    group: str
    direction: str
    control: str
    parameters: Mapping[str, object]
    packet: int
    rtt_s: float
    start_s: float
    initial_window: float
    initial_threshold: float | None
    rto_min_s: float
    ecn: bool
    recovery: str
    max_window: float | None
    ack_every: int
    ack_delay_s: float


@dataclass(frozen=True)
class Dumbbell:
    """A scenario in the form that the peers receive."""

    duration_s: float
    warmup_s: float
    seed: int
    ways: Mapping[str, Way]
    flows: tuple[Sender, ...]
    busy: tuple[str, ...]


def refusal(scenario: Scenario, can: Abilities = COMMON) -> str | None:
    """Why a peer with these abilities cannot run a scenario; `None` if it can."""
    given = json.loads(scenario.to_json())
    return next(_refusals(given, can), None)


def _refusals(given: Mapping[str, Any], can: Abilities) -> Iterator[str]:
    if len(given["link"]) != 1:
        yield "it has more than one link"
    if given["traffic"]:
        yield "it has short flows"
    for link in given["link"].values():
        for way in (link, {**link, **link.get("reverse", {})}):
            yield from _refusals_of_way(way, can)
    for group in given["flow"]:
        yield from _refusals_of_group(group, can)


def _refusals_of_group(group: Mapping[str, Any], can: Abilities) -> Iterator[str]:
    control = _choice(group["control"])["kind"]
    if control not in can.controls:
        yield f"it has the controller `{control}`"
    if group["recovery"] not in can.recoveries:
        yield f"`recovery` of group `{group['name']}` is {group['recovery']!r}"
    plain = {
        **_PLAIN,
        **({} if can.delayed_ack else {"delayed_ack": False}),
        "ecn_feedback": "accurate" if control in _COUNTS_MARKS else "echo",
    }
    if can.initial_threshold:
        del plain["initial_threshold"]
    for key in (each for each, value in plain.items() if group[each] != value):
        yield f"`{key}` of group `{group['name']}` is {group[key]!r}"
    least = _seconds(group["rto_min"])
    if can.rto_min_s is not None and not math.isclose(least, can.rto_min_s):
        yield f"`rto_min` of group `{group['name']}` is {group['rto_min']!r}"


def _refusals_of_way(way: Mapping[str, Any], can: Abilities) -> Iterator[str]:
    queue = _choice(way["queue"])
    if queue["kind"] not in can.queues:
        yield f"it has the queue `{queue['kind']}`"
    if queue.get("weight") == "auto":
        yield 'its queue has `weight = "auto"`'
    if way["loss"]:
        yield "its link corrupts packets"
    if way["buffer"] == "unlimited":
        yield "its buffer is unlimited"


def dumbbell(scenario: Scenario, summary: Mapping[str, Any], can: Abilities = COMMON) -> Dumbbell:
    """A scenario that longfat has run, with the round trips and starts that it drew.

    Args:
        scenario: The scenario.
        summary: The averages of the run, with the `start_s` of each flow.
        can: What the peer has.

    Raises:
        ValueError: The peer cannot run the scenario.
    """
    if reason := refusal(scenario, can):
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
            **way.parameters,
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
            "initial_threshold": _or_none(flow.initial_threshold),
            "rto_min": flow.rto_min_s,
            "ecn": flow.ecn,
            "recovery": flow.recovery,
            "max_window": _or_none(flow.max_window),
            "ack_every": flow.ack_every,
            "ack_delay": flow.ack_delay_s,
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
        if isinstance(queue.get(key), str)
    }
    parameters = {
        key: lengths.get(key, _plain(value))
        for key, value in queue.items()
        if key not in ("kind", "mode")
    }
    return Way(
        rate_bit_s=direction.rate_bit_s,
        delay_s=direction.delay_ps * _PICO,
        kind=queue["kind"],
        buffer=direction.buffer or 0,
        unit=direction.unit,
        packet=packet,
        parameters=parameters,
    )


def _sender(group: Mapping[str, Any], numbers: Group, flow: Mapping[str, Any]) -> Sender:
    control = _choice(group["control"])
    parameters = {
        key: _plain(value) for key, value in control.items() if key != "kind" and value != "auto"
    }
    delayed = group["delayed_ack"]
    return Sender(
        group=group["name"],
        direction="reverse" if group["reverse"] else "forward",
        control=control["kind"],
        parameters=parameters,
        packet=numbers.packet_bytes,
        rtt_s=flow["rtt_s"],
        start_s=flow["start_s"],
        initial_window=group["initial_window"],
        initial_threshold=_unless_none(group["initial_threshold"]),
        rto_min_s=numbers.rto_min_ps * _PICO,
        ecn=group["ecn"],
        recovery=group["recovery"],
        max_window=_unless_none(group["max_window"]),
        ack_every=group["ack_every"] if delayed else 1,
        ack_delay_s=_seconds(group["ack_delay"]) if delayed else 0.0,
    )


def _unless_none(value: Any) -> Any:  # noqa: ANN401 - any value that a scenario has
    """A value of a scenario that may be `none`."""
    return None if value == "none" else value


def _or_none(value: float | None) -> float | str:
    return "none" if value is None else value


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value that a scenario has
    """A value of a scenario without its unit: times are in seconds."""
    found = number_of(value)
    return value if found is None else value if found[1] == "" else found[0]


def _seconds(time: str) -> float:
    found = number_of(time)
    if found is None or found[1] != "time":
        message = f"`{time}` is not a time"
        raise ValueError(message)
    return found[0]


def _choice(choice: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A choice as a table, even if it was written as a bare name."""
    return {"kind": choice} if isinstance(choice, str) else choice
