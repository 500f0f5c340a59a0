"""What a scenario may use beyond longfat: entries handed over with it, and code that it names."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pickle
import sys
import traceback
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from longfat._fork import Turns
from longfat._longfat import Own, load_library
from longfat.foreign import shown
from longfat.own._class import labelled
from longfat.own._digest import is_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from typing_extensions import Self

Form = Literal["python", "library", "policy"]
Kind = Literal["controller", "queue"]

_FORMS: tuple[Form, ...] = ("python", "library", "policy")


@runtime_checkable
class SupportsLongfat(Protocol):
    """Whatever can become an entry of a catalogue."""

    def __longfat__(self) -> Own:
        """A handle of it."""


Brought = Own | SupportsLongfat
"""A controller or a queue that somebody brings along: a handle, or an object with `__longfat__()`."""


def handle(brought: Brought, kind: Kind | None = None) -> Own:
    """The handle of a controller or queue.

    Args:
        brought: The controller or queue.
        kind: What it has to be.

    Raises:
        TypeError: It is none, or not of that kind.
    """
    own = brought
    if not isinstance(own, Own):
        make = getattr(own, "__longfat__", None)
        own = make() if callable(make) else own
    if not isinstance(own, Own):
        message = (
            f"{shown(repr(brought)[:80])} is neither a controller nor a queue: `longfat.law`, "
            "`longfat.controller` and `longfat.queue` make them from Python, `longfat.load_library` takes them "
            "from a library"
        )
        raise TypeError(message)
    if kind is not None and own.kind != kind:
        message = f"`{own.name}` is a {own.kind}, not a {kind}"
        raise TypeError(message)
    return own


@dataclass(frozen=True)
class Code:
    """What a scenario may use beyond longfat.

    Attributes:
        controllers: Controllers that it can choose by their names.
        queues: Queues, likewise.
        allowed: Whether it may name code, `{ python = "rules.py:gentle" }` or `{ library = "librules.so" }`,
            which is then loaded, and run.
    """

    controllers: tuple[Brought, ...] = ()
    queues: tuple[Brought, ...] = ()
    allowed: bool = False

    @classmethod
    def of(cls, controllers: Any, queues: Any, allowed: object) -> Self:  # noqa: ANN401 - users give it
        """What somebody hands over: two lists, which are easily forgotten to be lists.

        Raises:
            TypeError: One of them is none.
        """
        for name, given in (("controllers", controllers), ("queues", queues)):
            if isinstance(given, (str, type)) or not isinstance(given, Iterable):
                message = (
                    f"`{name}` is a list, such as `{name}=[mine]`, not {shown(repr(given))[:80]}"
                )
                raise TypeError(message)
        return cls(tuple(controllers), tuple(queues), bool(allowed))

    def handles(self) -> list[Own]:
        """The handles of what was handed over.

        Raises:
            TypeError: One of them is no controller, or no queue.
        """
        controllers = [handle(each, "controller") for each in self.controllers]
        return controllers + [handle(each, "queue") for each in self.queues]

    def fetcher(self, folder: Path | None) -> Callable[[Form, str, Kind], tuple[Own, str]] | None:
        """What fetches the code that a scenario in `folder` names; `None` if it may name none."""
        if not self.allowed:
            return None

        def fetch(form: Form, place: str, kind: Kind) -> tuple[Own, str]:
            found = located(form, place, folder)
            return (_from_library if form == "library" else _from_python)(found, kind), found

        return fetch

    def portable(self) -> bytes:
        """The same, for another process; `Code.restored` takes it.

        Raises:
            TypeError: Something in it cannot be sent.
        """
        try:
            import cloudpickle as pickler  # functions of a notebook have no module to be imported from
        except ImportError:
            pickler = pickle
        try:
            with labelled(self.controllers):
                sent: bytes = pickler.dumps(self)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            message = (
                f"a controller or queue cannot be sent to another process: {error}; put it into a module "
                "of its own, or install cloudpickle"
            )
            raise TypeError(message) from error
        return sent

    @staticmethod
    def restored(sent: bytes) -> Code:
        """What another process has sent, which must be trusted."""
        code = pickle.loads(sent)  # noqa: S301 - from our own study, as the rest of the chunk
        if not isinstance(code, Code):
            message = "this is no code"
            raise TypeError(message)
        return code


NOTHING = Code()
"""Nothing beyond longfat."""


def located(form: Form, place: str, folder: Path | None) -> str:
    """What a scenario names, so that it is found from anywhere: paths of files become absolute.

    A file is looked for beside the scenario file and then in the working directory. What is found in neither
    stays as it is: a module may be installed.

    Args:
        form: What the scenario names.
        place: How: `rules.py:gentle`, `rules:gentle`, `librules.so` or `librules.so:gentle`.
        folder: Where the scenario file is.
    """
    path, name = _split(place)
    files = [path]
    if form == "python" and not path.endswith(".py"):
        files = [path.replace(".", "/") + ".py"] if _is_dotted(path) else []
    for base in (folder, Path()):
        for file in files:
            if base is not None and (base / file).is_file():
                found = str((base / file).resolve())
                return f"{found}:{name}" if name else found
    return place


def located_all(value: Any, folder: Path | None) -> Any:  # noqa: ANN401 - any plain data
    """Plain data with every choice of code in it located."""
    if isinstance(value, list):
        return [located_all(each, folder) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: located(key, each, folder)
        if key in _FORMS and isinstance(each, str)
        else located_all(each, folder)
        for key, each in value.items()
    }


def _is_dotted(path: str) -> bool:
    return all(part.isidentifier() for part in path.split("."))


def _split(place: str) -> tuple[str, str]:
    """The path or module, and the name in it. A drive letter is no path."""
    path, colon, name = place.rpartition(":")
    if not colon or len(path) < 2 or {"/", "\\"} & set(name):  # noqa: PLR2004 - `C:` is a drive
        return place, ""
    return path, name


def _from_library(place: str, kind: Kind) -> Own:
    path, name = _split(place)
    if Path(path).is_dir():
        message = f"`{shown(path)}` is a directory: a library is a file, such as one that a compiler writes"
        raise ValueError(message)
    if not Path(path).is_file():
        message = "there is no such file beside the scenario file, nor in the working directory"
        raise ValueError(message)
    return entry_of(path, name, kind)


def entry_of(path: str | Path, name: str, kind: Kind | None = None) -> Own:
    """An entry of a library by its name; without one the only one of its kind.

    Raises:
        ValueError: The library is of no use, or has no such entry.
    """
    entries = load_library(path)
    of_kind = [own for own in entries if kind in (None, own.kind)]
    found = [own for own in of_kind if name in ("", own.name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{own.name} ({own.kind})" for own in entries)
    if not found:
        wanted = f"no {kind or 'entry'}" + (f" called `{shown(name)}`" if name else "")
        message = f"it has {wanted}: there is {names}"
    else:
        message = f"it has several: add a name after a colon. There is {names}"
    raise ValueError(message)


_modules: dict[tuple[str, str], tuple[ModuleType, dict[Path, bytes]]] = {}
"""The files that were run, by their place and content, with the files beside them that they have imported."""
_loading = Turns()


def _from_python(place: str, kind: Kind) -> Own:
    path, name = _split(place)
    if not name.isidentifier():
        message = "write a module and a name in it, such as `rules.py:gentle`"
        raise ValueError(message)
    with _loading.one():
        module = _loaded(Path(path)) if path.endswith(".py") else _imported(path)
    try:
        found = getattr(module, name)
    except AttributeError:
        near = get_close_matches(name, [each for each in vars(module) if each[0] != "_"], n=1)
        hint = f": did you mean `{shown(near[0])}`?" if near else ""
        message = f"there is no `{name}` in it{hint}"
        raise ValueError(message) from None
    try:
        return handle(found, kind)
    except Exception as error:
        raise ValueError(_told(error, path)) from error


def _imported(name: str) -> ModuleType:
    if not _is_dotted(name):
        message = f"`{shown(name)}` is neither the path of a Python file nor the name of a module"
        raise ValueError(message)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ValueError(_told(error, name)) from error
        message = (
            f"there is no file `{name.replace('.', '/')}.py` beside the scenario file or in the working "
            f"directory, and no module `{name}` is installed"
        )
        raise ValueError(message) from error
    except Exception as error:
        raise ValueError(_told(error, name)) from error


def _loaded(path: Path) -> ModuleType:
    """A file as a module. It is run again when it has changed, or one beside it that it imports."""
    try:
        content = path.read_bytes()
    except IsADirectoryError as error:
        message = f"`{shown(str(path))}` is a directory: name a file in it, such as `mine.py`"
        raise ValueError(message) from error
    except OSError as error:
        message = "there is no such file beside the scenario file, nor in the working directory"
        raise ValueError(message) from error
    path = path.resolve()
    key = str(path), hashlib.sha256(content).hexdigest()
    if key in _modules:
        known, imported = _modules[key]
        if all(_content(file) == was for file, was in imported.items()):
            return known
    address = hashlib.sha256("\0".join(key).encode()).hexdigest()[:16]
    name = f"{path.stem}_{address}" if path.stem.isidentifier() else f"longfat_code_{address}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101 - its name ends with .py
    module = importlib.util.module_from_spec(spec)
    module.__dict__["__longfat_loaded__"] = True
    sys.modules[name] = module
    try:
        with _beside(path.parent) as brought:
            exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - allowed
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception):
            raise
        raise ValueError(_told(error, str(path))) from error
    _modules[key] = module, brought
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[dict[Path, bytes]]:
    """Lets a file import those beside it: they, as they are now, and none of the same name from elsewhere.

    What the program itself has imported of them stays as it is.

    Yields:
        What is imported of them when the block has been left: the files, and their content.
    """
    names = {each.stem for each in folder.iterdir() if each.suffix == ".py" or each.is_dir()}
    names = {each for each in names if each.isidentifier() and not is_elsewhere(each)}
    names.discard("__main__")
    hidden: dict[str, ModuleType] = {}
    for name in _within(names):
        file = _file(sys.modules[name])
        if file is None:
            continue
        if folder not in file.parents:
            hidden[name] = sys.modules.pop(name)
        elif file in _imported_so and _imported_so[file] != _content(file):
            del sys.modules[name]
    brought: dict[Path, bytes] = {}
    before = set(sys.modules)
    # A file that was changed within a second is otherwise taken for what it was.
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        yield brought
    finally:
        with suppress(ValueError):  # unless the code itself has removed it
            sys.path.remove(str(folder))
        sys.dont_write_bytecode = bytecode
        for name in _within(names):
            file = _file(sys.modules[name])
            if file is not None and (content := _content(file)) is not None:
                brought[file] = content
                if name not in before:
                    _imported_so[file] = content
        # Whoever means another of that name goes on having it.
        sys.modules.update(hidden)


_imported_so: dict[Path, bytes] = {}
"""What files had for content that were imported by others beside them."""


def _within(names: set[str]) -> list[str]:
    """The modules of these names that are there, and those in them."""
    return [each for each in list(sys.modules) if each.partition(".")[0] in names]


def _file(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve()


def _content(file: Path) -> bytes | None:
    try:
        return hashlib.sha256(file.read_bytes()).digest()
    except OSError:
        return None


def _told(error: Exception, path: str) -> str:
    """What an exception says, with the last place in the file that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path]
    line = own[-1].lineno if own else getattr(error, "lineno", None)
    place = f"line {line}: " if line else ""
    return f"{place}{type(error).__name__}: {shown(str(error))}"
