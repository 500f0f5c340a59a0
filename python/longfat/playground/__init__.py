"""The playground: scenarios in a page, simulated as they are changed, with the engine in the page or behind it.

`page` makes the page as one file that holds the engine as WebAssembly, `write` writes it, and `serve` has the
native engine behind it. `address` is the part of an address after `#` with which either begins. `explore`, also
called `longfat.explore`, has it in a notebook, with the engine of its kernel.
"""

from longfat.page._address import address
from longfat.playground._explore import explore
from longfat.playground._page import ENGINE, page, write
from longfat.playground._server import serve

__all__ = ["ENGINE", "address", "explore", "page", "serve", "write"]
