"""Comparing controllers on one path: the same scenario for each, over several seeds."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.own import NOTHING, Code
from longfat.scenario import toml_value
from longfat.study._runner import Job, ProgressCallback, Result, run_many
from longfat.study._statistics import Estimate, estimate
from longfat.units import RATE, TIME, amount, plain, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.study._cache import Cache

COMPARISON = "a comparison"
"""The folder of a comparison: the numbers, a scenario file per controller, and a picture on request."""

LINK = "bottleneck"
GROUP = "flow"

_ONE_IN_1000 = 1e-3
"""A larger loss rate is written in percent."""

_START_ROUND_TRIPS = 5
"""Flows start within this many round trips, at times drawn from the seed: all that seeds change."""


@dataclass(frozen=True)
class Setup:
    """The path, and the flows on it. Every quantity is a text with its unit.

    Attributes:
        rate: Rate of the link.
        rtt: Round-trip propagation delay.
        flows: How many flows there are, all with the same controller.
        duration: Simulated time.
        warmup: What every average leaves out.
        buffer: How much the queue can hold.
        queue: The queue discipline: a name, or a table such as `{ kind = "red", max_p = 0.1 }`.
        packet: Size of a data packet.
        loss: Probability that a packet is corrupted on the link.
    """

    rate: str
    rtt: str
    flows: int = 1
    duration: str = "60 s"
    warmup: str = "15 s"
    buffer: str = "1 bdp"
    queue: str = "drop-tail"
    packet: str = "1500 B"
    loss: float = 0.0

    @property
    def title(self) -> str:
        """The path and the flows in one line."""
        rate = amount(_longfat.quantity("rate", self.rate), RATE)
        rtt = amount(_longfat.quantity("time", self.rtt) * 1e-12, TIME)
        buffer, queue = label_of(self.buffer), label_of(self.queue)
        parts = [
            f"{plural(self.flows, 'flow')} on {rate}",
            f"round trip {rtt}",
            f"buffer {buffer}",
            queue,
        ]
        if self.loss:
            parts.append(
                f"loss {f'{100 * self.loss:g} %' if self.loss >= _ONE_IN_1000 else plain(self.loss)}"
            )
        if _longfat.quantity("size", self.packet) != _longfat.quantity("size", Setup.packet):
            parts.append(f"packets of {self.packet}")
        return ", ".join(parts)

    def text(self, control: str) -> str:
        """The scenario file for one controller: a name, or a table such as `{ kind = "exp", gamma = 0.1 }`."""
        rtt = _longfat.quantity("time", self.rtt)
        return f"""\
# {label_of(control)}: {self.title}.

duration = {toml_value(self.duration)}
warmup = {toml_value(self.warmup)}

[link.{LINK}]
rate = {toml_value(self.rate)}
delay = "{exact_time(rtt // 2)}"
loss = {self.loss!r}
buffer = {toml_value(self.buffer)}
queue = {_quoted(self.queue)}

[[flow]]
name = "{GROUP}"
control = {_quoted(control)}
count = {self.flows}
path = ["{LINK}"]
rtt = {toml_value(self.rtt)}
start = {{ uniform = ["0 s", "{exact_time(_START_ROUND_TRIPS * rtt)}"] }}
packet = {toml_value(self.packet)}
"""

    def scenario(self, control: str, code: Code = NOTHING) -> _longfat.Scenario:
        """The checked scenario for one controller, which may use `code` beyond longfat.

        Raises:
            ScenarioError: Something in the set-up or the controller is wrong.
        """
        return _longfat.Scenario.parse(
            self.text(control),
            f"the scenario for {label_of(control)}",
            own=code.handles(),
            code=code.fetcher(None),
        )


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
        drop_rate: Packets dropped per packet that arrives at the queue.
        jain: Jain's index of fairness among the flows, 1 if all get the same.
        timeouts: Time-outs of all flows together, per run.
        anti_ecn: Whether AntiECN is in use; `None` where the controller does not ask for it.
    """

    control: str
    results: tuple[Result, ...]
    goodput_bit_s: Estimate
    utilisation: Estimate
    queue_mean: Estimate
    queue_p99: Estimate
    drop_rate: Estimate
    jain: Estimate
    timeouts: Estimate
    anti_ecn: bool | None = None

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
        return {**told, "anti_ecn": self.anti_ecn, **estimates}


def compare(
    setup: Setup,
    controls: Sequence[str],
    *,
    seeds: int = 3,
    tables: tuple[str, ...] = (),
    cache: Cache | None = None,
    progress: ProgressCallback | None = None,
    code: Code = NOTHING,
) -> list[Contender]:
    """Runs every controller with every seed, in parallel.

    Args:
        setup: The path and the flows.
        controls: The controllers.
        seeds: How many seeds, from 1 up.
        tables: Tables to keep of the first seed of each controller.
        cache: Where finished runs are kept; the default cache if not given.
        progress: Told how far the runs have come.
        code: What the controllers and the queue may be beyond those of longfat.

    Returns:
        The controllers, in order.

    Raises:
        ScenarioError: Something in the set-up or a controller is wrong; nothing has been run.
    """
    jobs = [
        Job(scenario, seed, tables if seed == 1 else ())
        for scenario in [setup.scenario(control, code) for control in controls]
        for seed in range(1, seeds + 1)
    ]
    results = list(run_many(jobs, cache=cache, progress=progress))
    parts = (results[first : first + seeds] for first in range(0, len(results), seeds))
    return [contender(control, part, GROUP) for control, part in zip(controls, parts, strict=True)]


def write_files(
    folder: Path, setup: Setup, found: Sequence[Contender], *, picture: bool = False
) -> None:
    """Writes the numbers, a scenario file per controller and, on request, a picture into a folder."""
    content = {"setup": asdict(setup), "controls": [contender.row() for contender in found]}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    (folder / "comparison.json").write_text(text + "\n", encoding="utf-8")
    for contender in found:
        path = folder / f"{contender.stem}.toml"
        path.write_text(setup.text(contender.control), encoding="utf-8")
    if picture:
        from longfat import plot

        figure = plot.comparison(setup, found)
        plot.save(figure, folder / "comparison.png")
        plot.save(figure, folder / "comparison.svg")


def label_of(choice: str) -> str:
    """A controller, queue or length, which may be a table, as people read it, in one line.

    >>> label_of('{ kind = "exp", gamma = 0.1 }')
    'exp, gamma = 0.1'
    """
    plain = " ".join(choice.split()).removeprefix("{").removesuffix("}").strip()
    return re.sub(r"""^kind\s*=\s*["']([^"']*)["']""", r"\1", plain)


def split_controls(text: str) -> list[str]:
    """Splits a list at the commas that are not within a table.

    >>> split_controls('cubic, { kind = "exp", gamma = 0.1 }')
    ['cubic', '{ kind = "exp", gamma = 0.1 }']
    """
    parts = re.findall(r"(?:\{[^}]*\}|[^,{])+", text)
    return [part.strip() for part in parts if part.strip()]


def _quoted(choice: str) -> str:
    return choice if choice.startswith("{") else toml_value(choice)


def exact_time(picoseconds: int) -> str:
    """A time with the largest unit that needs no decimals.

    >>> exact_time(1_500_000_000)
    '1500 us'
    """
    units = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))
    unit, size = next((unit, size) for unit, size in units if picoseconds % size == 0)
    return f"{picoseconds // size} {unit}"


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

    def flows(key: str) -> Estimate:
        return estimate(sum(flow[key] or 0 for flow in summary["flows"]) for summary in summaries)

    return Contender(
        control=control,
        results=tuple(results),
        goodput_bit_s=flows("goodput_bit_s"),
        utilisation=link("utilisation"),
        queue_mean=link("queue_mean"),
        queue_p99=link("queue_p99"),
        drop_rate=link("drop_rate"),
        jain=estimate(summary["jain"].get(group) for summary in summaries),
        timeouts=flows("timeouts"),
        anti_ecn=summaries[0]["flows"][0]["anti_ecn"] if summaries else None,
    )
