"""All runs of a study: points times seeds, with their names and costs, in the order of the plan."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.errors import ScenarioError, StudyError
from longfat.foreign import shown
from longfat.own import NOTHING, Code
from longfat.own._code import located_all
from longfat.scenario import Template
from longfat.study._cache import engine_address
from longfat.study._design import MOST_RUNS
from longfat.study._file import ENGINE, StudyFile, Until
from longfat.study._parts import Ids, id_of, run_name
from longfat.study._plan import estimate_s
from longfat.study._values import describe

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from longfat._longfat import Scenario

_NAMING = ("trace", "replay")
"""The keys of a scenario that may name files."""

_FLUID_S = 0.02
"""What a fluid solution takes, for estimates."""
_RUN_BYTES, _NUMBER_BYTES, _PART_BYTES = 80, 9, 12_000
_SERIES_BYTES = 24
"""Of a row of a time series in a Parquet file, about."""


@dataclass(frozen=True)
class Forecast:
    """What a study will take.

    Attributes:
        points: How many settings.
        runs: How many runs; with seeds `until`, the most there may be.
        known: How many of them are finished.
        seconds: About what the others take on one core.
        longest: About what the longest of them takes.
        size: About what the folder will hold, in bytes.
    """

    points: int
    runs: int
    known: int
    seconds: float
    longest: float
    size: float


@dataclass(frozen=True)
class Batch:
    """Some runs, in the order of the plan.

    Attributes:
        points: The index of the point of each.
        places: Which of the seeds of that point.
        ids: The first half of the name of each.
    """

    points: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]
    ids: Ids

    def __len__(self) -> int:
        """How many there are."""
        return len(self.ids)

    def of(self, chosen: np.ndarray[Any, Any] | slice) -> Batch:
        """Some of them."""
        return Batch(self.points[chosen], self.places[chosen], self.ids[chosen])


class Runs:
    """The runs of a study.

    Attributes:
        file: The study.
        costs: What a run of each point takes on one core, in seconds, as estimated.
    """

    def __init__(
        self,
        file: StudyFile,
        folder: Path,
        progress: Callable[[float], object] | None = None,
        code: Code = NOTHING,
        *,
        kept: Path | None = None,
    ) -> None:
        """Reads and checks the scenario of every point; nothing runs yet.

        Args:
            file: The study.
            folder: What a path in it is relative to.
            progress: Told how far it has come.
            code: What scenarios may use beyond longfat.
            kept: Where the files are that a scenario within the study names, if it can name any.

        Raises:
            StudyError: The scenario of a point is wrong.
            ScenarioError: The scenario itself is.
            OSError: A file cannot be read.
        """
        self.file = file
        self.design = file.design
        given = file.scenario
        self.template = (
            Template(folder / given, code)
            if isinstance(given, str)
            else Template(given, code, folder=kept)
        )
        self._refuse_overruled()
        if not len(self.design.keys):
            self.template.read(changes=file.set)
        self._seeds = file.first_seeds
        self._last: tuple[int, Scenario] | None = None
        points = len(self.design)
        self.costs = np.zeros(points, dtype=np.float32)
        self._digests = np.zeros((points, 32), dtype=np.uint8)
        self._single = self._without_chance(points)
        self._refuse_too_many()
        engine = engine_address().encode()
        options = repr(sorted(self.fluid_options.items())).encode()
        for point in range(points):
            scenario, kind = self.scenario(point), self.engine(point)
            digest = hashlib.sha256(
                engine + kind.encode() + scenario.with_seed(0).to_toml().encode()
            )
            if kind == "fluid":
                digest.update(options)
            self._digests[point] = np.frombuffer(digest.digest(), dtype=np.uint8)
            self.costs[point] = _FLUID_S if kind == "fluid" else estimate_s(scenario)
            if progress is not None and point % 64 == 0:
                progress(point / points)

    def _refuse_overruled(self) -> None:
        """Refuses a key whose values another one, set later, replaces: rows would tell what was not run.

        Raises:
            StudyError: There is one.
        """
        try:
            content: dict[str, Any] = tomllib.loads(self.template.text)
        except ValueError:  # whoever reads the scenario says what is wrong with it
            return
        meant = {key: _places(key, content) for key in (*self.file.set, *self.design.keys)}
        for number, later in enumerate(self.design.keys):
            for key in (*self.file.set, *self.design.keys[:number]):
                varies = key in self.design.keys
                replaced = [any(it[: len(by)] == by for by in meant[later]) for it in meant[key]]
                # Rows tell nothing of what is set: some links may have it, and others what varies.
                if any(replaced) if varies else all(replaced):
                    also = "varies" if varies else "is in `[set]`"
                    message = (
                        f"`{shown(key)}` {also}, but `{shown(later)}` varies too, and replaces it: leave one "
                        "of them out"
                    )
                    raise StudyError(message)

    def _without_chance(self, points: int) -> np.ndarray[Any, Any]:
        """Which points are the same with every seed: fluid models, unless losses in them are drawn."""
        single = self.file.fluid.model != "hybrid"
        if ENGINE not in self.design.keys:
            return np.full(points, single and self.file.engine == "fluid")
        kinds = (single and self.engine(point) == "fluid" for point in range(points))
        return np.fromiter(kinds, dtype=bool, count=points)

    def _refuse_too_many(self) -> None:
        count = int(self.most_seeds().sum())
        if count > MOST_RUNS:
            message = (
                f"{len(self.design):,} points with {len(self._seeds):,} seeds are {count:,} runs, more than "
                f"{MOST_RUNS:,}: fewer seeds, or a `[sample]` of the points, are needed"
            )
            raise StudyError(message)

    @property
    def fluid_options(self) -> dict[str, Any]:
        """How fluid models are solved."""
        fluid = self.file.fluid
        return {
            "model": fluid.model,
            "price": fluid.price,
            "delay": fluid.delay,
            "equilibrium": fluid.equilibrium,
        }

    def engine(self, point: int) -> str:
        """What a point is run with."""
        if ENGINE not in self.design.keys:
            return self.file.engine
        found: str = self.design[point][ENGINE]
        return found

    def scenario(self, point: int) -> Scenario:
        """The scenario of a point, without a seed of its own.

        Raises:
            StudyError: It is wrong.
        """
        if self._last is not None and self._last[0] == point:
            return self._last[1]
        values = self.design[point]
        values.pop(ENGINE, None)
        try:
            scenario = self.template.read(changes={**self.file.set, **values})
        except ScenarioError as error:
            where = describe(self.design.labels(point))
            message = f"{f'at {where}: ' if where else ''}{error}"
            raise StudyError(message) from error
        self._last = point, scenario
        return scenario

    def most_seeds(self) -> np.ndarray[Any, Any]:
        """How many seeds each point may have: a fluid model without chance has one."""
        counts: np.ndarray[Any, Any] = np.where(self._single, 1, len(self._seeds))
        return counts

    def first_counts(self) -> np.ndarray[Any, Any]:
        """How many seeds each point has at the beginning."""
        seeds = self.file.seeds
        count = seeds.least if isinstance(seeds, Until) else len(self._seeds)
        counts: np.ndarray[Any, Any] = np.minimum(self.most_seeds(), count)
        return counts

    def seed(self, place: int) -> int:
        """One of the seeds."""
        return self._seeds[place]

    def name(self, point: int, place: int) -> str:
        """The name of a run."""
        return run_name(self._digests[point].tobytes(), self._seeds[place])

    def batch(self, counts: np.ndarray[Any, Any]) -> Batch:
        """The runs of all points with so many seeds each."""
        points = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        places = (np.arange(len(points)) - first).astype(np.int32)
        ids = np.fromiter(
            (
                id_of(self.name(int(point), int(place)))
                for point, place in zip(points, places, strict=True)
            ),
            dtype=np.uint64,
            count=len(points),
        )
        return Batch(points, places, ids)

    def blocks(self, batch: Batch, size: int) -> Iterator[Batch]:
        """The runs in blocks, for what is too large to be held at once."""
        for first in range(0, len(batch), size):
            yield batch.of(slice(first, first + size))

    def forecast(self, batch: Batch, finished: np.ndarray[Any, Any]) -> Forecast:
        """What the runs take, given which are finished."""
        costs = self.costs[batch.points][~finished]
        numbers = 0
        series = 0.0
        if len(self.design):
            from longfat.scenario import quantities

            given = quantities(self.scenario(0))
            numbers = 18 * len(given.links) + 18 * len(given.groups)
            rows = given.duration_ps / given.sample_ps
            flows = sum(group.count or 0 for group in given.groups.values() if not group.short)
            kept = {"flow_series": flows, "link_series": 2 * len(given.links)}
            series = sum(kept[name] for name in self.file.series) * rows * _SERIES_BYTES
        # Once in parts, once in the table.
        row = 2 * (_RUN_BYTES + numbers * _NUMBER_BYTES) + series
        parts = min(len(batch), 16 + float(costs.sum()) / 10) * _PART_BYTES
        return Forecast(
            points=len(self.design),
            runs=len(batch),
            known=int(finished.sum()),
            seconds=float(costs.sum()),
            longest=float(costs.max(initial=0.0)),
            size=len(batch) * row + parts,
        )

    def content(self) -> dict[str, Any]:
        """The scenario as a dictionary. The files that it names are among `files`."""
        content: dict[str, Any] = tomllib.loads(self.template.text)
        located: dict[str, Any] = located_all(content, self.template.folder)
        return located

    def files(self) -> dict[str, Path]:
        """The traces and lists of flows that the scenario or a setting names, by these names."""
        folder, file = self.template.folder, self.file
        if folder is None:
            return {}
        given = [self.content(), file.set, file.vary, file.zip, file.sample and file.sample.vary]
        names = sorted(set(_named(given)))
        # What is none was refused, unless no point has it.
        return {name: folder / name for name in names if (folder / name).is_file()}


def _named(value: object, key: str = "") -> Iterator[str]:
    """The names of files in plain data: the texts under keys that name some."""
    if isinstance(value, str):
        if key in _NAMING and not {"..", "/"} & set(PurePath(value).parts):
            yield value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _named(entry, name.rpartition(".")[2].strip())
    elif isinstance(value, list):
        for entry in value:
            yield from _named(entry, key)


def _places(key: str, content: dict[str, Any]) -> list[tuple[str, ...]]:
    """What a key sets, whether it names a group of flows by its name, by its number, or all of them by `*`."""
    first, *rest = (part.strip() for part in key.split("."))
    entries = content.get(first)
    if (
        first not in ("link", "flow", "traffic")
        or not rest
        or not isinstance(entries, (dict, list))
    ):
        return [(first, *rest)]
    if isinstance(entries, dict):
        names = known = list(entries)
    else:
        names = [each.get("name") if isinstance(each, dict) else None for each in entries]
        known = [str(place) for place in range(len(entries))]
    which, *field = rest
    if which == "*" and field:
        return [(first, each, *field) for each in known]
    if which in names:
        which = known[names.index(which)]
    return [(first, which, *field)]
