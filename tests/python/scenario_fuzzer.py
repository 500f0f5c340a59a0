"""Endless wrong and odd scenarios, made from right ones: the answer is always a result or a refusal.

    python tests/python/scenario_fuzzer.py --minutes 60 --seed 7

takes the scenarios of this repository, changes them as trees and as texts, and runs and solves what is accepted
and small. For each way to panic, to take longer than the estimate allows or to end in impossible numbers, it
prints the smallest scenario. The tests run a few hundred, always the same ones.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import signal
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import longfat
from longfat.scenario import read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

Tree = dict[str, Any]
Place = tuple[Any, ...]

ROOT = Path(__file__).resolve().parents[2]

MOST_PACKETS, MOST_MEMORY = 20_000, 50e6
"""What is accepted but asks for more is made shorter, or skipped."""

PATIENCE_S = 10.0
"""No input that is small by its estimate takes longer."""

UNIT_TEXTS: tuple[str, ...] = (
    "s",
    "ms",
    "us",
    "ns",
    "ps",
    "h",
    "Gbit/s",
    "bit/s",
    "Tbit/s",
    "B",
    "kB",
    "GB",
    "/s",
)
UNIT_TEXTS += ("packets", "bdp", "buffer", "")
NUMBERS: tuple[str, ...] = (
    "0",
    "1",
    "-1",
    "0.5",
    "1e-12",
    "1e9",
    "1e15",
    "1e300",
    "9223372036854775807",
    "1_000",
    "1_0",
    "nan",
)
NUMBERS += ("inf", "0x10", "3.999999999999", "1e-300")
WORDS: tuple[str, ...] = (
    "none",
    "unlimited",
    "",
    "true",
    "a\x1bb",
    "é" * 30,
    "'",
    "]",
    "bottleneck",
    "sack",
    "spread",
    "bytes",
)
PLAIN: tuple[Any, ...] = (
    0,
    1,
    -1,
    2,
    10**6,
    2**63 - 1,
    0.0,
    0.5,
    1.0,
    1e-9,
    1e9,
    math.inf,
    math.nan,
    True,
    False,
    [],
    {},
    [[]],
)
PIECES = (
    "[",
    "]",
    "[[",
    "{",
    "}",
    '"',
    "=",
    ".",
    "\n",
    "#",
    "'''",
    "\\u0000",
    "\x00",
    "é",
    "1e",
    "[[flow]]\n",
)


class TooLongError(Exception):
    """An input that is small by its estimate took too long."""


class AbsurdError(Exception):
    """An impossible result."""


@dataclass(frozen=True)
class Finding:
    """Something that must not happen, and the scenario that makes it happen."""

    text: str
    how: str
    what: str


def corpus() -> list[Tree]:
    """The scenarios of this repository, as trees."""
    folders = (ROOT / "scenarios", ROOT / "bench/scenarios", *(ROOT / "papers").iterdir())
    paths = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
    trees = [tomllib.loads(path.read_text("utf-8")) for path in paths]
    return [tree for tree in trees if "duration" in tree]


def places(tree: object, here: Place = ()) -> Iterator[Place]:
    """The paths to all values of a tree."""
    entries: Any = ()
    if isinstance(tree, dict):
        entries = tree.items()
    elif isinstance(tree, list):
        entries = enumerate(tree)
    for key, value in entries:
        yield (*here, key)
        yield from places(value, (*here, key))


def holder(tree: Tree, place: Place) -> Any:
    """The container of the value at `place`."""
    found: Any = tree
    for key in place[:-1]:
        found = found[key]
    return found


class Mutator:
    """Draws changed scenarios from a seed: the same seed, the same scenarios."""

    def __init__(self, seed: int) -> None:
        """Reads the scenarios to begin with."""
        self.chance = random.Random(seed)  # noqa: S311 - scenarios, not secrets
        self.trees = corpus()
        self.values: dict[Any, list[Any]] = {}
        for tree in self.trees:
            for place in places(tree):
                self.values.setdefault(place[-1], []).append(holder(tree, place)[place[-1]])
        for entry in (*longfat.controllers(), *longfat.queues()):
            self.values.setdefault("kind", []).append(entry["name"])
            for parameter in entry["parameters"]:
                self.values.setdefault(parameter["name"], []).append(parameter["default"] or 1)
        self.keys = sorted({key for key in self.values if isinstance(key, str)})

    def draw(self) -> str:
        """The text of the next scenario."""
        tree = copy.deepcopy(self.chance.choice(self.trees))
        for _ in range(self.chance.choice((0, 1, 1, 2, 3, 5))):
            self._change(tree)
        text = write(tree)
        if self.chance.random() < 0.15:
            text = self._scramble(text)
        return text

    def _change(self, tree: Tree) -> None:
        found = list(places(tree))
        if not found:
            return
        place = self.chance.choice(found)
        inside, key = holder(tree, place), place[-1]
        change = self.chance.random()
        if change < 0.12:
            del inside[key]
        elif change < 0.2 and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[key]))
        elif change < 0.35 and isinstance(inside, dict):
            name = self.chance.choice(self.keys)
            inside[name] = copy.deepcopy(self.chance.choice(self.values[name]))
        elif change < 0.65:
            inside[key] = copy.deepcopy(self.chance.choice(self.values.get(key, [0])))
        else:
            inside[key] = self._odd()

    def _odd(self) -> Any:
        kind = self.chance.random()
        if kind < 0.5:
            number = self.chance.choice(NUMBERS)
            if self.chance.random() < 0.5:
                number = f"{10 ** self.chance.uniform(-6, 9):.3g}"
            return f"{number} {self.chance.choice(UNIT_TEXTS)}".strip()
        return copy.deepcopy(self.chance.choice(WORDS if kind < 0.65 else PLAIN))

    def _scramble(self, text: str) -> str:
        for _ in range(self.chance.randint(1, 3)):
            at = self.chance.randrange(len(text) + 1)
            until = min(len(text), at + self.chance.choice((0, 0, 1, 5, 40)))
            text = text[:at] + self.chance.choice(PIECES) + text[until:]
        return text


def write(tree: Tree) -> str:
    """The text of a tree, whatever is in it."""
    import tomli_w

    return tomli_w.dumps(tree) + "\n"


def examine(text: str, *, fluid: bool) -> str:
    """Reads a scenario, and runs or solves it if it is right and small.

    Returns:
        What was done with it.

    Raises:
        AbsurdError: The result is impossible.
        TooLongError: It took too long.
        EngineError: The engine broke one of its rules.
    """
    with in_time():
        try:
            scenario, _ = read(text)
            # What is written reads back as the same.
            if read(scenario.to_toml())[0] != scenario:
                message = "the resolved scenario reads back to another one"
                raise AbsurdError(message)
            changes = small(text)
            if changes is None:
                return "large"
            if fluid:
                solve(text, changes)
            else:
                check(longfat.run(text, set=changes).summary)
        except (longfat.ScenarioError, longfat.FluidError):
            return "refused"
    return "solved" if fluid else "run"


def small(text: str) -> list[str] | None:
    """Changes that make a scenario short enough; `None` if nothing does."""
    for duration in ("", "1 s", "30 ms", "200 us"):
        changes = ["warmup=0 s", f"duration={duration}", f"sample={duration}"] if duration else []
        try:
            scenario, _ = read(text, changes=changes)
        except longfat.ScenarioError:
            continue
        needed = scenario.estimate()
        if needed["packets"] <= MOST_PACKETS and needed["memory"] <= MOST_MEMORY:
            return changes
    return None


def check(summary: dict[str, Any]) -> None:
    """Refuses impossible averages.

    Raises:
        AbsurdError: A share above one, a count below zero, more lost than there was.
    """
    shares = (
        "utilisation",
        "queue_mean",
        "queue_p99",
        "drop_rate",
        "mark_rate",
        "retransmit_rate",
        "room_rate",
    )
    for where, row in rows(summary):
        for key, value in row.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if not math.isfinite(value) or value < 0 or (key in shares and value > 1):
                message = f"{where}: {key} = {value}"
                raise AbsurdError(message)
    if any(not 0 <= value <= 1 for value in summary["jain"].values() if value is not None):
        message = f"jain = {summary['jain']}"
        raise AbsurdError(message)
    if not summary["scenario"]["warmup"].startswith("0 "):
        return  # what was in flight when measuring began may be lost after that
    for where, row in rows(summary):
        for part, whole in (
            ("dropped", "arrived"),
            ("marked", "arrived"),
            ("data_dropped", "data_sent"),
        ):
            if part in row and row[part] > row[whole]:
                message = f"{where}: {row[part]} {part} of {row[whole]}"
                raise AbsurdError(message)


def rows(summary: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The links in both directions, the flows and the groups of short flows."""
    for name, link in summary["links"].items():
        yield f"{name}, forward", link["forward"]
        yield f"{name}, reverse", link["reverse"]
    for flow in summary["flows"]:
        yield flow["name"], flow
    yield from summary["traffic"].items()


def solve(text: str, changes: list[str]) -> None:
    """Solves the differential equations, and refuses what is not finite.

    Raises:
        AbsurdError: A number that is not finite.
    """
    solved = longfat.fluid(text, set=changes, equilibrium=True)
    for value in numbers(solved.summary):
        if not math.isfinite(value):
            message = f"the fluid has a value of {value}"
            raise AbsurdError(message)


def numbers(content: object) -> Iterator[float]:
    """All numbers in plain data."""
    if isinstance(content, dict):
        for value in content.values():
            yield from numbers(value)
    elif isinstance(content, list):
        for value in content:
            yield from numbers(value)
    elif isinstance(content, (int, float)):
        yield content


@contextmanager
def in_time() -> Iterator[None]:
    """Interrupts what takes too long: the engine checks for signals between its steps."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.monotonic() - start > PATIENCE_S:
        raise TooLongError


def failing(text: str, *, fluid: bool, done: Counter[str] | None = None) -> str | None:
    """How a scenario fails, in words that fit its smallest form; `None` if it does not. Counts in `done`."""
    try:
        what = examine(text, fluid=fluid)
        if done is not None:
            done[what] += 1
    except AbsurdError as error:
        return f"absurd: {str(error).rpartition(' = ')[0][-20:]}"
    except Exception as error:  # noqa: BLE001 - whatever it is
        return f"{type(error).__name__}: {str(error)[:60]}"
    return None


def smallest(text: str, fails: Callable[[str], bool]) -> str:
    """A scenario that still fails, with nothing in it that could be left out."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return _fewest_lines(text, fails)
    again = True
    while again:
        again = False
        for place in reversed(list(places(tree))):
            less = copy.deepcopy(tree)
            del holder(less, place)[place[-1]]
            if fails(write(less)):
                tree, again = less, True
                break
    return write(tree)


def _fewest_lines(text: str, fails: Callable[[str], bool]) -> str:
    lines = text.split("\n")
    for index in reversed(range(len(lines))):
        less = [*lines[:index], *lines[index + 1 :]]
        if fails("\n".join(less) + "\n"):
            lines = less
    return "\n".join(lines) + "\n"


def hunt(seed: int, count: float, seconds: float = math.inf) -> tuple[Counter[str], list[Finding]]:
    """Examines up to `count` scenarios for up to `seconds`.

    Returns:
        How many were run, solved, refused or too large; and the smallest scenario of each way to fail.
    """
    mutator = Mutator(seed)
    done: Counter[str] = Counter()
    found: dict[str, Finding] = {}
    end = time.monotonic() + seconds
    while done.total() < count and time.monotonic() < end:
        text = mutator.draw()
        fluid = mutator.chance.random() < 0.3
        how = failing(text, fluid=fluid, done=done)
        if how is not None and how not in found:
            same = partial(_fails_alike, fluid=fluid, how=how)
            found[how] = Finding(smallest(text, same), "fluid" if fluid else "run", how)
    return done, list(found.values())


def _fails_alike(text: str, *, fluid: bool, how: str) -> bool:
    return failing(text, fluid=fluid) == how


def main() -> None:
    """The command line."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--minutes", type=float, default=10.0)
    given = asked.parse_args()
    done, found = hunt(given.seed, math.inf, 60 * given.minutes)
    print(f"seed {given.seed}: {json.dumps(done)}")
    for finding in found:
        print(f"\n{finding.how}: {finding.what}\n\n{finding.text}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
