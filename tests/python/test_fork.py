"""Forks of processes in which other threads have worked, or are at work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from longfat.study import study

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


def last_line(script: str, folder: Path) -> str:
    """What a script prints last."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=environment,
        timeout=60,
    )
    return done.stdout.splitlines()[-1]


CODE = """\
import longfat

class Mine(longfat.Controller):
    def on_feedback(self, feedback, path):
        self.window += feedback.acked / self.window

    def on_congestion(self, event, path):
        self.window = max(2.0, self.window / 2)
"""

WHILE_CODE_IS_READ = """\
import os, threading, time
from pathlib import Path
import longfat._fork
from longfat.own._code import _from_python

longfat._fork._LONG_S = 1.0

threading.Thread(target=_from_python, args=["slow.py:Mine", "controller"], daemon=True).start()
while not Path("begun").exists():
    time.sleep(0.01)
child = os.fork()
if child == 0:
    print(_from_python("other.py:Mine", "controller").name, flush=True)
else:
    os.waitpid(child, 0)
os._exit(0)
"""


def test_code_that_another_thread_reads_keeps_no_fork_waiting(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(CODE)
    wait = "import time\nfrom pathlib import Path\nPath('begun').touch()\ntime.sleep(100)\n"
    (tmp_path / "slow.py").write_text(wait + CODE)
    assert last_line(WHILE_CODE_IS_READ, tmp_path) == "mine"


WHILE_CODE_IS_COMPILED = """\
import os, threading, time
import longfat
from longfat.own._compiled import _compiling
from numba.core.compiler_lock import global_compiler_lock

def law(name):
    made = longfat.law(name=name, parameters={"a": 1.0})(lambda at, p: p.a / at.window)
    made.give_up(lambda at, p, cause: 0.5)
    return made

law("first").__longfat__()  # which imports what it takes
begun = threading.Event()

def compile():
    with _compiling.one(), global_compiler_lock:
        begun.set()
        time.sleep(1)

threading.Thread(target=compile, daemon=True).start()
begun.wait()
child = os.fork()
if child == 0:
    print(law("second").__longfat__().name, flush=True)
else:
    os.waitpid(child, 0)
os._exit(0)
"""


def test_code_that_another_thread_compiles_keeps_no_fork_waiting(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    assert last_line(WHILE_CODE_IS_COMPILED, tmp_path) == "second"


TABLES_BEFORE_LONGFAT = """\
import os
import polars as pl

pl.DataFrame({"number": [2.0, 1.0]}).lazy().sort("number").collect()
child = os.fork()
if child == 0:
    import longfat
    from longfat.errors import ForkError
    from support import SMALL

    try:
        longfat.run(SMALL).save("saved")
    except ForkError as error:
        print("spawn" in str(error), flush=True)
else:
    os.waitpid(child, 0)
os._exit(0)
"""


def test_a_fork_is_one_whoever_has_used_tables_before_it(tmp_path: Path) -> None:
    assert last_line(TABLES_BEFORE_LONGFAT, tmp_path) == "True"


WITH_TABLES = """\
import json, os, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import longfat
import longfat.plot  # not while a fork is made
from longfat.errors import ForkError
from support import SMALL

run = longfat.run(SMALL)
run.flow_series.to_polars().sort("window")  # which makes the threads of polars

def fails(name):
    try:
        {
            "save": lambda: run.save("saved"),
            "plot": run.plot,
            "study": lambda: longfat.study(asked, out="other"),
            "rows": lambda: known.rows,
            "table": lambda: known.table(),
            "picture": lambda: known.plot(),
            "page": run._repr_html_,
        }[name]()
    except ForkError as error:
        return "spawn" in str(error)

names = ["save", "plot", "study", "rows", "table", "picture", "page"]
asked = {"scenario": "small.toml", "seeds": 2, "vary": {"flow.forward.control": ["reno", "exp"]}}
known = longfat.study(asked, out="known")
with ProcessPoolExecutor(2, get_context("fork")) as executor:
    done = longfat.study(asked, out="here", executor=executor)
    print(json.dumps([done.runs, done.failed, all(executor.map(fails, names))]))
"""


def test_a_fork_of_what_has_used_tables_waits_for_nobody(small: Path) -> None:
    assert json.loads(last_line(WITH_TABLES, small.parent)) == [4, 0, True]
    assert study("here/study.toml", out="here").known == 4


AMID_A_SAVE = """\
import os, signal, sys, time
from pathlib import Path
from longfat.results._folder import RUN, ResultFolder
from longfat.results._workshop import Workshop

with Workshop(Path("first").absolute()) as workshop, workshop.alone():
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
before = time.monotonic()
with ResultFolder("second", RUN) as folder:
    folder.commit()
os.kill(child, signal.SIGKILL)
print(time.monotonic() - before)
"""


def test_a_process_that_was_forked_meanwhile_keeps_nobody_out(own_folder: Path) -> None:
    assert float(last_line(AMID_A_SAVE, own_folder)) < 5


WITH_A_TRACE = """\
import os, sys
import longfat
from support import SMALL
run = longfat.run(SMALL, pcap=True)
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
(file,) = run.traces.files
print(file)
"""


def test_a_fork_takes_no_traces_along(tmp_path: Path) -> None:
    file = last_line(WITH_A_TRACE, tmp_path)
    # It was there for the process that made it, and has gone with it.
    assert file.endswith("trace.pcapng")
    assert not Path(file).exists()
