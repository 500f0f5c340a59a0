"""Which way the package's imports go: down through the layers, and never in a circle.

An import counts wherever it stands: at the top of a module, inside a function, or for the type checker alone.
A module imported late or only for its types is still a dependency, and a circle is a circle however it is
closed. Importing `longfat.study._cache` from elsewhere runs `longfat/study/__init__.py` first, so it counts as
importing that too; the front door `longfat/__init__.py` always runs, and counts only when a name comes from it.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "python/longfat"

LAYERS = [
    {"_longfat"},
    {"errors", "foreign", "frames", "parquet", "units", "shipped"},
    {"_fork"},
    {"tables"},
    {"own"},
    {"scenario"},
    {"plot"},
    {"results"},
    {"explanation"},
    {"study"},
    {"attack", "conformance", "fairness", "power", "fiber", "gym", "schema"},
    {"paper", "bench"},
    {"page"},
    {"evaluate", "live", "playground"},
    {"commands"},
    {"__init__", "__main__"},
]
"""From the bottom up: a module uses what is below it, or beside it in its own package."""


def modules(root: Path) -> dict[str, Path]:
    """The modules below `root`, by their names within it: `study._cache`; `study` is its `__init__`."""
    found = {}
    for path in [*root.rglob("*.py"), *root.glob("*.pyi")]:
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


def imports(text: str, name: str, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a module imports, wherever it does."""
    for node in ast.walk(ast.parse(text)):
        asked = []
        if isinstance(node, ast.Import):
            asked = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            asked = [each if target(each, known) else str(node.module) for each in whole]
        for each in asked:
            if (found := target(each, known)) is not None:
                yield found
                parent = found.rpartition(".")[0]
                if parent and parent != name.rpartition(".")[0] and parent != name:
                    yield parent


def target(dotted: str, known: dict[str, Path]) -> str | None:
    """The module of the package that a full name stands for, if any."""
    head, _, rest = dotted.partition(".")
    if head != "longfat":
        return None
    inner = rest or "__init__"
    return inner if inner in known else None


def graph(root: Path) -> dict[str, set[str]]:
    known = modules(root)
    return {
        name: set(imports(path.read_text("utf-8"), name, known)) - {name}
        for name, path in known.items()
    }


def layer(name: str) -> int:
    top = name.partition(".")[0]
    return next(index for index, names in enumerate(LAYERS) if top in names)


def circle(found: dict[str, set[str]]) -> str | None:
    """A circle among the modules, in words, if there is one."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return None


def test_no_module_imports_itself_through_others() -> None:
    found = graph(PACKAGE)
    assert len(found) > 60
    assert circle(found) is None


def test_imports_go_down() -> None:
    found = graph(PACKAGE)
    upwards = [
        f"{name} imports {other}"
        for name, others in found.items()
        for other in others
        if name.partition(".")[0] != other.partition(".")[0] and layer(other) >= layer(name)
    ]
    assert not upwards, "\n".join(upwards)


@pytest.mark.parametrize(
    "late",
    [
        "from longfat.b._two import two",
        "def use():\n    from longfat.b import _two",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import longfat.b._two",
        "from longfat.b import two",
    ],
)
def test_a_circle_is_found_however_it_is_tied(tmp_path: Path, late: str) -> None:
    files = {
        "__init__.py": "",
        "a.py": late,
        "b/__init__.py": "from longfat.b._two import two",
        "b/_two.py": "def two():\n    from longfat.a import one",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = circle(graph(tmp_path))
    assert found is not None
    assert "a imports b" in found or "b._two imports a" in found
    (tmp_path / "a.py").write_text("", "utf-8")
    assert circle(graph(tmp_path)) is None
