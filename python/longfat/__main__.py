"""`python -m longfat` is the command `longfat`, which begins here as well.

Nothing is imported before Ctrl-C is answered: most of a short command's time is the import of what it needs.
"""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line, as `longfat.commands.main` does, and exits with its code."""
    try:
        from longfat.commands import main as command

        command()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
