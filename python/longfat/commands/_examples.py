"""The example scenarios: where they are, and what each of them asks."""

from __future__ import annotations

import os
from pathlib import Path

from longfat import shipped


def examples() -> list[dict[str, str]]:
    """Path and question of each scenario in the folder `scenarios`, here or as it came with the package."""
    for folder in (Path("scenarios"), (shipped.HERE / "scenarios").resolve()):
        if paths := sorted(folder.glob("*.toml")):
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
