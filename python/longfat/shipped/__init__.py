"""What comes with the package besides code: example scenarios, those of `longfat bench`, and the papers' rooms.

In a checkout this folder has links to `scenarios`, `bench/scenarios` and `papers`; an installed package has the
files themselves, under the same names. Committed pictures and data of the rooms stay in the checkout.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def find(name: str) -> Path:
    """A file or folder by its path in a checkout: one in the working folder, or else the one that was shipped.

    Raises:
        FileNotFoundError: There is neither.
    """
    for path in (Path(name), (HERE / name).resolve()):
        if path.exists():
            return path
    message = f"{name} is neither in this folder nor in the installed package"
    raise FileNotFoundError(message)


def is_installed(path: Path) -> bool:
    """Whether a path belongs to an installed package, and not to a checkout or to the user."""
    return path.resolve().is_relative_to(HERE.resolve())


def checkout() -> Path:
    """The root of the checkout: the working folder, or else where the package is if it runs from its source.

    Raises:
        FileNotFoundError: There is none.
    """
    for root in (Path(), HERE.resolve().parents[2]):
        if (root / "bench" / "peers").is_dir():
            return root
    message = (
        "this needs the source of longfat, with its folder bench/peers, which is not part of the installed "
        "package: run it in a checkout"
    )
    raise FileNotFoundError(message)
