"""How each controller looks in the pictures of all rooms: one colour, one marker, one name."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from longfat.plot import style

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLUE, _RED, _GREEN, _PINK, _SKY, _OLIVE, _GREY, _AMBER = style.COLOURS

LOOKS: dict[str, tuple[str, str, str]] = {
    "reno": (_GREY, "o", "TCP"),
    "exp": (_RED, "D", "EXP-TCP"),
    "hstcp": (_BLUE, "s", "HSTCP"),
    "stcp": (_GREEN, "^", "STCP"),
    "cubic": (_SKY, "v", "CUBIC"),
    "anti-ecn": (_PINK, "P", "AntiECN"),
    "fiber": (_AMBER, "X", "fiber TCP"),
    "cw-hstcp": (_OLIVE, "<", "CW-HSTCP"),
    "blitz": ("#7A3E9D", "*", "Blitz"),
    "constant-rate": ("#A0522D", ">", "constant rate"),
    "sized-start": ("#2F4F9F", "h", "sized start"),
    "bic": ("#B8860B", "p", "BIC"),
    "h-tcp": ("#5F9E6E", "H", "H-TCP"),
    "fast": ("#C71585", "8", "FAST"),
}
"""Colour, marker and name of each controller: the same in every picture of every paper."""

OTHERS = ("#17A2A2", "#9AA61A", "#E45C9C", "#7F7FD5", "#3D6B35", "#D98880", "#00529B", "#B35900")
"""For controllers that have no colour of their own: none that another one has."""


def colour(control: str) -> str:
    """The colour of a controller."""
    return LOOKS[control][0] if control in LOOKS else _spare(control)[0]


def marker(control: str) -> str:
    """The marker of a controller, which distinguishes it without colour."""
    return LOOKS[control][1] if control in LOOKS else "o"


def name(control: str) -> str:
    """The name of a controller as papers write it."""
    return LOOKS[control][2] if control in LOOKS else control


def looks(labels: Sequence[str], by: str) -> list[tuple[str, str, str]]:
    """Colour, marker and name of each line. An unknown controller borrows none of another's."""
    if by != "control":
        palette = style.COLOURS
        spare = [palette[index % len(palette)] for index in range(len(labels))]
        pairs = zip(labels, spare, strict=True)
        return [LOOKS.get(label, (tint, "o", label)) for label, tint in pairs]
    found: list[tuple[str, str, str]] = []
    for label in labels:
        taken = [tint for tint, _, _ in found]
        free = [tint for tint in _spare(label) if tint not in taken] or [colour(label)]
        found.append(LOOKS.get(label, (free[0], "o", label)))
    return found


def _spare(control: str) -> tuple[str, ...]:
    """The colours that no controller has of its own: first that of this one, which follows from its name."""
    first = crc32(control.encode()) % len(OTHERS)
    return (*OTHERS[first:], *OTHERS[:first])
