"""Names of result folders, which tell what they hold: results of other settings go elsewhere."""

from __future__ import annotations

import hashlib
import re

_LONGEST = 100
"""File systems take 255 bytes; a name that nobody reads is of no use."""


def word(text: str) -> str:
    """A text as a part of a file name.

    >>> word("1 Gbit/s"), word('{ kind = "exp", gamma = 0.1 }'), word('link.bottleneck.rate="1 Gbit/s"')
    ('1Gbit', 'kind-exp-gamma-0.1', 'link.bottleneck.rate-1Gbit')
    """
    plain = re.sub(r"(?<=[0-9]) (?=[A-Za-z])", "", text.replace("bit/s", "bit"))
    return re.sub(r"[^A-Za-z0-9._]+", "-", plain).strip("-.")


def folder_name(*parts: str) -> str:
    """A name of these parts, which are texts of any kind; empty ones are left out.

    What is too long, or says less than the parts do, ends with a digest of them.

    >>> folder_name("first-1", 'seed=2', ""), folder_name("try", "x" * 200)
    ('first-1-seed-2', 'try-xxx...-...')
    """
    words = [word(part) for part in parts if part]
    name = "-".join(filter(None, words))
    if len(name) <= _LONGEST and all(words):
        return name
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
    return f"{name[: _LONGEST - 9].rstrip('-.')}-{digest}".lstrip("-")


def named(stem: str, *parts: str) -> str:
    """A name that begins with `stem` as it is.

    >>> named("first-1"), named("first-1", 'link.bottleneck.rate="1 Gbit/s"')
    ('first-1', 'first-1-link.bottleneck.rate-1Gbit')
    """
    return f"{stem}-{folder_name(*parts)}" if any(parts) else stem
