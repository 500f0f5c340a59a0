"""ns-3, driven by bench/peers/dumbbell.cc, which is compiled at first use."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from longfat.bench._peer import PeerAbsent
from longfat.shipped import checkout
from longfat_peers._compiled import compiled
from longfat_peers._dumbbell import COMMON, Abilities
from longfat_peers._program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODULES = ("applications", "internet", "point-to-point", "traffic-control", "bridge", "stats")
_LIBRARIES = [f"-lns3-{name}" for name in (*_MODULES, "network", "core")]


class Ns3(Program):
    """ns-3 as Debian packages it.

    Options: `spare_place`, how many places its queue disciplines get beyond the buffer (its device holds one
    more packet); `device_packet`, whether that packet is counted (1) or not (0); `tick`, the granularity of its
    time-outs in seconds; `recovery`, `classic`, `prr` (RFC 6937), or `auto`: `prr` for flows that have it in
    longfat, with `recovery = "rack"`; `counted`, whether windows grow as in ns-3, by whole segments (1), or
    with every acknowledgment by the formula of the paper (0); `credit`, whether the acknowledgment that ends a
    recovery lets the window grow by all that it covers (1) or only by what it newly reports (0); `table`,
    whether HSTCP has a table and falls back to whole segments (1) or has formulas (0, only with `counted` 0);
    `friendly`, whether CUBIC has a Reno-friendly region (1) or none (0); `marked`, whether windows grow
    in the round trip after a cut for a mark too (1); `wraps`, whether YeAH may take more from the data
    in flight than there is, which leaves it without a threshold (1); `allowed`, whether LEDBAT may grow
    by a segment beyond the data in flight (1); `estimate`, whether Westwood+ counts and filters what
    arrives in a way of its own (1) or as its paper says (0); `elapsed`, whether BBR counts the time of
    a rate sample from one delivery too early (1); `repairs`, whether it takes samples while a time-out
    is repaired (1); `averaged`, whether controllers are told smoothed round trips (1) or each one (0);
    `hystart`, whether CUBIC may leave slow start before a loss (1).
    """

    name = "ns3"
    title = "ns-3"
    defaults: Mapping[str, object] = {
        "spare_place": -1,
        "tick": 0.001,
        "recovery": "auto",
        "device_packet": 1,
        "counted": 1,
        "credit": 1,
        "table": 1,
        "friendly": 0,
        "marked": 0,
        "wraps": 1,
        "allowed": 0,
        "estimate": 1,
        "elapsed": 1,
        "repairs": 1,
        "averaged": 1,
        "hystart": 0,
    }
    abilities = Abilities(
        controls=COMMON.controls
        | {
            "bbr1",
            "bic",
            "cubic",
            "dctcp",
            "h-tcp",
            "hybla",
            "illinois",
            "ledbat",
            "vegas",
            "veno",
            "westwood",
            "yeah",
        },
        queues=COMMON.queues | {"codel", "fq-codel", "pie", "step"},
        recoveries=COMMON.recoveries | {"rack"},
        delayed_ack=True,
    )

    def command(self) -> list[str]:
        """The program, compiled at first use.

        Raises:
            PeerAbsent: There is no ns-3, or no compiler.
            ProcessError: It does not compile.
        """
        text = checkout() / "bench/peers/dumbbell.cc"
        arguments = ["-std=c++17", "-O2", str(text), *_LIBRARIES]
        made_of = text.read_bytes() + self.version().encode()
        return [compiled(self.name, self.title, arguments, made_of)]

    def version(self) -> str:
        """The version of its libraries.

        Raises:
            PeerAbsent: They are not there.
        """
        reader = shutil.which("pkg-config")
        if reader is not None:
            told = subprocess.run(  # noqa: S603 - found above
                [reader, "--modversion", "ns3-internet"],
                capture_output=True,
                text=True,
                check=False,
            )
            if told.returncode == 0:
                return told.stdout.strip()
        command = "apt-get install libns3-dev g++ pkg-config"
        message = f"ns-3 is not installed: `{command}` (Debian, Ubuntu) brings it"
        raise PeerAbsent(message)
