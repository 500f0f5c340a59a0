"""Every pair of extreme settings of each controller and each queue, in as few scenarios as come to mind.

A fault that needs more than two settings at once is rare (D. R. Kuhn, D. R. Wallace, A. M. Gallo, "Software
Fault Interactions and Implications for Software Testing", IEEE Transactions on Software Engineering 30(6),
2004), and all pairs of twenty parameters fit into a few dozen rows.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import longfat
from fuzzer.trees import Tree, write
from longfat.errors import ScenarioError
from longfat.scenario import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Level = Any
Row = dict[str, Level]

_TRIES = 2
"""Rows that are drawn for each that is kept: the one that covers most."""

_MORE_TRIES = 4
"""Rows that are drawn if none of these is accepted; after that comes the one of first levels."""

ABSENT = object()
"""The key is left out."""

FLOW: dict[str, Sequence[Level]] = {
    "count": [1, 3],
    "rtt": ["1 ms", "40 ms"],
    "packet": ["1500 B", "64 B"],
    "size": [ABSENT, "30 kB"],
    "ecn": [True, False, "ect1"],
    "ecn_feedback": [ABSENT, "accurate"],
    "initial_window": [ABSENT, 1, 1000],
    "slow_start": [ABSENT, "limited", "hystart", "hystart++"],
    "recovery": [ABSENT, "newreno", "reno", "rack", "quic"],
    "delayed_ack": [ABSENT, True],
    "ack_every": [ABSENT, 1, 9],
    "pacing": [ABSENT, "spread", "none"],
    "send_quantum": [ABSENT, 10, "1 ms"],
    "window_validation": [ABSENT, "rfc5681", "rfc2861", "rfc7661", "ratelimited-increase"],
    "careful_resume": [ABSENT, {"window": 100, "rtt": "40 ms"}],
    "max_window": [ABSENT, 1, 50],
    "receive_window": [ABSENT, "auto", "3 packets", {"kind": "sender-tuned", "scale": 3}],
    "access": [ABSENT, "5 Mbit/s"],
}
LINK: dict[str, Sequence[Level]] = {
    "rate": ["10 Mbit/s", "100 kbit/s", "100 Gbit/s"],
    "buffer": ["20 packets", "1 packet", "1 bdp", "3 kB", "unlimited"],
    "loss": [0.0, 0.01, 0.5],
    "anti_ecn": [ABSENT, {"threshold": 0.5, "buffer": "5 packets"}],
}
RUN: dict[str, Sequence[Level]] = {"warmup": ["0 s", "37.3 ms"], "sample": ["10 ms", "100 us"]}


def covering(
    factors: Mapping[str, Sequence[Level]],
    accepts: Callable[[Row], bool] = lambda _: True,
    seed: int = 1,
    *,
    pairs: bool = True,
) -> list[Row]:
    """Rows in which any two levels of any two factors meet, unless nothing with them is accepted.

    Without `pairs` rows in which there is any level at all; then each counts as meeting itself.
    """
    chance = random.Random(seed)  # noqa: S311 - rows, not secrets
    names = sorted(factors)
    # The levels of all factors in one list. The bits of `missing` say which of them each has not met yet.
    values = [(name, level) for name in names for level in factors[name]]
    numbers: dict[str, list[int]] = {name: [] for name in names}
    for number, (name, _) in enumerate(values):
        numbers[name].append(number)
    every = range(len(values))
    if pairs:
        missing = [_bits(every) & ~_bits(numbers[name]) for name, _ in values]
    else:
        missing = [1 << number for number in every]
    none = [0] * len(values)
    found: list[Row] = []
    for pair in itertools.combinations(every, 2) if pairs else zip(every, every, strict=True):
        if not missing[pair[0]] >> pair[1] & 1:
            continue
        given = {values[number][0]: number for number in pair}
        drawn = [_row(numbers, given, missing, chance) for _ in range(_TRIES)]
        drawn.sort(key=lambda row: -_covered(row, missing))
        plain = {name: levels[0] for name, levels in numbers.items()}
        drawn += [_row(numbers, given, none, chance) for _ in range(_MORE_TRIES)]
        drawn.append(list((plain | given).values()))
        for chosen in drawn:
            row = dict(values[number] for number in chosen)
            if accepts(row):
                _meet(chosen, missing)
                found.append(row)
                break
        # If nothing accepts it, no other row need try to cover it.
        _meet(pair, missing)
    return found


def _row(
    numbers: Mapping[str, list[int]],
    given: Mapping[str, int],
    missing: Sequence[int],
    chance: random.Random,
) -> list[int]:
    """A level of each factor: those given, and of the rest, in any order, what covers most."""
    row = list(given.values())
    bits = _bits(row)
    rest = [name for name in numbers if name not in given]
    chance.shuffle(rest)
    for name in rest:
        levels = list(numbers[name])
        chance.shuffle(levels)
        best = max(levels, key=lambda level: (missing[level] & (bits | 1 << level)).bit_count())
        row.append(best)
        bits |= 1 << best
    return row


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _covered(row: Sequence[int], missing: Sequence[int]) -> int:
    """Twice as many as the pairs of a row that have not met, or as many as levels that have not been there."""
    bits = _bits(row)
    return sum((missing[number] & bits).bit_count() for number in row)


def _meet(row: Sequence[int], missing: list[int]) -> None:
    bits = _bits(row)
    for number in row:
        missing[number] &= ~bits


def levels(parameter: Mapping[str, Any]) -> list[Level]:
    """The default of a parameter, its extremes, and all its words."""
    kind, least, most = parameter["kind"], parameter["minimum"], parameter["maximum"]
    found: list[Level] = [ABSENT]
    if kind in ("number", "number or word"):
        found += [least, most]
    elif kind == "count":
        found += [int(least), int(min(most, 2.0**53))]
    elif kind == "frequency":
        found += [f"{least!r} /s", f"{most!r} /s"]
    elif kind == "time":
        found += ["1 us", "1 ms", "100 s"]
    elif kind == "length":
        found += ["0 packets", "1 packet", "15 packets"]
    elif kind == "flag":
        found += [True, False]
    elif kind == "controller":
        found += [entry["name"] for entry in longfat.controllers()]
    return found + list(parameter["words"] or [])


def extremes(*, pairs: bool = True) -> Iterator[Tree]:
    """Every controller over three queues, or the one that it needs, and every queue under Reno.

    At all `pairs` of extremes, or at each of them.
    """
    kinds = {entry["name"] for entry in longfat.queues()}
    for entry in longfat.controllers():
        own = {f"control.{each['name']}": levels(each) for each in entry["parameters"]}
        # Routers that take part are the queue of the same name.
        name = entry["name"]
        queues = [name] if name in kinds else ["drop-tail", "red", "pushout"]
        yield from _scenarios(own, control=name, queues=queues, pairs=pairs)
    for entry in longfat.queues():
        own = {f"queue.{each['name']}": levels(each) for each in entry["parameters"]}
        yield from _scenarios(own, control="reno", queues=[entry["name"]], pairs=pairs)


def _scenarios(own: Row, control: str, queues: list[str], *, pairs: bool) -> Iterator[Tree]:
    factors = (
        {f"flow.{key}": levels for key, levels in FLOW.items()}
        | {f"link.{key}": levels for key, levels in LINK.items()}
        | {f"run.{key}": levels for key, levels in RUN.items()}
        | {"queue.kind": queues}
        | own
    )

    def accepts(row: Row) -> bool:
        try:
            read(write(_scenario(row, control)))
        except ScenarioError:
            return False
        return True

    for row in covering(factors, accepts, pairs=pairs):
        yield _scenario(row, control)


def _scenario(row: Row, control: str) -> Tree:
    parts: dict[str, Tree] = {part: {} for part in ("flow", "link", "run", "queue", "control")}
    for name, level in row.items():
        if level is not ABSENT:
            part, _, key = name.partition(".")
            parts[part][key] = level
    control_ = {"kind": control, **parts["control"]}
    forward = {"name": "data", "control": control_, "path": ["link"], **parts["flow"]}
    back = {"name": "back", "control": "reno", "path": ["link"], "rtt": "20 ms", "reverse": True}
    return {
        "duration": "200 ms",
        **parts["run"],
        "link": {"link": {"delay": "500 us", "queue": parts["queue"], **parts["link"]}},
        "flow": [forward, back],
    }
