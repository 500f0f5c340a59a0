"""Large JSON texts."""

from __future__ import annotations

from typing import Any

import msgspec

_PIECE = 1_000_000
"""A text of so many bytes is read in some milliseconds."""


def decoded(text: str | bytes | msgspec.Raw) -> Any:  # noqa: ANN401 - any value that JSON has
    """What a JSON text says, read in pieces: the summary of a million flows must not hold up Ctrl-C.

    >>> decoded('{"flows": [{"rtt_s": 0.1}, null]}')
    {'flows': [{'rtt_s': 0.1}, None]}

    Raises:
        ValueError: It is no JSON.
    """
    content = text.encode() if isinstance(text, str) else memoryview(text)
    if len(content) > _PIECE:
        kind = bytes(content[:1])
        if kind == b"{":
            parts = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
            return {name: decoded(part) for name, part in parts.items()}
        if kind == b"[":
            return [decoded(part) for part in msgspec.json.decode(content, type=list[msgspec.Raw])]
    return msgspec.json.decode(content)
