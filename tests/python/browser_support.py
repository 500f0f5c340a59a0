"""A real browser for the tests of pages: Chromium without a screen, driven by Playwright.

`visit` in `conftest.py` opens pages, and keeps what went wrong on them and what they asked the network for:

    def test_a_page(visit: Visits, own_folder: Path) -> None:
        page = visit(own_folder / "report.html", color_scheme="dark", viewport={"width": 390, "height": 844})
        assert page.locator("h1").inner_text() == "Report"
        assert (page.errors, page.requests) == ([], [])

The browser is the one of the system: nothing is downloaded. Where there is none, the tests are skipped.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request

CHROMIUM = next(
    filter(
        None,
        map(
            shutil.which, ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
        ),
    ),
    None,
)
"""The browser of this machine; `None` if there is none."""

NO_CHROMIUM = "no Chromium was found on the path: apt-get install chromium"
"""Why tests in a browser are skipped."""

_PATIENCE_MS = 60_000.0


@contextlib.contextmanager
def browsers() -> Iterator[Browser]:
    """Chromium, until the block ends. Meanwhile this thread has an event loop, and can run no other.

    Yields:
        The browser. It has no sandbox, which root cannot have: it is for pages that the tests wrote.
    """
    with sync_playwright() as playwright:
        # Shared memory is small in containers. A picture is the same whichever card a machine has.
        flags = ["--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page that has been opened.

    Attributes:
        page: The page of Playwright.
        errors: What the console told as an error or a warning, and exceptions that nobody caught, in order.
        requests: The addresses that it asked for, but for the page itself and what it holds (`data:`, `blob:`).
    """

    def __init__(self, page: Page) -> None:
        """Begins to watch a page that is still empty."""
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._address = ""
        page.set_default_timeout(_PATIENCE_MS)
        page.on("console", self._told)
        page.on("pageerror", self._failed)
        page.on("request", self._requested)

    def open(self, place: str | Path) -> None:
        """Opens a file or an address, and waits until it has loaded."""
        self._address = place.resolve().as_uri() if isinstance(place, Path) else place
        self.page.goto(self._address)

    def locator(self, selector: str) -> Locator:
        """What a CSS selector finds."""
        return self.page.locator(selector)

    def run(self, script: str, argument: object = None) -> Any:
        """The value of a JavaScript expression, or of a function called with the argument."""
        return self.page.evaluate(script, argument)

    def _told(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _failed(self, error: Error) -> None:
        self.errors.append(str(error))

    def _requested(self, request: Request) -> None:
        # What comes after `#` is never asked for.
        own = request.url == self._address.partition("#")[0]
        if not own and not request.url.startswith(("data:", "blob:")):
            self.requests.append(request.url)


class Visits:
    """Opens pages, each as if in a browser of its own."""

    def __init__(self, browser: Browser) -> None:
        """Opens pages in `browser`."""
        self._browser = browser
        self._contexts = contextlib.ExitStack()

    def __call__(self, place: str | Path, **options: Any) -> Visit:
        """Opens a page.

        Args:
            place: A file, or an address.
            options: Of the context, as in Playwright: `viewport`, `color_scheme`, `java_script_enabled`, …
        """
        context = self._contexts.enter_context(
            contextlib.closing(self._browser.new_context(**options))
        )
        made = Visit(context.new_page())
        made.open(place)
        return made

    def close(self) -> None:
        """Closes all of them."""
        self._contexts.close()
