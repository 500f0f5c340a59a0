"""What the commands that take a scenario share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from longfat.commands._entry import LIBRARIES
from longfat.scenario import LARGEST_SEED

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable


class Quantity(click.ParamType[str]):
    """A number with its unit, checked here so that an error can name the option."""

    def __init__(self, kind: Literal["time", "rate", "size"]) -> None:
        """A quantity of this `kind`."""
        self.kind = kind
        self.name = kind

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it was given, if it has a unit that is known."""
        from longfat._longfat import quantity

        try:
            quantity(self.kind, value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value


allow_code = click.option(
    "--allow-code",
    is_flag=True,
    help="Load and run the code that it names, python = or library =. Only if you trust it.",
)
"""Lets a scenario name code, passed to the command as `allow_code`."""


def of_scenario(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the file, `--seed`, `--set` and `--allow-code`, passed as `file`, `seed`, `changes` and so on."""
    add = (
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--seed", type=click.IntRange(0, LARGEST_SEED), help="Replace the seed of the file."
        ),
        click.option(
            "--set",
            "changes",
            multiple=True,
            metavar="KEY=VALUE",
            help='Change a field, e.g. link.bottleneck.rate="1 Gbit/s". May be repeated.',
        ),
        allow_code,
    )
    for decorate in reversed(add):
        command = decorate(command)
    return command


def control_of(text: str) -> str | dict[str, Any]:
    """A controller as a scenario has it, from how the command line names it.

    A name, a table such as `{kind="fiber", alpha=0.01}`, or code: `rules.py:gentle`, `librules.so`.

    Raises:
        click.UsageError: It is a table that is no TOML.
    """
    if text.lstrip().startswith("{"):
        try:
            table: dict[str, Any] = tomllib.loads(f"control = {text}")["control"]
        except tomllib.TOMLDecodeError as error:
            message = f"{text} is no table: {error}"
            raise click.UsageError(message) from error
        return table
    path = text.rpartition(":")[0]
    if any(part.endswith(LIBRARIES) for part in (text, path)):
        return {"library": text}
    return {"python": text} if path or text.endswith(".py") else text
