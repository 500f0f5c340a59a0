from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

from longfat.errors import RoomError
from longfat.paper._claims import read_claims, read_deviations
from longfat.paper._commit import readme, write_readme
from longfat.paper._room import Experiment, Room, rooms
from longfat.paper.plots import envelope, grid, head, shows, times
from longfat.study import Plan, Sweep
from paper_support import CLAIMS, FIGURE, edit, in_process, make_room
from support import ENDLESS, Command


@pytest.fixture
def longfat(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


@pytest.fixture
def room(own_folder: Path) -> Path:
    return make_room(own_folder / "papers")


def remake(longfat: Command, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = longfat("paper", "links", "--json", *arguments)
    assert done.returncode == code, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return content


@pytest.mark.usefixtures("room")
def test_every_kind_of_verdict(longfat: Command) -> None:
    content = remake(longfat)
    found = {claim["id"]: claim for claim in content["claims"]}
    assert {name: (claim["verdict"], claim["decided"]) for name, claim in found.items()} == {
        "figure-1/used": ("reproduced", True),
        "figure-1/empty": ("differs", True),
        "figure-1/noisy": ("reproduced", False),
        "figure-1/large": ("not testable", None),
        "figure-1/gone": ("not testable", None),
        "theory/third": ("reproduced", True),
        "weeks": ("not testable", None),
    }
    assert found["figure-1/empty"]["reason"] == (
        "They do not: 99.9 ± 0.1 % are used, 100.0 % with CUBIC on 10 Mbit/s."
    )
    assert found["figure-1/large"]["reason"] == "needs the full scale"
    assert found["figure-1/gone"]["reason"] == "it never happened"
    assert found["theory/third"]["interval"] is None
    assert found["theory/third"]["seeds"] is None
    noisy = found["figure-1/noisy"]
    # Student's t for two degrees of freedom: 4.303 times a standard deviation of 1, over the root of 3.
    assert noisy["interval"] == pytest.approx([-2.484, 2.484], abs=1e-3)
    assert noisy["reason"] == "undecided with 3 seeds: the interval crosses -0.50 and 0.50"
    assert noisy["seeds"] == 3


def test_it_is_told_how_many_seeds_would_decide(room: Path, longfat: Command) -> None:
    # -1, 0 and 1 have 0 ± 2.48, which crosses ± 0.5: it takes (2.48/0.5)² times as many seeds.
    done = longfat("paper", "links")
    assert "if their means stay: figure-1/noisy 75\n" in done.stdout
    edit(room / "claims.toml", "between = [-0.5, 0.5]", "at_least = 0.0")
    assert "if their means stay" not in longfat("paper", "links").stdout


@pytest.mark.usefixtures("room")
def test_the_folder_has_verdicts_data_and_pictures(longfat: Command) -> None:
    content = remake(longfat)
    folder = Path("runs/paper-links-quick")
    names = sorted(path.name for path in folder.iterdir())
    assert names == [".longfat.json", *content["files"]]
    assert names == [
        ".longfat.json",
        "claims.json",
        "figure-1.csv",
        "figure-1.parquet",
        "figure-1.png",
        "figure-1.svg",
        "table.md",
        "theory-one.png",
        "theory-one.svg",
        "theory-two.png",
        "theory-two.svg",
        "theory.csv",
        "theory.parquet",
    ]
    assert json.loads((folder / "claims.json").read_text("utf-8")) == content
    rows = pl.read_parquet(folder / "figure-1.parquet")
    assert rows.columns == ["control", "rate", "seed", "utilisation"]
    assert rows["seed"].to_list() == [1, 2, 3, 1, 2, 3]
    means = pl.read_csv(folder / "figure-1.csv")
    assert means["utilisation_n"].to_list() == [3, 3]
    assert means["utilisation"][0] == pytest.approx(rows["utilisation"][:3].mean())
    assert pl.read_csv(folder / "theory.csv").height == 1 + 3


@pytest.mark.usefixtures("room")
def test_the_same_again_but_for_what_it_cost(longfat: Command) -> None:
    first = remake(longfat)
    again = remake(longfat, "--fresh", "--workers", "1")
    known = remake(longfat)
    engines = [content.pop("engine") for content in (first, again, known)]
    assert first == again == known
    # Three seeds of two controllers; the run of the other figure is one of them.
    assert [engine["runs"] for engine in engines] == [6, 6, 6]
    assert [engine["known"] for engine in engines] == [0, 0, 6]
    assert len({engine["data_packets"] for engine in engines}) == 1


@pytest.mark.usefixtures("room")
def test_one_figure_judges_its_claims_only(longfat: Command) -> None:
    content = remake(longfat, "--figure", "theory", "--out", "only")
    assert [claim["id"] for claim in content["claims"]] == ["theory/third"]
    assert content["engine"]["runs"] == 1
    assert Path("only/theory-one.png").exists()
    done = longfat("paper", "links", "--figure", "theroy")
    assert done.returncode == 2
    assert "did you mean theory?" in done.stderr


def test_the_committed_verdict_is_the_one_to_meet(room: Path, longfat: Command) -> None:
    remake(longfat, "--commit")
    committed = json.loads((room / "results/quick.json").read_text("utf-8"))
    assert len(committed["claims"]) == 7
    assert committed["figures"]["figure-1"]["runs"] == 6
    assert (room / "results/figure-1.svg").exists()
    assert longfat("paper", "links", "--quiet").returncode == 0
    edit(room / "claims.toml", "at_least = 0.5", "at_least = 1.5")
    done = longfat("paper", "links", "--quiet")
    assert done.returncode == 1
    _, moved = done.stderr.splitlines()
    assert moved == "links: figure-1/used is now `differs`, but `reproduced` is committed"
    assert longfat("paper", "links", "--quiet", "--figure", "theory").returncode == 0
    remake(longfat, "--commit", "--figure", "figure-1")
    merged = json.loads((room / "results/quick.json").read_text("utf-8"))
    assert [claim["verdict"] for claim in merged["claims"]][:2] == ["differs", "differs"]
    assert len(merged["claims"]) == 7


def test_nothing_committed_is_no_failure(room: Path, longfat: Command) -> None:
    done = longfat("paper", "links")
    assert done.returncode == 0
    assert "nothing is committed at quick scale" in done.stdout
    assert not (room / "results").exists()


def test_a_requirement_must_hold_whatever_is_committed(room: Path, longfat: Command) -> None:
    edit(room / "theory.py", "return of / 3", "return of / 2")
    remake(longfat, "--commit", code=1)
    done = longfat("paper", "links", "--quiet")
    assert done.returncode == 1
    assert "requirement theory/third does not hold: 1.50, expected 1.00" in done.stderr


def test_the_readme_keeps_what_people_wrote(room: Path, longfat: Command) -> None:
    remake(longfat, "--commit")
    path = room / "README.md"
    text = path.read_text("utf-8")
    assert "![Utilisation](results/figure-1.svg)" in text
    assert "Says nothing \\| at all." in text
    path.write_text(
        text.replace("<!-- made: theory -->", "Mine.\n\n<!-- made: theory -->"), "utf-8"
    )
    edit(room / "deviations.toml", "To have intervals.", "For intervals.")
    write_readme(Room(room))
    text = path.read_text("utf-8")
    assert "Mine.\n\n<!-- made: theory -->" in text
    assert "For intervals." in text
    assert readme(Room(room)) == text


def test_full_results_are_shown_in_place_of_quick_ones(room: Path, longfat: Command) -> None:
    edit(
        room / "figure_1.py",
        "return {\n",
        'return ({"figure-1/large": 0.9} if LARGE else {}) | {\n',
    )
    edit(room / "figure_1.py", "def points(scale):", "LARGE = True\n\n\ndef points(scale):")
    remake(longfat, "--commit", "--scale", "full")
    edit(room / "figure_1.py", "LARGE = True", "LARGE = False")
    picture = (room / "results/figure-1.svg").read_bytes()
    assert b"full scale" in picture
    remake(longfat, "--commit")
    assert (room / "results/figure-1.svg").read_bytes() == picture
    assert "Full scale, 6 runs" in (room / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        ("at_least = 0.5", "at_laest = 1", "at_laest", "not a key here; did you mean `at_least`?"),
        ("at_least = 0.5", 'at_least = "a"', "at_least", "Expected `float | null`, got `str`"),
        ("at_least = 0.5", "at_least = 0\nat_most = 1", "at_most", "`at_least` and `at_most`"),
        ("at_least = 0.5", "tolerance = 7", "tolerance = 7", "`tolerance` belongs to `equals`"),
        ("tolerance = 0.1\n", "", "equals = 0.9", "needs either `tolerance` or"),
        ("tolerance = 0.1", "tolerance = -1", "tolerance = -1", "`tolerance` is negative"),
        ("tolerance = 0.1", "tolerance = inf", "tolerance = inf", "`tolerance` is inf, which"),
        ("at_least = 0.5", "at_least = nan", "at_least", "`at_least` is nan, which is no number"),
        ("paper_value = 0.9", "paper_value = nan", "paper_value", "`paper_value` is nan"),
        ("[-0.5, 0.5]", "[-inf, 0.5]", "between", "`between` is -inf"),
        ("relative_tolerance = 1e-9", "tolerance = 1.7e308", "equals", "larger than any number"),
        (
            "[-0.5, 0.5]",
            "[0.5, -0.5]",
            "between",
            "the first number of `between` is larger than the second",
        ),
        (
            'because = "half is more than nothing"\n',
            "",
            'id = "figure-1/used"',
            "`because` is missing",
        ),
        ('claim = "Two flows use the link."\n', "", "[[claim]]", "`claim` is missing"),
        ('"figure-1/empty"', '"figure-1/used"', 'id = "figure-1/used"', "already has this id"),
        ('"figure-1/used"', '"Figure 1"', 'id = "Figure 1"', "`Figure 1` is not an id"),
        ('venue = "Proceedings"\n', "", "[paper]", "`venue` is missing"),
        ("year = 2001", "yaer = 2001", "yaer", "not a key here; did you mean `year`?"),
        ('quick = "needs', 'quikc = "needs', "untestable.quikc", "Invalid enum value 'quikc'"),
        (
            'untestable.full = "not our weeks"',
            "at_least = 1.0",
            'id = "weeks"',
            "`figure` is missing",
        ),
    ],
)
def test_a_wrong_claim_is_refused_with_its_line(
    room: Path, old: str, new: str, place: str, says: str
) -> None:
    path = room / "claims.toml"
    edit(path, old, new)
    with pytest.raises(RoomError) as error:
        read_claims(path)
    name, line, reason = str(error.value).splitlines()[0].split(":", 2)
    assert name == str(path)
    assert says in reason
    assert path.read_text("utf-8").splitlines()[int(line) - 1].startswith(place)


def test_all_wrong_claims_are_told_at_once(room: Path, longfat: Command) -> None:
    edit(room / "claims.toml", "at_least", "at_laest")
    done = longfat("paper", "links")
    assert done.returncode == 2
    assert done.stderr.count("did you mean `at_least`?") == 2
    bad = room / "deviations.toml"
    bad.write_text('[[deviation]]\nwhi = "x"\nid = "a"\n', "utf-8")
    with pytest.raises(RoomError, match=r"deviations.toml:2: .*`whi` is not a key here"):
        read_deviations(bad)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            '"figure-1/gone": Untestable("it never happened"),',
            "",
            "it does not answer its claim `figure-1/gone`",
        ),
        (
            '"figure-1/gone"',
            '"figure-1/gnoe"',
            "it answers `figure-1/gnoe`, which is not a claim of figure-1",
        ),
        ("def draw", "def drow", "it has FIGURE but no function `draw`"),
        ("plots.grid(", "plots.gird(", "`draw` failed: AttributeError"),
        ('"figure-1", "Utilisation"', '"figure-3", "Utilisation"', "there is no figure `figure-1`"),
        ('"link.toml"', '"lnik.toml"', "lnik.toml: no such file"),
        ("import Experiment", "import Experimnt", "it cannot be loaded: ImportError"),
        ('"rate": 1e7}', '"rate": 1e7} if control == "reno" else {}', "must have the same labels"),
    ],
)
def test_a_wrong_module_is_refused(
    room: Path, longfat: Command, old: str, new: str, says: str
) -> None:
    edit(room / "figure_1.py", old, new)
    done = longfat("paper", "links")
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert not Path("runs").exists()


def test_a_run_that_cannot_be_measured_is_named(room: Path, longfat: Command) -> None:
    edit(room / "figure_1.py", '.link()["utilisation"]', '.link("botleneck")["utilisation"]')
    done = longfat("paper", "links")
    assert done.returncode == 1
    assert "links, figure-1, control = " in done.stderr
    assert "cannot be measured: KeyError: 'botleneck' (figure_1.py:13)" in done.stderr
    assert not Path("runs").exists()


def test_ctrl_c_leaves_nothing_and_the_next_goes_on(room: Path, own_folder: Path) -> None:
    (room / "endless.toml").write_text(ENDLESS, "utf-8")
    edit(room / "theory.py", 'Point("link.toml"', 'Point("endless.toml"')
    before = sorted(own_folder.rglob("*"))
    with subprocess.Popen(
        [sys.executable, "-m", "longfat", "paper", "links", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 20
        cache = own_folder.parent / "cache"
        while finished(cache) < 6:
            if time.monotonic() > deadline:
                process.kill()
                pytest.fail("the short runs did not end")
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.splitlines()[-1]) == (130, "", "interrupted")
    assert sorted(own_folder.rglob("*")) == before
    edit(room / "theory.py", 'Point("endless.toml"', 'Point("link.toml"')
    # The sixth was kept without the series that is wanted now.
    assert Plan(sweeps(room)).known == 5


def finished(cache: Path) -> int:
    """How many runs are in the cache; a folder may become an entry while it is being inspected."""
    try:
        return len(list(cache.rglob("summary.json")))
    except FileNotFoundError:
        return 0


def sweeps(room: Path) -> list[Sweep]:
    modules = Room(room).modules.values()
    return [
        Sweep(each.about.id, list(each.points("quick")), each.measure, room) for each in modules
    ]


def test_rooms_here_stand_beside_those_of_the_package(own_folder: Path, longfat: Command) -> None:
    built_in = [room.slug for room in rooms()]
    assert "exp-tcp" in built_in
    make_room(own_folder / "papers")
    make_room(own_folder / "papers", "exp-tcp")
    listed = json.loads(longfat("list", "papers", "--json").stdout)["papers"]
    assert [each["slug"] for each in listed] == sorted([*built_in, "links"])
    links = next(each for each in listed if each["slug"] == "links")
    assert links["figures"] == ["figure-1", "theory"]
    assert all(each["title"] != "On Links" for each in listed if each["slug"] == "exp-tcp")
    # By its name the room of the package, by its path the one here.
    plans = [longfat("paper", name, "--plan") for name in ("exp-tcp", "./papers/exp-tcp")]
    assert [done.returncode for done in plans] == [0, 0]
    assert ["did not come with longfat" in done.stderr for done in plans] == [False, True]
    assert plans[1].stdout.startswith("7 runs, 0 already in the cache\n")
    done = longfat("paper", "lniks")
    assert done.returncode == 2
    assert "did you mean links?" in done.stderr


def test_all_papers_go_in_one(own_folder: Path, longfat: Command) -> None:
    make_room(own_folder / "papers")
    make_room(own_folder / "papers", "more-links")
    done = longfat("paper", "papers", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert [each["paper"] for each in json.loads(done.stdout)] == ["links", "more-links"]
    assert json.loads(done.stdout)[1]["engine"]["runs"] == 6
    assert Path("out/paper-more-links-quick/claims.json").exists()


@pytest.mark.usefixtures("room")
def test_the_plan_runs_nothing(longfat: Command) -> None:
    done = longfat("paper", "links", "--plan", "--workers", "2")
    assert done.returncode == 0
    assert done.stdout.startswith("7 runs, 0 already in the cache\n")
    assert not Path("runs").exists()


def test_the_envelope_keeps_the_extremes() -> None:
    import numpy as np

    values = np.sin(np.arange(100_000.0))
    values[54_321] = 7.0
    values[99] = -7.0
    kept = envelope(values, 400)
    assert len(kept) <= 402
    assert {0, 99, 54_321, 99_999} <= set(kept.tolist())


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ([], "link · Figure 2 · quick scale"),
        ([1, 1], "link · Figure 2 · quick scale · 1 seed"),
        ([5, 5], "link · Figure 2 · quick scale · mean of 5 seeds with its 95 % interval"),
        ([5, 60], "link · Figure 2 · quick scale · mean of 5 to 60 seeds with its 95 % interval"),
    ],
)
def test_a_picture_tells_its_seeds(seeds: list[int], told: str) -> None:
    figure = Figure()
    head(figure, Experiment("figure-2", "Title", "Question?"), "link", "quick", seeds)
    title, *lines = [text.get_text() for text in figure.texts]
    assert (title, " ".join(lines)) == ("Title", told)


def test_a_picture_of_one_run_does_not_say_that_it_is_a_mean() -> None:
    figure = Figure()
    shows(figure, "one run")
    experiment = Experiment("figure-2", "Title", "Question?")
    head(figure, experiment, "link", "quick", [5, 5], changes="link.a.loss = 0.1")
    told = "link · Figure 2 · quick scale · one run · changed: link.a.loss = 0.1"
    assert figure.texts[1].get_text() == told


def test_times_that_were_not_reached_are_drawn_as_such() -> None:
    """Seeds that never got there are in no mean: it says of how many it is, or points beyond the end."""
    rows = pl.DataFrame(
        {
            "control": ["reno"] * 6,
            "rate": [1.0] * 2 + [10.0] * 2 + [100.0] * 2,
            "seed": [1, 2] * 3,
            "time_s": [3.0, 5.0, None, 7.0, None, None],
        }
    )
    figure, axes = grid()
    times(axes[0, 0], rows, x="rate", y="time_s", end=60.0, log=True)
    told = {text.get_text(): text.xy for text in axes[0, 0].texts}
    assert told == {"1 of 2": (10.0, 7.0), "never": (100.0, 60.0)}
    means = axes[0, 0].containers[0].lines[0].get_ydata()
    assert means[:2].tolist() == [4.0, 7.0]
    assert figure.axes


def test_the_made_up_room_is_right(room: Path) -> None:
    assert [claim.id for claim in Room(room).claims] == [
        line.split('"')[1] for line in CLAIMS.splitlines() if line.startswith("id =")
    ]
    assert "figure-1/large" not in FIGURE
