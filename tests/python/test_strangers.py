"""Files that strangers wrote: nothing in them is obeyed, and none of their code is run unasked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import longfat as package
from longfat.foreign import json_text, read_text
from longfat.paper._files import cell
from paper_support import CLAIMS, FIGURE, make_room
from support import SMALL

if TYPE_CHECKING:
    from support import Command

ESCAPES = [
    "\x1b]0;owned\x07",
    "\x1b[2J",
    "\x9b31m",
    "\u2028",
    "\u202e",
    "\u200b",
    "\x08",
    "\U000e0041",
]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]")

TRAP = (
    "from pathlib import Path\nPath('/tmp').joinpath\nPath(__file__).with_suffix('.ran').touch()\n"
)


def ran(folder: Path) -> list[Path]:
    return list(folder.rglob("*.ran"))


@pytest.mark.parametrize(
    "arguments", [("list",), ("paper", "exp-tcp", "--plan"), ("list", "papers", "--json")]
)
def test_no_code_is_run_unasked(
    longfat: Command, own_folder: Path, arguments: tuple[str, ...]
) -> None:
    room = make_room(own_folder / "papers")
    for name in ("figure_1.py", "json.py", "polars.py"):
        (room / name).write_text(TRAP)
    done = longfat(*arguments)
    assert done.returncode == 0, done.stderr
    assert ran(own_folder) == []


def test_a_room_that_did_not_come_with_longfat_is_announced(
    longfat: Command, own_folder: Path
) -> None:
    make_room(own_folder / "mine")
    done = longfat("paper", "mine/links", "--plan")
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "links did not come with longfat; running its code: mine/links/figure_1.py, mine/links/shared.py, "
        "mine/links/theory.py\n"
    )
    assert longfat("paper", "exp-tcp", "--plan").stderr == ""


@pytest.mark.parametrize("name", ["json", "polars", "longfat", "sitecustomize"])
def test_a_file_of_a_room_hides_no_other_module(
    longfat: Command, own_folder: Path, name: str
) -> None:
    room = make_room(own_folder / "papers")
    (room / f"{name}.py").write_text(TRAP)
    done = longfat("paper", "links", "--plan")
    if name == "sitecustomize":  # not installed here: a name like any other
        return
    assert done.returncode == 2
    assert f"`{name}` is the name of another module" in done.stderr
    assert ran(own_folder) == []


def test_a_broken_room_does_not_hide_the_others(longfat: Command, own_folder: Path) -> None:
    room = make_room(own_folder / "papers")
    (room / "claims.toml").write_bytes(b"\xff")
    done = longfat("list", "papers")
    assert done.returncode == 0
    assert done.stderr == "warning: papers/links/claims.toml: byte 0 is not UTF-8 text\n"
    assert "exp-tcp" in done.stdout


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize(
    "scenario",
    [
        SMALL.replace("[link.bottleneck]", '[link."NAME"]'),
        SMALL.replace('name = "forward"', 'name = "NAME"'),
        SMALL.replace('["bottleneck"]', '["NAME"]'),
        SMALL.replace("warmup", '"NAME" = 1\nwarmup'),
        SMALL.replace('"reno"', '"NAME"'),
        SMALL.replace('"reno"', '"rno" # NAME'),
        SMALL.replace('"10 Mbit/s"', '"10 NAME"'),
    ],
    ids=["link", "flow", "path", "key", "control", "comment", "unit"],
)
def test_messages_are_safe_to_show(escape: str, scenario: str) -> None:
    for written in (escape, escape.encode("unicode_escape").decode().replace("\\x", "\\u00")):
        with pytest.raises(package.ScenarioError) as raised:
            package.run(scenario.replace("NAME", f"a{written}b"))
        assert not OBEYED.search(str(raised.value)), repr(str(raised.value))


def test_overrides_and_names_of_files_are_safe_to_show(longfat: Command, small: Path) -> None:
    escape = "".join(ESCAPES)
    for arguments in (
        ("run", small, "--set", f"link.{escape}.rate=1"),
        ("run", small, "--set", f"flow.forward.control={escape}"),
        ("run", f"{escape}.toml"),
        ("run", small, "--out", f"/dev/null/{escape}"),
        (f"{escape}",),
        ("paper", escape),
        ("try", "--rate", escape, "--rtt", "1ms"),
    ):
        done = longfat(*arguments)
        assert done.returncode == 2
        assert not OBEYED.search(done.stderr), repr(done.stderr)
    named = small.with_name(f"a{escape}.toml")
    small.rename(named)
    done = longfat("run", named)
    assert done.returncode == 0
    assert not OBEYED.search(done.stdout), repr(done.stdout)


def test_titles_and_comments_are_safe_to_show(longfat: Command, own_folder: Path) -> None:
    evil = "".join(ESCAPES)
    room = make_room(own_folder / "papers")
    text = CLAIMS.replace(
        "On Links", "On Links" + json.dumps(evil)[1:-1].replace("\\udb40\\udc41", "")
    )
    (room / "claims.toml").write_text(text)
    scenarios = own_folder / "scenarios"
    scenarios.mkdir()
    (scenarios / "one.toml").write_text(f"# Evil{evil}?\n" + SMALL)
    for arguments in (("list",), ("list", "--json")):
        done = longfat(*arguments)
        assert "Evil" in done.stdout
        assert "On Links" in done.stdout
        assert not OBEYED.search(done.stdout), repr(done.stdout)


def test_json_says_the_same_in_safe_words() -> None:
    value = {"a\x9b": ["\u2028\u202e", "plain é"], "b": "\U000e0041"}
    text = json_text(value)
    assert json.loads(text) == value
    assert not OBEYED.search(text)
    assert "plain é" in text


def test_markdown_has_no_tags_of_strangers() -> None:
    assert (
        cell("a < b | <img src=x onerror=y>\n<br>") == "a < b \\| &lt;img src=x onerror=y> &lt;br>"
    )
    assert cell("[x](javascript:y)") == r"[x]\(javascript:y)"


@pytest.mark.parametrize(
    "stem", ["$x$", "$x_{$", "a$", "<script>x</script>", "a&b", "--", "a\x1bb", "\x01"]
)
def test_any_name_can_be_drawn(small: Path, stem: str) -> None:
    named = small.with_name("odd.toml")
    small.rename(named)
    run = package.run(named)
    run.name = stem
    run.plot("odd.svg")
    ET.parse("odd.svg")  # noqa: S314 - we have just written it
    assert "<script" not in Path("odd.svg").read_text("utf-8")


def test_a_name_that_is_no_text_is_a_name(longfat: Command, small: Path) -> None:
    named = os.fsencode(small.parent) + b"/\xff.toml"
    small.rename(os.fsdecode(named))
    done = longfat("run", os.fsdecode(named), "--plot")
    assert done.returncode == 0, done.stderr
    assert r"results in runs/\udcff-1" in done.stdout
    assert b"runs/\xff-1" in [path for path, *_ in os.walk(b"runs")]
    assert (
        longfat("run", os.fsdecode(named), "--set", "flow.forward.control=\udcff").returncode == 2
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
@pytest.mark.parametrize("arguments", ["list", "list --json", "run small.toml"])
@pytest.mark.usefixtures("small")
def test_closed_streams_are_no_fault(closed: str, arguments: str) -> None:
    command = f"{sys.executable} -m longfat {arguments} {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    command = f"{sys.executable} -m longfat list | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "/dev/zero"), "/dev/zero is not a scenario file: it is longer than 80 MB"),
        (("fluid", "/dev/zero"), "/dev/zero is not a scenario file: it is longer than 80 MB"),
        (("run", "long.toml"), "this is too long for a scenario"),
        (("run", "deep.toml"), "max recursion depth"),
        (("run", "dots.toml"), "recursion limit"),
        (("run", "folder"), "folder is a folder"),
        (
            ("run", "small.toml", "--set", "a." * 50_000 + "b=1"),
            "no value lies deeper than 16",
        ),
        (("run", "small.toml", "--set", f"{'a' * 60_000}=1"), "a" * 40 + "..."),
        (("paper", "long"), "long/claims.toml: it is longer than 16 MB"),
        (("paper", "deep"), "deep/claims.toml: it is nested too deeply"),
    ],
)
@pytest.mark.usefixtures("small")
def test_input_without_bounds_is_refused(
    longfat: Command, arguments: tuple[str, ...], told: str
) -> None:
    Path("long.toml").write_bytes(b"#" * 20_000_000)
    Path("deep.toml").write_bytes(b"a=" + b"[" * 1_000_000)
    Path("dots.toml").write_bytes(b"a." * 500_000 + b"a=1")
    Path("folder").mkdir()
    for name in ("long", "deep"):
        Path(name).mkdir()
        Path(f"{name}.toml").rename(f"{name}/claims.toml") if arguments[0] == "paper" else None
    done = longfat(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def small_as_dictionary() -> dict[str, Any]:
    flow = {"name": "forward", "control": "reno", "path": ["b"], "rtt": "20 ms"}
    return {
        "duration": "1 s",
        "link": {"b": {"rate": "10 Mbit/s", "delay": "5 ms"}},
        "flow": [flow],
    }


def test_numbers_of_numpy_are_numbers() -> None:
    scenario = small_as_dictionary()
    scenario["link"]["b"]["loss"] = np.float64(0.5)
    scenario["flow"][0] |= {
        "count": np.int64(2),
        "ecn": np.bool_(0),
        "rtt": np.array(["20 ms", "30 ms"]),
    }
    run = package.run(
        scenario, seed=np.int64(3), set={"link.b.loss": np.float32(0.25), "warmup": "0 s"}
    )
    assert run.summary["seed"] == 3
    assert run.summary["scenario"]["link"]["b"]["loss"] == 0.25
    assert len(run.summary["flows"]) == 2


def cyclic() -> dict[str, Any]:
    scenario = small_as_dictionary()
    scenario["link"]["again"] = scenario["link"]
    return scenario


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"source": cyclic()}, "holds itself"),
        ({"source": small_as_dictionary(), "set": {"flow": [cyclic()]}}, "holds itself"),
        ({"source": small_as_dictionary() | {"seed": None}}, "`None` is neither"),
        ({"source": small_as_dictionary(), "seed": -1}, "the seed is -1, not"),
        ({"source": small_as_dictionary(), "seed": 2**63}, "not a whole number from 0"),
        ({"source": "a\0b"}, "null byte"),
        ({"source": SMALL + "# \ud800"}, "is not Unicode text"),
        ({"source": SMALL, "set": ["a=\udcff"]}, "is not Unicode text"),
        ({"source": "#" * 20_000_000 + "\n"}, "too long for a scenario"),
        ({"source": SMALL.replace('"4 s"', '"1_0 s"')}, "is not a number"),
        ({"source": SMALL + 'initial_threshold = "0 B"\n'}, "must be larger than zero"),
    ],
)
def test_what_python_can_hand_over_is_refused_in_words(
    arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(package.ScenarioError, match=told):
        package.run(**arguments)


def test_a_text_is_read_from_a_pipe(longfat: Command) -> None:
    assert longfat("run", "/dev/stdin", "--quiet", input=SMALL).returncode == 0
    assert read_text(Path("runs/stdin-1/scenario.toml")).startswith("# longfat ")


def test_a_room_is_drawn_without_formulas(longfat: Command, own_folder: Path) -> None:
    room = make_room(own_folder / "papers")
    (room / "figure_1.py").write_text(FIGURE.replace('"Utilisation"', '"cost: $x_{$ <b>"'))
    done = longfat("paper", "links", "--figure", "figure-1", "--quiet")
    assert done.returncode == 0, done.stderr


def _follow(folder: Path, trace: str, name: str = "x.toml") -> Path:
    scenario = folder / name
    link = f'[link.a]\ndelay = "1 ms"\ntrace = {json.dumps(trace)}\n'
    flow = '[[flow]]\nname = "f"\ncontrol = "reno"\npath = ["a"]\nrtt = "9 ms"\n'
    scenario.write_text(f'duration = "1 s"\n{link}{flow}')
    return scenario


def test_a_trace_is_read_beside_its_scenario_and_nowhere_else(own_folder: Path) -> None:
    inside = own_folder / "inside"
    (inside / "below").mkdir(parents=True)
    for folder in (own_folder, inside, inside / "below"):
        (folder / "good.trace").write_text("1\n2\n5\n")
    for name in ("good.trace", "below/good.trace", "./good.trace"):
        run = package.run(_follow(inside, name))
        assert run.summary["scenario"]["link"]["a"]["trace"] == {"mahimahi": "1 2 5"}
        # What is kept needs the file no more.
        folder = run.save(own_folder / "kept")
        again = package.run(folder / "scenario.toml")
        assert again.summary["links"] == run.summary["links"]
    (inside / "link.trace").symlink_to(own_folder / "good.trace")
    (inside / "folder").symlink_to(own_folder)
    os.mkfifo(inside / "pipe")
    outside = str(own_folder / "good.trace")
    for name in ("../good.trace", outside, "link.trace", "folder/good.trace"):
        with pytest.raises(package.ScenarioError, match="in the folder of the scenario file"):
            package.run(_follow(inside, name))
    for name, reason in {
        "pipe": "not a file",
        "below": "not a file",
        "missing": "no such file",
        "bad\0name": "cannot be (opened|read)",
    }.items():
        with pytest.raises(package.ScenarioError, match=reason):
            package.run(_follow(inside, name))
    text = _follow(inside, "good.trace").read_text()
    with pytest.raises(package.ScenarioError, match="only a scenario file can name other files"):
        package.run(text)


def test_what_is_no_trace_is_not_shown(own_folder: Path) -> None:
    (own_folder / "secret").write_text("1\n2\npassword\n")
    (own_folder / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(package.ScenarioError) as refused:
        package.run(_follow(own_folder, "secret"))
    assert "secret:3" in str(refused.value)
    assert "password" not in str(refused.value)
    (found,) = refused.value.diagnostics
    assert (found["file"], found["line"], found["override"]) == ("secret", 3, None)
    with pytest.raises(package.ScenarioError, match="is not text"):
        package.run(_follow(own_folder, "bytes"))
