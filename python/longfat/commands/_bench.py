"""`longfat bench`: how fast this machine simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from longfat.commands._options import changes as set_changes
from longfat.commands._options import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.bench._benchmarks import Benchmark
    from longfat.bench._measure import Spread, Timed
    from longfat.bench._peer import Peer

_MOST_REPEATS = 1000

_SHARED = 1.25
"""Longest over shortest time of the fixed loop beyond which others must have used the core as well."""

_QUIET = 1.2
"""Wall time over processor time beyond which the machine must have done something else as well."""

_LONGEST_CAP_S = 1e6


@command("bench")
@click.option(
    "--scenario", "letters", metavar="A,B,…", help="Only these, separated by commas [all]."
)
@click.option(
    "--repeat", type=click.IntRange(1, _MOST_REPEATS), default=3, help="Runs of each [3]."
)
@set_changes
@click.option(
    "--against",
    metavar="ns2,ns3,htsim",
    help="Run the same in these simulators, in turn, and compare.",
)
@click.option(
    "--cap",
    type=click.FloatRange(1, _LONGEST_CAP_S),
    default=120.0,
    help="Wall time after which another simulator is stopped, in seconds [120].",
)
@click.option(
    "--full", is_flag=True, help="Simulate the full durations given in the files: takes minutes."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print the tables in Markdown, for a page.")
@click.option("--quiet", is_flag=True, help="No progress.")
def bench_command(
    *,
    letters: str | None,
    repeat: int,
    changes: tuple[str, ...],
    against: str | None,
    cap: float,
    full: bool,
    as_json: bool,
    markdown: bool,
    quiet: bool,
) -> None:
    """Measure how fast this machine simulates.

    Runs the scenarios A to F of bench/README.md one after another, each several times with seeds counted from
    1, and prints data packets per second of engine time beside the speeds that longfat aims at. Short lengths
    take about a minute.

    With --set, each of them is changed first, as by longfat run --set; speeds that longfat aims at are for
    the scenarios as they are.

    With --against, ns-2, ns-3 and htsim run those of the scenarios that they can, and what happens in the
    network is compared as well as the speed. That needs a checkout of the source, which has the programs for
    them. htsim has only Reno with NewReno recovery over drop tail, which --set can ask for.
    """
    from longfat.bench._measure import as_json as as_object
    from longfat.bench._measure import measure
    from longfat.bench._peer import PeerAbsent
    from longfat.bench._process import ProcessError
    from longfat.commands._console import progress

    if as_json and markdown:
        message = "--json and --markdown cannot be combined."
        raise click.UsageError(message)
    wanted = _chosen(letters)
    peers = _peers(against)
    with progress("", quiet=quiet, speed=lambda _: "") as advanced:

        def told(what: str, share: float) -> None:
            if advanced:
                advanced(share, what)

        try:
            found = measure(
                wanted,
                repeat=repeat,
                full=full,
                changes=changes,
                peers=peers,
                cap_s=cap,
                progress=told,
            )
        except PeerAbsent as error:
            raise click.UsageError(str(error)) from error
        except ProcessError as error:
            click.echo(f"error: {error}", err=True)
            click.get_current_context().exit(1)
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(as_object(found, peers), indent=2))
    else:
        _print(found, repeat, full=full, markdown=markdown)
        if peers:
            from longfat.commands._bench_comparison import print_comparison

            print_comparison(found, peers, markdown=markdown)
    failed = [f"{e.benchmark.letter}: {said}" for e in found for said in e.failed.values()]
    if failed:
        click.echo("\n".join(f"error: {each}" for each in failed), err=True)
        click.get_current_context().exit(1)


def _peers(against: str | None) -> list[Peer]:
    from longfat.bench._peer import peers

    if against is None:
        return []
    known = peers()
    wanted = [name.strip() for name in against.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        what = (
            f"there is no simulator `{unknown[0]}`" if unknown else "--against names no simulator"
        )
        message = f"{what}: there are {', '.join(known)}."
        raise click.UsageError(message)
    return [known[name]() for name in dict.fromkeys(wanted)]


def _chosen(letters: str | None) -> list[Benchmark]:
    from longfat.bench._benchmarks import BENCHMARKS

    known = {benchmark.letter: benchmark for benchmark in BENCHMARKS}
    if letters is None:
        return list(BENCHMARKS)
    wanted = [letter.strip().upper() for letter in letters.split(",") if letter.strip()]
    unknown = [letter for letter in wanted if letter not in known]
    if unknown or not wanted:
        what = f"there is no scenario `{unknown[0]}`" if unknown else "--scenario names no scenario"
        message = f"{what}: there are {', '.join(known)}."
        raise click.UsageError(message)
    return [known[letter] for letter in dict.fromkeys(wanted)]


def _print(found: Sequence[Timed], repeat: int, *, full: bool, markdown: bool) -> None:
    from longfat.bench._measure import ALONE, busy, loops, machine
    from longfat.commands._console import console, show
    from longfat.tables import TextTable
    from longfat.units import ABSENT, COUNT, PLAIN, TIME, amount, percent

    screen = console()
    made = TextTable(
        ("", "scenario", "simulated", "packets/s", "range", "core alone", "× real", "memory",
         "must", "aim", "reached"), words=2,
    )  # fmt: skip
    loop = loops(found)
    for measured in found:
        benchmark = measured.benchmark
        speed, real = measured.packets_per_s(), measured.times_real()
        runs = measured.outcomes["longfat"]
        made.add(
            benchmark.letter,
            benchmark.title,
            amount(measured.duration_s, TIME),
            amount(speed.median, COUNT) if speed else ABSENT,
            _range(speed),
            _alone(measured, loop),
            amount(real.median, PLAIN) if real else ABSENT,
            f"{max(run.peak_memory_bytes for run in runs) / 1e6:.0f} MB",
            *_target(measured, found),
        )
    show(screen, made, markdown=markdown)
    facts = machine()
    runs_each = "one run each" if repeat == 1 else f"medians of {repeat} runs, seeds 1 to {repeat}"
    words = [
        f"{runs_each}; engine time, one core of {facts['processor']}; longfat {facts['longfat']}",
        "compiled with a profile"
        if facts["profiled"]
        else "compiled without a profile: `make fast` in a checkout makes it about a fifth faster",
    ]
    changes = found[0].changes
    if changes:
        words.append(f"changed, so without targets: {', '.join(changes)}")
    elif not full:
        words.append("shortened: the targets are for --full")
    words += [
        f"{each.benchmark.letter} fills {percent(each.utilised(100e9))} of its link; "
        f"the target is at least {percent(each.benchmark.utilisation)}"
        for each in found
        if full and not changes and each.benchmark.utilisation is not None
    ]
    if loop and loop.highest > _SHARED * loop.lowest:
        words.append(
            f"core alone: only runs around which a fixed loop took at most {ALONE:g} times its shortest time; "
            f"around others it took up to {loop.highest / loop.lowest:.1f} times, as others used the core"
        )
    if (share := busy(found)) > _QUIET:
        words.append(f"the machine was busy: a run took {share:.1f} times its processor time")
    screen.print("\n" + "\n".join(words), soft_wrap=True)


def _alone(measured: Timed, loop: Spread | None) -> str:
    """The median over the runs that had their core to themselves, and how many of them there were."""
    from longfat.bench._measure import spread
    from longfat.units import ABSENT, COUNT, amount

    speeds = measured.packets_per_s_alone(loop.lowest) if loop else []
    middle = spread(speeds)
    if middle is None:
        return ABSENT
    return f"{amount(middle.median, COUNT)} ({len(speeds)} of {len(measured.outcomes['longfat'])})"


def _range(values: Spread | None) -> str:
    from longfat.units import ABSENT, COUNT, amount

    if values is None:
        return ABSENT
    return f"{amount(values.lowest, COUNT)} to {amount(values.highest, COUNT)}"


def _target(measured: Timed, found: Sequence[Timed]) -> tuple[str, str, str]:
    """What is aimed at, and how much of it was reached."""
    from longfat.bench._measure import reached
    from longfat.units import ABSENT, COUNT, PLAIN, amount

    if measured.changes:
        return ABSENT, ABSENT, ABSENT
    benchmark = measured.benchmark
    value, unit = reached(measured, found)
    plain = unit == "packets/s"
    scale = COUNT if plain else PLAIN
    suffix = "" if plain else f" {unit}"
    shown = ABSENT if value is None else amount(value, scale) + ("" if plain else suffix)
    verdict = ""
    if value is not None:
        speed = benchmark.speed
        verdict = "below" if value < speed.must else "must" if value < speed.aim else "aim"
        verdict = f" ({verdict})"
    return (
        amount(benchmark.speed.must, scale) + suffix,
        amount(benchmark.speed.aim, scale) + suffix,
        shown + verdict,
    )
