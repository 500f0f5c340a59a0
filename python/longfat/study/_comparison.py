"""Comparing controllers on a path, or on several: the same scenario for each, over several seeds."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from longfat.own import NOTHING, Code
from longfat.results._folder import LIMITS
from longfat.results._tables import early_timeouts
from longfat.scenario import quantities
from longfat.study._compared import comparison_table
from longfat.study._points import seeds_of
from longfat.study._runner import Job, ProgressCallback, Result, run_many
from longfat.study._setup import GROUP, LINK, Setup, label_of
from longfat.study._statistics import Estimate, estimate
from longfat.tables import paragraph
from longfat.units import plural

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from longfat.own import Brought
    from longfat.study._cache import Cache
    from longfat.tables import TextTable

COMPARISON = "a comparison"
"""The folder of a comparison: the numbers, a scenario file per controller, and pictures on request."""

TERABYTE = 8e12
"""In bits."""


@dataclass(frozen=True)
class Contender:
    """One controller of a comparison, over all seeds that worked.

    Attributes:
        control: The controller, as it was written.
        results: One result per seed, in order.
        goodput_bit_s: Of all flows together, in bit/s.
        utilisation: Of the link, 0 to 1.
        queue_mean: Share of the buffer, 0 to 1.
        queue_p99: Share of the buffer that 99 % of the time stay below.
        queue_mean_s: How long the mean queue takes to leave the link, in seconds.
        queue_p99_s: The same of the queue that 99 % of the time stay below.
        drop_rate: Packets dropped per packet that arrives at the queue.
        jain: Jain's index of fairness among the flows, 1 if all get the same.
        timeouts: Time-outs of all flows together, per run.
        terabyte_s: How long all flows together take for 10¹² bytes at their goodput, in seconds.
        anti_ecn: Whether AntiECN is in use; `None` where the controller does not ask for it.
        early_timeouts: Time-outs of all flows together in the warm-up, which every other number leaves out: of
            each run, where that is known.
    """

    control: str
    results: tuple[Result, ...]
    goodput_bit_s: Estimate
    utilisation: Estimate
    queue_mean: Estimate
    queue_p99: Estimate
    queue_mean_s: Estimate
    queue_p99_s: Estimate
    drop_rate: Estimate
    jain: Estimate
    timeouts: Estimate
    terabyte_s: Estimate
    anti_ecn: bool | None = None
    early_timeouts: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The controller as people read it."""
        return label_of(self.control)

    @property
    def stem(self) -> str:
        """The controller as a part of a file name."""
        return re.sub(r"[^A-Za-z0-9.]+", "-", self.label).strip("-")

    def row(self) -> dict[str, Any]:
        """The numbers as plain data."""
        estimates = {
            name: asdict(value) for name, value in vars(self).items() if isinstance(value, Estimate)
        }
        seeds = [result.summary["seed"] for result in self.results if result.summary]
        errors = [result.error for result in self.results if result.error]
        told = {"control": self.control, "seeds": seeds, "errors": errors}
        early = {"early_timeouts": list(self.early_timeouts)}
        return {**told, "anti_ecn": self.anti_ecn, **early, **estimates}

    @property
    def numbers(self) -> dict[str, Estimate]:
        """All numbers by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Estimate)}


@dataclass(frozen=True)
class OnePath:
    """A path, and what the controllers of a comparison made of it.

    Attributes:
        setup: The path, and the flows on it.
        contenders: The controllers, in order.
    """

    setup: Setup
    contenders: tuple[Contender, ...]

    @property
    def table(self) -> TextTable:
        """A column for each controller, a row for each number."""
        queues = [label_of(self.setup.queue_for(each.control)) for each in self.contenders]
        # One that all have is told with the path.
        differ = any(queue != label_of(self.setup.queue) for queue in queues)
        return comparison_table(self.contenders, queues if differ else ())

    @property
    def doubts(self) -> list[str]:
        """What the numbers cannot say: those uncertain by more than half of themselves."""
        wide = [each.label for each in self.contenders if _unsure(each)]
        if not wide:
            return []
        return [
            f"some numbers have a ± of more than half of them ({', '.join(wide)}): more seeds would tell more"
        ]

    @property
    def early(self) -> list[str]:
        """What the numbers leave out and depend on all the same: time-outs in the warm-up."""
        told = []
        for each in self.contenders:
            met = [number for number in each.early_timeouts if number]
            if met:
                runs = f"{len(met)} of {plural(len(each.early_timeouts), 'run')}"
                told.append(f"{each.label} {sum(met):,} in {runs}")
        what = "time-outs in the warm-up, which averages leave out"
        return [f"{what}: {', '.join(told)}"] if told else []

    def as_dict(self) -> dict[str, Any]:
        """The numbers as plain data."""
        controls = [
            {**each.row(), "queue": self.setup.queue_for(each.control)} for each in self.contenders
        ]
        return {"setup": asdict(self.setup), "controls": controls}

    def plot(self) -> Figure:
        """A column for each controller: window, throughput and queue of its first seed."""
        from longfat import plot

        return plot.comparison(self.setup, self.contenders)


@dataclass(frozen=True)
class Comparison:
    """Controllers compared on one path or several, as `longfat.compare` makes it.

    Attributes:
        paths: The paths, in order, each with its controllers.
        seeds: How many runs there are of each controller on each path.
    """

    paths: tuple[OnePath, ...]
    seeds: int

    def __repr__(self) -> str:
        """What was compared, in one line."""
        controls = ", ".join(each.label for each in self.paths[0].contenders)
        return f"<Comparison of {controls} on {len(self.paths)} path(s), {self.seeds} seed(s)>"

    def __str__(self) -> str:
        """The tables, in Markdown."""
        return "\n\n".join(f"{path.setup.title}\n\n{path.table.markdown}" for path in self.paths)

    def _repr_html_(self) -> str:
        parts = []
        for path in self.paths:
            parts += [paragraph(path.setup.title), path.table.html]
            parts += map(paragraph, [*path.early, *path.doubts])
        return "".join([*parts, paragraph(self.legend)])

    @property
    def legend(self) -> str:
        """What the numbers of the tables are."""
        interval = " ± half of the 95 % confidence interval" if self.seeds > 1 else ""
        return f"means over {plural(self.seeds, 'seed')}{interval}; fairness is Jain's index"

    @cached_property
    def rows(self) -> pl.DataFrame:
        """A row for each controller on each path: what was set, and each number with its `…_half_width`."""
        import polars as pl

        return pl.DataFrame(self.records, infer_schema_length=None)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The same as plain data."""
        found = []
        for path in self.paths:
            for each in path.contenders:
                row: dict[str, Any] = {**asdict(path.setup), "control": each.control}
                row["queue"] = path.setup.queue_for(each.control)
                for name, value in each.numbers.items():
                    row |= {name: value.mean, f"{name}_half_width": value.half_width}
                found.append(row)
        return found

    def plot(self, path: str | os.PathLike[str] | None = None, *, on: int = 0) -> Figure:
        """Draws a path: a column for each controller, with window, throughput and queue of its first seed.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.
            on: Which of the `paths`.

        Returns:
            The figure, which a notebook displays.

        Raises:
            ValueError: The comparison kept no time series (`record=False`).
        """
        from longfat import plot

        chosen = self.paths[on]
        if not any(each.results[0].tables for each in chosen.contenders):
            message = "the comparison kept no time series: make it with record=True"
            raise ValueError(message)
        figure = chosen.plot()
        if path is not None:
            plot.save(figure, path)
        return figure


def compare(
    controls: str | Sequence[str],
    *,
    rate: str | Sequence[str],
    rtt: str | Sequence[str],
    flows: int = 1,
    buffer: str | Sequence[str] = "1 bdp",
    queue: str = "drop-tail",
    duration: str = "60 s",
    warmup: str | None = None,
    packet: str = "1500 B",
    loss: float = 0.0,
    access: str | None = None,
    profile: str | None = None,
    seeds: int = 3,
    record: bool = True,
    controllers: Sequence[Brought] = (),
    queues: Sequence[Brought] = (),
    allow_code: bool = False,
) -> Comparison:
    """Compares controllers on one link, or on every combination of rates, round trips and buffers.

    Every controller runs alone on the same path, once per seed; the flows start within the first five round
    trips, drawn from the seed. Finished runs are kept in the cache.

    Args:
        controls: The controllers: names, or tables as in a scenario file, `'{ kind = "exp", gamma = 0.1 }'`.
        rate: Rate of the link, or several.
        rtt: Round-trip propagation delay, or several.
        flows: How many flows there are, all with the same controller.
        buffer: How much the queue can hold, or several.
        queue: The queue discipline: a name, or a table. In place of drop tail controllers that need routers of
            their own have these.
        duration: Simulated time.
        warmup: What every average leaves out; a quarter of the time if not given.
        packet: Size of a data packet.
        loss: Probability that a packet is corrupted on the link, 0 to 1.
        access: Rate of each sender's own link, which some controllers have to know.
        profile: The hosts: a profile such as `linux-6`; those of the standards if not given.
        seeds: How many runs there are of each.
        record: Keep the time series of the first seed, for pictures.
        controllers: Controllers of your own that can be chosen by their names.
        queues: Queues of your own, likewise.
        allow_code: Let `controls` and `queue` name code, which is then loaded and run.

    Returns:
        What was found.

    Raises:
        ScenarioError: A quantity, a controller or the queue is wrong; nothing has been run.
        TypeError: A quantity is no text, such as a number without its unit.
        ValueError: A quantity is wrong, or there is nothing to compare.
    """
    setups = Setup.all(
        rate,
        rtt,
        buffer,
        flows=flows,
        queue=queue,
        duration=duration,
        warmup=warmup,
        packet=packet,
        loss=loss,
        access=access,
        profile=profile,
    )
    code = Code.of(controllers, queues, allow_code)
    tables = SERIES if record else ()
    asked = [controls] if isinstance(controls, str) else list(controls)
    return compare_all(setups, asked, seeds=seeds, tables=tables, code=code)


SERIES = ("flow_series", "link_series")
"""What pictures need."""


def compare_all(
    setups: Sequence[Setup],
    controls: Sequence[str],
    *,
    seeds: int = 3,
    tables: tuple[str, ...] = (),
    cache: Cache | None = None,
    progress: ProgressCallback | None = None,
    code: Code = NOTHING,
) -> Comparison:
    """Runs every controller on every path with every seed, in parallel.

    Args:
        setups: The paths and the flows.
        controls: The controllers.
        seeds: How many seeds, from 1 up.
        tables: Tables to keep of the first seed of each controller.
        cache: Where finished runs are kept; the default cache if not given.
        progress: Told how far the runs have come.
        code: What the controllers and the queue may be beyond those of longfat.

    Raises:
        ScenarioError: Something in a set-up or a controller is wrong; nothing has been run.
        ValueError: There is nothing to compare.
    """
    if not setups or not controls or seeds < 1:
        message = "there is nothing to compare: a path, a controller and a seed are needed"
        raise ValueError(message)
    scenarios = [setup.scenario(control, code) for setup in setups for control in controls]
    jobs = [
        Job(scenario, seed, (*tables, LIMITS) if seed == 1 else (LIMITS,))
        for scenario in scenarios
        for seed in seeds_of(seeds)
    ]
    results = iter(run_many(jobs, cache=cache, progress=progress))
    paths = [
        OnePath(
            setup,
            tuple(
                _light(contender(control, [next(results) for _ in range(seeds)], GROUP))
                for control in controls
            ),
        )
        for setup in setups
    ]
    return Comparison(tuple(paths), seeds)


def write_files(folder: Path, found: Comparison, *, pictures: bool = False) -> None:
    """Writes the numbers, a scenario file per path and controller and, on request, pictures into a folder."""
    several = len(found.paths) > 1
    content = [path.as_dict() for path in found.paths]
    told = {"comparisons": content} if several else content[0]
    text = json.dumps(told, indent=2, ensure_ascii=False)
    (folder / "comparison.json").write_text(text + "\n", encoding="utf-8")
    for path in found.paths:
        before = f"{path.setup.stem}-" if several else ""
        for contender in path.contenders:
            target = folder / f"{before}{contender.stem}.toml"
            target.write_text(path.setup.text(contender.control), encoding="utf-8")
        if pictures:
            from longfat import plot

            figure = path.plot()
            for suffix in ("png", "svg"):
                plot.save(figure, folder / f"{before}comparison.{suffix}")


def _unsure(contender: Contender) -> bool:
    """Whether a number is uncertain by more than half of itself; rare events, mostly so, do not count."""
    numbers = (
        contender.goodput_bit_s,
        contender.utilisation,
        contender.queue_mean,
        contender.queue_p99,
        contender.jain,
    )
    return any(
        each.mean is not None
        and each.half_width is not None
        and 2 * each.half_width > each.mean > 0
        for each in numbers
    )


def contender(control: str, results: Sequence[Result], group: str) -> Contender:
    """A controller of a comparison, from its runs on a path with the link `LINK`.

    Args:
        control: The controller, as it was written.
        results: One result per seed, in order.
        group: The flows whose fairness counts.
    """
    summaries = [result.summary for result in results if result.summary]

    def link(key: str) -> Estimate:
        return estimate(summary["links"][LINK]["forward"][key] for summary in summaries)

    def total(summary: dict[str, Any], key: str) -> float:
        return sum(flow[key] or 0 for flow in summary["flows"])

    def flows(key: str) -> Estimate:
        return estimate(total(summary, key) for summary in summaries)

    full = full_buffer_s(results[0], group)

    def waiting(key: str) -> Estimate:
        shares = (summary["links"][LINK]["forward"][key] for summary in summaries)
        return estimate(None if share is None or full is None else full * share for share in shares)

    rates = [total(summary, "goodput_bit_s") for summary in summaries]
    return Contender(
        control=control,
        results=tuple(results),
        goodput_bit_s=flows("goodput_bit_s"),
        utilisation=link("utilisation"),
        queue_mean=link("queue_mean"),
        queue_p99=link("queue_p99"),
        queue_mean_s=waiting("queue_mean"),
        queue_p99_s=waiting("queue_p99"),
        drop_rate=link("drop_rate"),
        jain=estimate(summary["jain"].get(group) for summary in summaries),
        timeouts=flows("timeouts"),
        terabyte_s=estimate(TERABYTE / rate if rate else None for rate in rates),
        anti_ecn=summaries[0]["flows"][0]["anti_ecn"] if summaries else None,
        early_timeouts=tuple(
            sum(early_timeouts(each.summary["flows"], each.tables[LIMITS].to_polars()).values())
            for each in results
            if each.summary and LIMITS in each.tables
        ),
    )


def _light(contender: Contender) -> Contender:
    """The same without a table of its runs that nothing more is taken from."""
    results = [
        replace(each, tables={name: it for name, it in each.tables.items() if name != LIMITS})
        for each in contender.results
    ]
    return replace(contender, results=tuple(results))


def full_buffer_s(result: Result, group: str) -> float | None:
    """How long a full buffer takes to leave the link; `None` where it has no bound."""
    told = quantities(result.job.scenario)
    link = told.links[LINK].forward
    if link.buffer is None:
        return None
    each = told.groups[group].packet_bytes if link.unit == "packets" else 1
    return 8 * link.buffer * each / link.rate_bit_s
