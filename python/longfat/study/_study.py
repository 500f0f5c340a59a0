"""A study: from its file to its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from longfat import frames
from longfat._fork import need_threads
from longfat.errors import StudyError
from longfat.foreign import read_text
from longfat.own import NOTHING, Brought, Code
from longfat.results._folder import checksum, write_whole
from longfat.scenario import Piped, Source
from longfat.study._chunk import FILE
from longfat.study._file import Plot, StudyFile, Until, read_study, subject, suggestion
from longfat.study._parts import PARTS, Claims, Parts
from longfat.tables import page

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import polars as pl
    from matplotlib.figure import Figure

    from longfat.study._engines import Engine
    from longfat.study._runs import Batch, Forecast, Runs
    from longfat.study._work import StudyProgress, Work
    from longfat.tables import TextTable

DIFFERENCES = "differences.csv"
FILES = "files"
"""The folder of the files that the scenario of a study names."""
MOST_ROWS = 40
"""A table to read has no more of them."""


@dataclass(frozen=True)
class Study:
    """A finished study, or what there is of it.

    Attributes:
        folder: Where it is.
        runs: How many runs were asked for; of a shard, its own.
        known: How many of them had been finished before.
        failed: How many failed: their rows have an `error`.
        missing: How many have not been run: of other shards, or still under way elsewhere.
        broken: How many files of the folder were found broken, and taken away.
    """

    folder: Path
    runs: int
    known: int
    failed: int
    missing: int = 0
    broken: int = 0
    file: StudyFile = field(repr=False, kw_only=True)

    @cached_property
    def _place(self) -> Path:
        """The folder, wherever the working folder has gone since."""
        return self.folder.absolute()

    def __post_init__(self) -> None:
        """Remembers where the folder is."""
        _ = self._place

    @property
    def done(self) -> int:
        """How many runs are finished: neither failed nor missing."""
        return self.runs - self.failed - self.missing

    def _tables(self, name: str) -> Path:
        """A file of tables that is about to be read."""
        need_threads()
        return self._place / name

    def __repr__(self) -> str:
        """The folder and the counts, in one line."""
        return f"<Study {self.folder}: {self.runs:,} runs, {self.known:,} known, {self.failed:,} failed>"

    def _repr_html_(self) -> str:
        """The counts and the means, for a notebook."""
        done = self.missing < self.runs
        return page([repr(self)[1:-1], *([self.means] if done else [])])

    @property
    def means(self) -> TextTable:
        """The numbers that the study asks about, at each point, to read."""
        from longfat.study._in_words import means

        return means(self, MOST_ROWS)

    @cached_property
    def rows(self) -> pl.DataFrame:
        """A row for each run: the varied keys, `seed`, every number of its summary under its path, `error`."""
        return frames.read(self._tables("rows.parquet"))

    @property
    def keys(self) -> tuple[str, ...]:
        """What varies."""
        return self.file.design.keys

    @property
    def numbers(self) -> list[str]:
        """What was measured or derived: the other columns of `rows`."""
        other = {*self.keys, "seed", "error", "run"}
        return [name for name in self._kinds if name not in other]

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        """The columns of `rows`, which is not read for that: it may be large."""
        return dict(frames.scan(self._tables("rows.parquet")).collect_schema())

    def _columns(self, *names: str) -> pl.LazyFrame:
        """Some columns of `rows`."""
        for name in names:
            if name not in self._kinds:
                self._check(name)
        return frames.scan(self._tables("rows.parquet")).select(names)

    def table(self, *numbers: str) -> pl.DataFrame:
        """A row for each point: its keys, and of each number the mean, `…_half_width` of its interval, `…_n`.

        Args:
            numbers: Which; by default all.

        Raises:
            StudyError: There is no such number.
        """
        import polars as pl

        kinds: dict[str, Any] = {key: self._kinds[key] for key in self.keys}
        for name in self.numbers:
            kinds |= {name: pl.Float64, f"{name}_half_width": pl.Float64, f"{name}_n": pl.Int64}
        found = frames.read_csv(self._tables("table.csv"), kinds)
        if not numbers:
            return found
        for name in numbers:
            self._check(name)
        parts = [f"{name}{ending}" for name in numbers for ending in ("", "_half_width", "_n")]
        return found.select(*self.keys, *parts)

    def differences(
        self, of: str, between: str, *, to: object = None, correction: str = "holm"
    ) -> pl.DataFrame:
        """Compares the values of a key, paired by seed, at every setting of the other keys.

        Args:
            of: The number.
            between: The key whose values are compared.
            to: Compare all others to this value; by default each is compared with each.
            correction: For many comparisons: `holm` or `bonferroni`.

        Returns:
            A row for each comparison, with the mean difference and a `verdict`: `greater`, `less`, `the same`,
            or `not enough seeds to tell`.

        Raises:
            StudyError: There is no such number, key or value.
        """
        from longfat.study._differences import differences

        return differences(
            self._columns(*self.keys, "seed", of).collect(),
            self.keys,
            of,
            between,
            tied=self.file.design.together(between),
            to=to,
            correction=correction,
            interval=self.file.interval,
        )

    def plot(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        colour: str | None = None,
        panel: str | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Figure:
        """Draws the means of a number, with their intervals.

        Args:
            x: What varies along it; by default as in the file of the study, or the first key.
            y: The number; by default as in the file, or the first goodput.
            colour: What has a colour for each value; by default as in the file, if `x` and `y` are.
            panel: What has a panel for each value; likewise.
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.

        Returns:
            The figure, which a notebook displays.

        Raises:
            StudyError: There is no such key or number.
        """
        from longfat import plot

        chosen = self._chosen(x, y, colour, panel)
        self._check(chosen.y)
        if chosen.x not in self.keys and chosen.x not in self.numbers:
            known = [*self.keys, *self.numbers]
            message = f"`{chosen.x}` neither varies nor is a number of runs: {suggestion(chosen.x, known)}"
            raise StudyError(message)
        for key in (chosen.colour, chosen.panel):
            if key is not None and key not in self.keys:
                message = f"a plot has `{key}`, which does not vary: {suggestion(key, self.keys)}"
                raise StudyError(message)
        figure = plot.study(chosen, self.table(chosen.y), self.keys, self.spread(chosen))
        if path is not None:
            plot.save(figure, path)
        return figure

    def _chosen(self, x: str | None, y: str | None, colour: str | None, panel: str | None) -> Plot:
        """The picture that is asked for: what is left out is as in the file."""
        plots = self.plots
        if not plots and (x is None or y is None):
            reason = "nothing varies" if self.numbers else "no run has a number"
            message = f"there is no picture to draw by itself, since {reason}: name `x` and `y`"
            raise StudyError(message)
        if x is None and y is None:
            first = plots[0]
            return replace(first, colour=colour or first.colour, panel=panel or first.panel)
        return Plot(x or plots[0].x, y or plots[0].y, colour, panel)

    def spread(self, chosen: Plot) -> pl.DataFrame | None:
        """The means of what a plot has along x, where that was measured and not set."""
        return None if chosen.x in self.keys else self.table(chosen.x)

    @property
    def plots(self) -> list[Plot]:
        """The pictures of the file; where it has none, one of the first number against what varies first."""
        if self.file.plot:
            return self.file.plot
        axes = self.file.design.axes
        varied = [key for axis in axes for key in axis.keys if len(axis.entries) > 1]
        keys = varied or list(self.keys)
        if not keys or not self.numbers:
            return []
        goodputs = [name for name in self.numbers if name.endswith("goodput_bit_s")]
        number = next(iter(self.file.derive), None) or (goodputs or self.numbers)[0]
        return [Plot(keys[0], number, keys[1] if len(keys) > 1 else None)]

    @property
    def errors(self) -> pl.DataFrame:
        """What failed: keys, seed and error."""
        import polars as pl

        asked = self._columns(*self.keys, "seed", "error")
        return asked.filter(pl.col("error").is_not_null()).collect()

    @property
    def paths(self) -> dict[str, str | None]:
        """Where the rows and the table are; `None` where they have not been written."""
        return {
            name: str(path) if (path := self.folder / file).is_file() else None
            for name, file in (("rows", "rows.parquet"), ("table", "table.csv"))
        }

    def _check(self, name: str) -> None:
        if name not in self.numbers:
            message = f"no run has `{name}`: {suggestion(name, self.numbers)}"
            raise StudyError(message)


class Opened:
    """A study that has been read and checked: what it would take, and running it.

    Attributes:
        file: What the file says.
        folder: Where its results go.
        runs: Its runs.
    """

    def __init__(
        self,
        source: Source | Piped,
        *,
        out: str | os.PathLike[str] | None = None,
        seeds: int | None = None,
        code: Code = NOTHING,
    ) -> None:
        """Reads a study file and the scenario of every point; nothing runs, and nothing is written.

        Raises:
            StudyError: The study is wrong.
            ScenarioError: The scenario is wrong.
            OSError: A file cannot be read.
        """
        from longfat.study._runs import Runs

        self.file, base, name = read_study(source, seeds=seeds)
        self.name = name
        self.folder = Path("runs") / f"study-{name}" if out is None else Path(out)
        _refuse_other(self.folder)
        is_file = not isinstance(source, (Mapping, Piped)) and "\n" not in str(source)
        self.runs: Runs = Runs(self.file, base, code=code, kept=base / FILES if is_file else None)
        self._parts = Parts(self.folder, self.file.series)

    @property
    def replaces_another(self) -> bool:
        """Whether the folder has a study of another scenario, or in which other keys vary."""
        try:
            earlier = read_text(self.folder / FILE)
        except (OSError, ValueError):
            return False
        try:
            return subject(earlier) != subject(self.file.resolved(self.runs.content()))
        except StudyError:
            return True

    def forecast(self) -> Forecast:
        """What it takes, given what is already in the folder; of seeds `until`, the most."""
        batch = self.runs.batch(self.runs.most_seeds())
        finished = np.zeros(len(batch), dtype=bool)
        if (self.folder / PARTS).is_dir():
            self._parts.refresh()
            finished = self._parts.finished(batch.ids)
        return self.runs.forecast(batch, finished)

    def run(
        self,
        *,
        workers: int | None = None,
        dask: object = None,
        executor: object = None,
        shard: tuple[int, int] | None = None,
        merge: bool = False,
        progress: StudyProgress | None = None,
    ) -> Study:
        """Runs what is missing, and puts the results together.

        Raises:
            StudyError: A number that is asked for does not exist, or a Dask scheduler is not there.
            OSError: The folder cannot be written.
            ForkError: This process is a fork without threads.
            KeyboardInterrupt: Ctrl-C. What is finished stays, and the same call goes on from there.
        """
        need_threads()
        if merge and (nothing := self.nothing()) is not None:
            return nothing
        if isinstance(dask, str):
            from longfat.study._engines import check_address

            check_address(dask)
        mark = self._write_file()
        parts = self._parts
        claims = Claims(self.folder)
        try:
            parts.sweep()
            parts.refresh()
            counts = self.runs.first_counts()
            first = self._share(self.runs.batch(counts), shard)
            known = int(parts.finished(first.ids).sum())
            if not merge:
                from longfat.study._asked import refuse_unknown
                from longfat.study._engines import engine_for
                from longfat.study._work import Work

                def engine() -> Engine:
                    return engine_for(workers=workers, dask=dask, executor=executor)

                named = refuse_unknown(self.file)
                with Work(self.runs, parts, claims, engine, mark, progress, named) as work:
                    counts = self._work_off(work, counts, shard)
            else:
                counts = self._counts(parts, counts)
            return self._finish(parts, claims, counts, shard, known)
        finally:
            claims.close()

    def nothing(self) -> Study | None:
        """The study, if none of its runs is finished: then there is nothing to put together, or to write."""
        batch = self.runs.batch(self.runs.first_counts())
        if (self.folder / PARTS).is_dir():
            self._parts.refresh()
            if self._parts.holds_any(batch.ids):
                return None
        return Study(self.folder, len(batch), 0, 0, len(batch), self.broken, file=self.file)

    @property
    def broken(self) -> int:
        """How many files were found broken so far, and taken away."""
        return self._parts.broken

    def _work_off(
        self,
        work: Work,
        counts: np.ndarray[Any, Any],
        shard: tuple[int, int] | None,
    ) -> np.ndarray[Any, Any]:
        """Runs what is missing; with seeds `until`, round after round."""
        while True:
            batch = self._share(self.runs.batch(counts), shard)
            if not work.parts.finished(batch.ids).all():
                work.work_off(batch)
                work.parts.refresh()
            wanted = self._next_counts(work.parts, counts, batch)
            if wanted is None:
                return counts
            counts = wanted

    def _counts(self, parts: Parts, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """How many seeds each point has got, from what is in the folder."""
        while (wanted := self._next_counts(parts, counts, self.runs.batch(counts))) is not None:
            counts = wanted
        return counts

    def _next_counts(
        self, parts: Parts, counts: np.ndarray[Any, Any], batch: Batch
    ) -> np.ndarray[Any, Any] | None:
        """How many seeds each point needs next; `None` if none needs more."""
        seeds = self.file.seeds
        if not isinstance(seeds, Until):
            return None
        from longfat.study._assemble import precise_enough

        of = [seeds.of] if isinstance(seeds.of, str) else list(seeds.of)
        names = of or [plot.y for plot in self.file.plot] or None
        most, looks = self.runs.most_seeds(), seeds.looks
        # All points that are still open have the same number of seeds, and no other has more.
        now = int(counts.max(initial=0))
        open_ = (counts == now) & (counts < most)
        there = np.isin(batch.points, np.flatnonzero(open_))
        asked = batch.of(there)
        if not len(asked):
            return None
        verdicts = precise_enough(self.runs, parts, asked, names, seeds.share)
        wanted = counts.copy()
        for point, precise in verdicts.items():
            if not precise:
                wanted[point] = next(look for look in looks if look > now)
        return None if (wanted == counts).all() else wanted

    def _share(self, batch: Batch, shard: tuple[int, int] | None) -> Batch:
        """The runs of a shard: every so many-th; with seeds `until`, every so many-th point."""
        if shard is None:
            return batch
        number, of = shard
        by = batch.points if isinstance(self.file.seeds, Until) else np.arange(len(batch))
        return batch.of(by % of == number % of)

    def _finish(
        self,
        parts: Parts,
        claims: Claims,
        counts: np.ndarray[Any, Any],
        shard: tuple[int, int] | None,
        known: int,
    ) -> Study:
        """Puts the results together; a shard leaves that to whoever merges."""
        from longfat.study._assemble import Assembly

        batch = self.runs.batch(counts)
        if shard is not None:
            own = self._share(batch, shard)
            good = parts.finished(own.ids)
            rows = 0 if good.all() else int((~good).sum())
            return Study(self.folder, len(own), known, rows, broken=parts.broken, file=self.file)
        with claims.assembling():
            parts.refresh()
            assembly = Assembly(self.runs, parts, batch)
            assembly.write(self.folder)
            parts.compact()
        found = Study(
            self.folder,
            len(batch),
            known,
            assembly.failed,
            assembly.missing,
            parts.broken,
            file=self.file,
        )
        self._write_differences(found)
        self._draw(found)
        return found

    def _write_differences(self, found: Study) -> None:
        import polars as pl

        tables = [
            found.differences(each.of, each.between, to=each.to, correction=each.correction)
            for each in self.file.compare
        ]
        if tables:
            whole = pl.concat(tables, how="diagonal_relaxed")
            write_whole(self.folder / DIFFERENCES, partial(frames.write_csv, whole))

    def _draw(self, found: Study) -> None:
        for index, chosen in enumerate(found.plots, start=1):
            from longfat import plot

            found._check(chosen.y)  # noqa: SLF001 - of this module
            if chosen.x not in found.keys:
                found._check(chosen.x)  # noqa: SLF001
            figure = plot.study(chosen, found.table(chosen.y), found.keys, found.spread(chosen))
            name = chosen.name or f"plot-{index}"
            for ending in (".png", ".svg"):
                write_whole(self.folder / f"{name}{ending}", partial(plot.save, figure))

    def _write_file(self) -> str:
        """Writes the study file with everything in it; returns its checksum."""
        text = self.file.resolved(self.runs.content()).encode()
        (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
        path = self.folder / FILE
        for name, file in self.runs.files().items():
            _write_new(self.folder / FILES / name, file.read_bytes())
        _write_new(path, text)
        return checksum(path)


def _write_new(path: Path, content: bytes) -> None:
    """Writes a file, unless it is there and the same."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda made: made.write_bytes(content))


def study(
    source: Source,
    *,
    out: str | os.PathLike[str] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    dask: object = None,
    executor: object = None,
    shard: tuple[int, int] | None = None,
    merge: bool = False,
    progress: StudyProgress | None = None,
    controllers: Sequence[Brought] = (),
    queues: Sequence[Brought] = (),
    allow_code: bool = False,
) -> Study:
    """Runs a study: a scenario, what varies, and the seeds.

    What is finished stays in the folder, and is never run again: an interrupted study goes on where it
    stopped, and one with more seeds or values runs only what is new. Any number of processes may work at one
    folder.

    Args:
        source: The path of a study file, its text (recognised by its line breaks), or its content as a
            dictionary.
            The folder of a study stands for the file in it.
        out: The folder; by default `runs/study-STEM`.
        seeds: Replaces the seeds of the study: so many.
        workers: How many runs at a time; by default one for each core.
        dask: The address of a Dask scheduler, or a client.
        executor: Any executor of `concurrent.futures`, or a Dask client, to run it with.
        shard: `(i, n)`: runs only every n-th, beginning with the i-th, and puts nothing together.
        merge: Runs nothing, and puts together what shards have finished.
        progress: Told how far it has come, about ten times a second.
        controllers: Controllers of your own, as for `longfat.run`. Other processes get them sent.
        queues: Queues of your own, likewise.
        allow_code: Let it name code, as for `longfat.run`.

    Returns:
        The study: `.rows`, `.table()`, `.plot()`, `.differences()`. Runs that failed have an `error` in
        `.rows`.

    Raises:
        StudyError: The study is wrong, or the folder holds something else.
        ScenarioError: The scenario is wrong.
        OSError: A file cannot be read, or the folder cannot be written.
        KeyboardInterrupt: Ctrl-C. What is finished stays.
    """
    if shard is not None:
        _check_shard(shard)
    code = Code.of(controllers, queues, allow_code)
    return Opened(source, out=out, seeds=seeds, code=code).run(
        workers=workers, dask=dask, executor=executor, shard=shard, merge=merge, progress=progress
    )


def _check_shard(shard: Sequence[int]) -> None:
    number, of = shard
    if of < 1 or not 0 <= number <= of:
        message = (
            f"shard {number} of {of}: count from 1 to {max(of, 1)}, or from 0 to {max(of, 1) - 1}"
        )
        raise StudyError(message)


def _refuse_other(folder: Path) -> None:
    """Refuses a folder that holds something other than a study.

    Raises:
        StudyError: It does.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        message = f"{folder} is a file: choose another place for the folder"
        raise StudyError(message)
    names = {path.name for path in _entries(folder)}
    if names and not {PARTS, FILE} & names:
        message = (
            f"{folder} holds `{min(names)}` and no study: choose another folder, or an empty one"
        )
        raise StudyError(message)


def _entries(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if not path.name.startswith(".longfat-"))
