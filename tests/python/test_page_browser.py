"""Pages as people meet them: in a real browser, with a mouse, a keyboard, a telephone and a printer."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import longfat as package
from longfat.page import compare, report, write_evaluation
from longfat.page._charts import Chart, Line
from longfat.page._drawn import drawn
from longfat.page._kit import page as made_page
from longfat.page._kit import write
from longfat.results._saved import SavedRun
from page_support import evaluation, write_evaluate_json
from support import SMALL
from test_page import hostile

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Dialog, Locator

    from browser_support import Visit, Visits

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PIXELS = """(canvas, x, width) => {
    const { height } = canvas;
    const copy = new OffscreenCanvas(canvas.width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return copy.getImageData(x, 0, width, height);
}"""
"""What a canvas shows in a part of its width, read without disturbing it."""

INKED = f"""canvas => {{
    const {{ data }} = ({PIXELS})(canvas, 0, canvas.width);
    const colours = {{}};
    for (let i = 0; i < data.length; i += 4) {{
        if (data[i + 3] > 250) {{
            const colour = [data[i], data[i + 1], data[i + 2]].join();
            colours[colour] = (colours[colour] || 0) + 1;
        }}
    }}
    return colours;
}}"""
"""How many pixels of a canvas have each opaque colour."""

IS_BLUE = "(data, i) => data[i] === 0 && data[i + 1] === 114 && data[i + 2] === 178"
BLUE, VERMILLION = "0,114,178", "213,94,0"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in its folder."""
    return package.run(SMALL).save(tmp_path_factory.mktemp("page") / "small-1")


@pytest.fixture(scope="module")
def run_page(saved: Path) -> Path:
    return report(saved)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation") / "evaluate"
    write_evaluate_json(folder, evaluation(), SMALL)
    return write_evaluation(folder)


def chart(page: Visit, title: str) -> Locator:
    """A chart, once it has been drawn."""
    name = page.page.locator("figcaption .name").get_by_text(title, exact=True)
    found = page.page.locator("figure.chart").filter(has=name)
    found.scroll_into_view_if_needed()
    found.locator("canvas").wait_for()
    return found


def middle(figure: Locator) -> tuple[float, float, float]:
    """The left edge of the area of a chart, its width, and the height at its middle."""
    box = figure.locator(".u-over").bounding_box()
    assert box is not None
    return box["x"], box["width"], box["y"] + box["height"] / 2


def view(figure: Locator) -> tuple[float, float]:
    """Which part of the time a chart shows."""
    return tuple(float(str(figure.get_attribute(f"data-{end}"))) for end in ("from", "to"))  # type: ignore[return-value]


def faultless(page: Visit) -> None:
    assert page.errors == []
    assert page.requests == []


def test_a_run_is_drawn(visit: Visits, run_page: Path) -> None:
    page = visit(run_page)
    for title in (
        "window",
        "throughput",
        "round trip",
        "queue, share of the buffer",
        "utilisation",
    ):
        figure = chart(page, title)
        colours = figure.locator("canvas").evaluate(INKED)
        assert colours.get(BLUE, 0) > 50, title
        assert figure.locator(".still").is_hidden()
    assert chart(page, "window").locator("canvas").evaluate(INKED)[VERMILLION] > 50
    faultless(page)


def test_values_are_read_where_the_mouse_is(visit: Visits, run_page: Path, saved: Path) -> None:
    """In the middle of 4 s: the throughput of the sample there, as the table has it, in all charts at once."""
    page = visit(run_page)
    figure, other = chart(page, "throughput"), chart(page, "window")
    figure.scroll_into_view_if_needed()
    left, width, height = middle(figure)
    page.page.mouse.move(left + width / 2, height)
    series = SavedRun(saved).flow_series.to_polars()
    first = series.filter(series["flow"].cast(str) == "forward[0]")
    nearest = first[int((first["time_s"] - 2.0).abs().arg_min() or 0)]
    told = figure.locator(".value").first.inner_text()
    number = float(told.removesuffix(" Mbit/s"))
    assert number == pytest.approx(nearest["throughput_bit_s"][0] / 1e6, rel=1e-3)
    assert float(figure.locator(".time").inner_text().split()[0]) == pytest.approx(2.0, abs=0.02)
    assert other.locator(".value").first.inner_text() == f"{nearest['window'][0]:.4g} segments"
    page.page.mouse.move(5, 5)
    assert figure.locator(".value").first.inner_text() == ""
    faultless(page)


def test_charts_are_zoomed_together(visit: Visits, run_page: Path) -> None:
    page = visit(run_page)
    figure, other = chart(page, "throughput"), chart(page, "window")
    assert view(figure) == (0.0, 4.0)
    figure.scroll_into_view_if_needed()
    left, width, height = middle(figure)
    page.page.mouse.move(left + width / 4, height)
    page.page.mouse.down()
    page.page.mouse.move(left + width / 2, height, steps=5)
    page.page.mouse.up()
    assert view(figure) == pytest.approx((1.0, 2.0), abs=0.02)
    assert view(other) == view(figure)
    # What comes into view later shows the same.
    assert view(chart(page, "utilisation")) == view(figure)
    tools = page.locator(".charts > .tools")
    tools.get_by_role("button", name="Later").click()
    assert view(figure) == pytest.approx((1.25, 2.25), abs=0.02)
    tools.get_by_role("button", name="Zoom out").click()
    assert view(other) == pytest.approx((0.75, 2.75), abs=0.02)
    figure.locator(".u-over").dblclick()
    assert view(figure) == (0.0, 4.0)
    assert tools.get_by_role("button", name="Show all").is_disabled()
    faultless(page)


def test_lines_are_switched_off_and_on(visit: Visits, run_page: Path) -> None:
    page = visit(run_page)
    figure = chart(page, "window")
    button = figure.get_by_role("button", name="forward[1]")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    page.page.wait_for_function(
        f"canvas => !(({INKED})(canvas)['{VERMILLION}'] > 0)",
        arg=figure.locator("canvas").element_handle(),
    )
    assert figure.locator("canvas").evaluate(INKED)[BLUE] > 50
    button.press("Enter")
    page.page.wait_for_function(
        f"canvas => ({INKED})(canvas)['{VERMILLION}'] > 50",
        arg=figure.locator("canvas").element_handle(),
    )
    faultless(page)


def test_light_and_dark(visit: Visits, run_page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(21, 23, 27)"
    page = visit(run_page, color_scheme="dark")
    figure = chart(page, "window")
    assert page.run(ground) == dark
    assert figure.locator("canvas").evaluate(INKED).get("82,159,203", 0) > 50
    page.locator(".theme").click()
    assert page.run(ground) == light
    page.page.wait_for_function(
        f"canvas => ({INKED})(canvas)['{BLUE}'] > 50", arg=figure.locator("canvas").element_handle()
    )
    # The choice is kept.
    page.page.reload()
    assert page.run(ground) == light
    assert page.locator(".theme").inner_text() == "Dark"
    assert visit(run_page, color_scheme="light").run(ground) == light
    faultless(page)


@pytest.mark.parametrize("kind", ["run", "evaluation", "paper"])
def test_pages_fit_a_telephone(
    kind: str, visit: Visits, run_page: Path, evaluated: Path, own_folder: Path
) -> None:
    place = {"run": run_page, "evaluation": evaluated}.get(kind)
    page = visit(place or report("fiber-tcp", own_folder / "paper.html"), **PHONE)
    assert page.run("document.documentElement.scrollWidth") == 390
    assert page.locator("h1").is_visible()
    for button in page.page.get_by_role("button").all():
        if button.is_visible() and (box := button.bounding_box()):
            assert box["height"] >= 24  # WCAG 2.2, criterion 2.5.8
    if kind == "run":
        figure = chart(page, "window")
        box = figure.locator("canvas").bounding_box()
        assert box is not None
        assert 300 < box["width"] <= 390
        left, width, height = middle(figure)
        page.page.touchscreen.tap(left + width / 2, height)
        assert figure.locator(".value").first.inner_text().endswith("segments")
    faultless(page)


def test_pages_are_printed_with_their_drawings(visit: Visits, run_page: Path) -> None:
    page = visit(run_page, color_scheme="dark")
    chart(page, "window")
    page.page.emulate_media(media="print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for each in page.locator("figure.chart").all():
        assert each.locator(".still svg").is_visible()
        assert each.locator(".plot").count() == 0 or each.locator(".plot").is_hidden()
    # All tabs, and nothing to press.
    assert all(each.is_visible() for each in page.locator(".tabs > section").all())
    assert not any(each.is_visible() for each in page.locator(".tools button, .copy, .theme").all())
    paper = page.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 6
    faultless(page)


def test_everything_can_be_reached_with_keys(visit: Visits, run_page: Path) -> None:
    page = visit(run_page)
    keys = page.page.keyboard
    keys.press("Tab")
    focused = "document.activeElement"
    assert page.run(f"{focused}.textContent") == "Skip to the content"
    assert page.run(f"{focused}.getBoundingClientRect().top") >= 0
    assert page.run(f"getComputedStyle({focused}).outlineStyle") == "solid"
    keys.press("Enter")
    assert page.run(f"{focused}.id") == "content"
    figure = chart(page, "window")
    figure.locator(".plot").focus()
    keys.press("End")
    assert float(figure.locator(".time").inner_text().split()[0]) == pytest.approx(4.0, abs=0.01)
    keys.press("Home")
    for _ in range(50):
        keys.press("ArrowRight")
    assert float(figure.locator(".time").inner_text().split()[0]) == pytest.approx(2.0, abs=0.05)
    keys.press("+")
    assert view(figure) == pytest.approx((1.0, 3.0), abs=0.05)
    keys.press("Shift+ArrowRight")
    assert view(figure) == pytest.approx((1.5, 3.5), abs=0.05)
    keys.press("-")
    keys.press("0")
    assert view(figure) == (0.0, 4.0)
    tabs = page.page.get_by_role("tab")
    assert [each.inner_text() for each in tabs.all()] == ["Links", "Flows"]
    tabs.first.focus()
    keys.press("ArrowRight")
    assert page.page.get_by_role("tabpanel", name="Flows").is_visible()
    assert page.locator("section").filter(has_text="utilisation").first.is_hidden()
    keys.press("ArrowRight")
    assert page.run(f"{focused}.textContent") == "Links"
    faultless(page)


def test_the_scenario_can_be_copied(visit: Visits, run_page: Path, saved: Path) -> None:
    page = visit(run_page, permissions=["clipboard-read", "clipboard-write"])
    button = page.locator(".copy")
    button.click()
    page.page.wait_for_function("document.querySelector('.copy').textContent === 'Copied'")
    copied = page.run("navigator.clipboard.readText()")
    assert copied == (saved / "scenario.toml").read_text("utf-8")
    again = package.run(copied)
    assert again.summary["flows"] == SavedRun(saved).summary["flows"]
    faultless(page)


def test_without_scripts_everything_can_be_read(visit: Visits, run_page: Path) -> None:
    page = visit(run_page, java_script_enabled=False)
    assert page.locator("figure.chart .still svg").first.is_visible()
    assert page.locator("table").count() == 2
    assert all(each.is_visible() for each in page.locator("table, .code pre").all())
    assert not any(each.is_visible() for each in page.locator("button").all())


def test_strangers_run_nothing(visit: Visits, own_folder: Path) -> None:
    folder = own_folder / "hostile"
    write_evaluate_json(folder, hostile(evaluation()), SMALL)
    place = write_evaluation(folder)
    page = visit(place)
    said: list[str] = []

    def note(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.page.on("dialog", note)
    for figure in page.locator("article > .charts .chart").all()[:3]:
        figure.scroll_into_view_if_needed()
        figure.locator("canvas").wait_for()
    assert "<script>alert(1)</script>" in page.locator("h1").inner_text()
    assert page.locator("img").count() == 0
    assert said == []
    faultless(page)


def test_what_gets_into_a_page_all_the_same_does_not_run(
    visit: Visits, run_page: Path, own_folder: Path
) -> None:
    """The second line: a script, a handler and an image that somebody wrote into the finished file."""
    text = run_page.read_text("utf-8")
    smuggled = (
        "<script>window.ran = 1</script><img src='data:,x' onerror='window.ran = 2'>"
        "<img src='https://example.invalid/x.png'>"
    )
    changed = own_folder / "changed.html"
    changed.write_text(text.replace("</main>", f"{smuggled}</main>"), "utf-8")
    page = visit(changed)
    chart(page, "window")
    assert page.run("window.ran") is None
    # The browser says what it did not do: three times, and the picture was never asked for.
    refused = [each for each in page.errors if "Content Security Policy" in each]
    assert len(refused) == len(page.errors) >= 3
    assert page.requests in ([], ["https://example.invalid/x.png"])


def test_runs_lie_on_top_of_each_other(visit: Visits, own_folder: Path) -> None:
    package.run(SMALL).save("runs/a")
    package.run(SMALL, seed=2, set={"flow.forward.control": "cubic", "duration": "6 s"}).save(
        "runs/b"
    )
    page = visit(compare(["runs/a", "runs/b"]).resolve())
    figure = chart(page, "throughput, sum of each group")
    assert [each.inner_text() for each in figure.locator(".keys button").all()] == ["a", "b"]
    colours = figure.locator("canvas").evaluate(INKED)
    assert min(colours[BLUE], colours[VERMILLION]) > 20
    assert view(figure) == (0.0, 6.0)
    figure.scroll_into_view_if_needed()
    left, width, height = middle(figure)
    page.page.mouse.move(left + width * 5 / 6, height)
    # The first had ended by then.
    first, second = (each.inner_text() for each in figure.locator(".value").all())
    assert first == "–"
    assert second.endswith("Mbit/s")
    faultless(page)


def test_an_evaluation_is_looked_into(visit: Visits, evaluated: Path) -> None:
    page = visit(evaluated)
    # At a glance: the grid of cells by incumbents.
    row = page.locator(".grid tr").filter(has=page.page.get_by_role("link", name="20, percent"))
    told = [each.inner_text().replace("\n", "") for each in row.locator(".verdict").all()]
    assert told == ["✗fail", "▼worse"]
    page.locator(".filters").get_by_role("button", name="a source's number is not met").click()
    shown = [
        each.get_attribute("id") for each in page.locator("article").all() if each.is_visible()
    ]
    assert shown == ["cell/loss/20-percent"]
    page.locator(".filters").get_by_role("button", name=re.compile("^All")).click()
    # A link leads to the story, and what is folded there opens into charts and numbers.
    page.page.get_by_role("link", name="20, percent").click()
    story = page.locator("[id='cell/loss/20-percent']")
    assert story.locator(".story").is_visible()
    story.locator("canvas").first.wait_for()
    story.get_by_text("The numbers, and another chart").click()
    story.locator("canvas").nth(1).wait_for()
    assert story.get_by_role("cell", name=re.compile("≥ 95.0 %")).is_visible()
    story.get_by_text("The scenario").click()
    assert story.locator("pre").inner_text().startswith('duration = "4 s"')
    faultless(page)


def test_gaps_are_gaps(visit: Visits, evaluated: Path) -> None:
    """From 5 to 6 s there is no value: nothing is drawn there, and nothing is read."""
    page = visit(evaluated)
    figure = page.locator("article figure.chart").first
    figure.scroll_into_view_if_needed()
    figure.locator("canvas").wait_for()
    left, width, height = middle(figure)
    low, high = view(figure)
    page.page.mouse.move(left + width * (5.5 - low) / (high - low), height)
    assert figure.locator(".value").first.inner_text() == "–"
    inked = f"""([canvas, from, to]) => {{
        const box = canvas.parentElement.querySelector(".u-over");
        const scale = canvas.width / canvas.clientWidth;
        const x = (at) => (box.offsetLeft + box.clientWidth * at) * scale;
        const {{ data }} = ({PIXELS})(canvas, x(from), x(to) - x(from));
        let found = 0;
        for (let i = 0; i < data.length; i += 4) found += ({IS_BLUE})(data, i);
        return found;
    }}"""
    canvas = figure.locator("canvas").element_handle()
    span = high - low
    assert page.run(inked, [canvas, (5.05 - low) / span, (5.85 - low) / span]) == 0
    assert page.run(inked, [canvas, (6.2 - low) / span, (7.0 - low) / span]) > 0


def test_thinning_in_the_browser_keeps_peaks_and_zooming_shows_all(
    visit: Visits, own_folder: Path
) -> None:
    """A single sample of 20 000 is drawn at its height; zoomed in, there are as many points as samples."""
    place = one_chart(own_folder, 20_000)
    page = visit(place)
    figure = chart(page, "much")
    points = int(str(figure.get_attribute("data-points")))
    assert points < 4000
    box = figure.locator(".u-over").bounding_box()
    outer = figure.locator("canvas").bounding_box()
    assert box is not None
    assert outer is not None
    # The noise ends at 1 on an axis to 5.25: further up there is one line, to the peak at 5.
    blue = f"""(canvas, y) => {{
        const {{ data, width }} = ({PIXELS})(canvas, 0, canvas.width);
        let found = 0;
        for (let x = 0; x < width; x++) {{
            const i = 4 * (Math.round(y) * width + x);
            found += data[i + 3] > 60 && data[i + 2] - data[i] > 80; // bluish: edges are blended
        }}
        return found;
    }}"""

    def drawn_at(value: float) -> int:
        place = box["y"] - outer["y"] + box["height"] * (1 - value / 5.25)
        found: int = figure.locator("canvas").evaluate(blue, place)
        return found

    assert 1 <= drawn_at(3.0) <= 4
    assert 1 <= drawn_at(4.8) <= 4
    assert drawn_at(5.1) == 0
    assert drawn_at(0.5) > 500
    figure.locator(".plot").focus()
    for _ in range(5):
        page.page.keyboard.press("+")
    low, high = view(figure)
    assert high - low == pytest.approx(20_000 / 32, rel=0.01)
    assert int(str(figure.get_attribute("data-points"))) == pytest.approx(high - low, abs=4)
    faultless(page)


def one_chart(folder: Path, samples: int) -> Path:
    """A page with one chart: noise, and one high sample at a third of it."""
    noise = np.random.default_rng(7).random(samples)
    noise[samples // 3] = 5.0
    charts, _ = drawn([Chart("much", "", (Line("noise", np.arange(float(samples)), noise, 0),))])
    empty: dict[str, Any] = dict.fromkeys(
        ("about", "note", "measured", "scenario", "folder", "origin"), ""
    )
    lists: dict[str, Any] = {
        name: [] for name in ("figures", "sentences", "tables", "changed", "limits")
    }
    text = made_page("run.html", kind="run", title="much", charts=charts, **empty, **lists)
    return write(folder / "much.html", text)


@pytest.mark.long
def test_a_million_samples_stay_smooth(visit: Visits, own_folder: Path) -> None:
    """Each step of zooming and moving is drawn within a tenth of a second."""
    page = visit(one_chart(own_folder, 1_000_000))
    figure = chart(page, "much")
    step = """(key) => {
        const plot = document.querySelector(".chart .plot");
        const start = performance.now();
        const shiftKey = key.startsWith("Arrow");
        plot.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
        return new Promise((done) => {
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
        });
    }"""
    took = [page.run(step, key) for key in ("+", "-", "+", "ArrowRight", "+", "ArrowLeft", "0") * 5]
    assert float(np.median(took)) < 100
    for _ in range(12):
        page.run(step, "+")
    low, high = view(figure)
    assert int(str(figure.get_attribute("data-points"))) == pytest.approx(high - low, abs=4)
    faultless(page)


def test_data_in_pages_is_data(visit: Visits, evaluated: Path) -> None:
    """What the script reads is what `evaluate.json` has, to the seven digits of single precision."""
    page = visit(evaluated)
    data = page.run("JSON.parse(document.getElementById('cell-0-1').textContent)")
    values = np.frombuffer(base64.b64decode(data["lines"][0]["y"]), "<f4")
    told = json.loads((evaluated.parent / "evaluate.json").read_text("utf-8"))
    series = told["cells"][0]["charts"][0]["series"][0]["v"]
    expected = [np.nan if value is None else value for value in series]
    np.testing.assert_allclose(values, expected, rtol=1e-6)
