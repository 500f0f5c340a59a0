"""Runs from their folders: read again, checked, and nothing simulated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from longfat.errors import ResultError
from longfat.foreign import read_text, shown
from longfat.results._folder import LIMITS, RUN, TABLES, checksum, manifest
from longfat.results._json import decoded
from longfat.results._run import MEASURED
from longfat.results._table import Table
from longfat.units import number_of

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    import polars as pl

    from longfat.results._folder import Manifest

_SCENARIO, _SUMMARY = "scenario.toml", "summary.json"
_TIME = "time_s"
_COLUMNS: dict[str, tuple[Collection[str], Collection[str]]] = {
    "flow_series": (
        ("flow", "group"),
        ("window", "threshold", "rtt_s", "throughput_bit_s", "retransmitted"),
    ),
    "link_series": (("link", "direction"), ("queue", "utilisation", "dropped", "marked")),
    LIMITS: (
        ("flow",),
        (
            "window_s",
            "pacing_s",
            "receiver_s",
            "application_s",
            "recovery_s",
            "losses",
            "marks",
            "timeouts",
        ),
    ),
}
"""What is read of the time series besides `time_s`: names, and numbers."""


class _Port(msgspec.Struct):
    utilisation: float
    queue_mean: float | None
    queue_p99: float | None
    drop_rate: float | None
    mark_rate: float | None
    arrived: int
    dropped: int


class _Link(msgspec.Struct):
    forward: _Port
    reverse: _Port


class _Flow(msgspec.Struct):
    name: str
    control: str
    rtt_s: float
    goodput_bit_s: float | None
    retransmit_rate: float | None
    timeouts: float
    queueing_delay_mean_s: float | None


class _Times(msgspec.Struct):
    mean: float | None
    p50: float | None
    p99: float | None


class _Traffic(msgspec.Struct):
    completed: float
    goodput_bit_s: float | None
    drop_rate: float | None
    completion_s: _Times


class _Application(msgspec.Struct):
    kind: str
    goodput_bit_s: float | None
    delay_s: _Times | None = None
    response_s: _Times | None = None
    page_load_s: _Times | None = None
    chunk_s: _Times | None = None
    bit_rate_bit_s: float | None = None
    stalled: float | None = None

    def __post_init__(self) -> None:
        """Refuses one that waits for nothing."""
        if not (self.delay_s or self.response_s or self.page_load_s or self.chunk_s):
            message = "an application has none of delay_s, response_s, page_load_s and chunk_s"
            raise ValueError(message)


class _Timing(msgspec.Struct):
    data_packets: int


class _Setting(msgspec.Struct):
    rate: str


class _Hop(msgspec.Struct):
    link: str
    reverse: bool = False


class _Group(msgspec.Struct):
    name: str
    path: list[str | _Hop]
    reverse: bool = False


class _Scenario(msgspec.Struct):
    duration: str
    warmup: str
    link: dict[str, _Setting]
    flow: list[_Group] = []


class _Summary(msgspec.Struct):
    """What pages and tables take from the averages. There is more, which is not looked at."""

    seed: int
    scenario: _Scenario
    links: Annotated[dict[str, _Link], msgspec.Meta(min_length=1)]
    flows: list[_Flow]
    traffic: dict[str, _Traffic]
    jain: dict[str, float | None]
    engine: _Timing
    applications: dict[str, _Application] = {}


class SavedRun:
    """A run as its folder has it. It can be drawn, and has the tables that `longfat.Run` has.

    Attributes:
        folder: The folder.
        name: Its name.
        version: Of longfat, which wrote it; empty if that was not kept.
        summary: The averages, as `longfat run --json` prints them.
        scenario: The scenario as resolved.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Reads a folder; tables are read when they are asked for.

        Raises:
            ResultError: It is none of a run, files of it are missing, or they hold something else.
            OSError: It cannot be read.
        """
        self.folder = Path(folder)
        self.name = self.folder.resolve().name
        listed = checked(self.folder, RUN)
        self.version = listed.version
        self._listed = listed
        self.scenario = self._text(_SCENARIO)
        self.summary = self._averages()
        self.duration_s, self.warmup_s = self._times()
        self._tables: dict[str, pl.DataFrame] = {}

    def __repr__(self) -> str:
        """The folder, in one line."""
        return f"<SavedRun {self.folder}>"

    @property
    def changed(self) -> list[str]:
        """Which files are not as they were written."""
        return [
            name
            for name, written in self._listed.files.items()
            if checksum(self.folder / name) != written
        ]

    def table(self, name: str) -> pl.DataFrame:
        """A table by its name, as `Run.table` has it; time series are in the order of time.

        Raises:
            ResultError: There is none, or its file holds something else.
        """
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    @property
    def flow_series(self) -> Table:
        """One row for each long flow and sample, as `Run.flow_series`."""
        return Table(self.table("flow_series"))

    @property
    def link_series(self) -> Table:
        """One row for each direction of a link and sample, as `Run.link_series`."""
        return Table(self.table("link_series"))

    @property
    def variables(self) -> list[str]:
        """The variables of controllers that the scenario asked for: columns of `flow_series`."""
        return [name for name in self.flow_series.columns if name not in MEASURED]

    def _read(self, name: str) -> pl.DataFrame:
        """A table from its file."""
        import polars as pl

        path = self.folder / f"{name}.parquet"
        try:
            frame = pl.read_parquet(path)
        except FileNotFoundError as error:
            raise self._refusal(path.name, "it is missing") from error
        except pl.exceptions.PolarsError as error:
            raise self._refusal(path.name, "it is no Parquet file") from error
        return frame if name not in _COLUMNS else self._checked(frame, path.name, *_COLUMNS[name])

    def _checked(
        self, frame: pl.DataFrame, name: str, words: Collection[str], numbers: Collection[str]
    ) -> pl.DataFrame:
        """A time series in the order of time, of which all that is read is there, and is what it should be."""
        import polars as pl

        names = (pl.String, pl.Categorical, pl.Enum)
        for column in (*words, _TIME, *numbers):
            kind = frame.schema.get(column)
            if kind is None:
                raise self._refusal(name, f"it has no column `{column}`")
            if not (isinstance(kind, names) if column in words else kind.is_numeric()):
                raise self._refusal(name, f"its column `{column}` holds {kind}")
        if not frame[_TIME].is_finite().fill_null(value=False).all():
            raise self._refusal(name, "a time in it is no number")
        known = {flow["name"] for flow in self.summary["flows"]}
        strangers = (
            [each for each in frame["flow"].unique() if each not in known]
            if "flow" in words
            else []
        )
        if strangers:
            raise self._refusal(name, f"`{strangers[0]}` is no flow of the averages")
        return frame.with_columns(pl.col(words).cast(pl.Categorical)).sort(
            _TIME, maintain_order=True
        )

    def _averages(self) -> dict[str, Any]:
        try:
            summary: dict[str, Any] = decoded((self.folder / _SUMMARY).read_bytes())
            told = msgspec.convert(summary, _Summary)
            known = {group.name for group in told.scenario.flow}
            for flow in told.flows:
                if flow.name.partition("[")[0] not in known:
                    message = f"the flow `{flow.name}` belongs to no group of its scenario"
                    raise ValueError(message)  # noqa: TRY301 - told as all the others
        except ValueError as error:
            raise self._refusal(_SUMMARY, str(error)) from error
        return summary

    def _times(self) -> tuple[float, float]:
        """Duration and warm-up in seconds."""
        told = self.summary["scenario"]
        found = [number_of(told[name]) for name in ("duration", "warmup")]
        spans = [number[0] for number in found if number is not None and number[1] == "time"]
        if len(spans) < len(found):
            raise self._refusal(_SUMMARY, "its duration or warm-up is no time")
        return spans[0], spans[1]

    def _text(self, name: str) -> str:
        try:
            return read_text(self.folder / name)
        except ValueError as error:
            raise self._refusal(name, str(error)) from error

    def _refusal(self, name: str, reason: str) -> ResultError:
        message = (
            f"{shown(str(self.folder / name))} is not what a run writes there: {shown(reason)}; "
            "run the scenario again"
        )
        return ResultError(message)


def checked(folder: Path, kind: str) -> Manifest:
    """The list of the files in a result folder, which are all there.

    Args:
        folder: The folder.
        kind: What it must hold: `a run`.

    Raises:
        ResultError: It is no folder, holds something else, or files are missing.
    """
    place = shown(str(folder))
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        message = f"{place} {what}: name a result folder, such as runs/first-1"
        raise ResultError(message)
    listed = manifest(folder)
    if listed is None:
        message = (
            f"{place} is no result folder: it has no `.longfat.json`, which lists what longfat wrote; "
            "`longfat run` writes one"
        )
        raise ResultError(message)
    if listed.longfat != kind:
        message = f"{place} is {shown(listed.longfat)}, not {kind}"
        raise ResultError(message)
    needed = {
        *listed.files,
        *((_SCENARIO, _SUMMARY) if kind == RUN else ()),
        *((f"{name}.parquet" for name in TABLES) if kind == RUN else ()),
    }
    missing = sorted(name for name in needed if not _plain_file(folder, name))
    if missing:
        message = (
            f"{place} is only a part of {kind}: `{shown(missing[0])}` is missing; make it again"
        )
        raise ResultError(message)
    return listed


def _plain_file(folder: Path, name: str) -> bool:
    """Whether a file of that name is in the folder, and not elsewhere."""
    return Path(name).name == name and (folder / name).is_file()
