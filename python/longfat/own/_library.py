"""Entries of shared libraries that use the C interface (`longfat.h`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat import _longfat
from longfat.own._code import entry_of

if TYPE_CHECKING:
    import os

    from longfat._longfat import Own


@dataclass(frozen=True)
class LibraryEntry:
    """A controller or a queue in a shared library.

    Attributes:
        path: Where the library is.
        name: Its name in scenarios.
    """

    path: Path
    name: str

    def __longfat__(self) -> Own:
        """A handle of it. A library that has been compiled again is loaded again."""
        return entry_of(self.path, self.name)


def load_library(path: str | os.PathLike[str]) -> list[LibraryEntry]:
    """What is in a shared library: controllers and queues, to be given to `run(..., controllers=[...])`.

    Loading a library runs its code. It stays loaded as long as the process lives.

    Args:
        path: The library, made with `longfat.h` for this machine.

    Raises:
        ValueError: It cannot be read or loaded, is made for another version of the interface, or describes
            itself wrongly; the message says what, and what to do.
    """
    found = Path(path).resolve()
    return [LibraryEntry(found, own.name) for own in _longfat.load_library(found)]
