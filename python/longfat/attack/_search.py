"""The search: random challenges, then CMA-ES from the best of them, again and again.

CMA-ES (N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016) is for landscapes like these: rugged, without
gradients, with coordinates that depend on one another. A descent that has come to rest is followed by another
one from elsewhere, with twice the candidates in each generation (A. Auger and N. Hansen, "A Restart CMA
Evolution Strategy With Increasing Population Size", CEC 2005).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from longfat.attack._arena import Arena
    from longfat.attack._challenge import Challenge
    from longfat.attack._genome import Genome

_RANDOM = 0.1
"""The share of the trials that are random."""

_FEWEST_RANDOM = 24
_SPREAD = 0.2
"""The standard deviation of the first generation, in a cube of length 1."""

_APART = 0.2
"""How far a new descent begins from where others began, as a share of the diagonal of the cube."""

SEEDS = 3
"""How many seeds a record is measured with, from that of the search on."""

_ROUND = 16
"""How many random challenges are tried between two looks at the clock."""

_FAILED = 2.0
"""What the optimiser is told of a run that failed: worse than any other."""


@dataclass
class Found:
    """What a search has found so far.

    Attributes:
        trials: How many challenges were tried.
        failed: How many of them could not be run.
        error: The first reason.
        course: The trials at which the best score rose, and to what.
        best: The best challenge of the random ones and of each descent, with its score: a mean over seeds.
        interrupted: Whether Ctrl-C ended it.
    """

    trials: int = 0
    failed: int = 0
    error: str | None = None
    course: list[tuple[int, float]] = field(default_factory=list)
    best: list[tuple[Challenge, float]] = field(default_factory=list)
    interrupted: bool = False

    @property
    def score(self) -> float:
        """The best score."""
        return self.course[-1][1] if self.course else -1.0

    def add(self, challenge: Challenge, score: float, error: str | None) -> None:
        """Counts a trial of the descent that was begun last."""
        self.trials += 1
        if error is not None:
            self.failed += 1
            self.error = self.error or error
            return
        if score > self.score:
            self.course.append((self.trials, score))
        if score > self.best[-1][1]:
            self.best[-1] = challenge, score


def search(
    arena: Arena,
    genome: Genome,
    *,
    trials: int,
    seed: int,
    seconds: float | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> Found:
    """Looks for the challenge with the largest score.

    The same arguments give the same trials, whatever the number of cores, unless the clock ends the search.

    Args:
        arena: Where challenges are tried.
        genome: What challenges there are.
        trials: How many are tried at most.
        seed: The seed of the search and of its runs; records are also run with the next ones.
        seconds: When to stop at the latest.
        progress: Told the number of trials and the best score.

    Returns:
        What was found; Ctrl-C ends the search early, and what was found until then stays.
    """
    found = Found()
    ends = None if seconds is None else time.monotonic() + seconds
    steps = _steps(arena, genome, found, trials, seed)
    try:
        for _ in steps:
            if progress is not None:
                progress(found.trials, found.score)
            if ends is not None and time.monotonic() >= ends:
                break
    except KeyboardInterrupt:
        found.interrupted = True
    found.best = [each for each in found.best if each[1] > -1.0]
    return found


def _steps(arena: Arena, genome: Genome, found: Found, trials: int, seed: int) -> Iterator[None]:
    """Makes the trials, a few at a time."""
    chance = np.random.default_rng(seed)
    nowhere = genome.challenge([0.0] * genome.size)

    def tried(points: NDArray[np.float64]) -> list[float]:
        challenges = [genome.challenge(point) for point in points.tolist()]
        scores = []
        for challenge, pair in zip(challenges, arena.scores(challenges, seed), strict=True):
            score, error = pair.score, pair.error
            if error is None and score > found.best[-1][1]:
                # Of thousands some are lucky with their seed: a record counts by the mean of several.
                again = arena.pairs([(challenge, seed + more) for more in range(1, SEEDS)])
                error = next((each.error for each in again if each.error is not None), None)
                score = sum((each.score for each in again), score) / SEEDS
            found.add(challenge, score, error)
            scores.append(_FAILED if error is not None else -score)
        return scores

    found.best.append((nowhere, -1.0))
    wanted = min(max(int(_RANDOM * trials), _FEWEST_RANDOM), trials)
    points, losses = np.empty((0, genome.size)), np.empty(0)
    while found.trials < wanted:
        some = chance.random((min(_ROUND, wanted - found.trials), genome.size))
        losses = np.append(losses, tried(some))
        points = np.concatenate([points, some])
        yield
    begun: list[NDArray[np.float64]] = []
    while found.trials < trials:
        found.best.append((nowhere, -1.0))
        begun.append(_beginning(points, losses, begun))
        descent = _descent(begun[-1], len(begun), chance)
        while found.trials < trials and not descent.stop():
            candidates = np.asarray(descent.ask())[: trials - found.trials]
            outcome = tried(candidates)
            if len(candidates) == descent.popsize:
                descent.tell(list(candidates), outcome)
            yield


def _beginning(
    points: NDArray[np.float64], losses: NDArray[np.float64], begun: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The best random point that is not near the beginning of an earlier descent."""
    apart = _APART * np.sqrt(points.shape[1])
    order: list[NDArray[np.float64]] = [
        points[index] for index in np.argsort(losses, kind="stable")
    ]
    far = [point for point in order if all(np.linalg.norm(point - each) > apart for each in begun)]
    return far[0] if far else order[len(begun) % len(order)]


def _descent(start: NDArray[np.float64], number: int, chance: np.random.Generator) -> Any:  # noqa: ANN401
    """The CMA-ES of the n-th descent."""
    import cma

    few = 4 + int(3 * np.log(len(start)))
    settings = {
        "bounds": [0.0, 1.0],
        "popsize": few * 2 ** min(number - 1, 4),
        # Neither the numbers that others draw, nor files: everything stays here.
        "randn": lambda *shape: chance.standard_normal(shape),
        "seed": float("nan"),
        "signals_filename": "",
        "verb_log": 0,
        "verbose": -9,
        # Scores beyond the third digit tell nothing.
        "tolfun": 1e-3,
        "tolfunhist": 1e-3,
        "tolx": 1e-3,
    }
    return cma.CMAEvolutionStrategy(start, _SPREAD, settings)
