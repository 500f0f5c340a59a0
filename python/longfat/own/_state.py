"""Classes of which the variables become the memory of compiled code, and the methods its functions."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from longfat.own._compile import FAILED

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import FunctionType


def variables(owner: type, what: str) -> dict[str, float | int | bool]:
    """The variables of a class with their first values, those of its bases first.

    Raises:
        TypeError: One has no first value, or one that is no number.
    """
    found: dict[str, float | int | bool] = {}
    for each in reversed(owner.__mro__[:-1]):
        annotated = inspect.get_annotations(each)
        named = {**annotated, **{key: annotated.get(key) for key in each.__dict__}}
        for name, kind in named.items():
            value = getattr(each, name, None)
            if name.startswith("__") or callable(value):
                continue
            # As everywhere in Python, a whole number will do for a `float` (PEP 484).
            if kind in (float, "float") and type(value) is int:
                value = float(value)
            if isinstance(value, (bool, int, float)):
                found[name] = value
                continue
            reason = "no first value" if value is None else f"the first value {value!r}"
            message = (
                f"`{name}` of the {what} has {reason}: variables of compiled code are numbers, "
                f"`{name}: float = 0.0`"
            )
            raise TypeError(message)
    if FAILED in found:
        message = f"`{FAILED}` is a name that longfat uses itself"
        raise TypeError(message)
    return found


def methods(owner: type, known: Collection[str], what: str) -> dict[str, FunctionType]:
    """The methods of a class.

    Raises:
        TypeError: One is none of `known`.
    """
    found: dict[str, Any] = {}
    for each in reversed(owner.__mro__[:-1]):
        for name, value in each.__dict__.items():
            if not inspect.isfunction(value) or (name.startswith("__") and name.endswith("__")):
                continue
            if name not in known:
                message = (
                    f"nothing calls `{name}` of the {what}: it may have {', '.join(known)}. Functions that "
                    "these use stand outside the class, compiled with `numba.njit`"
                )
                raise TypeError(message)
            found[name] = value
    return found
