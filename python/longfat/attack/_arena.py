"""Runs in pairs: the controller and the one it is measured against, on the same path with the same seed."""

from __future__ import annotations

from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longfat.attack._challenge import LINK, SUBJECT
from longfat.errors import Cancelled, ScenarioError
from longfat.scenario import Template, made_here, quantities
from longfat.study._runner import Job, Result, Simulator, usable_cores
from longfat.study._threads import SimulationThreads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from longfat.attack._challenge import Challenge, Ground
    from longfat.attack._goals import Goal
    from longfat.own import Code

_LOOK_S = 0.1


@dataclass(frozen=True)
class Pair:
    """What came out of a path for both.

    Attributes:
        seed: The seed of both runs.
        subject: The number of the controller.
        against: The number of the one it is measured against.
        score: By how much worse the controller did: the difference of how bad both numbers are, -1 to 1.
        error: What went wrong, if something did; the numbers then mean nothing.
    """

    seed: int
    subject: float = 0.0
    against: float = 0.0
    score: float = -1.0
    error: str | None = None


@dataclass
class Arena:
    """Where challenges are tried, several at a time.

    Attributes:
        ground: What all challenges have in common.
        goal: What is measured.
        controls: The controller and the one it is measured against, as scenarios have them.
        code: What they may be beyond those of longfat.
        cores: How many runs at a time; 0 for one per core that this process may use.
    """

    ground: Ground
    goal: Goal
    controls: tuple[object, object]
    code: Code
    cores: int = 0
    _known: dict[tuple[Challenge, int], Pair] = field(default_factory=dict, init=False)

    def __enter__(self) -> Self:
        """Starts the threads."""
        self._open()
        return self

    def _open(self) -> None:
        self._simulator = Simulator(None)
        self._pool = SimulationThreads(self.cores or usable_cores())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops what is running."""
        self._pool.stop(self._simulator.cancellation)

    def pairs(self, asked: Sequence[tuple[Challenge, int]]) -> list[Pair]:
        """The outcomes of challenges, each with a seed, in order. What is known already is not run again.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was asked for is stopped, and others can be asked for.
        """
        new = [each for each in dict.fromkeys(asked) if each not in self._known]
        futures = [self._pool.submit(self._pair, *each) for each in new]
        try:
            while wait(futures, timeout=_LOOK_S).not_done:
                pass
        except BaseException:
            self._pool.stop(self._simulator.cancellation)
            self._open()
            raise
        for each, future in zip(new, futures, strict=True):
            self._known[each] = future.result()
        return [self._known[each] for each in asked]

    def scores(self, challenges: Iterable[Challenge], seed: int) -> list[Pair]:
        """The outcomes of several challenges with one seed."""
        return self.pairs([(each, seed) for each in challenges])

    def runs(
        self, challenge: Challenge, seeds: Sequence[int], tables: tuple[str, ...]
    ) -> tuple[list[Result], list[Result], list[Pair]]:
        """The runs of the controller and of the other, one for each seed, the first with its tables.

        Returns:
            The runs of both, and what came out.
        """
        jobs = [
            Job(self._read(challenge, control, seed), None, tables if seed == seeds[0] else ())
            for control in self.controls
            for seed in seeds
        ]
        done = list(self._pool.map(self._simulator.run, jobs))
        subject, against = done[: len(seeds)], done[len(seeds) :]
        pairs = [
            self._outcome(seed, one, other)
            for seed, one, other in zip(seeds, subject, against, strict=True)
        ]
        return subject, against, pairs

    def check(self, challenge: Challenge, seed: int) -> None:
        """Reads both scenarios of a challenge.

        Raises:
            ScenarioError: One of them is wrong: the controller needs something, or a field was set to nonsense.
        """
        try:
            for control in self.controls:
                self._read(challenge, control, seed)
        except ScenarioError as error:
            message = (
                f"{made_here(error)}\n\nevery scenario of the search needs it: "
                f"set flow.{SUBJECT}.KEY or link.{LINK}.KEY, with `set` or --set"
            )
            raise ScenarioError(message) from error

    def _read(self, challenge: Challenge, control: object, seed: int) -> Any:  # noqa: ANN401 - a scenario
        return Template(self.ground.text(challenge, control, seed), self.code).read()

    def _pair(self, challenge: Challenge, seed: int) -> Pair:
        results = []
        for control in self.controls:
            try:
                results.append(self._simulator.run(Job(self._read(challenge, control, seed))))
            except ScenarioError as error:
                return Pair(seed, error=str(error))
            except Cancelled:
                return Pair(seed, error="interrupted")
            if results[-1].error is not None:
                break
        return self._outcome(seed, *results)

    def _outcome(self, seed: int, *results: Result) -> Pair:
        """What came out of the runs of both; of one alone if it failed."""
        numbers = []
        for result in results:
            if result.summary is None:
                return Pair(seed, error=result.error)
            link = next(iter(quantities(result.scenario).links.values()))
            numbers.append(self.goal.measure(result.summary, link.forward.capacity_bit_s))
        subject, against = numbers
        score = self.goal.badness(subject) - self.goal.badness(against)
        return Pair(seed, subject, against, score)
