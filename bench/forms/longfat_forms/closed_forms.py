"""Whether longfat follows laws with a closed form: `bench/closed-forms` writes docs/closed-forms.md."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import click

from longfat.shipped import checkout
from longfat.study import Cache, estimate
from longfat_forms import laws
from longfat_forms.experiments import (
    PROBABILITIES,
    RTT_S,
    TIMEOUT_S,
    buffers,
    losses,
    queues,
    run,
    shares,
)
from longfat_forms.report import write
from longfat_forms.sampling import told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Row = dict[str, Any]

_LOST_ROUNDS = ("cargo", "run", "--quiet", "--release", "--locked", "-p", "longfat-sim")

_SECONDS, _CYCLES = 10_000, 100_000


@click.command()
@click.option("--seeds", type=click.IntRange(2), help="Runs of each scenario [16, 8, 5, 5].")
@click.option(
    "--tables", is_flag=True, help="Only write the page again, from the rows found before."
)
def main(*, seeds: int | None, tables: bool) -> None:
    """Compare longfat with closed forms, and write the tables and pictures of docs/closed-forms.md.

    Takes about a quarter of an hour on two cores. The rows are kept in bench/closed-forms.json.
    """
    root = checkout()
    path = root / "bench/closed-forms.json"
    if not tables:
        rows = measured(root, seeds)
        path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", "utf-8")
    write(json.loads(path.read_text("utf-8")), root / "docs")


def measured(root: Path, seeds: int | None) -> list[Row]:
    """A row for each quantity of each experiment."""
    parts = ((queues(), 16), (shares(), 8), (losses(), 5), (buffers(), 5))
    rows: list[Row] = []
    for experiments, usual in parts:
        word = experiments[0].law
        for found in run(experiments, seeds or usual, cache=Cache(), progress=_told(word)):
            each = found.experiment
            place = {"law": each.law, "name": each.name, "at": each.at}
            for what, value in found.values.items():
                rows.append({**place, "what": what, "theory": each.theory[what], **told(value)})
    return rows + list(_rounds(root, seeds or 5))


def _told(word: str) -> Callable[[int, int, float], object]:
    def tell(finished: int, total: int, _: float) -> None:
        click.echo(f"{word}: {finished} of {total}", err=True)

    return tell


def _rounds(root: Path, seeds: int) -> Iterable[Row]:
    """Losses that take a round with them, which no scenario file can ask for: an example of the simulator."""
    click.echo("rounds: builds an example of crates/sim", err=True)
    given = [str(_SECONDS), str(seeds), *(str(p) for p in PROBABILITIES)]
    command = [*_LOST_ROUNDS, "--example", "lost_rounds", "--", *given]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    rates: dict[tuple[float, str], list[float]] = {}
    for line in done.stdout.splitlines():
        chance, kind, _, rate = line.split("\t")
        rates.setdefault((float(chance), kind), []).append(float(rate))
    for p in PROBABILITIES:
        rates[p, "process"] = [
            laws.pftk_process(p, RTT_S, TIMEOUT_S, _CYCLES, seed) for seed in range(1, seeds + 1)
        ]
    for (p, kind), values in rates.items():
        theory = laws.pftk(p, RTT_S, TIMEOUT_S)
        place = {"law": "rounds", "name": kind, "at": {"p": p}, "what": "packets_per_s"}
        yield {**place, "theory": theory, **told(estimate(values))}


if __name__ == "__main__":
    main()
