"""From points to rows: everything that some sweeps ask for, run in one go.

What several points ask for is simulated once, the most expensive first, and each run is measured as soon as it
is there and then dropped: memory holds rows, not runs.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import LabelError, MeasureError
from longfat.foreign import shown
from longfat.own import Code
from longfat.scenario import quantities, read
from longfat.study._cache import Cache
from longfat.study._points import Computation, Measured, Point, Row, Sweep, seeds_of
from longfat.study._runner import Call, Job, Result, Returned, reduce_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from longfat._longfat import Scenario
    from longfat.scenario import Group
    from longfat.study._runner import ProgressCallback

PACKETS_PER_S = 3e6
"""What one core simulates in a second, for estimates: data packets over one link."""

_LEAST_S = 0.01
_KNOWN_S = 0.005


@dataclass(frozen=True)
class Spent:
    """What some simulations cost; computations do not count.

    Attributes:
        runs: How many simulations.
        known: How many of them were in the cache.
        data_packets: Data packets that reached receivers in them.
        core_s: What they took when they were run, in seconds of one core.
    """

    runs: int = 0
    known: int = 0
    data_packets: int = 0
    core_s: float = 0.0

    @classmethod
    def on(cls, result: Result | Returned) -> Spent:
        """What one result cost."""
        if isinstance(result, Returned) or result.summary is None:
            return cls()
        engine = result.summary["engine"]
        return cls(1, int(result.cached), engine["data_packets"], engine["wall_s"])

    def __add__(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(
            self.runs + other.runs,
            self.known + other.known,
            self.data_packets + other.data_packets,
            self.core_s + other.core_s,
        )


@dataclass(frozen=True)
class Rows:
    """What was measured in a sweep.

    Attributes:
        frame: One row per point and seed, or several: labels, `seed`, measured columns; in the order of the
            points.
        labels: The names of the labels.
        spent: What its simulations cost; one shared by several sweeps counts in each.
    """

    frame: pl.DataFrame
    labels: tuple[str, ...]
    spent: Spent


class Plan:
    """Everything some sweeps need, each job only once.

    Example::

        plan = Plan(sweeps)
        print(plan.runs, plan.seconds)
        for sweep, rows in zip(sweeps, plan.run(), strict=True):
            print(sweep.name, rows.frame)
    """

    def __init__(
        self, sweeps: Sequence[Sweep], *, cache: Cache | None = None, fresh: bool = False
    ) -> None:
        """Reads and checks every scenario; nothing runs yet.

        Raises:
            ScenarioError: A scenario is wrong.
            OSError: A scenario file cannot be read.
            LabelError: The points of a sweep have different labels.
        """
        self._sweeps = sweeps
        self._cache = Cache() if cache is None else cache
        self._fresh = fresh
        self._jobs: dict[object, Job | Call] = {}
        self._seconds: dict[object, float] = {}
        self._uses: dict[object, list[_Use]] = {}
        self.spent = Spent()
        """What all simulations cost, each counted once; known after `run`."""
        for index, sweep in enumerate(sweeps):
            _check_labels(sweep)
            for place, point in enumerate(sweep.points):
                self._add(_Use(index, place, None), sweep, point)

    def _add(self, use: _Use, sweep: Sweep, point: Point | Computation) -> None:
        if isinstance(point, Computation):
            for seed in [None] if point.seeds is None else seeds_of(point.seeds):
                arguments = dict(point.arguments) | ({} if seed is None else {"seed": seed})
                key = object()
                self._jobs[key] = Call(point.function, arguments)
                self._seconds[key] = point.seconds
                self._uses[key] = [use.with_seed(seed)]
            return
        source = point.scenario
        path = source if isinstance(source, Mapping) else sweep.folder / source
        code = Code(tuple(point.controllers), tuple(point.queues), point.allow_code)
        scenario, _ = read(path, changes=point.set, code=code)
        seconds = estimate_s(scenario)
        unseeded = scenario.with_seed(0).to_toml()  # the seeds of a point differ in nothing else
        for seed in seeds_of(point.seeds):
            seeded = scenario.with_seed(seed)
            key = (unseeded, seed)
            known = self._jobs.get(key)
            tables = known.tables if isinstance(known, Job) else ()
            self._jobs[key] = Job(seeded, None, tuple(dict.fromkeys((*tables, *point.tables))))
            self._seconds[key] = seconds
            self._uses.setdefault(key, []).append(use.with_seed(seed))

    @property
    def runs(self) -> int:
        """How many simulations and computations there are."""
        return len(self._jobs)

    @cached_property
    def known(self) -> int:
        """How many simulations are in the cache."""
        return sum(map(self._is_known, self._jobs.values()))

    @cached_property
    def _costs(self) -> list[float]:
        """About how long each job takes on one core, in seconds."""
        return [
            _KNOWN_S if self._is_known(job) else self._seconds[key]
            for key, job in self._jobs.items()
        ]

    @property
    def sizes(self) -> dict[str, int]:
        """How many points each sweep has."""
        return {sweep.name: len(sweep.points) for sweep in self._sweeps}

    @property
    def longest(self) -> float:
        """About how long the longest job takes, in seconds."""
        return max(self._costs, default=0.0)

    @property
    def seconds(self) -> float:
        """About how long everything takes on one core, without what is in the cache, in seconds."""
        return sum(self._costs)

    def _is_known(self, job: Job | Call) -> bool:
        return not (self._fresh or isinstance(job, Call)) and self._cache.knows(
            job.scenario, job.tables
        )

    def run(
        self, *, workers: int | None = None, progress: ProgressCallback | None = None
    ) -> list[Rows]:
        """Runs and measures everything.

        Args:
            workers: How many runs at a time; by default one per core.
            progress: Told how far it has come, weighted by the cost of the runs.

        Returns:
            The rows of each sweep, in order.

        Raises:
            MeasureError: A run failed or could not be measured, or the rows make no table. Finished runs are in
                the cache.
            KeyboardInterrupt: Ctrl-C.
        """
        keys = list(self._jobs)

        def reduce(index: int, result: Result | Returned) -> list[tuple[_Use, list[Row], Spent]]:
            uses, spent = self._uses[keys[index]], Spent.on(result)
            # A measure may change what it is given; the last one may have the original.
            each = [*(_copy(result) for _ in uses[1:]), result]
            return [
                (use, self._measure(use, it), spent) for use, it in zip(uses, each, strict=True)
            ]

        collected: list[list[tuple[_Use, list[Row], Spent]]] = [[] for _ in self._sweeps]
        for _, parts in reduce_many(
            [self._jobs[key] for key in keys],
            reduce,
            costs=self._costs,
            workers=workers,
            cache=self._cache,
            fresh=self._fresh,
            progress=progress,
        ):
            self.spent += parts[0][2]
            for part in parts:
                collected[part[0].sweep].append(part)
        return [_rows(sweep, parts) for sweep, parts in zip(self._sweeps, collected, strict=True)]

    def _measure(self, use: _Use, result: Result | Returned) -> list[Row]:
        sweep = self._sweeps[use.sweep]
        labels = sweep.points[use.point].labels
        where = ", ".join(f"{name} = {value}" for name, value in labels.items())
        seed = "" if use.seed is None else f", seed {use.seed}"
        if result.error is not None:
            message = f"{sweep.name}, {where}{seed}: {result.error}"
            raise MeasureError(message)
        run = (
            Measured(labels, use.seed, {}, result.value)
            if isinstance(result, Returned)
            else Measured(
                labels, use.seed, result.summary or {}, None, result.scenario, result.tables
            )
        )
        try:
            made = sweep.measure(run)
            rows = [made] if isinstance(made, Mapping) else list(made)
            taken = {"seed", *labels}
            if clash := sorted(name for row in rows for name in row if name in taken):
                message = f"`{clash[0]}` is measured, but it is already a label"
                raise ValueError(message)  # noqa: TRY301 - told with its place below
        except Exception as error:
            place = _place(error, sweep.measure)
            message = (
                f"{sweep.name}, {where}{seed}: it cannot be measured: "
                f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
            )
            raise MeasureError(message) from error
        return [{**labels, "seed": use.seed, **row} for row in rows]


def run_points(
    points: Iterable[Point | Computation],
    measure: Callable[[Measured], Row | list[Row]],
    *,
    folder: str | Path = ".",
    workers: int | None = None,
    cache: Cache | None = None,
    fresh: bool = False,
    progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Simulates points, and measures a row of each run.

    Args:
        points: What to run.
        measure: Turns one finished run into a row, or several; labels and seed are added.
        folder: What paths of scenarios are relative to.
        workers: How many runs at a time; by default one per core.
        cache: Where finished runs are kept.
        fresh: Simulate everything, even what is cached.
        progress: Told how far it has come.

    Returns:
        Labels, `seed` and measured columns, in the order of the points.

    Raises:
        ScenarioError: A scenario is wrong.
        LabelError: The points have different labels.
        MeasureError: A run failed or could not be measured.
        KeyboardInterrupt: Ctrl-C.
    """
    sweep = Sweep("points", list(points), measure, Path(folder))
    (rows,) = Plan([sweep], cache=cache, fresh=fresh).run(workers=workers, progress=progress)
    return rows.frame


def _copy(result: Result | Returned) -> Result | Returned:
    """A result whose averages are its own."""
    if isinstance(result, Returned):
        return result
    return replace(result, summary=deepcopy(result.summary))


@dataclass(frozen=True)
class _Use:
    """Who wants a job: the index of a sweep, the index of its point, the seed."""

    sweep: int
    point: int
    seed: int | None

    def with_seed(self, seed: int | None) -> _Use:
        return _Use(self.sweep, self.point, seed)


def _place(error: Exception, function: Callable[..., object]) -> traceback.FrameSummary:
    """Where an error arose, within the file of `function` if possible: that is where its author looks."""
    frames = traceback.extract_tb(error.__traceback__)
    code = getattr(function, "__code__", None)
    own = [frame for frame in frames if code and frame.filename == code.co_filename]
    return (own or frames)[-1]


def estimate_s(scenario: Scenario) -> float:
    """About how long a simulation takes on one core, in seconds.

    As if every direction that data cross were full; or, where only a counted number of short flows cross,
    carried no more than theirs. No more packets cross either than the engine expects to be sent, which knows of
    windows that random losses keep small, times the links on the longest path.
    """
    given = quantities(scenario)
    packets: dict[tuple[str, bool], int] = {}
    offered: dict[tuple[str, bool], float] = {}
    for group in given.groups.values():
        size = group.packet_bytes
        for crossed in group.crossed.items():
            packets[crossed] = min(size, packets.get(crossed, size))
            offered[crossed] = offered.get(crossed, 0.0) + _offered(group)
    total = 0.0
    for (name, backwards), size in packets.items():
        direction = given.links[name].direction(backwards=backwards)
        full = direction.capacity_bit_s * scenario.duration_s / (8 * size)
        total += min(full, offered[name, backwards])
    sent = float(scenario.estimate(record=False)["packets"])
    longest = max((len(group.path) for group in given.groups.values()), default=1)
    return max(_LEAST_S, min(total, longest * sent) / PACKETS_PER_S)


def _offered(group: Group) -> float:
    """The packets of a counted number of short flows; otherwise infinite."""
    if not group.short or group.count is None or group.size_bytes is None:
        return math.inf
    return group.count * group.size_bytes / group.packet_bytes


def _rows(sweep: Sweep, parts: list[tuple[_Use, list[Row], Spent]]) -> Rows:
    import polars as pl

    parts.sort(key=lambda part: (part[0].point, part[0].seed or 0))
    rows = [row for _, made, _ in parts for row in made]
    labels = tuple(sweep.points[0].labels) if sweep.points else ()
    try:
        frame = pl.DataFrame(rows, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError) as error:
        message = f"{sweep.name}: {_unlike(rows)}make no column of a table: {error}"
        raise MeasureError(message) from error
    return Rows(
        frame=frame,
        labels=labels,
        spent=sum((spent for _, _, spent in parts), Spent()),
    )


def _unlike(rows: Sequence[Row]) -> str:
    """The first column with values of different kinds, and two of them."""
    for name in dict.fromkeys(name for row in rows for name in row):
        kinds = {type(row[name]): row[name] for row in rows if row.get(name) is not None}
        if len(kinds) > 1 and not set(kinds) <= {int, float, bool}:
            one, other, *_ = (shown(repr(value)[:40]) for value in kinds.values())
            return f"{one} and {other}, values of `{shown(name)}`, "
    return "the values "


def _check_labels(sweep: Sweep) -> None:
    names = [tuple(point.labels) for point in sweep.points]
    for other in names:
        if set(other) != set(names[0]):
            message = (
                f"{sweep.name}: all points must have the same labels, "
                f"but some have {', '.join(names[0])} and some {', '.join(other)}"
            )
            raise LabelError(message)
