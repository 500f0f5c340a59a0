"""Addresses of the playground, which hold the whole of what it shows."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS = ("a", "b")


def address(texts: Sequence[str]) -> str:
    """The part of an address after `#` that has the playground begin with these scenarios.

    >>> address(["seed = 1"])
    'a=seed%20%3D%201'

    Args:
        texts: The text of one scenario file, or of two, side by side.

    Raises:
        ValueError: There are none, or more than two.
    """
    if not 1 <= len(texts) <= len(_KEYS):
        message = f"the playground shows one scenario or two, not {len(texts)}"
        raise ValueError(message)
    parts = []
    for key, text in zip(_KEYS, texts, strict=False):
        plain = f"{key}={quote(text, safe='')}"
        squeezed = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = squeezed.compress(text.encode()) + squeezed.flush()
        short = f"{key}z={base64.urlsafe_b64encode(packed).decode('ascii').rstrip('=')}"
        parts.append(min(plain, short, key=len))
    return "&".join(parts)
