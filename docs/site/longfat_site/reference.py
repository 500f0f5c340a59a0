"""The reference, made from the program when the site is built: keys, catalogues, commands, the package.

A page in `docs/reference` has a line such as `<!-- reference: controllers -->`; in the site, what is made
stands in its place. Everything here is text in and text out, so that tests can look at it without building
a site.
"""

from __future__ import annotations

import inspect
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat import _longfat
from longfat_site.entries import accepted, described, profile_table, usual_of
from longfat_site.package import python

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]
ESSAYS = {
    "controllers": ROOT / "crates/control/src/controller",
    "queues": ROOT / "crates/queue/src/discipline",
}
"""Where each controller and each queue opens its file with an essay."""

MARK = re.compile(r"<!-- reference: ([\w-]+) -->\n")

GUIDE = "../guides/scenario-file.md"
_INTO_GUIDE = re.compile(r"\]\((#[^)]*)\)")
_BESIDE_GUIDE = re.compile(r"\]\(([\w-]+\.md[^)]*)\)")
_TO_CODE = re.compile(r"\[([^\]]+)\](?:\((?!https?://)[^)]*\)|\[[^\]]*\])?")
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)


def filled(text: str) -> str:
    """A page with what is made in the place of its marks.

    Raises:
        KeyError: A mark asks for what nobody makes.
    """
    return MARK.sub(lambda found: MADE[found[1]](), text)


def scenario_keys() -> str:
    """Every table of a scenario file, with each key: what it accepts, its default, its meaning."""
    text = ""
    for name, kinds in groupby(_longfat.scenario_keys(), key=lambda table: table["name"]):
        text += f"## {name}\n\n"
        for table in kinds:
            if table["kind"]:
                text += f'Of the kind `"{table["kind"]}"`:\n\n'
            if table["one_of"]:
                text += "Exactly one of these:\n\n"
            text += "| key | what it accepts | default | meaning |\n|---|---|---|---|\n"
            for key in table["keys"]:
                usual = "as forwards" if name == "reverse" else _from_here(usual_of(key))
                cells = (
                    f"`{key['name']}`",
                    accepted(key["accepts"]),
                    usual,
                    _from_here(key["about"]),
                )
                text += f"| {' | '.join(cells)} |\n"
            text += "\n"
    return text


def _from_here(told: str) -> str:
    """What the guide of the scenario file says, whose links are relative to it, for a page of the reference."""
    return _INTO_GUIDE.sub(rf"]({GUIDE}\1)", _BESIDE_GUIDE.sub(r"](../guides/\1)", told))


def units() -> str:
    """The units that are understood."""
    text = "| quantity | units |\n|---|---|\n"
    for quantity, known in _longfat.known_units():
        text += f"| {quantity} | {', '.join(f'`{unit}`' for unit in known)} |\n"
    return text


def study_keys() -> str:
    """Every key of a study file and of its tables, from the schema that the reader of studies provides."""
    from longfat.schema import study_schema

    schema = study_schema()
    definitions = schema["$defs"]
    ours = [name for name in definitions if name[0].isupper()]
    parts = [("The file", schema), *((name, definitions[name]) for name in ours)]
    text = ""
    for name, table in parts:
        text += f"## {name}\n\n"
        if about := table.get("description"):
            text += f"{about}\n\n"
        text += "| key | what it accepts | default | meaning |\n|---|---|---|---|\n"
        required = table.get("required", ())
        for key, value in table["properties"].items():
            usual = "required" if key in required else _json(value.get("default"))
            told = value.get("description", "")
            text += f"| `{key}` | {_shape(value)} | {usual} | {told} |\n"
        text += "\n"
    return text


def _json(value: Any) -> str:  # noqa: ANN401 - any value of JSON
    from longfat.foreign import json_text

    return "none" if value is None else f"`{json_text(value)}`"


def _shape(schema: dict[str, Any]) -> str:
    """What a schema accepts, in words."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if name[0].isupper() else "a scenario"
    if words := schema.get("enum"):
        return " or ".join("nothing" if word is None else f'`"{word}"`' for word in words)
    if several := schema.get("anyOf"):
        told = dict.fromkeys(_shape(each) for each in several)
        return " or ".join(each for each in told if each != "nothing")
    kind = schema.get("type")
    if kind == "array":
        return "a list of " + _shape(schema["items"]) if schema.get("items") else "a list"
    return {
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "object": "a table",
        "null": "nothing",
        None: "any value",
    }[kind]


def controllers() -> str:
    """Every controller: its parameters, and the essay that opens its file."""
    return _catalogue("controllers", _longfat.controllers())


def queues() -> str:
    """Every queue discipline: its parameters, and the essay that opens its file."""
    return _catalogue("queues", _longfat.queues())


def profiles() -> str:
    """Every profile of a flow."""
    return profile_table(_longfat.profiles())


def _catalogue(kind: str, entries: list[dict[str, Any]]) -> str:
    return "".join(
        described(entry).replace("\n### ", "\n## ") + "\n" + essay(kind, entry["name"]) + "\n"
        for entry in entries
    )


def essay(kind: str, name: str) -> str:
    """What the file of a controller or a queue opens with, but for its title."""
    stem = name.replace("+", "_plus").replace("-", "_")
    folder = ESSAYS[kind]
    path = folder / f"{stem}.rs"
    if not path.exists():
        path = folder / stem / "mod.rs"
    lines = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line[3:].removeprefix(" "))
    _, _, text = "\n".join(lines).partition("\n")
    plain = "".join(
        part if index % 2 else _HEADING.sub("### ", _TO_CODE.sub(r"\1", part))
        for index, part in enumerate(
            re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
        )
    )
    place = path.relative_to(ROOT)
    return f"{plain.strip()}\n\nThis is how [{place}](../../{place}) begins.\n"


def command_line() -> str:
    """Every command with its arguments and options, from the parser that reads them."""
    from longfat.commands import commands

    context = click.Context(commands, info_name="longfat")
    return _commands(commands, context)


def _commands(group: click.Group, context: click.Context) -> str:
    return "".join(
        _command(command, click.Context(command, context, name))
        for name, command in sorted(group.commands.items())
    )


def _command(command: click.Command, context: click.Context) -> str:
    usage = command.get_usage(context).partition("Usage: ")[2]
    text = f"## {context.command_path}\n\n```text\n{usage}\n```\n\n{_help(command.help or '')}\n"
    rows = [
        record
        for parameter in command.get_params(context)
        if (record := parameter.get_help_record(context)) is not None
    ]
    text += "| option | meaning |\n|---|---|\n"
    for option, meaning in rows:
        text += f"| `{_cell(option)}` | {_cell(_prose(meaning))} |\n"
    text += "\n"
    return text + _commands(command, context) if isinstance(command, click.Group) else text


def _help(text: str) -> str:
    """The help of a command; what the parser leaves as it is, after a backspace, becomes a block."""
    told = ""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            told += "```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```\n\n"
        else:
            told += _prose(paragraph) + "\n\n"
    return told


def _prose(text: str) -> str:
    """Plain text of a terminal as Markdown."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if index % 2 else re.sub(r"([\\*_<\[\]])", r"\\\1", part)
        for index, part in enumerate(parts)
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


RUST = "rust"
"""The folder of the site for what `cargo doc` makes."""

WITHOUT_PAGES = {"py"}
"""Crates that nobody uses from Rust."""


def rust() -> str:
    """The crates, with links to what `cargo doc` makes of each."""
    text = "| crate | what it is |\n|---|---|\n"
    for path in sorted(ROOT.glob("crates/*/Cargo.toml")):
        crate = path.parent.name
        if crate in WITHOUT_PAGES:
            continue
        manifest = path.read_text("utf-8")
        (about,) = re.findall(r'^description = "(.+)"$', manifest, re.MULTILINE)
        page = f"../../{RUST}/longfat_{crate}/index.html"
        text += f'| <a href="{page}"><code>longfat-{crate}</code></a> | {about} |\n'
    return text


MADE: dict[str, Callable[[], str]] = {
    "scenario-keys": scenario_keys,
    "units": units,
    "study-keys": study_keys,
    "controllers": controllers,
    "queues": queues,
    "profiles": profiles,
    "command-line": command_line,
    "python": python,
    "rust": rust,
}
"""What can be made, by its name in a mark."""
