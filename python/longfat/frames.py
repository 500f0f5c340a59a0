"""Data frames in files, whatever the names of the folders that these are in.

polars takes a path for a pattern. Of `runs/reno[0]/flows.parquet` it reads `runs/reno0/flows.parquet`, of
`runs/a?/flows.parquet` the tables of every folder whose name fits, one below the other. `~` is the home folder.
It takes no path that is not Unicode. Here a path is the name of one file.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import polars as pl


def read(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """A Parquet file, or some of its columns.

    Raises:
        FileNotFoundError: There is none.
        polars.exceptions.PolarsError: It is something else.
    """
    frame = scan(path)
    return (frame if columns is None else frame.select(columns)).collect()


def scan(*paths: Path) -> pl.LazyFrame:
    """Parquet files, one below the other, of which only what is asked for is read.

    Raises:
        FileNotFoundError: There is none; a path that is Unicode is looked for when something is asked for.
    """
    import polars as pl

    with ExitStack() as files:
        places = [files.enter_context(_place(path, "rb")) for path in paths]
        # polars has handles of its own of the files that are closed here.
        return pl.scan_parquet(places, glob=False, hive_partitioning=False)  # type: ignore[arg-type]


def read_csv(path: Path, schema: dict[str, Any]) -> pl.DataFrame:
    """A CSV file.

    Raises:
        FileNotFoundError: There is none.
        polars.exceptions.PolarsError: It is something else.
    """
    import polars as pl

    with _place(path, "rb") as place:
        return pl.read_csv(place, schema=schema, glob=False)


def write(frame: pl.DataFrame, path: Path) -> None:
    """Writes a Parquet file.

    Raises:
        OSError: It cannot be written.
        polars.exceptions.ComputeError: The same, in the words of polars.
    """
    with _place(path, "wb") as place:
        frame.write_parquet(place)


def stream(frame: pl.LazyFrame, path: Path, **how: Any) -> None:  # noqa: ANN401 - as `sink_parquet` has them
    """Writes a Parquet file while what is written is being read.

    Raises:
        OSError: It cannot be written.
        polars.exceptions.ComputeError: The same, in the words of polars.
    """
    with _place(path, "wb") as place:
        frame.sink_parquet(place, **how)


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    """Writes a CSV file.

    Raises:
        OSError: It cannot be written.
        polars.exceptions.ComputeError: The same, in the words of polars.
    """
    with _place(path, "wb") as place:
        frame.write_csv(place)


def _place(path: Path, mode: str) -> AbstractContextManager[str | IO[bytes]]:
    """A file as polars finds it: its whole path, or if that is not Unicode the open file."""
    # Whole, since `~` is a name, and with each `..`, which after a symbolic link leads where the link does.
    whole = path.absolute()
    try:
        str(whole).encode()
    except UnicodeEncodeError:
        return whole.open(mode)
    return nullcontext(str(whole))
