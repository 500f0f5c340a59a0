"""What `longfat advise` is asked: a path, and what can be chosen on it; and the scenarios that answer it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from longfat import _longfat
from longfat.study._setup import Setup, exact_time, label_of

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("steady", "transfer", "beside")
"""What is simulated of each choice."""

TOO_LONG = 20
"""A transfer that takes so many times what the link alone would take is given up."""
_ROUND_TRIPS = 300
_LEAST_S, _MOST_S = 20, 120


class Choice(NamedTuple):
    """What can be chosen.

    Attributes:
        control: The controller: a name, or a table as in a scenario file.
        streams: How many flows share the work.
        buffer: How much the queue of the link holds.
    """

    control: str
    streams: int
    buffer: str

    @property
    def label(self) -> str:
        """The choice as people read it."""
        plural = "" if self.streams == 1 else "s"
        return f"{label_of(self.control)}, {self.streams} stream{plural}, {self.buffer}"


@dataclass(frozen=True)
class Question:
    """A path, and what is asked about it.

    Attributes:
        setup: The path; its flows and its buffer are those of each choice.
        choices: What can be chosen.
        size: The file to transfer, as a text.
        other: The controller of the flow that was there before.
        seeds: How many runs there are of each.
        most: So many choices are looked at closely.
    """

    setup: Setup
    choices: tuple[Choice, ...]
    size: str
    other: str = "cubic"
    seeds: int = 3
    most: int = 6

    def path(self, choice: Choice) -> Setup:
        """The path with the flows and the buffer of a choice."""
        return replace(self.setup, flows=choice.streams, buffer=choice.buffer)

    def steady(self, choice: Choice) -> str:
        """The scenario of its streams alone."""
        return self.path(choice).text(choice.control)

    def transfer(self, choice: Choice) -> str:
        """The scenario of a file in as many parts."""
        size = _longfat.quantity("size", self.size)
        ideal = 8 * size / _longfat.quantity("rate", self.setup.rate)
        rtt = _longfat.quantity("time", self.setup.rtt) * 1e-12
        longest = exact_time(round(TOO_LONG * (ideal + 20 * rtt) * 1000) * 10**9)
        path = replace(self.path(choice), duration=longest, warmup="0 s")
        return f'{path.text(choice.control)}size = "{math.ceil(size / choice.streams)} B"\n'

    def beside(self, choice: Choice) -> str:
        """The scenario of its streams and one flow that was there before."""
        return self.path(choice).text(choice.control, self.other)

    def like(self, choice: Choice) -> Choice:
        """The same with the controller that is in use."""
        return choice._replace(control=self.other)


def duration_for(rtt: str) -> str:
    """How long a steady run lasts if nothing is said: 300 round trips, from 20 s to 2 min."""
    trips = _ROUND_TRIPS * _longfat.quantity("time", rtt) * 1e-12
    return f"{round(min(max(trips, _LEAST_S), _MOST_S))} s"


def all_choices(
    controls: Iterable[str], streams: Iterable[int], buffers: Iterable[str]
) -> tuple[Choice, ...]:
    """Every combination, in order, each once."""
    streams, buffers = list(streams), list(buffers)
    found = (Choice(c, count, buffer) for c in controls for count in streams for buffer in buffers)
    return tuple(dict.fromkeys(found))


def carried(rate: str, duration: str) -> str:
    """What a link carries in this time, to one digit: a size to transfer.

    >>> carried("1 Gbit/s", "30 s"), carried("100 Gbit/s", "30 s")
    ('4 GB', '400 GB')
    """
    size = _longfat.quantity("rate", rate) * _longfat.quantity("time", duration) * 1e-12 / 8
    digit = 10.0 ** math.floor(math.log10(max(size, 1.0)))
    rounded = round(size / digit) * digit
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if rounded >= unit:
            return f"{rounded / unit:g} {name}"
    return f"{rounded:g} B"
