"""A room with other seeds or settings than its own, to see which verdicts stand."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.errors import RoomError, ScenarioError
from longfat.foreign import read_text
from longfat.scenario import read
from longfat.study import Computation, Point, Sweep

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Changes:
    """What is changed in a room before it is run.

    Attributes:
        seeds: How many seeds every point has, in place of its own number; points without chance have none.
        settings: Fields of all scenarios, such as `{"link.bottleneck.buffer": "1 bdp"}`.
        left: Filled in by `applied`: the experiments that a setting left as they were, and why.
    """

    seeds: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    left: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def read(cls, seeds: int | None, assignments: Iterable[str]) -> Changes:
        """From the options `--seeds` and `--set`.

        Raises:
            RoomError: An assignment is none.
        """
        settings = {}
        for text in assignments:
            key, equals, value = text.partition("=")
            if not equals or not key.strip():
                message = (
                    f'--set {text}: KEY=VALUE is needed, such as link.bottleneck.buffer="1 bdp"'
                )
                raise RoomError(message)
            settings[key.strip()] = _value(value.strip())
        return cls(seeds, settings)

    def __bool__(self) -> bool:
        """Whether anything is changed."""
        return self.seeds is not None or bool(self.settings)

    @property
    def in_words(self) -> str:
        """The changes for a heading: `5 seeds, link.bottleneck.buffer = 1 bdp`."""
        seeds = [] if self.seeds is None else [f"--seeds {self.seeds}"]
        return ", ".join([*seeds, *(f"{key} = {value}" for key, value in self.settings.items())])

    def to_dict(self) -> dict[str, Any]:
        """The changes as plain data, for JSON."""
        return {"seeds": self.seeds, "set": dict(self.settings), "left": list(self.left)}

    def applied(self, sweeps: Sequence[Sweep]) -> list[Sweep]:
        """The sweeps with the changes.

        A setting changes an experiment in all of its points or not at all: not if one of them has no such
        field, and not if its points differ in it, as their labels would no longer be true.

        Raises:
            RoomError: A setting changes no experiment.
            OSError: A scenario file cannot be read.
        """
        changed = [self._with_seeds(sweep) for sweep in sweeps]
        for key, value in self.settings.items():
            refusals = []
            for index, sweep in enumerate(changed):
                if reason := _refused(sweep, key, value):
                    refusals.append(f"{sweep.name}: {key} is left as it is: {reason}")
                else:
                    changed[index] = _with_setting(sweep, key, value)
            if len(refusals) == len(changed):
                message = "\n".join([f"--set {key} changes nothing:", *refusals])
                raise RoomError(message)
            self.left.extend(refusals)
        return changed

    def _with_seeds(self, sweep: Sweep) -> Sweep:
        if self.seeds is None:
            return sweep
        points = [
            point if point.seeds is None else replace(point, seeds=self.seeds)
            for point in sweep.points
        ]
        return replace(sweep, points=points)


def _refused(sweep: Sweep, key: str, value: object) -> str | None:
    """Why a setting cannot be made in an experiment; `None` if it can."""
    points = [point for point in sweep.points if isinstance(point, Point)]
    if not points:
        return "nothing is simulated"
    if len({_given(sweep, point, key) for point in points}) > 1:
        return "its points differ in that"
    for point in points:
        source = point.scenario
        path = source if isinstance(source, Mapping) else sweep.folder / source
        try:
            read(path, changes={**point.set, key: value})
        except ScenarioError as error:
            return str(error).splitlines()[0].removeprefix("error: ")
    return None


def _with_setting(sweep: Sweep, key: str, value: object) -> Sweep:
    points: list[Point | Computation] = [
        replace(point, set={**point.set, key: value}) if isinstance(point, Point) else point
        for point in sweep.points
    ]
    return replace(sweep, points=points)


def _given(sweep: Sweep, point: Point, key: str) -> str:
    """What a point says about a field, and about what is in it or around it, as text."""
    source = point.scenario
    content = (
        source
        if isinstance(source, Mapping)
        else tomllib.loads(read_text(Path(sweep.folder / source)))
    )
    near = {
        name: value
        for name, value in point.set.items()
        if f"{name}.".startswith(f"{key}.") or f"{key}.".startswith(f"{name}.")
    }
    return json.dumps([_inside(content, key.split(".")), near], default=str, sort_keys=True)


def _inside(content: object, keys: Sequence[str]) -> object:
    """The value of a field; where it stands in a list, that of the entry with its name."""
    for key in keys:
        if isinstance(content, Mapping):
            content = content.get(key)
        elif isinstance(content, Sequence) and not isinstance(content, str):
            content = [
                each for each in content if isinstance(each, Mapping) and each.get("name") == key
            ]
            content = content[0] if content else None
        else:
            return None
    return content


def _value(text: str) -> object:
    """A value as TOML has it, or else the text itself: `1 bdp` needs no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
