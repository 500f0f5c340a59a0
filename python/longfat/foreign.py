"""Texts that others wrote (names of files, titles, comments, messages that repeat them), made safe to show.

A terminal obeys escape sequences, whoever wrote them; a Markdown page may hold tags; a picture reads `$x$` as a
formula. What is shown goes through here; what is kept stays as it was given.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from longfat._longfat import LONGEST_TEXT

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but for tab and line feed
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # invisible, breaking or turning the line
    "\ud800-\udfff"  # what stands for bytes that are no text
    "\U000e0000-\U000e007f]"  # tags, which nobody sees
)
_BREAKS = re.compile("[\t\n]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def read_text(path: Path, most: int = LONGEST_TEXT) -> str:
    """The text of a file, which need not end: no more of it is read than a scenario or a room may have.

    Args:
        path: The file.
        most: How many bytes it may have.

    Raises:
        ValueError: It is longer than that, or no UTF-8 text; the message does not name it.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return text_of(file, most)


def text_of(file: BinaryIO, most: int = LONGEST_TEXT) -> str:
    """What `read_text` does, of a file that is open.

    Raises:
        ValueError: It is longer than that, or no UTF-8 text; the message does not name it.
        OSError: It cannot be read.
    """
    content = file.read(most + 1)
    if len(content) > most:
        message = f"it is longer than {most // 10**6} MB"
        raise ValueError(message)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8 text"
        raise ValueError(message) from error


def shown(text: str) -> str:
    r"""A text for the terminal: what would not be seen, or be obeyed, is spelled out.

    >>> shown("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return _UNSAFE.sub(_spelled, text)


def shown_name(text: str) -> str:
    r"""A name for the terminal, which also stays on its line.

    >>> shown_name("two\nlines")
    'two\\nlines'
    """
    return _BREAKS.sub(_spelled, shown(text))


def drawn(text: str) -> str:
    r"""A text for a picture: as `shown`, and a dollar sign begins no formula.

    >>> drawn("$x$")
    '\\$x\\$'
    """
    return shown(text).replace("$", r"\$")


_SIGNS = str.maketrans(
    {
        "±": "+-", "×": "x", "µ": "u", "–": "-", "—": "-", "−": "-", "─": "-", "…": "...", "·": "-",
        "→": "->", "≤": "<=", "≥": ">=", "²": "^2", "█": "#", "━": "-", "╸": "-", "╺": "-",
    }
)  # fmt: skip


def ascii_text(text: str) -> str:
    """A text whose signs a terminal has that knows only ASCII (`PYTHONIOENCODING=ascii`).

    >>> ascii_text("3 ± 1 µs")
    '3 +- 1 us'
    """
    return text.translate(_SIGNS)


def markdown(text: str) -> str:
    r"""A text for a Markdown page: as `shown`, without tags and without links that run something.

    >>> markdown("a < b <script>")
    'a < b &lt;script>'
    """
    return _TAG.sub("&lt;", shown(text)).replace("](", r"]\(")


def json_text(value: Any, *, indent: int | None = None) -> str:  # noqa: ANN401 - any plain data
    r"""JSON that people can read as well, and a terminal can be given.

    >>> json_text({"title": "ε\u202e\x9b"})
    '{"title": "ε\\u202e\\u009b"}'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _spelled(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
