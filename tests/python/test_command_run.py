from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import longfat as package
from support import SMALL, Command

FILES = {
    ".longfat.json",
    "scenario.toml",
    "summary.json",
    "flows.parquet",
    "limits.parquet",
    "links.parquet",
    "transfers.parquet",
    "flow_series.parquet",
    "link_series.parquet",
}


def names(folder: str | Path) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def test_run_prints_a_table_and_writes_a_folder(longfat: Command, small: Path) -> None:
    done = longfat("run", small)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "bottleneck" in done.stdout
    assert "forward[1]" in done.stdout
    assert "× real time" in done.stdout
    assert "runs/small-1" in done.stdout
    assert names("runs/small-1") == FILES


def test_json_is_one_object_and_nothing_else(longfat: Command, small: Path) -> None:
    done = longfat("run", small, "--json", "--seed", 7)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["seed"] == 7
    assert printed == json.loads(Path("runs/small-7/summary.json").read_text("utf-8"))


def test_quiet_says_nothing(longfat: Command, small: Path) -> None:
    done = longfat("run", small, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert names("runs") == {"small-1"}


def test_set_and_out(longfat: Command, small: Path) -> None:
    done = longfat(
        "run", small, "--set", "link.bottleneck.rate=20 Mbit/s", "--out", "deep/er", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scenario"]["link"]["bottleneck"]["rate"] == "20 Mbit/s"
    assert names("deep/er") == FILES


def test_plot_draws_pictures(longfat: Command, small: Path) -> None:
    assert longfat("run", small, "--plot").returncode == 0
    assert names("runs/small-1") == FILES | {"run.png", "run.svg"}
    assert Path("runs/small-1/run.png").read_bytes().startswith(b"\x89PNG")


def test_plain_tcp_for_want_of_anti_ecn_is_told(longfat: Command, small: Path) -> None:
    listening = ("run", small, "--out", "heard", "--set", "flow.forward.control=anti-ecn")
    unaware = longfat(*listening)
    assert "plain TCP: forward\n" in unaware.stdout
    aware = longfat(*listening, "--set", "link.bottleneck.anti_ecn.threshold=0.8")
    assert "AntiECN is in use: forward\n" in aware.stdout
    (first, _) = json.loads(Path("heard/summary.json").read_text("utf-8"))["flows"]
    assert (first["anti_ecn"], first["unaware_link"]) == (True, None)
    assert first["room_rate"] is not None
    assert "AntiECN" not in longfat("run", small).stdout


def test_many_flows_are_summarised(longfat: Command, small: Path) -> None:
    done = longfat("run", small, "--set", "flow.forward.count=9")
    assert "forward × 9, mean" in done.stdout
    assert "least" in done.stdout
    assert "forward[0]" not in done.stdout


def test_an_earlier_run_is_replaced_whole(longfat: Command, small: Path) -> None:
    assert longfat("run", small, "--plot").returncode == 0
    assert longfat("run", small).returncode == 0
    assert names("runs/small-1") == FILES
    assert names("runs") == {"small-1"}


def test_anything_else_is_left_alone(longfat: Command, small: Path) -> None:
    assert longfat("run", small).returncode == 0
    Path("runs/small-1/notes.txt").write_text("mine")
    Path("file").write_text("mine")
    Path("other").mkdir()
    Path("other/letter.txt").write_text("mine")
    for out in ("runs/small-1", "file", "other", "."):
        done = longfat("run", small, "--out", out)
        assert done.returncode == 2, out
        assert "was not replaced" in done.stderr
        assert "Traceback" not in done.stderr
    assert names("runs/small-1") == FILES | {"notes.txt"}
    assert names("other") == {"letter.txt"}
    assert Path("file").read_text() == "mine"


def test_an_empty_folder_may_be_used(longfat: Command, small: Path) -> None:
    Path("empty").mkdir()
    assert longfat("run", small, "--out", "empty").returncode == 0
    assert names("empty") == FILES


def test_a_link_to_an_earlier_run_stays_a_link(longfat: Command, small: Path) -> None:
    assert longfat("run", small).returncode == 0
    Path("latest").symlink_to("runs/small-1")
    assert longfat("run", small, "--out", "latest", "--plot").returncode == 0
    assert Path("latest").is_symlink()
    assert "run.png" in names("runs/small-1")


@pytest.mark.parametrize("out", ["/dev/null/run", "small.toml/run"])
def test_a_place_that_cannot_be_written_is_refused(longfat: Command, small: Path, out: str) -> None:
    done = longfat("run", small, "--out", out)
    assert done.returncode == 2
    assert f"cannot write {out}" in done.stderr
    assert "Traceback" not in done.stderr
    assert names(".") == {"small.toml"}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can write everywhere")
def test_a_folder_without_permission_is_refused(longfat: Command, small: Path) -> None:
    Path("locked").mkdir(mode=0o500)
    done = longfat("run", small, "--out", "locked/run")
    assert done.returncode == 2
    assert "cannot write locked/run" in done.stderr


@pytest.mark.parametrize("limit", [0, 1000])
def test_a_full_disk_leaves_nothing_behind(longfat: Command, small: Path, limit: int) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = longfat("run", small, preexec_fn=no_room)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert names(".") == {"small.toml"}


def test_an_earlier_run_survives_a_full_disk(longfat: Command, small: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    assert longfat("run", small).returncode == 0
    before = Path("runs/small-1/summary.json").read_bytes()
    assert longfat("run", small, preexec_fn=no_room).returncode == 2
    assert Path("runs/small-1/summary.json").read_bytes() == before
    assert names("runs") == {"small-1"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "FILE"),
        (("run", "smal.toml"), "Did you mean small.toml?"),
        (("run", "."), "is a folder"),
        (("run", "small.toml", "--seed", "-1"), "--seed"),
        (("run", "small.toml", "--seed", "first"), "--seed"),
        (("run", "small.toml", "--frobnicate"), "--frobnicate"),
        (("run", "small.toml", "--set", "nonsense"), "nonsense"),
        (("run", "small.toml", "--set", "link.bottlneck.rate=1 Gbit/s"), "bottleneck"),
        (("run", "small.toml", "--set", "link.bottleneck.rate=1"), "unit"),
        (("run", "small.toml", "--set", "flow.forward.control=renoo"), "reno"),
        (("rum", "small.toml"), "rum"),
        (("list", "papers-and-more"), "papers-and-more"),
    ],
)
def test_wrong_input_is_told_in_words(
    longfat: Command, small: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = longfat(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert names(".") == {small.name}


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"\x00", b"duration = ", b"duration = 5", b"[[link]]", b"a" * 100_000],
)
def test_what_is_no_scenario_is_refused(longfat: Command, content: bytes) -> None:
    Path("bad.toml").write_bytes(content)
    done = longfat("run", "bad.toml")
    assert done.returncode == 2
    assert "bad.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert names(".") == {"bad.toml"}


def test_a_reader_that_leaves_early_does_no_harm(small: Path) -> None:
    command = f"{sys.executable} -m longfat run {small} --json | head -c 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout == "{"
    assert done.stderr == ""
    assert names("runs/small-1") == FILES


def test_the_run_path_draws_nothing(small: Path) -> None:
    code = (
        "import sys; from longfat.commands import _run\n"
        f"assert _run(['run', {str(small)!r}]) == 0\n"
        "assert not [name for name in sys.modules if name.startswith('matplotlib')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_run_shorter_than_its_sample_is_written_without_a_picture(
    longfat: Command, small: Path
) -> None:
    done = longfat("run", small, "--set", "sample=5 s", "--plot", "--quiet", "--out", "long")
    assert done.returncode == 0, done.stderr
    told = "`sample`, 5 s, is longer than it; choose a smaller one\n"
    assert done.stderr == f"no picture of the run: its {told}"
    assert names("long") == FILES
    explained = longfat("explain", "long")
    assert explained.returncode == 2
    assert explained.stderr == "error: long kept no time series: its " + told.replace(
        "it;", "the run;"
    )


def test_a_working_folder_that_is_gone_is_told(small: Path) -> None:
    code = (
        "import os, sys; from longfat.commands import main\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); main(['run', sys.argv[1]])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(small.resolve())],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.endswith(
        "error: the working folder is not there any more: change to another one\n"
    )


def test_help_and_version(longfat: Command) -> None:
    assert "longfat run" in longfat("--help").stdout
    assert longfat("--version").stdout.startswith("longfat ")
    assert longfat("run", "--help").returncode == 0
    assert SMALL


def test_a_profile_that_changes_nothing_is_refused(longfat: Command, small: Path) -> None:
    """A resolved scenario has every key, and keys override a profile: seven differ in Linux, of ten."""
    assert longfat("run", small, "--out", "first", "--quiet").returncode == 0
    resolved = "first/scenario.toml"
    for which in ("*", "0", "forward"):
        done = longfat("run", resolved, "--set", f"flow.{which}.profile=linux-6", "--quiet")
        assert done.returncode == 2
        assert f"`flow.{which}.profile=linux-6` changes nothing" in done.stderr
        assert "initial_window, recovery, delayed_ack, ack_every, ack_delay, rto_min" in done.stderr
        changes = shlex.split(done.stderr.partition("set those that differ: ")[2])[1::2]
        assert f"flow.{which}.delayed_ack=true" in changes
        assert not any("initial_window" in change for change in changes)
    with_keys = package.run(resolved, set=changes).summary["flows"]
    assert with_keys == package.run(small, set=["flow.*.profile=linux-6"]).summary["flows"]
    assert with_keys != package.run(small).summary["flows"]
    with pytest.raises(package.ScenarioError, match="changes nothing"):
        package.run(resolved, set={"flow.*.profile": "rfc"})
    # Where it changes something, or asks for what is there, it is no mistake.
    assert package.run(small, set={"flow.*.profile": "rfc"}).summary["seed"] == 1
    asked = package.run(small, set={"flow.*.profile": "ns2-2005"}).save("second")
    again = package.run(asked / "scenario.toml", set={"flow.*.profile": "ns2-2005"})
    assert again.summary["flows"] == package.run(asked / "scenario.toml").summary["flows"]
    assert longfat("run", resolved, "--set", "flow.*.profile=none", "--quiet").returncode == 0
