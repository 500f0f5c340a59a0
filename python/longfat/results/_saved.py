"""Runs from their folders: read again, checked, and nothing simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from longfat.results._folder import LIMITS, RUN
from longfat.results._json import decoded
from longfat.results._run import MEASURED
from longfat.results._saved_folder import SavedFolder
from longfat.results._table import Table
from longfat.units import number_of

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    import polars as pl


_SUMMARY = "summary.json"
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
    queueing_delay_p50_s: float | None = None
    queueing_delay_p90_s: float | None = None
    queueing_delay_p99_s: float | None = None


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


class SavedRun(SavedFolder):
    """A run as its folder has it. It can be drawn, and has the tables that `longfat.Run` has.

    Attributes:
        summary: The averages, as `longfat run --json` prints them.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Reads a folder; tables are read when they are asked for.

        Raises:
            ResultError: It is none of a run, files of it are missing, or they hold something else.
            OSError: It cannot be read.
        """
        super().__init__(folder, RUN)
        self.summary = self._averages()
        self.duration_s, self.warmup_s = self._times()
        self._tables: dict[str, pl.DataFrame] = {}

    def table(self, name: str) -> pl.DataFrame:
        """A table by its name, as `Run.table` has it; time series are in the order of time.

        Raises:
            ResultError: There is none, or its file holds something else.
        """
        if name not in self._tables:
            flows = {flow["name"] for flow in self.summary["flows"]}
            columns = _COLUMNS.get(name)
            self._tables[name] = (
                self._frame(name) if columns is None else self._series(name, *columns, flows)
            )
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
