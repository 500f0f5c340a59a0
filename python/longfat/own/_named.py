"""How one argument names a controller or a queue: by its name, as a table, or as code."""

from __future__ import annotations

import sys
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LIBRARIES = (".so", ".dylib", ".dll")
"""How the names of shared libraries end."""


def code_form(text: str) -> Literal["python", "library"] | None:
    """As what kind of code a scenario has to name it; `None`: it is no code.

    >>> [code_form(each) for each in ("rules.py:gentle", "librules.so", "librules.so:gentle", "exp")]
    ['python', 'library', 'library', None]
    """
    path, _, name = text.rpartition(":")
    if any(part.endswith(_LIBRARIES) for part in (text, path)):
        return "library"
    return "python" if text.endswith(".py") or (path and name.isidentifier()) else None


def control_of(text: str) -> str | dict[str, Any]:
    """A controller as a scenario has it, from how a command or a result names it.

    Args:
        text: A name, a table such as `{ kind = "exp", gamma = 0.1 }`, or code: `rules.py:gentle`,
            `librules.so`.

    Raises:
        ValueError: It is a table that is no TOML.

    >>> control_of('{ kind = "exp", gamma = 0.1 }'), control_of("rules.py:gentle")
    ({'kind': 'exp', 'gamma': 0.1}, {'python': 'rules.py:gentle'})
    """
    text = text.strip()
    if text.startswith("{"):
        try:
            table: dict[str, Any] = tomllib.loads(f"control = {text}")["control"]
        except tomllib.TOMLDecodeError as error:
            message = (
                f'`{text}` is not a table of TOML such as {{ kind = "exp", gamma = 0.1 }}: {error}'
            )
            raise ValueError(message) from error
        return table
    form = code_form(text)
    return text if form is None else {form: text}
