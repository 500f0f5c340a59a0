"""How fast longfat simulates, alone and beside other simulators, and whether they agree: `longfat bench`."""
