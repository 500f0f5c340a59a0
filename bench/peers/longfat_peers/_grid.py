"""The scenarios in which simulators are compared, and how they are run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat._longfat import Scenario
from longfat.bench._longfat_run import timed
from longfat.shipped import checkout
from longfat_peers._dumbbell import dumbbell
from longfat_peers._program import timed as timed_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from longfat.bench._outcome import Outcome
    from longfat_peers._program import Program

FILE = "bench/scenarios/validation.toml"
RATES = ("10 Mbit/s", "100 Mbit/s", "1 Gbit/s")
CONTROLS = ("reno", "hstcp", "stcp")
QUEUES = {"drop tail": '"drop-tail"', "RED, bytes": '{ kind = "red", mode = "bytes" }'}

_RATE, _QUEUE, _CONTROL = "link.bottleneck.rate", "link.bottleneck.queue", "flow.forward.control"

_NEWCOMER = {
    "duration": '"40 s"',
    "warmup": '"20 s"',
    "flow.forward.count": "2",
    "flow.forward.start": '["0 s", "20 s"]',
    "flow.forward.rtt": '{ uniform = ["39 ms", "41 ms"] }',
}

CAP_S = 600.0


@dataclass(frozen=True)
class Cell:
    """One scenario of the comparison: what it changes in the file.

    Attributes:
        control: The controller of all flows.
        rate: Rate of the link.
        queue: One of `QUEUES`.
        newcomer: Whether a second flow joins one that has the link to itself, and its first 20 s are measured.
    """

    control: str
    rate: str
    queue: str
    newcomer: bool = False

    @property
    def name(self) -> str:
        """The scenario in a few words."""
        return f"{self.control}, {self.rate}, {self.queue}" + ", newcomer" * self.newcomer

    def changes(self) -> dict[str, str]:
        """What it changes in the file, as TOML."""
        return {
            _RATE: json.dumps(self.rate),
            _QUEUE: QUEUES[self.queue],
            _CONTROL: json.dumps(self.control),
            **(_NEWCOMER if self.newcomer else {}),
        }


GRID = tuple(Cell(*each) for each in product(CONTROLS, RATES, QUEUES))

NEWCOMERS = tuple(Cell(*each, newcomer=True) for each in product(CONTROLS, RATES, QUEUES))
"""How fast flows converge."""


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

_UNEVEN = '["30.0137 ms", "36.6921 ms", "43.3519 ms", "50.0291 ms"]'
_SMALL_BUFFER = (("link.bottleneck.buffer", '"10 packets"'),)
_CROWD = (*_SMALL_BUFFER, ("flow.forward.count", "30"))
_TWELVE = (("flow.forward.count", "12"),)
_MARKS = ((_QUEUE, '{ kind = "red", mode = "bytes", mark_above_max = true }'),)

_NO_LEGACY = ((_CONTROL, '{ kind = "stcp", legacy_window = 0 }'),)
_AS_RENO = ((_CONTROL, '{ kind = "stcp", legacy_window = 100, b = 0.5 }'),)
_TAIL, _RED = (Cell("reno", "10 Mbit/s", queue) for queue in QUEUES)

CHANGES = (
    Change(
        "ns-2 is told the limit as it is: it then stores one packet less",
        _TAIL,
        "ns2",
        theirs=(("spare_place", 0),),
        both=_SMALL_BUFFER,
    ),
    Change(
        "ns-2 measures round trips and time-outs in ticks of 10 ms, its default",
        _TAIL,
        "ns2",
        theirs=(("tick", 0.01),),
        both=_CROWD,
    ),
    Change(
        "ns-2 has time stamps: a retransmission that arrives ends the doubling of time-outs",
        _TAIL,
        "ns2",
        theirs=(("timestamps", 1),),
        both=_CROWD,
    ),
    Change(
        f"{SAME}neither has selective acknowledgments (NewReno)",
        _TAIL,
        "ns2",
        ours=(("flow.forward.recovery", '"newreno"'),),
        theirs=(("timestamps", 1),),
        both=_CROWD,
    ),
    Change(
        "STCP of longfat without its legacy window, as in ns-2",
        Cell("stcp", "10 Mbit/s", "drop tail"),
        "ns2",
        ours=_NO_LEGACY,
    ),
    Change(
        "STCP of longfat without its legacy window, as in ns-2 (RED)",
        Cell("stcp", "10 Mbit/s", "RED, bytes"),
        "ns2",
        ours=_NO_LEGACY,
    ),
    Change(
        "both cut by half and grow by 1/w up to 100 segments: Reno by another name",
        Cell("stcp", "10 Mbit/s", "RED, bytes"),
        "ns3",
        ours=_AS_RENO,
    ),
    Change(
        f"{SAME}the queue of ns-3 without the packet in its device",
        Cell("stcp", "10 Mbit/s", "RED, bytes"),
        "ns3",
        ours=_AS_RENO,
        theirs=(("device_packet", 0),),
    ),
    Change(
        "HSTCP of longfat with the low_p of ns-2, 1.5/38²",
        Cell("hstcp", "100 Mbit/s", "drop tail"),
        "ns2",
        ours=((_CONTROL, '{ kind = "hstcp", low_p = 0.00103878 }'),),
    ),
    *(
        Change(
            f"round trips that are no whole number of packet times, in both ({control})",
            Cell(control, "100 Mbit/s", "drop tail"),
            "ns2",
            ours=(("flow.forward.rtt", _UNEVEN),),
        )
        for control in CONTROLS
    ),
    Change(
        "RED marks above max too, in both",
        _RED,
        "ns2",
        ours=_MARKS,
        both=_TWELVE,
    ),
    Change(
        "RED counts packets, in both",
        _RED,
        "ns2",
        ours=((_QUEUE, '"red"'),),
        both=_TWELVE,
    ),
    Change(
        "RED of longfat marks above max too, as in ns-3",
        _RED,
        "ns3",
        ours=_MARKS,
        both=_TWELVE,
    ),
    Change(
        f"{SAME}without the packet in the device of ns-3",
        _RED,
        "ns3",
        ours=_MARKS,
        theirs=(("device_packet", 0),),
        both=_TWELVE,
    ),
    Change(
        f"{SAME}ns-3 grows by 1/w with every acknowledgment",
        _RED,
        "ns3",
        ours=_MARKS,
        theirs=(("device_packet", 0), ("counted", 0)),
        both=_TWELVE,
    ),
    Change(
        "the queue of ns-3 without the packet in its device, which its RED does not see",
        _RED,
        "ns3",
        theirs=(("device_packet", 0),),
    ),
    Change(
        "ns-3 recovers by proportional rate reduction, its default",
        _TAIL,
        "ns3",
        theirs=(("recovery", "prr"),),
    ),
    *(
        Change(
            f"{what} ({title})",
            Cell(control, "10 Mbit/s", "drop tail"),
            "ns3",
            theirs=told,
            both=both,
        )
        for title, control, both in (
            ("reno", "reno", ()),
            ("lone reno", "reno", (("flow.forward.count", "1"),)),
            ("hstcp", "hstcp", ()),
        )
        for what, told in (
            ("ns-3 grows by 1/w with every acknowledgment", (("counted", 0),)),
            ("ns-3 grows after a recovery by what is new", (("credit", 0),)),
            (f"{SAME}grows by 1/w with every acknowledgment", (("credit", 0), ("counted", 0))),
        )
    ),
    Change(
        f"{SAME}HSTCP of ns-3 has the formulas of its RFC instead of the table",
        Cell("hstcp", "10 Mbit/s", "drop tail"),
        "ns3",
        theirs=(("credit", 0), ("counted", 0), ("table", 0)),
    ),
    *(
        Change(
            what,
            Cell("stcp", "10 Mbit/s", "drop tail"),
            "ns3",
            ours=_AS_RENO,
            theirs=told,
        )
        for what, told in (
            ("both cut by half and grow by 1/w up to 100 segments (drop tail)", ()),
            (f"{SAME}ns-3 grows after a recovery by what is new (stcp)", (("credit", 0),)),
            (
                f"{SAME}grows by 1/w with every acknowledgment (stcp)",
                (("credit", 0), ("counted", 0)),
            ),
        )
    ),
)


_FEW = 3
"""Number of seeds at 1 Gbit/s, and for ns-3 at 100 Mbit/s, unless the full grid is wanted."""


def wanted(cell: Cell, simulator: str, seed: int, *, full: bool) -> bool:
    """Whether a simulator runs a scenario with a seed: ns-3 takes a minute at 100 Mbit/s, ten at 1 Gbit/s."""
    if full or cell.rate == RATES[0]:
        return True
    if simulator == "ns3":
        return cell.rate == RATES[1] and cell.control == "reno" and seed <= _FEW
    return cell.rate == RATES[1] or seed <= _FEW


@dataclass(frozen=True)
class Task:
    """One run of longfat, and runs of the peers with what it drew."""

    key: str
    seed: int
    changes: tuple[tuple[str, str], ...]
    peers: tuple[tuple[str, tuple[tuple[str, object], ...]], ...]


def tasks(seeds: Sequence[int], peers: Sequence[str], *, full: bool) -> Iterator[Task]:
    """Everything that is run, cheapest first."""
    cells = sorted([*GRID, *NEWCOMERS], key=lambda cell: RATES.index(cell.rate))
    for rate in RATES:
        for cell, seed in product((each for each in cells if each.rate == rate), seeds):
            if not wanted(cell, "longfat", seed, full=full):
                continue
            running = tuple((peer, ()) for peer in peers if wanted(cell, peer, seed, full=full))
            yield Task(cell.name, seed, tuple(cell.changes().items()), running)
        for change, seed in product((each for each in CHANGES if each.cell.rate == rate), seeds):
            if change.peer not in peers:
                continue
            before = {**change.cell.changes(), **dict(change.both)}
            after = {**before, **dict(change.ours)}
            told = (change.peer, change.theirs)
            yield Task(change.before, seed, tuple(before.items()), ((change.peer, ()),))
            yield Task(change.name, seed, tuple(after.items()), (told,))


def run_all(
    found: list[dict[str, Any]],
    todo: Sequence[Task],
    peers: Mapping[str, Program],
    *,
    keep: Callable[[dict[str, Any]], object],
    progress: Callable[[str, float], object],
) -> None:
    """Runs what `found` does not have yet, and hands each new row to `keep` at once.

    Raises:
        PeerAbsent: A peer is not installed.
        ProcessError: A simulation failed.
    """
    known = {(row["key"], row["simulator"], row["seed"]) for row in found}
    text = (checkout() / FILE).read_text("utf-8")
    for index, task in enumerate(todo):
        names = ["longfat", *(name for name, _ in task.peers)]
        if all((task.key, name, task.seed) in known for name in names):
            continue
        progress(task.key, index / len(todo))
        changes = [f"{key}={value}" for key, value in task.changes]
        scenario = Scenario.parse(text, FILE, overrides=changes, seed=task.seed)
        outcome, summary = timed(scenario)
        outcomes = [outcome]
        for name, options in task.peers:
            if (task.key, name, task.seed) not in known:
                scene = dumbbell(scenario, summary)
                outcomes.append(timed_in(peers[name], scene, cap_s=CAP_S, options=dict(options)))
        for each in outcomes:
            run = (task.key, each.simulator, task.seed)
            if run not in known:
                known.add(run)
                keep(row_of(task, each))


def row_of(task: Task, outcome: Outcome) -> dict[str, Any]:
    """A run as a row: what was run, and what happened in the network."""
    network = asdict(outcome.network) if outcome.network else None
    return {
        "key": task.key,
        "simulator": outcome.simulator,
        "seed": task.seed,
        "version": _longfat.__version__ if outcome.simulator == "longfat" else None,
        "complete": outcome.complete,
        "network": network,
    }


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows in a file; none if there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
