"""The averages of one run, printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.commands._console import console, show
from longfat.results._tables import overview
from longfat.tables import TextTable

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.results._run import Run


def report(run: Run, folder: Path, *, markdown: bool = False) -> None:
    """Prints links, flows, short flows, AntiECN, the speed of the engine and where the results are."""
    out = console()
    parts = overview(run.summary, run.duration_s, run.limits.to_polars())
    for index, part in enumerate(parts):
        if index:
            out.print()
        if isinstance(part, TextTable):
            show(out, part, markdown=markdown)
        else:
            out.print(part, soft_wrap=True)
    if not markdown:
        out.print(f"results in {folder}", soft_wrap=True)
