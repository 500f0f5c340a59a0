"""What can be asked, drawn from a seed."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from fuzzer import pairs as settings
from fuzzer import trees
from fuzzer.trees import Mutator, Tree, write

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["run", "fluid", "synchronised", "study", "claims", "room"]
KINDS: tuple[Kind, ...] = get_args(Kind)

SHARES: dict[Kind, float] = {
    "run": 0.62,
    "fluid": 0.25,
    "synchronised": 0.06,
    "claims": 0.062,
    "study": 0.007,
    "room": 0.001,
}
"""How often each is drawn: what takes long is drawn seldom."""

MODELS = ("mean-field", "hybrid", "synchronised")
PRICES = ("avq", "overflow", "red", "loss")

SYNCHRONISED: tuple[Tree, ...] = (
    {
        "control": "reno",
        "rate": "10 Mbit/s",
        "rtt": "40 ms",
        "window": [2.0, 20.0],
        "duration": "5 s",
    },
    {
        "control": ["reno", {"kind": "stcp", "a": 0.02}, "exp"],
        "rate": "100 Mbit/s",
        "rtt": ["10 ms", "40 ms", "100 ms"],
        "window": [1.0, 100.0, 30.0],
        "duration": "10 s",
        "buffer": "50 ms",
        "packet": "1000 B",
        "sample": "100 ms",
    },
)
NEEDED = ("control", "rate", "rtt", "window", "duration")
KNOWN = (*NEEDED, "buffer", "packet", "sample")

LAWLESS = {"blitz", "cubic"}
"""Controllers without a window law."""

_RED = {"kind": "red", "min": "0.1 bdp", "max": "0.4 bdp"}
_TWO = {"name": "two", "control": {"kind": "exp"}, "path": ["a", "b"], "rtt": "30 ms", "count": 3}
FLUIDS: tuple[Tree, ...] = 8 * (
    {
        "duration": "3 s",
        "warmup": "1 s",
        "sample": "10 ms",
        "link": {"a": {"rate": "20 Mbit/s", "delay": "5 ms", "loss": 1e-4, "queue": _RED}},
        "flow": [{"name": "one", "control": "reno", "path": ["a"], "rtt": "20 ms"}],
    },
    {
        "duration": "2 s",
        "sample": "20 ms",
        "link": {
            "a": {
                "rate": "50 Mbit/s",
                "delay": "2 ms",
                "anti_ecn": {"threshold": 0.9},
                "queue": _RED,
            },
            "b": {
                "rate": "30 Mbit/s",
                "delay": "9 ms",
                "loss": 1e-3,
                "queue": {**_RED, "gentle": True},
            },
        },
        "flow": [
            {
                "name": "one",
                "control": {"kind": "anti-ecn", "on": "stcp"},
                "path": ["a"],
                "rtt": "10 ms",
            },
            {**_TWO, "start": "300 ms", "stop": "1 s", "max_window": 500},
            {
                **_TWO,
                "name": "back",
                "reverse": True,
                "control": {"kind": "fiber", "per_mark": True},
            },
        ],
        "traffic": [
            {
                "name": "web",
                "control": "reno",
                "path": ["a"],
                "arrivals": {"load": "10 %"},
                "size": "20 kB",
                "rtt": "15 ms",
            }
        ],
    },
)

SMALL_POINT: Tree = {
    "duration": "300 ms",
    "link": {"link": {"rate": "5 Mbit/s", "delay": "2 ms"}},
    "flow": [{"name": "data", "control": "reno", "path": ["link"], "rtt": "10 ms"}],
}
STUDY: Tree = {
    "points": [
        {
            "scenario": SMALL_POINT,
            "set": {"link.link.rate": "2 Mbit/s", "flow.data.control": "cubic"},
            "labels": {"rate": 2e6, "control": "cubic"},
            "seeds": 2,
            "tables": ["flow_series"],
        },
        {
            "scenario": SMALL_POINT,
            "set": {},
            "labels": {"rate": 5e6, "control": "reno"},
            "seeds": [3, 1],
            "tables": [],
        },
    ],
    "workers": 2,
}


ANSWERS = (0.0, 1.0, -1.5, 1e-9, 1e300, -1e300, 5e-324, math.nan, math.inf, 0.5, 3)


@dataclass(frozen=True)
class Case:
    """Something asked.

    Attributes:
        kind: Of what.
        text: A scenario or a file of a room as text; empty where the tree says it all.
        tree: Everything else, as plain data.
    """

    kind: Kind
    text: str = ""
    tree: Tree = field(default_factory=dict)

    def __str__(self) -> str:
        """To be read, and typed again."""
        return f"{self.kind} {json.dumps(self.tree)}\n\n{self.text}"


class Drawer:
    """Draws cases: the same seed, the same cases."""

    def __init__(self, seed: int | str) -> None:
        """Reads what to begin with."""
        self.chance = random.Random(seed)  # noqa: S311 - cases, not secrets
        corpus = trees.scenarios()
        corpus += 3 * [trees.little(tree) for tree in corpus]
        self._scenarios = self._mutator(corpus)
        self._scenarios.learn_catalogue()
        self._fluids = self._mutator([*filter(_is_fluid, corpus), *FLUIDS])
        self._fluids.learn_catalogue()
        self._synchronised = self._mutator(SYNCHRONISED)
        self._studies = self._mutator([STUDY])
        self._claims = self._mutator(trees.rooms("claims.toml", "claim"))
        self._deviations = self._mutator(trees.rooms("deviations.toml", "deviation"))
        self._changes = self._mutator([{"set": point["set"]} for point in STUDY["points"]])

    def _mutator(self, corpus: Any) -> Mutator:
        return Mutator(self.chance, corpus)

    def draw(self) -> Case:
        """The next case."""
        (kind,) = self.chance.choices(KINDS, [SHARES[kind] for kind in KINDS])
        return self.draw_one(kind)

    def draw_one(self, kind: Kind) -> Case:
        """The next case of a kind."""
        if kind == "run":
            return Case(kind, self._scenarios.text())
        if kind == "fluid":
            return Case(kind, self._fluids.text(), self._asked())
        if kind == "synchronised":
            return Case(kind, "", self._called())
        if kind == "study":
            return Case(kind, "", self._studies.tree())
        if kind == "claims":
            deviations = self.chance.random() < 0.3
            text = (self._deviations if deviations else self._claims).text()
            answers = [self._answer() for _ in range(4)]
            return Case(kind, text, {"deviations": deviations, "answers": answers})
        changes = self._changes.tree().get("set")
        answers = self._answer()
        return Case(
            kind, "", {"set": changes if isinstance(changes, dict) else {}, "answers": answers}
        )

    def _asked(self) -> Tree:
        """A fluid model."""
        (model,) = self.chance.choices(MODELS, (5, 5, 2))
        rest = self._flag() and model != "synchronised"
        return {
            "model": model,
            "price": self.chance.choice(PRICES),
            "delay": self._flag(),
            "integrate": not rest or self._flag(),
            "equilibrium": rest,
            "stability": rest and self._flag(),
        }

    def _called(self) -> Tree:
        """The arguments of a phase plane: odd values, of the types that Python asks for."""
        tree = self._synchronised.tree()
        asked = {key: value for key, value in tree.items() if key in KNOWN and value is not None}
        asked = SYNCHRONISED[0] | asked
        for key, kinds in (("window", list), ("control", (str, dict, list)), ("rtt", (str, list))):
            if not isinstance(asked[key], kinds):
                asked[key] = [asked[key]]
        return asked

    def _answer(self) -> Any:
        """What an experiment may answer a claim with."""
        kind = self.chance.random()
        if kind < 0.1:
            return None
        if kind < 0.4:
            return self.chance.choice(ANSWERS)
        return self.chance.choices(ANSWERS, k=self.chance.randrange(5))

    def _flag(self) -> bool:
        return self.chance.random() < 0.5


def _is_fluid(tree: Tree) -> bool:
    flows = tree.get("flow", ())
    kinds = {
        flow["control"] if isinstance(flow["control"], str) else flow["control"].get("kind")
        for flow in flows
        if "control" in flow
    }
    return bool(flows) and not kinds & LAWLESS and not any("size" in flow for flow in flows)


def drawn(seed: int | str) -> Iterator[Case]:
    """Cases without end."""
    drawer = Drawer(seed)
    while True:
        yield drawer.draw()


def extremes(*, pairs: bool = True) -> Iterator[Case]:
    """Extreme settings, all `pairs` of them or each, as runs, and as a fluid where there is a law."""
    asked = itertools.cycle(itertools.product(MODELS, PRICES, (True, False)))
    for tree in settings.extremes(pairs=pairs):
        text = write(tree)
        yield Case("run", text)
        # Windows of thousands of segments are stiff where feedback comes at once.
        if _is_fluid(tree) and tree["link"]["link"]["rate"] != "100 Gbit/s":
            model, price, delay = next(asked)
            rest = model == "mean-field"
            options = {"model": model, "price": price, "delay": delay, "integrate": True}
            yield Case("fluid", text, {**options, "equilibrium": rest, "stability": rest})
