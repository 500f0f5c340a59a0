"""What the commands that take a scenario share."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from longfat.scenario import LARGEST_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Once(click.Command):
    """A command that refuses an option given twice, of which the last would otherwise win unseen."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for option in order:
            single = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            if single and order.count(option) > 1:
                message = f"{option.opts[-1]} is given twice, and takes a single value."
                raise click.UsageError(message, ctx)
        return super().parse_args(ctx, args)


command = partial(click.command, cls=_Once)
"""`click.command` for commands of longfat."""


class Quantity(click.ParamType[str]):
    """A number with its unit, checked here so that an error can name the option."""

    def __init__(self, kind: Literal["time", "rate", "size"], *, usual: str | None = None) -> None:
        """A quantity of this `kind`, which is suggested in the `usual` unit where it has none."""
        self.kind = kind
        self.usual = usual
        self.name = kind

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it was given, if it has a unit that is known."""
        from longfat._longfat import quantity

        try:
            quantity(self.kind, value, self.usual)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value


class Quantities(click.ParamType[list[str]]):
    """Such numbers, separated by commas; of kind `length` they are left to the scenario to check."""

    def __init__(self, kind: Literal["time", "rate", "length"]) -> None:
        """Takes quantities of this kind."""
        self._one = None if kind == "length" else Quantity(kind)
        self.name = kind

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        """Splits them, and checks each."""
        parts = [part.strip() for part in value.split(",")]
        if not all(parts):
            self.fail(f"there is nothing before or after a comma in {value!r}", param, ctx)
        return (
            parts if self._one is None else [self._one.convert(each, param, ctx) for each in parts]
        )


class Share(click.ParamType[float]):
    """A probability below 1: `1e-4`, or `0.01%`."""

    name = "share"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Reads it."""
        text = str(value).strip()
        number = text.removesuffix("%")
        try:
            share = float(number) / (100 if number != text else 1)
        except ValueError:
            self.fail(f"{value!r} is no probability, such as 1e-4 or 0.01%", param, ctx)
        if not 0 <= share < 1:
            self.fail(f"{value} is not in the range from 0 up to 1 (100%)", param, ctx)
        return share


changes = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a field, e.g. link.bottleneck.rate="1 Gbit/s". May be repeated.',
)
"""Sets fields of a scenario, passed to the command as `changes`."""


allow_code = click.option(
    "--allow-code",
    is_flag=True,
    help="Load and run the code that it names, python = or library =. Only if you trust it.",
)
"""Lets a scenario name code, passed to the command as `allow_code`."""


_MOST_WORKERS = 1024

workers = click.option(
    "--workers",
    type=click.IntRange(1, _MOST_WORKERS),
    help="Runs at a time [one for each core].",
)
"""How many runs there are at a time, passed to the command as `workers`."""

cores = click.option(
    "--cores", type=click.IntRange(1, _MOST_WORKERS), help="Runs at a time [one per core]."
)
"""The same by another name, passed to the command as `cores`."""


access = click.option(
    "--access",
    type=Quantity("rate"),
    help="Rate of each sender's own link, which blitz and sized-start have to know: 10Gbit/s.",
)
"""Gives all flows an access link, passed to the command as `access`."""


def profile(usual: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives all flows the hosts of a profile, passed to the command as `profile`; by default `usual` ones."""
    return click.option(
        "--profile", help=f"Hosts: a profile of `longfat list profiles`, such as linux-6 [{usual}]."
    )


@contextmanager
def in_options() -> Iterator[None]:
    """Where options make a scenario: what is wrong with it is told in terms of the options.

    Raises:
        StudyError: Something in the scenario is wrong.
    """
    from longfat.errors import ScenarioError, StudyError
    from longfat.study._setup import ORIGIN

    try:
        yield
    except ScenarioError as error:
        text = re.sub(rf"({ORIGIN}):\d+:\d+", r"\1", str(error))
        text = text.replace('add `access = "10 Gbit/s"`', "give it, such as `--access 10Gbit/s`")
        text = re.sub(
            r"give the (?:slowest )?link `queue = \"(.+?)\"`",
            r"leave `--queue` out, or write `--queue \1`",
            text,
        )
        raise StudyError(text.removeprefix("error: ")) from error


def of_scenario(decorated: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the file, `--seed`, `--set` and `--allow-code`, passed as `file`, `seed`, `changes` and so on."""
    add = (
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--seed", type=click.IntRange(0, LARGEST_SEED), help="Replace the seed of the file."
        ),
        changes,
        allow_code,
    )
    for decorate in reversed(add):
        decorated = decorate(decorated)
    return decorated
