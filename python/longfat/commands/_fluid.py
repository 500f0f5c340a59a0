"""`longfat fluid`: a scenario as differential equations."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.commands._console import console, refuse_missing, show
from longfat.commands._options import command, of_scenario
from longfat.tables import TextTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from longfat._longfat import Scenario
    from longfat.commands._console import Advance
    from longfat.results._fluid import Fluid, Model, Price
    from longfat.results._run import Run

_MANY = 8
"""Groups with more flows are summarised."""

_ROUND = 100
"""Larger factors are shown without decimals."""

Row = dict[str, Any]


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
    type=click.Choice(["avq", "overflow", "red", "loss"]),
    default="avq",
    show_default=True,
    help="What links charge: a virtual queue, what a full buffer loses, RED, corruption alone.",
)
@click.option("--no-delay", is_flag=True, help="Feedback at once, not a round trip late.")
@click.option("--equilibrium", is_flag=True, help="Where it settles, without integrating.")
@click.option("--stability", is_flag=True, help="Whether it stays there, and by what margin.")
@click.option("--out", type=click.Path(path_type=Path), help="Result folder [runs/STEM-fluid].")
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

    Reads the same files as `longfat run`. With --equilibrium or --stability nothing is integrated and no folder
    is written, unless --plot, --with-packets or --out asks for it.
    """
    from longfat.own import Code
    from longfat.results._fluid import default_folder, solve
    from longfat.results._folder import FLUID, ResultFolder
    from longfat.scenario import read

    refuse_missing(file)
    scenario, name = read(file, seed=seed, changes=changes, code=Code(allowed=allow_code))
    pictures = plot or with_packets
    integrate = pictures or out is not None or not (equilibrium or stability)
    target = default_folder(name) if out is None else out
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
        )
    packets = _simulated(scenario, name, quiet=quiet) if with_packets else None
    if integrate:
        solved.save(target, pictures=pictures, packets=packets)
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
    out = console()
    if solved.integrated:
        show(out, _flows(solved, packets))
    if (rest := solved.equilibrium) is not None:
        if solved.integrated:
            out.print("\nequilibrium")
        show(out, _rest(rest))
        out.print()
        show(out, _links(rest["links"]))
    if solved.stable is not None:
        out.print(f"\n{_judgement(solved)}", soft_wrap=True)
    if folder is not None:
        out.print(f"\nresults in {folder}", soft_wrap=True)


def _flows(solved: Fluid, packets: Run | None) -> TextTable:
    """Means over the measured interval, of the fluid and of the packets."""
    from longfat.units import RATE, TIME, aligned

    headers = ["flow", "control", "rtt", "mean window", "mean rate"]
    rows: list[Row] = solved.summary["flows"]
    keys = ["rtt_s", "window_mean", "rate_mean_bit_s"]
    if packets is not None:
        headers += ["of packets", "goodput of packets"]
        keys += ["packets_window", "packets_goodput"]
        simulated = {flow["name"]: flow for flow in packets.summary["flows"]}
        rows = [
            {
                **row,
                "packets_window": simulated[row["name"]]["window_mean"],
                "packets_goodput": simulated[row["name"]]["goodput_bit_s"],
            }
            for row in rows
        ]
    rows = _summarised(rows, keys)
    scales = {"rtt_s": TIME, "rate_mean_bit_s": RATE, "packets_goodput": RATE}
    columns = [
        aligned([row[key] for row in rows], scales[key])
        if key in scales
        else _windows(row[key] for row in rows)
        for key in keys
    ]
    made = TextTable(headers, words=2)
    for row, *cells in zip(rows, *columns, strict=True):
        made.add(row["name"], row["control"], *cells)
    return made


def _rest(rest: dict[str, Any]) -> TextTable:
    from longfat.units import RATE, TIME, aligned, small

    keys = ["window", "rate_bit_s", "round_trip_s", "price"]
    rows = _summarised([{**row, "control": ""} for row in rest["flows"]], keys)
    columns = (
        _windows(row["window"] for row in rows),
        aligned([row["rate_bit_s"] for row in rows], RATE),
        aligned([row["round_trip_s"] for row in rows], TIME),
        [small(row["price"]) for row in rows],
    )
    made = TextTable(("flow", "window", "rate", "round trip", "price"))
    for row, *cells in zip(rows, *columns, strict=True):
        made.add(row["name"], *cells)
    return made


def _links(links: dict[str, Row]) -> TextTable:
    from longfat.units import TIME, aligned, percent, small

    rows = []
    for name, link in links.items():
        rows += [{"name": name, **link}] if "price" in link else []
        rows += [{"name": f"{name}, reverse", **link["reverse"]}] if "reverse" in link else []
    queues = aligned([row["queue_s"] for row in rows], TIME)
    made = TextTable(("link", "load", "queue", "price"))
    for row, queue in zip(rows, queues, strict=True):
        made.add(row["name"], percent(row["load"]), queue, small(row["price"]))
    return made


def _judgement(solved: Fluid) -> str:
    margin = solved.margin
    if solved.stable:
        if margin is None:
            return "stable, with any feedback delay"
        factor = f"{margin:,.0f}" if margin >= _ROUND else f"{margin:.3g}"
        return f"stable: the feedback delay could be {factor} times as long"
    if margin:
        return f"unstable: the feedback delay would have to be {margin:.3g} times as long"
    return "unstable, even without feedback delay"


def _windows(values: Iterable[float]) -> list[str]:
    return [f"{value:,.1f}" for value in values]


def _summarised(rows: list[Row], keys: list[str]) -> list[Row]:
    """Large groups of flows as three rows: mean, least and most."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["name"].partition("[")[0], []).append(row)
    short: list[Row] = []
    for group, members in groups.items():
        if len(members) <= _MANY:
            short += members
            continue
        head = f"{group} × {len(members)}, "
        values = {key: [row[key] for row in members] for key in keys}
        for label, of in (("mean", lambda v: sum(v) / len(v)), ("least", min), ("most", max)):
            first = label == "mean"
            name = head + label if first else label.rjust(len(head) + len(label))
            control = members[0]["control"] if first else ""
            short.append({"name": name, "control": control} | {k: of(v) for k, v in values.items()})
    return short
