"""Digests of Python functions: another one for whatever may compute something else.

A function is its bytecode and constants, its defaults, and everything that it reads from outside: captured and
global values, other functions, and of modules the attributes that its code names. Comments and places in files
do not count.
"""

from __future__ import annotations

import enum
import hashlib
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

_KNOWN = ("builtins", "cmath", "longfat", "math", "numba", "numpy")
"""Modules of which only the name counts: their versions are in the digest, or in the build of longfat."""


def digest_of(*parts: object) -> str:
    """A digest of functions and plain values.

    Raises:
        TypeError: Something that a function reads is of a kind that cannot be compared with another time.
    """
    hasher = hashlib.sha256(f"python {sys.version_info[:2]}".encode())
    for text in _texts(parts, ()):
        encoded = text.encode("utf-8", "surrogatepass")
        hasher.update(f"{len(encoded)}:".encode() + encoded)
    return hasher.hexdigest()[:32]


def _texts(  # noqa: C901, PLR0912 - one case for each kind of value
    value: object, inside: tuple[int, ...]
) -> Iterator[str]:
    """What makes a value what it is, as texts."""
    if id(value) in inside:
        yield f"again {len(inside) - inside.index(id(value))}"
        return
    value = getattr(value, "py_func", value)  # what Numba compiles
    within = (*inside, id(value))
    if isinstance(
        value, (bool, int, float, complex, str, bytes, types.NoneType, types.EllipsisType)
    ):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, types.FunctionType):
        yield f"function {value.__qualname__}"
        yield from _texts(value.__defaults__, within)
        yield from _texts(value.__kwdefaults__, within)
        yield from _texts(value.__code__, within)
        yield from _outside(value, within)
    elif isinstance(value, types.CodeType):
        yield f"code {value.co_code.hex()} {value.co_varnames} {value.co_names} {value.co_freevars}"
        yield from _texts(value.co_consts, within)
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__} of {len(value)}"
        for each in value:
            yield from _texts(each, within)
    elif isinstance(value, (set, frozenset)):
        yield f"{type(value).__name__} {sorted(map(repr, value))}"
    elif isinstance(value, Mapping):
        yield f"mapping of {len(value)}"
        for key, each in value.items():
            yield from _texts((key, each), within)
    elif isinstance(value, types.ModuleType):
        yield f"module {value.__name__}"
    elif isinstance(value, type):
        yield from _class(value)
    elif isinstance(value, types.BuiltinFunctionType):
        yield f"built-in {value.__module__} {value.__qualname__}"
    elif callable(listed := getattr(value, "tolist", None)):  # of numpy
        kind, shape = getattr(value, "dtype", ""), getattr(value, "shape", "")
        yield f"{kind} {shape} {listed()!r}"
    elif _is_known(getattr(value, "__module__", None)):
        yield f"{value.__module__} {getattr(value, '__name__', type(value).__name__)}"
    else:
        message = (
            f"a function reads a {type(value).__name__}, of which nobody can tell whether it changes: use "
            "numbers, texts, tuples, arrays and functions"
        )
        raise TypeError(message)


def _class(value: type) -> Iterator[str]:
    yield f"class {value.__module__} {value.__qualname__}"
    if issubclass(value, enum.Enum):
        yield repr([(each.name, each.value) for each in value])


def _is_known(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _KNOWN


def _outside(function: types.FunctionType, inside: tuple[int, ...]) -> Iterator[str]:
    """What a function reads that is not its own."""
    for cell in function.__closure__ or ():
        try:
            content: Any = cell.cell_contents
        except ValueError:  # it is not set yet
            content = None
        yield from _texts(content, inside)
    names = sorted(set(_names(function.__code__)))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name
            yield from _texts(value, inside)
            if isinstance(value, types.ModuleType) and not _is_known(value.__name__):
                for attribute in names:
                    if hasattr(value, attribute):
                        yield attribute
                        yield from _texts(getattr(value, attribute), inside)


def _names(code: types.CodeType) -> Iterator[str]:
    """The names in a piece of code, and in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
