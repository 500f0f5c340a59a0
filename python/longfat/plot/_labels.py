"""Settings as pictures of studies name them: short, and each by what tells it from the others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 44
"""So many letters of a heading fit above a panel, or of a setting beside it."""
_OWN = re.compile(r"\b(?:python|library) = (?:[^,]*[/\\])?(?=[^,/\\])")
"""What comes before the name of a file with code, in a controller or queue of one's own."""


def labels(values: Sequence[Any], before: str = "") -> dict[Any, str]:
    """What stands for each value, no longer than there is room for, unless they would look the same.

    Code of one's own goes by its file, without folders. Where labels are cut, it is in what they share.

    >>> list(labels(["python = /tmp/mine.py:Rule, target = 5 ms", "python = /tmp/mine.py:Rule"]).values())
    ['mine.py:Rule, target = 5 ms', 'mine.py:Rule']

    Args:
        values: The values.
        before: What stands before each of them.
    """
    whole = {value: before + str(value) for value in values}
    brief = {value: before + _OWN.sub("", str(value)) for value in values}
    counts = list(brief.values())
    short = {
        value: text if counts.count(text) == 1 else whole[value] for value, text in brief.items()
    }
    cut = {value: _cut(text, len(before)) for value, text in short.items()}
    for text in set(cut.values()):
        alike = [value for value in values if cut[value] == text]
        if len(alike) > 1:
            cut |= _apart({value: short[value] for value in alike}, len(before))
    return cut if len(set(cut.values())) == len(cut) else short


def _cut(text: str, free: int) -> str:
    most = max(_LONGEST, free + 1)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _apart(texts: dict[Any, str], free: int) -> dict[Any, str]:
    """Long texts that begin alike, without the parts that all of them have, but for the first."""
    split = {value: text.split(", ") for value, text in texts.items()}
    shared = set.intersection(*(set(parts[1:]) for parts in split.values()))
    found = {}
    for value, parts in split.items():
        kept = [parts[0]]
        for part in parts[1:]:
            if part not in shared:
                kept.append(part)
            elif kept[-1] != "…":
                kept.append("…")
        text = ", ".join(kept)
        room = _LONGEST - len(text) + len(kept[0])
        if len(text) > _LONGEST and room > free + 1:
            text = ", ".join([f"{kept[0][: room - 1]}…", *kept[1:]])
        found[value] = text
    return found
