"""Runs side by side: what was set differently, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.errors import ResultError
from longfat.page import _kit
from longfat.page._drawn import drawn
from longfat.page._series import of_runs
from longfat.results import _tables
from longfat.results._saved import SavedRun
from longfat.tables import TextTable
from longfat.units import (
    ABSENT,
    RATE,
    SIZE,
    TIME,
    aligned,
    amount,
    count,
    number_of,
    percent,
    plural,
    small,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True)
class Compared:
    """Some runs, with names that tell them apart.

    Attributes:
        names: The names.
        runs: The runs.
        set_to: Every setting of each run under its path.
    """

    names: list[str]
    runs: list[SavedRun]
    set_to: list[dict[str, str]]

    @property
    def settings(self) -> TextTable:
        """The settings that are not the same in all: a row for each, a column for each run."""
        rows: list[Sequence[str]] = [
            (key, *(each.get(key, ABSENT) for each in self.set_to))
            for key in _union(self.set_to)
            if len({each.get(key) for each in self.set_to}) > 1
        ]
        return TextTable(("setting", *self.names), rows=rows, words=1 + len(self.names))

    @property
    def links(self) -> TextTable:
        """What came of the links: a row for each number, a column for each run."""
        rows: list[Sequence[str]] = []
        names = _union(run.summary["links"] for run in self.runs)
        for name in names:
            for direction in ("forward", "reverse"):
                ports = [run.summary["links"].get(name, {}).get(direction) for run in self.runs]
                if not any(port and port["arrived"] for port in ports):
                    continue
                buffers = [_buffer(run.summary["scenario"], name, direction) for run in self.runs]
                if len(set(buffers)) > 1:  # shares of them say nothing beside each other
                    ports = list(map(_with_lengths, ports, buffers))
                place = name if direction == "forward" else f"{name}, {direction}"
                rows += _rows(place, ports, _OF_PORTS)
        return TextTable(("link", "number", *self.names), rows=rows, words=2)

    @property
    def flows(self) -> TextTable:
        """What came of groups of flows: sums of goodputs, means of the rest."""
        rows: list[Sequence[str]] = []
        grouped = [_groups(run.summary) for run in self.runs]
        for name in _union(grouped):
            rows += _rows(name, [each.get(name) for each in grouped], _OF_GROUPS)
        return TextTable(("flows", "number", *self.names), rows=rows, words=2)

    @property
    def traffic(self) -> TextTable:
        """What came of groups of short flows."""
        rows: list[Sequence[str]] = []
        for name in _union(run.summary["traffic"] for run in self.runs):
            found = [run.summary["traffic"].get(name) for run in self.runs]
            told = [None if row is None else {**row, **row["completion_s"]} for row in found]
            rows += _rows(name, told, _OF_TRAFFIC)
        return TextTable(("short flows", "number", *self.names), rows=rows, words=2)

    @property
    def tables(self) -> list[tuple[str, TextTable]]:
        """The tables that there is something to say in, with their headings."""
        named = (("Links", self.links), ("Flows", self.flows), ("Short flows", self.traffic))
        return [(heading, cells) for heading, cells in named if cells.rows]


def read_runs(folders: Sequence[str | os.PathLike[str]]) -> Compared:
    """Reads the runs in some folders.

    Raises:
        ResultError: There are fewer than two, or one is no run, or not whole.
        OSError: One cannot be read.
    """
    paths = [Path(folder) for folder in folders]
    if len(paths) < 2:  # noqa: PLR2004 - one has nothing beside it
        message = (
            "there is nothing to compare: name two runs or more, such as runs/first-1 runs/first-2"
        )
        raise ResultError(message)
    runs = [SavedRun(path) for path in paths]
    return Compared(_told_apart(paths), runs, [_settings(run) for run in runs])


def compare(
    folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str] | None = None
) -> Path:
    """Makes a page with runs side by side: settings that differ, tables with all, charts on top of each other.

    Args:
        folders: The folders of two runs or more.
        out: The file; by default `compare.html` beside the first folder. Only a page of longfat is replaced.

    Returns:
        The file.

    Raises:
        ResultError: A folder is no run, or not whole; or something else is at `out`.
        OSError: A folder cannot be read, or the page cannot be written.
    """
    found = read_runs(folders)
    return _kit.write(place_of(found, out), compare_page(found))


def place_of(found: Compared, out: str | os.PathLike[str] | None) -> Path:
    """Where the page of a comparison goes."""
    return found.runs[0].folder.parent / "compare.html" if out is None else Path(out)


def compare_page(found: Compared) -> str:
    """The page of a comparison."""
    charts, note = drawn(of_runs(list(zip(found.names, found.runs, strict=True))))
    return _kit.page(
        "compare.html",
        kind="comparison",
        title=" and ".join([", ".join(found.names[:-1]), found.names[-1]]),
        settings=found.settings,
        tables=found.tables,
        charts=charts,
        note=note,
        scenarios=[(name, run.scenario) for name, run in zip(found.names, found.runs, strict=True)],
        origins=[
            (name, str(run.folder), run.version, run.changed)
            for name, run in zip(found.names, found.runs, strict=True)
        ],
    )


def _settings(run: SavedRun) -> dict[str, str]:
    """Every setting of a run under its path, from the averages, which have been read."""
    # A scenario without short flows has no table of them, where averages have an empty list.
    return _flat({key: each for key, each in run.summary["scenario"].items() if each != []})


def _told_apart(paths: Sequence[Path]) -> list[str]:
    """Short names: the last parts of the paths, as many as it takes; the same folder twice has a number."""
    parts = [path.resolve().parts for path in paths]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-depth:]) for each in parts]
        if len(set(names)) == len(set(parts)):
            break
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def _union(parts: Any) -> list[str]:  # noqa: ANN401 - dictionaries by name
    return list(dict.fromkeys(name for each in parts for name in each))


def _flat(content: dict[str, Any], above: str = "") -> dict[str, str]:
    """Every setting under its path; groups of flows go by their names."""
    found: dict[str, str] = {}
    for key, value in content.items():
        path = f"{above}{key}"
        if isinstance(value, dict) and path.count(".") < 2:  # noqa: PLR2004 - below are values in tables
            found |= _flat(value, f"{path}.")
        elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            for index, each in enumerate(value):
                found |= _flat(each, f"{path}.{each.get('name', index)}.")
        else:
            found[path] = _told(value)
    return found


def _told(value: object) -> str:
    """A setting in words."""
    if isinstance(value, dict) and "kind" in value:
        rest = {key: each for key, each in value.items() if key != "kind"}
        return ", ".join([str(value["kind"]), *([_told(rest)] if rest else [])])
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_told(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(_told(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rates(values: list[float | None]) -> list[str]:
    return aligned(values, RATE)


def _times(values: list[float | None]) -> list[str]:
    return aligned(values, TIME)


def _each(how: Callable[[float | None], str]) -> Callable[[list[float | None]], list[str]]:
    return lambda values: [how(value) for value in values]


def _text(value: float | str | None) -> str:
    """What is a text already."""
    return ABSENT if value is None else str(value)


_Formats = tuple[tuple[str, str, "Callable[[list[float | None]], list[str]]"], ...]

_OF_PORTS: _Formats = (
    ("utilisation", "utilisation", _each(percent)),
    ("queue, mean", "queue_mean", _each(percent)),
    ("queue, p99", "queue_p99", _each(percent)),
    ("queue, mean length", "length_mean", _each(_text)),
    ("queue, p99 length", "length_p99", _each(_text)),
    ("dropped", "drop_rate", _each(small)),
    ("marked", "mark_rate", _each(small)),
)
_OF_GROUPS: _Formats = (
    ("goodput, together", "goodput_bit_s", _rates),
    ("Jain's index", "jain", _each(lambda value: ABSENT if value is None else f"{value:.3f}")),
    ("resent", "retransmit_rate", _each(small)),
    ("time-outs", "timeouts", _each(count)),
    ("queueing", "queueing_delay_mean_s", _times),
    *((f"queueing, {share}", key, _times) for share, key in _tables.DELAY_PERCENTILES.items()),
)
_OF_TRAFFIC: _Formats = (
    ("completed", "completed", _each(count)),
    ("goodput", "goodput_bit_s", _rates),
    ("completion, mean", "mean", _times),
    ("completion, p99", "p99", _times),
)


def _rows(
    place: str, columns: Sequence[dict[str, Any] | None], formats: _Formats
) -> Iterator[tuple[str, ...]]:
    """A row for each number that any of the runs has."""
    first = True
    for name, key, told in formats:
        values = [None if column is None else column.get(key) for column in columns]
        if any(value is not None for value in values):
            yield (place if first else "", name, *told(values))
            first = False


def _buffer(scenario: dict[str, Any], name: str, direction: str) -> tuple[float, str] | None:
    """What the queue of a link can hold, and in what; `None` if that is not known, or it has no bound."""
    link = scenario["link"].get(name, {})
    own = link.get("reverse") if direction == "reverse" else None
    told = {**link, **(own if isinstance(own, dict) else {})}.get("buffer")
    return number_of(told)


def _with_lengths(port: dict[str, Any] | None, buffer: tuple[float, str] | None) -> Any:  # noqa: ANN401 - a port
    """The same with the length of the queue besides its share of the buffer."""
    if port is None or buffer is None:
        return port
    size, unit = buffer
    lengths = {}
    for key in ("mean", "p99"):
        if (share := port[f"queue_{key}"]) is not None:
            held = share * size
            lengths[f"length_{key}"] = (
                plural(round(held), "packet") if unit == "packets" else amount(held, SIZE)
            )
    return port | lengths


def _groups(summary: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """What came of each group of flows."""
    found: dict[str, dict[str, float | None]] = {}
    fair = _tables.fairness(summary)
    for name, members in _tables.groups(summary["flows"]).items():
        goodputs = _known(members, "goodput_bit_s")
        found[name] = {
            "goodput_bit_s": sum(goodputs) if goodputs else None,
            "jain": fair.get(name),
            "retransmit_rate": _mean(_known(members, "retransmit_rate")),
            "timeouts": sum(_known(members, "timeouts")),
        }
        delays = ["queueing_delay_mean_s", *_tables.told_percentiles(members).values()]
        found[name] |= {key: _mean(_known(members, key)) for key in delays}
    return found


def _known(members: Sequence[dict[str, Any]], key: str) -> list[float]:
    return [flow[key] for flow in members if flow[key] is not None]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
