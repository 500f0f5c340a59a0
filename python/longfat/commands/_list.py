"""`longfat list`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from longfat.commands._options import command

if TYPE_CHECKING:
    from rich.table import Table

_KINDS = ("controllers", "queues", "profiles", "scenarios", "papers")


@command("list")
@click.argument("kind", type=click.Choice(_KINDS), required=False)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_command(kind: str | None, name: str | None, *, as_json: bool) -> None:
    """List controllers, queues, profiles, example scenarios and papers; by default all of them.

    With the NAME of a controller or a queue: what its parameters mean, what they may be, and their defaults.
    NAME may be code of your own, which is run: rules.py:gentle, package.module:gentle, librules.so or
    librules.so:gentle.

    \b
    longfat list controllers exp
    longfat list queues red
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    if name is not None:
        _one(kind, name, as_json=as_json)
        return
    from longfat import _longfat
    from longfat.commands._examples import examples

    sources = {
        "controllers": _longfat.controllers,
        "queues": _longfat.queues,
        "profiles": _profiles,
        "scenarios": examples,
        "papers": _papers,
    }
    found = {each: sources[each]() for each in ([kind] if kind else _KINDS)}
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(found, indent=2))
        return
    from longfat.commands._console import console

    out = console()
    for index, (each, entries) in enumerate(found.items()):
        if index:
            out.print()
        if entries:
            if each == "scenarios" and _crowded(entries, out.width):
                for entry in entries:
                    out.print(f"{entry['path']}\n  {entry['question']}", soft_wrap=True)
                continue
            tables = {"scenarios": _scenarios, "papers": _rooms}
            out.print(tables[each](entries) if each in tables else _registry(each, entries))
        else:
            out.print(f"no {each} found: they are in the folder {each} of the source")


def _one(kind: str | None, named: str, *, as_json: bool) -> None:
    """Shows one controller or queue.

    Raises:
        click.UsageError: There is none.
    """
    if kind not in ("controllers", "queues"):
        message = f"a name is for controllers and queues: longfat list {kind} shows all there is"
        raise click.UsageError(message)
    from longfat.commands._console import console
    from longfat.commands._entry import described, example, parameters

    what: Literal["controller", "queue"] = "controller" if kind == "controllers" else "queue"
    entry = described(named, what)
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text({kind: [entry]}, indent=2))
        return
    out = console()
    told = [f"{entry['name']}: {entry['title']}" if entry["title"] else entry["name"]]
    told += [entry["source"]] if entry["source"] else []
    told += [_family(entry["family"])] if "family" in entry else []
    told += [f"needs {needs}"] if (needs := _needs(entry)) else []
    out.print("\n".join(told) + "\n", soft_wrap=True)
    if entry["parameters"]:
        out.print(parameters(entry))
    else:
        out.print("it has no parameters")
    out.print(f"\nin a scenario: {example(named, entry, what)}", soft_wrap=True)


def _family(family: str) -> str:
    return f"by {family}" if family != "no window" else "without a window"


_NEEDS = {
    "ecn": "ECN",
    "accurate_ecn": "Accurate ECN",
    "ect1": "ECT(1) on its data",
    "anti_ecn": "links with `anti_ecn`, to gain by it",
    "pacing": "pacing",
    "access": "the key `access`, the rate of its host's own link",
}


def _needs(entry: dict[str, Any]) -> str:
    """What a controller cannot do without, in words; empty if nothing."""
    words = [_NEEDS[word] for word in entry.get("needs", ()) if word in _NEEDS]
    queue = entry.get("queue")
    return ", ".join([*words, *([f"the queue `{queue}` on its path"] if queue else [])])


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

    made = table(kind.removesuffix("s"), "what it is", "parameters", "source", left=4)
    family = None
    for entry in entries:
        if entry.get("family") != family:
            family = entry["family"]
            made.add_section()
            made.add_row("", _family(entry["family"]), "", "")
        parameters = "\n".join(_parameter(parameter) for parameter in entry["parameters"])
        made.add_row(entry["name"], entry["title"], parameters, entry["source"])
    return made


def _parameter(parameter: dict[str, Any]) -> str:
    from longfat.commands._entry import default_of

    default = default_of(parameter)
    return f"{parameter['name']} = {default}" if default else str(parameter["name"])


def _crowded(entries: list[dict[str, Any]], width: int) -> bool:
    """Whether paths leave no room beside them: none is ever broken."""
    return 2 * max(len(entry["path"]) for entry in entries) > width


def _scenarios(entries: list[dict[str, Any]]) -> Table:
    from longfat.commands._console import table

    made = table("scenario", "its question", left=2)
    made.columns[0].no_wrap = True
    for entry in entries:
        made.add_row(entry["path"], entry["question"])
    return made


def _rooms(entries: list[dict[str, Any]]) -> Table:
    from longfat.commands._console import table

    made = table("paper", "title", "figures", left=3)
    for entry in entries:
        made.add_row(entry["slug"], entry["title"], ", ".join(entry["figures"]))
    return made
