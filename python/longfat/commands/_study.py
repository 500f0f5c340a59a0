"""`longfat study`: a question over many runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.commands._options import allow_code, command
from longfat.commands._options import workers as of_workers
from longfat.scenario import MOST_SEEDS

if TYPE_CHECKING:
    from longfat.scenario import Piped
    from longfat.study._runs import Forecast
    from longfat.study._study import Opened, Study
    from longfat.study._work import Progress

_MOST_ERRORS = 5


class _Shard(click.ParamType[tuple[int, int]]):
    """`I/N`: the I-th of N."""

    name = "i/n"

    def convert(
        self,
        value: str | tuple[int, int],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", value)
        if found is None or not 0 <= int(found[1]) <= int(found[2]) or found[2] == "0":
            self.fail(f"{value} is not I/N, such as 3/64: the third of 64", param, ctx)
        return int(found[1]), int(found[2])


@command("study")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--out", type=click.Path(path_type=Path), help="Folder [runs/study-STEM].")
@click.option(
    "--seeds",
    type=click.IntRange(1, MOST_SEEDS),
    help="So many seeds, instead of those of the file.",
)
@click.option("--dry-run", is_flag=True, help="Tell runs, time and disk, and run nothing.")
@of_workers
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:8786.")
@click.option(
    "--shard",
    type=_Shard(),
    help="Run only every N-th, beginning with the I-th, for a job array; --merge follows.",
)
@click.option("--merge", is_flag=True, help="Run nothing: put together what shards have finished.")
@allow_code
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def study_command(
    file: Path | None,
    *,
    out: Path | None,
    seeds: int | None,
    dry_run: bool,
    workers: int | None,
    dask: str | None,
    shard: tuple[int, int] | None,
    merge: bool,
    allow_code: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the study in FILE, or in a folder: a scenario, what varies, and the seeds.

    The folder holds a row for each run (rows.parquet), means with 95 % confidence intervals (table.csv) and
    pictures. What is finished is never run again: after Ctrl-C, or worse, the same command goes on where it
    stopped. FILE may be -, the standard input: paths in it then go from the working folder.

    \b
    longfat study studies/controllers.toml --dry-run
    longfat study studies/controllers.toml
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.own import Code
    from longfat.study._study import Opened

    _refuse_together(workers=workers, dask=dask, shard=shard, merge=merge)
    source, out = _place(file, out)
    opened = Opened(source, out=out, seeds=seeds, code=Code(allowed=allow_code))
    if dry_run:
        _tell_forecast(opened.forecast(), workers, as_json=as_json)
        _complain_broken(opened.broken, opened.folder)
        return
    idle = merge and opened.nothing() is not None
    if opened.replaces_another and not (quiet or idle):
        told = (
            f"what is in {opened.folder} was made of another study: its tables and pictures are replaced, "
            "its finished runs are kept"
        )
        click.echo(told, err=True)
    try:
        found = _run(opened, workers, dask, shard, merge=merge, quiet=quiet)
    except BaseException as error:
        if not isinstance(error, Exception) and not quiet:
            told = f"what is finished stays in {opened.folder}: the same command goes on from there"
            click.echo(told, err=True)
        raise
    if as_json:
        from longfat.foreign import json_text

        of_runs = {"known": found.known, "done": found.done, "failed": found.failed}
        click.echo(json_text({"runs": found.runs, **of_runs, **found.paths}))
    elif not quiet:
        _print(found, shard)
    _complain(found, shard)
    if found.failed or found.missing:
        click.get_current_context().exit(1)


def _place(file: Path | None, out: Path | None) -> tuple[Path | Piped, Path | None]:
    """The study file and the folder: the folder of a study stands for the file in it."""
    from longfat.commands._console import given

    if file is None:
        if out is None or not (out / "study.toml").is_file():
            message = "name a study file, or the folder of a study: `longfat study studies/controllers.toml`."
            raise click.UsageError(message)
        return out, out
    if not file.is_dir():
        return given(file, "studies"), out
    if out is None and (file / "study.toml").is_file():
        out = file
    return file, out


def _refuse_together(
    *, workers: int | None, dask: str | None, shard: tuple[int, int] | None, merge: bool
) -> None:
    if merge and (shard or dask):
        message = "--merge runs nothing: it goes with neither --shard nor --dask."
        raise click.UsageError(message)
    if dask and workers:
        message = "with --dask the cluster decides how many workers there are: leave --workers out."
        raise click.UsageError(message)


def _run(
    opened: Opened,
    workers: int | None,
    dask: str | None,
    shard: tuple[int, int] | None,
    *,
    merge: bool,
    quiet: bool,
) -> Study:
    from longfat.commands._console import progress
    from longfat.units import PLAIN, amount

    total = 0

    def speed(rate: float) -> str:
        return f"{amount(rate * total, PLAIN)} runs/s"

    with progress(opened.name, quiet=quiet, speed=speed) as advanced:

        def tell(now: Progress) -> None:
            nonlocal total
            total = now.total
            if advanced:
                failed = f", {now.failed:,} failed" if now.failed else ""
                advanced(now.share, f"{opened.name}: {now.done:,} of {now.total:,} runs{failed}")

        return opened.run(workers=workers, dask=dask, shard=shard, merge=merge, progress=tell)


def _tell_forecast(found: Forecast, workers: int | None, *, as_json: bool) -> None:
    from longfat.study._runner import usable_cores

    cores = workers or usable_cores()
    seconds = max(found.longest, found.seconds / cores)
    if as_json:
        from longfat.foreign import json_text

        told = {"points": found.points, "runs": found.runs, "known": found.known}
        click.echo(json_text({**told, "seconds": seconds, "bytes": found.size}))
        return
    from longfat.units import SIZE, amount, plural

    click.echo(
        f"{plural(found.points, 'point')}, {plural(found.runs, 'run')}, {found.known:,} of them finished"
    )
    longest = f", the longest run {_lasts(found.longest)}" if found.runs > found.known else ""
    click.echo(f"about {_lasts(seconds)} on {plural(cores, 'core')}{longest}")
    click.echo(f"about {amount(found.size, SIZE)} on disk")


def _lasts(seconds: float) -> str:
    """A time to come: roughly.

    >>> _lasts(0.2), _lasts(40), _lasts(400), _lasts(40_000)
    ('1 s', '40 s', '7 min', '11.1 h')
    """
    if seconds < 100:  # noqa: PLR2004 - more is better said in minutes
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004


def _print(found: Study, shard: tuple[int, int] | None) -> None:
    from longfat.commands._console import console, show
    from longfat.study import _in_words
    from longfat.units import plural

    screen = console()
    if shard is not None:
        screen.print(
            f"shard {shard[0]} of {shard[1]}: {found.done:,} of {plural(found.runs, 'run')} finished"
        )
        screen.print(f"\nwhen all are: longfat study {found.folder} --merge", soft_wrap=True)
        return
    if found.missing == found.runs:
        return
    show(screen, found.means)
    screen.print()
    known = f", {found.known:,} of them known" if found.known else ""
    failed = f", {found.failed:,} failed" if found.failed else ""
    screen.print(
        f"{plural(found.runs, 'run')}{known}{failed}; means ± half of the 95 % confidence interval"
    )
    for line in _in_words.doubts(found):
        screen.print(line, soft_wrap=True)
    screen.print(f"\nresults in {found.folder}", soft_wrap=True)


def _complain(found: Study, shard: tuple[int, int] | None) -> None:
    from longfat.foreign import shown
    from longfat.study._values import describe
    from longfat.units import plural

    _complain_broken(found.broken, found.folder)
    if shard is not None:
        if found.failed:
            click.echo(f"error: {plural(found.failed, 'run')} of this shard failed", err=True)
        return
    if found.missing:
        click.echo(
            f"error: {plural(found.missing, 'run')} of {found.runs:,} missing: "
            "run the study, or its other shards",
            err=True,
        )
    if found.failed:
        from longfat.study._assemble import MISSING

        failed = found.errors.filter(found.errors["error"] != MISSING)
        for row in failed.head(_MOST_ERRORS).rows(named=True):
            error = row.pop("error")
            click.echo(shown(f"error: {describe(row)}: {error}"), err=True)
        if found.failed > _MOST_ERRORS:
            click.echo(
                f"error: {found.failed - _MOST_ERRORS:,} more runs failed: see `error` in rows.parquet",
                err=True,
            )


def _complain_broken(files: int, folder: Path) -> None:
    from longfat.units import plural

    if files:
        click.echo(
            f"warning: {plural(files, 'broken file')} taken away from {folder}: "
            "runs that are lost with it are made again when they are asked for",
            err=True,
        )
