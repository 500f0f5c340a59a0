"""From the modules in `assets` to one script.

Pages that are files can import nothing, so each module becomes a function that is called once and returns what
it exports. Only what these modules use of `import` and `export` is understood: names in braces, a line each.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
MODULES = (
    "dom",
    "frame",
    "quantities",
    "edit",
    "address",
    "engines",
    "live",
    "animation",
    "results",
    "editor",
    "controls",
    "setup",
    "notebook",
    "main",
)
"""In the order in which they can be run: each uses those before it."""

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const)) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


@cache
def text(name: str) -> str:
    """An asset."""
    return (ASSETS / name).read_text(encoding="utf-8").strip()


def bundle(modules: tuple[str, ...] = MODULES, *, exposed: bool = False) -> str:
    """The script.

    Args:
        modules: Those that it has.
        exposed: Whether whoever has the page can reach them, as `modules`: for tests.

    Raises:
        ValueError: A module imports what is not there before it.
    """
    known: dict[str, set[str]] = {}
    parts = [f"const workerSource = {json.dumps(text('worker.js'))};", "const modules = {};"]
    for name in modules:
        source = text(f"{name}.js")
        for names, other in _IMPORT.findall(source):
            missing = set(names.split(", ")) - known.get(other, set())
            if missing:
                wanted = ", ".join(sorted(missing))
                message = f"{name}.js imports {wanted} from {other}.js, which does not export that before it"
                raise ValueError(message)
        known[name] = {word for _, word in _EXPORT.findall(source)}
        source = _IMPORT.sub(r"const { \1 } = modules.\2;", source)
        source = _EXPORT.sub(r"\1 \2", source)
        if (left := _LEFT.search(source)) is not None:
            message = f"{name}.js has a line that cannot be bundled: {left[0]}"
            raise ValueError(message)
        exports = ", ".join(sorted(known[name]))
        parts.append(f"modules.{name} = (() => {{\n{source}\nreturn {{ {exports} }};\n}})();")
    if exposed:
        parts.append("globalThis.modules = modules;")
    inner = "\n".join(parts)
    return f'(() => {{\n"use strict";\n{inner}\n}})();'
