"""Draws, examines and counts: in this process, or in several until the time is up."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzer.cases import Case, drawn, extremes
from fuzzer.examine import failing
from fuzzer.limits import MOST_LEFT, Memory, limit_addresses
from fuzzer.smallest import smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

TELL_S = 2.0
"""How often a worker reports."""

DEAD_S = 90.0
"""A worker that has been at one input for so long hears no signal any more."""

WARM = 1000
"""After so many inputs all that is imported and kept for long is there."""

LIFETIME = 100_000
"""Inputs that one worker examines; then it says what memory it has kept, and another one goes on."""


@dataclass(frozen=True)
class Finding:
    """What must not happen, and the input that makes it happen."""

    case: Case
    how: str

    def __str__(self) -> str:
        """The way it fails, and what to type."""
        return f"{self.how}\n\n{self.case}"


@dataclass
class Hunted:
    """How many inputs there were by what became of them, what was found, and the most that a worker kept."""

    done: Counter[str] = field(default_factory=Counter)
    found: dict[str, Finding] = field(default_factory=dict)
    kept: float = 0.0

    @property
    def examined(self) -> int:
        """How many inputs there were."""
        return self.done.total()

    def add(self, other: Hunted) -> None:
        """Counts the others too."""
        self.done.update(other.done)
        self.found = other.found | self.found
        self.kept = max(self.kept, other.kept)


def hunt(
    cases: Iterable[Case],
    count: float,
    seconds: float = math.inf,
    *,
    memory: Memory | None = None,
    begin: Callable[[Case], object] | None = None,
    tell: Callable[[Hunted], object] | None = None,
) -> Hunted:
    """Examines up to `count` inputs for so many `seconds`.

    Args:
        cases: What to examine.
        count: The most inputs.
        seconds: The longest time.
        memory: Watches the memory.
        begin: Called with each input before it is examined.
        tell: Called now and then with what is new.

    Returns:
        What has not been told.
    """
    hunted = Hunted()
    known: set[str] = set()
    end = time.monotonic() + seconds
    told = time.monotonic()
    for made, case in enumerate(cases):
        if made >= count or time.monotonic() > end:
            break
        if begin is not None:
            begin(case)
        counted: Counter[str] = Counter()
        how = failing(case, counted, memory)
        hunted.done.update({f"{case.kind}: {what}": 1 for what in counted})
        if how is not None:
            hunted.done[f"{case.kind}: failed"] += 1
            if how not in known:
                known.add(how)
                less = smallest(case, lambda less: failing(less) == how)  # noqa: B023 - used at once
                hunted.found[how] = Finding(less, how)
        if tell is not None and time.monotonic() - told > TELL_S:
            tell(hunted)
            hunted, told = Hunted(), time.monotonic()
    return hunted


class Worker:
    """A process that examines inputs, and dies alone."""

    def __init__(self, seed: str, count: float, seconds: float, folder: Path) -> None:
        """Starts it."""
        self.now = folder / seed.replace("/", "-")
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe(duplex=False)
        self.process: BaseProcess = context.Process(
            target=_work, args=(seed, count, seconds, self.now, theirs), daemon=True
        )
        self.process.start()
        theirs.close()

    def ended(self, hunted: Hunted) -> bool:
        """Takes what it tells, and says whether it has ended. If an input has ended it, that is found."""
        try:
            while self.pipe.poll(0.1):
                hunted.add(self.pipe.recv())
        except EOFError:
            self.process.join()
        if self.process.is_alive() and self._stuck():
            self.process.kill()
            self.process.join()
            self._blame(hunted, f"it hears no signal for {DEAD_S:.0f} s")
            return True
        if self.process.is_alive():
            return False
        if self.process.exitcode:
            self._blame(hunted, f"the process ends with code {self.process.exitcode}")
        return True

    @property
    def at_work(self) -> bool:
        """Whether it has begun with an input."""
        return self.now.exists() and self.now.stat().st_size > 0

    def _stuck(self) -> bool:
        return self.at_work and time.time() - self.now.stat().st_mtime > DEAD_S

    def _blame(self, hunted: Hunted, how: str) -> None:
        if not self.at_work:
            message = f"a worker has not begun: {how}"
            raise RuntimeError(message)
        case = pickle.loads(self.now.read_bytes())  # noqa: S301 - our own
        hunted.done[f"{case.kind}: failed"] += 1
        hunted.found.setdefault(how, Finding(case, how))


def _work(seed: str, count: float, seconds: float, now: Path, pipe: Connection) -> None:
    """What a worker does."""
    limit_addresses()
    os.environ["LONGFAT_CACHE"] = tempfile.mkdtemp(dir=now.parent)
    sys.setrecursionlimit(1000)
    first = extremes() if seed.endswith("/1") else ()
    cases = itertools.chain(first, drawn(seed))

    with now.open("wb", buffering=0) as file:

        def begin(case: Case) -> None:
            file.seek(0)
            file.write(pickle.dumps(case))

        warm = hunt(drawn(f"{seed}/warm"), WARM, begin=begin)
        memory = Memory()
        rest = hunt(cases, count - WARM, seconds, memory=memory, begin=begin, tell=pipe.send)
    rest.add(warm)
    if memory.left > MOST_LEFT:
        how = f"after {count:.0f} inputs {memory.left / 1e6:.0f} MB are left"
        rest.found[how] = Finding(Case("run"), how)
    rest.kept = memory.left
    pipe.send(rest)
    pipe.close()


def hunt_together(
    seed: int, count: float, seconds: float, workers: int, tell: Callable[[Hunted], object]
) -> Hunted:
    """Examines inputs in several processes; one that an input ends is replaced by another one."""
    end = time.monotonic() + seconds
    hunted = Hunted()
    begun = 0
    with tempfile.TemporaryDirectory() as folder:
        alive: list[Worker] = []
        with suppress(KeyboardInterrupt):
            while alive or begun == 0 or (hunted.examined < count and time.monotonic() < end):
                left, missing = end - time.monotonic(), count - hunted.examined
                while left > 0 and missing > 0 and len(alive) < workers:
                    begun += 1
                    share = min(LIFETIME, missing)
                    alive.append(Worker(f"{seed}/{begun}", share, left, Path(folder)))
                alive = [worker for worker in alive if not worker.ended(hunted)]
                tell(hunted)
        for worker in alive:
            worker.process.kill()
            worker.process.join()
    return hunted
