"""Commands in processes of their own that need not import other people's packages first.

Most commands need polars, rich or matplotlib, which take longer to import than a small scenario to
simulate, and the tests run hundreds of them. So one process imports them, and a copy of it (fork)
becomes each command, in its own folder, with its own environment and files for its output. Of longfat the
process has what every command imports before it knows which it is; the rest each imports itself.

A copy ends without taking all of that apart: it would write to each page of the memory that it shares, and
so copy it. `test_console.py` has commands that begin and end as they do elsewhere.

As a program this is that process: requests come as lines of JSON, and an exit status goes back for each.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

PACKAGES = (
    "click",
    "jinja2",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "matplotlib.patheffects",
    "msgspec",
    "numpy",
    "platformdirs",
    "polars",
    "rich.console",
    "rich.live",
    "rich.progress",
    "rich.table",
    "tomli_w",
    "longfat.commands",
)

READ_ON_IMPORT = ("LANG", "LC_", "MPL", "NUMBA", "OMP_", "OPENBLAS", "POLARS", "PYTHON")
"""How the names of variables begin that an interpreter or these packages read when they start."""

DESCRIPTORS = {"stdin": os.O_RDONLY, "stdout": os.O_WRONLY, "stderr": os.O_WRONLY}


def _read_on_import(environment: dict[str, str]) -> dict[str, str]:
    return {name: at for name, at in environment.items() if name.startswith(READ_ON_IMPORT)}


@dataclass
class Prefork:
    """Runs `longfat` with packages that are there already, wherever that makes no difference."""

    _environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    _server: subprocess.Popen[str] | None = None

    def run(self, arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run` of `python -m longfat`, with its text in the completed process."""
        # Readline, which pytest loads, adds COLUMNS and LINES to what children inherit, unseen by `os.environ`.
        environment = options.setdefault("env", dict(os.environ))
        alike = _read_on_import(environment) == _read_on_import(self._environment)
        if set(options) <= {"env", "timeout"} and alike and hasattr(os, "fork"):
            return self._copied(arguments, environment, options.get("timeout"))
        command = [sys.executable, "-m", "longfat", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    def close(self) -> None:
        """Ends the process that has the packages."""
        if self._server is not None:
            self._server.communicate()

    def _copied(
        self, arguments: list[str], environment: dict[str, str], seconds: float | None
    ) -> subprocess.CompletedProcess[str]:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, __file__],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            files = {"stdin": os.devnull}
            for name in ("stdout", "stderr"):
                files[name] = str(Path(folder, name))
                Path(files[name]).touch()
            request = {
                "arguments": arguments,
                "folder": str(Path.cwd()),
                "environment": environment,
                "files": files,
                "seconds": seconds,
            }
            print(json.dumps(request), file=self._server.stdin, flush=True)
            status = json.loads(self._server.stdout.readline())
            output = [Path(files[name]).read_text() for name in ("stdout", "stderr")]
        command = ["longfat", *arguments]
        if status is None:
            assert seconds is not None
            raise subprocess.TimeoutExpired(command, seconds, *output)
        return subprocess.CompletedProcess(command, status, *output)


def _serve() -> dict[str, Any] | None:
    """Answers requests, and returns one of them in the copy that is to become it."""
    signal.signal(signal.SIGALRM, _too_long)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        with warnings.catch_warnings():
            # Of threads, which a copy lacks: numpy begins its own anew there, those of polars only clean up.
            warnings.simplefilter("ignore")
            copy = os.fork()
        if copy == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            return request
        print(json.dumps(_status(copy, request["seconds"])), flush=True)
    return None


def _status(copy: int, seconds: float | None) -> int | None:
    """The exit status of a process, negative for a signal; nothing if it took so long that it was ended."""
    with contextlib.suppress(TimeoutError):
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds or 0)
            return os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    os.kill(copy, signal.SIGKILL)
    os.waitpid(copy, 0)
    return None


def _too_long(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError


def _become(request: dict[str, Any]) -> None:
    """As `python -m longfat` would begin."""
    for number, (name, flags) in enumerate(DESCRIPTORS.items()):
        opened = os.open(request["files"][name], flags)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv = ["longfat", *request["arguments"]]
    try:
        runpy.run_module("longfat", run_name="__main__", alter_sys=True)
    except SystemExit as asked:
        if asked.code is None or isinstance(asked.code, int):
            _exit_codes.append(asked.code or 0)
        raise


_exit_codes: list[int] = []
"""The one that a command ends with, once it is known."""


def _leave() -> None:
    """Ends a copy whose threads have ended, and which has done what packages ask for at exit."""
    for code in _exit_codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Imports the packages, and serves."""
    # Before any package has asked for something: it comes after all of them.
    atexit.register(_leave)
    for package in PACKAGES:
        import_module(package)
    gc.freeze()  # else each copy looks through all of it before it ends
    request = _serve()
    if request is not None:
        _become(request)


if __name__ == "__main__":
    main()
