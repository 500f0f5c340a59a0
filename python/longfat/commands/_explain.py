"""`longfat explain`: what limited each flow of a run, and when."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("explain")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw a picture: .png, .svg or .pdf.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain_command(folder: Path, plot: Path | None, *, as_json: bool) -> None:
    """Say what limited each flow of the run in FOLDER, and when.

    A flow that could have more in flight is held back by its window, its pacing, its receiver, its application,
    the repair of losses, or a link that is full.

    \b
    longfat run scenarios/first.toml
    longfat explain runs/first-1 --plot why.png
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.commands._console import tell_changed
    from longfat.explanation import explain
    from longfat.foreign import json_text
    from longfat.results._folder import write_whole
    from longfat.results._saved import SavedRun

    run = SavedRun(folder)
    found = explain(run)
    tell_changed([run])
    if plot is not None and not found.flows:
        click.echo("no picture: the run has no long flows", err=True)
    elif plot is not None:
        try:
            write_whole(plot, found.plot)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
    click.echo(json_text(found.as_dict(), indent=2) if as_json else str(found))
