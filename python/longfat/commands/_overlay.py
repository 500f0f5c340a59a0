"""`longfat overlay`: a measurement beside the simulation of the same, with a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import command
from longfat.scenario import MOST_SEEDS

if TYPE_CHECKING:
    from longfat.live import Overlay


@command("overlay")
@click.argument("measured", type=click.Path(path_type=Path))
@click.argument("simulated", type=click.Path(path_type=Path), required=False)
@click.option(
    "--seeds",
    type=click.IntRange(1, MOST_SEEDS),
    help="Seeds to simulate [1; 5 where chance plays a part].",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder [runs/overlay-MEASURED].")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def overlay_command(
    *,
    measured: Path,
    simulated: Path | None,
    seeds: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Put the folder MEASURED of `longfat live` beside a simulation, in one picture with a verdict.

    Without SIMULATED, the folder of a run, the same link and flows are simulated. Mean window, throughput,
    epochs between responses to congestion and the shares of two flows each agree, differ, or are undecided
    because there is too little of them; the exit code is 1 if something differs. The folder holds
    overlay.json, overlay.png, overlay.svg and scenario.toml.

    \b
    longfat overlay runs/live-exp
    longfat overlay runs/live-exp runs/exp-1 --json
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.commands._console import progress
    from longfat.foreign import json_text
    from longfat.live import overlay
    from longfat.live._overlay import OVERLAY, default_folder
    from longfat.results._folder import ResultFolder

    if seeds is not None and simulated is not None:
        message = f"{simulated} has its seed, and --seeds asks for {seeds}: leave one of them out"
        raise click.UsageError(message)
    target = default_folder(measured.resolve().name) if out is None else out
    # An unwritable place is noticed before any work is done.
    with ResultFolder(target, OVERLAY):
        pass
    with progress(str(measured), quiet=quiet or as_json, speed=lambda _: "") as advanced:
        found = overlay(measured, simulated, seeds=seeds, progress=advanced)
    found.save(target)
    if as_json:
        click.echo(json_text(found.to_dict(), indent=2))
    elif not quiet:
        _print(found, target)
    return 1 if found.differs else 0


def _print(found: Overlay, folder: Path) -> None:
    from longfat.commands._console import console, show

    out = console()
    out.print(f"{found.title}\n", soft_wrap=True)
    show(out, found.table)
    for reason in found.reasons:
        out.print(f"\n{reason}", soft_wrap=True)
    out.print(f"\nresults in {folder}", soft_wrap=True)
