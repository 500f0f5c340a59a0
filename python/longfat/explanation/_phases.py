"""When what limited a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.explanation._explanation import CAUSES, Phase
from longfat.explanation._words import events, time
from longfat.foreign import shown
from longfat.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

_SHORTEST = 0.02
"""A phase lasts at least this share of the flow's time; shorter ones belong to those around them."""

_EVENTS = {"losses": "loss", "marks": "mark", "timeouts": "time-out"}


def phases(rows: pl.DataFrame, full: float) -> Iterator[Phase]:
    """When which cause held a flow back more than any other.

    Args:
        rows: The rows of `limits` of a flow, with `link_s`, its `window` and `threshold`, and the `utilisation`
            of the fullest `link` of its path.
        full: From which utilisation on a link is full.
    """
    held = rows.select(f"{cause}_s" for cause in CAUSES).to_numpy()
    moving = held.sum(axis=1) > 0
    times = rows["time_s"].to_numpy()
    dominant = [CAUSES[place] for place in held.argmax(axis=1)]
    runs: list[list[Any]] = []  # cause, first row, one past the last
    for row, (cause, moves) in enumerate(zip(dominant, moving, strict=True)):
        if not moves:
            continue
        if runs and runs[-1][0] == cause:
            runs[-1][2] = row + 1
        else:
            runs.append([cause, row, row + 1])
    if not runs:
        return
    begin = float(times[runs[0][1]] - held[runs[0][1]].sum())
    least = _SHORTEST * (float(times[runs[-1][2] - 1]) - begin)
    for cause, first, last in _merged(runs, times, least):
        start = begin if first == runs[0][1] else float(times[first - 1])
        end = float(times[last - 1])
        when = f"From {time(start)} to {time(end)}"
        yield Phase(start, end, cause, f"{when} {_told(rows, cause, (first, last), full)}")


def _merged(runs: list[list[Any]], times: Any, least: float) -> list[list[Any]]:  # noqa: ANN401 - an array
    """The same without short ones, the shortest first: each becomes a part of the longer one beside it."""

    def length(run: list[Any]) -> float:
        before = times[run[1] - 1] if run[1] else 0.0
        return float(times[run[2] - 1] - before)

    runs = [list(run) for run in runs]
    while len(runs) > 1:
        shortest = min(range(len(runs)), key=lambda index: length(runs[index]))
        if length(runs[shortest]) >= least:
            break
        near = [index for index in (shortest - 1, shortest + 1) if 0 <= index < len(runs)]
        into = max(near, key=lambda index: length(runs[index]))
        first, last = sorted((shortest, into))
        runs[first : last + 1] = [[runs[into][0], runs[first][1], runs[last][2]]]
        for index in (first, first - 1):  # what has come together belongs together
            if 0 <= index < len(runs) - 1 and runs[index][0] == runs[index + 1][0]:
                runs[index : index + 2] = [[runs[index][0], runs[index][1], runs[index + 1][2]]]
    return runs


def _told(rows: pl.DataFrame, cause: str, span: tuple[int, int], full: float) -> str:
    """What happened from a row to before another one."""
    import polars as pl

    first, last = span
    if cause == "link":
        link = rows[first:last].filter(pl.col("utilisation") >= full)["link"].mode().sort()[0]
        return f"the link {shown(link)} was full."
    if cause == "window":
        return f"its window was too small{_course(rows, first, last)}."
    if cause == "pacing":
        return "its pacing held back what its window allowed."
    if cause == "receiver":
        return "its receiver allowed no more."
    if cause == "application":
        return "it had nothing to send."
    return "it repaired losses."


def _course(rows: pl.DataFrame, first: int, last: int) -> str:
    """How a window went from a row to before another one, where it was recorded, and what it met there."""
    end = _end_of_slow_start(rows)
    windows = rows["window"].to_list()
    if end is None or end <= first:
        went = _went(windows[first:last])
        return f": it {went}{_met(rows, first, last)}" if went else ""
    if last <= end:
        went = _went(windows[first:last])
        return f": it {went} in slow start" if went else ""
    ended = f"in slow start, until {time(rows['time_s'][end])}"
    slow = [round(window) for window in windows[first : end + 1] if window is not None]
    # Between samples it may have been larger: a window that doubles is seen once or twice on its way.
    grew = f"it grew from {count(slow[0])} to at least {count(max(slow))} segments"
    had = grew if max(slow) > slow[0] else f"it had {count(slow[0])} segments"
    return f": {ended}, {had}; then it {_went(windows[end:last])}{_met(rows, end, last)}"


def _end_of_slow_start(rows: pl.DataFrame) -> int | None:
    """The first row after the first slow start; `None` where no threshold shows it."""
    import polars as pl

    over = (pl.col("window") >= pl.col("threshold")) | (pl.sum_horizontal(*_EVENTS).cum_sum() > 0)
    ended = rows.select(pl.col("threshold").is_not_null() & over).to_series()
    if ended.any():
        return ended.arg_max()
    return None if rows["threshold"].is_null().all() else len(rows)


def _went(windows: Sequence[float | None]) -> str:
    """From where to where a window went; empty if it was not recorded."""
    seen = [round(window) for window in windows if window is not None]
    if not seen:
        return ""
    first, last, low, high = (count(each) for each in (seen[0], seen[-1], min(seen), max(seen)))
    if low == high:
        return f"stayed at {high} segments"
    if {first, last} == {low, high}:
        return f"{'grew' if last == high else 'fell'} from {first} to {last} segments"
    return f"went from {first} to {last} segments, between {low} and {high}"


def _met(rows: pl.DataFrame, first: int, last: int) -> str:
    """What a flow answered from a row to before another one, or else the last event before."""
    import polars as pl

    met = rows[first:last].select(*_EVENTS).sum().row(0)
    if answered := events(*(int(count) for count in met)):
        return f", with {answered}"
    before = rows[:first].filter(pl.sum_horizontal(*_EVENTS) > 0)
    if before.is_empty():
        return ""
    latest = before[-1]
    kind = next(noun for column, noun in reversed(_EVENTS.items()) if latest[column][0])
    return f", after the {kind} at {time(latest['time_s'][0])}"
