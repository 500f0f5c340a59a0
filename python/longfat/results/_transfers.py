"""Transfers written while the simulation runs, so that memory holds only those still under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.results._table import ArrowStream, Table, writing

if TYPE_CHECKING:
    from pathlib import Path


class TransferFile:
    """The file `transfers.parquet` of a run: parts are written during the run and joined at its end."""

    def __init__(self, folder: Path) -> None:
        """Plans to write into `folder`, which exists."""
        self._folder = folder
        self._parts: list[Path] = []

    def __call__(self, transfers: ArrowStream) -> None:
        """Writes one part: what `simulate` hands over once enough transfers have finished.

        Raises:
            OSError: The part cannot be written.
        """
        part = self._folder / f".transfers-{len(self._parts):06}.parquet"
        Table(transfers).write_parquet(part)
        self._parts.append(part)

    def finish(self, rest: Table) -> None:
        """Writes the file from the parts and the rest, without reading more than one part at a time.

        Raises:
            OSError: The file cannot be written.
        """
        target = self._folder / "transfers.parquet"
        if not self._parts:
            rest.write_parquet(target)
            return
        import polars as pl

        self(rest)
        with writing(target):
            pl.scan_parquet(self._parts).sink_parquet(target)
        for part in self._parts:
            part.unlink()
        self._parts.clear()
