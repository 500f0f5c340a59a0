"""htsim, driven by bench/peers/dumbbell_htsim.cc, which is compiled with its sources at first use."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.bench._peer import PeerAbsent
from longfat.shipped import checkout
from longfat_peers._compiled import compiled
from longfat_peers._dumbbell import Abilities
from longfat_peers._program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "LONGFAT_HTSIM"
"""The variable of the environment that names the folder `sim` of a checkout."""

_SOURCES = (
    "config",
    "eth_pause_packet",
    "eventlist",
    "fairpullqueue",
    "logfile",
    "loggers",
    "mtcp",
    "ndppacket",
    "network",
    "pipe",
    "queue",
    "route",
    "tcp",
    "tcppacket",
)
"""The part of htsim that TCP over drop tail needs."""

_OPTIONS = ("-std=c++17", "-O3", "-w")
"""Optimised as in its own Makefile, with its assertions; its warnings are not ours."""


class Htsim(Program):
    """htsim (csg-htsim) from a checkout that `LONGFAT_HTSIM` names, compiled with -O3.

    Its TCP is Reno with NewReno recovery, without ECN and delayed acknowledgments, and its least time-out is
    250 ms; its queues are drop tail here.

    Options: `spare_place`, how many places its queue gets beyond the buffer (the packet in service takes one);
    `tick`, how often it looks for time-outs, in seconds; `whole`, whether windows grow by whole bytes with each
    acknowledgment, so not at all from as many packets on as a packet has bytes (1), or by fractions too (0).
    """

    name = "htsim"
    title = "htsim"
    defaults: Mapping[str, object] = {"spare_place": 1, "tick": 0.01, "whole": 0}
    abilities = Abilities(
        controls=frozenset({"reno"}),
        queues=frozenset({"drop-tail"}),
        recoveries=frozenset({"newreno"}),
        delayed_ack=False,
        rto_min_s=0.25,
        initial_threshold=True,
    )

    def command(self) -> list[str]:
        """The program, compiled at first use.

        Raises:
            PeerAbsent: There is no checkout, or no compiler.
            ProcessError: It does not compile.
        """
        folder = _folder()
        driver = checkout() / "bench/peers/dumbbell_htsim.cc"
        sources = [driver, *(folder / f"{name}.cpp" for name in _SOURCES)]
        read = [*sources, *sorted(folder.glob("*.h"))]
        arguments = [*_OPTIONS, f"-I{folder}", *map(str, sources)]
        made_of = b"\0".join([*(path.read_bytes() for path in read), *map(str.encode, _OPTIONS)])
        return [compiled(self.name, self.title, arguments, made_of)]

    def version(self) -> str:
        """The commit of the checkout, if git knows it.

        Raises:
            PeerAbsent: There is no checkout.
        """
        folder = _folder()
        git = shutil.which("git")
        if git is not None:
            # Not the commit of something else that the folder happens to be in.
            for asked in (("cat-file", "-e", "HEAD:./tcp.cpp"), ("rev-parse", "--short=7", "HEAD")):
                told = subprocess.run(  # noqa: S603 - found above
                    [git, "-C", str(folder), *asked], capture_output=True, text=True, check=False
                )
                if told.returncode != 0:
                    break
            else:
                return told.stdout.strip()
        return "of unknown version"


def _folder() -> Path:
    """The folder of its sources.

    Raises:
        PeerAbsent: The variable does not name one.
    """
    how = f"`git clone https://github.com/Broadcom/csg-htsim`, and set {FOLDER} to its folder sim"
    given = os.environ.get(FOLDER)
    if not given:
        message = f"htsim is not there, and in no distribution: {how}"
        raise PeerAbsent(message)
    folder = Path(given).absolute()
    missing = [name for name in _SOURCES if not (folder / f"{name}.cpp").is_file()]
    if missing:
        message = f"{FOLDER} is {given}, which has no {missing[0]}.cpp of htsim: {how}"
        raise PeerAbsent(message)
    return folder
