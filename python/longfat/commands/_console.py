"""What the commands share: where data and progress go."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.progress import Task
    from rich.table import Table
    from rich.text import Text

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

    # Names such as flow[0] must not be taken for markup.
    width = None if stderr or sys.stdout.isatty() else _WIDE
    return Screen(width=width, highlight=False, markup=False, emoji=False, stderr=stderr)


def table(*columns: str, left: int = 1, wrap: bool = False) -> Table:
    """An empty table without frames: the first `left` columns hold words, the others numbers."""
    from rich.box import Box
    from rich.table import Table

    frame = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
    made = Table(
        box=frame, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", no_wrap=not wrap)
    return made


def _markdown(made: Table) -> str:
    """A table in Markdown, for a page."""
    head, *rows = zip(
        *([str(column.header), *map(str, column.cells)] for column in made.columns), strict=True
    )
    ruler = ["--:" if column.justify == "right" else "---" for column in made.columns]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ruler, *rows))


def show(screen: Console, made: Table, *, markdown: bool) -> None:
    """Prints a table, plain or in Markdown."""
    screen.print(_markdown(made) if markdown else made, soft_wrap=markdown)


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


def refuse_missing(file: Path) -> None:
    """Refuses a missing scenario file, and names the one that was probably meant.

    Raises:
        UsageError: There is no such file.
    """
    if file.is_dir():
        message = f"{file} is a folder, not a scenario file."
        raise click.UsageError(message)
    if file.exists():
        return
    from difflib import get_close_matches

    folder = file.parent if file.parent.is_dir() else Path()
    near = [*folder.glob("*.toml"), *Path("scenarios").glob("*.toml")]
    by_name = {path.stem: path for path in reversed(near)}
    found = get_close_matches(file.stem, by_name, n=1)
    hint = f" Did you mean {by_name[found[0]]}?" if found else ""
    message = f"there is no file {file}.{hint}"
    raise click.UsageError(message)
