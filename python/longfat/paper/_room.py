"""A paper's room: the folder with its claims, deviations and experiments."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import shipped
from longfat.errors import RoomError
from longfat.paper._claims import quoted, read_claims, read_deviations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    import polars as pl
    from matplotlib.figure import Figure

    from longfat.paper._claims import Claim, Deviation, Paper, Scale
    from longfat.paper._verdict import Answer
    from longfat.study._points import Computation, Measured, Point, Row

CLAIMS, DEVIATIONS = "claims.toml", "deviations.toml"
_NEEDED = ("points", "measure", "claims", "draw")


@dataclass(frozen=True)
class Experiment:
    """What a module of a room says about itself, as `FIGURE`.

    Attributes:
        id: Its name in claims and files: `figure-2`.
        title: A few words to head its picture.
        question: What it asks, in one sentence.
        by: Measured columns that distinguish the rows of one point and seed, such as `("time_s", "flow")`: the
            data file has a row for each, with means over the seeds.
    """

    id: str
    title: str
    question: str
    by: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Module:
    """An experiment with its code."""

    about: Experiment
    path: Path
    points: Callable[[Scale], Iterable[Point | Computation]]
    measure: Callable[[Measured], Row | list[Row]]
    claims: Callable[[pl.DataFrame], Mapping[str, Answer]]
    draw: Callable[[pl.DataFrame], Figure | Mapping[str, Figure]]
    facts: Callable[[pl.DataFrame], Mapping[str, Answer]] | None = None


class Room:
    """A folder `papers/SLUG`, whose files are read when first needed.

    Attributes:
        path: The folder.
        slug: Its name.
    """

    def __init__(self, path: Path) -> None:
        """Takes the folder `path`, which holds `claims.toml`."""
        self.path = path
        self.slug = path.resolve().name

    @property
    def paper(self) -> Paper:
        """The paper itself."""
        return self._claims[0]

    @property
    def claims(self) -> list[Claim]:
        """Its claims, in the order of the file."""
        return self._claims[1]

    @cached_property
    def _claims(self) -> tuple[Paper, list[Claim]]:
        return read_claims(self.path / CLAIMS)

    @cached_property
    def deviations(self) -> list[Deviation]:
        """Where we deviate from it."""
        return read_deviations(self.path / DEVIATIONS)

    @cached_property
    def modules(self) -> dict[str, Module]:
        """The experiments by their id, in the order of the paper.

        Raises:
            RoomError: A module cannot be loaded or lacks something, or a claim names a figure that is not
                there.
        """
        found: dict[str, Module] = {}
        for path, loaded in _load_all(self.path):
            if not hasattr(loaded, "FIGURE"):
                continue
            made = _module(path, loaded)
            if made.about.id in found:
                message = f"{path}: {found[made.about.id].path.name} is already `{made.about.id}`"
                raise RoomError(message)
            found[made.about.id] = made
        for claim in self.claims:
            if claim.figure is not None and claim.figure not in found:
                known = ", ".join(found) or "none"
                message = (
                    f'{self.path / CLAIMS}: claim "{claim.id}": there is no figure '
                    f"`{claim.figure}`; the modules of the room are: {known}"
                )
                raise RoomError(message)
        self._check_quotes(found)
        return dict(sorted(found.items(), key=lambda item: _natural(item[0])))

    def _check_quotes(self, modules: Mapping[str, Module]) -> None:
        """Refuses a cause that quotes neither a claim nor an experiment of the room."""
        claimed = {claim.id for claim in self.claims}
        for claim in self.claims:
            for name in quoted(claim):
                having_facts = (m.about.id for m in modules.values() if m.facts is not None)
                if name not in claimed and not any(name.startswith(f"{i}/") for i in having_facts):
                    message = (
                        f'{self.path / CLAIMS}: claim "{claim.id}": its cause quotes `{name}`, neither a '
                        "claim nor a fact of an experiment: let the function `facts` of one return it"
                    )
                    raise RoomError(message)

    @cached_property
    def figure_ids(self) -> list[str]:
        """The ids of the experiments, in the order of the paper."""
        return list(self.modules)

    @property
    def claimed_figures(self) -> list[str]:
        """The ids of the experiments that have claims, in the order of the paper; no code is run to tell."""
        return sorted({claim.figure for claim in self.claims if claim.figure}, key=_natural)

    @property
    def built_in(self) -> bool:
        """Whether it came with the package. The code of any other is a stranger's."""
        return self.path.resolve().is_relative_to((shipped.HERE / "papers").resolve())

    @property
    def files_of_code(self) -> list[Path]:
        """What is run when the room is remade."""
        return sorted(self.path.glob("*.py"))


def rooms() -> list[Room]:
    """The rooms that have a name: those that came with the package, and those in the folder `papers` here.

    None of their code is run. Where both have a room of one name, it is that of the package; the other one is
    asked for by its path.
    """
    found = {room.slug: room for room in [*_below(Path("papers")), *_below(_built_in())]}
    return [found[slug] for slug in sorted(found)]


def rooms_at(path: Path) -> list[Room]:
    """The room in the folder `path`, or all rooms in its folders; empty if there are none."""
    return [Room(path)] if (path / CLAIMS).is_file() else _below(path)


def _below(folder: Path) -> list[Room]:
    return [Room(path.parent) for path in sorted(folder.glob(f"*/{CLAIMS}"))]


def _built_in() -> Path:
    """Where the rooms of the package are: from here, in a checkout."""
    own = (shipped.HERE / "papers").resolve()
    return Path("papers") if Path("papers").resolve() == own else own


def _module(path: Path, loaded: ModuleType) -> Module:
    about = loaded.FIGURE
    if not isinstance(about, Experiment):
        message = f"{path}: FIGURE must be an Experiment(id=…, title=…, question=…)"
        raise RoomError(message)
    missing = [name for name in _NEEDED if not callable(getattr(loaded, name, None))]
    if missing:
        message = f"{path}: it has FIGURE but no function `{missing[0]}`"
        raise RoomError(message)
    functions: dict[str, Any] = {name: getattr(loaded, name) for name in _NEEDED}
    functions["facts"] = getattr(loaded, "facts", None)
    return Module(about, path, **functions)


def _load_all(folder: Path) -> list[tuple[Path, ModuleType]]:
    """Every Python file of the folder; they import each other like scripts in one folder."""
    paths = sorted(folder.resolve().glob("*.py"))
    for path in paths:
        _refuse_shadow(path)
    with _importable(folder.resolve(), [path.stem for path in paths]):
        return [(path, _load(path)) for path in paths]


def _refuse_shadow(path: Path) -> None:
    """Refuses a file that others would import in place of what they mean.

    Raises:
        RoomError: It has the name of a module of Python or of an installed package.
    """
    name = path.stem
    if name in sys.stdlib_module_names or name == "longfat":
        known = True
    else:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        places = [Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")]
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        known = origin is not None and any(origin.is_relative_to(place) for place in places)
    if known:
        message = (
            f"{path}: `{name}` is the name of another module, which it would hide: rename the file"
        )
        raise RoomError(message)


def _load(path: Path) -> ModuleType:
    if path.stem in sys.modules:
        return sys.modules[path.stem]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        message = f"{path}: it cannot be loaded"
        raise RoomError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        message = f"{path}: it cannot be loaded: {type(error).__name__}: {error}"
        raise RoomError(message) from error
    return module


@contextmanager
def _importable(folder: Path, names: list[str]) -> Iterator[None]:
    """Lets the files of a folder import each other, and leaves no trace of them afterwards."""
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = bytecode
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def _natural(name: str) -> tuple[bool, list[tuple[int, str]]]:
    """A sort key: figures and tables first, by number, then the rest by name."""
    parts = [(int(part), "") if part.isdigit() else (0, part) for part in name.split("-")]
    return not name.startswith(("figure", "table")), parts
