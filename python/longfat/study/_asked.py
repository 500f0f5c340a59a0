"""The numbers that a study asks for, held against those that runs have as soon as one is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import StudyError
from longfat.study._design import quoted
from longfat.study._file import ENGINE, Until, suggestion
from longfat.study._numbers import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from longfat.study._file import StudyFile

_TABLES = ("link", "flow", "traffic")
_SOMETIMES = ".receiver_limited_s"
"""Only runs have it in which a receiver has a window."""


def refuse_unknown(file: StudyFile) -> Callable[[Collection[str]], None] | None:
    """What refuses a study by the names of the numbers of its first run.

    `None` where the first run cannot tell: the fluid model solves within milliseconds, and where the engine, or
    a whole link or group, or what an application is varies, other runs have other numbers.
    """
    keys = file.design.keys
    if file.engine != "packets" or any(_renames(key) for key in keys):
        return None

    def refuse(names: Collection[str]) -> None:
        known = [*in_order(list(names)), *file.derive, *keys, "seed"]
        for place, name in _asked(file):
            if name not in known and not name.endswith(_SOMETIMES):
                message = f"`{place}`: no run has `{name}`: {suggestion(name, known)}; what is finished is kept"
                raise StudyError(message)

    return refuse


def _renames(key: str) -> bool:
    table, *rest = key.split(".")
    if table not in _TABLES:
        return key == ENGINE
    return len(rest) < 2 or rest[1] == "application"  # noqa: PLR2004 - the name and a field


def _asked(file: StudyFile) -> Iterator[tuple[str, str]]:
    """Each name that must be known, with its place in the file."""
    for name, expression in file.derive.items():
        for each in quoted(expression):
            yield f"derive.{name}", each
    for plot in file.plot:
        yield "plot.x", plot.x
        yield "plot.y", plot.y
    for compare in file.compare:
        yield "compare.of", compare.of
    if isinstance(file.seeds, Until):
        for each in [file.seeds.of] if isinstance(file.seeds.of, str) else file.seeds.of:
            yield "seeds.of", each
