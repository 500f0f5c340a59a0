"""What `make fast` learns from: the module, built to count how often each branch is taken, runs this.

Every example scenario as it is, with its time series; those of `longfat bench` for some seconds, without; and
on the topology of A a dozen controllers, and both other ways to find losses. So code is laid out for marks and
losses, one way and both, few flows and many, paced and not, long and short. Results are the same bytes whatever
it was laid out for.
"""

from __future__ import annotations

from pathlib import Path

from longfat import _longfat
from longfat.scenario import read

ROOT = Path(__file__).resolve().parents[1]
TWO_WAY = ROOT / "scenarios/two-way-500M.toml"

SECONDS = {
    "two-way-512": (9, 6),
    "two-way-10G": (5.5, 1),
    "one-way-1G": (20, 1),
    "one-way-100G": (2, 1),
    "short-flows": (5, 1),
    "random-loss": (5, 1),
}
"""Scenarios of the benchmark, how long each runs, and how much of that is warm-up."""

CONTROLLERS = (
    "bbr1", "bbr3", "copa", "cubic", "cw-hstcp", "exp", "fiber", "ledbat", "prague", "reno", "scream", "vegas",
)  # fmt: skip
RECOVERIES = ("rack", "quic")

MANY = ("flow.forward.count=20_000", 'link.bottleneck.rate="2 Gbit/s"')
"""A fiftieth of the million flows: large enough for what large networks do otherwise."""


def main() -> None:
    """Simulates all of it."""
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        simulate(path, record=True)
    for name, (seconds, warmup) in SECONDS.items():
        changes = [f'duration="{seconds} s"', f'warmup="{warmup} s"']
        simulate(ROOT / f"bench/scenarios/{name}.toml", *changes)
    simulate(ROOT / "bench/scenarios/million-flows.toml", *MANY)
    for key, values in (("control", CONTROLLERS), ("recovery", RECOVERIES)):
        for value in values:
            changes = [f'flow.{flows}.{key}="{value}"' for flows in ("forward", "backward")]
            simulate(TWO_WAY, 'duration="7 s"', 'warmup="6 s"', *changes)


def simulate(path: Path, *changes: str, record: bool = False) -> None:
    """Simulates a scenario file with changes to it."""
    _longfat.simulate(read(path, changes=changes)[0], record=record)


if __name__ == "__main__":
    main()
