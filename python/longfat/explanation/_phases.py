"""When what limited a flow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.explanation._words import events, time
from longfat.foreign import shown
from longfat.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Numbers = np.ndarray[Any, np.dtype[np.float64]]
    Counts = np.ndarray[Any, np.dtype[np.int64]]

CAUSES = ("link", "window", "pacing", "receiver", "application", "recovery")
"""What can limit a flow."""

EVENTS = ("losses", "marks", "timeouts")
"""What a flow answers."""

_NOUNS = ("loss", "mark", "time-out")
_SHORTEST = 0.02
"""A phase lasts at least this share of the flow's time; shorter ones belong to those around them."""


@dataclass(frozen=True)
class Phase:
    """A time in which one cause limited a flow more than any other.

    Attributes:
        begin_s: When it begins, in seconds.
        end_s: When it ends.
        cause: One of `CAUSES`.
        told: What happened then, in a sentence.
    """

    begin_s: float
    end_s: float
    cause: str
    told: str


@dataclass(frozen=True)
class Course:
    """What happened to flows, row by row: of one, or of all of a run.

    Attributes:
        times: When each row ends, in seconds.
        held: For how long each of `CAUSES` held the flow back, in seconds: a column for each.
        events: How many of each of `EVENTS` there were: a column for each.
        windows: The windows in segments; NaN where none was recorded.
        thresholds: The thresholds of slow start in segments; NaN where there is none.
        full: Whether the fullest link of the path was full.
        links: Which link that was.
    """

    times: Numbers
    held: Numbers
    events: Counts
    windows: Numbers
    thresholds: Numbers
    full: np.ndarray[Any, np.dtype[np.bool_]]
    links: np.ndarray[Any, np.dtype[np.object_]]

    def part(self, first: int, last: int) -> Course:
        """From a row to before another one."""
        return Course(*(each[first:last] for each in vars(self).values()))


def phases(course: Course) -> Iterator[Phase]:
    """When which cause held a flow back more than any other."""
    times, held = course.times.tolist(), np.nan_to_num(course.held)
    moving = (held.sum(axis=1) > 0).tolist()
    runs: list[_Run] = []
    for row, (place, moves) in enumerate(zip(held.argmax(axis=1).tolist(), moving, strict=True)):
        if not moves:
            continue
        if runs and runs[-1].cause == CAUSES[place]:
            runs[-1].last = row + 1
        else:
            runs.append(_Run(CAUSES[place], row, row + 1))
    if not runs:
        return
    earliest = runs[0].first
    begin = times[earliest] - float(held[earliest].sum())
    least = _SHORTEST * (times[runs[-1].last - 1] - begin)
    ended = _end_of_slow_start(course)
    for run in _merged(runs, times, least):
        start = begin if run.first == earliest else times[run.first - 1]
        end = times[run.last - 1]
        yield Phase(start, end, run.cause, f"{_when(start, end)} {_told(course, run, ended)}")


def _when(start: float, end: float) -> str:
    """From when to when.

    >>> _when(0.5, 2.0), _when(19.9999, 20.0)
    ('From 500 ms to 2 s', 'For 100 µs from 20 s on')
    """
    first, last = time(start), time(end)
    return (
        f"For {time(end - start)} from {first} on" if first == last else f"From {first} to {last}"
    )


@dataclass(eq=False)
class _Run:
    """Rows with the same cause, and its neighbours among others."""

    cause: str
    first: int
    last: int
    before: _Run | None = None
    after: _Run | None = None
    gone: bool = False

    def length(self, times: Sequence[float]) -> float:
        return times[self.last - 1] - (times[self.first - 1] if self.first else 0.0)

    def take(self, other: _Run) -> None:
        """Makes a neighbour a part of it."""
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        if other is self.after:
            self.after = other.after
            if self.after is not None:
                self.after.before = self
        else:
            self.before = other.before
            if self.before is not None:
                self.before.after = self
        other.gone = True


def _merged(runs: Sequence[_Run], times: Sequence[float], least: float) -> list[_Run]:
    """The same without short ones, the shortest first: each becomes a part of the longer one beside it."""
    for one, next_one in pairwise(runs):
        one.after, next_one.before = next_one, one
    heap = [(run.length(times), run.first, place) for place, run in enumerate(runs)]
    heapify(heap)
    places = {id(run): place for place, run in enumerate(runs)}
    while heap:
        length, first, place = heappop(heap)
        shortest = runs[place]
        if shortest.gone or (length, first) != (shortest.length(times), shortest.first):
            continue
        near = [each for each in (shortest.before, shortest.after) if each is not None]
        if length >= least or not near:
            break
        into = max(near, key=lambda run: run.length(times))
        into.take(shortest)
        for beside in (into.after, into.before):  # what has come together belongs together
            if beside is not None and beside.cause == into.cause:
                into.take(beside)
        heappush(heap, (into.length(times), into.first, places[id(into)]))
    return [run for run in runs if not run.gone]


def _told(course: Course, run: _Run, ended: int | None) -> str:
    """What happened in some rows of a flow whose slow start ended with the row `ended`, if that is known."""
    if run.cause == "link":
        rows = course.part(run.first, run.last)
        named = Counter(str(link) for link in rows.links[rows.full])
        link = min(named, key=lambda name: (-named[name], name))
        return f"the link {shown(link)} was full."
    if run.cause == "window":
        return f"its window was too small{_window_went(course, run.first, run.last, ended)}."
    if run.cause == "pacing":
        return "its pacing held back what its window allowed."
    if run.cause == "receiver":
        return "its receiver allowed no more."
    if run.cause == "application":
        return "it had nothing to send."
    return "it repaired losses."


def _window_went(course: Course, first: int, last: int, end: int | None) -> str:
    """How a window went from a row to before another one, where it was recorded, and what it met there."""
    if end is None or end <= first:
        went = _went(course.windows[first:last])
        return f": it {went}{_met(course, first, last)}" if went else ""
    if last <= end:
        went = _went(course.windows[first:last])
        return f": it {went} in slow start" if went else ""
    ended = f"in slow start, until {time(float(course.times[end]))}"
    slow = _seen(course.windows[first : end + 1])
    if not slow:
        return _met(course, first, last)
    # Between samples it may have been larger: a window that doubles is seen once or twice on its way.
    grew = f"it grew from {count(slow[0])} to at least {count(max(slow))} segments"
    had = grew if max(slow) > slow[0] else f"it had {count(slow[0])} segments"
    return f": {ended}, {had}; then it {_went(course.windows[end:last])}{_met(course, end, last)}"


def _end_of_slow_start(course: Course) -> int | None:
    """The first row after the first slow start; `None` where no threshold shows it."""
    known = ~np.isnan(course.thresholds)
    met = np.cumsum(course.events.sum(axis=1)) > 0
    ended = known & ((course.windows >= course.thresholds) | met)
    if ended.any():
        return int(ended.argmax())
    return len(course.times) if known.any() else None


def _seen(windows: Numbers) -> list[int]:
    """Those windows that were recorded, in whole segments."""
    return [round(window) for window in windows[np.isfinite(windows)].tolist()]


def _went(windows: Numbers) -> str:
    """From where to where a window went; empty if it was not recorded."""
    seen = _seen(windows)
    if not seen:
        return ""
    first, last, low, high = (count(each) for each in (seen[0], seen[-1], min(seen), max(seen)))
    if low == high:
        return f"stayed at {high} segments"
    if {first, last} == {low, high}:
        return f"{'grew' if last == high else 'fell'} from {first} to {last} segments"
    return f"went from {first} to {last} segments, between {low} and {high}"


def _met(course: Course, first: int, last: int) -> str:
    """What a flow answered from a row to before another one, or else the last event before."""
    if answered := events(*course.events[first:last].sum(axis=0).tolist()):
        return f", with {answered}"
    before = np.flatnonzero(course.events[:first].sum(axis=1))
    if not len(before):
        return ""
    latest = int(before[-1])
    kind = next(
        noun for place, noun in reversed([*enumerate(_NOUNS)]) if course.events[latest, place]
    )
    return f", after the {kind} at {time(float(course.times[latest]))}"
