"""A measurement and the simulation of the same link and flows, in one picture, with a verdict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat._longfat import __version__
from longfat.errors import ResultError
from longfat.foreign import json_text, shown, shown_name
from longfat.live._course import course
from longfat.live._saved import SAMPLE, SavedMeasurement
from longfat.live._verdict import Finding, judged
from longfat.results._folder import SCENARIO, ResultFolder
from longfat.results._names import named
from longfat.results._run import Run
from longfat.results._saved import SavedRun
from longfat.results._simulate import simulate
from longfat.scenario import MOST_SEEDS, Template
from longfat.tables import TextTable, page
from longfat.units import ABSENT, RATE, TIME, amount, number_of, plural

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import polars as pl
    from matplotlib.figure import Figure

OVERLAY = "an overlay"
"""The kind of its folders, as messages and lists of files have it."""

SEEDS = 5
"""How many seeds are simulated where chance, or when flows begin, plays a part."""

_WHERE = {"quic": "over QUIC"}
"""Where real flows were, if not in the TCP of Linux."""

_OF_FLOWS = ("control", "count", "packet", "rtt")
"""What flows of a given run must have in common with the measured ones."""
_OF_RUNS = {"duration", "warmup", "seed", "sample", "observe", "link", "flow"}
"""What a scenario can say without there being more on the link."""
_COLUMNS = ("time_s", "flow", "window", "throughput_bit_s", "rtt_s")


def overlay(
    measured: str | os.PathLike[str],
    simulated: str | os.PathLike[str] | None = None,
    *,
    seeds: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Overlay:
    """Puts a measurement of `longfat live` beside the simulation of the same link and flows.

    Args:
        measured: The folder of the measurement.
        simulated: The folder of a run of the same link and flows; without it they are simulated.
        seeds: How many seeds to simulate; by default one, or five where flows begin one after another, packets
            are lost at random, or the queue is another one than drop tail.
        progress: Called with the share of the simulations that is done.

    Returns:
        Both, with a verdict about each number: draw it, save it, or ask whether it `differs`.

    Raises:
        ResultError: A folder holds something else, or the run is of another link or of other flows.
        ValueError: Seeds are asked for although a run is given, or fewer than one, or too many.
        ScenarioError: The simulation would need more memory than is free.
        OSError: A folder cannot be read.
    """
    if seeds is not None and (simulated is not None or not 1 <= seeds <= MOST_SEEDS):
        found = f"{seeds:,} seeds" if simulated is None else "a run, which has its seed,"
        message = f"{found} cannot be simulated: ask for 1 to {MOST_SEEDS:,} seeds, and give no run with them"
        raise ValueError(message)
    saved = SavedMeasurement(measured)
    runs: list[SavedRun | Run]
    if simulated is None:
        count = _seeds(saved) if seeds is None else seeds
        runs = list(_simulated(saved, count, progress))
    else:
        runs = [_given(saved, simulated)]
    return Overlay(saved, runs, None if simulated is None else Path(simulated))


class Overlay:
    """A measurement and its simulation.

    Attributes:
        name: That of the measurement.
        findings: What comes of each number.
        measured: Rows with `time_s`, `flow`, `window`, `throughput_bit_s` with headers, `rtt_s`, and
            `queueing_s`, which is the smoothed round trip less that of the link.
        simulated: The same of the first seed, but for `queueing_s`: what a packet waits that arrives then.
        rtt_s: Round trip of the link without any queue.
        duration_s: Length of the measurement.
        warmup_s: What its averages leave out.
    """

    def __init__(
        self, saved: SavedMeasurement, runs: list[SavedRun | Run], given: Path | None
    ) -> None:
        """Judges; use `longfat.overlay` to get one."""
        self._saved, self._runs, self._given = saved, runs, given
        told = saved.told
        self.name = saved.name
        self.rtt_s, self.duration_s, self.warmup_s = (
            told.link.rtt_s,
            told.duration_s,
            told.warmup_s,
        )
        self.measured = _of_measurement(saved)
        self.simulated = _of_run(runs[0], saved)
        self.findings = self._judged()

    def __repr__(self) -> str:
        """The name and the verdicts, in one line."""
        return f"<Overlay {self.name}: {self.detail}>"

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        return page([self.title, self.table, *self.reasons])

    @property
    def differs(self) -> bool:
        """Whether any number does."""
        return any(each.verdict == "differs" for each in self.findings)

    @property
    def title(self) -> str:
        """What was measured, in a line."""
        told = self._saved.told
        flows = plural(len(told.flows), "flow")
        path = f"{amount(told.link.rate_bit_s, RATE)}, round trip {amount(self.rtt_s, TIME)}"
        where = _WHERE.get(told.stack, "in Linux")
        return f"{flows} of {self._saved.kind} {where} and simulated: {path}"

    @property
    def detail(self) -> str:
        """What came of it, in a line."""
        words = [f"{each.what.partition(' (')[0]} {each.verdict}" for each in self.findings]
        count = len(self._runs)
        seeds = "one seed" if count == 1 else f"the first of {count} seeds"
        return " · ".join([*words, seeds])

    @property
    def table(self) -> TextTable:
        """Both numbers, and the verdict, for each."""
        head = ["", "verdict", "measured", "simulated", "difference", "tolerance"]
        made = TextTable(head, words=2)
        for each in self.findings:
            difference = ABSENT if each.difference is None else f"{100 * each.difference:+.1f} %"
            made.add(
                each.what,
                each.verdict,
                each.told(each.measured),
                each.told(each.simulated),
                difference,
                each.allowed,
            )
        return made

    @property
    def reasons(self) -> list[str]:
        """Why something is undecided, and what would decide it."""
        why: dict[str, list[str]] = {}
        for each in self.findings:
            if each.why:
                why.setdefault(each.why, []).append(each.what.partition(" (")[0])
        return [f"undecided: {', '.join(names)}: {reason}" for reason, names in why.items()]

    def to_dict(self) -> dict[str, Any]:
        """What `overlay.json` holds."""
        told = self._saved.told
        return {
            "version": __version__,
            "measured": str(self._saved.folder),
            "simulated": None if self._given is None else str(self._given),
            "seeds": [run.summary["seed"] for run in self._runs],
            "stack": told.stack,
            "control": told.control,
            "flows": len(told.flows),
            "rate_bit_s": told.link.rate_bit_s,
            "rtt_s": self.rtt_s,
            "duration_s": self.duration_s,
            "warmup_s": self.warmup_s,
            "differs": self.differs,
            "findings": [each.to_dict() for each in self.findings],
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draws window, throughput and queueing delay of both against time.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.

        Returns:
            The figure, which a notebook displays.
        """
        from longfat import plot

        figure = plot.overlay(self)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(self, folder: str | os.PathLike[str] | None = None) -> Path:
        """Writes `overlay.json`, `overlay.png`, `overlay.svg`, and the `scenario.toml` that was simulated.

        Args:
            folder: Where to write; by default `runs/overlay-NAME`. An earlier overlay there is replaced whole.

        Returns:
            The folder.

        Raises:
            FileExistsError: Something other than an overlay is there.
            OSError: The folder cannot be written; nothing is left half-written.
        """
        target = default_folder(self.name) if folder is None else Path(folder)
        with ResultFolder(target, OVERLAY) as made:
            text = json_text(self.to_dict(), indent=2) + "\n"
            (made.path / "overlay.json").write_text(text, encoding="utf-8")
            head = f"# longfat {__version__}: simulated beside {shown_name(self.name)}.\n\n"
            scenario = head + self._runs[0].scenario
            (made.path / SCENARIO).write_text(scenario, encoding="utf-8")
            figure = self.plot(made.path / "overlay.png")
            figure.savefig(made.path / "overlay.svg")
            made.commit()
        return target

    def _judged(self) -> list[Finding]:
        own = course(
            self.measured, self._saved.throughputs, warmup_s=self.warmup_s, rtt_s=self.rtt_s
        )
        others = []
        for place, run in enumerate(self._runs):
            found = course(
                _of_run(run, self._saved) if place else self.simulated,
                [flow["goodput_bit_s"] or 0.0 for flow in run.summary["flows"]],
                warmup_s=run.warmup_s,
                rtt_s=self.rtt_s,
            )
            if found is not None:
                others.append(found)
        if own is None or len(others) < len(self._runs):
            where = self._saved.folder if own is None else self._given
            message = (
                f"{shown(str(where))} has no two samples of each flow after the warm-up: "
                "make it again, for longer or with a shorter warm-up"
            )
            raise ResultError(message)
        return judged(own, others, kind=self._saved.kind, rtt_s=self.rtt_s, warmup_s=self.warmup_s)


def default_folder(name: str) -> Path:
    """Where an overlay of the measurement of this name is written by default."""
    return Path("runs") / named("overlay", name)


def _of_measurement(saved: SavedMeasurement) -> pl.DataFrame:
    """The series, with headers in its throughputs, as the simulator counts."""
    import polars as pl

    whole = {flow.name: saved.packet_B / flow.segment_payload_B for flow in saved.told.flows}
    factor = pl.col("flow").replace_strict(whole, return_dtype=pl.Float64)
    queueing = (pl.col("rtt_s") - saved.told.link.rtt_s).clip(lower_bound=0)
    return saved.series.select(_COLUMNS).with_columns(
        pl.col("throughput_bit_s") * factor, queueing.alias("queueing_s")
    )


def _of_run(run: SavedRun | Run, saved: SavedMeasurement) -> pl.DataFrame:
    """The series. The round trips of simulated senders are smoothed over far more time than those of Linux."""
    import polars as pl

    rate, bits = saved.told.link.rate_bit_s, 8 * saved.packet_B
    queue = run.link_series.to_polars().filter(pl.col("direction").cast(pl.String) == "forward")
    waits = queue.select("time_s", queueing_s=pl.col("queue_packets") * bits / rate)
    series = run.flow_series.to_polars().select(_COLUMNS)
    series = series.with_columns(pl.col("flow").cast(pl.String))
    return series.join(waits, on="time_s", how="left").sort("time_s", maintain_order=True)


def _seeds(saved: SavedMeasurement) -> int:
    """One where nothing is left to chance: a flow alone, no random losses, a queue that draws no numbers."""
    (link,) = tomllib.loads(saved.scenario.to_toml())["link"].values()
    certain = len(saved.told.flows) == 1 and link["loss"] == 0 and link["queue"] == "drop-tail"
    return 1 if certain else SEEDS


def _simulated(
    saved: SavedMeasurement, count: int, progress: Callable[[float], object] | None
) -> list[Run]:
    template = Template(saved.scenario.to_toml())
    runs = []
    for seed in range(1, count + 1):
        scenario = template.read(seed=seed)

        def advance(share: float, done: int = seed - 1) -> None:
            if progress is not None:
                progress((done + share) / count)

        runs.append(Run(scenario, simulate(scenario, progress=advance), saved.name))
    return runs


def _given(saved: SavedMeasurement, folder: str | os.PathLike[str]) -> SavedRun:
    """The run of a folder, if it is one of the same link and flows, and has its series.

    Raises:
        ResultError: It is not, or lacks them.
    """
    run = SavedRun(folder)
    place = shown(str(folder))
    own, other = (tomllib.loads(text) for text in (saved.scenario.to_toml(), run.scenario))
    if (reason := _apart(own, other)) is not None:
        message = (
            f"{place} is no simulation of what {shown(str(saved.folder))} measured: {shown(reason)}; "
            "leave it out, and longfat simulates the same"
        )
        raise ResultError(message)
    found = number_of(other["sample"])
    sample = None if found is None else found[0]
    windows = run.flow_series.to_polars()["window"]
    if "queue_packets" not in run.link_series.columns:
        message = f"{place} does not say how long its queue was: run its scenario again"
        raise ResultError(message)
    if not len(windows) or windows.null_count() or sample is None or sample > saved.told.link.rtt_s:
        message = (
            f"{place} has a row every {shown(str(other['sample']))}, or gaps, and responses to congestion are "
            f"found with one in each round trip: run it with --set 'sample=\"{SAMPLE}\"'"
        )
        raise ResultError(message)
    return run


def _apart(own: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """In what two resolved scenarios differ, in words; `None` where they are of the same link and flows."""
    more = sorted(set(other) - _OF_RUNS)
    if more:
        return f"it has `{more[0]}` besides"
    for what, name in (("link", "links"), ("flow", "groups of flows")):
        if len(other.get(what, ())) != 1:
            return f"it has {len(other.get(what, ()))} {name}, not one"
    (link,), (another,) = own["link"].values(), other["link"].values()
    (flow,), (others,) = own["flow"], other["flow"]
    sides = (("link", link, another, sorted({*link, *another} - {"bdp"})),)
    for what, one, two, keys in (*sides, ("flows", flow, others, _OF_FLOWS)):
        for key in keys:
            if one.get(key) != two.get(key):
                return f"`{key}` of its {what} is {two.get(key)}, and was {one.get(key)}"
    return None
