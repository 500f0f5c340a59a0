"""Which page a folder gets, and where it goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import ResultError
from longfat.foreign import shown
from longfat.page._evaluate_json import EVALUATION
from longfat.page._kit import PLAYGROUND, write
from longfat.results._folder import FLUID, RUN, manifest
from longfat.results._saved import SavedRun
from longfat.results._saved_folder import checked
from longfat.results._workshop import MANIFEST

if TYPE_CHECKING:
    import os

_REMADE = "a remade paper"


def report(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    playground: str = "",
) -> Path:
    """Makes the page of a result folder.

    Args:
        source: The folder of a run, of a fluid solution, of a study, of an evaluation or of a remade paper; the
            room of a paper, or its name.
        out: The file; by default the folder's name with `.html`, beside it. Only a page of longfat is replaced.
        playground: Where the playground is, seen from the page, such as `playground.html` beside it: each
            scenario then has a link with which it is changed and run again. Empty: there are none.

    Returns:
        The file.

    Raises:
        ResultError: There is no such folder, it holds something else, or a part of it is missing; or something
            else is at `out`.
        RoomError: The room of the paper is wrong.
        StudyError: The study is wrong.
        OSError: The folder cannot be read, or the page cannot be written.
    """
    folder = Path(source)
    token = PLAYGROUND.set(playground)
    try:
        text, stem = _made(folder, str(source))
    finally:
        PLAYGROUND.reset(token)
    return write(stem if out is None else Path(out), text)


def _made(folder: Path, name: str) -> tuple[str, Path]:
    """The page, and where it goes by default."""
    from longfat.paper._room import CLAIMS, Room, rooms

    if not folder.is_dir():
        room = next((each for each in rooms() if each.slug == name), None)
        if room is not None:
            from longfat.page._paper import room_page

            return room_page(room), Path("runs") / f"paper-{room.slug}.html"
    beside = folder.parent / f"{folder.resolve().name}.html"
    if (folder / CLAIMS).is_file():
        from longfat.page._paper import room_page

        found = Room(folder)
        return room_page(found), Path("runs") / f"paper-{found.slug}.html"
    if (folder / EVALUATION).is_file():
        from longfat.page._evaluation import evaluation_page

        return evaluation_page(folder), beside
    if (folder / MANIFEST).is_file():
        return _listed(folder), beside
    return _study(folder), beside


def _listed(folder: Path) -> str:
    """The page of a folder with a list of its files."""
    listed = manifest(folder)
    kind = RUN if listed is None else listed.longfat
    if kind == _REMADE:
        from longfat.page._paper import remade_page

        checked(folder, kind)
        return remade_page(folder)
    if kind == FLUID:
        from longfat.page._fluid import fluid_page
        from longfat.results._saved_fluid import SavedFluid

        return fluid_page(SavedFluid(folder))
    from longfat.page._run import run_page

    return run_page(SavedRun(folder))


def _study(folder: Path) -> str:
    """The page of a study, which has no list of its files."""
    if not (folder / "study.toml").is_file():
        what = (
            "does not exist"
            if not folder.exists()
            else "is a file"
            if not folder.is_dir()
            else "holds no run, fluid solution, study, evaluation or paper"
        )
        message = (
            f"{shown(str(folder))} {what}: name a result folder such as runs/first-1, "
            "or a paper such as exp-tcp"
        )
        raise ResultError(message)
    from longfat.page._study import study_page
    from longfat.study._open import open_study

    return study_page(open_study(folder))
