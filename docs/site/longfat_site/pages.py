"""Which pages the site has, and in which order: as the list of documents, `docs/README.md`, names them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
LIST = "docs/README.md"
FRONT = "README.md"

PATTERNS = ("*.md", "docs/**/*.md", "papers/*/*.md", "bench/**/*.md", "examples/**/*.md")
"""Where documents are."""

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^):#]+\.md)\)")


class Part(NamedTuple):
    """A heading of the list of documents, and the pages below it, relative to the root."""

    title: str
    pages: list[str]


def documents() -> list[str]:
    """Every document, relative to the root."""
    found = {path for pattern in PATTERNS for path in ROOT.glob(pattern)}
    return sorted(str(path.relative_to(ROOT)) for path in found)


def parts() -> list[Part]:
    """The documents by the headings of the list, in its order; each where it is named first."""
    text = (ROOT / LIST).read_text("utf-8")
    seen = {FRONT, LIST}
    found = []
    for heading in _HEADING.finditer(text):
        below = text[heading.end() :].partition("\n## ")[0]
        pages = []
        for link in _LINK.finditer(below):
            page = str((ROOT / LIST).parent.joinpath(link[1]).resolve().relative_to(ROOT))
            if page not in seen:
                seen.add(page)
                pages.append(page)
        found.append(Part(heading[1], pages))
    return found


def contents() -> str:
    """The tables of contents of the front page: they make the navigation, and are not shown."""
    text = f"\n```{{toctree}}\n:hidden:\n\n{LIST}\n```\n"
    for part in parts():
        if part.pages:
            names = "\n".join(part.pages)
            text += f"\n```{{toctree}}\n:hidden:\n:caption: {part.title}\n\n{names}\n```\n"
    return text
