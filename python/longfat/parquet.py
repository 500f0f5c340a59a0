"""Parquet files that others wrote, read where damage in them does no harm.

A length in such a file is believed before it is checked: with one byte wrong, whoever reads it may ask for more
memory than there is, and is ended by that. So it is read in a short process of its own, which passes on text.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_READER = """
import os, sys
path, rows, length, names, *sys.path = sys.argv[1:]
try:
    import resource
except ImportError:
    pass
else:
    for name, most in (("RLIMIT_AS", 8 << 30), ("RLIMIT_CPU", 600), ("RLIMIT_CORE", 0)):
        limit = getattr(resource, name)
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (most if hard < 0 else min(most, hard), hard))
import polars as pl
try:
    with open(path, "rb") as file:  # polars has no path that is not Unicode
        table = pl.scan_parquet(file, hive_partitioning=False)
    if not names:
        table.collect()
        os._exit(0)
    known = [name for name in table.collect_schema().names() if name in names.split(",")]
    found = table.select(known).head(int(rows) + 1).collect()
    if found.height > int(rows):
        os._exit(3)
    text = found.write_csv().encode()
except (pl.exceptions.PolarsError, OSError):
    os._exit(4)
if len(text) > int(length):
    os._exit(5)
sys.stdout.buffer.write(text)
sys.stdout.buffer.flush()
os._exit(0)
"""
"""Ends at once, whatever threads there are: 3 and 5 if there is too much, 4 if it is something else."""

_TOO_MANY, _NO_TABLE, _TOO_LONG = 3, 4, 5


def csv_of(path: str | Path, columns: Sequence[str], *, rows: int, length: int) -> str:
    """Those of some columns that a Parquet file has, as CSV.

    Args:
        path: The file; no pattern for several.
        columns: Their names.
        rows: The most that it may have.
        length: How many bytes the text may have.

    Raises:
        ValueError: It is no Parquet file, damaged, or too long; the message does not repeat what it says.
    """
    try:
        done = _read(path, rows, length, columns)
    except OSError as error:
        message = "no process could be started to read this Parquet file"
        raise ValueError(message) from error
    reasons = {
        0: None,
        _TOO_MANY: f"it has more than {rows} rows",
        _NO_TABLE: "it is not a Parquet file with the columns of a list of flows",
        _TOO_LONG: f"it is longer than {length // 10**6} MB as text",
    }
    reason = reasons.get(
        done.returncode, "this Parquet file is damaged: nobody can read it to its end"
    )
    if reason is not None:
        raise ValueError(reason)
    try:
        return done.stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        message = "this Parquet file is damaged: a text in it is none"
        raise ValueError(message) from error


def is_sound(path: Path) -> bool:
    """Whether a Parquet file can be read to its end: no damage in it then ends the process that does.

    Raises:
        OSError: No process can be started for it.
    """
    return _read(path, 0, 0, ()).returncode == 0


def _read(
    path: str | Path, rows: int, length: int, columns: Sequence[str]
) -> subprocess.CompletedProcess[bytes]:
    """Runs the reader; without columns it reads all of them, and passes on nothing."""
    asked = [str(path), str(rows), str(length), ",".join(columns)]
    return subprocess.run(  # noqa: S603 - Python itself, with a text that is above
        [sys.executable, "-I", "-c", _READER, *asked, *filter(None, sys.path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"POLARS_MAX_THREADS": "2"},
        check=False,
    )
