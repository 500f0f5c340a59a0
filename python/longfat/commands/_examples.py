"""The example scenarios: where they are, and what each of them asks."""

from __future__ import annotations

import os
from pathlib import Path

from longfat import shipped
from longfat.foreign import read_text


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
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        return f"(it cannot be read: {error})"
    for line in text.splitlines():
        said = line.removeprefix("#").strip()
        if not line.startswith("#") or not said:
            break
        words.append(said)
    return " ".join(words)
