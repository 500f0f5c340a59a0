"""The simulators that longfat is compared with: `longfat bench --against`, and `bench/validate`.

They need a checkout, because they drive the programs beside this folder, and are in no installed package.
`longfat bench` finds them through `longfat.bench._peer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat_peers._htsim import Htsim
from longfat_peers._ns2 import Ns2
from longfat_peers._ns3 import Ns3

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat_peers._program import Program

PEERS: dict[str, Callable[[], Program]] = {"ns2": Ns2, "ns3": Ns3, "htsim": Htsim}
"""The peers, by their name on the command line."""

VALIDATING = ("ns2", "ns3")
"""Those that run the scenarios of docs/validation.md; htsim has few of them."""
