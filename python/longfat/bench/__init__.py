"""How fast longfat simulates: `longfat bench`. Drivers of other simulators are in bench/peers of the source."""
