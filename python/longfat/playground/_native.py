"""The native engine as a page uses it, whatever carries what they say: a server, or the messages of a widget.

It is read and run here, in slices, with pictures of what there is so far in between. What requests, answers and
frames look like is told by the crate `longfat-session`.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Protocol

from longfat import _longfat
from longfat.errors import ScenarioError
from longfat.results._simulate import REMEDIES, refuse_excess
from longfat.scenario import flow_list

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SLICE_S = 0.03
_PICTURE_S = 0.1
_FIRST_EVENTS, _MOST_EVENTS = 10_000, 2**40


class Listener(Protocol):
    """Is told what becomes of a run, in order; one of `refused`, `failed` and `done` comes last."""

    def refused(self, answer: str) -> None:
        """The scenario is wrong; the answer says where, as `read` has it."""

    def failed(self, message: str) -> None:
        """It cannot be run, or was not run to its end."""

    def series(self, progress: float, frame: bytes) -> None:
        """The time series so far, after this share of the simulated time, 0 to 1."""

    def done(self, seconds: float, frame: bytes) -> None:
        """The summary and all tables, and how long it took to simulate."""


def read(request: bytes, folder: Path | None) -> str:
    """What a scenario says in numbers, or what is wrong with it.

    Args:
        request: As `Session.read` has it.
        folder: Where the files are that it may name; `None`: it can name none.
    """
    return _read(_longfat.Session(), request, folder)


def run(
    request: bytes, folder: Path | None, listener: Listener, wanted: Callable[[], bool]
) -> None:
    """Simulates, and tells what there is so far a few times a second.

    Args:
        request: As `Session.read` has it.
        folder: Where the files are that the scenario may name; `None`: it can name none.
        listener: Who is told. What it raises ends the run.
        wanted: Asked between slices of a few hundredths of a second: once it says no, the run ends without
            another word.
    """
    session = _longfat.Session()
    answer = _read(session, request, folder)
    told = json.loads(answer)
    if "error" in told:
        listener.refused(answer)
        return
    needed = told["scenario"]["estimate"]
    try:
        refuse_excess(needed["memory_bytes"], REMEDIES[needed["largest"]])
        _simulate(session, listener, wanted)
    except (ScenarioError, _longfat.EngineError) as error:
        listener.failed(str(error))


def _read(session: _longfat.Session, request: bytes, folder: Path | None) -> str:
    return session.read(request, folder=folder, tables=flow_list)


def _simulate(session: _longfat.Session, listener: Listener, wanted: Callable[[], bool]) -> None:
    session.start()
    events, busy = _FIRST_EVENTS, 0.0
    shown, pause = time.monotonic(), _PICTURE_S
    while True:
        begun = time.monotonic()
        more = session.advance(events)
        took = time.monotonic() - begun
        busy += took
        if not more:
            break
        if took < _SLICE_S / 2:
            events = min(2 * events, _MOST_EVENTS)
        elif took > 2 * _SLICE_S:
            events = max(events // 2, 1)
        if not wanted():
            return
        now = time.monotonic()
        if now - shown >= pause:
            listener.series(session.progress(), session.series())
            shown = time.monotonic()
            pause = max(_PICTURE_S, 6 * (shown - now))
    listener.done(busy, session.finish())
