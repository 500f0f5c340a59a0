"""Digests of Python functions: another one for whatever may compute something else.

A function is its bytecode and constants, its defaults, and everything that it reads from outside: captured and
global values, other functions, and of modules the attributes that its code names. Comments and places in files
do not count. What is compiled can read nothing but numbers, texts, tuples, arrays and functions; the methods of
a class in plain Python read objects of any kind, which are told by their classes and by what they hold.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

_KNOWN = ("builtins", "cmath", "longfat", "math", "numba", "numpy")
"""Modules of which only the name counts: their versions are in the digest, or in the build of longfat."""
_INSTALLED = {"site-packages", "dist-packages"}
_DEEPEST = 100
_MADE_AT_RUN_TIME = 1 << 9
"""The flag of such a class: Py_TPFLAGS_HEAPTYPE."""
_SINGLE = (bool, int, float, complex, str, bytes, types.NoneType, types.EllipsisType)
_PLAIN = (*_SINGLE, tuple, list, set, frozenset, Mapping)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
SENT = "_longfat_digest"
"""Where a class keeps its digest while it is sent to another process, and there."""
_BESIDE = (
    SENT,
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__slotnames__",
    "__static_attributes__",
    "__weakref__",
)
"""What classes have that says nothing of what they do."""

Told = dict[int, tuple[int, object]]
"""What has been told already, by its address: its number, and itself, so that the address stays its own."""


def digest_of(*parts: object, objects: bool = False) -> str:
    """A digest of functions and plain values.

    Args:
        parts: The functions and values.
        objects: Whether what functions read may be of any kind. What cannot be looked into then counts by its
            type, and so does what comes with Python or was installed.

    Raises:
        TypeError: Something that a function reads is of a kind that cannot be compared with another time.
    """
    return _hashed(_texts(parts, (), {} if objects else None))


def _hashed(texts: Iterable[str]) -> str:
    hasher = hashlib.sha256(f"python {sys.version_info[:2]}".encode())
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        hasher.update(f"{len(encoded)}:".encode() + encoded)
    return hasher.hexdigest()[:32]


def _texts(  # noqa: C901, PLR0912 - one case for each kind of value
    value: object, inside: tuple[int, ...], told: Told | None
) -> Iterator[str]:
    """What makes a value what it is, as texts."""
    if id(value) in inside:
        yield f"again {len(inside) - inside.index(id(value))}"
        return
    value = getattr(value, "py_func", value)  # what Numba compiles
    within = (*inside, id(value))
    if told is not None and isinstance(value, _PLAIN) and is_ours(type(value)):
        # A `NamedTuple`, an `IntEnum`: its class may have methods.
        yield from _once(value, within, told)
    elif isinstance(value, _SINGLE):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, types.CodeType):
        yield f"code {value.co_code.hex()} {value.co_varnames} {value.co_names} {value.co_freevars}"
        yield from _texts(value.co_consts, within, told)
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__} of {len(value)}"
        for each in value:
            yield from _texts(each, within, told)
    elif isinstance(value, (set, frozenset)):
        yield f"{type(value).__name__} {sorted(_element(each, within, told) for each in value)}"
    elif isinstance(value, Mapping):
        yield f"mapping of {len(value)}"
        for key, each in value.items():
            yield from _texts((key, each), within, told)
    elif told is not None:
        yield from _once(value, within, told)
    elif isinstance(value, types.FunctionType):
        yield from _function(value, within, told)
    elif isinstance(value, types.ModuleType):
        yield f"module {value.__name__}"
    elif isinstance(value, type):
        yield from _class(value)
    elif isinstance(value, types.BuiltinFunctionType):
        yield f"built-in {value.__module__} {value.__qualname__}"
    elif callable(listed := getattr(value, "tolist", None)):  # of numpy
        yield from _array(value, listed)
    elif _is_known(getattr(value, "__module__", None)):
        yield f"{value.__module__} {getattr(value, '__name__', type(value).__name__)}"
    else:
        message = (
            f"a function reads a {type(value).__name__}, of which nobody can tell whether it changes: use "
            "numbers, texts, tuples, arrays and functions"
        )
        raise TypeError(message)


def _element(value: object, within: tuple[int, ...], told: Told | None) -> str:
    """What an element of a set is, whichever comes before it: sets have no order that lasts."""
    if told is None or type(value) in _SINGLE:
        return _ADDRESS.sub("", repr(value))
    return _hashed(_texts(value, within, dict(told)))


def _once(value: object, within: tuple[int, ...], told: Told) -> Iterator[str]:
    """What anything is that is no plain value, the first time; later, that it was told."""
    if id(value) in told:
        yield f"as {told[id(value)][0]}"
        return
    told[id(value)] = len(told), value
    if len(within) > _DEEPEST:
        yield f"deep {type(value).__qualname__}"
    elif isinstance(value, types.ModuleType):
        yield f"module {value.__name__}"
    elif isinstance(value, types.BuiltinFunctionType):
        yield f"built-in {value.__module__} {value.__qualname__}"
    elif isinstance(value, (types.FunctionType, type)):
        if not is_ours(value):
            yield f"{value.__module__} {value.__qualname__}"
        elif isinstance(value, type):
            yield from _class(value)
            yield from _texts(value.__bases__, within, told)
            yield from _texts(members(value), within, told)
        else:
            yield from _function(value, within, told)
    else:
        yield from _object(value, within, told)


def is_ours(value: type | types.FunctionType) -> bool:
    """Whether a class or function is neither of Python nor of longfat, nor installed: somebody may edit it."""
    if value.__module__ == "builtins":
        # It is of `exec` without a `__name__`, unless it was there before any code.
        return isinstance(value, types.FunctionType) or bool(value.__flags__ & _MADE_AT_RUN_TIME)
    return not is_elsewhere(value.__module__)


def members(cls: type) -> dict[str, object]:
    """What a class says and does itself, without its bases."""
    return {name: value for name, value in sorted(vars(cls).items()) if name not in _BESIDE}


def _object(value: object, within: tuple[int, ...], told: Told) -> Iterator[str]:
    """What an object is: its class, and what it holds, as far as anybody can tell."""
    yield "object"
    yield from _texts(type(value), within, told)
    inner = [
        getattr(value, part, None) for part in ("fget", "fset", "fdel", "__func__", "__wrapped__")
    ]
    if any(each is not None for each in inner):  # properties, methods and what keeps their results
        yield from _texts((inner, getattr(value, "__self__", None)), within, told)
    elif callable(listed := getattr(value, "tolist", None)):
        yield from _array(value, listed)
    else:
        yield from _texts(_held(value), within, told)


def _held(value: object) -> object:
    """What an object would be made of again, in a copy."""
    if isinstance(value, (set, frozenset)):  # a copy has them in another order in each process
        return frozenset(value), getattr(value, "__dict__", None)
    try:
        made = value.__reduce_ex__(2)
    except Exception:  # noqa: BLE001 - whatever a class says of copies of it
        return getattr(value, "__dict__", _ADDRESS.sub("", repr(value)))
    if isinstance(made, str):
        return made
    listed = (None if each is None else list(each) for each in made[3:5])
    return (*made[:3], *listed)


def _array(value: object, listed: Any) -> Iterator[str]:  # noqa: ANN401 - a method of an array
    kind, shape = getattr(value, "dtype", ""), getattr(value, "shape", "")
    yield f"{kind} {shape} {listed()!r}"


def _class(value: type) -> Iterator[str]:
    # What a program is in itself is another module in processes that it starts.
    module = "__main__" if value.__module__ == "__mp_main__" else value.__module__
    yield f"class {module} {value.__qualname__}"
    if issubclass(value, enum.Enum):
        yield repr([(each.name, each.value) for each in value])


def _is_known(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _KNOWN


def is_elsewhere(module: object) -> bool:
    """Whether a module came with Python, with longfat, or was installed: nobody edits it between two runs."""
    # Installed programs run as `__main__`, too.
    if not isinstance(module, str) or module == "__main__":
        return False
    if _is_known(module) or module.partition(".")[0] in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and not _INSTALLED.isdisjoint(Path(file).parts)


def _function(
    function: types.FunctionType, within: tuple[int, ...], told: Told | None
) -> Iterator[str]:
    yield f"function {function.__qualname__}"
    yield from _texts(function.__defaults__, within, told)
    yield from _texts(function.__kwdefaults__, within, told)
    yield from _texts(function.__code__, within, told)
    yield from _outside(function, within, told)


def _outside(
    function: types.FunctionType, inside: tuple[int, ...], told: Told | None
) -> Iterator[str]:
    """What a function reads that is not its own."""
    for cell in function.__closure__ or ():
        try:
            content: Any = cell.cell_contents
        except ValueError:  # it is not set yet
            content = None
        yield from _texts(content, inside, told)
    names = sorted(set(_names(function.__code__)))
    # In plain Python an attribute may have the name of something global that has nothing to do with it.
    read = names if told is None else _globals(function.__code__)
    for name in read:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name
            yield from _texts(value, inside, told)
            if isinstance(value, types.ModuleType) and not _is_told_by_name(value, told):
                for attribute in names:
                    if hasattr(value, attribute):
                        yield attribute
                        yield from _texts(getattr(value, attribute), inside, told)


def _is_told_by_name(module: types.ModuleType, told: Told | None) -> bool:
    known = _is_known if told is None else is_elsewhere
    return known(module.__name__)


def _names(code: types.CodeType) -> Iterator[str]:
    """The names in a piece of code, and in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@lru_cache(maxsize=1024)
def _globals(code: types.CodeType) -> tuple[str, ...]:
    """The global names that a piece of code reads, and the functions within it, in order."""
    return tuple(sorted(set(_read(code))))


def _read(code: types.CodeType) -> Iterable[str]:
    for each in dis.get_instructions(code):
        if each.opname.startswith("LOAD") and each.opname.endswith(("GLOBAL", "GLOBALS", "NAME")):
            yield str(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _read(constant)
