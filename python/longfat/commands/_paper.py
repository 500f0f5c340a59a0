"""`longfat paper`: remake a paper, and judge its claims."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.commands._options import command
from longfat.commands._options import workers as of_workers
from longfat.foreign import shown
from longfat.scenario import MOST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.paper._claims import Scale
    from longfat.paper._remake import Remade, Remaking
    from longfat.paper._room import Room


@command("paper")
@click.argument("slug", metavar="SLUG|PATH|all")
@click.option(
    "--scale",
    type=click.Choice(["quick", "full"]),
    default="quick",
    help="quick: a minute or two. full: the paper's own rates, durations and several seeds [quick].",
)
@click.option("--figure", metavar="ID", help="Only this experiment, and its claims.")
@click.option(
    "--seeds",
    type=click.IntRange(1, MOST_SEEDS),
    metavar="N",
    help="Give every point N seeds, and compare with the committed verdicts.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a field of the scenarios, e.g. link.bottleneck.buffer="1 bdp", and compare. May be repeated.',
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder [runs/paper-SLUG-SCALE, with -changed]."
)
@of_workers
@click.option("--fresh", is_flag=True, help="Simulate again even what the cache holds.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
@click.option("--plan", is_flag=True, help="Only show what would run, and for about how long.")
@click.option(
    "--commit", is_flag=True, help="Write verdicts and pictures into the room as its results."
)
def paper_command(
    slug: str,
    *,
    scale: Scale,
    figure: str | None,
    seeds: int | None,
    assignments: tuple[str, ...],
    out: Path | None,
    workers: int | None,
    fresh: bool,
    as_json: bool,
    quiet: bool,
    plan: bool,
    commit: bool,
) -> None:
    """Remake the figures and tables of a paper, and judge what it claims.

    SLUG is the name of a room, see `longfat list papers`; `all` stands for all that came with longfat. PATH is
    the folder of a room, or of several. A room is code: one that did not come with longfat can do whatever you
    can, so read it first. Verdicts are `reproduced`, `differs` or `not testable`; a paper that is not
    reproduced is a result, not an error. Exit code 1 means that a verdict differs from the committed one, or
    that a number from theory does not hold. Finished runs are kept, so an interrupted command picks up where it
    stopped.

    With `--seeds` or `--set` the room is not its own any more: the committed verdicts are shown beside those of
    the changed room, with what flipped, and the exit code is 0 whatever they are.
    """
    from longfat.paper._changes import Changes
    from longfat.paper._commit import changes, commit_room, refuse_installed
    from longfat.paper._remake import Remaking

    changed = Changes.read(seeds, assignments)
    if commit and changed:
        message = (
            "--commit writes what the room itself gives: change the seeds or settings in its files, "
            "or leave out --seeds and --set"
        )
        raise click.UsageError(message)
    rooms = _rooms(slug, figure)
    for room in rooms if commit else ():
        refuse_installed(room)
    remaking = Remaking(rooms, scale, figure=figure, fresh=fresh, changes=changed, commit=commit)
    for left in changed.left:
        click.echo(shown(left), err=True)
    if plan:
        _print_plan(remaking, workers)
        return
    done = _remake(remaking, rooms, out, workers, quiet=quiet)
    moved = [commit_room(each) if commit else changes(each) for each, *_ in done]
    if as_json:
        _print_json(done, alone=len(rooms) == 1 and slug != "all")
    elif not quiet:
        _report(done, committed=commit)
    if changed:
        return
    bad = [_complain(each, moves) for (each, *_), moves in zip(done, moved, strict=True)]
    if any(bad):
        click.get_current_context().exit(1)


def _print_json(done: Sequence[tuple[Remade, list[str], Path]], *, alone: bool) -> None:
    from longfat.foreign import json_text

    found = [each.to_dict(files) for each, files, _ in done]
    content: Any = found[0] if alone else found
    click.echo(json_text(content, indent=2))


def _report(done: Sequence[tuple[Remade, list[str], Path]], *, committed: bool) -> None:
    from longfat.commands._verdict_report import report

    for index, (each, files, target) in enumerate(done):
        if index:
            click.echo()
        report(each, files, target, committed=committed)


def _rooms(slug: str, figure: str | None) -> list[Room]:
    """The rooms that were asked for; at least one of them has the figure."""
    from difflib import get_close_matches

    from longfat.paper._room import rooms, rooms_at

    known = {room.slug: room for room in rooms()}
    if slug == "all":
        chosen = [room for room in known.values() if room.built_in]
    else:
        chosen = [known[slug]] if slug in known else rooms_at(Path(slug))
    if not chosen:
        near = get_close_matches(slug, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the papers are {', '.join(known)}."
        message = f"there is no paper {slug}: {hint}"
        raise click.UsageError(message)
    for room in chosen:
        if not room.built_in:
            _announce(room)
    if figure is None:
        return chosen
    having = [room for room in chosen if figure in room.figure_ids]
    if not having:
        ids = list(dict.fromkeys(each for room in chosen for each in room.figure_ids))
        near = get_close_matches(figure, ids, n=1)
        hint = f"did you mean {near[0]}?" if near else f"its figures are {', '.join(ids)}."
        message = f"{slug} has no figure {figure}: {hint}"
        raise click.UsageError(message)
    return having


def _announce(room: Room) -> None:
    """Says which code is about to be run that did not come with longfat."""
    files = ", ".join(str(path) for path in room.files_of_code) or "nothing"
    click.echo(shown(f"{room.slug} did not come with longfat; running its code: {files}"), err=True)


def _remake(
    remaking: Remaking,
    rooms: Sequence[Room],
    out: Path | None,
    workers: int | None,
    *,
    quiet: bool,
) -> list[tuple[Remade, list[str], Path]]:
    """Runs everything and writes a folder for each paper."""
    from contextlib import ExitStack
    from dataclasses import replace

    from longfat.commands._console import progress
    from longfat.paper._remake import REMADE
    from longfat.results._folder import ResultFolder

    start = time.monotonic()
    total = remaking.plan.runs
    counts = {"finished": 0}
    with ExitStack() as stack:
        folders = [
            stack.enter_context(ResultFolder(_target(room, remaking, out, rooms), REMADE))
            for room in rooms
        ]
        with progress(
            f"{remaking.scale} scale",
            quiet=quiet,
            speed=lambda _: f"{counts['finished']} of {total} runs",
        ) as advanced:

            def told(finished: int, _total: int, share: float) -> None:
                counts["finished"] = finished
                if advanced:
                    advanced(share)

            found = remaking.run(workers=workers, progress=told)
        wall_s = time.monotonic() - start
        done = []
        for remade, folder in zip(found, folders, strict=True):
            timed = replace(remade, wall_s=wall_s)
            done.append((timed, timed.write_files(folder.path), folder.target))
        for folder in folders:
            folder.commit()
    return done


def _target(room: Room, remaking: Remaking, out: Path | None, rooms: Sequence[Room]) -> Path:
    name = f"paper-{room.slug}-{remaking.scale}" + ("-changed" if remaking.changes else "")
    if out is None:
        return Path("runs") / name
    return out if len(rooms) == 1 else out / name


def _complain(remade: Remade, moves: Sequence[tuple[str, str, str]]) -> bool:
    """Reports verdicts that moved and requirements that fail; returns whether there are any."""
    from longfat.paper._verdict import show_criterion, show_estimate

    for name, old, new in moves:
        click.echo(f"{remade.room.slug}: {name} is now `{new}`, but `{old}` is committed", err=True)
    failed = [verdict for verdict in remade.verdicts if verdict.failed]
    for verdict in failed:
        click.echo(
            f"{remade.room.slug}: requirement {verdict.claim.id} does not hold: "
            f"{show_estimate(verdict)}, expected {show_criterion(verdict.claim)}",
            err=True,
        )
    return bool(moves or failed)


def _print_plan(remaking: Remaking, workers: int | None) -> None:
    from longfat.study._runner import usable_cores
    from longfat.units import plural

    plan = remaking.plan
    click.echo(f"{plural(plan.runs, 'run')}, {plan.known} already in the cache")
    for name, points in plan.sizes.items():
        click.echo(f"  {name}: {plural(points, 'point')}")
    cores = workers or usable_cores()
    least = max(plan.seconds / cores, plan.longest)
    click.echo(
        f"about {_minutes(plan.seconds)} of one core; {_minutes(least)} with {cores} at a time"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"  # noqa: PLR2004 - seconds
