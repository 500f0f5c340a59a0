"""Measurements from their folders: read again, checked, and with what simulating the same takes."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from longfat import frames
from longfat._longfat import Scenario, ScenarioError
from longfat.errors import ResultError
from longfat.foreign import read_text, shown
from longfat.live._measurement import MEASUREMENT
from longfat.own import control_of
from longfat.parquet import is_sound
from longfat.results._folder import checksum
from longfat.results._saved_folder import checked
from longfat.scenario import PICOSECONDS, plain_value, quantities
from longfat.study._setup import exact_time

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import os

    import polars as pl

    from longfat.scenario import Direction

SAMPLE = "10 ms"
"""Between two rows of a simulation beside a measurement: as often as Linux is asked."""

APART = "10 ms"
"""Real flows are told to begin one after another, and all have begun within this time."""

_STEERED = {"profile": "linux-6", "slow_start": "standard"}
_SENDERS: dict[str, dict[str, Any]] = {
    "tcp": _STEERED,
    "tcp-kernel": _STEERED,
    "linux": {"profile": "linux-6"},
    "quic": {"profile": "quic-9002", "pacing": {"spread": 1.25}},
}
"""What hosts do in each stack. Linux has its own slow start only with a controller of its own, and quinn paces,
whatever the controller wishes."""

_IN_BLOCKS = "cw-hstcp"
"""Paces by blocks, which Linux sends at once."""

_KERNELS_OWN: dict[str, Any] = {
    "bbr": {"kind": "bbr1", "pacing_margin": 0.01},
    "cubic": {"kind": "cubic", "blind_growth": 0.05},
}
"""What Linux calls otherwise than longfat, or has otherwise."""

_SUMMARY, _SERIES = "summary.json", "flow_series.parquet"
_NUMBERS = ("time_s", "window", "rtt_s", "throughput_bit_s")

Positive = Annotated[float, msgspec.Meta(gt=0)]


class MeasuredLink(msgspec.Struct, frozen=True):
    """What is known of the link. `scenario` is empty where the version that measured did not keep it."""

    rate_bit_s: Positive
    rtt_s: Positive
    scenario: str = ""


class MeasuredFlow(msgspec.Struct, frozen=True):
    """The averages of a flow; its throughput is that of its data, without headers."""

    name: str
    window_mean: float
    throughput_bit_s: float
    segment_payload_B: Positive  # noqa: N815 - a unit


class Told(msgspec.Struct, frozen=True):
    """What is read of the averages. `ecn` is of TCP, and is not kept by versions that did not ask it."""

    stack: str
    control: str
    duration_s: Positive
    warmup_s: Annotated[float, msgspec.Meta(ge=0)]
    link: MeasuredLink
    flows: Annotated[tuple[MeasuredFlow, ...], msgspec.Meta(min_length=1)]
    ecn: bool = False


class SavedMeasurement:
    """A measurement as its folder has it.

    Attributes:
        folder: The folder.
        name: Its name.
        told: The averages, and what was asked for.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Reads the averages; the series are read when they are asked for.

        Raises:
            ResultError: It is no measurement, or a file of it is missing or holds something else.
            OSError: It cannot be read.
        """
        self.folder = Path(folder)
        self.name = self.folder.resolve().name
        listed = checked(self.folder, MEASUREMENT)
        for name in (_SUMMARY, _SERIES):
            if name not in listed.files:
                raise self._refusal(name, "it is missing")
        self._written = listed.files[_SERIES]
        try:
            text = read_text(self.folder / _SUMMARY)
            self.told = msgspec.json.decode(text, type=Told)
        except ValueError as error:
            raise self._refusal(_SUMMARY, str(error)) from error

    @cached_property
    def series(self) -> pl.DataFrame:
        """One row for each flow and sample, in the order of time.

        Raises:
            ResultError: The file holds something else.
        """
        import polars as pl

        path = self.folder / _SERIES
        # What is as it was written can be read.
        if checksum(path) != self._written and not is_sound(path):
            raise self._refusal(_SERIES, "it is no Parquet file")
        frame = frames.read(path)
        for column in ("flow", *_NUMBERS):
            kind = frame.schema.get(column)
            if kind is None:
                raise self._refusal(_SERIES, f"it has no column `{column}`")
            if not (kind == pl.String if column == "flow" else kind.is_numeric()):
                raise self._refusal(_SERIES, f"its column `{column}` holds {kind}")
        frame = frame.with_columns(pl.col(_NUMBERS).cast(pl.Float64))
        for column in ("time_s", "window"):
            if not frame[column].is_finite().fill_null(value=False).all():
                raise self._refusal(_SERIES, f"its column `{column}` has gaps")
        if set(frame["flow"]) != {flow.name for flow in self.told.flows}:
            raise self._refusal(_SERIES, "its flows are not those of the averages")
        return frame.sort("time_s", maintain_order=True)

    @cached_property
    def control(self) -> Any:  # noqa: ANN401 - a name or a table
        """The controller as a scenario has it.

        Raises:
            ResultError: It is a table that is no TOML.
        """
        try:
            asked = control_of(self.told.control)
        except ValueError as error:
            raise self._refusal(_SUMMARY, f"its controller is none: {error}") from error
        if self.told.stack == "linux" and isinstance(asked, str):
            return _KERNELS_OWN.get(asked, asked)
        return asked

    @property
    def kind(self) -> str:
        """The controller without its parameters."""
        control = self.control
        return str(control.get("kind") if isinstance(control, dict) else control)

    @cached_property
    def packet_B(self) -> int:  # noqa: N802 - a unit
        """The largest packet of the link in bytes, headers included."""
        return max(each.packet_bytes for each in quantities(self._link).groups.values())

    @property
    def throughputs(self) -> list[float]:
        """Of each flow in bit/s, headers included, as the simulator counts."""
        return [
            flow.throughput_bit_s * self.packet_B / flow.segment_payload_B
            for flow in self.told.flows
        ]

    @cached_property
    def scenario(self) -> Scenario:
        """The same link and the same flows, for the simulator.

        Raises:
            ResultError: What is kept of the link does not suffice.
        """
        content = tomllib.loads(self._link.to_toml())
        (link,) = content["link"]
        rtt = exact_time(round(self.told.link.rtt_s * PICOSECONDS))
        several = len(self.told.flows) > 1
        flow = {
            "name": self.told.flows[0].name.partition("[")[0],
            "control": self.control,
            "count": len(self.told.flows),
            "path": [link],
            "rtt": rtt,
            "start": {"uniform": ["0 s", APART]} if several else "0 s",
            "packet": f"{self.packet_B} B",
            **self._hosts,
        }
        spans = {"duration": self.told.duration_s, "warmup": self.told.warmup_s}
        times = {name: exact_time(round(span * PICOSECONDS)) for name, span in spans.items()}
        whole = {**times, "sample": SAMPLE, "link": content["link"], "flow": [flow]}
        import tomli_w

        try:
            return Scenario.parse(tomli_w.dumps(plain_value(whole)), f"what {self.name} measured")
        except ScenarioError as error:
            raise self._refusal(_SUMMARY, f"no scenario comes of it: {error}") from error

    @property
    def _hosts(self) -> dict[str, Any]:
        """What the hosts were: keys of a flow."""
        known = _SENDERS.get(self.told.stack, {})
        if self.told.stack == "quic":
            return known
        unpaced = {"pacing": "none"} if self.kind == _IN_BLOCKS else {}
        return {**known, **unpaced, "ecn": self.told.ecn}

    @cached_property
    def _link(self) -> Scenario:
        """The scenario that the link was made from.

        Raises:
            ResultError: It was not kept, is wrong, or changes in time.
        """
        text = self.told.link.scenario
        if not text:
            message = (
                f"{shown(str(self.folder))} does not say which buffer, queue and packet size the link had, "
                "so nothing can be simulated beside it: measure again with this version of longfat"
            )
            raise ResultError(message)
        try:
            scenario = Scenario.parse(text, "the link of the measurement")
        except ScenarioError as error:
            raise self._refusal(_SUMMARY, f"its link has no scenario: {error}") from error
        links = quantities(scenario).links
        if len(links) != 1:
            raise self._refusal(
                _SUMMARY, f"the scenario of its link has {len(links)} links, not one"
            )
        (link,) = links.values()
        directions: tuple[Direction, ...] = (link.forward, link.reverse)
        if any(direction.varies for direction in directions):
            message = (
                f"the link of {shown(str(self.folder))} changed in time, by a clock of its own: "
                "measure over a link that stays as it is"
            )
            raise ResultError(message)
        return scenario

    def _refusal(self, name: str, reason: str) -> ResultError:
        message = (
            f"{shown(str(self.folder / name))} is not what {MEASUREMENT} has there: {shown(reason)}; "
            "measure again with `longfat live`"
        )
        return ResultError(message)
