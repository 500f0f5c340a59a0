"""`python -m longfat` is the command `longfat`."""

from longfat.cli import main

if __name__ == "__main__":
    main()
