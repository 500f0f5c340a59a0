"""Whether longfat, ns-2 and ns-3 agree: `bench/validate` writes the tables of docs/validation.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from longfat.shipped import checkout
from longfat_peers import PEERS, VALIDATING
from longfat_peers._runs import read_rows, run_all, tasks


@click.command()
@click.option("--seeds", type=click.IntRange(2), default=4, help="Runs of each scenario [4].")
@click.option("--full", is_flag=True, help="All scenarios and seeds in all simulators: hours.")
@click.option(
    "--rows",
    type=click.Path(path_type=Path),
    help="Where finished runs are kept [bench/validation.jsonl].",
)
def main(*, seeds: int, full: bool, rows: Path | None) -> None:
    """Run the same scenarios in longfat, ns-2 and ns-3, and write tables and a picture for docs/validation.md.

    Every finished run is a line in the file of rows and is not repeated, so a larger grid continues from a
    smaller one. Remove the file after a change of longfat that moves results.
    """
    root = checkout()
    path = rows or root / "bench/validation.jsonl"
    found = read_rows(path)
    peers = {name: PEERS[name]() for name in VALIDATING}
    todo = list(tasks(range(1, seeds + 1), list(peers), full=full))

    def keep(row: dict[str, Any]) -> None:
        found.append(row)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def told(what: str, share: float) -> None:
        click.echo(f"{100 * share:3.0f} %  {what}", err=True)

    run_all(found, todo, peers, keep=keep, progress=told)
    from longfat_peers._report import write

    write(found, root / "docs")


if __name__ == "__main__":
    main()
