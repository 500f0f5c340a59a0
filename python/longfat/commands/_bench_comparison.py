"""Longfat beside other simulators: how much faster, and whether they agree."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from longfat.bench._measure import LONGFAT
from longfat.commands._console import console, show
from longfat.tables import TextTable
from longfat.units import ABSENT, COUNT, PLAIN, RATE, TIME, amount, percent, small

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.bench._measure import Timed
    from longfat.bench._outcome import Outcome
    from longfat.bench._peer import Peer
    from longfat.study._statistics import Estimate


def print_comparison(
    found: Sequence[Timed], peers: Sequence[Peer], *, markdown: bool = False
) -> None:
    """Prints speeds and ratios, then what happened in the network."""
    screen = console()
    speeds = TextTable(
        ("", "simulator", "simulated", "packets/s", "longfat is", "range", "must", "aim", "memory"),
        words=2,
    )
    networks = TextTable(
        ("", "simulator", "measured", "goodput", "queue mean", "dropped", "marked", "Jain's index"),
        words=2,
    )
    for measured in found:
        for peer in peers:
            if peer.name in measured.outcomes:
                speeds.add(*_speed(measured, peer))
                for row in _networks(measured, peer):
                    networks.add(*row)
    refused = [
        f"the others cannot run {measured.benchmark.letter}: {measured.refused}"
        for measured in found
        if measured.refused
    ]
    for made in (speeds, networks):
        if made.rows:
            screen.print()
            show(screen, made, markdown=markdown)
    words = refused
    if speeds.rows:
        versions = ", ".join(f"{peer.title} {peer.version()}" for peer in peers)
        words += [
            f"{versions}; ratios run by run, of engine times, over the part that both simulated",
            "network: means ± half of the 95 % confidence interval; queues in the directions that carry data",
        ]
    screen.print()
    for line in words:
        screen.print(line, soft_wrap=True)


def _speed(measured: Timed, peer: Peer) -> tuple[str, ...]:
    speed, ratio = measured.packets_per_s(peer.name), measured.ratio(peer.name)
    ratios = {} if measured.changes else measured.benchmark.ratios
    must, aim = ratios.get(peer.name, (None, None))
    memory = max(run.peak_memory_bytes for run in measured.outcomes[peer.name])
    return (
        measured.benchmark.letter,
        peer.title,
        _length(measured.outcomes[peer.name]),
        amount(speed.median, COUNT) if speed else ABSENT,
        f"{amount(ratio.median, PLAIN)} × faster" if ratio else ABSENT,
        f"{amount(ratio.lowest, PLAIN)} to {amount(ratio.highest, PLAIN)}" if ratio else ABSENT,
        f"{must:g} ×" if must else ABSENT,
        f"{aim:g} ×" if aim else ABSENT,
        f"{memory / 1e6:.0f} MB",
    )


def _networks(measured: Timed, peer: Peer) -> list[tuple[str, ...]]:
    """Longfat and a peer, over the part of the run that both simulated."""
    runs = [run for run in measured.outcomes[peer.name] if run.network]
    if not runs:
        letter = measured.benchmark.letter
        return [(letter, peer.title, "stopped too early", *[ABSENT] * 5)]
    return [
        (
            measured.benchmark.letter,
            name,
            _interval(runs),
            *_results(measured, simulator, peer.name),
        )
        for name, simulator in ((LONGFAT, LONGFAT), (peer.title, peer.name))
    ]


def _interval(runs: Sequence[Outcome]) -> str:
    """What the network results of runs are of."""
    begins = [run.measured_from_s or 0.0 for run in runs]
    ends = [run.simulated_s for run in runs]
    begin, end = (amount(statistics.median(each), TIME) for each in (begins, ends))
    about = "about " if len({*begins}) > 1 or len({*ends}) > 1 else ""
    return f"{about}{begin} to {end}"


def _length(runs: Sequence[Outcome]) -> str:
    """How far the runs came."""
    least, most = (f(run.simulated_s for run in runs) for f in (min, max))
    length = amount(least, TIME)
    if all(run.complete for run in runs):
        return length
    return f"first {length}" if least == most else f"first {length} to {amount(most, TIME)}"


def _results(measured: Timed, simulator: str, part_of: str) -> tuple[str, ...]:
    def shown(name: str, write: Callable[[float], str]) -> str:
        part = part_of if simulator == LONGFAT else None
        return with_interval(measured.network(simulator, name, part_of=part), write)

    return (
        shown("goodput_bit_s", lambda value: amount(value, RATE)),
        shown("queue_mean", percent),
        shown("drop_rate", small),
        shown("mark_rate", small),
        shown("jain", lambda value: f"{value:.3f}"),
    )


def with_interval(found: Estimate, write: Callable[[float], str]) -> str:
    """A mean, and half of its 95 % confidence interval where there is one."""
    if found.mean is None:
        return ABSENT
    interval = "" if found.half_width is None else f" ± {write(found.half_width)}"
    return write(found.mean) + interval
