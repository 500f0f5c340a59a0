"""The path of a comparison: one link, the flows on it, and the scenario for a controller."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.foreign import shown
from longfat.own import NOTHING, Code, control_of
from longfat.results._names import word
from longfat.scenario import toml_value
from longfat.units import RATE, TIME, amount, plain, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

LINK = "bottleneck"
GROUP = "flow"
OTHER = "other"
"""A flow of another controller that was there before."""
ORIGIN = "the scenario made of these options"
"""What messages call the text of a set-up."""

PLAIN_QUEUE = "drop-tail"
_ONE_IN_1000 = 1e-3
"""A larger loss rate is written in percent."""

_START_ROUND_TRIPS = 5
"""Flows start within this many round trips, at times drawn from the seed: all that seeds change."""

RECOVERY = "rack"
"""How hosts of today find losses (RFC 8985), those of retransmissions too. Otherwise each of those costs a
time-out, and a controller would be judged by its transport."""


_EXAMPLES = {
    "rate": "1 Gbit/s",
    "rtt": "100 ms",
    "buffer": "1 bdp",
    "duration": "60 s",
    "warmup": "15 s",
    "packet": "1500 B",
}


def _texts(name: str, given: object) -> list[str]:
    """A quantity, or several, as they are written.

    Raises:
        TypeError: It is something else, such as a number, which has no unit.
    """
    if isinstance(given, str):
        return [given]
    texts: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if all(isinstance(text, str) for text in texts):
        return texts
    raise _no_text(name, given)


def _no_text(name: str, given: object) -> TypeError:
    return TypeError(
        f'`{name}` is a text with its unit, such as "{_EXAMPLES[name]}", not {shown(repr(given))[:80]}'
    )


@dataclass(frozen=True)
class Setup:
    """The path, and the flows on it. Every quantity is a text with its unit.

    Attributes:
        rate: Rate of the link.
        rtt: Round-trip propagation delay.
        flows: How many flows there are, all with the same controller.
        duration: Simulated time.
        warmup: What every average leaves out.
        buffer: How much the queue can hold.
        queue: The queue discipline: a name, or a table such as `{ kind = "red", max_p = 0.1 }`.
        packet: Size of a data packet.
        loss: Probability that a packet is corrupted on the link.
        access: Rate of each sender's own link, if that is slower, or if a controller has to know it.
        profile: The hosts: a profile of scenarios; those of the standards if there is none.
        recovery: How senders find and repair losses, if not as in the profile.
    """

    rate: str
    rtt: str
    flows: int = 1
    duration: str = "60 s"
    warmup: str = "15 s"
    buffer: str = "1 bdp"
    queue: str = PLAIN_QUEUE
    packet: str = "1500 B"
    loss: float = 0.0
    access: str | None = None
    profile: str | None = None
    recovery: str | None = None

    @classmethod
    def all(
        cls,
        rate: str | Sequence[str],
        rtt: str | Sequence[str],
        buffer: str | Sequence[str] = "1 bdp",
        *,
        warmup: str | None = None,
        duration: str = "60 s",
        flows: int = 1,
        queue: str = PLAIN_QUEUE,
        packet: str = "1500 B",
        loss: float = 0.0,
        access: str | None = None,
        profile: str | None = None,
        recovery: str | None = None,
    ) -> list[Setup]:
        """Every combination of rates, round trips and buffers; without a warm-up it is a quarter of the time.

        Raises:
            TypeError: A quantity is no text.
            ValueError: The duration is no time.
        """
        for name, value in (("duration", duration), ("warmup", warmup), ("packet", packet)):
            if value is not None and not isinstance(value, str):
                raise _no_text(name, value)
        if warmup is None:
            warmup = _quarter(duration)
        lists = [_texts("rate", rate), _texts("rtt", rtt), _texts("buffer", buffer)]
        given = (queue, packet, loss, access, profile, recovery)
        return [
            cls(speed, trip, flows, duration, warmup, room, *given)
            for speed, trip, room in product(*lists)
        ]

    @property
    def stem(self) -> str:
        """What distinguishes it from others, as a part of a file name: every setting that is no default."""
        given = {"rate": self.rate, "rtt": self.rtt, "flows": f"{self.flows}-flows"}
        given |= {
            name: f"{name}-{value}"
            for name, value in vars(self).items()
            if name not in given and word(str(value)) != word(str(getattr(Setup, name)))
        }
        if self.flows == 1:
            del given["flows"]
        if self.warmup == _quarter(self.duration):
            given.pop("warmup", None)
        return "-".join(filter(None, map(word, given.values())))

    @property
    def title(self) -> str:
        """The path and the flows in one line."""
        rate = amount(_longfat.quantity("rate", self.rate), RATE)
        rtt = amount(_longfat.quantity("time", self.rtt) * 1e-12, TIME)
        buffer, queue = label_of(self.buffer), label_of(self.queue)
        parts = [
            f"{plural(self.flows, 'flow')} on {rate}",
            f"round trip {rtt}",
            f"buffer {buffer}",
            queue,
        ]
        if self.loss:
            parts.append(
                f"loss {f'{100 * self.loss:g} %' if self.loss >= _ONE_IN_1000 else plain(self.loss)}"
            )
        if _longfat.quantity("size", self.packet) != _longfat.quantity("size", Setup.packet):
            parts.append(f"packets of {self.packet}")
        if self.access is not None:
            parts.append(f"access {amount(_longfat.quantity('rate', self.access), RATE)}")
        if self.profile is not None:
            parts.append(f"hosts of {self.profile}")
        if self.recovery is not None:
            parts.append(f"recovery {self.recovery}")
        return ", ".join(parts)

    def queue_for(self, *controls: str) -> str:
        """The queue where these controllers meet: in place of drop tail the one that one of them needs."""
        if self.queue != PLAIN_QUEUE:
            return self.queue
        return next(filter(None, map(_needed, controls)), PLAIN_QUEUE)

    def text(self, control: str, other: str | None = None) -> str:
        """The scenario file for one controller: a name, a table as a scenario has it, or code.

        With an `other` it has one flow more, of that controller, which begins at once.
        """
        rtt = _longfat.quantity("time", self.rtt)
        queue = self.queue_for(control, *([] if other is None else [other]))
        given = ((name, getattr(self, name)) for name in ("access", "profile", "recovery"))
        hosts = "".join(
            f"{name} = {toml_value(value)}\n" for name, value in given if value is not None
        )
        text = f"""\
# {label_of(control)}: {replace(self, queue=queue).title}.

duration = {toml_value(self.duration)}
warmup = {toml_value(self.warmup)}

[link.{LINK}]
rate = {toml_value(self.rate)}
delay = "{exact_time(rtt // 2)}"
loss = {toml_value(self.loss)}
buffer = {toml_value(self.buffer)}
queue = {_quoted(queue)}

[[flow]]
name = "{GROUP}"
control = {_quoted(control)}
count = {toml_value(self.flows)}
path = ["{LINK}"]
rtt = {toml_value(self.rtt)}
start = {{ uniform = ["0 s", "{exact_time(_START_ROUND_TRIPS * rtt)}"] }}
packet = {toml_value(self.packet)}
{hosts}"""
        if other is None:
            return text
        return f"""\
{text}
[[flow]]
name = "{OTHER}"
control = {_quoted(other)}
path = ["{LINK}"]
rtt = {toml_value(self.rtt)}
packet = {toml_value(self.packet)}
{hosts}"""

    def scenario(self, control: str, code: Code = NOTHING) -> _longfat.Scenario:
        """The checked scenario for one controller, which may use `code` beyond longfat.

        Raises:
            ScenarioError: Something in the set-up or the controller is wrong.
        """
        return _longfat.Scenario.parse(
            self.text(control),
            ORIGIN,
            own=code.handles(),
            code=code.fetcher(None),
        )


def queue_needed(table: Mapping[str, Any]) -> str | None:
    """The queue of the routers without which a controller has nothing to say, if it needs any.

    >>> queue_needed({"kind": "xcp"}), queue_needed({"kind": "cubic"})
    ('xcp', None)
    """
    queue: str | None = entry_of(table).get("queue")
    return queue


def entry_of(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """What lists say of a controller of longfat; nothing of any other.

    >>> entry_of({"kind": "blitz"})["needs"]
    ['pacing', 'priorities', 'access']
    """
    kind = table.get("kind")
    return _entries().get(kind, {}) if isinstance(kind, str) else {}


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in _longfat.controllers()}


def _needed(control: str) -> str | None:
    try:
        named = control_of(control)
    except ValueError:
        # No TOML: the scenario says where.
        return None
    return queue_needed({"kind": named} if isinstance(named, str) else named)


def label_of(choice: str) -> str:
    """A controller, queue or length, which may be a table, as people read it, in one line.

    >>> label_of('{ kind = "exp", gamma = 0.1 }')
    'exp, gamma = 0.1'
    """
    plain = " ".join(choice.split()).removeprefix("{").removesuffix("}").strip()
    return re.sub(r"""^kind\s*=\s*["']([^"']*)["']""", r"\1", plain)


def split_controls(text: str) -> list[str]:
    """Splits a list at the commas that are not within a table.

    >>> split_controls('cubic, { kind = "exp", gamma = 0.1 }')
    ['cubic', '{ kind = "exp", gamma = 0.1 }']
    """
    parts = re.findall(r"(?:\{[^}]*\}|[^,{])+", text)
    return [part.strip() for part in parts if part.strip()]


def _quoted(choice: str) -> str:
    # A table stays as it was written, so that errors point into what somebody knows.
    return choice if choice.startswith("{") else toml_value(control_of(choice))


def _quarter(duration: str) -> str:
    return exact_time(_longfat.quantity("time", duration) // 4)


def exact_time(picoseconds: int) -> str:
    """A time with the largest unit that needs no decimals.

    >>> exact_time(1_500_000_000)
    '1500 us'
    """
    units = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))
    unit, size = next((unit, size) for unit, size in units if picoseconds % size == 0)
    return f"{picoseconds // size} {unit}"
