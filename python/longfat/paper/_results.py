"""The results that a room keeps, `results/quick.json` and `results/full.json`, as they are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from longfat.errors import RoomError

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.paper._claims import Scale
    from longfat.paper._room import Room


def results(room: Room, scale: Scale) -> dict[str, Any] | None:
    """The committed results of a room at one scale; `None` if there are none.

    Raises:
        RoomError: The file cannot be understood.
    """
    path = results_file(room, scale)
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        message = f"{path}: {error}; write it again with --commit"
        raise RoomError(message) from error
    return content


def results_file(room: Room, scale: Scale) -> Path:
    """Where the results of a room at one scale are."""
    return room.path / "results" / f"{scale}.json"
