"""Finished runs, kept by content: the same scenario in the same engine is simulated once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat._folder import write_whole
from longfat._table import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_KEPT_DAYS = 30


class Cache:
    """A folder of finished runs.

    The address of a run is a hash of its resolved scenario, seed included, below a hash of the compiled
    engine: another engine never sees it. Each file appears whole or not at all, so any number of processes
    may share a cache. Losing one costs time, nothing else; what cannot be read counts as absent, and what
    cannot be written is left out.

    The default place is `$LONGFAT_CACHE`, or else the cache folder of the platform (on Linux
    `~/.cache/longfat`): shared by all working folders, and safe to delete at any time. Runs of engines that
    nobody has used for a month are removed.
    """

    def __init__(self, root: str | os.PathLike[str] | None = None) -> None:
        """Uses the folder `root`, or the default one."""
        self.root = default_root() if root is None else Path(root)

    def load(
        self, scenario: _longfat.Scenario, tables: Collection[str] = ()
    ) -> tuple[dict[str, Any], dict[str, Table]] | None:
        """The averages and the named tables of a finished run; `None` unless all of them are there."""
        entry = self._entry(scenario)
        try:
            summary: dict[str, Any] = json.loads((entry / "summary.json").read_bytes())
            if not tables:
                return summary, {}
            import polars as pl

            return summary, {
                name: Table(pl.read_parquet(entry / f"{name}.parquet")) for name in tables
            }
        except Exception:  # noqa: BLE001 - whatever is wrong with an entry, the remedy is to simulate again
            return None

    def knows(self, scenario: _longfat.Scenario, tables: Collection[str] = ()) -> bool:
        """Is a finished run with these tables there, as far as can be told without reading it?"""
        entry = self._entry(scenario)
        names = ("summary.json", *(f"{name}.parquet" for name in tables))
        return all((entry / name).is_file() for name in names)

    def store(
        self,
        scenario: _longfat.Scenario,
        summary: Mapping[str, Any],
        tables: Mapping[str, Table],
    ) -> None:
        """Keeps a finished run, if the place can be written."""
        entry = self._entry(scenario)
        try:
            if not entry.parent.exists():
                self._remove_old_engines()
            entry.mkdir(parents=True, exist_ok=True)
            for name, table in tables.items():
                write_whole(entry / f"{name}.parquet", table.write_parquet)
            text = json.dumps(summary, ensure_ascii=False)
            write_whole(entry / "summary.json", lambda path: path.write_text(text, "utf-8"))
        except OSError:
            return

    def _entry(self, scenario: _longfat.Scenario) -> Path:
        address = hashlib.sha256(scenario.to_toml().encode()).hexdigest()
        return self.root / engine_address() / address[:32]

    def _remove_old_engines(self) -> None:
        if not self.root.is_dir():
            return
        for folder in self.root.iterdir():
            if time.time() - folder.stat().st_mtime > _KEPT_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)


def default_root() -> Path:
    """Where runs are kept unless another folder is asked for."""
    if chosen := os.environ.get("LONGFAT_CACHE"):
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("longfat")


@cache
def engine_address() -> str:
    """A hash of the compiled engine: results of another build are never taken for results of this one."""
    return hashlib.sha256(Path(_longfat.__file__).read_bytes()).hexdigest()[:16]
