"""`longfat list`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

_KINDS = ("controllers", "queues", "profiles", "scenarios", "papers")


@click.command("list")
@click.argument("kind", type=click.Choice(_KINDS), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_command(kind: str | None, *, as_json: bool) -> None:
    """List controllers, queues, profiles, example scenarios and papers; by default all of them."""
    from longfat import _longfat
    from longfat.commands._examples import examples

    sources = {
        "controllers": _longfat.controllers,
        "queues": _longfat.queues,
        "profiles": _profiles,
        "scenarios": examples,
        "papers": _papers,
    }
    found = {name: sources[name]() for name in ([kind] if kind else _KINDS)}
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(found, indent=2))
        return
    from longfat.commands._console import console

    out = console()
    for index, (name, entries) in enumerate(found.items()):
        if index:
            out.print()
        if entries:
            tables = {"scenarios": _scenarios, "papers": _rooms}
            out.print(tables[name](entries) if name in tables else _registry(name, entries))
        else:
            out.print(f"no {name} found: they are in the folder {name} of the source")


def _profiles() -> list[dict[str, Any]]:
    """The profiles in the form of the other lists, with the keys they set in place of parameters."""
    from longfat import _longfat

    return [
        {
            "name": profile["name"],
            "title": profile["title"],
            "source": profile["source"],
            "parameters": [{"name": key, "default": value} for key, value in profile["keys"]]
            + [{"name": f"{key} ({kind})", "default": it} for kind, key, it in profile["with"]],
        }
        for profile in _longfat.profiles()
    ]


def _papers() -> list[dict[str, Any]]:
    """The papers that can be remade, with the figures that have claims. None of their code is run."""
    from longfat.errors import RoomError
    from longfat.foreign import shown
    from longfat.paper._room import rooms

    found = []
    for room in rooms():
        try:
            paper, figures = room.paper, room.claimed_figures
        except (RoomError, OSError) as error:
            click.echo(shown(f"warning: {error}"), err=True)
            continue
        told = {"title": paper.title, "authors": paper.authors, "venue": paper.venue}
        found.append({"slug": room.slug, **told, "year": paper.year, "figures": figures})
    return found


def _registry(kind: str, entries: list[dict[str, Any]]) -> Table:
    from longfat.commands._console import table

    made = table(kind.removesuffix("s"), "what it is", "parameters", "source", left=4, wrap=True)
    family = None
    for entry in entries:
        if entry.get("family") != family:
            family = entry["family"]
            made.add_section()
            made.add_row(
                "", f"by {family}" if family != "no window" else "without a window", "", ""
            )
        parameters = "\n".join(_parameter(parameter) for parameter in entry["parameters"])
        made.add_row(entry["name"], entry["title"], parameters, entry["source"])
    return made


def _parameter(parameter: dict[str, Any]) -> str:
    default = parameter["default"]
    if isinstance(default, bool):
        default = str(default).lower()
    elif parameter.get("kind") == "frequency":
        default = f"{default:g} /s"
    value = (
        ""
        if default is None
        else f" = {default:g}"
        if isinstance(default, float)
        else f" = {default}"
    )
    return f"{parameter['name']}{value}"


def _scenarios(entries: list[dict[str, Any]]) -> Table:
    from longfat.commands._console import table

    made = table("scenario", "its question", left=2, wrap=True)
    for entry in entries:
        made.add_row(entry["path"], entry["question"])
    return made


def _rooms(entries: list[dict[str, Any]]) -> Table:
    from longfat.commands._console import table

    made = table("paper", "title", "figures", left=3, wrap=True)
    for entry in entries:
        made.add_row(entry["slug"], entry["title"], ", ".join(entry["figures"]))
    return made
