"""`longfat check`: does a controller keep what every host relies on?"""

from __future__ import annotations

import click

from longfat.commands._options import command
from longfat.scenario import LARGEST_SEED, MOST_CASES


@command("check")
@click.argument("controller")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=1,
    show_default=True,
    help="Other random sequences of events.",
)
@click.option(
    "--cases",
    type=click.IntRange(1, MOST_CASES),
    default=200,
    show_default=True,
    help="How many of them.",
)
@click.option(
    "--allow-code",
    is_flag=True,
    help="Run the code that CONTROLLER names, which is done without it too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress.")
def check_command(
    controller: str, seed: int, cases: int, *, allow_code: bool, as_json: bool, quiet: bool
) -> int:
    """Hold CONTROLLER to what every host relies on, and to what it promises itself.

    CONTROLLER is a name of `longfat list controllers`, or code of your own: rules.py:gentle,
    package.module:gentle, librules.so or librules.so:gentle. It is run because you name it here: unlike code
    that a scenario names, it needs no --allow-code, which is accepted as by other commands.

    Of each promise that is broken it shows what was expected, what happened, and the shortest sequence of
    events that it found to show it. Ends with 0 if all are kept, and with 1 otherwise.
    """
    del allow_code  # to name the code is to allow it
    from longfat.commands._console import progress
    from longfat.commands._entry import own_entry
    from longfat.conformance import check
    from longfat.foreign import json_text

    own = own_entry(controller, "controller")
    subject = controller if own is None else own
    try:
        with progress(
            f"checking {controller}", quiet=quiet, speed=lambda share: f"{share * cases:,.0f}/s"
        ) as tell:
            checked = check(subject, seed=seed, cases=cases, progress=tell)
    except (TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(json_text(checked.as_dict(), indent=2) if as_json else str(checked))
    return 0 if checked.ok else 1
