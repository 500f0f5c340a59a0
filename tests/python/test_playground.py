"""The playground in a real browser: with the native engine behind it, and with its own as one file."""

from __future__ import annotations

import json
import threading
import zlib
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

import longfat
from longfat.playground import ENGINE, address, page
from longfat.playground._bundle import MODULES, bundle
from longfat.playground._presets import presets
from longfat.playground._server import Explorer
from longfat.scenario import read
from support import ROOT, SMALL, Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser_support import Visit, Visits

DONE = ".setup[data-runs]:not(.busy):not(.stale)"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def server() -> Iterator[Explorer]:
    """One for all tests, which stays although pages come and go. Its page lets tests reach its modules."""
    with Explorer([SMALL]) as made:
        made.html = page([SMALL], server=f"/{made.token}/", exposed=True).encode()
        made.came()
        running = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        running.start()
        yield made
        made.shutdown()
        running.join()


def opened(visit: Visits, server: Explorer, hash_: str = "", **options: Any) -> Visit:
    """The page, once it has simulated what it begins with."""
    shown = visit(f"{server.address}{hash_}", **options)
    ready(shown)
    return shown


def ready(shown: Visit, setups: int = 1) -> None:
    for key in "AB"[:setups]:
        shown.page.wait_for_selector(f'{DONE}[data-key="{key}"]')


def runs(shown: Visit, key: str = "A") -> int:
    return int(shown.locator(f'.setup[data-key="{key}"]').get_attribute("data-runs") or 0)


def wait_for_run(shown: Visit, after: int, key: str = "A") -> None:
    shown.page.wait_for_selector(f'{DONE}[data-key="{key}"]:not([data-runs="{after}"])')


def text(shown: Visit, key: str = "A") -> str:
    return shown.locator(f'.setup[data-key="{key}"] textarea').input_value()


def faultless(shown: Visit, server: Explorer | None = None) -> None:
    """Nothing went wrong, and nobody else was asked for anything."""
    assert shown.errors == []
    own = [each for each in shown.requests if server and each.startswith(server.address)]
    assert shown.requests == own


# Without a browser


def test_the_bundle_has_every_module_and_nothing_to_load() -> None:
    script = bundle()
    for name in MODULES:
        assert f"modules.{name} = (() => {{" in script
    assert "import " not in [line[:7] for line in script.splitlines()]
    with pytest.raises(ValueError, match=r"main\.js imports .* from \w+\.js"):
        bundle(("dom", "main"))


def test_an_address_has_all_of_the_scenarios() -> None:
    for texts in ([SMALL], [SMALL, SMALL * 3], ["x"]):
        made = dict(part.split("=", 1) for part in address(texts).split("&"))
        assert len(made) == len(texts)
        for key, given in zip("ab", texts, strict=False):
            if key in made:
                assert unquote(made[key]) == given
            else:
                packed = urlsafe_b64decode(made[f"{key}z"] + "===")
                assert zlib.decompress(packed, -zlib.MAX_WBITS).decode() == given
    with pytest.raises(ValueError, match="one scenario or two, not 0"):
        address([])


def test_presets_are_scenarios_and_name_what_they_are() -> None:
    found = presets()
    assert len({each["id"] for each in found}) == len(found) > 8
    assert [each["group"] for each in found].count("Papers, remade") == 5
    for each in found:
        assert 1 <= len(each["texts"]) <= 2
        for scenario in each["texts"]:
            read(scenario)


PAPERS: dict[str, tuple[str, dict[str, Any]]] = {
    "exp-tcp-convergence": ("exp-tcp/convergence", {"link.bottleneck.rate": "250 Mbit/s"}),
    "exp-tcp-convergence-hstcp": (
        "exp-tcp/convergence",
        {f"flow.{each}.control": "hstcp" for each in ("first", "second", "third")}
        | {"link.bottleneck.rate": "250 Mbit/s"},
    ),
    "cw-hstcp-figure-6": (
        "cw-hstcp/dumbbell",
        {"flow.fast.control": {"kind": "cw-hstcp", "c": "10 /s"}, "flow.fast.access": "125 Mbit/s"},
    ),
    "cw-hstcp-figure-6-hstcp": (
        "cw-hstcp/dumbbell",
        {"flow.fast.control": "hstcp", "flow.fast.access": "125 Mbit/s"},
    ),
    "anti-ecn-figure-3": ("anti-ecn/lone", {}),
    "anti-ecn-figure-3-plain": ("anti-ecn/lone", {"link.bottleneck.anti_ecn": False}),
    "blitz-figure-1": ("blitz/lone", {"flow.lone.control": "blitz"}),
    "blitz-figure-1-reno": (
        "blitz/lone",
        {"link.bottleneck.queue": "drop-tail", "link.exit.queue": "drop-tail"}
        | {"flow.lone.control": "reno"},
    ),
}
"""For presets whose paper has a file: that file, and what the room or the preset changes in it."""

OF_ROOMS: dict[str, dict[str, Any]] = {
    "cw-hstcp/dumbbell": {
        "flow.background.count": 3,
        "traffic.web.arrivals": {"load": "4 %"},
        "link.bottleneck.rate": "100 Mbit/s",
    },
    "anti-ecn/lone": {
        "duration": "12 s",
        "link.bottleneck.queue.limit": "10 packets",
        "link.bottleneck.queue.alpha": "3.75 /s",
        "flow.lone.rtt": "8 ms",
    },
    "blitz/lone": {
        "duration": "600 ms",
        "link.bottleneck.rate": "3 Mbit/s",
        "link.exit.rate": "15 Mbit/s",
        "flow.lone.access": "15 Mbit/s",
        "link.bottleneck.buffer": "112 packets",
        "link.exit.buffer": "112 packets",
    },
}
"""What the rooms' Python sets, at the quick scale."""


@pytest.mark.parametrize("name", PAPERS)
def test_presets_of_papers_are_the_scenarios_of_their_rooms(name: str) -> None:
    room, changes = PAPERS[name]
    changes = {**OF_ROOMS.get(room, {}), **changes, "sample": "100 ms"}
    preset = ROOT / f"python/longfat/playground/presets/{name}.toml"
    mine = read(preset, changes={"sample": "100 ms"})[0]
    theirs = read(ROOT / f"papers/{room}.toml", changes=changes)[0]
    assert mine == theirs


def test_the_preset_of_fiber_tcp_is_that_of_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "papers/fiber-tcp"))
    monkeypatch.delitem(__import__("sys").modules, "shared", raising=False)
    from shared import fiber, unit  # type: ignore[import-not-found, unused-ignore]

    for name, law in (("fiber", fiber(1e-2)), ("reno", "reno")):
        scenario = unit({name: law}, 1000, 1500)
        scenario["flow"][0]["recovery"] = "rack"
        suffix = "" if name == "fiber" else "-reno"
        preset = ROOT / f"python/longfat/playground/presets/fiber-tcp-figure-1{suffix}.toml"
        assert read(preset, changes={"sample": "1 s"})[0] == read(scenario)[0]
    monkeypatch.delitem(__import__("sys").modules, "shared", raising=False)


# With the native engine


def test_it_draws_and_says_what_the_command_line_says(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    titles = shown.locator(".live-chart figcaption b").all_inner_texts()
    assert titles == ["Throughput", "Window", "Queue", "Drops"]
    assert shown.locator(".live-chart canvas").count() == 4
    link = longfat.run(SMALL).summary["links"]["bottleneck"]["forward"]
    said = shown.locator(".numbers dd").first.inner_text().replace("\u00a0", " ")
    assert said == f"{100 * link['utilisation']:.3g} %"
    # Something is drawn: a chart has pixels of the first flow's colour.
    drawn = shown.run(
        """() => {
            const canvas = document.querySelector('[data-kind="window"] canvas');
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let i = 0; i < data.length; i += 4) {
                if (data[i] === 0 && data[i + 1] === 114 && data[i + 2] === 178) found++;
            }
            return found;
        }"""
    )
    assert drawn > 100
    faultless(shown, server)


def test_a_slider_changes_the_text_and_the_run(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    before = runs(shown)
    shown.page.get_by_label("Rate", exact=True).focus()
    shown.page.keyboard.press("ArrowRight")
    wait_for_run(shown, before)
    assert 'rate = "13 Mbit/s"' in text(shown)
    assert shown.locator(".row.slider output").first.inner_text() == "13\u00a0Mbit/s"
    assert text(shown).replace("13 Mbit/s", "10 Mbit/s") == SMALL
    rate = shown.locator(".results tbody td").nth(1).inner_text()
    assert "Mbit/s" in rate
    faultless(shown, server)


def test_choices_change_the_text(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    before = runs(shown)
    shown.page.get_by_label("Controller").select_option("cubic")
    wait_for_run(shown, before)
    before = runs(shown)
    shown.page.get_by_label("How many flows").fill("3")
    wait_for_run(shown, before)
    before = runs(shown)
    shown.page.get_by_label("Queue", exact=True).select_option("codel")
    wait_for_run(shown, before)
    before = runs(shown)
    shown.page.get_by_role("button", name="Add flows").click()
    wait_for_run(shown, before)
    found = read(text(shown))[0]
    told = json.loads(found.to_json())
    assert [(flow["name"], flow["count"]) for flow in told["flow"]] == [("forward", 3), ("bbr3", 3)]
    assert told["flow"][0]["control"]["kind"] == "cubic"
    assert told["link"]["bottleneck"]["queue"]["kind"] == "codel"
    assert shown.locator(".legend li").count() == 6
    before = runs(shown)
    shown.page.get_by_role("button", name="Remove these flows").first.click()
    wait_for_run(shown, before)
    assert [flow["name"] for flow in json.loads(read(text(shown))[0].to_json())["flow"]] == ["bbr3"]
    faultless(shown, server)


def test_mistakes_are_told_where_they_are(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    shown.locator("summary").click()
    area = shown.locator("textarea")
    area.fill(SMALL.replace('"reno"', '"renno"').replace("5 ms", "5 mss"))
    shown.page.wait_for_selector(".problems li")
    assert shown.locator("mark").all_inner_texts() == ['"5 mss"', '"renno"']
    assert shown.locator(".problems .place").all_inner_texts() == ["line 6", "line 10"]
    assert "Did you mean `reno`?" in shown.locator(".problems").inner_text()
    assert area.get_attribute("aria-invalid") == "true"
    assert shown.locator(".status").inner_text().startswith("Not run: line 6:")
    shown.page.get_by_role("button", name="line 10").click()
    chosen = shown.run("getSelection().toString()")
    assert chosen == '"renno"'
    before = runs(shown)
    area.fill(SMALL)
    wait_for_run(shown, before)
    assert shown.locator(".problems li").count() == 0
    faultless(shown, server)


def test_what_is_not_text_stays_text(visit: Visits, server: Explorer) -> None:
    evil = '<img src=x onerror="window.harmed = 1"><script>window.harmed = 1</script>'
    shown = opened(visit, server)
    shown.locator("summary").click()
    shown.locator("textarea").fill(SMALL.replace('"reno"', json.dumps(evil)))
    shown.page.wait_for_selector(".problems li")
    assert "<img" in shown.locator(".problems").inner_text()
    before = runs(shown)
    shown.locator("textarea").fill(SMALL + f"# {evil}\n")
    wait_for_run(shown, before)
    assert shown.run("window.harmed") is None
    assert shown.locator("img").count() == 0
    faultless(shown, server)


def test_the_address_holds_everything(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    before = runs(shown)
    shown.page.get_by_role("button", name="Compare two").click()
    ready(shown, 2)
    shown.page.get_by_label("Round trip", exact=True).nth(1).focus()
    shown.page.keyboard.press("End")
    wait_for_run(shown, 1, "B")
    assert runs(shown) == before
    for _ in range(100):
        decoded = shown.run("modules.address.decoded(location.hash)")
        if decoded and decoded["texts"] == [text(shown, "A"), text(shown, "B")]:
            break
        shown.page.wait_for_timeout(100)
    other = opened(visit, server, "#" + shown.run("location.hash").removeprefix("#"))
    ready(other, 2)
    for key in "AB":
        assert text(other, key) == text(shown, key)
    assert 'rtt = "1 s"' in text(other, "B")
    assert text(other, "A") == SMALL
    # Made elsewhere, it is the same.
    made = opened(visit, server, "#" + address([SMALL.replace("reno", "cubic")]))
    assert text(made) == SMALL.replace("reno", "cubic")
    cut = visit(f"{server.address}#az=AAAA")
    ready(cut)
    assert "may have been cut" in cut.locator(".about-preset").inner_text()
    for each in (shown, other, made, cut):
        faultless(each, server)


def test_an_address_of_very_many_lines_opens(visit: Visits, server: Explorer) -> None:
    """More than a call of a function may have arguments, in an address of a kilobyte."""
    long = SMALL + 300_000 * "\n"
    short = address([long])
    assert len(short) < 2000
    shown = opened(visit, server, "#" + short)
    assert text(shown) == long
    faultless(shown, server)


def test_presets_are_offered(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    chosen = next(each for each in presets() if each["id"] == "blitz")
    shown.page.get_by_label("Begin with").select_option("blitz")
    ready(shown, 2)
    assert [text(shown, key) for key in "AB"] == chosen["texts"]
    assert shown.locator(".about-preset").inner_text() == chosen["about"]
    assert shown.locator("#preset").input_value() == "blitz"
    shown.page.get_by_role("button", name="One set-up").click()
    assert shown.locator(".setup").count() == 1
    faultless(shown, server)


def test_a_long_run_can_be_given_up(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    shown.locator("summary").click()
    shown.locator("textarea").fill(SMALL.replace("10 Mbit/s", "10 Gbit/s").replace("4 s", "160 s"))
    stop = shown.page.get_by_role("button", name="Cancel")
    stop.wait_for(state="visible")
    shown.page.wait_for_selector(".setup.busy .percent:text('%')")
    stop.click()
    assert shown.locator(".status").inner_text().startswith("Cancelled")
    assert shown.locator(".setup.busy").count() == 0
    # One that would take hours begins only when asked.
    shown.locator("textarea").fill(SMALL.replace("10 Mbit/s", "10 Gbit/s").replace("4 s", "9000 s"))
    shown.page.get_by_role("button", name="Run it").wait_for(state="visible")
    assert "packets: about" in shown.locator(".status").inner_text()
    faultless(shown, server)


def test_charts_are_read_and_zoomed_by_keyboard(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    plot = shown.locator('[data-kind="queue"] .plot')
    plot.focus()
    shown.page.keyboard.press("ArrowRight")
    reading = shown.locator('[data-kind="queue"] .reading')
    assert " s" in reading.inner_text()
    assert " s" in shown.locator('[data-kind="window"] .reading').inner_text()
    shown.page.keyboard.press("+")
    everything = shown.page.get_by_role("button", name="Show all of the time")
    everything.wait_for(state="visible")
    assert shown.run("modules.live && document.querySelector('.show-all').hidden") is False
    shown.page.keyboard.press("Enter")
    assert shown.locator(".playhead:not([hidden])").count() == 4
    everything.click()
    assert not everything.is_visible()
    toggle = shown.locator(".legend button").first
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "false"
    faultless(shown, server)


def test_packets_move_as_long_as_they_are_told_to(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server, "#" + address([SMALL]))
    play = shown.page.get_by_role("button", name="Play")
    assert shown.run("modules.main.app.then((app) => app.clock.time)") == 0
    play.click()
    shown.page.wait_for_timeout(300)
    shown.page.get_by_role("button", name="Pause").click()
    stands = shown.run("modules.main.app.then((app) => app.clock.time)")
    assert stands > 0
    shown.page.wait_for_timeout(100)
    assert shown.run("modules.main.app.then((app) => app.clock.time)") == stands
    faultless(shown, server)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_either_colour(visit: Visits, server: Explorer, scheme: str) -> None:
    hash_ = "#" + address([SMALL, SMALL.replace("reno", "cubic")])
    shown = opened(visit, server, hash_, viewport=PHONE, color_scheme=scheme)
    assert shown.run("document.documentElement.scrollWidth") <= PHONE["width"]
    assert shown.locator('.setup[data-key="B"]').is_hidden()
    shown.page.get_by_role("button", name="B", exact=True).click()
    assert shown.locator('.setup[data-key="B"]').is_visible()
    assert shown.run("document.documentElement.scrollWidth") <= PHONE["width"]
    ground = shown.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    shown.page.get_by_role("button", name="Switch to").click()
    assert shown.run("getComputedStyle(document.body).backgroundColor") != ground
    sliders = shown.locator('.setup[data-key="B"] input[type="range"]')
    boxes = [sliders.nth(index).bounding_box() for index in range(sliders.count())]
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"] for box in boxes)
    faultless(shown, server)


def test_everything_can_be_reached_by_keyboard(visit: Visits, server: Explorer) -> None:
    shown = opened(visit, server)
    names = []
    for _ in range(40):
        shown.page.keyboard.press("Tab")
        names.append(
            shown.run(
                "(() => { const e = document.activeElement; return e.getAttribute('aria-label')"
                " || e.textContent.trim() || (e.labels && e.labels[0] && e.labels[0].textContent); })()"
            )
        )
    assert names[0] == "Skip to the set-ups"
    for wanted in ("Rate", "Round trip", "Buffer", "Random loss", "Controller", "Simulated time"):
        assert wanted in names, names
    assert "Scenario file" in names
    assert any(name.startswith("Throughput: arrow keys") for name in names)


# The parts, on their own


@pytest.fixture
def modules(visit: Visits, server: Explorer) -> Visit:
    return opened(visit, server)


def test_a_value_is_changed_and_nothing_else(modules: Visit) -> None:
    given = """\
duration = "4 s" # short

[link.a]
rate  = "10 Mbit/s"   # slow
[link."b c"]
delay = "1 ms"

[[flow]]
name = "x"
start = [
  "0 s", # one
  "1 s",
]
control = { kind = "cubic", c = 0.4 }
[[flow]]
name = "y"
"""

    def changed(place: dict[str, Any], key: str, value: str) -> str:
        found: str = modules.run(
            "([text, place, key, value]) => modules.edit.withValue(text, place, key, value)",
            [given, place, key, value],
        )
        return found

    assert changed({"link": "a"}, "rate", '"1 Gbit/s"') == given.replace(
        '"10 Mbit/s"', '"1 Gbit/s"'
    )
    assert changed({"top": True}, "duration", '"9 s"') == given.replace('"4 s"', '"9 s"')
    assert changed({"link": "b c"}, "delay", '"2 ms"') == given.replace('"1 ms"', '"2 ms"')
    assert changed({"flow": 0}, "control", '"bic"') == given.replace(
        '{ kind = "cubic", c = 0.4 }', '"bic"'
    )
    assert changed({"flow": 1}, "rtt", '"1 ms"') == given + 'rtt = "1 ms"\n'
    assert changed({"link": "a"}, "loss", "0.1") == given.replace(
        "# slow\n", "# slow\nloss = 0.1\n"
    )
    several = given[given.index("[\n") : given.index("]\n", given.index("[\n")) + 1]
    assert changed({"flow": 0}, "start", '"0 s"') == given.replace(several, '"0 s"')
    assert changed({"top": True}, "seed", "7") == given.replace("# short\n", "# short\nseed = 7\n")
    assert changed({"link": "none"}, "rate", "1") is None
    assert changed({"flow": 2}, "rtt", "1") is None
    value = "([text, place, key]) => modules.edit.valueOf(text, place, key)"
    assert modules.run(value, [given, {"link": "a"}, "rate"]) == '"10 Mbit/s"'
    assert modules.run(value, [given, {"link": "a"}, "delay"]) is None
    added = modules.run("(text) => modules.edit.withFlow(text, 'z', 'reno')", given)
    assert added == given + '\n[[flow]]\nname = "z"\n'
    less = modules.run("(text) => modules.edit.withoutFlow(text, 0)", given)
    assert less == given[: given.index("[[flow]]")] + '[[flow]]\nname = "y"\n'


def test_quantities_are_written_as_files_have_them(modules: Visit) -> None:
    for value, expected in [
        (1e7, "10 Mbit/s"),
        (2.5e9, "2.5 Gbit/s"),
        (1, "1 bit/s"),
        (3.2e14, "320 Tbit/s"),
    ]:
        assert modules.run("(value) => modules.quantities.rateText(value)", value) == expected
    for value, expected in [
        (0.04, "40 ms"),
        (0, "0 s"),
        (1e-6, "1 us"),
        (120, "120 s"),
        (0.0012, "1.2 ms"),
    ]:
        assert modules.run("(value) => modules.quantities.timeText(value)", value) == expected
    steps = modules.run(
        "() => { const r = new modules.quantities.Ratios(1e6, 1e12, 8);"
        " return Array.from({ length: r.steps + 1 }, (_, i) => r.step(r.value(i)) === i); }"
    )
    assert len(steps) == 49
    assert all(steps)


def test_packets_are_where_the_run_says(modules: Visit) -> None:
    """By hand: 1000 packets/s for 2 s, a round trip of 0.4 s, 100 packets waiting throughout.

    Of those delivered at R each left the queue 0.1 s before: 0.1 s on the way there (100 packets), 0.2 s back
    (200), and 0.1 s from the sender to the queue (100). With a dot for ten packets these are 10, 20, 10, and 10
    that wait.
    """
    found = modules.run(
        """() => {
            const time = Array.from({ length: 200 }, (_, i) => (i + 1) / 100);
            const motion = new modules.animation.Motion({
                flows: [{ name: "one", colour: 0, rtt: 0.4, after: 0.1, before: 0.1, packetBits: 8000,
                          capacity: 8e6, time, throughput: time.map(() => 8e6) }],
                queue: { time, packets: time.map(() => 100) },
                dropped: time.map((at) => (at === 1.5 ? 7 : 0)),
                buffer: 200, sample: 0.01, end: 2,
            });
            motion.each = 10;
            const { moving, waiting, room } = motion.dots(1.0);
            const legs = [0, 1, 2].map((leg) => moving.filter(({ place }) => Math.floor(place) === leg).length);
            const drops = [1.4, 1.495, 1.5, 1.505].map((at) => motion.drops(at));
            return { legs, waiting: waiting.length, room, drops, leaves: waiting.map(({ leaves }) => leaves) };
        }"""
    )
    assert [abs(a - b) <= 1 for a, b in zip(found["legs"], (10, 20, 10), strict=True)] == [True] * 3
    assert (found["waiting"], found["room"]) == (10, 10)
    assert found["leaves"] == sorted(found["leaves"])
    assert 1.0 < found["leaves"][0] < found["leaves"][-1] < 1.11
    assert found["drops"] == [0, 7, 7, 0]


def test_all_that_is_in_flight_is_on_the_picture(modules: Visit) -> None:
    """Dots on the wires and in the queue are about the packets in flight that the sender of the run counts."""
    found = modules.run(
        """async () => {
            const app = await modules.main.app;
            const { tables, animation, outline } = app.setups[0];
            const { motion } = animation;
            motion.each = 1;
            const { columns } = tables.flow_series;
            const told = [];
            for (let at = 1; at < 3.9; at += 0.05) {
                const { moving, waiting } = motion.dots(at);
                let inFlight = 0;
                let rows = 0;
                for (let i = 0; i < columns.time_s.length; i++) {
                    if (Math.abs(columns.time_s[i] - at) < 0.0011) { inFlight += columns.in_flight[i]; rows++; }
                }
                if (rows === 2) told.push([moving.length + waiting.length, inFlight]);
            }
            return told;
        }"""
    )
    assert len(found) > 20
    dots, in_flight = (sum(each) / len(found) for each in zip(*found, strict=True))
    assert dots == pytest.approx(in_flight, rel=0.1)


# As one file, with its own engine


@pytest.fixture
def longfat_command(request: pytest.FixtureRequest) -> Command:
    """The command line; the package has the same name here."""
    found: Command = request.getfixturevalue("longfat")
    return found


@pytest.fixture
def file(own_folder: Path) -> Path:
    if not ENGINE.exists():
        pytest.skip("the engine is not there: make playground")
    made = own_folder / "playground.html"
    made.write_text(page([SMALL], exposed=True), encoding="utf-8")
    return made


def test_a_file_by_itself_simulates_the_same(visit: Visits, server: Explorer, file: Path) -> None:
    alone, native = visit(file), opened(visit, server)
    ready(alone)
    told = "modules.main.app.then((app) => app.setups[0].summary)"
    assert alone.run(told) == native.run(told)
    summary = longfat.run(SMALL).summary
    assert alone.run(told)["flows"] == summary["flows"]
    assert "WebAssembly" in alone.locator(".status").inner_text()
    before = runs(alone)
    alone.page.get_by_label("Rate", exact=True).focus()
    alone.page.keyboard.press("ArrowLeft")
    wait_for_run(alone, before)
    assert 'rate = "7.5 Mbit/s"' in text(alone)
    faultless(alone)
    faultless(native, server)


def test_a_file_by_itself_cancels_and_shows_where_it_got(visit: Visits, file: Path) -> None:
    shown = visit(file)
    ready(shown)
    shown.locator("summary").click()
    shown.locator("textarea").fill(SMALL.replace("10 Mbit/s", "2 Gbit/s").replace("4 s", "40 s"))
    stop = shown.page.get_by_role("button", name="Cancel")
    stop.wait_for(state="visible")
    shown.page.wait_for_selector(".setup.busy .percent:text('%')")
    stop.click()
    assert shown.locator(".status").inner_text().startswith("Cancelled")
    before = runs(shown)
    shown.locator("textarea").fill(SMALL.replace("reno", "cubic"))
    wait_for_run(shown, before)
    shown.locator("textarea").fill(SMALL.replace('"reno"', '"renno"'))
    shown.page.wait_for_selector(".problems li")
    assert shown.locator("mark").inner_text() == '"renno"'
    faultless(shown)


def test_a_link_between_files_keeps_the_scenario(visit: Visits, file: Path) -> None:
    shown = visit(file.as_uri() + "#" + address([SMALL.replace("reno", "cubic")]))
    ready(shown)
    assert text(shown) == SMALL.replace("reno", "cubic")
    before = runs(shown)
    shown.page.get_by_label("Seed").fill("9")
    shown.page.keyboard.press("Enter")
    wait_for_run(shown, before)
    shown.page.wait_for_timeout(600)
    assert "seed = 9" in text(shown)
    again = visit(shown.run("location.href"))
    ready(again)
    assert text(again) == text(shown)
    faultless(again)


def test_a_report_has_links_that_run_its_scenario_again(
    visit: Visits, longfat_command: Command, file: Path, small: Path
) -> None:
    assert longfat_command("run", small, "--out", "run", "--quiet").returncode == 0
    assert 'class="again"' not in _report(longfat_command)
    done = longfat_command("report", "run", "--playground")
    assert done.returncode == 0, done.stderr
    shown = visit(file.parent / "run.html")
    shown.locator("a.again").click()
    shown.page.wait_for_url("**/playground.html#*")
    ready(shown)
    assert text(shown) == (file.parent / "run/scenario.toml").read_text("utf-8")


def _report(longfat_command: Command) -> str:
    assert longfat_command("report", "run").returncode == 0
    return Path("run.html").read_text("utf-8")
