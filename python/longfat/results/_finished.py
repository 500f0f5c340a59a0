"""What can be measured: a finished run, from `longfat.run` or from a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl

    from longfat.scenario import Quantities


class Finished(Protocol):
    """A finished run: `longfat.Run`, or what a study hands to its measure."""

    @property
    def summary(self) -> dict[str, Any]:
        """The averages, as `longfat run --json` prints them."""

    @property
    def quantities(self) -> Quantities:
        """What its scenario says in numbers."""

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run, such as `flow_series`."""
