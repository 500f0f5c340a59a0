"""Other simulators, as far as a measurement knows them; what drives them is in bench/peers of the source."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, Protocol

from longfat.shipped import checkout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat._longfat import Scenario
    from longfat.bench._outcome import Outcome


class PeerAbsent(RuntimeError):  # noqa: N818 - it is not there, which is no fault
    """A simulator is not installed; the message has the command that installs it."""


class Peer(Protocol):
    """Another simulator.

    Attributes:
        name: Its name on the command line: `ns2`.
        title: Its name in print: `ns-2`.
    """

    name: str
    title: str

    def version(self) -> str:
        """The version that is installed.

        Raises:
            PeerAbsent: It is not installed.
        """

    def absence(self) -> str | None:
        """Why it cannot be run on this machine; `None` if it can."""

    def refusal(self, scenario: Scenario) -> str | None:
        """Why it cannot run a scenario; `None` if it can."""

    def timed(self, scenario: Scenario, summary: Mapping[str, Any], *, cap_s: float) -> Outcome:
        """Runs a scenario with the round trips and starts that longfat drew.

        Args:
            scenario: The scenario.
            summary: The averages of the run of longfat, with the `start_s` of each flow.
            cap_s: Wall time after which it stops, wherever it is.

        Raises:
            PeerAbsent: It is not installed.
            ProcessError: It failed.
        """


def peers() -> dict[str, Callable[[], Peer]]:
    """The simulators that longfat can be compared with, by their names on the command line.

    Raises:
        FileNotFoundError: There is no checkout here.
    """
    folder = str(checkout() / "bench" / "peers")
    if folder not in sys.path:
        sys.path.append(folder)
    found: dict[str, Callable[[], Peer]] = importlib.import_module("longfat_peers").PEERS
    return found
