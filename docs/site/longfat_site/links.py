"""Whether the links of a site that was built lead somewhere, and whether it needs nothing from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from pathlib import Path

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""What a browser fetches by itself, and where it says from; `link` does so for some relations."""

_LOADED = {"stylesheet", "icon", "preload", "manifest", "search"}


class Link(NamedTuple):
    """Where a page points to."""

    target: str
    loaded: bool
    """Whether a browser fetches it without being asked."""


class _Page(HTMLParser):
    """The addresses that a page has, and those that it points to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[Link] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(Link(given["href"], loaded=False))
        elif tag == "link" and "href" in given:
            loaded = bool(_LOADED & set(given.get("rel", "").split()))
            self.links.append(Link(given["href"], loaded))
        elif (name := LOADS.get(tag)) and name in given:
            self.links.append(Link(given[name], loaded=True))


def broken(site: Path, leave: tuple[str, ...] = ()) -> list[str]:
    """What is wrong with the links of a site: what is not there, and what is loaded from elsewhere.

    Args:
        site: The folder of the site.
        leave: Folders in it with pages made by others: their links are not followed, those into them only
            where the folder is there.

    Returns:
        A line for each: the page, the target, the fault.
    """
    root = site.resolve()
    pages = {
        path: _read(path)
        for path in sorted(root.rglob("*.html"))
        if path.relative_to(root).parts[0] not in leave
    }
    absent = {root / folder for folder in leave if not (root / folder).exists()}
    return [
        f"{path.relative_to(root)}: {link.target} {fault}"
        for path, page in pages.items()
        for link in dict.fromkeys(page.links)
        if (fault := _fault(path, link, pages, absent))
    ]


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _fault(path: Path, link: Link, pages: dict[Path, _Page], absent: set[Path]) -> str:
    """What is wrong with a link; nothing if it leads somewhere."""
    parts = urlsplit(link.target)
    if parts.scheme or parts.netloc:
        elsewhere = link.loaded and parts.scheme != "data"
        return "is loaded from elsewhere" if elsewhere else ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "" if absent & set(target.parents) else "is not there"
    page = pages.get(target)
    if page is not None and unquote(parts.fragment) not in page.anchors:
        return "has no such place"
    return ""
