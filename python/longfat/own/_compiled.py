"""What compiled controllers and queues have in common: a name, a handle, a way to other processes."""

from __future__ import annotations

import re
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

from longfat.own._compile import Parameter, parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat._longfat import Own

_NAME = re.compile(r"[A-Za-z0-9_-]+")

_one_at_a_time = threading.RLock()


class Compiled:
    """A controller or a queue that is compiled from Python when it is first used.

    Attributes:
        name: Its name in scenario files.
        parameters: Its parameters.
        title: What it is, in one line.
        source: Where it was published.
    """

    what = "entry"

    def __init__(self, name: str, parameters: Mapping[str, Any], title: str, source: str) -> None:
        """Checks what needs no compiler.

        Raises:
            ValueError: A name is none.
            TypeError: A parameter is none.
        """
        if not _NAME.fullmatch(name):
            message = f"{name!r} is no name for a {self.what}: letters, digits, - and _ are allowed"
            raise ValueError(message)
        for key in parameters:
            if not key.isidentifier():
                message = f"`{key}` of the {self.what} `{name}` is no name for a parameter"
                raise ValueError(message)
        self.name = name
        self.parameters: dict[str, Parameter] = {
            key: parameter(each) for key, each in parameters.items()
        }
        self.title, self.source = title, source
        self._own: Own | None = None

    def __repr__(self) -> str:
        """What it is, and its name."""
        return f"<{self.what} {self.name}>"

    def __longfat__(self) -> Own:
        """A handle of it, compiled at the first call.

        Raises:
            ImportError: Numba is not installed.
            ValueError: It cannot be compiled.
        """
        with _one_at_a_time:
            if self._own is None:
                self._own = self._compile()
            return self._own

    def _compile(self) -> Own:
        raise NotImplementedError

    def _told(self) -> dict[str, object]:
        """What every digest covers."""
        return {
            "parameters": [(key, *each.told) for key, each in self.parameters.items()],
        }

    def __getstate__(self) -> dict[str, Any]:
        """All but the handle, which another process makes for itself."""
        return {**self.__dict__, "_own": None}

    def __reduce__(self) -> tuple[Any, ...]:
        """By module and name, if it can be imported; otherwise by value, which takes cloudpickle."""
        origin = self._origin()
        module = sys.modules.get(origin.__module__)
        name = origin.__qualname__
        if (
            module is not None
            and module.__name__ != "__main__"
            and not getattr(module, "__longfat_loaded__", False)
            and getattr(module, name, None) is self
        ):
            return _imported, (module.__name__, name)
        return _made, (type(self), self.__getstate__())

    def _origin(self) -> Any:  # noqa: ANN401 - a function or a class
        """What the user wrote, under the name that it is now known by."""
        raise NotImplementedError


def _imported(module: str, name: str) -> object:
    return getattr(import_module(module), name)


def _made(kind: type[Compiled], state: dict[str, Any]) -> Compiled:
    made = kind.__new__(kind)
    made.__dict__.update(state)
    return made


def bits(what: str, given: Iterable[str], known: Mapping[str, int]) -> int:
    """Words as the bits of the interface.

    Raises:
        ValueError: There is no such word.
    """
    found = 0
    for word in (given,) if isinstance(given, str) else given:
        if word not in known:
            message = f"there is no {what} {word!r}: there are {', '.join(known)}"
            raise ValueError(message)
        found |= known[word]
    return found
