"""`longfat advise`: which controller, buffer and number of streams for a path."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import (
    Quantities,
    Quantity,
    Share,
    access,
    allow_code,
    command,
    in_options,
    profile,
)
from longfat.scenario import MOST_SEEDS

if TYPE_CHECKING:
    from longfat.own import Code
    from longfat.study._advice import Advice
    from longfat.study._question import Question

_CONTROLS = "cubic,bbr3,hstcp,exp"


class _Counts(click.ParamType[list[int]]):
    """Whole numbers from 1 up, separated by commas."""

    name = "counts"

    def convert(
        self, value: str | list[int], param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        if isinstance(value, list):
            return value
        parts = [part.strip() for part in value.split(",")]
        if not all(part.isdecimal() and 0 < int(part) <= 10_000 for part in parts):  # noqa: PLR2004 - streams
            self.fail(
                f"{value!r} is no list of whole numbers from 1 to 10000, such as 1,4,16", param, ctx
            )
        return [int(part) for part in parts]


@command("advise")
@click.option("--rate", type=Quantity("rate"), required=True, help="Rate of the link: 10Gbit/s.")
@click.option("--rtt", type=Quantity("time"), required=True, help="Round trip: 100ms.")
@click.option(
    "--loss",
    type=Share(),
    default=0.0,
    help="Probability of corruption per packet: 1e-7, 0.01% [0].",
)
@click.option(
    "--streams", type=_Counts(), default="1,4,16", help="Flows that share the work [1,4,16]."
)
@click.option("--control", "controls", default=_CONTROLS, help=f"Controllers [{_CONTROLS}].")
@click.option(
    "--buffer",
    "buffers",
    type=Quantities("length"),
    multiple=True,
    default=["0.25 bdp,1 bdp"],
    help="What the queue of the link may hold [0.25 bdp,1 bdp].",
)
@click.option(
    "--queue",
    default="drop-tail",
    help="Queue discipline [drop-tail, or what the controller needs].",
)
@access
@click.option(
    "--size", type=Quantity("size"), help="A file to transfer [what the link carries in a run]."
)
@click.option(
    "--beside", default="cubic", help="Controller of the flow that was there before [cubic]."
)
@click.option(
    "--duration",
    type=Quantity("time", usual="s"),
    help="Of each run [300 round trips, 20 s to 2 min].",
)
@profile("RACK-TLP, and the standards otherwise")
@click.option("--packet", type=Quantity("size"), default="1500 B", help="Packet size [1500 B].")
@click.option("--seeds", type=click.IntRange(1, MOST_SEEDS), default=3, help="Runs of each [3].")
@click.option(
    "--closely", type=click.IntRange(1, 100), default=6, help="So many choices over all seeds [6]."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder [runs/advise-PATH].")
@allow_code
@click.option("--dry-run", is_flag=True, help="Tell how long it may take, and run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def advise_command(
    *,
    rate: str,
    rtt: str,
    loss: float,
    streams: list[int],
    controls: str,
    buffers: tuple[list[str], ...],
    queue: str,
    access: str | None,
    profile: str | None,
    size: str | None,
    beside: str,
    duration: str | None,
    packet: str,
    seeds: int,
    closely: int,
    out: Path | None,
    allow_code: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which controller, buffer and number of streams suit a path, from simulations of it.

    Every choice is simulated once; those that no other beats in utilisation and in delay are simulated again
    over all seeds: alone, with a file to transfer, and beside a flow that was there before. The folder has a
    page to pass on (advice.html), the numbers, and the scenario behind each of them.

    \b
    longfat advise --rate 1Gbit/s --rtt 100ms --loss 1e-6
    longfat advise --rate 100Gbit/s --rtt 100ms --streams 1,4,16 --dry-run
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.own import Code
    from longfat.results._names import folder_name
    from longfat.study._advice import cost_s
    from longfat.study._question import Question, all_choices, carried, duration_for
    from longfat.study._setup import RECOVERY, Setup, split_controls
    from longfat.units import plain, plural

    wanted = split_controls(controls)
    if not wanted:
        message = "--control names no controller: see `longfat list controllers`."
        raise click.UsageError(message)
    lasts = duration or duration_for(rtt)
    (setup,) = Setup.all(
        rate,
        rtt,
        duration=lasts,
        queue=queue,
        packet=packet,
        loss=loss,
        access=access,
        profile=profile,
        recovery=RECOVERY if profile is None else None,
    )
    choices = all_choices(wanted, streams, chain(*buffers))
    question = Question(setup, choices, size or carried(rate, lasts), beside, seeds, closely)
    code = Code(allowed=allow_code)
    with in_options():
        cost = cost_s(question, code)
    told = f"{plural(len(choices), 'choice')}, at most about {_lasts(cost)} on this machine"
    if dry_run:
        click.echo(told)
        return
    if not quiet:
        click.echo(f"{told}; Ctrl-C ends it, and what is finished is kept", file=sys.stderr)
    given = [
        f"loss-{plain(loss)}" if loss else "",
        "" if queue == "drop-tail" else queue,
        profile or "",
    ]
    target = out or Path("runs") / folder_name("advise", rate, rtt, *given)
    found = _advise(question, target, code, quiet=quiet)
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(found.as_dict(), indent=2))
    elif not quiet:
        _print(found, target)


def _lasts(seconds: float) -> str:
    from longfat.units import LASTING, amount

    return amount(max(seconds, 1.0), LASTING)


def _advise(question: Question, target: Path, code: Code, *, quiet: bool) -> Advice:
    """Finds the answer, and writes its folder."""
    from longfat.commands._console import progress
    from longfat.foreign import json_text
    from longfat.results._folder import ResultFolder
    from longfat.study._advice import advise
    from longfat.study._advice_page import write_files

    with ResultFolder(target, "an advice") as folder:
        with progress("", quiet=quiet, speed=lambda _: "") as advanced:

            def told(_finished: int, total: int, share: float) -> None:
                if advanced:
                    look = "first look" if total == len(question.choices) else "closer look"
                    advanced(share, look)

            try:
                found = advise(question, progress=told, code=code)
            except ValueError as error:
                from longfat.errors import StudyError

                raise StudyError(str(error)) from error
        write_files(folder.path, found, json_text(found.as_dict(), indent=2))
        folder.commit()
    return found


def _print(found: Advice, target: Path) -> None:
    from longfat.commands._console import console, show
    from longfat.study._advice_page import closely_table, headline, others
    from longfat.study._setup import label_of
    from longfat.units import plural

    screen = console()
    screen.print(f"{headline(found)}\n", soft_wrap=True)
    for line in others(found):
        screen.print(line, soft_wrap=True)
    if others(found):
        screen.print()
    show(screen, closely_table(found))
    question = found.question
    spread = ", ± half of the 95 % confidence interval" if question.seeds > 1 else ""
    screen.print(
        f"\nover {plural(question.seeds, 'seed')}{spread}; transfer: {question.size}; "
        f"kept: by a flow of {label_of(question.other)}, as a share of what it has beside its like",
        soft_wrap=True,
    )
    for doubt in found.doubts:
        screen.print(doubt, soft_wrap=True)
    screen.print(f"\nthe page, and the scenario behind each number: {target}", soft_wrap=True)
