"""`longfat report` and `longfat compare`: pages from result folders."""

from __future__ import annotations

from pathlib import Path

import click

_PLAYGROUND = "playground.html"
_OUT = click.Path(path_type=Path, dir_okay=False)


@click.command("report")
@click.argument("source", metavar="FOLDER|PAPER")
@click.option("--out", type=_OUT, metavar="FILE", help="The page [FOLDER.html, beside it].")
@click.option(
    "--playground",
    is_flag=True,
    help="Put playground.html beside it, with links that change scenarios and run them again.",
)
@click.option("--quiet", is_flag=True, help="Do not say where it is.")
def report_command(source: str, out: Path | None, *, playground: bool, quiet: bool) -> None:
    """Make a page of a result folder: one HTML file that opens anywhere, offline.

    FOLDER is what `longfat run`, `fluid`, `study`, `evaluate` or `paper` wrote; PAPER is the name of a
    paper's room, such as exp-tcp, or its folder: of these the page has the results that the room keeps. An
    earlier page is replaced, anything else is left alone.
    """
    from longfat.page import report

    if playground:
        from longfat.playground import write

        made = report(source, out, playground=_PLAYGROUND)
        write(made.parent / _PLAYGROUND)
    else:
        made = report(source, out)
    if not quiet:
        click.echo(f"page in {made}")


@click.command("compare")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN RUN...", type=click.Path(path_type=Path)
)
@click.option("--out", type=_OUT, metavar="FILE", help="The page [compare.html, beside the first].")
@click.option("--quiet", is_flag=True, help="No tables.")
def compare_command(runs: tuple[Path, ...], out: Path | None, *, quiet: bool) -> None:
    """Set runs side by side: settings that differ, what came of them, charts on top of each other.

    RUN is a folder that `longfat run` wrote. The tables are printed, and a page has them with the charts.
    """
    from longfat.commands._console import console, show, tell_changed
    from longfat.page._compare import compare_page, place_of, read_runs
    from longfat.page._kit import write

    found = read_runs(runs)
    tell_changed(found.runs)
    made = write(place_of(found, out), compare_page(found))
    if quiet:
        return
    screen = console()
    if found.settings.rows:
        show(screen, found.settings)
    else:
        screen.print("the scenarios are the same")
    for _, cells in found.tables:
        screen.print()
        show(screen, cells)
    screen.print(f"\npage in {made}", soft_wrap=True)
