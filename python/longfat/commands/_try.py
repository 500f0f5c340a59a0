"""`longfat try`: compare controllers without writing a scenario file."""

from __future__ import annotations

import shlex
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
    from longfat.study._comparison import Comparison
    from longfat.study._setup import Setup


@command("try")
@click.option(
    "--rate",
    "rates",
    type=Quantities("rate"),
    multiple=True,
    required=True,
    help="Rate of the link, or several, separated by commas: 10Gbit/s.",
)
@click.option(
    "--rtt",
    "rtts",
    type=Quantities("time"),
    multiple=True,
    required=True,
    help="Round trip, or several: 100ms.",
)
@click.option("--flows", type=click.IntRange(1), default=1, help="Flows on the link [1].")
@click.option(
    "--control",
    "controls",
    default="reno",
    help="Controllers to compare, separated by commas: cubic,'{kind=\"exp\", gamma=0.1}',my.py:Mine [reno].",
)
@click.option(
    "--duration", type=Quantity("time", usual="s"), default="60 s", help="Simulated time [60 s]."
)
@click.option(
    "--warmup",
    type=Quantity("time", usual="s"),
    help="Left out of every average [a quarter of it].",
)
@click.option(
    "--buffer",
    "buffers",
    type=Quantities("length"),
    multiple=True,
    default=["1 bdp"],
    help='"1 bdp", "5000 packets", "5 MB" or "50 ms", or several [1 bdp].',
)
@click.option(
    "--queue",
    default="drop-tail",
    help="Queue discipline [drop-tail, or what the controller needs].",
)
@access
@profile("those of the standards")
@click.option("--packet", type=Quantity("size"), default="1500 B", help="Packet size [1500 B].")
@click.option(
    "--loss",
    type=Share(),
    default=0.0,
    help="Probability of corruption per packet: 1e-4, or 0.01% [0].",
)
@click.option("--seeds", type=click.IntRange(1, MOST_SEEDS), default=3, help="Runs of each [3].")
@click.option("--out", type=click.Path(path_type=Path), help="Write a folder with the results.")
@allow_code
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print the numbers as CSV, in bit/s and seconds."
)
@click.option("--markdown", is_flag=True, help="Print the tables in Markdown, for a page.")
@click.option("--plot", is_flag=True, help="Draw pictures, in --out or in runs/try-SETTINGS.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def try_command(
    *,
    rates: tuple[list[str], ...],
    rtts: tuple[list[str], ...],
    flows: int,
    controls: str,
    duration: str,
    warmup: str | None,
    buffers: tuple[list[str], ...],
    queue: str,
    access: str | None,
    profile: str | None,
    packet: str,
    loss: float,
    seeds: int,
    out: Path | None,
    allow_code: bool,
    as_json: bool,
    as_csv: bool,
    markdown: bool,
    plot: bool,
    quiet: bool,
) -> None:
    """Compare controllers on one link, without writing a scenario file.

    Every controller runs alone on the same path, once per seed; the flows start within the first five
    round trips, drawn from the seed. Numbers are means with their 95 % confidence intervals. Of several rates,
    round trips or buffers every combination is tried. Finished runs are kept in $LONGFAT_CACHE, or else in the
    cache folder of the platform.

    \b
    longfat try --rate 1Gbit/s --rtt 40ms --flows 2 --control reno --plot
    longfat try --rate 1Gbit/s,10Gbit/s --rtt 100ms --buffer 0.1bdp,1bdp --control cubic,exp --csv
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.own import Code
    from longfat.results._names import folder_name
    from longfat.results._simulate import warning
    from longfat.study._setup import Setup, split_controls

    if as_json + as_csv + markdown > 1:
        message = "--json, --csv and --markdown exclude each other."
        raise click.UsageError(message)
    wanted = split_controls(controls)
    if not wanted:
        message = "--control names no controller: see `longfat list controllers`."
        raise click.UsageError(message)
    paths = [list(dict.fromkeys(chain(*lists))) for lists in (rates, rtts, buffers)]
    setups = Setup.all(
        *paths,
        flows=flows,
        duration=duration,
        warmup=warmup,
        queue=queue,
        packet=packet,
        loss=loss,
        access=access,
        profile=profile,
    )
    code = Code(allowed=allow_code)
    with in_options():
        scenarios = [setup.scenario(control, code) for setup in setups for control in wanted]
    if len({scenario.to_toml() for scenario in scenarios}) < len(scenarios):
        what = "--control names the same controller twice"
        message = f"{what}." if len(setups) == 1 else f"{what}, or two of the paths are the same."
        raise click.UsageError(message)
    if plot and out is None:
        out = Path("runs") / folder_name("try", *(setup.stem for setup in setups), *wanted)
    if not quiet and (told := warning(scenarios, runs=seeds)):
        click.echo(told, file=sys.stderr)
    found = _compare(setups, wanted, seeds, out, code=code, plot=plot, quiet=quiet)
    way = "json" if as_json else "csv" if as_csv else "quiet" if quiet else ""
    _tell(found, out, way, markdown=markdown)


def _tell(found: Comparison, out: Path | None, way: str, *, markdown: bool) -> None:
    """Prints what was found, in one of the ways that the options know, and what failed."""
    if way == "json":
        from longfat.foreign import json_text

        content = [path.as_dict() for path in found.paths]
        told = content[0] if len(content) == 1 else {"comparisons": content}
        click.echo(json_text(told, indent=2))
    elif way == "csv":
        from longfat.tables import data_csv

        click.echo(data_csv(found.records), nl=False)
    elif not way:
        _print(found, out, markdown=markdown)
    contenders = [each for path in found.paths for each in path.contenders]
    errors = [(each, result) for each in contenders for result in each.results if result.error]
    for each, result in errors:
        message = f"error: {each.control}, seed {result.job.seed}: {result.error}"
        click.echo(message, file=sys.stderr)
    if errors:
        click.get_current_context().exit(1)


def _compare(
    setups: list[Setup],
    wanted: list[str],
    seeds: int,
    out: Path | None,
    *,
    code: Code,
    plot: bool,
    quiet: bool,
) -> Comparison:
    """Runs the comparison and writes its folder, if one is wanted."""
    from contextlib import nullcontext

    from longfat.commands._console import progress
    from longfat.results._folder import ResultFolder
    from longfat.study._comparison import COMPARISON, SERIES, compare_all, write_files
    from longfat.units import PLAIN, amount

    runs = len(setups) * len(wanted) * seeds

    def speed(rate: float) -> str:
        return f"{amount(rate * runs, PLAIN)} runs/s"

    with ResultFolder(out, COMPARISON) if out else nullcontext() as folder:
        with progress("", quiet=quiet, speed=speed) as advanced:

            def told(_finished: int, _total: int, share: float) -> None:
                if advanced:
                    advanced(share)

            tables = SERIES if plot else ()
            found = compare_all(
                setups, wanted, seeds=seeds, tables=tables, progress=told, code=code
            )
        if folder:
            write_files(folder.path, found, pictures=plot)
            folder.commit()
    return found


def _print(found: Comparison, out: Path | None, *, markdown: bool) -> None:
    from longfat.commands._console import console, show
    from longfat.units import plural, spaced

    screen = console()
    setup = found.paths[0].setup
    for path in found.paths:
        screen.print(path.setup.title, soft_wrap=True)
        if path is found.paths[0]:
            spans = spaced(setup.duration), spaced(setup.warmup)
            screen.print(f"{spans[0]} simulated, the first {spans[1]} left out", soft_wrap=True)
        screen.print()
        show(screen, path.table, markdown=markdown)
        screen.print()
        for early in path.early:
            screen.print(f"{early}\n", soft_wrap=True)
        for doubt in path.doubts:
            screen.print(f"{doubt}: --seeds {4 * found.seeds}\n", soft_wrap=True)
    screen.print(found.legend, soft_wrap=True)
    contenders = [each for path in found.paths for each in path.contenders]
    plain = dict.fromkeys(each.label for each in contenders if each.anti_ecn is False)
    if plain:
        screen.print(
            f"the link does not support AntiECN, so this is plain TCP: {', '.join(plain)}",
            soft_wrap=True,
        )
    if markdown:
        return
    results = [result for each in contenders for result in each.results]
    known = sum(result.cached for result in results)
    if known:
        screen.print(f"{known} of {plural(len(results), 'run')} came from the cache")
    if out:
        screen.print(f"\nresults in {out}", soft_wrap=True)
    screen.print("\nnext:")
    if out:
        before = f"{setup.stem}-" if len(found.paths) > 1 else ""
        first = shlex.quote(str(out / f"{before}{contenders[0].stem}.toml"))
        screen.print(f"  longfat run {first} --plot", soft_wrap=True)
    else:
        screen.print(f"  {_again()} --plot", soft_wrap=True)
    screen.print("  longfat list controllers", soft_wrap=True)


def _again() -> str:
    """The command as it was typed."""
    return shlex.join(["longfat", *sys.argv[1:]])
