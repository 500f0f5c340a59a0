"""Traces of a run for other tools: packets as pcapng, what senders decide as qlog."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from longfat import _longfat
from longfat.foreign import shown
from longfat.scenario import LARGEST_TRACE

if TYPE_CHECKING:
    from collections.abc import Sequence

PCAP = "trace.pcapng"
"""The file of packets in a result folder."""

MOST_PACKETS = 1_000_000
"""How many packets are written where nothing is said: about 80 MB of pcapng."""


class Traces:
    """The trace files of one run, which are written while it is simulated."""

    def __init__(
        self,
        scenario: _longfat.Scenario,
        folder: Path | None = None,
        *,
        pcap: bool,
        qlog: bool,
        at: Sequence[str] = (),
        packets: int | None = None,
    ) -> None:
        """Prepares the files.

        Args:
            scenario: The scenario of the run.
            folder: Where they are written, an existing folder; by default one that goes when this object does.
            pcap: Write packets.
            qlog: Write what senders decide.
            at: Which flows, by their names or those of their groups; by default all.
            packets: After so many they end; 1,000,000 by default.

        Raises:
            TraceError: There is no such flow, or its packets cannot be written so.
            OSError: The folder cannot be written.
        """
        most = MOST_PACKETS if packets is None else packets
        if not 1 <= most <= LARGEST_TRACE:
            message = f"{most:,} packets are no trace: ask for 1 to {LARGEST_TRACE:,}"
            raise _longfat.TraceError(message)
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="longfat-traces-"))
            weakref.finalize(self, _remove, folder, os.getpid())
        self.folder = folder
        self.handle = _longfat.Trace(
            scenario,
            pcap=folder / PCAP if pcap else None,
            qlog=folder if qlog else None,
            at=[at] if isinstance(at, str) else list(at),
            packets=most,
        )

    @property
    def files(self) -> list[Path]:
        """The files: `trace.pcapng`, and for each flow one like `reno[0].sqlog`."""
        return sorted(
            file for file in self.folder.iterdir() if file.suffix in {".pcapng", ".sqlog"}
        )

    @property
    def packets(self) -> int:
        """How many packets were written: data that left senders, and acknowledgments that reached them."""
        return self.handle.packets

    @property
    def cut_s(self) -> float | None:
        """When the files end, in seconds, if they do before the run."""
        return self.handle.cut_s

    @property
    def told(self) -> list[str]:
        """What is to be known of them, in sentences."""
        told = []
        if self.cut_s is not None:
            told.append(
                f"the trace ends after {self.packets:,} packets, at {self.cut_s:.6g} s of the run: "
                "--trace-packets asks for more, --at for fewer flows"
            )
        if ends := self.handle.ambiguous:
            others = "" if len(ends) == 1 else f" and {len(ends) - 1:,} more"
            told.append(
                f"{shown(ends[0])}{others} had more than 1 GiB in flight, which the sequence numbers of "
                "TCP cannot tell: other tools misread where data was sent again"
            )
        return told

    def copy_to(self, folder: Path) -> None:
        """Copies the files into a folder, unless they are there.

        Raises:
            OSError: They cannot be copied.
        """
        if folder == self.folder:
            return
        for file in self.files:
            shutil.copyfile(file, folder / file.name)


def _remove(folder: Path, owner: int) -> None:
    """Removes a folder of traces, unless this is a fork of the process that made it, and still has it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
