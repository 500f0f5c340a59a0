"""`longfat try`: compare controllers without writing a scenario file."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import Quantity, allow_code

if TYPE_CHECKING:
    from longfat.own import Code
    from longfat.study._comparison import Contender, Setup

_MOST_SEEDS = 1000


@click.command("try")
@click.option("--rate", type=Quantity("rate"), required=True, help="Rate of the link: 10Gbit/s.")
@click.option("--rtt", type=Quantity("time"), required=True, help="Round trip: 100ms.")
@click.option("--flows", type=click.IntRange(1), default=1, help="Flows on the link [1].")
@click.option(
    "--control",
    "controls",
    default="reno",
    help="Controllers to compare, separated by commas: cubic,exp or '{kind=\"exp\", gamma=0.1}' [reno].",
)
@click.option("--duration", type=Quantity("time"), default="60 s", help="Simulated time [60 s].")
@click.option(
    "--warmup", type=Quantity("time"), help="Left out of every average [a quarter of it]."
)
@click.option(
    "--buffer", default="1 bdp", help='"1 bdp", "5000 packets", "5 MB" or "50 ms" [1 bdp].'
)
@click.option("--queue", default="drop-tail", help="Queue discipline [drop-tail].")
@click.option("--packet", type=Quantity("size"), default="1500 B", help="Packet size [1500 B].")
@click.option(
    "--loss",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    help="Probability of corruption per packet [0].",
)
@click.option("--seeds", type=click.IntRange(1, _MOST_SEEDS), default=3, help="Runs of each [3].")
@click.option("--out", type=click.Path(path_type=Path), help="Write a folder with the results.")
@allow_code
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--plot", is_flag=True, help="Draw a picture, in --out or in runs/try-RATE-RTT.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def try_command(
    *,
    rate: str,
    rtt: str,
    flows: int,
    controls: str,
    duration: str,
    warmup: str | None,
    buffer: str,
    queue: str,
    packet: str,
    loss: float,
    seeds: int,
    out: Path | None,
    allow_code: bool,
    as_json: bool,
    plot: bool,
    quiet: bool,
) -> None:
    """Compare controllers on one link, without writing a scenario file.

    Every controller runs alone on the same path, once per seed; the flows start within the first five
    round trips, drawn from the seed. Numbers are means with their 95 % confidence intervals.
    Finished runs are kept in $LONGFAT_CACHE, or else in the cache folder of the platform.

    \b
    longfat try --rate 1Gbit/s --rtt 40ms --flows 2 --control reno --plot
    """  # noqa: D301 - the command line reads the backspace: keep this line as it is
    from longfat.own import Code
    from longfat.results._simulate import warning
    from longfat.study._comparison import Setup, split_controls

    wanted = split_controls(controls)
    if not wanted:
        message = "--control names no controller: see `longfat list controllers`."
        raise click.UsageError(message)
    setup = Setup(
        rate, rtt, flows, duration, warmup or _quarter(duration), buffer, queue, packet, loss
    )
    code = Code(allowed=allow_code)
    scenarios = [setup.scenario(control, code) for control in wanted]
    if len({scenario.to_toml() for scenario in scenarios}) < len(scenarios):
        message = "--control names the same controller twice."
        raise click.UsageError(message)
    if plot and out is None:
        out = Path("runs") / f"try-{_word(rate)}-{_word(rtt)}"
    if not quiet and (told := warning(scenarios, runs=seeds)):
        click.echo(told, err=True)
    found = _compare(setup, wanted, seeds, out, code=code, plot=plot, quiet=quiet)
    if as_json:
        from longfat.foreign import json_text

        rows = [contender.row() for contender in found]
        click.echo(json_text({"setup": vars(setup), "controls": rows}, indent=2))
    elif not quiet:
        _print(setup, found, seeds, out)
    errors = [(each.control, result) for each in found for result in each.results if result.error]
    for control, result in errors:
        click.echo(f"error: {control}, seed {result.job.seed}: {result.error}", err=True)
    if errors:
        click.get_current_context().exit(1)


def _compare(
    setup: Setup,
    wanted: list[str],
    seeds: int,
    out: Path | None,
    *,
    code: Code,
    plot: bool,
    quiet: bool,
) -> list[Contender]:
    """Runs the comparison and writes its folder, if one is wanted."""
    from contextlib import nullcontext

    from longfat.commands._console import progress
    from longfat.results._folder import ResultFolder
    from longfat.study._comparison import COMPARISON, compare, write_files

    runs = len(wanted) * seeds
    with ResultFolder(out, COMPARISON) if out else nullcontext() as folder:
        with progress("", quiet=quiet, speed=lambda rate: f"{rate * runs:.2g} runs/s") as advanced:

            def told(_finished: int, _total: int, share: float) -> None:
                if advanced:
                    advanced(share)

            tables = ("flow_series", "link_series") if plot else ()
            found = compare(setup, wanted, seeds=seeds, tables=tables, progress=told, code=code)
        if folder:
            write_files(folder.path, setup, found, picture=plot)
            folder.commit()
    return found


def _print(setup: Setup, found: list[Contender], seeds: int, out: Path | None) -> None:
    from longfat.commands._comparison_report import comparison_tables
    from longfat.commands._console import console
    from longfat.units import plural

    screen = console()
    screen.print(
        f"{setup.title}\n{setup.duration} simulated, the first {setup.warmup} left out\n",
        soft_wrap=True,
    )
    for table in comparison_tables(found, screen.width):
        screen.print(table)
        screen.print()
    interval = " ± half of the 95 % confidence interval" if seeds > 1 else ""
    screen.print(f"means over {plural(seeds, 'seed')}{interval}; fairness is Jain's index")
    plain = [each.label for each in found if each.anti_ecn is False]
    if plain:
        screen.print(
            f"the link does not support AntiECN, so this is plain TCP: {', '.join(plain)}",
            soft_wrap=True,
        )
    known = sum(result.cached for each in found for result in each.results)
    if known:
        screen.print(f"{known} of {plural(len(found) * seeds, 'run')} came from the cache")
    if out:
        screen.print(f"\nresults in {out}", soft_wrap=True)
    screen.print("\nnext:")
    if out:
        first = shlex.quote(str(out / f"{found[0].stem}.toml"))
        screen.print(f"  longfat run {first} --plot", soft_wrap=True)
    else:
        screen.print(f"  {_again()} --plot", soft_wrap=True)
    screen.print("  longfat list controllers", soft_wrap=True)


def _again() -> str:
    """The command as it was typed."""
    return shlex.join(["longfat", *sys.argv[1:]])


def _quarter(duration: str) -> str:
    from longfat._longfat import quantity
    from longfat.study._comparison import exact_time

    return exact_time(quantity("time", duration) // 4)


def _word(text: str) -> str:
    """A quantity as a part of a file name."""
    return "".join(letter for letter in text.replace("/s", "") if letter.isalnum() or letter == ".")
