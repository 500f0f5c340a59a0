"""What the page begins with, or offers to: scenarios with a story."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

from longfat import shipped

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HERE = Path(__file__).parent / "presets"


@cache
def presets() -> list[dict[str, Any]]:
    """Each preset, in order: `id`, `group`, `title`, `about`, and `texts`, one scenario file or two."""
    listed = tomllib.loads((_HERE / "index.toml").read_text(encoding="utf-8"))["preset"]
    return [
        {
            "id": each["id"],
            "group": each["group"],
            "title": each["title"],
            "about": " ".join(each["about"].split()),
            "texts": [_text(name) for name in each["files"]],
        }
        for each in listed
    ]


def _text(name: str) -> str:
    """A scenario of this folder, or one that is shipped: `scenarios/first.toml`."""
    path = shipped.HERE / name if "/" in name else _HERE / name
    return path.read_text(encoding="utf-8")
