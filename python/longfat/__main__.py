"""`python -m longfat` is the command `longfat`."""

from longfat.commands import main

if __name__ == "__main__":
    main()
