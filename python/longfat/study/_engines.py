"""Where chunks are run: threads of this process, any executor, or a Dask cluster."""

from __future__ import annotations

import re
import time
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import TYPE_CHECKING, Any, Protocol

from longfat.errors import StudyError
from longfat.foreign import shown
from longfat.study._chunk import Chunk, Finished, run_chunk
from longfat.study._runner import Simulator, usable_cores
from longfat.study._threads import SimulationThreads

if TYPE_CHECKING:
    from collections.abc import Collection
    from concurrent.futures import Executor

_PATIENCE_S = 300.0
_LOOK_S = 0.02
_COUNT_S = 2.0
_ANSWER_S = 10.0


class LostError(Exception):
    """A chunk got lost with its worker: what it had not written is to be run again.

    Attributes:
        blamed: Whether workers keep dying of it.
    """

    def __init__(self, *, blamed: bool, reason: str) -> None:
        """Says whether it is the fault of the chunk, and what happened."""
        super().__init__(reason)
        self.blamed = blamed


class Engine(Protocol):
    """Runs chunks."""

    @property
    def slots(self) -> int:
        """How many run at a time."""

    def submit(self, chunk: Chunk) -> Any:  # noqa: ANN401 - a ticket
        """Begins a chunk as soon as there is room, and returns a ticket for it."""

    def wait(self, tickets: Collection[Any], timeout_s: float) -> Collection[Any]:
        """Waits until one of them is over, but not for longer; which ones are."""

    def result(self, ticket: Any) -> Finished:  # noqa: ANN401 - a ticket
        """What has become of a chunk.

        Raises:
            LostError: It got lost.
        """

    def under_way(self) -> float:
        """What has been done of chunks that are not over, in seconds of their costs."""

    def close(self) -> None:
        """Stops what is running."""


class Threads:
    """Threads of this process: the simulator runs without the interpreter's lock."""

    def __init__(self, workers: int | None = None) -> None:
        """Takes so many; by default one for each core."""
        self.slots = workers or usable_cores()
        self._pool = SimulationThreads(self.slots)
        self._simulator = Simulator(None)
        self._done: dict[int, float] = {}

    def submit(self, chunk: Chunk) -> Future[Finished]:
        """As `Engine`."""
        return self._pool.submit(self._run, chunk)

    def _run(self, chunk: Chunk) -> Finished:
        each = chunk.cost / max(chunk.runs, 1)

        def advanced(runs: float) -> None:
            self._done[id(chunk)] = runs * each

        try:
            return run_chunk(chunk, self._simulator, advanced)
        finally:
            self._done.pop(id(chunk), None)

    def wait(self, tickets: Collection[Any], timeout_s: float) -> Collection[Any]:
        """As `Engine`."""
        return wait(tickets, timeout=timeout_s, return_when=FIRST_COMPLETED).done

    def result(self, ticket: Future[Finished]) -> Finished:
        """As `Engine`."""
        return ticket.result()

    def under_way(self) -> float:
        """As `Engine`."""
        return sum(list(self._done.values()))

    def close(self) -> None:
        """As `Engine`."""
        self._pool.stop(self._simulator.cancellation)


class Pool:
    """Any executor of `concurrent.futures`, or whatever behaves like one."""

    def __init__(self, executor: Executor, workers: int | None = None) -> None:
        """Uses an executor, which stays open; `workers` is how many it has."""
        self._executor = executor
        self.slots = workers or getattr(executor, "_max_workers", None) or usable_cores()
        self._pending: set[Future[Finished]] = set()

    def submit(self, chunk: Chunk) -> Future[Finished]:
        """As `Engine`."""
        future = self._executor.submit(run_chunk, chunk.portable())
        self._pending.add(future)
        return future

    def wait(self, tickets: Collection[Any], timeout_s: float) -> Collection[Any]:
        """As `Engine`."""
        return wait(tickets, timeout=timeout_s, return_when=FIRST_COMPLETED).done

    def result(self, ticket: Future[Finished]) -> Finished:
        """As `Engine`."""
        self._pending.discard(ticket)
        return ticket.result()

    def under_way(self) -> float:
        """As `Engine`; nobody tells."""
        return 0.0

    def close(self) -> None:
        """As `Engine`."""
        for future in self._pending:
            future.cancel()


_ADDRESS = re.compile(
    r"(?:\w+://)?(?:\[[^\s\[\]]+\]|[^\s:/\[\]]+):(\d{1,5})|inproc://[^\s/]+/\d+/\w+"
)
_LARGEST_PORT = 65_535


def check_address(address: str) -> None:
    """Refuses what cannot be the address of a Dask scheduler, which Dask itself would wait for.

    Raises:
        StudyError: It has no host or no port.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise StudyError(_no_address(address, "it is not HOST:PORT"))
    if found[1] is not None and not 0 < int(found[1]) <= _LARGEST_PORT:
        raise StudyError(_no_address(address, f"a port is from 1 to {_LARGEST_PORT}"))


def _no_address(address: str, reason: str) -> str:
    return (
        f"`{shown(address)}` is no address of a Dask scheduler: {shown(reason)}; "
        "write it as its scheduler prints it, such as tcp://host:8786 or tls://host:8786"
    )


class Dask:
    """A Dask cluster. It may lose workers, and its scheduler: that one is looked for again for five minutes."""

    def __init__(self, cluster: Any) -> None:  # noqa: ANN401 - an address or a client
        """Connects to a scheduler by its address, or uses a client, which stays open.

        Raises:
            ImportError: Dask is not installed.
            StudyError: It is no address, or nobody answers there.
        """
        try:
            import distributed
        except ImportError as error:
            message = (
                "a Dask cluster needs Dask, which is not installed: pip install 'longfat[dask]'"
            )
            raise ImportError(message) from error
        self._distributed = distributed
        self._own = isinstance(cluster, str)
        if isinstance(cluster, str):
            check_address(cluster)
        self._address = cluster if self._own else cluster.scheduler.address
        self._client: Any = None if self._own else cluster
        if self._own:
            self._connect(_ANSWER_S)
        self._slots, self._counted = 0, -_COUNT_S
        self._tickets: set[Any] = set()

    def _connect(self, patience_s: float) -> None:
        end = time.monotonic() + patience_s
        while True:
            try:
                self._client = self._distributed.Client(  # type: ignore[no-untyped-call]
                    self._address, timeout=_ANSWER_S, set_as_default=False, name="longfat study"
                )
            except ValueError as error:  # noqa: PERF203 - it is waited for
                raise StudyError(_no_address(self._address, str(error))) from error
            except (OSError, TimeoutError) as error:
                if time.monotonic() >= end:
                    message = f"no Dask scheduler answers at {self._address}: {error}"
                    raise StudyError(message) from error
                time.sleep(1.0)
            else:
                self._own = True
                return

    @property
    def slots(self) -> int:
        """As `Engine`: the threads of all workers there are at the moment."""
        if time.monotonic() - self._counted > _COUNT_S and self._alive():
            try:
                self._slots = sum(self._client.nthreads().values())
            except (OSError, TimeoutError, RuntimeError):
                self._slots = max(self._slots, 1)
            self._counted = time.monotonic()
        return max(self._slots, 1)

    def _alive(self) -> bool:
        return self._client is not None and self._client.status == "running"

    def submit(self, chunk: Chunk) -> Any:  # noqa: ANN401 - a future of Dask
        """As `Engine`."""
        if not self._alive():
            self._reconnect()
        future = self._client.submit(run_chunk, chunk.portable(), pure=False)
        self._tickets.add(future)
        return future

    def _reconnect(self) -> None:
        if self._own and self._client is not None:
            self._client.close(timeout=1)
        self._connect(_PATIENCE_S)
        self._counted = -_COUNT_S

    def wait(self, tickets: Collection[Any], timeout_s: float) -> Collection[Any]:
        """As `Engine`."""
        end = time.monotonic() + timeout_s
        while True:
            if not self._alive():
                return list(tickets)
            over = [ticket for ticket in tickets if ticket.status != "pending"]
            if over or time.monotonic() >= end:
                return over
            time.sleep(min(_LOOK_S, timeout_s))

    def result(self, ticket: Any) -> Finished:  # noqa: ANN401 - a future of Dask
        """As `Engine`."""
        self._tickets.discard(ticket)
        if not self._alive() or ticket.status in ("cancelled", "lost", "pending"):
            raise LostError(blamed=False, reason="the scheduler has gone")
        failed = ticket.status == "error"
        try:
            found = ticket.exception() if failed else ticket.result()
        except (OSError, TimeoutError, CancelledError) as error:
            # It was there when it was asked for what has come of the chunk.
            raise LostError(blamed=False, reason=f"the scheduler has gone: {error}") from error
        if failed:
            if isinstance(found, self._distributed.KilledWorker):
                raise LostError(blamed=True, reason=f"its workers died: {found}")
            raise found
        ticket.release()
        finished: Finished = found
        return finished

    def under_way(self) -> float:
        """As `Engine`; nobody tells."""
        return 0.0

    def close(self) -> None:
        """As `Engine`."""
        if self._alive():
            for ticket in self._tickets:
                ticket.cancel()
        if self._own and self._client is not None:
            self._client.close(timeout=_ANSWER_S)


def engine_for(
    *, workers: int | None = None, dask: object = None, executor: object = None
) -> Engine:
    """The engine that was asked for."""
    if dask is not None:
        return Dask(dask)
    if executor is None:
        return Threads(workers)
    if hasattr(executor, "scheduler_info"):  # a Dask client
        return Dask(executor)
    return Pool(executor, workers)  # type: ignore[arg-type]
