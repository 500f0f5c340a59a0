"""Pages as texts: what goes into them, what is refused, and that nothing in them is obeyed."""

from __future__ import annotations

import base64
import copy
import hashlib
import html
import io
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import longfat as package
from longfat.errors import ResultError
from longfat.page import _colours, compare, report, write_evaluation
from longfat.page._charts import Chart, Line, bounded, drawable, thinned
from longfat.page._compare import read_runs
from longfat.page._evaluation import _Colours
from longfat.page._sketch import BOTTOM, LEFT, RIGHT, TOP, sketch
from longfat.plot import style
from longfat.plot._run import headline
from longfat.results._saved import SavedRun
from longfat.study import study as run_study
from page_support import evaluation, write_evaluate_json
from support import ROOT, SMALL

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from longfat.page._charts import Numbers
    from support import Command

UPLOT = ROOT / "python/longfat/page/assets/uplot"


class Parsed(HTMLParser):
    """The tags of a page, and what scripts and styles hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: list[tuple[str, dict[str, str | None], str]] = []
        self._within = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if self._within:
            self.blocks.append((*self.tags[-1], data))

    def handle_endtag(self, tag: str) -> None:
        self._within = False

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def run_folder(own_folder: Path) -> Path:
    return package.run(SMALL).save(own_folder / "runs/small-1")


@pytest.fixture
def evaluated(own_folder: Path) -> Path:
    folder = own_folder / "runs/evaluate-exp-quick-1"
    write_evaluate_json(folder, evaluation(), SMALL)
    return folder


def numbers(values: object) -> Numbers:
    return np.array(values, dtype=float)


# What is drawn


def test_no_peak_is_lost_and_a_gap_stays_a_gap() -> None:
    x = np.arange(100_000.0)
    y = np.sin(x / 1000)
    y[12_345], y[54_321] = 7.0, -5.0
    y[70_000:72_000] = np.nan
    few_x, few_y = thinned(x, y, 500)
    assert len(few_x) <= 1000
    assert 12_345 in few_x
    assert 54_321 in few_x
    assert (np.nanmin(few_y), np.nanmax(few_y)) == (-5.0, 7.0)
    within = (few_x >= 70_000) & (few_x < 72_000)
    assert within.any()
    assert np.isnan(few_y[within]).all()
    assert (np.diff(few_x) > 0).all()


def test_what_fits_is_drawn_as_it_is() -> None:
    x, y = numbers([0, 1, 5]), numbers([1, np.nan, 2])
    same_x, same_y = thinned(x, y, 2)
    np.testing.assert_array_equal(same_x, x)
    np.testing.assert_array_equal(same_y, y)


def test_long_lines_make_room_for_short_ones() -> None:
    short = Line("short", np.arange(10.0), np.ones(10), 0)
    long = Line("long", np.arange(10_000.0), np.arange(10_000.0), 1)
    (chart,), limit = bounded([Chart("", "", (short, long))], most=1010)
    assert [len(line.y) for line in chart.lines] == [10, 1000]
    assert limit == 1000
    assert bounded([Chart("", "", (short, long))], most=10_010)[1] == 0


def test_lines_travel_as_bytes() -> None:
    even = Line("even", numbers(0.5 + 0.25 * np.arange(9)), np.arange(9.0), 0)
    uneven = Line("uneven", numbers([0, 1, 4]), numbers([1.5, np.nan, -2]), 9)
    data = Chart("t", "s", (even, uneven)).to_data()
    assert data["xs"][0] == {"from": 0.5, "step": 0.25, "count": 9}
    assert np.frombuffer(base64.b64decode(data["xs"][1]), "<f8").tolist() == [0.0, 1.0, 4.0]
    values = np.frombuffer(base64.b64decode(data["lines"][1]["y"]), "<f4")
    np.testing.assert_array_equal(values, np.array([1.5, np.nan, -2], "<f4"))
    assert (data["lines"][0]["dashed"], data["lines"][1]["dashed"]) == (False, True)


def test_what_has_no_values_is_not_drawn() -> None:
    empty = Line("empty", np.arange(3.0), np.full(3, np.nan), 0)
    full = Line("full", np.arange(3.0), np.ones(3), 1)
    (chart,) = drawable([Chart("a", "", (empty,)), Chart("b", "", (empty, full))])
    assert [line.name for line in chart.lines] == ["full"]


def test_a_sketch_has_lines_where_they_belong() -> None:
    """From the left end at zero to the right end at 100 Mbit/s, whose axis goes a twentieth further."""
    line = Line("a", numbers([0, 5, 6, 10]), numbers([0, np.nan, 50e6, 100e6]), 0)
    drawn = sketch(Chart("throughput", "bit/s", (line,), shaded=5.0))
    top = BOTTOM - round((BOTTOM - TOP) / 1.05)
    assert drawn.strokes[0].path.startswith(f"M{LEFT} {BOTTOM}h0M")
    moves = [
        tuple(map(int, each)) for each in re.findall(r"[Ml](-?\d+) (-?\d+)", drawn.strokes[0].path)
    ]
    end = (moves[1][0] + moves[2][0], moves[1][1] + moves[2][1])
    assert end == (RIGHT, top)
    assert drawn.shaded == (LEFT + RIGHT) // 2
    assert [tick.label for tick in drawn.up] == ["0", "25", "50", "75", "100"]
    assert drawn.up[-1].at == top
    assert drawn.unit == "Mbit/s"


def test_colours_can_be_seen_on_both_grounds() -> None:
    """WCAG 2.2, criterion 1.4.11: 3 to 1 for what is needed to understand a picture."""
    for colour in style.COLOURS:
        dark = _colours.on_dark(colour)
        assert _colours.contrast(dark, _colours.DARK_GROUND) >= 3, colour
    light = {colour: _colours.contrast(colour, _colours.LIGHT_GROUND) for colour in style.COLOURS}
    # Two of Okabe and Ito's are lighter. They come fifth and eighth, and every line has its name on a button.
    assert [colour for colour, found in light.items() if found < 3] == ["#56B4E9", "#E69F00"]
    assert min(light.values()) > 2


def test_the_same_controller_has_the_same_colour() -> None:
    colours = _Colours(["exp", "reno", "cubic"])
    assert [colours.of(name) for name in ("reno", "exp", "cubic (incumbent)")] == [1, 0, 2]
    others = [colours.of(name) for name in ("flow 1", "reno (incumbent)", "exp-2")]
    assert others == [3, 4, 5]


# What a page is


def test_a_page_is_one_file_with_one_script_and_one_style(run_folder: Path) -> None:
    page = Parsed(report(run_folder).read_text("utf-8"))
    scripts = [(attributes, text) for tag, attributes, text in page.blocks if tag == "script"]
    running = [text for attributes, text in scripts if attributes.get("type") is None]
    styles = [text for tag, _, text in page.blocks if tag == "style"]
    assert (len(running), len(styles)) == (1, 1)
    (policy,) = [
        str(meta["content"])
        for meta in page.attributes("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    for name, (text,) in (("script-src", running), ("style-src", styles)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    # Nothing is loaded from anywhere, and no handler or style hides in a tag.
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))


def test_uplot_is_what_was_published_and_its_licence_goes_with_it(run_folder: Path) -> None:
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in UPLOT.glob("uPlot.*")
    }
    assert digests == {
        "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    }
    assert "1.6.32" in (UPLOT / "README.md").read_text("utf-8")
    assert (UPLOT / "LICENSE").read_text("utf-8").strip() in report(run_folder).read_text("utf-8")


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&\u202e\x1b[31m\"'"


def test_what_strangers_wrote_stays_text(evaluated: Path) -> None:
    content = hostile(evaluation())
    (evaluated / "evaluate.json").write_text(json.dumps(content), "utf-8")
    text = write_evaluation(evaluated).read_text("utf-8")
    page = Parsed(text)
    assert page.attributes("img") == []
    assert len([block for block in page.blocks if block[0] == "script" and not block[1]]) == 1
    for unseen in ("\u2028", "\u202e", "\x1b"):
        assert unseen not in text
    data = [block[2] for block in page.blocks if block[1].get("type") == "application/json"]
    assert data
    for each in data:
        assert not set("<>&") & set(each)
        assert "alert(2)" in json.loads(each)["title"]


def hostile(value: Any) -> Any:
    """A copy in which every text that is shown holds a script."""
    fixed = {
        "format",
        "scenario",
        "kind",
        "group",
        "unit",
        "y_unit",
        "x_unit",
        "verdict",
        "judged",
        "better",
    }
    if isinstance(value, dict):
        return {key: each if key in fixed else hostile(each) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each) for each in value]
    return value + HOSTILE if isinstance(value, str) else value


# Runs, studies, papers


def test_the_page_of_a_run_says_what_its_tables_say(run_folder: Path, longfat: Command) -> None:
    done = longfat("report", run_folder)
    assert (done.returncode, done.stdout) == (0, f"page in {run_folder}.html\n")
    text = Path(f"{run_folder}.html").read_text("utf-8")
    flows = SavedRun(run_folder).summary["flows"]
    assert len(flows) == 2
    for flow in flows:
        assert f"{flow['name']}</td>" in text
        assert f"{flow['goodput_bit_s'] / 1e6:.2f} Mbit/s" in text
    assert (run_folder / "scenario.toml").read_text("utf-8").strip()[:200].replace(
        '"', "&#34;"
    ) in text
    assert f"were written by longfat {package.__version__}" in text
    assert "forward[0] was limited by" in text
    # The folder is as it was: another run may replace it.
    package.run(SMALL).save(run_folder)


def test_a_page_says_that_nothing_arrived_and_not_who_had_most_of_it(own_folder: Path) -> None:
    """Of flows that stop in the warm-up."""
    for count, told in (
        (1, "The flow had no data arrive in the time that was measured."),
        (2, "None of the 2 flows had any data arrive in the time that was measured."),
    ):
        run = package.run(SMALL, set={"flow.0.stop": "500 ms", "flow.0.count": count})
        text = report(run.save(own_folder / f"stopped-{count}")).read_text("utf-8")
        assert told in text
        assert "(reno) had" not in text


def test_files_that_were_changed_are_named(run_folder: Path) -> None:
    with (run_folder / "scenario.toml").open("a", encoding="utf-8") as file:
        file.write("# mine\n")
    text = report(run_folder).read_text("utf-8")
    assert "Changed since they were written: scenario.toml." in text


def test_a_run_without_series_or_flows_has_a_page(own_folder: Path) -> None:
    quiet = SMALL.partition("[[flow]]")[0] + (
        '[[traffic]]\nname = "web"\ncontrol = "reno"\npath = ["bottleneck"]\nrtt = "20 ms"\n'
        'arrivals = { poisson = "5 /s" }\nsize = "20 packets"\n'
    )
    folder = package.run(quiet, record=False).save(own_folder / "quiet")
    text = report(folder, own_folder / "page.html").read_text("utf-8")
    assert "Of the short flows web" in text
    assert "Over time" not in text


def test_the_page_of_very_many_groups_is_one_that_can_be_read(own_folder: Path) -> None:
    """2000 groups: lines, rows and buttons by controllers, the first sentences, no scenario of a megabyte."""
    flow = {"control": "reno", "path": ["bottleneck"], "rtt": "20 ms", "size": "3 kB"}
    names = [f"{'long' * 40}{place}" for place in range(2000)]
    scenario = {
        "duration": "4 s",
        "warmup": "1 s",
        "sample": "1 s",
        "link": {"bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"}},
        "flow": [{"name": name, **flow} for name in names],
    }
    folder = package.run(scenario).save(own_folder / "many")
    assert (folder / "scenario.toml").stat().st_size > 1_000_000
    text = report(folder).read_text("utf-8")
    assert "reno: 59 of 2,000 flows" in text
    assert "reno × 2000, mean" in text
    assert "1,900 more are told by `longfat explain` of the folder." in text
    assert "It is too long for a page" in text
    # Each of a hundred sentences has a name; lines have those of 60 flows, for each of three charts.
    assert text.count("long" * 40) <= 100 + 3 * 60


def test_the_page_of_a_study_has_its_table_pictures_and_file(own_folder: Path) -> None:
    study = {
        "scenario": {"duration": "2 s", "link": {"l": {"rate": "10 Mbit/s", "delay": "5 ms"}},
                     "flow": [{"name": "f", "control": "reno", "path": ["l"], "rtt": "20 ms"}]},
        "seeds": 2,
        "vary": {"flow.f.control": ["reno", "cubic"]},
        "compare": [{"of": "flows.f.goodput_bit_s", "between": "flow.f.control"}],
    }  # fmt: skip
    found = run_study(study, out=own_folder / "study", workers=1)
    page = Parsed(text := report(own_folder / "study").read_text("utf-8"))
    assert [str(each["src"])[:26] for each in page.attributes("img")] == [
        "data:image/svg+xml;base64,"
    ]
    for value in found.table("flows.f.goodput_bit_s")["flows.f.goodput_bit_s"]:
        assert f"{value / 1e6:.2f}" in text
    assert found.differences("flows.f.goodput_bit_s", "flow.f.control")["verdict"][0] in text
    assert "flow.f.control = [" not in text  # as TOML it is quoted, and on the page escaped
    assert "&#34;flow.f.control&#34; = [" in text


@pytest.mark.parametrize("slug", ["exp-tcp", "fiber-tcp"])
def test_the_page_of_a_paper_has_every_claim_and_picture(slug: str, own_folder: Path) -> None:
    text = report(slug).read_text("utf-8")
    kept = json.loads((ROOT / f"papers/{slug}/results/full.json").read_text("utf-8"))
    page = Parsed(text)
    claims = [each for each in page.attributes("tr") if each.get("class") == "claim"]
    assert len(claims) == len(kept["claims"])
    words = [str(each["data-kinds"]).split()[0] for each in claims]
    for word in ("reproduced", "differs", "not-testable"):
        known = [each["verdict"] for each in kept["claims"]]
        assert words.count(word) == known.count(word.replace("-", " "))
    pictures = sum(len(figure["pictures"]) for figure in kept["figures"].values())
    assert len(page.attributes("img")) == pictures
    assert own_folder.joinpath(f"runs/paper-{slug}.html").is_file()


def test_a_remade_paper_has_a_page(own_folder: Path, longfat: Command) -> None:
    done = longfat("paper", "fiber-tcp", "--figure", "figure-2", "--quiet")
    assert done.returncode == 0, done.stderr
    text = report("runs/paper-fiber-tcp-quick").read_text("utf-8")
    assert "figure-2/ratio" in text
    assert "figure-3" not in text
    (own_folder / "runs/paper-fiber-tcp-quick/figure-2.csv").unlink()
    with pytest.raises(
        ResultError, match=r"only a part of a remade paper: `figure-2\.csv` is missing"
    ):
        report("runs/paper-fiber-tcp-quick")


# Side by side


def test_runs_side_by_side(own_folder: Path, longfat: Command) -> None:
    package.run(SMALL).save("runs/a")
    package.run(SMALL, seed=2, set={"flow.forward.control": "cubic"}).save("runs/b")
    done = longfat("compare", "runs/a", "runs/b")
    assert done.returncode == 0, done.stderr
    rows = [line.split("  ") for line in done.stdout.splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["setting", "a", "b"] in cells
    assert ["seed", "1", "2"] in cells
    assert [
        "flow.forward.control",
        "reno",
        "cubic, c = 0.4, beta = 0.7, fast_convergence = true, blind_growth = 0",
    ] in cells
    found = read_runs(["runs/a", "runs/b"])
    # Only what differs, and nothing that does not.
    assert [row[0] for row in found.settings.rows] == ["seed", "flow.forward.control"]
    page = own_folder / "runs/compare.html"
    text = page.read_text("utf-8")
    shown = {
        html.escape(cell).replace("&#x27;", "&#39;") for row in found.flows.rows for cell in row
    }
    assert "queueing" in shown
    assert all(f">{cell}</td>" in text for cell in shown)


def test_equal_names_are_told_apart(own_folder: Path) -> None:
    for name in ("one/small-1", "two/small-1"):
        package.run(SMALL).save(name)
    found = read_runs(["one/small-1", "two/small-1", "two/small-1"])
    assert found.names == ["one/small-1", "two/small-1", "two/small-1 (2)"]
    assert found.settings.rows == []
    assert "the scenarios are the same" in compare(["one/small-1", "two/small-1"]).read_text(
        "utf-8"
    )


# What is refused


def table(**columns: Any) -> bytes:
    """A Parquet file."""
    written = io.BytesIO()
    pl.DataFrame(columns).write_parquet(written)
    return written.getvalue()


SERIES: dict[str, Any] = {
    "time_s": [1.0],
    "flow": ["forward[0]"],
    "group": ["forward"],
    "window": [10.0],
    "threshold": [20.0],
    "rtt_s": [0.02],
    "throughput_bit_s": [1e6],
    "retransmitted": [0],
}


def test_a_series_as_runs_write_it_is_accepted(run_folder: Path) -> None:
    (run_folder / "flow_series.parquet").write_bytes(table(**SERIES))
    assert "Changed since they were written: flow_series.parquet" in report(run_folder).read_text(
        "utf-8"
    )


def test_averages_without_what_is_shown_are_refused(run_folder: Path) -> None:
    """Each of the fields that a page reads, left out in turn."""
    whole = json.loads((run_folder / "summary.json").read_text("utf-8"))
    report(run_folder)
    for path in (
        ("scenario", "link", "bottleneck", "rate"),
        ("links", "bottleneck", "reverse"),
        ("links", "bottleneck", "forward", "queue_p99"),
        ("links", "bottleneck"),
        ("flows", 0, "goodput_bit_s"),
        ("engine",),
        ("scenario", "flow", 0, "path"),
        ("scenario", "flow"),
    ):
        content = copy.deepcopy(whole)
        place = content
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        (run_folder / "summary.json").write_text(json.dumps(content), "utf-8")
        with pytest.raises(ResultError, match=r"summary\.json is not what a run writes there"):
            report(run_folder)


@pytest.mark.parametrize(
    ("name", "share", "told"),
    [
        ("scenario.toml", 0.0, "it is empty"),
        ("scenario.toml", 0.9, "scenario.toml is not what a run writes there"),
        (
            "flows.parquet",
            0.5,
            "flows.parquet is not what a run writes there: it is no Parquet file",
        ),
        (
            "limits.parquet",
            0.5,
            "limits.parquet is not what a run writes there: it is no Parquet file",
        ),
        (
            ".longfat.json",
            0.5,
            "its `.longfat.json`, which lists what longfat wrote there, cannot be read",
        ),
    ],
)
def test_a_file_cut_short_is_refused_by_every_command(
    run_folder: Path, longfat: Command, name: str, share: float, told: str
) -> None:
    path = run_folder / name
    content = path.read_bytes()
    end = int(share * len(content))
    if name == "scenario.toml":  # within a text
        end = content.index(b'"', end) + 1 if share and content[:end].count(b'"') % 2 == 0 else end
    path.write_bytes(content[:end])
    for words in (["report"], ["explain"], ["compare", run_folder]):
        done = longfat(*words, run_folder)
        assert done.returncode == 2, words
        assert told in done.stderr
    assert not list(run_folder.parent.glob("*.html"))


def test_a_file_that_was_changed_is_named(run_folder: Path, longfat: Command) -> None:
    path = run_folder / "scenario.toml"
    path.write_text("# mine\n" + path.read_text("utf-8"), "utf-8")
    for words in (["explain"], ["compare", run_folder]):
        done = longfat(*words, run_folder)
        assert done.returncode == 0, done.stderr
        assert "changed after longfat wrote" in done.stderr
        assert "`scenario.toml`" in done.stderr


def test_what_is_no_result_is_refused(own_folder: Path, longfat: Command) -> None:
    (own_folder / "stranger").mkdir()
    (own_folder / "stranger/notes.txt").write_text("mine", "utf-8")
    for source, told in (
        ("nowhere", "does not exist"),
        ("stranger/notes.txt", "is a file"),
        ("stranger", "holds no run, fluid solution, study, evaluation or paper"),
    ):
        with pytest.raises(ResultError, match=f"^{source} .*{told}"):
            report(source)
    done = longfat("report", "nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith("error: nowhere does not exist")
    assert not list(own_folder.rglob("*.html"))


def cells(text: str) -> list[str]:
    """What stands in the cells of the tables of a page."""
    return [html.unescape(cell.strip()) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", text)]


def test_a_fluid_solution_has_its_page(own_folder: Path) -> None:
    fluid = SMALL.replace('uniform = ["0 s", "100 ms"]', 'spread = ["0 s", "100 ms"]')
    solved = package.fluid(fluid, stability=True)
    page = report(solved.save("solved"))
    assert page == Path("solved.html")
    text = page.read_text("utf-8")
    for title in ("window", "rate", "load, share of the rate"):
        assert title in text
    found = cells(text)
    for flow in solved.summary["flows"]:
        assert flow["name"] in found
        assert f"{flow['window_mean']:,.1f}" in found
    for flow in solved.summary["equilibrium"]["flows"]:
        assert f"{flow['window']:,.1f}" in found
    judged = "stable" if solved.stable else "unstable"
    assert f"The equilibrium is {judged}" in " ".join(text.split())
    assert "[link.bottleneck]" in text
    Parsed(text)


def test_a_fluid_page_needs_no_series(own_folder: Path) -> None:
    fluid = SMALL.replace('uniform = ["0 s", "100 ms"]', 'spread = ["0 s", "100 ms"]')
    text = report(package.fluid(fluid, integrate=False, equilibrium=True).save("rest")).read_text()
    assert "Over time" not in text
    assert "Where the flows settle" in text


def test_a_byte_that_ends_whoever_reads_a_table_is_refused(run_folder: Path) -> None:
    """The reader of such a file panics over it, or asks for more memory than there is."""
    path = run_folder / "flow_series.parquet"
    content = bytearray(path.read_bytes())
    content[17] = 9
    path.write_bytes(content)
    with pytest.raises(ResultError, match=r"flow_series\.parquet is not what a run writes there"):
        report(run_folder)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("fluid.json", b"{", r"fluid\.json is not what a fluid solution writes there"),
        ("fluid.json", b'{"model": 1}', "is not what a fluid solution writes there"),
        ("scenario.toml", b"duration = 1", "its duration or warm-up is no time"),
        ("flow_series.parquet", b"no", "it is no Parquet file"),
        ("link_series.parquet", None, "`link_series.parquet` is missing"),
        ("fluid.json", None, "`fluid.json` is missing"),
    ],
)
def test_a_broken_solution_is_refused(
    name: str, content: bytes | None, told: str, own_folder: Path
) -> None:
    fluid = SMALL.replace('uniform = ["0 s", "100 ms"]', 'spread = ["0 s", "100 ms"]')
    folder = package.fluid(fluid).save("solved")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ResultError, match=told):
        report(folder)
    assert not Path("solved.html").exists()


@pytest.mark.parametrize("name", ["summary.json", "scenario.toml", "flow_series.parquet"])
def test_half_a_run_is_refused(name: str, run_folder: Path) -> None:
    (run_folder / name).unlink()
    with pytest.raises(ResultError, match=f"`{re.escape(name)}` is missing"):
        report(run_folder)
    assert not Path(f"{run_folder}.html").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("summary.json", b"{"),
        ("summary.json", b"[]"),
        ("summary.json", b'{"seed": 1}'),
        ("scenario.toml", b"\xff"),
        ("flow_series.parquet", b"PAR1"),
        ("flow_series.parquet", table(time_s=[1.0], flow=["forward[0]"])),
        ("flow_series.parquet", table(**SERIES | {"window": ["wide"]})),
        ("flow_series.parquet", table(**SERIES | {"time_s": [None]})),
        ("flow_series.parquet", table(**SERIES | {"flow": ["stranger"]})),
        ("limits.parquet", table(time_s=[1.0], flow=["forward[0]"])),
        (".longfat.json", b'{"longfat": "a run", "files": {"../../secret": "0"}}'),
    ],
)
def test_a_run_that_holds_something_else_is_refused(
    name: str, content: bytes, run_folder: Path
) -> None:
    (run_folder / name).write_bytes(content)
    with pytest.raises(ResultError, match=re.escape(str(run_folder))):
        report(run_folder)


def test_a_study_without_results_is_refused(own_folder: Path) -> None:
    (own_folder / "study").mkdir()
    shutil.copy(ROOT / "studies/controllers.toml", own_folder / "study/study.toml")
    with pytest.raises(ResultError, match=r"`rows\.parquet` is missing"):
        report("study")


def test_only_pages_are_replaced(run_folder: Path, own_folder: Path) -> None:
    mine = own_folder / "mine.html"
    mine.write_text("<h1>mine</h1>", "utf-8")
    with pytest.raises(ResultError, match="is no page of longfat"):
        report(run_folder, mine)
    assert mine.read_text("utf-8") == "<h1>mine</h1>"
    report(run_folder, own_folder / "page.html")
    report(run_folder, own_folder / "page.html")
    with pytest.raises(ResultError, match="is a folder"):
        report(run_folder, own_folder)


def test_queues_of_different_buffers_are_compared_in_packets(own_folder: Path) -> None:
    """A full queue of 17 packets and one of 167 are both 100 % at the 99th percentile."""
    buffers = ("1 bdp", "10 bdp", "20 kB")
    folders = [
        package.run(SMALL, set={"link.bottleneck.buffer": each}).save(own_folder / str(at))
        for at, each in enumerate(buffers)
    ]
    rows = {row[1]: row[2:] for row in reversed(read_runs(folders).links.rows)}
    port = json.loads((folders[1] / "summary.json").read_text("utf-8"))["links"]["bottleneck"][
        "forward"
    ]
    small, large, bytes_ = rows["queue, p99 length"]
    assert small in ("16 packets", "17 packets")
    assert large == f"{round(167 * port['queue_p99'])} packets"
    assert bytes_.endswith(" kB")
    assert 17 < float(bytes_.removesuffix(" kB")) <= 20
    alike = read_runs([folders[0], folders[0]]).links.rows
    assert not any("length" in row[1] for row in alike)


def test_percentiles_of_delay_are_compared_where_a_run_has_them(own_folder: Path) -> None:
    folders = [
        package.run(SMALL, set={"delay_percentiles": told}).save(own_folder / f"{told}")
        for told in (False, True)
    ]
    rows = {row[1]: row[2:] for row in read_runs(folders).flows.rows}
    flows = SavedRun(folders[1]).summary["flows"]
    mean = sum(flow["queueing_delay_p90_s"] for flow in flows) / len(flows)
    without, with_ = rows["queueing, p90"]
    assert without.strip() == "–"
    assert float(with_.removesuffix(" ms")) == pytest.approx(1e3 * mean, rel=0.01)
    assert not any("p90" in row[1] for row in read_runs(folders[:1] * 2).flows.rows)


@pytest.mark.parametrize("name", ["small", "cellular", "parking-lot", "browsers", "cake-hosts"])
def test_settings_are_read_from_the_averages_as_the_scenario_has_them(
    name: str, own_folder: Path
) -> None:
    source = SMALL if name == "small" else ROOT / f"scenarios/{name}.toml"
    folder = package.run(source, set={"duration": "12 s", "warmup": "1 s"}).save(own_folder / "run")
    written = tomllib.loads((folder / "scenario.toml").read_text("utf-8"))
    told = SavedRun(folder).summary["scenario"]
    assert {key: each for key, each in told.items() if each != []} == written
    settings = read_runs([folder, folder]).set_to[0]
    assert settings["duration"] == "12 s"
    assert {key.split(".")[0] for key in settings} == set(written)


def test_a_link_that_follows_a_trace_is_told_by_its_mean(own_folder: Path) -> None:
    for name in ("cellular.toml", "cellular.trace"):
        shutil.copy(ROOT / "scenarios" / name, own_folder)
    run = package.run(own_folder / "cellular.toml", set={"duration": "12 s"})
    assert headline("cell", run.summary)[0] == (
        "cell: 1 × cubic on 8.8 Mbit/s on average, by a trace, round trip 50 ms"
    )


def test_one_run_is_not_compared(run_folder: Path, longfat: Command) -> None:
    with pytest.raises(ResultError, match="name two runs or more"):
        compare([run_folder])
    done = longfat("compare", run_folder, "runs/other")
    assert done.returncode == 2
    assert done.stderr.startswith("error: runs/other does not exist")


# Evaluations


def test_the_report_of_an_evaluation_counts_each_kind_of_verdict_apart(evaluated: Path) -> None:
    text = write_evaluation(evaluated).read_text("utf-8")
    assert "exp meets it in 1 of 3 cells, fails in 1 and is undecided in 1." in text
    assert "It does worse than reno in 2 of 10 cells, than cubic in 2 of 10 cells" in text
    page = Parsed(text)
    cells = {
        str(each["id"]): str(each["data-kinds"]).split() for each in page.attributes("article")
    }
    assert len(cells) == 14
    assert cells["cell/loss/20-percent"] == ["judged-fail", "compared-worse"]
    assert cells["cell/loss/burst"] == ["judged-undecided"]
    assert cells["cell/fluid/equilibrium"] == ["evidence"]
    assert cells["cell/range/1Mbit-100ms-1bdp"] == [
        "compared-as-good",
        "compared-worse",
        "compared-mixed",
    ]
    links = {str(each["href"]).replace("%20", " ") for each in page.attributes("a")}
    assert {f"#{place}" for place in cells} <= links
    assert "Multipath" in text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": "longfat evaluation 9"}, "has the format"),
        ({"cells": "none"}, "cannot be understood"),
        ({"cells": [{"id": "a/b"}]}, "cells[0]"),
    ],
)
def test_an_evaluation_that_is_none_is_refused(
    change: dict[str, Any], told: str, evaluated: Path
) -> None:
    (evaluated / "evaluate.json").write_text(json.dumps(evaluation() | change), "utf-8")
    with pytest.raises(ResultError, match=re.escape(told)):
        report(evaluated)
    assert not (evaluated / "report.html").exists()


def test_an_evaluation_names_no_files_elsewhere(evaluated: Path) -> None:
    content = evaluation()
    content["cells"][0]["scenario"] = "../../../secret.toml"
    (evaluated / "evaluate.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(ResultError, match="lies elsewhere"):
        write_evaluation(evaluated)


def test_an_evaluation_without_a_scenario_is_only_a_part(evaluated: Path) -> None:
    (evaluated / "scenarios/loss-burst.toml").unlink()
    with pytest.raises(
        ResultError, match=r"only a part of an evaluation: `scenarios/loss-burst\.toml`"
    ):
        write_evaluation(evaluated)


def test_the_report_goes_into_the_folder_once_and_beside_it_afterwards(evaluated: Path) -> None:
    """The folder keeps what its manifest lists: another evaluation may replace it."""
    written = write_evaluation(evaluated)
    again = report(evaluated)
    assert (written, again) == (
        evaluated / "report.html",
        evaluated.parent / f"{evaluated.name}.html",
    )
    assert again.read_bytes() == written.read_bytes()


def test_lines_that_make_no_sense_are_refused(evaluated: Path) -> None:
    for line, told in (
        ({"name": "a", "t": [0, 1], "v": [1]}, "2 times and 1 values"),
        ({"name": "a", "t": [1, 0], "v": [1, 1]}, "do not ascend"),
    ):
        content = evaluation()
        content["cells"][2]["charts"][1]["series"] = [line]
        (evaluated / "evaluate.json").write_text(json.dumps(content), "utf-8")
        with pytest.raises(ResultError, match=f"cell range/1Mbit-100ms-10bdp, chart queue.*{told}"):
            write_evaluation(evaluated)


def test_a_saved_run_stays_where_it_is(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package.run(small).save("run")
    kept = SavedRun("run")
    other = small.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    package.run(small, set={"duration": "3 s", "sample": "1 s"}).save("run")
    assert kept.table("flow_series")["time_s"].max() == 4.0
