"""The simulators that longfat can be compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.bench._ns2 import Ns2
from longfat.bench._ns3 import Ns3

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.bench._peer import Peer

PEERS: dict[str, Callable[[], Peer]] = {"ns2": Ns2, "ns3": Ns3}
"""By the name on the command line."""
