"""Which controller, buffer and number of streams for a path: measured, not looked up.

Three things are simulated for each choice, over several seeds:

    steady     its streams alone, long: how much of the link they use, and how long packets wait
    transfer   a file in as many parts: how long it takes, slow start included
    beside     the streams and one flow that was there before: what is left to that one

Of many choices a first look, one seed each, leaves those that might be advised: the best of each controller,
and those that no other beats both in utilisation and in delay.

What is left to the other flow is compared with what it would have beside as many streams of its own controller,
as R. Ware, M. Mukerjee, S. Seshan and J. Sherry propose ("Beyond Jain's Fairness Index: Setting the Bar For The
Deployment of Congestion Control Algorithms", HotNets 2019): no more is asked of a controller than of the one in
use.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from longfat._longfat import Scenario
from longfat.own import NOTHING, Code
from longfat.study._compared import with_interval
from longfat.study._comparison import full_buffer_s
from longfat.study._points import seeds_of
from longfat.study._question import KINDS, TOO_LONG, Choice, Question
from longfat.study._runner import Job, run_many, usable_cores
from longfat.study._setup import GROUP, LINK, ORIGIN, OTHER, label_of
from longfat.study._statistics import Estimate, estimate
from longfat.units import SHARE, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.study._cache import Cache
    from longfat.study._runner import ProgressCallback, Result

ENOUGH = 0.95
"""A choice is busy enough with this share of the best utilisation."""
KEPT = 0.5
"""A choice is gentle enough if the other flow keeps this share of what it would have beside its like."""


@dataclass(frozen=True)
class Advised:
    """A choice, and what was measured of it.

    Attributes:
        choice: What was chosen.
        numbers: `utilisation` (0 to 1), `goodput_bit_s`, `queue_mean_s` and `queue_p99_s` (what the queue adds
            to the round trip, in seconds), `drop_rate`, `jain`, `transfer_s`, and `kept`: what the other flow
            has, as a share of what it has beside as many flows of its own controller.
        unfinished: How many transfers did not end in time.
    """

    choice: Choice
    numbers: dict[str, Estimate]
    unfinished: int = 0

    @property
    def control(self) -> str:
        """The controller as people read it."""
        return label_of(self.choice.control)

    @property
    def streams(self) -> int:
        """How many flows share the work."""
        return self.choice.streams

    @property
    def buffer(self) -> str:
        """What the queue of the link may hold."""
        return self.choice.buffer

    @property
    def utilisation(self) -> tuple[float | None, float | None]:
        """The mean, 0 to 1, and half of its interval."""
        return self._pair("utilisation")

    @property
    def delay_s(self) -> tuple[float | None, float | None]:
        """What the queue adds on average, in seconds, and half of its interval."""
        return self._pair("queue_mean_s")

    def _pair(self, name: str) -> tuple[float | None, float | None]:
        return self.numbers[name].mean, self.numbers[name].half_width

    def mean(self, name: str) -> float | None:
        """The mean of a number, if there is one."""
        return self.numbers[name].mean if name in self.numbers else None

    def row(self) -> dict[str, Any]:
        """The numbers as plain data."""
        told = {name: asdict(value) for name, value in self.numbers.items()}
        return {**self.choice._asdict(), **told, "unfinished": self.unfinished}


@dataclass(frozen=True)
class Advice:
    """What was found: a look at all choices, the ones looked at closely, and which of them to take.

    Attributes:
        question: What was asked.
        looked: Every choice after one seed.
        closely: Those that might be advised, over all seeds.
        picks: The choice to take by aim: `advised`, `fastest`, `least delay`, `gentlest`.
        doubts: What the numbers cannot say.
    """

    question: Question
    looked: tuple[Advised, ...]
    closely: tuple[Advised, ...]
    picks: dict[str, Advised]
    doubts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        asked = asdict(self.question)
        asked["choices"] = [choice._asdict() for choice in self.question.choices]
        return {
            "question": asked,
            "advice": {aim: pick.choice._asdict() for aim, pick in self.picks.items()},
            "closely": [each.row() for each in self.closely],
            "looked": [each.row() for each in self.looked],
            "doubts": list(self.doubts),
        }


def scenario_of(text: str, code: Code) -> Scenario:
    """The checked scenario of a text.

    Raises:
        ScenarioError: Something in the question is wrong.
    """
    return Scenario.parse(text, ORIGIN, own=code.handles(), code=code.fetcher(None))


def cost_s(question: Question, code: Code = NOTHING) -> float:
    """At most about how many seconds of this machine an answer takes.

    Raises:
        ScenarioError: Something in the question is wrong.
    """
    looks = [_cost(question.steady(choice), code) for choice in question.choices]
    close = sorted(
        sum(_cost(getattr(question, kind)(choice), code) for kind in KINDS)
        for choice in question.choices
    )[-question.most :]
    return (sum(looks) + 2 * question.seeds * sum(close)) / usable_cores()


def _cost(text: str, code: Code) -> float:
    return float(scenario_of(text, code).estimate(record=False)["seconds"])


def advise(
    question: Question,
    *,
    cache: Cache | None = None,
    progress: ProgressCallback | None = None,
    code: Code = NOTHING,
) -> Advice:
    """Simulates the choices and says which to take.

    Args:
        question: The path, and what can be chosen.
        cache: Where finished runs are kept; the default cache if not given.
        progress: Told how far the runs have come, of the first look and then of the closer one.
        code: What controllers and the queue may be beyond those of longfat.

    Raises:
        ScenarioError: Something in the question is wrong; nothing has been run.
        ValueError: A run failed; the message says which.
    """
    looked = _steady(question, question.choices, [1], cache, progress, code)
    chosen = _promising(looked, question)
    seeds = seeds_of(question.seeds)
    likes = list(dict.fromkeys(question.like(choice) for choice in chosen))
    jobs = {
        ("steady", choice, seed): question.steady(choice) for choice in chosen for seed in seeds
    }
    jobs |= {("transfer", c, seed): question.transfer(c) for c in chosen for seed in seeds}
    both = list(dict.fromkeys([*chosen, *likes]))
    jobs |= {("beside", choice, seed): question.beside(choice) for choice in both for seed in seeds}
    found = _ran(jobs, cache, progress, code)
    closely = tuple(_closely(question, choice, seeds, found) for choice in chosen)
    picks, doubts = _picked(closely, question)
    return Advice(question, tuple(looked), closely, picks, tuple(doubts))


Key = tuple[str, Choice, int]


def _ran(
    texts: dict[Key, str], cache: Cache | None, progress: ProgressCallback | None, code: Code
) -> dict[Key, Result]:
    """The results of scenarios.

    Raises:
        ValueError: One failed.
    """
    scenarios = {text: scenario_of(text, code) for text in dict.fromkeys(texts.values())}
    jobs = [Job(scenarios[text], seed) for (_, _, seed), text in texts.items()]
    found = dict(zip(texts, run_many(jobs, cache=cache, progress=progress), strict=True))
    for (kind, choice, seed), result in found.items():
        if result.error is not None:
            message = f"{kind} of {choice.label}, seed {seed}: {result.error}"
            raise ValueError(message)
    return found


def _steady(  # noqa: PLR0917 - of this module
    question: Question,
    choices: Sequence[Choice],
    seeds: Sequence[int],
    cache: Cache | None,
    progress: ProgressCallback | None,
    code: Code,
) -> list[Advised]:
    jobs: dict[Key, str] = {
        ("steady", choice, seed): question.steady(choice) for choice in choices for seed in seeds
    }
    found = _ran(jobs, cache, progress, code)
    return [
        Advised(choice, _of_steady([found["steady", choice, seed] for seed in seeds]))
        for choice in choices
    ]


def _of_steady(results: Sequence[Result]) -> dict[str, Estimate]:
    summaries = [result.summary or {} for result in results]
    links = [summary["links"][LINK]["forward"] for summary in summaries]
    full = full_buffer_s(results[0], GROUP)

    def waiting(key: str) -> Estimate:
        return estimate(None if full is None else full * link[key] for link in links)

    return {
        "utilisation": estimate(link["utilisation"] for link in links),
        "goodput_bit_s": estimate(_goodput(summary, GROUP) for summary in summaries),
        "queue_mean_s": waiting("queue_mean"),
        "queue_p99_s": waiting("queue_p99"),
        "drop_rate": estimate(link["drop_rate"] for link in links),
        "jain": estimate(summary["jain"].get(GROUP) for summary in summaries),
    }


def _goodput(summary: dict[str, Any], group: str) -> float:
    members = [flow for flow in summary["flows"] if flow["name"].partition("[")[0] == group]
    return sum(flow["goodput_bit_s"] or 0.0 for flow in members)


def _promising(looked: Sequence[Advised], question: Question) -> list[Choice]:
    """The best of each controller, then those that no other beats in utilisation and in delay."""
    best = max(each.mean("utilisation") or 0.0 for each in looked)

    def rank(each: Advised) -> tuple[bool, float, int]:
        """Busy enough first, then the least delay; of those that are not, the busiest."""
        used = each.mean("utilisation") or 0.0
        delay = each.mean("queue_mean_s")
        busy = used >= ENOUGH * best
        return not busy, (math.inf if delay is None else delay) if busy else -used, each.streams

    def beaten(one: Advised) -> bool:
        return any(_no_worse(other, one) and not _no_worse(one, other) for other in looked)

    by_control: dict[str, list[Advised]] = {}
    for each in looked:
        by_control.setdefault(each.choice.control, []).append(each)
    firsts = sorted((min(mine, key=rank) for mine in by_control.values()), key=rank)
    front = sorted((each for each in looked if not beaten(each)), key=rank)
    kept = list(dict.fromkeys(each.choice for each in [*firsts, *front]))
    return kept[: question.most]


def _no_worse(one: Advised, other: Advised) -> bool:
    used = (one.mean("utilisation") or 0.0) >= (other.mean("utilisation") or 0.0)
    delays = (one.mean("queue_mean_s"), other.mean("queue_mean_s"))
    waits = [math.inf if delay is None else delay for delay in delays]
    return used and waits[0] <= waits[1]


def _closely(
    question: Question, choice: Choice, seeds: Sequence[int], found: dict[Key, Result]
) -> Advised:
    numbers = _of_steady([found["steady", choice, seed] for seed in seeds])
    times = [_transfer_s(found["transfer", choice, seed]) for seed in seeds]
    numbers["transfer_s"] = estimate(times)
    kept: list[float | None] = []
    for seed in seeds:
        mine, theirs = (
            _goodput(found["beside", each, seed].summary or {}, OTHER)
            for each in (choice, question.like(choice))
        )
        kept.append(mine / theirs if theirs else None)
    numbers["kept"] = estimate(kept)
    return Advised(choice, numbers, sum(time is None for time in times))


def _transfer_s(result: Result) -> float | None:
    """From the start of the first part to the end of the last one; `None` if one did not end."""
    flows = (result.summary or {})["flows"]
    if any(flow["completion_s"] is None for flow in flows):
        return None
    last = max(float(flow["start_s"]) + float(flow["completion_s"]) for flow in flows)
    return last - min(float(flow["start_s"]) for flow in flows)


def _picked(closely: Sequence[Advised], question: Question) -> tuple[dict[str, Advised], list[str]]:
    """The choice to take by aim, and what cannot be said about it."""
    best = max(each.mean("utilisation") or 0.0 for each in closely)
    busy = [each for each in closely if (each.mean("utilisation") or 0.0) >= ENOUGH * best]
    measured = [each for each in busy if each.mean("kept") is not None]
    gentle = [each for each in measured if (each.mean("kept") or 0.0) >= KEPT]
    picks = {"advised": _least(gentle or busy, "queue_mean_s")}
    if finished := [each for each in closely if not each.unfinished]:
        picks["fastest"] = _least(finished, "transfer_s")
    picks["least delay"] = _least(busy, "queue_mean_s")
    if measured:
        picks["gentlest"] = _least(measured, "kept", largest=True)
    doubts = []
    other = label_of(question.other)
    if measured and not gentle:
        doubts.append(
            f"none that is busy enough leaves a flow of {other} half of what it has beside its like"
        )
    if unknown := [each for each in busy if each.mean("kept") is None]:
        told = "; ".join(each.choice.label for each in unknown)
        doubts.append(
            f"what a flow of {other} keeps is unknown, since it has nothing beside its like either: {told}"
        )
    advised = picks["advised"]
    alike = [each for each in gentle or busy if each is not advised and _alike(each, advised)]
    if alike:
        told = "; ".join(each.choice.label for each in alike)
        doubts.append(
            f"not told apart from the advised one by {plural(question.seeds, 'seed')}: {told}"
        )
    doubts += _undecided(closely, advised, question)
    late = [each for each in closely if each.unfinished]
    if late:
        told = "; ".join(each.choice.label for each in late)
        doubts.append(
            f"transfers given up after {TOO_LONG} times what the link alone would take: {told}"
        )
    if question.seeds == 1:
        doubts.append("with one seed there are no intervals: more seeds would tell more")
    return picks, doubts


def _undecided(closely: Sequence[Advised], advised: Advised, question: Question) -> list[str]:
    """The bounds that lie within intervals, where another side of them would be another advice.

    That is so of the advised one, and of those that would be advised if they passed: their delay is no longer,
    or the advised one does not pass itself.
    """
    busiest = _least(closely, "utilisation", largest=True)
    used = busiest.numbers["utilisation"]
    least = Estimate((used.mean or 0.0) * ENOUGH, (used.half_width or 0.0) * ENOUGH, used.n)
    half = Estimate(KEPT, 0.0, used.n)
    passed = (advised.mean("kept") or 0.0) >= KEPT
    busy: list[str] = []
    gentle: list[str] = []
    for each in closely:
        if passed and each is not advised and not _no_later(each, advised):
            continue
        mine, kept = each.numbers["utilisation"], each.numbers["kept"]
        near = each is not busiest and _overlap(mine, least)
        if near:
            busy.append(f"{each.choice.label} ({_in_percent(mine)})")
        if (near or (mine.mean or 0.0) >= (least.mean or 0.0)) and _overlap(kept, half):
            gentle.append(f"{each.choice.label} ({_in_percent(kept)})")
    seeds = plural(question.seeds, "seed")
    bounds = (
        (
            busy,
            f"use {100 * ENOUGH:.0f} % of what {busiest.choice.label} uses ({_in_percent(used)})",
        ),
        (gentle, f"leave a flow of {label_of(question.other)} half of what it has beside its like"),
    )
    return [
        f"{seeds} do not decide which of these {bound}, and more seeds would: {'; '.join(those)}"
        for those, bound in bounds
        if those and question.seeds > 1
    ]


def _in_percent(value: Estimate) -> str:
    size, unit = SHARE[0]
    return with_interval(value, size, 1, unit)


def _no_later(one: Advised, other: Advised) -> bool:
    """Whether the delay of one is no longer than that of another, as far as intervals tell."""
    mine, theirs = one.numbers["queue_mean_s"], other.numbers["queue_mean_s"]
    if mine.mean is None or theirs.mean is None:
        return theirs.mean is None
    return mine.mean <= theirs.mean or _overlap(mine, theirs)


def _least(found: Sequence[Advised], name: str, *, largest: bool = False) -> Advised:
    """That with the least number, or the largest; of equals the one with the fewest streams."""

    def rank(each: Advised) -> tuple[float, int]:
        mean = each.mean(name)
        value = math.inf if mean is None else -mean if largest else mean
        return value, each.choice.streams

    return min(found, key=rank)


def _alike(one: Advised, other: Advised) -> bool:
    """Whether the intervals of what it was chosen by overlap."""
    return all(
        _overlap(one.numbers[name], other.numbers[name]) for name in ("queue_mean_s", "utilisation")
    )


def _overlap(one: Estimate, other: Estimate) -> bool:
    if one.mean is None or other.mean is None:
        return False
    return abs(one.mean - other.mean) <= (one.half_width or 0.0) + (other.half_width or 0.0)
