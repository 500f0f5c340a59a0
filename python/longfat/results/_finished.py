"""A finished run, whoever holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl


class Finished(Protocol):
    """A finished run: `longfat.Run`, or what a study hands to its measure."""

    @property
    def summary(self) -> dict[str, Any]:
        """The averages, as `longfat run --json` prints them."""

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run, such as `flow_series`."""
