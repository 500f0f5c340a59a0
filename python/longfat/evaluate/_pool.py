"""All runs of an evaluation as one pool: what several cells ask for is simulated once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longfat.evaluate.cells._cell import Scene, Solved
from longfat.foreign import shown
from longfat.study import Call, Job, Measured, Returned, Spent, reduce_many
from longfat.study._cache import Cache
from longfat.study._plan import estimate_s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat._longfat import Scenario
    from longfat.evaluate._contender import Contender
    from longfat.evaluate.cells._cell import Chart, Line, Row
    from longfat.study import ProgressCallback, Result

_SOLVED_S = 0.2
_KNOWN_S = 0.005
_NO_EQUATIONS = "FluidError: "


@dataclass
class Outcome:
    """What became of one simulation, as one cell sees it.

    Attributes:
        row: What was measured.
        lines: What each chart draws.
        error: What went wrong.
        refused: Whether it only says that the fluid model has no equations for this controller.
        spent: What the simulation cost.
    """

    row: Row = field(default_factory=dict)
    lines: list[Mapping[str, Line]] = field(default_factory=list)
    error: str | None = None
    refused: bool = False
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True)
class Use:
    """Who asks for a simulation: a cell, a contender of it, a scene, a seed."""

    cell: str
    contender: int
    scene: str
    seed: int


@dataclass
class Pool:
    """Simulations, each only once, and who asks for them.

    Attributes:
        cache: Where finished runs are kept.
    """

    cache: Cache = field(default_factory=Cache)
    _jobs: dict[object, Job | Call] = field(default_factory=dict)
    _costs: dict[object, float] = field(default_factory=dict)
    _last: tuple[Scenario, str, float] | None = None
    _uses: dict[object, list[tuple[Use, Scene | Solved, Sequence[Chart]]]] = field(
        default_factory=dict
    )

    def add(self, use: Use, scene: Scene, scenario: Scenario, charts: Sequence[Chart]) -> None:
        """Asks for a simulation; with charts, also for what they draw."""
        if self._last is None or self._last[0] is not scenario:
            self._last = scenario, scenario.with_seed(0).to_toml(), estimate_s(scenario)
        _, unseeded, seconds = self._last  # seeds come one after another, and only they differ
        seeded = scenario.with_seed(use.seed)
        key = (unseeded, use.seed)
        known = self._jobs.get(key)
        tables = known.tables if isinstance(known, Job) else ()
        self._jobs[key] = Job(seeded, None, tuple(dict.fromkeys((*tables, *scene.tables))))
        self._costs[key] = seconds
        self._uses.setdefault(key, []).append((use, scene, charts))

    def solve(self, use: Use, scene: Solved, contender: Contender) -> None:
        """Asks the fluid model."""
        code = contender.code
        arguments = {
            "scenario": contender.placed(scene.scenario),
            "controllers": code.controllers,
            "allow_code": code.allowed,
        }
        key = object()
        self._jobs[key] = Call(scene.solve, arguments)
        self._costs[key] = _SOLVED_S
        self._uses[key] = [(use, scene, ())]

    @property
    def runs(self) -> int:
        """How many simulations there are."""
        return sum(isinstance(job, Job) for job in self._jobs.values())

    @property
    def known(self) -> int:
        """How many of them are in the cache."""
        return sum(self._is_known(job) for job in self._jobs.values())

    def _is_known(self, job: Job | Call) -> bool:
        return isinstance(job, Job) and self.cache.knows(job.scenario, job.tables)

    def missing(self) -> list[float]:
        """About what each job takes that is not in the cache, in seconds of one core."""
        return [self._costs[key] for key, job in self._jobs.items() if not self._is_known(job)]

    def costs(self) -> dict[Use, float]:
        """About what each use takes, in seconds of one core."""
        return {use: self._costs[key] for key, uses in self._uses.items() for use, _, _ in uses}

    def run(
        self, *, workers: int | None = None, progress: ProgressCallback | None = None
    ) -> tuple[dict[Use, Outcome], Spent]:
        """Runs everything.

        Returns:
            What became of each use, and what all simulations cost, each counted once.

        Raises:
            KeyboardInterrupt: Ctrl-C. What is finished is in the cache.
        """
        keys = list(self._jobs)
        costs = [_KNOWN_S if self._is_known(self._jobs[key]) else self._costs[key] for key in keys]

        def reduce(
            index: int, result: Result | Returned
        ) -> tuple[Spent, list[tuple[Use, Outcome]]]:
            spent = Spent.on(result)
            uses = self._uses[keys[index]]
            return spent, [
                (use, _outcome(result, scene, charts, spent)) for use, scene, charts in uses
            ]

        found: dict[Use, Outcome] = {}
        spent = Spent()
        for _, (cost, parts) in reduce_many(
            [self._jobs[key] for key in keys],
            reduce,
            costs=costs,
            workers=workers,
            cache=self.cache,
            progress=progress,
        ):
            spent += cost
            found |= dict(parts)
        return found, spent


def _outcome(
    result: Result | Returned, scene: Scene | Solved, charts: Sequence[Chart], spent: Spent
) -> Outcome:
    if result.error is not None:
        told = result.error.removeprefix(_NO_EQUATIONS)
        if told != result.error:  # the first sentence says why, the second what there is
            return Outcome(error=told.partition(". ")[0], refused=True, spent=spent)
        return Outcome(error=told, spent=spent)
    if isinstance(result, Returned):
        row: Any = result.value
        return Outcome(row, spent=spent)
    assert isinstance(scene, Scene)  # noqa: S101 - a simulation is asked for by nothing else
    run = Measured(
        {}, result.scenario.seed, result.summary or {}, None, result.scenario, result.tables
    )
    try:
        return Outcome(scene.measure(run), [chart.lines(run) for chart in charts], spent=spent)
    except Exception as error:  # noqa: BLE001 - a run that cannot be measured must not lose the others
        return Outcome(error=f"it cannot be measured: {type(error).__name__}: {shown(str(error))}")
