"""The playground in a notebook: what its kernel answers, its page in a real browser, and a real kernel."""

from __future__ import annotations

import base64
import json
import queue
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import traitlets
from jupyter_client.manager import start_new_kernel

import longfat
from longfat.errors import ScenarioError
from longfat.playground._bundle import text
from longfat.playground._widget import Playground
from support import ENDLESS, ROOT, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser_support import Visit, Visits

DONE = '.setup[data-key="A"][data-runs]:not(.busy):not(.stale)'
PATIENCE_S = 30.0


class Sent(Playground):
    """A widget without a notebook: what it would send is kept.

    Attributes:
        messages: The contents with their buffers, in order.
    """

    def __init__(self, *texts: str, folder: Path | None = None) -> None:
        self.messages: queue.Queue[tuple[dict[str, Any], list[bytes]]] = queue.Queue()
        super().__init__(texts or (SMALL,), folder=folder)

    def send(self, content: Any, buffers: list[bytes] | None = None) -> None:
        self.messages.put((content, buffers or []))

    def hears(self, **content: Any) -> None:
        """As if a page had sent it."""
        self._handle_custom_msg(content, [])

    def next(self) -> tuple[dict[str, Any], list[bytes]]:
        return self.messages.get(timeout=PATIENCE_S)

    def told(self, run: int) -> list[tuple[dict[str, Any], list[bytes]]]:
        """All about a run, up to its end."""
        found = []
        while True:
            content, buffers = self.next()
            if content["run"] == run:
                found.append((content, buffers))
                if content["kind"] != "series":
                    return found


def summary(frame: bytes) -> dict[str, Any]:
    (length,) = struct.unpack_from("<I", frame)
    found: dict[str, Any] = json.loads(frame[4 : 4 + length])["summary"]
    return found


def same_but_for_time(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return {**one, "engine": None, "scenario": None} == {**other, "engine": None, "scenario": None}


# What the kernel answers


def test_a_run_is_the_run_of_the_same_scenario() -> None:
    widget = Sent()
    widget.hears(kind="run", engine="v/0", run=3, request={"text": SMALL})
    *_, (content, (frame,)) = widget.told(3)
    assert (content["kind"], content["engine"]) == ("done", "v/0")
    assert content["seconds"] > 0
    assert same_but_for_time(summary(frame), longfat.run(SMALL).summary)


def test_it_reads_and_says_what_is_wrong() -> None:
    widget = Sent()
    wrong = SMALL.replace('"reno"', '"renno"')
    widget.hears(kind="read", engine="v/0", run=1, request={"text": wrong})
    widget.hears(kind="run", engine="v/0", run=2, request={"text": wrong})
    for kind in ("answer", "refused"):
        content, _ = widget.next()
        assert content["kind"] == kind
        (problem,) = json.loads(content["answer"])["error"]["diagnostics"]
        assert problem["line"] == 10
    widget.hears(kind="catalogue", engine="v/0", run=4)
    content, _ = widget.next()
    assert "exp" in {each["name"] for each in json.loads(content["answer"])["controllers"]}
    widget.hears(kind="read", engine="v/0", run=5)
    content, _ = widget.next()
    assert "cannot be read" in json.loads(content["answer"])["error"]["message"]


def test_what_is_no_longer_wanted_ends() -> None:
    widget = Sent()
    before = threading.active_count()
    for run in (1, 2):
        widget.hears(kind="run", engine="v/0", run=run, request={"text": ENDLESS})
    content, (frame,) = widget.next()
    assert content["kind"] == "series"
    assert 0 < content["progress"] < 1
    assert b"flow_series" in frame
    widget.hears(kind="run", engine="v/1", run=1, request={"text": ENDLESS})
    widget.hears(kind="stop", engine="v/0")
    widget.hears(kind="gone", view="v")
    ended_within_patience(before)
    widget.hears(kind="run", engine="w/0", run=1, request={"text": ENDLESS})
    widget.close()
    ended_within_patience(before)


def ended_within_patience(threads: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while threading.active_count() > threads:
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.02)


def test_what_does_not_fit_is_refused() -> None:
    widget = Sent()
    text = 'sample = "4 us"\n' + SMALL.replace("count = 2", "count = 100000")
    widget.hears(kind="run", engine="v/0", run=1, request={"text": text})
    ((content, _),) = widget.told(1)
    assert content["kind"] == "failed"
    assert "of memory" in content["message"]


def test_it_begins_with_scenarios_from_anywhere(small: Path) -> None:
    found = longfat.explore(small, {"duration": "1 s"})
    assert found.texts[0] == found.text == SMALL
    assert longfat.run(longfat.explore(SMALL).text).summary["seed"] == 1
    assert 'duration = "1 s"' in found.texts[1]
    assert "reno" in longfat.explore().text
    with pytest.raises(ValueError, match="one scenario or two, not 3"):
        longfat.explore(SMALL, SMALL, SMALL)
    with pytest.raises(FileNotFoundError):
        longfat.explore("missing.toml")
    with pytest.raises(ScenarioError, match="TOML"):
        longfat.explore({"duration": object()})
    with pytest.raises(traitlets.TraitError):
        found.texts = []
    with pytest.raises(traitlets.TraitError):
        longfat.explore(SMALL, height=10)


def test_files_are_those_beside_the_scenario(own_folder: Path) -> None:
    text = SMALL.replace('rate = "10 Mbit/s"', 'trace = "own.trace"')
    (own_folder / "inside").mkdir()
    (own_folder / "inside/own.trace").write_text("1\n2\n")
    for folder, expected in ((own_folder / "inside", "scenario"), (None, "error")):
        widget = Sent(folder=folder)
        widget.hears(kind="read", engine="v/0", run=1, request={"text": text})
        content, _ = widget.next()
        assert list(json.loads(content["answer"])) == [expected]


def test_without_anywidget_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "longfat.playground._widget")
    with pytest.raises(ImportError, match=r"pip install longfat\[notebook\]"):
        longfat.explore(SMALL)


# The page, in a browser, with the widget behind a stand-in of the notebook's

MODEL = """
const listeners = new Map();
const values = INITIAL;
export const model = {
    get: (name) => values[name],
    set(name, value) {
        const before = JSON.stringify(values[name]);
        values[name] = value;
        if (JSON.stringify(value) !== before) this.emit(`change:${name}`);
    },
    save_changes: () => window.saved(values),
    send: (content) => window.sent(content),
    on: (name, hear) => listeners.set(name, [...(listeners.get(name) ?? []), hear]),
    off: (name, hear) => listeners.set(name, (listeners.get(name) ?? []).filter((each) => each !== hear)),
    emit: (name, ...told) => (listeners.get(name) ?? []).forEach((hear) => hear(...told)),
};
setInterval(async () => {
    for (const [content, buffers] of await window.received()) {
        const bytes = buffers.map((each) => Uint8Array.from(atob(each), (letter) => letter.charCodeAt(0)));
        model.emit("msg:custom", content, bytes.map((each) => new DataView(each.buffer)));
    }
}, 20);
"""
"""What a notebook gives a widget, as far as this one uses it."""

NOTEBOOK = """<!doctype html><html><head><meta charset="utf-8"><title>A notebook</title></head>
<body data-jp-theme-light="true"><div id="cell"></div></body></html>
"""

BEGIN = """async ({ source, model }) => {
    const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    window.model = (await load(model)).model;
    const { render } = (await load(source)).default;
    window.leave = render({ model: window.model, el: document.getElementById("cell") });
}"""


@pytest.fixture
def shown(visit: Visits, own_folder: Path) -> Iterator[tuple[Visit, Sent]]:
    """A page that plays the notebook, with the widget in it, and its Python half."""
    (own_folder / "notebook.html").write_text(NOTEBOOK, "utf-8")
    widget = Sent()
    opened = visit(own_folder / "notebook.html", viewport={"width": 1100, "height": 900})

    def received() -> list[tuple[dict[str, Any], list[str]]]:
        found = []
        while not widget.messages.empty():
            content, buffers = widget.messages.get()
            found.append((content, [base64.b64encode(each).decode() for each in buffers]))
        return found

    opened.page.expose_function("received", received)
    opened.page.expose_function("sent", lambda content: widget.hears(**content))
    opened.page.expose_function("saved", widget.set_state)
    begin(opened, widget)
    yield opened, widget
    widget.close()


def begin(opened: Visit, widget: Sent) -> None:
    values = {"texts": widget.texts, "height": widget.height}
    model = MODEL.replace("INITIAL", json.dumps(values))
    opened.page.evaluate(BEGIN, {"source": text("widget.js"), "model": model})


def inside(opened: Visit) -> Any:
    return opened.page.frame_locator("iframe")


def test_the_page_simulates_in_the_kernel(shown: tuple[Visit, Sent]) -> None:
    opened, widget = shown
    page = inside(opened)
    page.locator(DONE).wait_for()
    link = longfat.run(SMALL).summary["links"]["bottleneck"]["forward"]
    said = page.locator(".numbers dd").first.inner_text().replace("\u00a0", " ")
    assert said == f"{100 * link['utilisation']:.3g} %"
    assert "native engine" in page.locator(".status").inner_text()
    assert "kernel of this notebook" in page.locator(".colophon").inner_text()
    assert page.locator(".share").is_hidden()
    # A slider moves, and the next cell has what it says.
    before = page.locator(".setup").get_attribute("data-runs")
    page.get_by_label("Rate", exact=True).focus()
    opened.page.keyboard.press("ArrowRight")
    page.locator(f'{DONE}:not([data-runs="{before}"])').wait_for()
    opened.page.wait_for_function("model.get('texts')[0].includes('13 Mbit/s')")
    opened.page.wait_for_timeout(50)
    assert widget.text == SMALL.replace("10 Mbit/s", "13 Mbit/s")
    assert opened.errors == []
    assert opened.requests == []


def test_two_set_ups_and_what_the_notebook_sets(shown: tuple[Visit, Sent]) -> None:
    opened, widget = shown
    page = inside(opened)
    page.locator(DONE).wait_for()
    page.get_by_role("button", name="Compare two").click()
    page.locator(DONE.replace('"A"', '"B"')).wait_for()
    opened.page.wait_for_function("model.get('texts').length === 2")
    other = SMALL.replace("reno", "cubic")
    before = page.locator('.setup[data-key="A"]').get_attribute("data-runs")
    opened.page.evaluate("(text) => model.set('texts', [text])", other)
    page.locator(f'{DONE}:not([data-runs="{before}"])').wait_for()
    assert page.locator(".setup").count() == 1
    assert page.locator("textarea").input_value() == other
    opened.page.wait_for_timeout(500)
    assert opened.page.evaluate("model.get('texts')") == [other]
    assert len(widget.texts) == 1
    assert opened.errors == []


def test_it_has_the_colours_of_the_notebook(shown: tuple[Visit, Sent]) -> None:
    opened, _ = shown
    page = inside(opened)
    page.locator(DONE).wait_for()
    theme = page.locator("html")
    assert theme.get_attribute("data-theme") == "light"
    opened.page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    page.locator('html[data-theme="dark"]').wait_for()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = [int(part) for part in page.locator("html").evaluate(ground)[4:-1].split(",")]
    assert max(dark) < 60
    assert opened.errors == []


def test_a_view_that_is_gone_runs_nothing_more(shown: tuple[Visit, Sent]) -> None:
    opened, _ = shown
    page = inside(opened)
    page.locator(DONE).wait_for()
    before = threading.active_count()
    opened.page.evaluate("(text) => model.set('texts', [text])", ENDLESS)
    page.get_by_role("button", name="Run it").click()
    page.locator(".percent").filter(has_text="%").wait_for()
    assert threading.active_count() > before
    opened.page.evaluate("leave()")
    ended_within_patience(before)


def test_a_notebook_without_a_kernel_says_so(visit: Visits, own_folder: Path) -> None:
    (own_folder / "notebook.html").write_text(NOTEBOOK, "utf-8")
    opened = visit(own_folder / "notebook.html")
    opened.page.evaluate(
        "Object.assign(window, { received: () => [], sent: () => {}, saved: () => {} })"
    )
    begin(opened, Sent())
    assert "run this cell again" in opened.locator("#cell").inner_text()
    assert opened.locator("iframe").count() == 0


# In a real kernel


def test_a_kernel_hears_the_page_while_it_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter"))
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        file = ROOT / "scenarios/first.toml"
        client.execute(f"import longfat; widget = longfat.explore({str(file)!r})")
        comm = None
        while comm is None:
            message = client.get_iopub_msg(timeout=PATIENCE_S)
            content = message["content"]
            assert message["msg_type"] != "error", content["evalue"]
            if message["msg_type"] == "comm_open" and "texts" in content["data"]["state"]:
                comm = content["comm_id"]

        def ask(**content: Any) -> None:
            data = {"method": "custom", "content": content}
            told = client.session.msg("comm_msg", {"comm_id": comm, "data": data})
            client.shell_channel.send(told)

        def answers() -> Iterator[tuple[dict[str, Any], list[Any]]]:
            while True:
                found = client.get_iopub_msg(timeout=PATIENCE_S)
                if found["msg_type"] == "comm_msg" and found["content"]["comm_id"] == comm:
                    yield found["content"]["data"]["content"], found["buffers"]

        scenario = file.read_text("utf-8")
        endless = scenario.replace('"120 s"', '"1000000 s"')
        ask(kind="run", engine="v/0", run=1, request={"text": endless})
        heard = answers()
        content, _ = next(heard)
        assert (content["kind"], content["run"]) == ("series", 1)
        # It is given up although it is under way, and another one ends.
        ask(kind="run", engine="v/0", run=2, request={"text": scenario})
        content, buffers = next(each for each in heard if each[0]["kind"] == "done")
        assert content["run"] == 2
        assert same_but_for_time(summary(bytes(buffers[0])), longfat.run(file).summary)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
