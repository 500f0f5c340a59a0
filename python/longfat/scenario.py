"""Where scenarios come from: files, dictionaries, text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longfat._longfat import Scenario, ScenarioError

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A path, the text of a scenario file (recognised by its line breaks), or its content as a dictionary."""

Changes = Mapping[str, Any] | Sequence[str]
"""Fields to set: `{"link.bottleneck.rate": "1 Gbit/s"}` or `["link.bottleneck.rate=1 Gbit/s"]`."""


def read(source: Source, *, seed: int | None = None, changes: Changes = ()) -> tuple[Scenario, str]:
    """Reads and checks a scenario.

    Args:
        source: A path, the text of a scenario file, or its content as a dictionary.
        seed: Replaces the seed of the scenario.
        changes: Fields to set before the check.

    Returns:
        The scenario, and a short name for it: the stem of the file, or `scenario`.

    Raises:
        ScenarioError: The scenario is wrong.
        OSError: The file cannot be read.
    """
    text, origin, name = _load(source)
    return Scenario.parse(text, origin, overrides=_assignments(changes), seed=seed), name


def _load(source: Source) -> tuple[str, str, str]:
    if isinstance(source, Mapping):
        import tomli_w

        try:
            return tomli_w.dumps(source), "scenario", "scenario"
        except (TypeError, ValueError) as error:
            message = f"the dictionary cannot be written as TOML: {error}"
            raise ScenarioError(message) from error
    if isinstance(source, str) and "\n" in source:
        return source, "scenario", "scenario"
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), str(path), path.stem
    except UnicodeDecodeError as error:
        message = f"{path} is not a scenario file: byte {error.start} is not UTF-8 text"
        raise ScenarioError(message) from error


def _assignments(changes: Changes) -> list[str]:
    if isinstance(changes, str):
        message = "a list of settings is needed, such as ['seed=2'], not one text"
        raise TypeError(message)
    if isinstance(changes, Mapping):
        return [f"{key}={toml_value(value)}" for key, value in changes.items()]
    return list(changes)


def toml_value(value: object) -> str:
    """A plain value as TOML writes it in one line.

    >>> toml_value({"kind": "red", "min": "0.1 bdp", "ecn": True})
    '{ "kind" = "red", "min" = "0.1 bdp", "ecn" = true }'
    """
    import json

    if isinstance(value, Mapping):
        entries = (f"{toml_value(str(key))} = {toml_value(entry)}" for key, entry in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml_value(entry) for entry in value)}]"
    if isinstance(value, (str, bool)):
        # Texts and truth values look alike in JSON and TOML.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
