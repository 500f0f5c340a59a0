"""From templates and data to one file that opens anywhere, loads nothing, and runs no script but its own.

Whatever a page shows may have been written by a stranger: names, titles, messages. Three things keep it text.
Every value that a template prints is escaped, and what would not be seen is spelled out (`foreign.shown`). Data
for charts goes through JSON in which no tag can begin. And the page has a content security policy that allows
one script and one style sheet, those here, by their checksums: whatever else got into it would not run, and
could load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat._longfat import __version__
from longfat.errors import ResultError
from longfat.foreign import shown
from longfat.page import _colours
from longfat.page._address import address
from longfat.page._sketch import AREA
from longfat.results._folder import is_no_file, write_whole

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
MARK = b'<meta name="generator" content="longfat '
"""How pages say what made them: only those are ever replaced."""

PLAYGROUND: ContextVar[str] = ContextVar("playground", default="")
"""Where the playground is, seen from the page that is being made; empty if there is none."""

_SCRIPTS = ("uplot/uPlot.iife.min.js", "charts.js", "page.js")
_LICENCE = "uplot/LICENSE"
"""Goes wherever uPlot goes."""
_STYLES = ("uplot/uPlot.min.css", "page.css")
_MARK_WITHIN = 4096
_NUMBER = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?bit/s|[mµn]?s|[kMG]?B)(?![\w/]))| (?=±)|(?<=±) ")


def page(template: str, **content: Any) -> str:  # noqa: ANN401 - whatever the template shows
    """A whole page.

    Args:
        template: The name of a file in `templates`, which extends `layout.html`.
        content: What it shows.
    """
    script, style = _assets()
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    from markupsafe import Markup

    return (
        environment(HERE / "templates")
        .get_template(template)
        .render(
            **content,
            version=__version__,
            policy=policy,
            # Ours, and nobody else's: the only texts that are not escaped.
            script=Markup(script),  # noqa: S704
            style=Markup(style),  # noqa: S704
        )
    )


def write(path: Path, text: str) -> Path:
    """Writes a page, whole or not at all. Only an earlier page of longfat is replaced.

    Raises:
        ResultError: Something else is there.
        OSError: It cannot be written.
    """
    place = shown(str(path))
    if path.is_dir():
        message = f"{place} is a folder: name the file of the page, such as report.html"
        raise ResultError(message)
    if is_no_file(path):
        message = f"{place} exists and is no file, so it was not replaced: choose another name"
        raise ResultError(message)
    if path.exists():
        with path.open("rb") as file:
            ours = MARK in file.read(_MARK_WITHIN)
        if not ours:
            message = f"{place} exists and is no page of longfat, so it was not replaced: choose another name"
            raise ResultError(message)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    write_whole(path, lambda made: made.write_bytes(content))
    return path


def picture(path: Path) -> str:
    """A picture as an address that holds it. In an image, an SVG runs no scripts and loads nothing."""
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def asset(name: str) -> str:
    """A script or style sheet of pages."""
    return (HERE / "assets" / name).read_text(encoding="utf-8").strip()


@cache
def _assets() -> tuple[str, str]:
    """The script and the style sheet."""
    script = "\n".join([f"/*\n{asset(_LICENCE)}\n*/", *map(asset, _SCRIPTS)])
    style = "\n".join([_colours.style(), *map(asset, _STYLES)])
    return f"\n{script}\n", f"\n{style}\n"


@cache
def environment(folder: Path) -> Environment:
    """Templates of a folder, in which every value is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    made.filters["joined"] = joined
    made.globals["again"] = again
    made.globals["area"] = AREA
    made.policies["json.dumps_kwargs"] = {"allow_nan": False}
    return made


def again(text: str) -> str:
    """The address at which a scenario can be changed and run again; empty if there is none."""
    place = PLAYGROUND.get()
    return f"{place}#{address([text])}" if place else ""


def joined(text: str) -> str:
    r"""A text in which no line ends between a number and its unit.

    >>> joined("40 ms on 100 Mbit/s for 3 flows")
    '40\xa0ms on 100\xa0Mbit/s for 3 flows'
    """
    return _NUMBER.sub("\xa0", text)


def digest(text: str) -> str:
    """The checksum of a script or style sheet as a policy has it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
