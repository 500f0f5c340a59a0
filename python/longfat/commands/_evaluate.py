"""`longfat evaluate`: is a controller good?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import allow_code
from longfat.commands._options import workers as of_workers
from longfat.scenario import MOST_SEEDS

if TYPE_CHECKING:
    from longfat.evaluate import Evaluation, Prepared


@click.command("evaluate")
@click.argument("control", required=False)
@click.option(
    "--against",
    default="reno,cubic,bbr3",
    help="Incumbents, separated by commas [reno,cubic,bbr3].",
)
@click.option(
    "--scale",
    type=click.Choice(("quick", "full")),
    default="quick",
    help="Minutes, or up to an hour [quick].",
)
@click.option(
    "--cell",
    "cells",
    multiple=True,
    metavar="PATTERN",
    help="Only these: a name, a group, or a pattern such as 'range/1G*'. May be repeated.",
)
@click.option(
    "--list", "listed", is_flag=True, help="List the cells and what they take; run nothing."
)
@click.option(
    "--seeds", type=click.IntRange(1, MOST_SEEDS), help="Runs of each [3; 8 at full scale]."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder [runs/evaluate-NAME-SCALE].")
@of_workers
@allow_code
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def evaluate_command(
    control: str | None,
    *,
    against: str,
    scale: str,
    cells: tuple[str, ...],
    listed: bool,
    seeds: int | None,
    out: Path | None,
    workers: int | None,
    allow_code: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what RFC 9743 asks to be shown of the controller CONTROL.

    CONTROL is a name, `{ kind = "exp", gamma = 0.1 }`, a controller in a file, my.py:MyControl, or in a
    library, libmine.so:mine; the last two with --allow-code. Each cell is a path or a situation with its
    source; every incumbent runs in it too, with the same seeds. The folder holds report.html,
    evaluate.json, junit.xml and a scenario for each cell. Finished runs are kept: an interrupted evaluation
    goes on where it stopped, and the next one finds those of the incumbents. The exit code is 1 if a number
    that a source states is not met. --list needs no CONTROL: the cells are then those of reno.

    \b
    longfat evaluate --list
    longfat evaluate exp --cell fairness
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.evaluate import Prepared, default_folder
    from longfat.study._setup import split_controls

    if control is None and not listed:
        message = "Missing argument 'CONTROL': `longfat list controllers` shows what there is."
        raise click.UsageError(message)
    prepared = Prepared(
        control or "reno",
        against=split_controls(against),
        scale=scale,  # type: ignore[arg-type]
        cells=cells,
        seeds=seeds,
        allow_code=allow_code,
    )
    if listed:
        _list(prepared, as_json=as_json)
        return
    folder = default_folder(prepared) if out is None else out
    found = _run(prepared, folder, workers, quiet=quiet)
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(found.to_dict(), indent=2))
    elif not quiet:
        _print(found)
    for finding in found.findings:
        if finding.verdict == "error":
            click.echo(f"error: {finding.cell.name}: {finding.why}", err=True)
    if found.failed:
        click.get_current_context().exit(1)


def _run(prepared: Prepared, folder: Path, workers: int | None, *, quiet: bool) -> Evaluation:
    from longfat.commands._console import progress
    from longfat.evaluate import run

    name, runs = prepared.subject.name, prepared.pool.runs
    with progress(name, quiet=quiet, speed=lambda rate: f"{rate * runs:.2g} runs/s") as advanced:

        def tell(finished: int, total: int, share: float) -> None:
            if advanced:
                advanced(share, f"{name}: {finished:,} of {total:,} runs")

        try:
            return run(prepared, folder, workers=workers, progress=tell)
        except BaseException as error:
            if not isinstance(error, Exception) and not quiet:
                told = "finished runs are kept: the same command goes on from there"
                click.echo(told, err=True)
            raise


def _list(prepared: Prepared, *, as_json: bool) -> None:
    planned = prepared.planned()
    if as_json:
        from longfat.foreign import json_text

        rows = [
            {
                "id": each.cell.name,
                "title": each.cell.title,
                "kind": each.cell.kind,
                "source": each.cell.source.document,
                "section": each.cell.source.section,
                "question": each.cell.question,
                "runs": each.runs,
                "core_s": each.seconds,
                "skipped": each.refused,
            }
            for each in planned
        ]
        click.echo(json_text(rows, indent=2))
        return
    from longfat.commands._console import console, table
    from longfat.study import usable_cores
    from longfat.units import plural

    screen = console()
    made = table("cell", "what", "source", "verdict", "runs", "core-seconds", left=4)
    for each in planned:
        source = each.cell.source
        made.add_row(
            each.cell.name,
            each.cell.title,
            source.document + (f", {source.section}" if source.section else ""),
            each.cell.kind if each.refused is None else "no place here",
            f"{each.runs}",
            f"{each.seconds:.1f}",
        )
    screen.print(made)
    pool = prepared.pool
    seconds = sum(pool.missing())
    screen.print(
        f"\n{plural(len(planned), 'cell')}, {plural(pool.runs, 'run')}, {pool.known:,} of them known; about "
        f"{seconds:,.0f} core-seconds are left, {seconds / usable_cores():,.0f} s on "
        f"{plural(usable_cores(), 'core')}",
        soft_wrap=True,
    )
    for each in planned:
        if each.refused is not None:
            screen.print(f"{each.cell.name}: {each.refused}", soft_wrap=True)


def _print(found: Evaluation) -> None:
    from longfat.commands._console import console, table
    from longfat.units import plural

    prepared = found.prepared
    screen = console()
    names = [each.name for each in prepared.against]
    made = table("cell", "verdict", *names, left=2 + len(names))
    for finding in found.findings:
        made.add_row(
            finding.cell.name, finding.verdict, *(finding.against.get(name, "") for name in names)
        )
    screen.print(made)
    screen.print()
    for finding in found.findings:
        screen.print(f"{finding.cell.name}: {finding.story}", soft_wrap=True)
        for told in finding.unsaid():
            screen.print(f"    {told}", soft_wrap=True)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts.items())
    screen.print(f"\n{plural(len(found.findings), 'cell')}: {counts}", soft_wrap=True)
    known = f", {found.spent.known:,} of them known" if found.spent.known else ""
    screen.print(
        f"{plural(found.spent.runs, 'run')}{known}, {plural(prepared.seeds, 'seed')}, in {found.wall_s:,.0f} s"
    )
    screen.print(f"\nresults in {found.folder}", soft_wrap=True)
