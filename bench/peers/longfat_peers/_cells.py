"""What a comparison of simulators consists of: scenarios, and changes of one thing in one simulator."""

from __future__ import annotations

import json
from dataclasses import dataclass

RATES = ("10 Mbit/s", "100 Mbit/s", "1 Gbit/s")
QUEUES = {"drop tail": '"drop-tail"', "RED, bytes": '{ kind = "red", mode = "bytes" }'}
"""Those in which all three are compared."""

ALL_QUEUES = {
    **QUEUES,
    "CoDel": '"codel"',
    "FQ-CoDel": '"fq-codel"',
    "PIE": '"pie"',
    "step": '"step"',
}

RATE_KEY = "link.bottleneck.rate"
QUEUE_KEY = "link.bottleneck.queue"
CONTROL_KEY = "flow.forward.control"

_NEWCOMER = {
    "duration": '"40 s"',
    "warmup": '"20 s"',
    "flow.forward.count": "2",
    "flow.forward.start": '["0 s", "20 s"]',
    "flow.forward.rtt": '{ uniform = ["39 ms", "41 ms"] }',
}


@dataclass(frozen=True)
class Cell:
    """One scenario of the comparison: what it changes in the file.

    Attributes:
        control: The controller of all flows.
        rate: Rate of the link.
        queue: One of `ALL_QUEUES`.
        newcomer: Whether a second flow joins one that has the link to itself, and its first 20 s are measured.
        more: What else it changes in the file, as TOML, with a few words for all of it.
    """

    control: str
    rate: str
    queue: str
    newcomer: bool = False
    more: tuple[str, tuple[tuple[str, str], ...]] = ("", ())

    @property
    def name(self) -> str:
        """The scenario in a few words."""
        words, _ = self.more
        parts = (self.control, self.rate, self.queue, words, "newcomer" * self.newcomer)
        return ", ".join(part for part in parts if part)

    def changes(self) -> dict[str, str]:
        """What it changes in the file, as TOML."""
        return {
            RATE_KEY: json.dumps(self.rate),
            QUEUE_KEY: ALL_QUEUES[self.queue],
            CONTROL_KEY: json.dumps(self.control),
            **(_NEWCOMER if self.newcomer else {}),
            **dict(self.more[1]),
        }


@dataclass(frozen=True)
class Change:
    """One thing changed in one simulator, to show that it explains a difference.

    A name that begins with `SAME` marks a change on top of the one above it.

    Attributes:
        name: What is changed, in a few words.
        cell: The scenario.
        peer: The simulator that is compared with longfat.
        ours: What is changed in longfat's scenario, as TOML.
        theirs: Options that are given to the peer.
        both: What is set for both, before the change and after.
    """

    name: str
    cell: Cell
    peer: str
    ours: tuple[tuple[str, str], ...] = ()
    theirs: tuple[tuple[str, object], ...] = ()
    both: tuple[tuple[str, str], ...] = ()

    @property
    def before(self) -> str:
        """The scenario before the change, in a few words."""
        extra = "".join(f", {key.rpartition('.')[2]} {value}" for key, value in self.both)
        return f"{self.cell.name}{extra}".replace('"', "")


SAME = "the same, and "
"""How the name of a change on top of the one above it begins."""
