"""The scenarios that are timed, and the speeds that longfat aims at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.scenario import read
from longfat.shipped import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat._longfat import Scenario


@dataclass(frozen=True)
class Speed:
    """A speed to reach: packets per second, or a share of something else.

    Attributes:
        must: Anything less is a failure.
        aim: More than this is not needed.
        of: The unit of both: `packets/s`, `real time`, or the letter of the scenario whose packets per second
            they are multiples of.
    """

    must: float
    aim: float
    of: str = "packets/s"


@dataclass(frozen=True)
class Benchmark:
    """A scenario to be timed.

    Attributes:
        letter: Its name on the command line.
        title: What it is, in a few words.
        file: The scenario file, from the root of the source.
        short: Duration and warm-up with which it takes a few seconds; the file has the full ones.
        speed: What longfat aims at.
        ratios: How many times faster than each peer longfat must be, and aims to be.
        utilisation: The share of the link that the full scenario must fill, if that is part of the target.
    """

    letter: str
    title: str
    file: str
    short: tuple[str, str]
    speed: Speed
    ratios: dict[str, tuple[float, float | None]]
    utilisation: float | None = None

    def scenario(self, *, full: bool, seed: int, changes: Sequence[str] = ()) -> Scenario:
        """The scenario, checked, at its full or its short length, with fields set as by `longfat run --set`.

        Raises:
            ScenarioError: It is wrong with these changes.
            OSError: The file is not there.
        """
        names = ("duration", "warmup")
        length = (
            [] if full else [f'{name}="{v}"' for name, v in zip(names, self.short, strict=True)]
        )
        return read(find(self.file), seed=seed, changes=[*length, *changes])[0]


BENCHMARKS = (
    Benchmark(
        "A",
        "500 Mbit/s, RED+ECN, 2 × 16 HSTCP",
        "scenarios/two-way-500M.toml",
        ("60 s", "20 s"),
        Speed(6e6, 10e6),
        {"ns2": (10, 18), "ns3": (200, 300)},
    ),
    Benchmark(
        "B",
        "1 Gbit/s, drop tail, 3 HSTCP",
        "bench/scenarios/one-way-1G.toml",
        ("60 s", "20 s"),
        Speed(10e6, 14e6),
        {"ns2": (12, None)},
    ),
    Benchmark(
        "C",
        "A at 10 Gbit/s",
        "bench/scenarios/two-way-10G.toml",
        ("10 s", "6 s"),
        Speed(0.7, 0.9, "A"),
        {},
    ),
    Benchmark(
        "D",
        "100 Gbit/s, drop tail, 4 EXP",
        "bench/scenarios/one-way-100G.toml",
        ("14 s", "12 s"),
        Speed(1.0, 1.5, "real time"),
        {},
        utilisation=0.9,
    ),
    Benchmark(
        "E",
        "A with 2 × 512 flows",
        "bench/scenarios/two-way-512.toml",
        ("30 s", "10 s"),
        Speed(2.5e6, 5e6),
        {},
    ),
    Benchmark(
        "F",
        "10 Gbit/s, short Reno flows",
        "bench/scenarios/short-flows.toml",
        ("12 s", "4 s"),
        Speed(2e6, 4e6),
        {},
    ),
)
