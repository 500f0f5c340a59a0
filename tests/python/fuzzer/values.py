"""Odd values, and pieces of text that break a TOML file."""

from __future__ import annotations

import math
from typing import Any

_UNITS = "s ms us ns ps h d Gbit/s Mbit/s bit/s Tbit/s Pbit/s B kB GB /s % packets bdp buffer"
UNITS: tuple[str, ...] = (*_UNITS.split(), "")

_NUMBERS = "0 1 -1 0.5 1e-12 1e9 1e15 1e300 9223372036854775807 1_000 1_0 nan inf 0x10 1e-300 3.999999999999"
NUMBERS: tuple[str, ...] = tuple(_NUMBERS.split())

WORDS = ("none", "unlimited", "", "true", "a\x1bb", "é" * 30, "'", "]", "sack", "spread", "bytes")

PLAIN: tuple[Any, ...] = (
    *(0, 1, -1, 2, 10**6, 2**32, 2**63 - 1, 0.0, -0.0, 0.5, 1.0, 1e-9, 1e9, 1e300, 5e-324),
    *(math.inf, math.nan, True, False, [], {}, [[]], [None], None),
)

PIECES: tuple[str, ...] = (
    "[",
    "]",
    "[[",
    "{",
    "}",
    '"',
    "=",
    ".",
    "\n",
    "#",
    "'''",
    "\\u0000",
    "\x00",
    "é",
    "1e",
)
PIECES += ("[[flow]]\n", "[link.a]\n", "\r", "\ufeff", "\U0001f600", "-", "0", "9" * 25)
