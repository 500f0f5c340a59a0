"""`python -m longfat` is the command `longfat`, which begins here as well.

Nothing is imported before Ctrl-C is answered: most of a short command's time is the import of what it needs.
"""

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line, as `longfat.commands.main` does, and exits with its code."""
    # Nearly all that is made comes with imports and stays: to look through it for rings, now and then and
    # again at the end, would be a seventh of what a short command takes.
    gc.set_threshold(100_000, 20, 20)
    try:
        from longfat.commands import main as command

        command()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
