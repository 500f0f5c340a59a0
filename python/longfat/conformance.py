"""The conformance suite: does a controller keep what every host relies on?"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.foreign import shown
from longfat.own import Brought, handle
from longfat.scenario import MOST_CASES, check_seed

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = 200
"""Random sequences of events, if nothing else is said."""


@dataclass(frozen=True)
class Step:
    """An event of a sequence that breaks a promise.

    Attributes:
        now_s: When, in seconds of the flow.
        event: What happened, in words.
        window: The window afterwards, in segments; `None` if that is no finite number.
    """

    now_s: float
    event: str
    window: float | None


@dataclass(frozen=True)
class Promise:
    """Something that hosts rely on, and whether the controller kept it.

    Attributes:
        name: What it is called.
        expected: What is promised, in words.
        happened: What happened instead; `None` if it was kept.
        settings: The parameters with which it happened.
        window: The initial window, where a sequence of events shows it.
        threshold: The initial threshold, if there was one.
        events: The shortest sequence found that shows it; empty where `happened` says everything.
    """

    name: str
    expected: str
    happened: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    window: float | None = None
    threshold: float | None = None
    events: tuple[Step, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether it was kept."""
        return self.happened is None

    def __str__(self) -> str:
        """What is promised and, where it was broken, how."""
        if self.happened is None:
            return f"kept    {self.name}: {self.expected}"
        lines = [
            f"BROKEN  {self.name}",
            f"        expected: {self.expected}",
            f"        happened: {self.happened}",
        ]
        if self.window is not None or self.events:
            lines += [f"        {line}" for line in self._sequence()]
        return "\n".join(lines)

    def _sequence(self) -> list[str]:
        start = f"a flow that begins with a window of {_number(self.window)}"
        if self.threshold is not None:
            start += f" and a threshold of {_number(self.threshold)}"
        if self.settings:
            start += ", " + ", ".join(f"{name} = {value}" for name, value in self.settings)
        steps = [
            f"{index:>3}. {step.now_s:g} s: {step.event} → window {_number(step.window)}"
            for index, step in enumerate(self.events, 1)
        ]
        return [f"{start}:", *steps]


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:g}"


@dataclass(frozen=True)
class Check:
    """What the suite says of a controller.

    Attributes:
        controller: Its name.
        seed: What the random sequences of events followed from.
        cases: How many there were.
        promises: Every promise that it gives; none for a controller without a window.
    """

    controller: str
    seed: int
    cases: int
    promises: tuple[Promise, ...]

    @property
    def ok(self) -> bool:
        """Whether it keeps all of them."""
        return not self.broken

    @property
    def broken(self) -> list[Promise]:
        """Those that it breaks."""
        return [promise for promise in self.promises if not promise.kept]

    def __bool__(self) -> bool:
        """Whether it keeps all of them."""
        return self.ok

    def __str__(self) -> str:
        """The whole report, to read."""
        if not self.promises:
            return f"{self.controller} sends without a window, and so promises nothing that is checked here"
        told = [str(promise) for promise in self.promises]
        broken = len(self.broken)
        verdict = (
            f"{broken} of {len(told)} promises are broken"
            if broken
            else f"all {len(told)} promises are kept"
        )
        effort = f"{self.cases} sequences of events, seed {self.seed}"
        return "\n".join([*told, f"{self.controller}: {verdict} ({effort})"])

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """The object that `longfat check --json` prints."""
        from dataclasses import asdict

        told = [asdict(promise) | {"kept": promise.kept} for promise in self.promises]
        for promise in told:
            promise["settings"] = dict(promise["settings"])
        return {
            "controller": self.controller,
            "ok": self.ok,
            "seed": self.seed,
            "cases": self.cases,
            "promises": told,
        }


def check(
    controller: str | Brought,
    *,
    seed: int = 1,
    cases: int = CASES,
    progress: Callable[[float], object] | None = None,
) -> Check:
    """Holds a controller to what every host relies on, and to what it promises itself.

    The suite tries random sequences of events, all of which follow from the seed, and a few directed ones:
    unreasonable starts, congestion without end, days without any. A sequence that breaks a promise is cut down
    until no event can be left out. The tests of longfat hold its own controllers to the same suite.

    Args:
        controller: The name of a controller of longfat, or one of your own: a class, a compiled law or
            controller, an entry of a library.
        seed: Other sequences of events.
        cases: How many of them.
        progress: Called with the share that is done, 0 to 1.

    Returns:
        What was found, which prints itself.

    Raises:
        TypeError: It is no controller.
        ValueError: There is no controller of this name, or a number is out of range.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    seed = check_seed(seed)
    if not 1 <= cases <= MOST_CASES:
        message = (
            f"{cases:,} sequences of events cannot be tried: ask for 1 to {MOST_CASES:,} cases"
        )
        raise ValueError(message)
    if isinstance(controller, str):
        names = [each["name"] for each in _longfat.controllers()]
        if controller not in names:
            meant = get_close_matches(controller, names, n=1)
            hint = f": did you mean `{meant[0]}`?" if meant else ""
            message = f"there is no controller called `{shown(controller)}`{hint}"
            raise ValueError(message)
        name: str = controller
        subject: str | _longfat.Own = controller
    else:
        subject = handle(controller, "controller")
        name = subject.name
    share = None if progress is None else _shares(progress, cases)
    examined = _longfat.examine(subject, seed=seed, cases=cases, progress=share)
    return Check(name, seed, cases, tuple(map(_promise, examined or ())))


def _shares(progress: Callable[[float], object], cases: int) -> Callable[[float], object]:
    def told(done: float) -> object:
        return progress(min(done / max(cases, 1), 1.0))

    return told


def _promise(examined: Any) -> Promise:  # noqa: ANN401 - a dictionary of the engine
    failure = examined["failure"]
    if failure is None:
        return Promise(examined["promise"], examined["expected"])
    return Promise(
        examined["promise"],
        examined["expected"],
        failure["what"],
        tuple(failure["settings"]),
        failure["window"],
        failure["threshold"],
        tuple(Step(**step) for step in failure["events"]),
    )
