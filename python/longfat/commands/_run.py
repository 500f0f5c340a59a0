"""`longfat run`: one scenario."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import command, of_scenario
from longfat.scenario import LARGEST_TRACE

if TYPE_CHECKING:
    from longfat._longfat import Scenario


@command("run")
@of_scenario
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder [runs/STEM-SEED, with what was set].",
)
@click.option("--json", "as_json", is_flag=True, help="Print the averages as one JSON object.")
@click.option("--plot", is_flag=True, help="Also draw run.png and run.svg.")
@click.option("--pcap", is_flag=True, help="Also write trace.pcapng, packets for Wireshark.")
@click.option("--qlog", is_flag=True, help="Also write FLOW.sqlog for each flow, for qvis.")
@click.option(
    "--at",
    multiple=True,
    metavar="FLOW",
    help="Trace only this flow or group, e.g. reno[0] or reno. May be repeated.",
)
@click.option(
    "--trace-packets",
    type=click.IntRange(1, LARGEST_TRACE),
    metavar="N",
    help="Trace at most so many packets [1000000].",
)
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def run_command(
    file: Path,
    seed: int | None,
    changes: tuple[str, ...],
    out: Path | None,
    *,
    allow_code: bool,
    as_json: bool,
    plot: bool,
    pcap: bool,
    qlog: bool,
    at: tuple[str, ...],
    trace_packets: int | None,
    quiet: bool,
) -> None:
    """Simulate the scenario in FILE and write a folder with its results.

    The folder holds the resolved scenario, the averages, the tables as Parquet files, and pictures on
    request, and traces for other tools. An earlier run there is replaced whole; anything else is left alone.
    FILE may be -, the standard input: files that the scenario names are then looked for in the working folder.
    """
    from longfat.commands._console import draws, given, progress
    from longfat.own import Code
    from longfat.results._folder import RUN, ResultFolder
    from longfat.results._run import Run, default_folder
    from longfat.results._simulate import simulate, warning
    from longfat.results._traces import Traces
    from longfat.results._transfers import TransferFile
    from longfat.scenario import read

    if (at or trace_packets) and not (pcap or qlog):
        message = (
            "--at and --trace-packets say what to trace: ask for a trace with --pcap or --qlog"
        )
        raise click.UsageError(message)
    scenario, name = read(given(file), seed=seed, changes=changes, code=Code(allowed=allow_code))
    target = default_folder(name, scenario.seed, changes) if out is None else out
    if not quiet and (told := warning([scenario])):
        click.echo(told, file=sys.stderr)
    drawn = plot and draws(scenario)
    with ResultFolder(target, RUN) as folder:
        traces = None
        if pcap or qlog:
            traces = Traces(
                scenario, folder.path, pcap=pcap, qlog=qlog, at=at, packets=trace_packets
            )
        with progress(name, quiet=quiet, speed=lambda rate: _speed(scenario, rate)) as advanced:
            transfers = TransferFile(folder.path)
            recording = simulate(scenario, progress=advanced, transfers=transfers, traces=traces)
        run = Run(scenario, recording, name, changes, traces)
        run.write_files(folder.path, transfers=transfers, pictures=drawn)
        folder.commit()
    if folder.replaced_another and not quiet:
        click.echo(
            f"what was in {target} was made of another scenario, and is replaced", file=sys.stderr
        )
    if traces is not None and not quiet:
        for sentence in traces.told:
            click.echo(sentence, file=sys.stderr)
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(run.summary, indent=2))
    elif not quiet:
        from longfat.commands._report import report

        report(run, target)


def _speed(scenario: Scenario, share_per_second: float) -> str:
    from longfat.units import PLAIN, amount

    return f"{amount(share_per_second * scenario.duration_s, PLAIN)} × real time"
