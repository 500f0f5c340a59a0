"""The example scenarios: where they are, and what each of them asks."""

from __future__ import annotations

import os
from pathlib import Path


def examples() -> list[dict[str, str]]:
    """Path and question of each scenario in the folder `scenarios`, here or in the source of the package."""
    source = Path(__file__).resolve().parents[3]
    for root in (Path(), source):
        paths = sorted((root / "scenarios").glob("*.toml"))
        if paths:
            return [{"path": _near(path), "question": _question(path)} for path in paths]
    return []


def _near(path: Path) -> str:
    """The path from here, if it is not too far away."""
    near = os.path.relpath(path)
    return str(path) if near.startswith("..") else near


def _question(path: Path) -> str:
    """The first paragraph of the comment that opens the file."""
    words = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("#").strip()
        if not line.startswith("#") or not text:
            break
        words.append(text)
    return " ".join(words)
