"""The page as one file, with its engine in it, or without one where a server has it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat._longfat import __version__
from longfat.errors import ResultError
from longfat.page import _colours, _kit
from longfat.playground._bundle import bundle, text
from longfat.playground._presets import presets

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDER = Path(__file__).parent
ENGINE = _FOLDER / "engine.wasm.gz"
"""The engine as WebAssembly, compressed: `make playground` puts it here."""

_SCRIPTS = ("uplot/uPlot.iife.min.js", "charts.js")
_LICENCE = "uplot/LICENSE"
"""Goes wherever uPlot goes."""
_STYLES = ("uplot/uPlot.min.css", "page.css")


def page(
    texts: Sequence[str] = (),
    *,
    server: str | None = None,
    kernel: bool = False,
    exposed: bool = False,
) -> str:
    """The playground as HTML.

    Args:
        texts: What it begins with: one scenario file or two. None: the first preset.
        server: The path at which a server has the engine.
        kernel: Whether the kernel of a notebook has it, and the page waits for a port from whoever holds its
            frame. With neither, the engine is in the page.
        exposed: Whether its modules can be reached from outside: for tests.

    Raises:
        ResultError: There is no engine to put into it.
    """
    from markupsafe import Markup

    licence = f"/*\n{_kit.asset(_LICENCE)}\n*/"
    script = "\n".join([licence, *map(_kit.asset, _SCRIPTS), bundle(exposed=exposed)])
    style = "\n".join([_colours.style(), *map(_kit.asset, _STYLES), text("playground.css")])
    script, style = f"\n{script}\n", f"\n{style}\n"
    own_engine = server is None and not kernel
    if own_engine:
        # The engine is compiled in a worker, which begins as a blob, and nothing is ever asked for.
        own = f"script-src '{_kit.digest(script)}' 'wasm-unsafe-eval'; worker-src blob:; "
    else:
        asks = "" if kernel else "connect-src 'self'; "
        own = f"script-src '{_kit.digest(script)}'; {asks}"
    policy = (
        f"default-src 'none'; {own}style-src '{_kit.digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    settings: dict[str, Any] = {"server": server, "kernel": kernel, "texts": list(texts)}
    template = _kit.environment(_FOLDER / "templates").get_template("playground.html")
    return template.render(
        version=__version__,
        policy=policy,
        server=server,
        kernel=kernel,
        settings=settings,
        presets=presets(),
        engine=_engine() if own_engine else "",
        # Ours, and nobody else's: the only texts that are not escaped.
        script=Markup(script),  # noqa: S704
        style=Markup(style),  # noqa: S704
    )


def write(path: Path, texts: Sequence[str] = ()) -> Path:
    """Writes the playground with its engine into a file. Only an earlier page of longfat is replaced.

    Raises:
        ResultError: There is no engine, or something else is at that path.
        OSError: It cannot be written.
    """
    return _kit.write(path, page(texts))


def _engine() -> str:
    """The engine as text."""
    try:
        packed = ENGINE.read_bytes()
    except FileNotFoundError as error:
        message = (
            "this longfat has no engine as WebAssembly, which a page by itself needs: `make playground` in a "
            "checkout builds it; `longfat explore` without --save uses the native engine instead"
        )
        raise ResultError(message) from error
    return base64.b64encode(packed).decode("ascii")
