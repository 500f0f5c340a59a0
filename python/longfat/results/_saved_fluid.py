"""Fluid solutions from their folders: read again, checked, and nothing solved."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec

from longfat.results._folder import FLUID, SCENARIO
from longfat.results._json import decoded
from longfat.results._saved_folder import SavedFolder
from longfat.results._table import Table
from longfat.units import number_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import os

    import polars as pl

_SOLUTION = "fluid.json"


class _Flow(msgspec.Struct):
    name: str
    control: str
    rtt_s: float
    window_mean: float
    rate_mean_bit_s: float


class _Settled(msgspec.Struct):
    name: str
    window: float
    rate_bit_s: float
    round_trip_s: float
    price: float


class _Charge(msgspec.Struct):
    price: float
    load: float
    queue_s: float


class _Link(msgspec.Struct):
    price: float | None = None
    load: float | None = None
    queue_s: float | None = None
    reverse: _Charge | None = None

    def __post_init__(self) -> None:
        """Refuses one that is known in part."""
        if len({each is None for each in (self.price, self.load, self.queue_s)}) > 1:
            message = "a link of the equilibrium has not all of price, load and queue_s"
            raise ValueError(message)


class _Rest(msgspec.Struct):
    flows: list[_Settled]
    links: dict[str, _Link]


class _Solution(msgspec.Struct):
    """What a page takes from a solution. There is more, which is not looked at."""

    model: str
    price: str
    delay: bool
    stand_ins: dict[str, str]
    t: list[float]
    flows: list[_Flow]
    equilibrium: _Rest | None
    stable: bool | None
    margin: float | None


class SavedFluid(SavedFolder):
    """A fluid solution as its folder has it. It has the series that `longfat.Fluid` has.

    Attributes:
        summary: What was found, as `longfat fluid --json` prints it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Reads a folder; tables are read when they are asked for.

        Raises:
            ResultError: It is none of a fluid solution, files of it are missing, or they hold something else.
            OSError: It cannot be read.
        """
        super().__init__(folder, FLUID)
        self.summary = self._found()
        self.duration_s, self.warmup_s = self._times()

    @property
    def integrated(self) -> bool:
        """Whether it was solved in time."""
        return bool(self.summary["t"])

    @property
    def flow_series(self) -> Table:
        """One row for each active flow and instant, as `Fluid.flow_series`."""
        return Table(self._rows("flow_series", ("flow", "group"), ("window", "rate_bit_s")))

    @property
    def link_series(self) -> Table:
        """One row for each direction of a link and instant, as `Fluid.link_series`."""
        return Table(self._rows("link_series", ("link", "direction"), ("price", "load", "queue_s")))

    def _rows(self, name: str, words: tuple[str, ...], numbers: tuple[str, ...]) -> pl.DataFrame:
        return self._series(name, words, numbers, {flow["name"] for flow in self.summary["flows"]})

    def _found(self) -> dict[str, Any]:
        try:
            summary: dict[str, Any] = decoded((self.folder / _SOLUTION).read_bytes())
            msgspec.convert(summary, _Solution)
        except ValueError as error:
            raise self._refusal(_SOLUTION, str(error)) from error
        return summary

    def _times(self) -> tuple[float, float]:
        """Duration and warm-up in seconds."""
        try:
            told = tomllib.loads(self.scenario)
        except tomllib.TOMLDecodeError as error:
            raise self._refusal(SCENARIO, str(error)) from error
        found = [number_of(str(told.get(name))) for name in ("duration", "warmup")]
        spans = [number[0] for number in found if number is not None and number[1] == "time"]
        if len(spans) < len(found):
            raise self._refusal(SCENARIO, "its duration or warm-up is no time")
        return spans[0], spans[1]
