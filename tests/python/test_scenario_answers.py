"""The example scenarios answer the questions that they begin with, in numbers that are those of their runs.

A claim is the words of an answer with places for its numbers, which the runs fill in; what comes out stands
in the answer. So a number holds to the digits that it is told with. It may also be told as a word (`{:word}`
is "eight") or as a part (`{:part}` is "an eighth").
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import longfat
from longfat.study import study
from longfat.study._numbers import of_summary
from longfat.study._statistics import estimate
from support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.results import Run

Number = Callable[["Run"], float]
"""What a claim reads from a run, in the unit in which it is told."""

Pick = Callable[[list[float]], float]
"""Which of the numbers of several flows, or of several seeds, is told."""

WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
PARTS = {2: "half", 8: "an eighth", 10: "a tenth", 16: "a sixteenth", 20: "a twentieth"}


class Told(float):
    """A number that can also be told in words."""

    def __format__(self, how: str) -> str:
        if how == "word":  # little is not nothing
            return WORDS[round(self)] if not self or self >= 0.5 else f"{float(self)}"
        if how == "part":
            return PARTS.get(round(1 / self), f"1/{1 / self:.1f}")
        return super().__format__(how)


@dataclass(frozen=True)
class OverSeeds:
    """Something else than the mean of what runs with several seeds have."""

    number: Number
    pick: Pick


Claim = tuple[Any, ...]
"""The words, and for each of their places a `Number` or `OverSeeds`."""


@dataclass(frozen=True)
class Case:
    """A scenario, what is set in it, and what its answer says of that."""

    scenario: str
    claims: list[Claim]
    changes: tuple[str, ...] = ()
    seeds: int = 1
    long: bool = False

    def filled(self) -> list[str]:
        """The claims with the numbers of the runs."""
        path = f"scenarios/{self.scenario}.toml"
        seeds = range(1, self.seeds + 1)
        runs = [longfat.run(path, set=list(self.changes), seed=seed) for seed in seeds]
        return [
            words.format(*(Told(over_seeds(number, runs)) for number in numbers))
            for words, *numbers in self.claims
        ]


def over_seeds(number: Number | OverSeeds, runs: list[Run]) -> float:
    if isinstance(number, OverSeeds):
        return number.pick([number.number(run) for run in runs])
    return fmean(number(run) for run in runs)


def half(number: Number) -> OverSeeds:
    """Half of the interval in which the mean over seeds lies."""

    def half_width(values: list[float]) -> float:
        found = estimate(values).half_width
        assert found is not None
        return found

    return OverSeeds(number, half_width)


def of(name: str, unit: float = 1.0) -> Number:
    """A number of a run by its name in studies."""
    return lambda run: of_summary(run.summary)[name] / unit


def used(link: str, unit: float = 0.01) -> Number:
    return of(f"links.{link}.utilisation", unit)


def unused(link: str, unit: float = 0.01) -> Number:
    return lambda run: (1 - used(link, 1)(run)) / unit


def ratio(one: Number, other: Number) -> Number:
    return lambda run: one(run) / other(run)


def flows(run: Run, group: str, name: str) -> list[float]:
    """A number of each flow of a group."""
    return [flow[name] for flow in run.summary["flows"] if flow["name"].startswith(f"{group}[")]


def altogether(name: str, unit: float = 1.0) -> Number:
    """What all flows have together."""
    return lambda run: sum(flow[name] for flow in run.summary["flows"]) / unit


def first(values: list[float]) -> float:
    return values[0]


def spread(values: list[float]) -> float:
    """The largest over the smallest."""
    return max(values) / min(values)


def rate(group: str, pick: Pick = fmean) -> Number:
    """Goodputs of flows in Mbit/s."""
    return lambda run: pick(flows(run, group, "goodput_bit_s")) / 1e6


def rates(group: str, pick: Pick) -> Number:
    """A relation between the goodputs of flows."""
    return lambda run: pick(flows(run, group, "goodput_bit_s"))


def percent_apart(values: list[float]) -> float:
    return 100 * (spread(values) - 1)


def wait(group: str, pick: Pick = fmean, what: str = "mean") -> Number:
    """Queueing delays of flows in ms."""
    return lambda run: pick(flows(run, group, f"queueing_delay_{what}_s")) / 1e-3


def time(group: str) -> Number:
    """From the start of the flow to its end, in s."""
    return of(f"flows.{group}.completion_s")


def times(group: str, statistic: str) -> Number:
    """Completion times of short flows in ms."""
    return of(f"traffic.{group}.completion_s.{statistic}", 1e-3)


def page(statistic: str) -> Number:
    """Load times of pages in s."""
    return of(f"applications.browsers.page_load_s.{statistic}")


def times_that_of(name: str, *changes: str) -> Number:
    """How many times as large a number is as with these changes."""

    def without(run: Run) -> float:
        return of(name)(longfat.run(f"scenarios/{run.name}.toml", set=list(changes)))

    return ratio(of(name), without)


def percent_more(name: str, *changes: str) -> Number:
    return lambda run: 100 * (times_that_of(name, *changes)(run) - 1)


def larger_window(at: float) -> Number:
    """By which part the window of the first flow is larger than that of the second, at this time."""

    def larger(run: Run) -> float:
        then = run.flow_series.to_polars().filter((pl.col("time_s") - at).abs() < 1e-6)
        one, other = then.sort("flow")["window"]
        return float(one / other - 1)

    return larger


def small(pick: Callable[[pl.DataFrame], Any], unit: float = 1.0) -> Number:
    """Of the transfers of up to a megabyte."""

    def picked(run: Run) -> float:
        transfers = run.transfers.to_polars()
        return float(pick(transfers.filter(pl.col("bytes") <= MEGABYTE)) / unit)

    return picked


MEGABYTE = 1_000_500
"""On the wire, in whole packets of 1500 bytes."""


def response(validation: str, pacing: str, words: str) -> Case:
    """How long a response takes after a pause."""
    changes = (f"flow.page.window_validation={validation}", f"flow.page.pacing={pacing}")
    return Case("pauses", [(words, of("applications.page.response_s.mean"))], changes)


BOTTLENECK = "bottleneck.forward"
LONE = "flows.lone.goodput_bit_s"
PLAIN = "link.bottleneck.anti_ecn=false"
POLICED = (
    "link.access.shaper=false",
    'link.access.policer={ rate = "20 Mbit/s", burst = "100 kB" }',
)
DROP_TAIL = "link.access.queue=drop-tail"
CODEL = "link.access.queue=codel"
ANYHOW = (
    "link.bottleneck.queue=drop-tail",
    "flow.long.control.priorities=false",
    "traffic.files.control.priorities=false",
)
BBR1 = "flow.bbr3.control=bbr1"
HELD = 'link.cable.reverse.acknowledgments={ hold = "5 ms", keep = "newest" }'

CASES = [
    Case(
        "anti-ecn",
        [
            ("{:.0f} Mbit/s instead", rate("lone")),
            ("{:.1f} % more, and no loss", percent_more(LONE, PLAIN)),
            ("and {:word} loss either way", of("links.bottleneck.forward.dropped")),
        ],
        long=True,
    ),
    Case(
        "anti-ecn",
        [
            ("Mbit/s instead of {:.0f}", rate("lone")),
            ("and {:word} loss either way", of("links.bottleneck.forward.dropped")),
        ],
        (PLAIN,),
        long=True,
    ),
    Case(
        "anti-ecn",
        [("A threshold of 0.75 gives {:.1f} %", percent_more(LONE, PLAIN))],
        ("link.bottleneck.anti_ecn.threshold=0.75",),
        long=True,
    ),
    Case(
        "asymmetric",
        [
            ("{:word} out of five acknowledgments", of("links.cable.reverse.drop_rate", 1 / 5)),
            ("{:.0f} ms if only the newest", wait("download")),
        ],
    ),
    Case("asymmetric", [("use {:.0f} % of their link", used("cable.reverse"))], (HELD,)),
    Case(
        "asymmetric",
        [
            ("{:word} out of five acknowledgments", of("links.cable.reverse.drop_rate", 1 / 5)),
            ("{:.0f} ms on average", wait("download")),
        ],
        ("link.cable.reverse.acknowledgments=false",),
    ),
    Case(
        "bbr-and-cubic",
        [
            ("BBRv3 takes {:.0f} ± {:.0f} of 100 Mbit/s", rate("bbr3"), half(rate("bbr3"))),
            ("and CUBIC {:.0f},", rate("cubic")),
        ],
        seeds=3,
    ),
    Case(
        "bbr-and-cubic",
        [("with four {:.0f} and CUBIC {:.0f}", rate("bbr3"), rate("cubic"))],
        ('link.access.buffer="4 bdp"',),
        seeds=3,
        long=True,
    ),
    Case(
        "bbr-and-cubic",
        [("with sixteen CUBIC has {:.0f}:", rate("cubic"))],
        ('link.access.buffer="16 bdp"',),
        seeds=3,
        long=True,
    ),
    Case(
        "bbr-and-cubic",
        [("CUBIC gets {:.0f} Mbit/s at one round trip", rate("cubic"))],
        (BBR1,),
        seeds=3,
        long=True,
    ),
    Case(
        "bbr-and-cubic",
        [("at a fifth of one {:.0f} instead", rate("cubic"))],
        (BBR1, 'link.access.buffer="0.2 bdp"'),
        seeds=3,
        long=True,
    ),
    Case(
        "bbr-and-cubic",
        [("instead of {:.0f}: that", rate("cubic"))],
        ('link.access.buffer="0.2 bdp"',),
        seeds=3,
        long=True,
    ),
    Case(
        "browsers",
        [
            ("{:.1f} s on average", page("mean")),
            ("and {:.0f} s instead of", page("p99")),
            ("instead of {:.0f}. A", rate("download")),
        ],
    ),
    Case(
        "browsers",
        [
            ("instead of the {:.1f} s of an idle link", page("mean")),
            ("instead of {:.1f} s for one in a hundred", page("p99")),
        ],
        ("flow.download.size=1500 B",),
    ),
    Case(
        "browsers",
        [
            ("they take {:.1f} s", page("mean")),
            ("the download gets {:.0f} Mbit/s", rate("download")),
        ],
        (CODEL,),
    ),
    Case(
        "browsers",
        [("takes {:.1f} s.", page("mean"))],
        ("flow.browsers.application.connections=1",),
    ),
    Case(
        "bursts",
        [
            ("they lose {:word}thing", of("traffic.files.data_dropped")),
            ("{:word} out of five of its packets are lost", of("flows.long.drop_rate", 1 / 5)),
            # How full the buffer is, whose packets take 150 ms.
            ("behind a full buffer, {:.0f} ms", of(f"links.{BOTTLENECK}.queue_mean", 1 / 150)),
        ],
    ),
    Case(
        "bursts",
        [
            ("{:word} file completes", of("traffic.files.completed")),
            ("makes {:word} progress", rate("long")),
        ],
        ANYHOW,
    ),
    Case(
        "cake-hosts",
        [
            ("{:.1f} Mbit/s for the one download", rate("one")),
            ("and {:.1f} for each of the nine", rate("nine", min)),
            ("and {:.1f} for each of the nine", rate("nine", max)),
            ("instead of {:.0f} to {:.0f}.", wait("one"), wait("nine", max)),
        ],
    ),
    Case(
        "cake-hosts",
        [
            ("all ten {:.1f} Mbit/s", rate("one")),
            ("all ten {:.1f} Mbit/s", rate("nine", min)),
            ("all ten {:.1f} Mbit/s", rate("nine", max)),
        ],
        ("link.access.queue=fq-codel",),
    ),
    Case(
        "cake-hosts",
        [
            ("between {:.1f} and {:.1f} Mbit/s", rate("nine", min), rate("one")),
            ("wait for {:.0f} ms", wait("one")),
            ("wait for {:.0f} ms", wait("nine", min)),
            ("wait for {:.0f} ms", wait("nine", max)),
        ],
        (DROP_TAIL,),
    ),
    Case("cellular", [("all of it, and {:.0f} ms:", wait("download"))]),
    Case(
        "cellular",
        [
            ("the wait is {:.0f} ms", wait("download")),
            ("{:.0f} % of the capacity is lost", unused("cell.forward")),
            ("to {:word} time-outs", of("flows.download.timeouts")),
        ],
        ("link.cell.queue=codel",),
    ),
    Case(
        "first",
        [
            ("22 s after the second flow starts, the first still has {:part}", larger_window(42.0)),
            ("after 43 s {:part} more", larger_window(63.0)),
            ("after 53 s {:part}.", larger_window(73.0)),
        ],
    ),
    Case(
        "fq-codel",
        [
            ("The call waits for {:.1f} ms", wait("call")),
            ("and loses {:word}thing", of("flows.call.drop_rate")),
            ("get {:.1f} to {:.1f} of", rate("download", min), rate("download", max)),
            ("of the {:.1f} Mbit/s", lambda run: (20 - rate("call")(run)) / 4),
            ("wait for {:.0f} to {:.0f} ms", wait("download", min), wait("download", max)),
            ("waits for itself: {:part} a second", of("flows.flood.queueing_delay_mean_s")),
        ],
    ),
    Case(
        "fq-codel",
        [
            ("everybody waits for {:.0f} to", wait("call")),
            ("to {:.0f} ms and", wait("download", max)),
            ("get {:.1f} to {:.1f} Mbit/s", rate("download", min), rate("download", max)),
        ],
        (CODEL,),
    ),
    Case(
        "handover",
        [
            ("{:part} of the capacity", unused("satellite.forward", 1)),
            ("cubic uses {:.0f} % of the link", used("satellite.forward")),
            ("{:word} time-outs in 150 s", of("flows.download.timeouts")),
        ],
    ),
    Case("known-path", [("{:.1f} s rather than {:.1f} s: five", time("known"), time("unknown"))]),
    Case(
        "known-path",
        [
            ("{:.1f} s rather than {:.1f} s: the jump", time("known"), time("unknown")),
            ("takes {:word} time-outs to recover", of("flows.unknown.timeouts")),
        ],
        ("link.satellite.rate=10 Mbit/s",),
    ),
    *(
        Case("lossy-path", [(words, rate("download"))], (f"flow.download.control={control}",), 3)
        for control, words in (
            ("cubic", "{:.1f} of 50 Mbit/s with cubic"),
            ("bbr1", "{:.0f} with bbr1"),
            ("bbr3", "and {:.0f} with bbr3"),
        )
    ),
    Case(
        "lost-tails",
        [
            ("need {:.0f} ms, half a round trip", times("sack", "p50")),
            ("in a hundred needs {:.0f} ms or more", times("sack", "p99")),
            ("{:.0f} ms where a probe leaves after two round trips", times("linux", "p99")),
            ("and {:.0f} ms where it leaves after a round trip", times("quic", "p99")),
            (
                "On average it is {:.0f}, {:.0f} and {:.0f} ms",
                *(times(group, "mean") for group in ("sack", "linux", "quic")),
            ),
        ],
    ),
    Case(
        "low-latency",
        [
            ("wait for {:.1f} ms on average", wait("prague")),
            ("at most {:.2f} ms", wait("prague", max, "p99")),
            ("wait for {:.0f} ms, the target", wait("cubic")),
            ("and {:.1f} ms, on", wait("cubic", max, "p99")),
            ("Prague gets {:.0f} Mbit/s a flow", rate("prague", first)),
            ("CUBIC {:.0f} ± {:.0f}", rate("cubic", first), half(rate("cubic", first))),
        ],
        seeds=5,
    ),
    Case(
        "parallel",
        [
            ("{:.0f} ± {:.0f} Mbit/s to their", rate("multcp"), half(rate("multcp"))),
            ("to their {:.0f} ± {:.0f}", rate("parallel", sum), half(rate("parallel", sum))),
            ("{:.0f} events", of("flows.multcp.congestion_events")),
            ("events to {:.0f}.", of("flows.parallel.congestion_events")),
        ],
        seeds=5,
    ),
    Case(
        "parking-lot",
        [
            ("{:.1f} ± {:.1f} Mbit/s", rate("long"), half(rate("long"))),
            ("{:part} of", ratio(rate("long"), rate("on-first"))),
            *(("the {:.0f} Mbit/s", rate(f"on-{link}")) for link in ("first", "second", "third")),
        ],
        seeds=10,
        long=True,
    ),
    response("none", "spread", "2 MB then takes {:.2f} s"),
    response("none", "none", "and {:.2f} s go by"),
    response("rfc5681", "spread", '(`"rfc5681"`) {:.2f} s.'),
    response("rfc5681", "none", "or {:.2f} s if slow start begins again"),
    response("rfc2861", "spread", "lies between: {:.2f} s paced"),
    response("rfc2861", "none", '{:.2f} s not. `"rfc7661"`'),
    response("ratelimited-increase", "spread", "no use for: {:.2f} s paced"),
    response("ratelimited-increase", "none", "{:.2f} s not. --set"),
    Case(
        "pie",
        [
            ("with PIE {:.0f} ms on average", wait("reno")),
            ("leave {:.1f} % of the link unused", unused("access.forward")),
        ],
        seeds=3,
    ),
    Case(
        "pie",
        [
            ("with CoDel {:.0f} ms", wait("reno")),
            ("leave {:.1f} % of the link unused", unused("access.forward")),
        ],
        (CODEL,),
        seeds=3,
    ),
    Case(
        "pie",
        [("{:.0f} to {:.0f} ms", OverSeeds(wait("reno"), min), OverSeeds(wait("reno"), max))],
        (DROP_TAIL,),
        seeds=3,
    ),
    Case("receive-window", [("the download takes {:.1f} s", time("download"))]),
    Case(
        "receive-window",
        [
            ("and {:.1f} s without a limit", time("download")),
            ("loses {:.0f} % of its packets", of("flows.download.drop_rate", 0.01)),
        ],
        ("flow.download.receive_window=none",),
    ),
    Case(
        "receive-window",
        [("it takes {:.0f} s", time("download"))],
        (
            'flow.download.receive_window={ kind = "fixed", size = "1 MB", scale = 0 }',
            "duration=90 s",
        ),
    ),
    Case(
        "receive-window",
        [("into the overshoot: {:.1f} s", time("download"))],
        ('flow.download.receive_window={ kind = "sender-tuned" }',),
    ),
    Case(
        "replay",
        [
            ("{:.0f} ms on average", small(lambda of_all: of_all["completion_s"].mean(), 1e-3)),
            ("{:.1f} s for one", small(lambda of_all: of_all["completion_s"].quantile(0.99))),
            ("less than {:.0f} ms", small(lambda of_all: of_all["completion_s"].median(), 1e-3)),
            ("time-outs, {:.0f} of them", small(lambda of_all: of_all["timeouts"].sum())),
        ],
    ),
    Case(
        "replay",
        [
            ("they take {:.0f} and", times("recorded", "mean")),
            ("and {:.0f} ms. Half", times("recorded", "p99")),
        ],
        ("traffic.recorded.replay=small.csv",),
    ),
    Case(
        "ring",
        [
            ("with {:.0f} to {:.0f} Mbit/s each", rate("across"), rate("from-a")),
            ("They get {:.0f} and {:.0f}:", rate("from-b"), rate("against")),
        ],
        seeds=5,
    ),
    Case("shaper", [("packets wait {:.0f} ms on average", wait("download"))]),
    Case(
        "shaper",
        [
            ("it gets {:.1f} Mbit/s", rate("download")),
            (
                "{:word} times as many packets",
                times_that_of("links.access.forward.dropped"),
            ),
        ],
        POLICED,
    ),
    Case(
        "three-reno-1G",
        [("{:.0f} million data packets", of("engine.data_packets", 1e6))],
        long=True,
    ),
    Case(
        "two-way",
        [
            ("Answer: {:part} of the link", unused(BOTTLENECK, 1)),
            ("they stop at {:.0f} and", used(BOTTLENECK)),
            ("and {:.0f} %", used("bottleneck.reverse")),
        ],
        seeds=10,
        long=True,
    ),
    Case(
        "two-way-500M",
        [
            ("{:.0f} % of the link is used one way", used(BOTTLENECK)),
            ("{:.0f} % the other", used("bottleneck.reverse")),
            ("below {:.0f} % of the buffer", of("links.bottleneck.reverse.queue_p99", 0.01)),
            ("from {:.0f} to {:.0f} Mbit/s", rate("backward", min), rate("backward", max)),
            ("{:.0f} of", altogether("data_dropped")),
            ("of {:word} million data packets are lost", altogether("data_sent", 1e6)),
        ],
        long=True,
    ),
    Case(
        "vcp",
        [
            ("rates of ten flows differ by {:.0f} %", rates("vcp", percent_apart)),
            ("{:part} of the link is not used", unused(BOTTLENECK, 1)),
        ],
    ),
    Case(
        "vcp",
        [("by a factor of {:.1f} after 20 s", rates("vcp", spread))],
        ("duration=30 s", "warmup=20 s"),
    ),
    Case(
        "video",
        [
            ("by a factor of {:.1f}.", ratio(rate("by-buffer"), rate("by-throughput"))),
            ("gets {:.1f} Mbit/s, as much", rate("by-buffer")),
            ("gets {:.1f} Mbit/s, as much", rate("download")),
            ("The other one gets {:.1f}:", rate("by-throughput")),
        ],
    ),
    Case(
        "video",
        [
            ("all three get {:.1f}", rate("download")),
            ("to {:.1f} Mbit/s", rate("by-buffer")),
        ],
        ("flow.by-throughput.application.rule=buffer",),
    ),
    Case(
        "xcp-rtts",
        [
            ("rates of ten flows differ by {:.1f} %", rates("xcp", percent_apart)),
            ("The link is {:.2f} % busy", used(BOTTLENECK)),
            ("{:word} packets wait", of(f"links.{BOTTLENECK}.queue_mean", 1 / 1488)),
            ("{:word}thing is lost", of(f"links.{BOTTLENECK}.dropped")),
        ],
    ),
    Case(
        "xcp-rtts",
        [("those of Reno, by a factor of {:word}", rates("xcp", spread))],
        (
            "link.bottleneck.queue=drop-tail",
            "flow.xcp.control=reno",
            "duration=300 s",
            "warmup=150 s",
        ),
        seeds=5,
    ),
]


def answer(scenario: str) -> str:
    """The answer in the comment at the head of a scenario, in one line."""
    head, _, _ = (ROOT / f"scenarios/{scenario}.toml").read_text("utf-8").partition("\nduration")
    lines = [line.removeprefix("#") for line in head.splitlines()]
    _, opening, told = " ".join(lines).partition("Answer:")
    return " ".join([opening, *told.split()])


EXAMPLES = sorted((ROOT / "scenarios").glob("*.toml"))


def whole(words: str) -> str:
    """What finds these words where they are not a part of longer ones: 5 Mbit/s are not in 15 Mbit/s."""
    return rf"(?<![\w.])(?:{words})(?!\w|\.\d)"


def place(words: str) -> str:
    """What finds the words of a claim, whatever is told in their places."""
    told = {"word": r"\w+", "part": r"\w+(?: \w+)?"}
    parts = re.split(r"\{:(.*?)\}", words)
    for at, part in enumerate(parts):
        parts[at] = told.get(part, r"\d+(?:\.\d+)?") if at % 2 else re.escape(part)
    return whole("".join(parts))


@pytest.fixture
def examples(own_folder: Path) -> None:
    """The scenarios; beside the list of flows, one without those of more than a megabyte."""
    shutil.copytree(ROOT / "scenarios", "scenarios")
    flows = pl.read_csv("scenarios/replay.csv", comment_prefix="#")
    flows.filter(pl.col("size_bytes") <= 1_000_000).write_csv("scenarios/small.csv")


def named(case: Case) -> str:
    return " ".join([case.scenario, *case.changes])


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=named(case), marks=[pytest.mark.long] if case.long else [])
        for case in CASES
    ],
)
def test_the_numbers_of_an_answer_are_those_of_its_runs(case: Case) -> None:
    told = answer(case.scenario)
    assert not [words for words in case.filled() if not re.search(whole(re.escape(words)), told)]


GIVEN = {
    "asymmetric": {"3449", "5.2.1"},  # an RFC
    "handover": {"80"},  # two delays of the satellite
    "known-path": {"20"},  # the window that ten acknowledgments leave of the first ten segments
    "lossy-path": {"2", "25"},  # the tolerance of BBRv3, and the round trips between its probes
    "lost-tails": {"25"},  # the longest delay of an acknowledgment
    "low-latency": {"99", "9331"},  # of packets, and an RFC
    "pie": {"15"},  # its target
    "receive-window": {"65", "535"},  # what sixteen bits can tell
    "ring": {"67"},  # max-min fairness
    "three-reno-1G": {"60", "3000"},  # of this machine, and the product of bandwidth and delay
    "two-way-500M": {"99"},  # of the time
    "vcp": {"98"},  # its target
    "xcp-rtts": {"150"},  # where the runs of Reno are measured
}
"""What answers tell beside what comes out: of settings, standards and theory."""

COMMAND = re.compile(r"""`.*?`|--set [^\s"']*(?:"[^"]*"|'[^']*')?""")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_number_of_an_answer_is_claimed_set_or_given(path: Path) -> None:
    told = answer(path.stem)
    claims = [claim for case in CASES if case.scenario == path.stem for claim in case.claims]
    covered = list(re.finditer(COMMAND, told))
    for words, *_ in claims:
        found = list(re.finditer(place(words), told))
        assert found, f"the answer does not say {words!r}"
        covered += found
    left = {
        number[0]
        for number in NUMBER.finditer(told)
        if not any(part.start() <= number.start() < part.end() for part in covered)
    }
    settings = NUMBER.findall(path.read_text("utf-8").partition("\nduration")[2])
    assert left <= GIVEN.get(path.stem, set()).union(settings)


def test_the_answer_of_the_study_is_what_it_finds(examples: None) -> None:
    shutil.copytree(ROOT / "studies", "studies")
    found = study("studies/controllers.toml", out="found")
    used, control = "links.bottleneck.forward.utilisation", "flow.there.control"
    for _, means in found.table(used).group_by("link.bottleneck.rate"):
        assert means.sort(used)[control].last() == "exp"
    differences = found.differences(used, control, to="reno")
    certain = differences.filter(pl.col("verdict") != "not enough seeds to tell")
    assert certain.select("link.bottleneck.rate", "second", "verdict").rows() == [
        ("10 Mbit/s", "exp", "greater")
    ]
