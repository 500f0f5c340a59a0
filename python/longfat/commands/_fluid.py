"""`longfat fluid`: a scenario as differential equations."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._console import console, draws, given, show
from longfat.commands._options import command, of_scenario
from longfat.tables import TextTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat._longfat import Scenario
    from longfat.commands._console import Advance
    from longfat.results._fluid import Fluid, Model, Price
    from longfat.results._run import Run


@command("fluid")
@of_scenario
@click.option(
    "--model",
    type=click.Choice(["mean-field", "hybrid", "synchronised"]),
    default="mean-field",
    show_default=True,
    help="Rates; windows that jump at random losses; one link whose flows all lose together.",
)
@click.option(
    "--price",
    type=click.Choice(["queue", "avq", "overflow", "red", "loss"]),
    default="queue",
    show_default=True,
    help="What links charge: what their queues do; or all a virtual queue, what a full buffer loses, RED, "
    "corruption alone.",
)
@click.option("--no-delay", is_flag=True, help="Feedback at once, not a round trip late.")
@click.option("--equilibrium", is_flag=True, help="Where it settles, without integrating.")
@click.option("--stability", is_flag=True, help="Whether it stays there, and by what margin.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder [runs/STEM-fluid, with what was set].",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
@click.option("--plot", is_flag=True, help="Also draw fluid.png and fluid.svg.")
@click.option(
    "--with-packets", is_flag=True, help="Also simulate the packets, and draw both in one picture."
)
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def fluid_command(
    file: Path,
    seed: int | None,
    changes: tuple[str, ...],
    out: Path | None,
    *,
    allow_code: bool,
    model: Model,
    price: Price,
    no_delay: bool,
    equilibrium: bool,
    stability: bool,
    as_json: bool,
    plot: bool,
    with_packets: bool,
    quiet: bool,
) -> None:
    """Solve the differential equations of the scenario in FILE and write a folder with the result.

    Reads the same files as `longfat run`, and - as it does. With --equilibrium or --stability nothing is
    integrated and no folder is written, unless --plot, --with-packets or --out asks for it.
    """
    from longfat.own import Code
    from longfat.results._fluid import default_folder, solve
    from longfat.results._folder import FLUID, ResultFolder
    from longfat.scenario import read

    scenario, name = read(given(file), seed=seed, changes=changes, code=Code(allowed=allow_code))
    pictures = plot or with_packets
    integrate = pictures or out is not None or not (equilibrium or stability)
    default = default_folder(name, model, price, delay=not no_delay, settings=changes)
    target = default if out is None else out
    if integrate:
        # An unwritable place is noticed before any work is done.
        with ResultFolder(target, FLUID):
            pass
    with _progress(name, quiet=quiet) as told:
        solved = solve(
            scenario,
            name,
            model=model,
            price=price,
            delay=not no_delay,
            integrate=integrate,
            equilibrium=equilibrium or stability,
            stability=stability,
            progress=told,
            settings=changes,
        )
    behind = with_packets and draws(scenario)
    packets = _simulated(scenario, name, quiet=quiet) if with_packets else None
    if integrate:
        solved.save(target, pictures=pictures, packets=packets if behind else None)
    if as_json:
        from longfat.foreign import json_text

        click.echo(json_text(solved.summary))
    elif not quiet:
        _report(solved, packets, target if integrate else None)


class _Told:
    """Shows how far a solution has come."""

    def __init__(self, name: str, advance: Advance) -> None:
        self._name = name
        self._advance = advance

    def examined(self, count: float) -> None:
        self._advance(None, f"{self._name}: {count:,.0f} steps and frequencies")

    def solved(self, share: float) -> None:
        self._advance(share, self._name)


@contextmanager
def _progress(name: str, *, quiet: bool) -> Iterator[_Told | None]:
    from longfat.commands._console import progress

    with progress(name, quiet=quiet, speed=lambda _: "") as advanced:
        yield None if advanced is None else _Told(name, advanced)


def _simulated(scenario: Scenario, name: str, *, quiet: bool) -> Run:
    from longfat.commands._console import progress
    from longfat.results._run import Run
    from longfat.results._simulate import simulate
    from longfat.units import PLAIN, amount

    def speed(share: float) -> str:
        return f"{amount(share * scenario.duration_s, PLAIN)} × real time"

    with progress(name, quiet=quiet, speed=speed) as advanced:
        return Run(scenario, simulate(scenario, progress=advanced), name)


def _report(solved: Fluid, packets: Run | None, folder: Path | None) -> None:
    from longfat.results._fluid_tables import overview

    out = console()
    told = None if packets is None else packets.summary
    for index, part in enumerate(overview(solved.summary, told)):
        if index:
            out.print()
        if isinstance(part, TextTable):
            show(out, part)
        else:
            out.print(part, soft_wrap=True)
    if folder is not None:
        out.print(f"\nresults in {folder}", soft_wrap=True)
