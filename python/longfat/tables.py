"""Tables of texts: the same rows for a terminal, a page and a notebook."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from longfat.foreign import markdown, shown, shown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass
class TextTable:
    """A table as people read it.

    Attributes:
        head: What the columns are called.
        words: So many columns, from the left, hold words; the others hold numbers.
        title: What it is about, if that has to be said.
        rows: The cells.
    """

    head: Sequence[str]
    words: int = 1
    title: str = ""
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Adds a row.

        Raises:
            ValueError: It has more or fewer cells than the table has columns.
        """
        if len(cells) != len(self.head):
            message = f"{len(cells)} cells for {len(self.head)} columns"
            raise ValueError(message)
        self.rows.append(cells)

    @property
    def markdown(self) -> str:
        r"""The table in Markdown.

        >>> table = TextTable(["flow", "goodput"])
        >>> table.add("a|b", "48 Mbit/s")
        >>> print(table.markdown)
        | flow | goodput |
        | --- | --: |
        | a\|b | 48 Mbit/s |
        """
        ruler = ["---" if index < self.words else "--:" for index in range(len(self.head))]
        lines = (
            _row(map(_cell, self.head)),
            _row(ruler),
            *(_row(map(_cell, row)) for row in self.rows),
        )
        title = [f"**{markdown(self.title)}**", ""] if self.title else []
        return "\n".join([*title, *lines])

    @property
    def html(self) -> str:
        """The table in HTML, of which nothing runs."""
        caption = f"<caption>{_html(self.title)}</caption>" if self.title else ""
        head = "".join(self._of(index, cell, "th") for index, cell in enumerate(self.head))
        body = "".join(
            f"<tr>{''.join(self._of(index, cell, 'td') for index, cell in enumerate(row))}</tr>"
            for row in self.rows
        )
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _of(self, index: int, cell: str, tag: str) -> str:
        side = "left" if index < self.words else "right"
        return f'<{tag} style="text-align: {side}">{_html(cell)}</{tag}>'


def paragraph(text: str) -> str:
    """A line of text in HTML."""
    return f"<p>{_html(text)}</p>"


def page(parts: Sequence[TextTable | str]) -> str:
    """Tables and lines of text in HTML, one below the other."""
    return "".join(part.html if isinstance(part, TextTable) else paragraph(part) for part in parts)


def data_csv(rows: Sequence[dict[str, object]]) -> str:
    """Numbers for other programs: a header, and a line for each row; what is absent is empty.

    >>> print(data_csv([{"control": "exp, fast", "n": 3}, {"control": "reno", "n": None}]), end="")
    control,n
    "exp, fast",3
    reno,
    """
    file = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return shown(file.getvalue())


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return markdown(shown_name(text)).replace("|", r"\|")


def _html(text: str) -> str:
    return escape(shown(text))
