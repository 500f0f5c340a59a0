"""Running one scenario, and what comes out of it."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from longfat._fork import need_threads
from longfat._longfat import TraceError, __version__
from longfat.own import Brought, Code
from longfat.results._folder import LIMITS, RUN, TABLES, ResultFolder
from longfat.results._json import decoded
from longfat.results._names import named
from longfat.results._resolved import Resolved
from longfat.results._simulate import simulate
from longfat.results._table import Table
from longfat.results._tables import overview
from longfat.results._traces import Traces
from longfat.scenario import Changes, Source, assignments, read
from longfat.tables import page

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import polars as pl
    from matplotlib.figure import Figure

    from longfat import _longfat
    from longfat.results._transfers import TransferFile

MEASURED = frozenset(
    (
        "time_s",
        "flow",
        "group",
        "window",
        "threshold",
        "in_flight",
        "rtt_s",
        "throughput_bit_s",
        "retransmitted",
        "room_rate",
        "receive_window",
    )
)
"""The columns of the flow series that the simulator measures; controllers show the others."""


def run(
    source: Source,
    *,
    seed: int | None = None,
    set: Changes = (),  # noqa: A002 - the name of the command-line option
    record: bool = True,
    progress: Callable[[float], object] | None = None,
    controllers: Sequence[Brought] = (),
    queues: Sequence[Brought] = (),
    allow_code: bool = False,
    pcap: bool = False,
    qlog: bool = False,
    at: Sequence[str] = (),
    trace_packets: int | None = None,
) -> Run:
    """Simulates a scenario.

    Args:
        source: The path of a scenario file, its text (recognised by its line breaks), or its content as a
            dictionary.
        seed: Replaces the seed of the scenario.
        set: Fields to set first: `{"link.bottleneck.rate": "1 Gbit/s"}`, or a list of texts as on the
            command line, `["link.bottleneck.rate=1 Gbit/s"]`.
        record: Keep the time series. Dropping them changes nothing else and saves memory.
        progress: Called about ten times a second with the share of simulated time that has passed, 0 to 1.
        controllers: Controllers of your own that it can choose by their names, as `longfat.law`,
            `longfat.controller` and `longfat.load_library` make them.
        queues: Queues of your own, likewise.
        allow_code: Let it name code, `{ python = "rules.py:gentle" }`, which is then loaded and run. Only for
            scenarios that you trust.
        pcap: Also capture packets at the senders, for Wireshark and tshark: `Run.traces` has the file.
        qlog: Also log what senders do and decide, for qvis: `Run.traces` has a file for each flow.
        at: Which flows to trace, by their names or those of their groups; by default all.
        trace_packets: How many packets to trace; 1,000,000 by default.

    Returns:
        The finished run.

    Raises:
        ScenarioError: The scenario is wrong, or needs more memory than is free; the message names the place
            and the reason.
        TraceError: Flows cannot be traced as asked, or neither `pcap` nor `qlog` asks for a trace.
        OSError: The file cannot be read.
        CodeError: A controller or queue of your own failed: the message names it, the flow and the time.
        EngineError: A bug of longfat.
        KeyboardInterrupt: Ctrl-C was pressed; nothing is left behind.
    """
    if (at or trace_packets is not None) and not (pcap or qlog):
        message = (
            "`at` and `trace_packets` say what to trace: ask for a trace with `pcap` or `qlog`"
        )
        raise TraceError(message)
    code = Code.of(controllers, queues, allow_code)
    scenario, name = read(source, seed=seed, changes=set, code=code)
    traces = None
    if pcap or qlog:
        traces = Traces(scenario, pcap=pcap, qlog=qlog, at=at, packets=trace_packets)
    recording = simulate(scenario, record=record, progress=progress, traces=traces)
    return Run(scenario, recording, name, assignments(set), traces)


class Run(Resolved):
    """A finished run: averages, tables, pictures.

    Attributes:
        name: A short name: the stem of the scenario file, or `scenario`.
        settings: The fields that were set, as on the command line: `link.bottleneck.rate="1 Gbit/s"`.
        traces: The trace files that were asked for, if any were.
    """

    def __init__(
        self,
        scenario: _longfat.Scenario,
        recording: _longfat.Recording,
        name: str,
        settings: Sequence[str] = (),
        traces: Traces | None = None,
    ) -> None:
        """Wraps what the engine recorded; use `longfat.run` to get one."""
        super().__init__(scenario, name, settings)
        self._recording = recording
        self.traces = traces

    def __repr__(self) -> str:
        """The name, the seed and the size, in one line."""
        summary = self.summary
        packets = summary["engine"]["data_packets"]
        return f"<Run {self.name}: seed {summary['seed']}, {packets:,} data packets>"

    def __reduce__(self) -> NoReturn:
        """Refuses to be pickled: what the engine recorded stays where it is.

        Raises:
            TypeError: Always; the message says what can go to another process instead.
        """
        message = (
            "a run cannot be pickled: let the other process return `run.summary`, tables such as `run.flows`, "
            "or the folder of `run.save(path)`; `longfat.study` runs many scenarios in parallel"
        )
        raise TypeError(message)

    def _repr_html_(self) -> str:
        """The averages, for a notebook."""
        need_threads()
        head = f"{self.name}, seed {self.summary['seed']}"
        return page([head, *overview(self.summary, self.duration_s, self.limits.to_polars())])

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The averages of the measured interval: the object that `longfat run --json` prints."""
        return self._averages()

    def _averages(self) -> dict[str, Any]:
        """The averages as the engine told them, whatever has been done with `summary` since."""
        summary: dict[str, Any] = decoded(self._recording.summary_json())
        summary["engine"] |= {"version": __version__, "settings": list(self.settings)}
        return summary

    @cached_property
    def flows(self) -> Table:
        """One row for each long flow: controller, round trip, goodput, losses, completion."""
        return Table(self._recording.table("flows"))

    @cached_property
    def links(self) -> Table:
        """One row for each direction of each link: utilisation, queue, drops, marks."""
        return Table(self._recording.table("links"))

    @cached_property
    def transfers(self) -> Table:
        """One row for each transfer: start, size, completion time (null if it never completed)."""
        return Table(self._recording.table("transfers"))

    @cached_property
    def flow_series(self) -> Table:
        """One row for each long flow and sample: window (segments), throughput (bit/s), round trip (s).

        With `observe = true` in the scenario there is also a column for each of the `variables`.
        """
        return Table(self._recording.table("flow_series"))

    @cached_property
    def limits(self) -> Table:
        """One row for each long flow and sample: for how long its window limited it, its pacing, and so on."""
        return Table(self._recording.table("limits"))

    @property
    def variables(self) -> list[str]:
        """The variables of controllers that the scenario asked for with `observe`: columns of `flow_series`."""
        return [name for name in self.flow_series.columns if name not in MEASURED]

    @cached_property
    def link_series(self) -> Table:
        """One row for each direction of a link and sample: queue (share of the buffer), utilisation, drops."""
        return Table(self._recording.table("link_series"))

    @cached_property
    def exchanges(self) -> Table:
        """One row for each response, page or chunk that a client was given: start, time, size.

        Raises:
            KeyError: No flow has an application.
        """
        return Table(self._recording.table("exchanges"))

    def table(self, name: str) -> pl.DataFrame:
        """A table by its name, as a polars data frame.

        Args:
            name: `flows`, `links`, `transfers`, `flow_series`, `link_series` or `limits`; and `exchanges`,
                where flows have applications.

        Raises:
            KeyError: There is no such table.
        """
        return Table(self._recording.table(name)).to_polars()

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        variables: Sequence[str] | None = None,
    ) -> Figure:
        """Draws window, throughput, queue and utilisation against time, and what controllers show.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.
            variables: Which of the `variables` to draw; by default those that change, eight at most.

        Returns:
            The figure, which a notebook displays.

        Raises:
            ValueError: The run kept no time series (`record=False`), or has no such variable.
        """
        from longfat import plot

        figure = plot.run(self, variables=variables)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(self, folder: str | os.PathLike[str] | None = None, *, pictures: bool = False) -> Path:
        """Writes the run as a folder: scenario, averages, tables, and pictures on request.

        Args:
            folder: Where to write; by default `runs/NAME-SEED`, with what was `set` behind it. An earlier run
                there is replaced whole.
            pictures: Also draw `run.png` and `run.svg`.

        Returns:
            The folder.

        Raises:
            FileExistsError: Something other than a run is there.
            OSError: The folder cannot be written; nothing is left half-written.
        """
        default = default_folder(self.name, self._scenario.seed, self.settings)
        target = default if folder is None else folder
        with ResultFolder(target, RUN) as result:
            self.write_files(result.path, pictures=pictures)
            result.commit()
        return Path(target)

    def write_files(
        self, folder: Path, *, transfers: TransferFile | None = None, pictures: bool = False
    ) -> None:
        """Writes the files of the run into an existing folder; `transfers` holds those already on disk."""
        self.write_scenario(folder)
        # What somebody has had may have been changed.
        summary = self._averages() if "summary" in self.__dict__ else self.summary
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        more = ("exchanges",) if "applications" in summary else ()
        for name in (*TABLES, LIMITS, *more):
            table = Table(self._recording.table(name))
            if name == "transfers" and transfers is not None:
                transfers.finish(table, self.quantities.groups)
            else:
                table.write_parquet(folder / f"{name}.parquet")
        if self.traces is not None:
            self.traces.copy_to(folder)
        if pictures:
            figure = self.plot(folder / "run.png")
            from longfat import plot

            plot.save(figure, folder / "run.svg")


def default_folder(name: str, seed: int, settings: Sequence[str] = ()) -> Path:
    """Where a run is written by default: runs with other settings go elsewhere."""
    return Path("runs") / named(f"{name}-{seed}", *settings)
