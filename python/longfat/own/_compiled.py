"""What compiled controllers and queues have in common: a name, a handle, a way to other processes."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from longfat._fork import Turns
from longfat.foreign import shown
from longfat.own._compile import Compiler, Parameter, code_digest, parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from longfat._longfat import Own

_NAME = re.compile(r"[A-Za-z0-9_-]+")

_compiling = Turns()


@dataclass(frozen=True)
class Description:
    """What `longfat.law`, `longfat.controller` and `longfat.queue` are told alike.

    Attributes:
        name: The name in scenario files.
        parameters: Defaults, `(default, least, most)`, or `longfat.own.Parameter`, by name.
        title: What it is, in one line.
        source: Where it was published.
    """

    name: str
    parameters: Mapping[str, Any] | None
    title: str
    source: str


class Compiled:
    """A controller or a queue that is compiled from Python when it is first used.

    Attributes:
        name: Its name in scenario files.
        parameters: Its parameters.
        title: What it is, in one line.
        source: Where it was published.
    """

    kind: ClassVar[str]
    """What the interface calls it."""
    what: ClassVar[str]
    """The same in words."""
    unobserved: ClassVar[tuple[str, ...]] = ()
    """Variables that are seen without being observed."""

    def __init__(
        self,
        described: Description,
        written: type | Callable[..., Any],
        functions: Mapping[str, Callable[..., Any]],
        state: Mapping[str, float | int | bool] | None,
        numbers: Mapping[str, int],
    ) -> None:
        """Checks what needs no compiler.

        Args:
            described: Its name, and what else it says of itself.
            written: The function or the class that was decorated.
            functions: The functions of the interface, as the user wrote them.
            state: Its variables with their first values; `None` for what has no memory.
            numbers: Other fields of its table.

        Raises:
            ValueError: A name is none.
            TypeError: A parameter is none.
        """
        name, parameters = described.name, described.parameters or {}
        if not _NAME.fullmatch(name):
            message = f"{name!r} is no name for a {self.what}: letters, digits, - and _ are allowed"
            raise ValueError(message)
        names: Iterable[Any] = parameters
        for key in names:
            if not isinstance(key, str) or not key.isidentifier():
                message = (
                    f"`{shown(str(key))}` of the {self.what} `{name}` is no name for a parameter"
                )
                raise ValueError(message)
        self.name = name
        self.parameters: dict[str, Parameter] = {
            key: parameter(each) for key, each in parameters.items()
        }
        self.title, self.source = described.title, described.source
        # By its name only: a class is now known as what was made of it.
        self._place = written.__module__, written.__qualname__
        self._functions, self._numbers = dict(functions), dict(numbers)
        self._remembers, self._state = state is not None, dict(state or {})
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
        with _compiling.one():
            if self._own is None:
                self._own = self._compile()
            return self._own

    def _compile(self) -> Own:
        made = Compiler(self.kind, self.name, self.parameters, self._state)
        self._fill(made)
        numbers = dict(self._numbers)
        if self._remembers:
            numbers["state_size"] = made.state_size
        observed = [
            name for name in self._state if not name.startswith("_") and name not in self.unobserved
        ]
        if observed:
            made.text("observe", _observe(observed), ("state", "values", "p"), "nothing")
        parts = {
            "parameters": [(key, *each.told) for key, each in self.parameters.items()],
            "state": list(self._state.items()),
            **self._numbers,
            **self._functions,
        }
        return made.finish(
            code_digest(self.kind, self.name, parts),
            title=self.title,
            source=self.source,
            observed=observed,
            numbers=numbers,
        )

    def _fill(self, made: Compiler) -> None:
        """Compiles its functions."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """All but the handle, which another process makes for itself."""
        return {**self.__dict__, "_own": None}

    def __reduce__(self) -> tuple[Any, ...]:
        """By module and name, if it can be imported; otherwise by value, which takes cloudpickle."""
        origin, name = self._place
        module = sys.modules.get(origin)
        if (
            module is not None
            and module.__name__ != "__main__"
            and not getattr(module, "__longfat_loaded__", False)
            and getattr(module, name, None) is self
        ):
            return _imported, (module.__name__, name)
        return _made, (type(self), self.__getstate__())


def _imported(module: str, name: str) -> object:
    return getattr(import_module(module), name)


def _made(kind: type[Compiled], state: dict[str, Any]) -> Compiled:
    made = kind.__new__(kind)
    made.__dict__.update(state)
    return made


def _observe(names: list[str]) -> str:
    """The function that tells the values of variables."""
    lines = [f"    values_[{index}] = float(state_.{name})" for index, name in enumerate(names)]
    head = f"    values_ = carray(values, {len(names)})\n    state_ = carray(state, 1)[0]\n"
    return f"def wrapped(state, values, p):\n{head}" + "\n".join(lines)


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
