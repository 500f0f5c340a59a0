"""Where time-outs and phase effects come from: `bench/time-outs` writes their pages."""

from __future__ import annotations

import json

import click

from longfat.shipped import checkout
from longfat.study import Cache
from longfat_transport.experiments import everything, measured
from longfat_transport.report import write


@click.command()
@click.option(
    "--tables", is_flag=True, help="Only write the pages again, from the rows found before."
)
def main(*, tables: bool) -> None:
    """Measure time-outs and phase effects, and write their tables and pictures.

    Takes about three minutes on two cores. The rows are kept in bench/time-outs.json.
    """
    root = checkout()
    path = root / "bench/time-outs.json"
    if not tables:
        rows = measured(everything(), cache=Cache(), progress=_told)
        path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", "utf-8")
    write(json.loads(path.read_text("utf-8")), root / "docs")


def _told(finished: int, total: int, _: float) -> None:
    if finished % 50 == 0 or finished == total:
        click.echo(f"{finished} of {total}", err=True)


if __name__ == "__main__":
    main()
