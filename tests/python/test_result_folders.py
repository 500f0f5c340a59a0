"""Result folders under stress: killed processes, two at once, a full disk, other people's files."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from longfat.results._folder import RUN, ResultFolder, write_whole
from longfat.results._workshop import PREFIX, sweep
from longfat.study._parts import write_series
from paper_support import make_room
from support import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from support import Command

WRITER = """\
import sys
from longfat.results._folder import RUN, ResultFolder
print("go", flush=True)
for number in range(10_000):
    with ResultFolder("result", RUN) as folder:
        for name in ("one", "two", "three"):
            (folder.path / name).write_text(f"{sys.argv[1]} {number}")
        folder.commit()
"""
"""Replaces one folder with the next, as fast as it can."""

WRITERS = """\
import os, sys
from longfat.results import _folder
text = sys.argv[1]
for line in sys.stdin:
    writer = os.fork()
    if writer == 0:
        sys.argv[1] = line.strip()
        print(os.getpid())
        exec(text)
        os._exit(0)
    os.waitpid(writer, 0)
    print("gone", flush=True)
"""
"""A process for each line, which has its imports already and does what the argument says; and the end of it."""


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def whole(folder: Path) -> bool:
    """Whether a result is consistent, and carries the list of its files."""
    told = {(folder / name).read_text() for name in ("one", "two", "three")}
    return len(told) == 1 and (folder / ".longfat.json").exists()


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def killed_at_random(folder: Path, kills: int) -> None:
    chance = random.Random(1988)  # noqa: S311 - moments, not secrets
    writers = subprocess.Popen(
        [sys.executable, "-c", WRITERS, WRITER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writers.stdin is not None
    assert writers.stdout is not None
    for number in range(kills):
        print(number, file=writers.stdin, flush=True)
        writer = int(writers.stdout.readline())
        assert writers.stdout.readline() == "go\n"
        time.sleep(chance.uniform(0, 0.02))
        os.kill(writer, signal.SIGKILL)
        assert writers.stdout.readline() == "gone\n"
        assert len(hidden(folder)) <= 1, "what the previous one left was cleared away"
        with ResultFolder("other", RUN):
            pass
        assert hidden(folder) == []
        if number:
            assert whole(folder / "result"), "a swap was finished or undone, never lost"
        if not (folder / "result").exists():
            with ResultFolder("result", RUN) as first:
                for name in ("one", "two", "three"):
                    (first.path / name).write_text("first")
                first.commit()
    writers.communicate()
    assert writers.returncode == 0


def test_whatever_moment_it_is_killed_at_nothing_is_lost_or_left(own_folder: Path) -> None:
    killed_at_random(own_folder, 50)


@pytest.mark.long
def test_a_thousand_kills(own_folder: Path) -> None:
    killed_at_random(own_folder, 1000)


def test_a_killed_run_leaves_nothing_for_the_next(
    longfat: Command, small: Path, own_folder: Path
) -> None:
    Path("endless.toml").write_text(ENDLESS, encoding="utf-8")
    process = start("-m", "longfat", "run", "endless.toml", "--out", "runs/endless")
    wait_for(lambda: Path("runs").exists() and any(own_folder.glob("runs/.longfat-*/work")))
    process.kill()
    process.communicate()
    assert len(hidden(Path("runs"))) == 1
    assert longfat("run", small).returncode == 0
    assert [path.name for path in Path("runs").iterdir()] == ["small-1"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_asked_to_end_it_cleans_up(own_folder: Path, number: signal.Signals) -> None:
    Path("endless.toml").write_text(ENDLESS, encoding="utf-8")
    # The tests may run where it is ignored (nohup), which the command would inherit.
    before = signal.signal(number, signal.SIG_DFL)
    process = start("-m", "longfat", "run", "endless.toml", "--out", "runs/endless")
    signal.signal(number, before)
    wait_for(lambda: any(own_folder.glob("runs/.longfat-*/work")))
    process.send_signal(number)
    _, told = process.communicate(timeout=10)
    assert process.returncode == 128 + number
    assert told.splitlines()[-1] == "asked to stop: nothing unfinished is left behind"
    assert [path.name for path in own_folder.iterdir()] == ["endless.toml"]


def test_a_signal_that_was_ignored_stays_ignored(small: Path) -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from longfat.commands import main\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        f"main(['run', {str(small)!r}, '--quiet'])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 0


def test_the_second_of_two_in_one_place_is_refused(longfat: Command, own_folder: Path) -> None:
    Path("endless.toml").write_text(ENDLESS, encoding="utf-8")
    process = start("-m", "longfat", "run", "endless.toml", "--out", "runs/same")
    wait_for(lambda: any(own_folder.glob("runs/.longfat-*/work")))
    done = longfat("run", "endless.toml", "--out", "runs/same")
    process.kill()
    process.communicate()
    assert done.returncode == 2
    # A long run first says how long it takes.
    assert done.stderr.splitlines()[-1] == (
        "error: cannot write runs/same: another longfat is writing it: wait until it is done, "
        "or choose another place"
    )


def test_many_at_once_never_mix(own_folder: Path) -> None:
    code = WRITER.replace("10_000", "200").replace(
        "    with ResultFolder",
        "    import contextlib\n    with contextlib.suppress(BlockingIOError), ResultFolder",
    )
    writers = [start("-c", code, str(number)) for number in range(4)]
    for writer in writers:
        _, told = writer.communicate(timeout=60)
        assert writer.returncode == 0, told
    assert whole(own_folder / "result")
    assert hidden(own_folder) == []


def test_what_was_being_exchanged_is_put_in_place(own_folder: Path) -> None:
    left = own_folder / f"{PREFIX}00000000"
    (left / "work").mkdir(parents=True)
    (left / "earlier").mkdir()
    (left / "earlier" / "one").write_text("earlier")
    (left / "workshop.json").write_text('{"longfat": "workshop", "for": "result"}')
    sweep(own_folder)
    assert (own_folder / "result" / "one").read_text() == "earlier"
    assert hidden(own_folder) == []


@pytest.mark.parametrize("content", [None, "", "{}", '{"longfat": "workshop", "for": "../x"}'])
def test_what_only_looks_like_ours_stays(own_folder: Path, content: str | None) -> None:
    strange = own_folder / f"{PREFIX}thesis"
    strange.mkdir()
    (strange / "letter.txt").write_text("mine")
    if content is not None:
        (strange / "workshop.json").write_text(content)
    with ResultFolder("result", RUN):
        pass
    assert (strange / "letter.txt").read_text() == "mine"


def test_the_umask_holds_and_is_never_touched(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("it belongs to the whole process"))
    try:
        with ResultFolder("result", RUN) as folder:
            (folder.path / "one").write_text("1")
            folder.commit()
        write_whole(own_folder / "file", lambda path: path.write_text("1"))
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert (own_folder / "result").stat().st_mode & 0o777 == 0o750
    assert (own_folder / "result" / "one").stat().st_mode & 0o777 == 0o640
    assert (own_folder / "file").stat().st_mode & 0o777 == 0o640


def commit_one(text: str = "1") -> None:
    with ResultFolder("result", RUN) as folder:
        (folder.path / "one.toml").write_text(text)
        folder.commit()


@pytest.mark.parametrize(
    ("do", "told"),
    [
        (lambda: Path("result/mine.toml").write_text("mine"), "`mine.toml`, which a run did not"),
        (lambda: Path("result/one.toml").write_text("mine"), "`one.toml` was changed after"),
        (lambda: Path("result/.longfat.json").unlink(), "it has no `.longfat.json`"),
        (
            lambda: Path("result/.longfat.json").write_text("[]"),
            "its `.longfat.json`, .* cannot be",
        ),
    ],
)
def test_only_what_longfat_wrote_is_replaced(do: Callable[[], object], told: str) -> None:
    commit_one()
    commit_one("2")
    do()
    before = {path.name: path.read_bytes() for path in Path("result").iterdir()}
    with pytest.raises(FileExistsError, match=told):
        commit_one("3")
    assert {path.name: path.read_bytes() for path in Path("result").iterdir()} == before


FAST = ("try", "--rate", "10Mbit/s", "--rtt", "20ms", "--duration", "4s", "--seeds", "1")


def test_a_comparison_keeps_what_the_user_put_there(longfat: Command) -> None:
    assert longfat(*FAST, "--out", "cmp").returncode == 0
    Path("cmp/mine.toml").write_text("mine")
    done = longfat(*FAST, "--out", "cmp")
    assert done.returncode == 2
    assert "it holds `mine.toml`, which a comparison did not write" in done.stderr
    assert Path("cmp/mine.toml").read_text() == "mine"


def full(limit: int) -> Callable[[], None]:
    """A disk without space for a file of more than `limit` bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


@pytest.mark.parametrize("limit", [0, 100, 1000, 5000, 20_000])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "small.toml"),
        ("run", "small.toml", "--plot"),
        ("fluid", "small.toml", "--plot"),
        (*FAST, "--plot"),
    ],
    ids=["run", "plot", "fluid", "try"],
)
@pytest.mark.usefixtures("small")
def test_a_full_disk_is_told_and_leaves_nothing(
    longfat: Command, own_folder: Path, command: tuple[str, ...], limit: int
) -> None:
    done = longfat(*command, preexec_fn=full(limit))
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert done.returncode == 2
        assert re.match(r"error: (cannot write \S+: |\S+\.\w+: )", done.stderr.splitlines()[-1])
        assert "large" in done.stderr
        assert [path.name for path in own_folder.iterdir()] == ["small.toml"]
    else:
        assert limit == 20_000


@pytest.mark.parametrize("limit", [0, 5000])
def test_a_paper_on_a_full_disk_is_told_and_leaves_nothing(
    longfat: Command, own_folder: Path, limit: int
) -> None:
    make_room(own_folder / "papers")
    done = longfat("paper", "links", "--figure", "figure-1", preexec_fn=full(limit))
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert [path.name for path in own_folder.iterdir()] == ["papers"]


@pytest.mark.parametrize("out", ["/proc/run", "/proc/self/run", "/dev/null/run"])
def test_a_folder_that_takes_nothing_is_told(longfat: Command, small: Path, out: str) -> None:
    for command in (("run", small), ("fluid", small), FAST):
        done = longfat(*command, "--out", out)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: cannot write {out}: ")


def test_a_file_that_cannot_be_written_is_told_by_its_own_name(
    longfat: Command, small: Path
) -> None:
    assert longfat("run", small, "--out", "run").returncode == 0
    for command in (("explain", "run", "--plot"), ("report", "run", "--out")):
        done = longfat(*command, "/proc/file.svg")
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("error: cannot write /proc/file.svg: ")


def test_a_full_output_is_told(longfat: Command, small: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "longfat", "run", str(small), "--json"],
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: No space left on device\n"
    assert json.loads(Path("runs/small-1/summary.json").read_bytes())["seed"] == 1
    assert longfat("run", small).returncode == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, None])
def test_a_full_disk_is_told_with_its_place(own_folder: Path, number: int | None) -> None:
    def refuse(_: Path) -> None:
        raise OSError(*([] if number is None else [number]), os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="cannot write page: No space left on device"):
        write_whole(Path("page"), refuse)
    with (
        pytest.raises(OSError, match="cannot write runs/mine: No space left on device"),
        ResultFolder("runs/mine", RUN) as folder,
    ):
        refuse(folder.path)
    assert list(own_folder.iterdir()) == []


def test_a_full_disk_is_an_os_error_from_python_too(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import longfat

    def refuse(*_: object, **__: object) -> None:
        message = "No space left on device (os error 28)"
        raise pl.exceptions.ComputeError(message)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", refuse)
    with pytest.raises(OSError, match="No space left"):
        longfat.run(small).save("result")
    assert [path.name for path in small.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize("told", ["transport error", "os error 28"])
def test_why_a_part_of_a_study_cannot_be_written_is_asked_of_the_system(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    """Polars has several texts of its own for a full disk, and parts have names that tell nothing."""

    def refuse(*_: object) -> None:
        message = f"parquet: File out of specification: {told}"
        raise pl.exceptions.ComputeError(message)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", refuse)
    (own_folder / "mine").mkdir()
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most[1]))
    try:
        with pytest.raises(OSError, match="File too large: 'mine'") as caught:
            write_series(Path("mine"), "flow_series", "a", pl.DataFrame({"time_s": [1.0]}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert caught.value.errno == errno.EFBIG
    assert list(own_folder.rglob("mine/*/*")) == []


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_signal_right_after_a_folder_was_made_leaves_none(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def make_and_stop(path: Path, *arguments: Any, **options: Any) -> None:
        make(path, *arguments, **options)
        if path.name == "outer":
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", make_and_stop)
    with pytest.raises(KeyboardInterrupt), ResultFolder("outer/inner/result", RUN):
        pass
    assert not list(own_folder.iterdir())


def test_what_is_no_file_is_not_replaced(small: Path, longfat: Command) -> None:
    """A rename would put a file in place of /dev/stdout, for whoever may write there."""
    assert longfat("run", small, "--quiet", "--out", "run").returncode == 0
    pipe, link = Path("pipe.html"), Path("null.svg")
    os.mkfifo(pipe)
    link.symlink_to(os.devnull)
    for arguments in (
        ["schema", "scenario", "--out", pipe],
        ["schema", "study", "--out", link],
        ["explain", "run", "--plot", link],
        ["report", "run", "--out", pipe],
    ):
        refused = longfat(*arguments)
        assert refused.returncode == 2
        assert "exists" in refused.stderr
        assert "no file" in refused.stderr
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_another_name_of_an_open_file_is_not_replaced(own_folder: Path) -> None:
    """As /dev/stdout is, where the output goes to a file: whoever may write there would lose it."""
    with (own_folder / "output.txt").open("w+") as file:
        with pytest.raises(FileExistsError, match="is no file"):
            write_whole(Path(f"/dev/fd/{file.fileno()}"), lambda made: made.write_text("whole"))
        assert not file.read()


def test_a_link_to_a_file_stays_one(own_folder: Path) -> None:
    (own_folder / "elsewhere").mkdir()
    for link, target in (("old.txt", "elsewhere/it"), ("new.svg", "elsewhere/picture")):
        Path(link).symlink_to(target)
    Path("elsewhere/it").write_text("old")
    for link in ("old.txt", "new.svg"):
        write_whole(Path(link), lambda made: made.write_text(made.name))
        assert Path(link).is_symlink()
    assert Path("elsewhere/it").read_text() == "old.txt"
    assert Path("elsewhere/picture").read_text() == "new.svg"
