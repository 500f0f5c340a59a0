"""An attack: search, choose, shrink, confirm."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.attack._arena import Arena
from longfat.attack._attack import WORTH, Attack, mean
from longfat.attack._challenge import SUBJECT, Challenge, Ground
from longfat.attack._genome import Genome
from longfat.attack._goals import GOALS
from longfat.attack._search import SEEDS, Found, search
from longfat.attack._shrink import KEPT, shrunk
from longfat.errors import AttackError, MeasureError
from longfat.foreign import shown
from longfat.own import Brought, Code, handle
from longfat.scenario import PICOSECONDS, Changes, check_seed
from longfat.study._comparison import contender
from longfat.study._statistics import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.attack._genome import Bounds

TRIALS = 10_000
"""How many challenges are tried by default."""

CONFIRMATIONS = 10
"""How many fresh seeds confirm what was found, by default."""

_CANDIDATES = 6
"""How many of the best are compared once more before one of them wins."""

_TABLES = ("flow_series", "link_series", "limits")
"""What is kept of the first confirmation: for the picture, and to say why."""

_FEWEST_STEPS = 100
"""How many pairs may be run to make a challenge plain, at least; otherwise as many as there were trials."""


@dataclass(frozen=True)
class _Seeds:
    """Which seeds are for what: none is for two things.

    Attributes:
        search: The first of those of the search.
        confirmations: How many confirm what was found.
    """

    search: int
    confirmations: int

    @property
    def choice(self) -> range:
        """Those that choose among what was found, and by which it is made plain."""
        first = self.search + SEEDS
        return range(first, first + max(self.confirmations // 2, 2))

    @property
    def fresh(self) -> range:
        """Those that confirm it."""
        return range(self.choice.stop, self.choice.stop + self.confirmations)


def find(
    controller: object,
    goal: str,
    *,
    against: object = "cubic",
    rate: str = "20 Mbit/s",
    duration: str = "30 s",
    trials: int = TRIALS,
    seconds: float | None = None,
    seed: int = 1,
    confirmations: int = CONFIRMATIONS,
    bounds: Bounds | None = None,
    set: Changes = (),  # noqa: A002 - the name of the command-line option
    cores: int = 0,
    allow_code: bool = False,
    progress: Callable[[float | None, str], object] | None = None,
) -> Attack:
    """Looks for the path on which a controller fails most, compared with another in its place.

    Args:
        controller: Its name, a table as in a scenario, `{"kind": "fiber", "alpha": 0.01}`, or one of your own.
        goal: The way to fail: `starve`, `underuse`, `queue`, `loss` or `unfair`.
        against: What it is compared with, on the same path with the same seed, so that no path wins that nobody
            could use.
        rate: The largest rate of the link.
        duration: Simulated time of each run, of which the first fifth is left out of averages.
        trials: How many paths are tried.
        seconds: When the search ends at the latest; by default it ends with the trials.
        seed: Of the search and its runs: the same seed finds the same path, whatever the number of cores.
        confirmations: How many fresh seeds confirm what was found; half as many choose and shrink it.
        bounds: Between which values to look.
        set: Fields to set in every scenario, such as `{"link.bottleneck.queue": "codel"}`.
        cores: How many runs at a time; by default one for each core that this process may use.
        allow_code: Let the scenarios name code, which is then loaded and run.
        progress: Told which share is done, 0 to 1 or `None` if that is not known, and what is being done.

    Returns:
        What was found. Ctrl-C ends the search early, and what was found until then is confirmed.

    Raises:
        AttackError: There is no such goal, or a number makes no sense.
        ScenarioError: A controller or a field that is to be set is wrong.
        MeasureError: No trial could be run.
        ImportError: The optimiser is not installed: `pip install longfat[attack]`.
        KeyboardInterrupt: Ctrl-C before anything was found, or while it was confirmed.
    """
    _require_optimiser()
    if goal not in GOALS:
        meant = get_close_matches(goal, GOALS, n=1)
        hint = f"did you mean `{meant[0]}`?" if meant else f"there are {', '.join(GOALS)}"
        message = f"there is no goal `{shown(goal)}`: {hint}"
        raise AttackError(message)
    if trials < 1 or confirmations < 2:  # noqa: PLR2004 - an interval needs two
        message = (
            f"at least 1 trial and 2 confirmations are needed, not {trials} and {confirmations}"
        )
        raise AttackError(message)
    seeds = _Seeds(seed, confirmations)
    check_seed(seed)
    check_seed(seeds.fresh[-1])
    ground = Ground.with_changes(
        _longfat.quantity("rate", rate), _longfat.quantity("time", duration) / PICOSECONDS, set
    )
    (control, own), (other, others) = _control(controller), _control(against)
    code = Code((*own, *others), (), allow_code)
    genome = Genome(ground, bounds)
    told = progress or (lambda _share, _what: None)
    with Arena(ground, GOALS[goal], (control, other), code, cores) as arena:
        arena.check(Challenge(), seed)

        def advanced(tried: int, score: float) -> None:
            told(tried / trials, f"{tried:,} trials, best {score:.3f}")

        found = search(arena, genome, trials=trials, seed=seed, seconds=seconds, progress=advanced)
        if not found.best:
            if found.interrupted:
                raise KeyboardInterrupt
            message = f"none of {found.trials} trials could be run: {found.error}"
            raise MeasureError(message)
        challenge, before = _best(arena, found, seeds.choice)
        if (before.mean or 0.0) >= WORTH:
            told(None, "making it plain")
            budget = max(trials, _FEWEST_STEPS)
            challenge = _plain(arena, challenge, seeds.choice, KEPT * (before.mean or 0.0), budget)
        told(None, "confirming it")
        *runs, outcomes = arena.runs(challenge, seeds.fresh, _TABLES)
    if (error := next((each.error for each in outcomes if each.error), None)) is not None:
        message = f"what was found cannot be confirmed: {error}"
        raise MeasureError(message)
    labels = _label(control), _label(other)
    one, two = (
        contender(label, results, SUBJECT) for label, results in zip(labels, runs, strict=True)
    )
    return Attack(
        controller=labels[0],
        against=labels[1],
        goal=GOALS[goal],
        ground=ground,
        challenge=challenge,
        control=control,
        seed=seed,
        found=found,
        before=before,
        outcomes=tuple(outcomes),
        contenders=(one, two),
    )


def _best(arena: Arena, found: Found, seeds: range) -> tuple[Challenge, Estimate]:
    """The best of what was found, by other seeds than those that found it."""
    candidates = sorted(found.best, key=lambda each: -each[1])[:_CANDIDATES]
    scores = []
    for challenge, _ in candidates:
        pairs = arena.pairs([(challenge, seed) for seed in seeds])
        scores.append(estimate(pair.score for pair in pairs))
    best = max(range(len(candidates)), key=lambda index: scores[index].mean or -1.0)
    return candidates[best][0], scores[best]


def _plain(
    arena: Arena, challenge: Challenge, seeds: range, wanted: float, budget: int
) -> Challenge:
    """The plainest challenge that keeps the wanted score; Ctrl-C keeps what has been reached."""
    spent, reached = 0, challenge

    def keeps(candidate: Challenge) -> bool:
        nonlocal spent, reached
        spent += len(seeds)
        if spent > budget:
            return False
        pairs = arena.pairs([(candidate, seed) for seed in seeds])
        kept = all(each.error is None for each in pairs)
        kept = kept and mean(each.score for each in pairs) >= wanted
        reached = candidate if kept else reached
        return kept

    try:
        return shrunk(challenge, keeps)
    except KeyboardInterrupt:
        return reached


def _control(given: object) -> tuple[object, tuple[Brought, ...]]:
    """A controller as scenarios have it, and what it brings along."""
    if isinstance(given, (str, dict)):
        return given, ()
    brought: Any = given
    return handle(brought, "controller").name, (brought,)


def _label(control: object) -> str:
    """A controller as people read it."""
    if not isinstance(control, dict):
        return str(control)
    chosen = next((control[key] for key in ("kind", "python", "library") if key in control), "")
    others = [
        f"{key} = {value}"
        for key, value in control.items()
        if key not in ("kind", "python", "library")
    ]
    return ", ".join([str(chosen), *others])


def _require_optimiser() -> None:
    try:
        import cma  # noqa: F401 - only whether it is there
    except ImportError as error:
        message = "the search needs cma, which is not installed: pip install 'longfat[attack]'"
        raise ImportError(message) from error
