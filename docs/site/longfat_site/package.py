"""The public names of the package, as directives that Sphinx fills with their documentation."""

from __future__ import annotations

import ast
import importlib
import inspect
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = (
    "longfat",
    "longfat.results",
    "longfat.scenario",
    "longfat.study",
    "longfat.explanation",
    "longfat.fairness",
    "longfat.power",
    "longfat.fiber",
    "longfat.own",
    "longfat.conformance",
    "longfat.evaluate",
    "longfat.attack",
    "longfat.gym",
    "longfat.paper",
    "longfat.plot",
    "longfat.page",
    "longfat.playground",
    "longfat.live",
    "longfat.schema",
    "longfat.tables",
    "longfat.units",
    "longfat.errors",
)
"""What is documented of the package, in this order; a name is documented where it appears first."""

COMPILED = "longfat._longfat"


def python() -> str:
    """Directives for every public name of the package, each once, by its module."""
    seen: set[int] = set()
    text = ""
    for name in MODULES:
        module = importlib.import_module(name)
        about = inspect.cleandoc(module.__doc__ or "").partition("\n")[0]
        text += f"## `{name}`\n\n{about}\n\n```{{eval-rst}}\n"
        for member in sorted(public_names(name), key=_by_kind(module)):
            made = getattr(module, member)
            if inspect.ismodule(made) or (id(made) in seen and not isinstance(made, str)):
                continue
            seen.add(id(made))
            text += _directive(name, member, made)
        text += "```\n\n"
    return text


def public_names(module: str) -> list[str]:
    """The names that a module offers: those of its `__all__`, or its own that do not begin with `_`."""
    made = importlib.import_module(module)
    if names := getattr(made, "__all__", None):
        return list(names)
    return [name for name in vars(made) if name[0] != "_" and _own(vars(made)[name], module)]


def _own(made: object, module: str) -> bool:
    return (inspect.isclass(made) or inspect.isroutine(made)) and made.__module__ == module


def _by_kind(module: object) -> Callable[[str], tuple[int, str]]:
    def order(name: str) -> tuple[int, str]:
        made = getattr(module, name)
        kind = 0 if inspect.isroutine(made) else 1 if inspect.isclass(made) else 2
        return kind, name

    return order


def _directive(module: str, name: str, made: object) -> str:
    if inspect.isclass(made):
        kind = "autoexception" if issubclass(made, BaseException) else "autoclass"
        return f".. {kind}:: {module}.{name}\n   :members:\n\n"
    if inspect.isroutine(made):
        return f".. autofunction:: {module}.{name}\n\n"
    about = data_about(module, name).replace("\n", "\n   ")
    return f".. py:data:: {module}.{name}\n\n   {about}\n\n"


def data_about(module: str, name: str) -> str:
    """The text below the assignment of a name, wherever the module has it from; empty if there is none."""
    source = inspect.getsource(importlib.import_module(module))
    statements = ast.parse(source).body
    for statement, following in pairwise([*statements, ast.Pass()]):
        if isinstance(statement, ast.ImportFrom) and statement.module:
            ours = statement.module.startswith("longfat.") and statement.module != COMPILED
            for alias in statement.names:
                if ours and name == (alias.asname or alias.name):
                    return data_about(statement.module, alias.name)
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        assigned = {target.id for target in targets if isinstance(target, ast.Name)}
        if name in assigned and isinstance(following, ast.Expr):
            return inspect.cleandoc(str(getattr(following.value, "value", "")))
    return ""
