"""One controller or queue: which an argument means, and what it has to say of itself."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from longfat.foreign import shown
from longfat.units import plain

if TYPE_CHECKING:
    from rich.table import Table

    from longfat._longfat import Own

Kind = Literal["controller", "queue"]

_OPEN = 1e15
"""A bound as far away as this is none."""
_LEAST_NORMAL = 1e-300
"""A bound as small as this means: above 0."""


def own_entry(named: str, kind: Kind) -> Own | None:
    """The code that an argument means, which is run; `None` if it is a plain name.

    Args:
        named: `rules.py:gentle`, `package.module:gentle`, `librules.so`, `librules.so:gentle`, or a name.
        kind: What it has to be.

    Raises:
        click.UsageError: It names code that cannot be had.
    """
    from longfat.own import Code, code_form

    form = code_form(named)
    if form is None:
        return None
    if named.endswith(".py"):
        message = f"{named} is a file: say which {kind} in it, such as {named}:gentle"
        raise click.UsageError(message)
    fetch = Code(allowed=True).fetcher(Path())
    assert fetch is not None  # noqa: S101 - code is allowed
    try:
        own, _ = fetch(form, named, kind)
    except ValueError as error:
        message = f"no {kind} comes from `{named}`: {error}"
        raise click.UsageError(message) from error
    return own


def described(named: str, kind: Kind) -> dict[str, Any]:
    """What lists say of one controller or queue: of longfat by its name, of your own as code.

    Raises:
        click.UsageError: There is none.
    """
    from longfat import _longfat

    own = own_entry(named, kind)
    if own is not None:
        return dict(own.describe())
    entries = {
        each["name"]: each
        for each in (_longfat.controllers() if kind == "controller" else _longfat.queues())
    }
    if named not in entries:
        meant = get_close_matches(named, entries, n=1)
        hint = f"did you mean `{meant[0]}`?" if meant else f"`longfat list {kind}s` shows them all"
        message = f"there is no {kind} called `{shown(named)}`: {hint}"
        raise click.UsageError(message)
    return dict(entries[named])


def parameters(entry: dict[str, Any]) -> Table:
    """A row for each parameter: its default, what it may be, what it means."""
    from longfat.commands._console import table

    made = table("parameter", "default", "range", "what it is", left=4)
    made.columns[0].no_wrap = made.columns[1].no_wrap = True
    for each in entry["parameters"]:
        made.add_row(each["name"], default_of(each), _range(each), each["about"])
    return made


def default_of(parameter: dict[str, Any]) -> str:
    """The default of a parameter as a scenario has it; nothing if a scenario must give it."""
    default = parameter["default"]
    if default is None:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    number = plain(default) if isinstance(default, float) else str(default)
    return f"{number} /s" if parameter.get("kind") == "frequency" else number


def _range(parameter: dict[str, Any]) -> str:
    kind, words = parameter["kind"], [f'"{word}"' for word in parameter["words"] or []]
    told = {
        "flag": "true or false",
        "time": "a time",
        "length": "a length",
        "controller": "a controller",
    }
    if kind in told:
        return told[kind]
    numbers = [] if kind == "word" else [_bounds(parameter)]
    *others, last = [*numbers, *words]
    return f"{', '.join(others)} or {last}" if others else last


def _bounds(parameter: dict[str, Any]) -> str:
    unit = " /s" if parameter["kind"] == "frequency" else ""
    least, most = float(parameter["minimum"]), float(parameter["maximum"])
    high = "" if most >= _OPEN else f"{plain(most)}{unit}"
    if least <= -_OPEN:
        number = "a whole number" if parameter["kind"] == "count" else "a number"
        return f"up to {high}" if high else number
    if 0 < least < _LEAST_NORMAL:
        return f"above 0, up to {high}" if high else "above 0"
    return f"{plain(least)} to {high}" if high else f"{plain(least)}{unit} or more"


def example(named: str, entry: dict[str, Any], kind: Kind) -> str:
    """How a scenario asks for it, with its first parameter at its default."""
    from longfat.own import code_form

    key = "control" if kind == "controller" else "queue"
    form = code_form(named)
    settable = [each for each in entry["parameters"] if each["default"] is not None]
    if not settable and form is None:
        return f'{key} = "{named}"'
    pairs = [f'{form or "kind"} = "{named}"']
    if settable:
        first = settable[0]
        value = default_of(first)
        bare = isinstance(first["default"], (bool, int, float)) and first["kind"] != "frequency"
        pairs.append(f"{first['name']} = {value}" if bare else f'{first["name"]} = "{value}"')
    return f"{key} = {{ {', '.join(pairs)} }}"
