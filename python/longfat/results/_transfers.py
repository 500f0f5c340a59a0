"""Transfers written while the simulation runs, so that memory holds only those still under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat import frames
from longfat.results._table import ArrowStream, Table, writing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class TransferFile:
    """The file `transfers.parquet` of a run: parts are written during the run and joined at its end."""

    def __init__(self, folder: Path) -> None:
        """Plans to write into `folder`, which exists."""
        self._folder = folder
        self._parts: list[Path] = []
        self._runs: dict[str, list[tuple[Path, int, int]]] = {}
        """Where the rows of each group are, in order: the part, the first of them, and how many."""

    def __call__(self, transfers: ArrowStream) -> None:
        """Writes one part: what `simulate` hands over once enough transfers have finished.

        Raises:
            OSError: The part cannot be written.
        """
        part = self._folder / f".transfers-{len(self._parts):06}.parquet"
        table = Table(transfers)
        table.write_parquet(part)
        self._parts.append(part)
        # In a part, as in the whole, the rows of a group are together.
        first = 0
        for name, count in table.to_polars().group_by("group", maintain_order=True).len().rows():
            self._runs.setdefault(str(name), []).append((part, first, count))
            first += count

    def finish(self, rest: Table, groups: Iterable[str]) -> None:
        """Writes the file from the parts and the rest, without reading more than one part at a time.

        Args:
            rest: The transfers that no part has.
            groups: The groups in the order in which the table has them.

        Raises:
            OSError: The file cannot be written.
        """
        target = self._folder / "transfers.parquet"
        if not self._parts:
            rest.write_parquet(target)
            return
        import polars as pl

        self(rest)
        runs = [run for name in groups for run in self._runs.get(name, ())]
        with writing(target):
            rows = [frames.scan(part).slice(first, count) for part, first, count in runs]
            frames.stream(pl.concat(rows), target)
        for part in self._parts:
            part.unlink()
        self._parts.clear()
        self._runs.clear()
