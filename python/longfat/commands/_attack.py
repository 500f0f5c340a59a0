"""`longfat attack`: the search for the path on which a controller fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import Quantity, allow_code
from longfat.commands._options import cores as of_cores
from longfat.scenario import LARGEST_SEED

if TYPE_CHECKING:
    from longfat.attack import Attack

_GOALS = ("starve", "underuse", "queue", "loss", "unfair")
_MOST_TRIALS = 10_000_000
_TRIALS = 10_000


@click.command("attack")
@click.argument("controller")
@click.option(
    "--goal",
    type=click.Choice(_GOALS),
    required=True,
    help="How it is to fail: get nothing, leave the link idle, wait, lose packets, share unevenly.",
)
@click.option(
    "--against",
    default="cubic",
    show_default=True,
    help="What it is compared with, on the same path.",
)
@click.option(
    "--rate", type=Quantity("rate"), default="20 Mbit/s", help="Rate of the link [20 Mbit/s]."
)
@click.option(
    "--duration", type=Quantity("time", usual="s"), default="30 s", help="Of each run [30 s]."
)
@click.option(
    "--trials",
    type=click.IntRange(1, _MOST_TRIALS),
    default=_TRIALS,
    show_default=True,
    help="How many paths are tried.",
)
@click.option(
    "--for",
    "lasting",
    type=Quantity("time", usual="min"),
    help="When the search ends at the latest: 10min.",
)
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), default=1, help="Of the search [1].")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a field in every scenario, e.g. link.bottleneck.queue=codel. May be repeated.",
)
@of_cores
@click.option(
    "--out", type=click.Path(path_type=Path), help="Result folder [runs/attack-CONTROLLER-GOAL]."
)
@allow_code
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress, no report.")
def attack_command(
    controller: str,
    *,
    goal: str,
    against: str,
    rate: str,
    duration: str,
    trials: int,
    lasting: str | None,
    seed: int,
    changes: tuple[str, ...],
    cores: int | None,
    out: Path | None,
    allow_code: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Search for the path on which CONTROLLER fails, where another controller does not.

    CONTROLLER is a name of `longfat list controllers`, a table such as '{kind="fiber", alpha=0.01}', or, with
    --allow-code, code of your own: rules.py:gentle, librules.so. Ctrl-C ends the search, and what was found
    until then is written.

    \b
    longfat attack stcp --goal unfair
    longfat attack bbr1 --goal loss --for 2min
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat._longfat import quantity
    from longfat.attack import ATTACK, find
    from longfat.commands._console import progress
    from longfat.foreign import json_text
    from longfat.own import control_of
    from longfat.results import ResultFolder
    from longfat.scenario import PICOSECONDS

    try:
        attacked, other = control_of(controller), control_of(against)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    target = out or Path("runs") / f"attack-{_word(controller)}-{goal}"
    with ResultFolder(target, ATTACK) as folder:
        with progress(
            f"attacking {controller}",
            quiet=quiet,
            speed=lambda share: f"{share * trials:,.0f} trials/s",
        ) as tell:
            found = find(
                attacked,
                goal,
                against=other,
                rate=rate,
                duration=duration,
                trials=trials,
                seconds=None if lasting is None else quantity("time", lasting) / PICOSECONDS,
                seed=seed,
                set=changes,
                cores=cores or 0,
                allow_code=allow_code,
                progress=tell,
            )
        found.write_files(folder.path)
        folder.commit()
    if as_json:
        click.echo(json_text(found.as_dict(), indent=2))
    elif not quiet:
        _print(found, target)
    return 130 if found.found.interrupted else 0


def _print(found: Attack, target: Path) -> None:
    from longfat.commands._console import console

    screen = console()
    screen.print(f"{found}\n", soft_wrap=True)
    _, _, scenario = found.scenario.partition("\n\n")
    screen.print(scenario, soft_wrap=True)
    for name, sentences in zip((found.controller, found.against), found.why, strict=True):
        # Of each flow the first sentence: the shares.
        shares = [each for each in sentences if " limited " in each]
        screen.print(f"{name}: {' '.join(shares)}", soft_wrap=True)
    score = found.score
    spread = f" ± {score.half_width:.3f}" if score.half_width is not None else ""
    screen.print(
        f"score {score.mean:.3f}{spread} over {score.n} fresh seeds; {found.found.trials:,} trials",
        soft_wrap=True,
    )
    if found.found.failed:
        screen.print(f"{found.found.failed} of them could not be run: {found.found.error}")
    screen.print(f"results in {target}\n\nnext:\n  longfat run {target / 'winner.toml'} --plot")


def _word(text: str) -> str:
    """A controller as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text.replace("kind", "")).strip("-") or "controller"
