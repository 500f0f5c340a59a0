"""Studies on a Dask cluster of several processes, which lose workers and their scheduler."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import distributed
import pytest
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError

from longfat.errors import StudyError
from longfat.study import study
from longfat.study._engines import Dask, LostError
from longfat.study._parts import PARTS
from support import ROOT, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator

RATE = "link.bottleneck.rate"
STUDY: dict[str, Any] = {
    "scenario": "small.toml",
    "seeds": 20,
    "set": {"duration": "60 s"},
    "vary": {RATE: ["5 Mbit/s", "10 Mbit/s"]},
}
# Dask closes sockets and loops when it is collected, and says so.
pytestmark = pytest.mark.filterwarnings("ignore")


def digest(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture
def cluster() -> Iterator[distributed.LocalCluster]:
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with distributed.LocalCluster(**options, dashboard_address=None) as made:  # type: ignore[no-untyped-call]
        yield made


def test_a_worker_dies_and_nothing_is_lost(small: Path, cluster: distributed.LocalCluster) -> None:
    assert small.exists()
    reference = digest(study(STUDY, out="cores", workers=1).folder)
    with distributed.Client(cluster) as client:  # type: ignore[no-untyped-call]
        (victim, *_) = client.run(os.getpid).values()

        def kill() -> None:
            while not list(Path("dask", PARTS).glob("*.parquet")):
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        found = study(STUDY, out="dask", dask=cluster.scheduler_address)
        killer.join()
        assert (found.runs, found.failed) == (40, 0)
        assert digest(found.folder) == reference
        # The client itself will do, and stays open.
        again = study(STUDY, out="client", executor=client, seeds=2)
        assert again.failed == 0
        assert client.submit(int, "7").result() == 7


def test_nobody_answers() -> None:
    Path("small.toml").write_text(SMALL, "utf-8")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{held.getsockname()[1]}"
    with pytest.raises(StudyError, match="no Dask scheduler answers at"):
        study(STUDY, dask=address)


@pytest.mark.parametrize("status", ["finished", "error"])
@pytest.mark.parametrize("error", [CommClosedError("reset"), FutureCancelledError("key", "gone")])
def test_a_scheduler_that_dies_while_it_is_asked_loses_a_chunk(
    status: str, error: Exception
) -> None:
    class Ticket:
        def __init__(self) -> None:
            self.status = status

        def result(self) -> object:
            raise error

        exception = result

    client = SimpleNamespace(status="running", scheduler=SimpleNamespace(address="tcp://there:1"))
    with pytest.raises(LostError, match="the scheduler has gone") as lost:
        Dask(client).result(Ticket())
    assert not lost.value.blamed


@pytest.mark.long
def test_the_file_for_slurm_runs_as_it_is(small: Path) -> None:
    """Without SLURM; what dask-jobqueue adds is how workers are begun."""
    (small.parent / "question.toml").write_text(
        'scenario = "small.toml"\nseeds = 2\n[vary]\n"link.bottleneck.rate" = ["5 Mbit/s"]\n',
        "utf-8",
    )
    command = [sys.executable, str(ROOT / "studies/slurm.py"), "question.toml", "--local"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"2 runs, 0 known, 0 failed: {Path('runs/study-question')}\n"


@pytest.mark.long
def test_the_scheduler_dies_too(small: Path) -> None:
    assert small.exists()
    longer = {**STUDY, "seeds": 60}
    reference = digest(study(longer, out="cores").folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    module = [sys.executable, "-m"]
    with contextlib.ExitStack() as stack:

        def start(*command: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [*module, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        def begin() -> list[subprocess.Popen[bytes]]:
            scheduler = start(
                "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port),
                "--no-dashboard",
            )  # fmt: skip
            options = ("--no-dashboard", "--nthreads", "1", "--no-nanny", "--death-timeout", "30")
            workers = [start("distributed.cli.dask_worker", address, *options) for _ in range(3)]
            return [scheduler, *workers]

        scheduler, victim, *_ = begin()
        found: list[Any] = []
        deadline = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert time.monotonic() < deadline
            time.sleep(0.1)
        caller = threading.Thread(
            target=lambda: found.append(study(longer, out="dask", dask=address))
        )
        caller.start()
        parts = Path("dask", PARTS)
        for process, files in ((victim, 1), (scheduler, 2)):
            while len(list(parts.glob("*.parquet"))) < files:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            process.kill()
            process.wait()
        begin()
        caller.join(timeout=300)
        assert not caller.is_alive()
    assert found[0].failed == 0
    assert digest(found[0].folder) == reference
