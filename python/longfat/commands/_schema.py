"""`longfat schema`: what editors need to know of scenario and study files."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("schema")
@click.argument("kind", type=click.Choice(("scenario", "study")))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it to this file instead of the standard output.",
)
def schema_command(kind: str, out: Path | None) -> None:
    """Print the JSON Schema of scenario or study files, from which editors complete keys and show meanings.

    \b
    longfat schema scenario --out scenario.schema.json
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.foreign import json_text
    from longfat.schema import scenario_schema, study_schema

    made = scenario_schema() if kind == "scenario" else study_schema()
    text = json_text(made, indent=2)
    if out is None:
        click.echo(text)
        return
    from longfat.results._folder import write_whole

    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, lambda path: path.write_text(text + "\n", "utf-8"))
