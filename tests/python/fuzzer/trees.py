"""Trees and texts, and how they are changed."""

from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING, Any

import tomli_w

import longfat
from fuzzer.values import NUMBERS, PIECES, PLAIN, UNITS, WORDS
from support import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

Tree = dict[str, Any]
Place = tuple[Any, ...]

TIMES = ("duration", "warmup", "sample", "start", "stop", "at", "over", "every")


VARYING: Tree = {
    "duration": "2 s",
    "link": {
        "a": {
            "rate": "10 Mbit/s",
            "delay": "5 ms",
            "change": [
                {"at": "300 ms", "over": "200 ms", "rate": "2 Mbit/s", "loss": 0.01},
                {"at": "700 ms", "every": "500 ms", "delay": "20 ms", "reverse": False},
                {"at": "900 ms", "every": "500 ms", "delay": "1 ms", "rate": "0 bit/s"},
                {"at": "1 s", "every": "500 ms", "rate": "30 Mbit/s"},
            ],
        },
        "b": {
            "delay": "3 ms",
            "trace": {"mahimahi": "1 1 2 5 9"},
            "reverse": {"rate": "5 Mbit/s", "trace": "none"},
        },
        "c": {
            "rate": "20 Mbit/s",
            "delay": "1 ms",
            "jitter": {"most": "5 ms", "ordered": False},
            "reorder": {"probability": 0.05, "distance": "3 packets"},
            "duplicate": 0.01,
            "policer": {"rate": "9 Mbit/s", "burst": "20 kB"},
            "shaper": {"rate": "8 Mbit/s", "burst": "10 kB"},
            "acknowledgments": {"hold": "3 ms", "keep": "1/4"},
            "ecn": "bleached",
            "burst_loss": {"p": 0.01, "r": 0.3, "good": 0.001, "bad": 0.5},
            "reverse": {"jitter": {"kind": "wifi", "interval": "4 ms", "packets": 16}},
        },
    },
    "flow": [
        {"name": "one", "control": "cubic", "path": ["a", "b"], "rtt": "40 ms", "count": 2},
        {"name": "two", "control": "reno", "path": ["b", "c"], "rtt": "30 ms", "reverse": True},
        {
            "name": "three",
            "control": "reno",
            "path": ["c", {"link": "a", "reverse": True}],
            "rtt": "60 ms",
        },
    ],
}
"""Links that change, with what a scenario of this repository takes from a file."""


def scenarios() -> list[Tree]:
    """The scenarios of this repository, as trees."""
    folders = (ROOT / "scenarios", ROOT / "bench/scenarios", *sorted((ROOT / "papers").iterdir()))
    paths = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
    trees = [tomllib.loads(path.read_text("utf-8")) for path in paths]
    return [*(tree for tree in trees if "duration" in tree), VARYING]


def little(value: Any, *, time: bool = False) -> Any:
    """The same in small: gigabits are megabits, and seconds of the run are hundredths; round trips stay."""
    if isinstance(value, dict):
        return {key: little(each, time=time or key in TIMES) for key, each in value.items()}
    if isinstance(value, list):
        return [little(each, time=time) for each in value]
    if isinstance(value, str):
        number, _, unit = value.partition(" ")
        if unit == "Gbit/s":
            return f"{number} Mbit/s"
        if time and unit == "s":
            return f"{10 * float(number):g} ms"
    return value


def rooms(name: str, entry: str, at_a_time: int = 3) -> list[Tree]:
    """The files of this name in the rooms of this repository, as trees with a few entries each."""
    found: list[Tree] = []
    for path in sorted((ROOT / "papers").glob(f"*/{name}")):
        tree = tomllib.loads(path.read_text("utf-8"))
        entries = tree[entry]
        found += [
            {**tree, entry: entries[first : first + at_a_time]}
            for first in range(0, len(entries), at_a_time)
        ]
    return found


def places(tree: object, here: Place = ()) -> Iterator[Place]:
    """The ways to all values of a tree."""
    entries: Any = ()
    if isinstance(tree, dict):
        entries = tree.items()
    elif isinstance(tree, list):
        entries = enumerate(tree)
    for key, value in entries:
        yield (*here, key)
        yield from places(value, (*here, key))


def holder(tree: Any, place: Place) -> Any:
    """The table or list that holds the value at this place."""
    for key in place[:-1]:
        tree = tree[key]
    return tree


def write(tree: Tree) -> str:
    """The text of a tree; without what TOML cannot say."""
    return tomli_w.dumps(_sayable(tree)) + "\n"


def _sayable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sayable(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_sayable(each) for each in value if each is not None]
    return value


class Mutator:
    """Changes trees of one kind, by values that others of the kind have in the same place, and by odd ones."""

    def __init__(self, chance: random.Random, trees: Sequence[Tree]) -> None:
        """Learns the values of all trees by their keys."""
        self.chance = chance
        self._trees = [pickle.dumps(tree) for tree in trees]
        self._values: dict[Any, list[bytes]] = {}
        for tree in trees:
            for place in places(tree):
                self.learn(place[-1], holder(tree, place)[place[-1]])

    def learn(self, key: Any, value: Any) -> None:
        """A value that this key may have."""
        known = self._values.setdefault(key, [])
        if (kept := pickle.dumps(value)) not in known:
            known.append(kept)

    def learn_catalogue(self) -> None:
        """Every controller and queue, and their parameters."""
        for entry in (*longfat.controllers(), *longfat.queues()):
            self.learn("kind", entry["name"])
            for parameter in entry["parameters"]:
                self.learn(parameter["name"], parameter["default"] or 1)

    def tree(self) -> Tree:
        """One of the trees, changed a few times or not at all."""
        tree: Tree = pickle.loads(self.chance.choice(self._trees))  # noqa: S301 - our own
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 4))):
            self.change(tree)
        return tree

    def change(self, tree: Tree) -> None:
        """Changes the tree in one place."""
        found = list(places(tree))
        if not found:
            return
        place = self.chance.choice(found)
        inside, key = holder(tree, place), place[-1]
        change = self.chance.random()
        if change < 0.07:
            del inside[key]
        elif change < 0.12 and isinstance(inside, list):
            inside.append(self._copy(inside[key]))
        elif change < 0.25 and isinstance(inside, dict):
            name = self.chance.choice([key for key in self._values if isinstance(key, str)])
            inside[name] = self._known(name)
        elif change < 0.8:
            inside[key] = self._known(key)
        else:
            inside[key] = self.odd()

    def odd(self) -> Any:
        """A value that may be anything."""
        kind = self.chance.random()
        if kind < 0.5:
            number = self.chance.choice(NUMBERS)
            if self.chance.random() < 0.5:
                number = f"{10 ** self.chance.uniform(-6, 9):.3g}"
            return f"{number} {self.chance.choice(UNITS)}".strip()
        return self._copy(self.chance.choice(WORDS if kind < 0.65 else PLAIN))

    def scramble(self, text: str) -> str:
        """The text with a few pieces in wrong places. Of one line it would be the name of a file."""
        for _ in range(self.chance.randint(1, 3)):
            at = self.chance.randrange(len(text) + 1)
            until = min(len(text), at + self.chance.choice((0, 0, 1, 5, 40)))
            text = text[:at] + self.chance.choice(PIECES) + text[until:]
        return text if "\n" in text else f"{text}\n"

    def text(self) -> str:
        """The text of the next tree; of some, scrambled."""
        text = write(self.tree())
        return self.scramble(text) if self.chance.random() < 0.15 else text

    def _known(self, key: Any) -> Any:
        known = self._values.get(key)
        return pickle.loads(self.chance.choice(known)) if known else 0  # noqa: S301 - our own

    @staticmethod
    def _copy(value: Any) -> Any:
        return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
