"""ns-2, driven by bench/peers/dumbbell.tcl."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from longfat.bench._peer import PeerAbsent
from longfat.shipped import checkout
from longfat_peers._program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping


class Ns2(Program):
    """ns-2 as Debian packages it.

    Options: `spare_place`, how many places its queue gets beyond the buffer (it leaves one empty); `tick`, the
    granularity of its round-trip samples and time-outs in seconds; `timestamps`, 1 or 0: without them a doubled
    time-out stays until new data are acknowledged.
    """

    name = "ns2"
    title = "ns-2"
    defaults: Mapping[str, object] = {"spare_place": 1, "tick": 0.001, "timestamps": 0}

    def command(self) -> list[str]:
        """The interpreter and the script.

        Raises:
            PeerAbsent: There is no `ns`.
        """
        return [_program(), str(checkout() / "bench/peers/dumbbell.tcl")]

    def version(self) -> str:
        """The version that it reports."""
        told = subprocess.run(  # noqa: S603 - found above
            [_program()],
            input="puts [ns-version]; exit\n",
            capture_output=True,
            text=True,
            check=False,
        )
        return told.stdout.strip().splitlines()[-1] if told.stdout.strip() else "of unknown version"


def _program() -> str:
    found = shutil.which("ns")
    if found is None:
        message = "ns-2 is not installed: `apt-get install ns2` (Debian, Ubuntu) brings it"
        raise PeerAbsent(message)
    return found
