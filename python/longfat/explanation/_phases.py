"""When what limited a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.explanation._explanation import CAUSES, Phase
from longfat.explanation._words import time
from longfat.foreign import shown
from longfat.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    part = rows[first:last]
    if cause == "link":
        link = part.filter(pl.col("utilisation") >= full)["link"].mode().sort()[0]
        return f"the link {shown(link)} was full."
    if cause == "window":
        return f"its window was too small{_course(part)}{_since(rows, first)}."
    if cause == "pacing":
        return "its pacing held back what its window allowed."
    if cause == "receiver":
        return "its receiver allowed no more."
    if cause == "application":
        return "it had nothing to send."
    return "it repaired losses."


def _course(part: pl.DataFrame) -> str:
    """How a window went, where it was recorded."""
    windows = part["window"].drop_nulls()
    if windows.is_empty():
        return ""
    first, last = windows[0], windows[-1]
    low, high = count(round(first)), count(round(last))
    if first == last:
        return f": it stayed at {high} segments"
    return f": it {'grew' if last > first else 'fell'} from {low} to {high} segments"


def _since(rows: pl.DataFrame, first: int) -> str:
    """What a window has grown since, if that is known: the last event up to the beginning of a phase."""
    import polars as pl

    before = rows[: first + 1]
    events = before.filter(pl.sum_horizontal(*_EVENTS) > 0)
    if events.is_empty():
        return " in slow start" if rows["threshold"].is_null()[first] else ""
    last = events[-1]
    kind = next(noun for column, noun in reversed(_EVENTS.items()) if last[column][0])
    return f" after the {kind} at {time(last['time_s'][0])}"
