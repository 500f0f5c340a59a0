"""What the commands share: where data and progress go."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from longfat.foreign import ascii_text
from longfat.tables import TextTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.box import Box
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.progress import Task
    from rich.table import Table
    from rich.text import Text

    from longfat._longfat import Scenario
    from longfat.results._saved_folder import SavedFolder
    from longfat.scenario import Piped

_WIDE = 160
"""The width of a table written to a file or a pipe, where nothing should be cut."""


def console(*, stderr: bool = False) -> Console:
    """Standard output, for tables; or standard error. Whatever text it is given, it shows and never obeys."""
    from rich.console import Console
    from rich.segment import Segment

    from longfat.foreign import shown

    class Screen(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:  # moves the cursor: made by rich itself, never from a text
                    yield segment
                else:
                    yield Segment(shown(segment.text), segment.style)

    # Rich itself asks the terminal, and what COLUMNS says. Names such as flow[0] must not be taken for markup.
    environment = dict(os.environ)
    # Nothing fits into no columns: nobody means that.
    if not environment.get("COLUMNS", "").strip("0"):
        environment.pop("COLUMNS", None)
    told = stderr or sys.stdout.isatty() or environment.get("COLUMNS", "").isdecimal()
    width = None if told else _WIDE
    return Screen(
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        stderr=stderr,
        _environ=environment,
    )


def table(*columns: str, left: int = 1) -> Table:
    """An empty table of texts that are wrapped: the first `left` columns hold words, the others numbers."""
    from rich.table import Table

    made = Table(
        box=_frame(), pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", overflow="fold")
    return made


def _frame() -> Box:
    from rich.box import Box

    # Said to be ASCII, so that it is taken everywhere: a ruler is written as well as a terminal can.
    return Box("    \n    \n ── \n    \n    \n    \n    \n    \n", ascii=True)


def show(screen: Console, made: TextTable, *, markdown: bool = False) -> None:
    """Prints a table, plain or in Markdown.

    No number is ever cut: what is too wide for the screen goes on in another table, below, with the same words
    at the left.
    """
    if markdown:
        screen.print(made.markdown, soft_wrap=True)
        return
    if screen.options.ascii_only:
        # Now, since signs may be longer in ASCII, and columns have to know.
        rows: list[Sequence[str]] = [tuple(map(ascii_text, row)) for row in made.rows]
        made = TextTable([ascii_text(head) for head in made.head], made.words, made.title, rows)
    if made.title:
        screen.print(made.title, soft_wrap=True)
    for index, columns in enumerate(_parts(made, screen.width)):
        if index:
            screen.print()
        part = table(*(made.head[column] for column in columns), left=made.words)
        fits = sum(_width(made, column) for column in columns) <= screen.width + _BETWEEN
        for place, column in enumerate(part.columns):
            column.no_wrap = fits or place >= made.words
        for row in made.rows:
            part.add_row(*(row[column] for column in columns))
        screen.print(part)


_BETWEEN = 2
"""Characters from column to column."""


def _width(made: TextTable, column: int) -> int:
    """The characters that a column takes, with those up to the next one."""
    from rich.cells import cell_len

    cells = [made.head[column], *(row[column] for row in made.rows)]
    return max(map(cell_len, cells)) + _BETWEEN


def _parts(made: TextTable, width: int) -> list[list[int]]:
    """The columns of each part of a table, by their places: those of words, and as many of numbers as fit."""
    words = list(range(made.words))
    room = width + _BETWEEN - sum(_width(made, column) for column in words)
    parts: list[list[int]] = []
    left = 0
    for column in range(made.words, len(made.head)):
        if not parts or _width(made, column) > left:
            parts.append([*words])
            left = room
        parts[-1].append(column)
        left -= _width(made, column)
    return parts or [words]


class Advance(Protocol):
    """Moves a progress bar to a share, 0 to 1 or `None` if unknown, and may tell what is being done."""

    def __call__(self, share: float | None, what: str | None = None) -> None: ...


@contextmanager
def progress(what: str, *, quiet: bool, speed: Callable[[float], str]) -> Iterator[Advance | None]:
    """A progress bar on standard error while the block runs; `None` if nobody would see it.

    Args:
        what: The text before the bar.
        quiet: Show nothing.
        speed: Turns the share done per second into words.

    Yields:
        A function that takes the share done, 0 to 1.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    start = time.monotonic()

    class SpeedColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            elapsed = time.monotonic() - start
            return Text(speed(task.completed / elapsed) if elapsed > 0 and task.completed else "")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        SpeedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)

        def advance(share: float | None, what: str | None = None) -> None:
            if share is None:  # a bar without an end only moves
                bar.tasks[0].total = None
                bar.update(task, description=what)
            else:
                bar.update(task, total=1.0, completed=share, description=what)

        yield advance


def tell_changed(results: Iterable[SavedFolder]) -> None:
    """Says on standard error which files of results are not as they were written."""
    for each in results:
        if each.changed:
            told = ", ".join(f"`{name}`" for name in each.changed)
            click.echo(
                f"warning: changed after longfat wrote {each.folder}: {told}", file=sys.stderr
            )


def draws(scenario: Scenario) -> bool:
    """Whether a run of a scenario will have time series to draw; if not, says why and what to do."""
    from longfat.scenario import PICOSECONDS, quantities
    from longfat.units import TIME, amount

    given = quantities(scenario)
    if given.sample_ps <= given.duration_ps:
        return True
    sample = amount(given.sample_ps / PICOSECONDS, TIME)
    message = (
        f"no picture of the run: its `sample`, {sample}, is longer than it; choose a smaller one"
    )
    click.echo(message, file=sys.stderr)
    return False


def refuse_missing(file: Path, examples: str = "scenarios") -> None:
    """Refuses a file that is not there, and names the one that was probably meant.

    Args:
        file: The file.
        examples: The folder that has others of its kind.

    Raises:
        UsageError: There is no such file.
    """
    if file.is_dir():
        message = f"{file} is a folder, not a scenario file{_inside(file)}."
        raise click.UsageError(message)
    if file.exists():
        return
    from difflib import get_close_matches

    folder = file.parent if file.parent.is_dir() else Path()
    near = [*folder.glob("*.toml"), *Path(examples).glob("*.toml")]
    by_name = {path.stem: path for path in reversed(near)}
    found = get_close_matches(file.stem, by_name, n=1)
    hint = f" Did you mean {by_name[found[0]]}?" if found else ""
    message = f"there is no file {file}.{hint}"
    raise click.UsageError(message)


def given(file: Path, examples: str = "scenarios") -> Path | Piped:
    """The file that is asked for, which is there; for `-` what comes through the standard input.

    Raises:
        UsageError: There is no such file, or nothing that could be one.
    """
    from longfat._longfat import LONGEST_FILE
    from longfat.foreign import text_of
    from longfat.scenario import Piped

    if file != _STDIN:
        refuse_missing(file, examples)
        return file
    try:
        text = "" if sys.stdin is None else text_of(sys.stdin.buffer, LONGEST_FILE)
    except ValueError as error:
        message = f"what comes through the standard input is no file that longfat reads: {error}."
        raise click.UsageError(message) from error
    if not text.strip():
        message = "- reads the standard input, and nothing came: pipe a file into it, or name one."
        raise click.UsageError(message)
    return Piped(text)


_STDIN = Path("-")


def _inside(folder: Path) -> str:
    """What to name instead of a folder: the scenario of a result, or the files in it."""
    if (folder / "scenario.toml").is_file():
        return f": name {folder / 'scenario.toml'}"
    from longfat.units import some_of

    names = sorted(path.name for path in folder.glob("*.toml"))
    return f": name a file in it, such as {some_of(names)}" if names else ""
