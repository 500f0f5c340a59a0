"""`longfat explore`: the playground."""

from __future__ import annotations

from pathlib import Path

import click

_OUT = click.Path(path_type=Path, dir_okay=False)


@click.command("explore")
@click.argument("files", nargs=-1, metavar="[FILE] [FILE]", type=click.Path(path_type=Path))
@click.option(
    "--save", type=_OUT, metavar="PAGE", help="Write the page as one file, with its own engine."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Where to listen [any free port]."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def explore_command(
    files: tuple[Path, ...], save: Path | None, port: int, *, no_browser: bool
) -> None:
    """Open the playground: change a scenario, and see at once what becomes of it.

    It begins with the scenario in FILE, or with two side by side; - is the standard input. The page is for
    this machine only, and what it simulates runs natively; Ctrl-C ends it, and so does closing the page.
    """
    from longfat.commands._console import given
    from longfat.playground import serve, write
    from longfat.scenario import Template

    most = 2
    if len(files) > most:
        message = f"the playground shows one scenario or two, not {len(files)}."
        raise click.UsageError(message)
    if files.count(Path("-")) > 1:
        message = "the standard input holds one scenario: name a file for the other."
        raise click.UsageError(message)
    texts = [Template(given(file)).text for file in files]
    if save is not None:
        made = write(save, texts)
        click.echo(f"page in {made}: open it in a browser")
        return

    def ready(address: str) -> None:
        import webbrowser

        click.echo(f"{address}\nCtrl-C, or closing the page, ends it.")
        if not no_browser and not webbrowser.open(address):
            click.echo("no browser could be opened: open this address in one", err=True)

    serve(texts, folder=files[0].parent if files else None, port=port, ready=ready)
