"""What can be drawn.

Pictures ask for no more than these protocols say, so they know neither what ran nor where it is kept; runs,
solutions and comparisons know how to draw themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


class Tabular(Protocol):
    """A table of numbers, such as `longfat.Table`."""

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars data frame."""


class _Timed(Protocol):
    """Something that passes in simulated time."""

    @property
    def warmup_s(self) -> float:
        """How much of the beginning every average leaves out, in seconds."""

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""


class _Told(_Timed, Protocol):
    name: str

    @property
    def summary(self) -> dict[str, Any]:
        """Averages by the names of `docs/guides/results.md`."""

    @property
    def flow_series(self) -> Tabular:
        """One row per flow and instant."""

    @property
    def link_series(self) -> Tabular:
        """One row per direction of a link and instant."""


class Recorded(_Told, Protocol):
    """A run with its time series: `longfat.Run`."""

    @property
    def variables(self) -> list[str]:
        """The columns of the flow series that hold variables of controllers."""


class Solved(_Told, Protocol):
    """A fluid solution in time: `longfat.Fluid`."""

    options: dict[str, Any]

    @property
    def equilibrium(self) -> dict[str, Any] | None:
        """Where the network settles, if that is known."""


class Overlaid(_Timed, Protocol):
    """A measurement and its simulation: `longfat.live.Overlay`."""

    @property
    def title(self) -> str:
        """What was measured, in a line."""

    @property
    def detail(self) -> str:
        """What came out of it, in a line."""

    @property
    def rtt_s(self) -> float:
        """The round trip of the link, without any queue."""

    @property
    def measured(self) -> pl.DataFrame:
        """`time_s`, `flow`, `window`, `throughput_bit_s` with headers, `queueing_s`."""

    @property
    def simulated(self) -> pl.DataFrame:
        """The same of the first seed."""


class Estimated(Protocol):
    """A mean, and how sure it is: `longfat.study.Estimate`."""

    @property
    def mean(self) -> float | None:
        """The mean; `None` where nothing has a value."""

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95 % confidence interval, if there is one."""


class Shared(Protocol):
    """What all controllers of a comparison have in common."""

    @property
    def title(self) -> str:
        """The path and the flows in one line."""

    @property
    def flows(self) -> int:
        """How many flows there are."""


class _Simulated(Protocol):
    @property
    def scenario(self) -> _Timed:
        """What was simulated."""

    @property
    def summary(self) -> dict[str, Any] | None:
        """Its averages; `None` if it failed."""

    @property
    def tables(self) -> Mapping[str, Tabular]:
        """The tables that were kept."""


class Compared(Protocol):
    """One controller of a comparison: its runs, and their means over the seeds."""

    @property
    def label(self) -> str:
        """The controller as people read it."""

    @property
    def results(self) -> Sequence[_Simulated]:
        """One result per seed; the first one is drawn."""

    @property
    def goodput_bit_s(self) -> Estimated:
        """Of all flows together, in bit/s."""

    @property
    def utilisation(self) -> Estimated:
        """Of the link, 0 to 1."""

    @property
    def drop_rate(self) -> Estimated:
        """Packets dropped per packet that arrives at the queue."""


class _LimitedFlow(Protocol):
    @property
    def name(self) -> str:
        """The flow."""

    @property
    def rows(self) -> pl.DataFrame:
        """Its `window` at each `time_s`, and for how long each cause had limited it since the row before."""


class Limited(Protocol):
    """What limited the flows of a run: `longfat.explanation.Explanation`."""

    @property
    def name(self) -> str:
        """The name of the run."""

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def warmup_s(self) -> float:
        """How much of the beginning averages leave out, in seconds."""

    @property
    def flows(self) -> Sequence[_LimitedFlow]:
        """The flows."""


class Drawing(Protocol):
    """What a picture of a study shows: names of columns of its table."""

    @property
    def x(self) -> str:
        """What is along it."""

    @property
    def y(self) -> str:
        """The number."""

    @property
    def colour(self) -> str | None:
        """What has a colour for each value."""

    @property
    def panel(self) -> str | None:
        """What has a panel for each value."""

    @property
    def title(self) -> str | None:
        """Its title, if it has one of its own."""


class Chosen(Protocol):
    """A choice of `longfat advise`, and what was measured of it."""

    @property
    def control(self) -> str:
        """The controller as people read it."""

    @property
    def streams(self) -> int:
        """How many flows share the work."""

    @property
    def buffer(self) -> str:
        """What the queue of the link may hold, as people read it."""

    @property
    def utilisation(self) -> tuple[float | None, float | None]:
        """The mean, 0 to 1, and half of its interval."""

    @property
    def delay_s(self) -> tuple[float | None, float | None]:
        """What the queue adds to the round trip on average, in seconds, and half of its interval."""
