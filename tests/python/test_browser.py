"""The browser in which pages are tested notices what it is there to notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from browser_support import Visits

FAULTY = """\
<button>go wrong</button>
<script>
document.querySelector("button").addEventListener("click", async () => {
    console.error("told");
    await fetch("http://localhost:8123/asked").catch(() => {});
    throw new Error("thrown");
});
</script>
"""


def test_a_faulty_page_is_noticed(visit: Visits, own_folder: Path) -> None:
    (own_folder / "faulty.html").write_text(FAULTY, encoding="utf-8")
    page = visit(own_folder / "faulty.html")
    with page.page.expect_event("pageerror"):
        page.locator("button").click()
    told, *refused, thrown = page.errors
    assert (told, thrown) == ("told", "thrown")
    assert all("Failed to load" in each for each in refused)
    assert page.requests == ["http://localhost:8123/asked"]


def test_a_faultless_page_is_shown_as_asked(visit: Visits, own_folder: Path) -> None:
    (own_folder / "plain.html").write_text("<h1>A page</h1>", encoding="utf-8")
    page = visit(
        own_folder / "plain.html", viewport={"width": 390, "height": 844}, color_scheme="dark"
    )
    assert page.locator("h1").inner_text() == "A page"
    assert page.run("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [
        390,
        True,
    ]
    assert (page.errors, page.requests) == ([], [])
