"""A path that is to be hard: what it consists of, and the scenario that says so."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from longfat.errors import ScenarioError
from longfat.foreign import shown
from longfat.scenario import Changes, assignments, toml_value
from longfat.units import RATE, TIME, amount

if TYPE_CHECKING:
    from collections.abc import Mapping

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LINK = "bottleneck"
SUBJECT = "subject"
CROSS = "cross"

_WARM = 0.2
"""The share of a run that is left out of its averages."""

_SHORT_PACKETS = 30
"""The mean size of short flows in the cross traffic."""

_BITS = 8 * 1500
"""Of a packet."""

CrossKind = Literal["long", "on-off", "short"]


@dataclass(frozen=True)
class Change:
    """What the link becomes at an instant. What is `None` stays as it is.

    Attributes:
        at_s: When, in seconds.
        rate: The new rate, as a share of that at the start.
        delay_s: By how much the new propagation delay exceeds that at the start, one way, in seconds.
        loss: The new probability of corruption.
    """

    at_s: float
    rate: float | None = None
    delay_s: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Wave:
    """A rate that falls and rises again, over and over.

    Attributes:
        period_s: From one fall to the next, in seconds.
        low_s: How long it stays low each time, in seconds.
        rate: What it falls to, as a share of the rate at the start.
    """

    period_s: float
    low_s: float
    rate: float


@dataclass(frozen=True)
class Cross:
    """Other traffic on the link, all of it CUBIC.

    Attributes:
        kind: `long`: a flow without end; `on-off`: a source that writes at a rate and is silent, in turns;
            `short`: short flows that arrive at random.
        share: What it asks for, as a share of the rate of the link: nothing for a long flow.
        on_s: How long a source is on, in seconds.
        off_s: How long it is off.
    """

    kind: CrossKind
    share: float = 1.0
    on_s: float = 1.0
    off_s: float = 1.0


@dataclass(frozen=True)
class Challenge:
    """A path, and what else goes on there. The default is the plainest there is.

    Attributes:
        rtt_s: Round-trip propagation delay in seconds.
        buffer_bdp: The buffer, in products of bandwidth and delay.
        loss: Probability of corruption at the start.
        jitter_s: The longest additional delay of a packet, in seconds; 0 for none.
        ordered: Whether packets keep their order then.
        flows: How many flows of the controller there are.
        rtt_ratio: The round trip of the last of them over that of the first; those between are evenly spaced.
        spread_s: When the last of them starts, in seconds, with the others evenly spaced.
        changes: What becomes of the link.
        wave: How its rate goes up and down.
        cross: Other traffic.
    """

    rtt_s: float = 0.05
    buffer_bdp: float = 1.0
    loss: float = 0.0
    jitter_s: float = 0.0
    ordered: bool = True
    flows: int = 1
    rtt_ratio: float = 1.0
    spread_s: float = 0.0
    changes: tuple[Change, ...] = ()
    wave: Wave | None = None
    cross: Cross | None = None


@dataclass(frozen=True)
class Ground:
    """What all challenges of a search have in common.

    Attributes:
        rate_bit_s: Rate of the link at the start, and the most that it ever has, in bit/s.
        duration_s: Simulated time in seconds.
        sets: Fields that are set in every scenario, as TOML texts by their keys.
    """

    rate_bit_s: int = 20_000_000
    duration_s: float = 30.0
    sets: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def with_changes(rate_bit_s: int, duration_s: float, changes: Changes) -> Ground:
        """A ground with fields to set, as `longfat.run` takes them.

        Raises:
            ScenarioError: One of them has no key.
        """
        sets = {}
        for given in assignments(changes):
            key, equals, value = given.partition("=")
            if not equals or not key.strip():
                message = f"`{shown(given)}` sets nothing: write KEY=VALUE, such as link.{LINK}.queue=codel"
                raise ScenarioError(message)
            sets[key.strip()] = value.strip()
        return Ground(rate_bit_s, duration_s, sets)

    def scenario(self, challenge: Challenge, control: object, seed: int) -> dict[str, Any]:
        """The scenario of a challenge as plain data.

        Args:
            challenge: The path.
            control: The controller, as a scenario has it.
            seed: Its seed.

        Raises:
            ScenarioError: A field that is to be set has no place there.
        """
        made: dict[str, Any] = {
            "duration": _time(self.duration_s),
            "warmup": _time(_WARM * self.duration_s),
            "seed": seed,
            "link": {LINK: self._link(challenge)},
            "flow": [_subject(challenge, control)],
        }
        # Without it flows of one rate meet the queue in the same order for ever, and what starves is chance's.
        host = {"host_jitter": _time(_BITS / self.rate_bit_s)}
        made["flow"][0] |= host
        if challenge.cross is not None:
            kind = "traffic" if challenge.cross.kind == "short" else "flow"
            made.setdefault(kind, []).append(self._cross(challenge, challenge.cross) | host)
        for key, value in self.sets.items():
            _set(made, key, value)
        return made

    def text(self, challenge: Challenge, control: object, seed: int) -> str:
        """The scenario file of a challenge."""
        return _written(self.scenario(challenge, control, seed))

    def _link(self, challenge: Challenge) -> dict[str, Any]:
        delay = challenge.rtt_s / 2
        link: dict[str, Any] = {
            "rate": _rate(self.rate_bit_s),
            "delay": _time(delay),
            "buffer": f"{challenge.buffer_bdp:g} bdp",
        }
        if challenge.loss:
            link["loss"] = challenge.loss
        if challenge.jitter_s:
            most = _time(challenge.jitter_s)
            link["jitter"] = most if challenge.ordered else {"most": most, "ordered": False}
        changes = [self._change(each, delay) for each in challenge.changes]
        if (wave := challenge.wave) is not None:
            every = _time(wave.period_s)
            low, high = wave.rate * self.rate_bit_s, self.rate_bit_s
            changes += [
                {"at": every, "every": every, "rate": _rate(low)},
                {"at": _time(wave.period_s + wave.low_s), "every": every, "rate": _rate(high)},
            ]
        if changes:
            link["change"] = changes
        return link

    def _change(self, change: Change, delay: float) -> dict[str, Any]:
        made: dict[str, Any] = {"at": _time(change.at_s)}
        if change.rate is not None:
            made["rate"] = _rate(change.rate * self.rate_bit_s)
        if change.delay_s is not None:
            made["delay"] = _time(delay + change.delay_s)
        if change.loss is not None:
            made["loss"] = change.loss
        return made

    def _cross(self, challenge: Challenge, cross: Cross) -> dict[str, Any]:
        made: dict[str, Any] = {"name": CROSS, "control": "cubic", "path": [LINK]}
        made["rtt"] = _time(challenge.rtt_s)
        if cross.kind == "on-off":
            rate = _rate(cross.share * self.rate_bit_s)
            times = {"on": _time(cross.on_s), "off": _time(cross.off_s)}
            made["application"] = {"kind": "on-off", "rate": rate, **times}
        elif cross.kind == "short":
            made["arrivals"] = {"load": f"{100 * cross.share:g} %"}
            made["size"] = {"exponential": {"mean": f"{_SHORT_PACKETS} packets"}}
        return made


def _subject(challenge: Challenge, control: object) -> dict[str, Any]:
    made: dict[str, Any] = {"name": SUBJECT, "control": control}
    several = challenge.flows > 1
    if several:
        made["count"] = challenge.flows
    made |= {"path": [LINK], "rtt": _time(challenge.rtt_s)}
    if several and challenge.rtt_ratio > 1:
        ends = challenge.rtt_s, challenge.rtt_s * challenge.rtt_ratio
        made["rtt"] = {"spread": [_time(end) for end in ends]}
    if several and challenge.spread_s:
        made["start"] = {"spread": ["0 s", _time(challenge.spread_s)]}
    return made


def _time(seconds: float) -> str:
    # Whole picoseconds: five digits of a microsecond and more are exact.
    return _exact(seconds, TIME).replace("µ", "u")


def _rate(bit_s: float) -> str:
    return _exact(max(round(bit_s), 1), RATE)


def _exact(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """A quantity to ten digits, in the unit that people would choose."""
    unit = amount(value, units).partition(" ")[2]
    size = next(size for size, name in units if name == unit)
    return f"{value / size:.10g} {unit}"


def _set(scenario: dict[str, Any], key: str, value: str) -> None:
    """Sets a field of a scenario; a group of flows is named by its name or number, `*` is every one."""
    places: list[Any] = [scenario]
    *parts, last = key.split(".")
    for part in parts:
        places = [inner for place in places for inner in _within(place, part)]
    if not places or not all(isinstance(place, dict) for place in places):
        message = (
            f"`{shown(key)}` cannot be set: the scenarios of a search have the link `{LINK}` and the flows "
            f"`{SUBJECT}`, such as link.{LINK}.queue or flow.{SUBJECT}.recovery"
        )
        raise ScenarioError(message)
    given: object = value  # a text may lack its quotes, as on any command line
    with suppress(tomllib.TOMLDecodeError):
        given = tomllib.loads(f"value = {value}")["value"]
    for place in places:
        place[last] = given


def _within(place: object, part: str) -> list[Any]:
    """What a part of a key names within a table or a list of groups."""
    if isinstance(place, list):
        named = [each for each in place if part in ("*", each.get("name"))]
        return named or [each for index, each in enumerate(place) if part == str(index)]
    if not isinstance(place, dict):
        return []
    if part == "*":
        return list(place.values())
    inner = place.setdefault(part, {})
    # A choice by name, such as a queue, becomes a table when one of its parameters is set.
    place[part] = {"kind": inner} if isinstance(inner, str) else inner
    return [place[part]]


def _written(scenario: dict[str, Any]) -> str:
    """A scenario as a file that people read: a table for each link and group, everything below in one line."""
    lines = [f"{key} = {_inline(value)}" for key, value in scenario.items() if _is_plain(value)]
    for name, link in scenario["link"].items():
        lines += ["", f"[link.{name}]", *_entries(link)]
    for kind in ("flow", "traffic"):
        for group in scenario.get(kind, ()):
            lines += ["", f"[[{kind}]]", *_entries(group)]
    return "\n".join(lines) + "\n"


def _entries(table: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in table.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"{key} = [", *(f"  {_inline(each)}," for each in value), "]"]
        else:
            lines.append(f"{key} = {_inline(value)}")
    return lines


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_inline(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return toml_value(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def _is_plain(value: object) -> bool:
    return not isinstance(value, (dict, list))
