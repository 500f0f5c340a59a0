"""Tables of numbers: Arrow underneath, a data frame on request."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from longfat import frames
from longfat._fork import need_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl


class ArrowStream(Protocol):
    """Anything that speaks the Arrow C stream interface: the tables of the engine, data frames."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def __len__(self) -> int:
        """The number of rows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as a capsule with an Arrow C stream in it."""


class Table:
    """A table of a run: named columns of equal length.

    Columns of real numbers hold nulls where there is no value. Names (of flows, links, directions) are
    categories. Every library that speaks the Arrow C stream interface reads a `Table` directly:
    `polars.DataFrame(table)`, `pyarrow.table(table)`, `duckdb.sql("select * from table")`.
    """

    def __init__(self, source: ArrowStream) -> None:
        """Wraps a table of the engine, or a data frame."""
        self._source = source

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._source.columns)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._source)

    def __repr__(self) -> str:
        """The size and the columns, in one line."""
        return f"<Table: {len(self)} rows of {', '.join(self.columns)}>"

    def __reduce__(self) -> tuple[type[Table], tuple[pl.DataFrame]]:
        """A table is pickled as a data frame."""
        return type(self), (self.to_polars(),)

    def _repr_html_(self) -> str:
        """The first and the last rows, for a notebook."""
        shown: str = self.to_polars()._repr_html_()
        return shown

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as a capsule with an Arrow C stream in it."""
        return self._source.__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars data frame, without a copy where possible."""
        import polars as pl

        if isinstance(self._source, pl.DataFrame):
            return self._source
        return pl.DataFrame(self._source)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas data frame; absent numbers become NaN, names become categories.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            message = "to_pandas needs pandas, which is not installed: pip install pandas"
            raise ImportError(message) from error
        import polars as pl

        def column(series: pl.Series) -> object:
            if series.dtype == pl.Categorical:
                return pd.Categorical(series.cast(pl.String).to_list())
            return series.to_numpy()

        return pd.DataFrame({series.name: column(series) for series in self.to_polars()})

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the table as a CSV file; what is absent is empty.

        Raises:
            OSError: The file cannot be written.
        """
        with writing(path):
            frames.write_csv(self.to_polars(), Path(path))

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the table as a Parquet file.

        Raises:
            OSError: The file cannot be written.
        """
        with writing(path):
            frames.write(self.to_polars(), Path(path))


_MORE = 1 << 24
"""Of a full disk that other threads are just making a little room on."""


@contextmanager
def writing(
    path: str | os.PathLike[str], told: str | os.PathLike[str] | None = None
) -> Iterator[None]:
    """Turns what polars raises about a full disk into the error that every other writer raises.

    Args:
        path: The file that is written.
        told: What errors name in its place, if its name tells nobody anything.

    Raises:
        OSError: The file cannot be written.
        ForkError: This process is a fork without threads.
    """
    import polars as pl

    need_threads()
    try:
        yield
    except (pl.exceptions.ComputeError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        number = error.errno if isinstance(error, OSError) else _refused(path)
        reason = os.strerror(number) if number else str(error)
        raise OSError(number or errno.EIO, reason, os.fspath(told or path)) from error


def _refused(path: str | os.PathLike[str]) -> int | None:
    """Why nothing can be written beside a file, as the system numbers it; polars has other words."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=Path(path).parent) as file:
            file.write(bytes(_MORE))
            file.flush()
    except OSError as error:
        return error.errno
    return None
