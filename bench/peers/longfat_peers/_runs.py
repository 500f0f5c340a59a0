"""How the simulators are run, and how finished runs are kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat._longfat import Scenario
from longfat.bench._longfat_run import timed
from longfat.shipped import checkout
from longfat_peers._cells import RATES
from longfat_peers._dumbbell import dumbbell
from longfat_peers._grid import CHANGES, GRID, NEWCOMERS
from longfat_peers._program import timed as timed_in
from longfat_peers._today import TODAY, TODAY_CHANGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from longfat.bench._outcome import Outcome
    from longfat_peers._cells import Cell
    from longfat_peers._program import Program

FILE = "bench/scenarios/validation.toml"
CAP_S = 600.0

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
    for rate in RATES:
        cells = [each for each in (*GRID, *NEWCOMERS, *TODAY) if each.rate == rate]
        for cell, seed in product(cells, seeds):
            if not wanted(cell, "longfat", seed, full=full):
                continue
            able = [peer for peer in peers if peer == "ns3" or cell not in TODAY]
            running = tuple((peer, ()) for peer in able if wanted(cell, peer, seed, full=full))
            yield Task(cell.name, seed, tuple(cell.changes().items()), running)
        every = [each for each in (*CHANGES, *TODAY_CHANGES) if each.cell.rate == rate]
        for change, seed in product(every, seeds):
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
                scene = dumbbell(scenario, summary, peers[name].abilities)
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
