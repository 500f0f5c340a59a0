"""What the commands that take a scenario share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.scenario import LARGEST_SEED

if TYPE_CHECKING:
    from collections.abc import Callable


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
