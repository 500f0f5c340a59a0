"""What the window of Linux's BBR is made of, read while it sends: a table of docs/reality.md.

    sudo .venv/bin/python bench/reality/bbr.py        two minutes; needs clang, bpftool and `make live`

An iterator of the kernel, bbr.bpf.c, prints the numbers of every connection that BBR controls. The window is

    2 x bandwidth x least round trip + 3 x what is sent at a time + what was acknowledged at once

in segments, where what is sent at a time is a 1024th of what pacing lets go in a second, two at least, and what
was acknowledged at once is what came beyond the estimated bandwidth.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measure import LONGFAT, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("bbr.bpf.c")
HEADERS = ROOT / "live/tcp/bpf"
SENDERS = Path("/run/netns/longfat-a")
LINKS = (("200M", "40ms"), ("200M", "100ms"))
SECONDS, BEGINNING = 60, 15
"""How long a flow sends, and after how long it has left its start-up and drained the queue."""


@dataclass(frozen=True)
class Parts:
    """The parts of a window, in segments."""

    window: int
    product: float
    at_a_time: int
    at_once: int

    @classmethod
    def read(cls, line: str) -> Parts:
        """From a line of bbr.bpf.c: the bandwidth there is in segments per 2^24 microseconds."""
        window, at_once, bandwidth, round_trip, segment, pacing = map(int, line.split())
        return cls(
            window=window,
            product=2 * bandwidth * round_trip / 2**24,
            at_a_time=3 * max(pacing // 1024 // segment, 2),
            at_once=at_once,
        )

    @property
    def beside(self) -> float:
        """How far the sum is from the window, as a share of it."""
        return (self.product + self.at_a_time + self.at_once) / self.window - 1


def run(*command: str | Path) -> str:
    """What a command says; the script ends with what it complains about if it fails."""
    arguments = list(map(str, command))
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def iterator() -> Iterator[Path]:
    """The file that tells the numbers of every connection in the namespace of whoever reads it."""
    for tool in ("clang", "bpftool", "mount", "nsenter"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} was not found: apt install clang libbpf-dev bpftool util-linux")
    with tempfile.TemporaryDirectory() as folder:
        program, place = Path(folder, "bbr.o"), Path(folder, "bpf")
        place.mkdir()
        include = Path("/usr/include", run("cc", "-print-multiarch").strip())
        search = (f"-I{include}", f"-I{HEADERS}")
        run("clang", "-O2", "-g", "-target", "bpf", *search, "-c", PROGRAM, "-o", program)
        run("mount", "-t", "bpf", "bpf", place)
        try:
            run("bpftool", "iter", "pin", program, place / "windows")
            yield place / "windows"
        finally:
            run("umount", place)


def sampled(windows: Path, rate: str, rtt: str) -> list[Parts]:
    """What a flow says of itself once a second, but while it looks for the round trip without a queue."""
    run(LONGFAT, "link", "up", "--rate", f"{rate}bit/s", "--rtt", rtt)
    found = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            live = [LONGFAT, "live", "--stack", "linux", "--control", "bbr", "--for", f"{SECONDS}s"]
            command = list(map(str, [*live, "--out", Path(folder, "out")]))
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as sending:  # noqa: S603 - longfat itself
                time.sleep(BEGINNING)
                while sending.poll() is None:
                    lines = run("nsenter", f"--net={SENDERS}", "cat", windows).splitlines()
                    found += [Parts.read(line) for line in lines]
                    time.sleep(1)
            if sending.returncode != 0:
                sys.exit(f"longfat live ended with {sending.returncode}")
    finally:
        run(LONGFAT, "link", "down")
    return [parts for parts in found if parts.window > parts.product]


def main() -> None:
    """As the module says."""
    with iterator() as windows:
        for rate, rtt in LINKS:
            found = sampled(windows, rate, rtt)
            cells = [
                f"{statistics.fmean(getattr(parts, name) for parts in found):.0f}"
                for name in ("product", "at_a_time", "at_once", "window")
            ]
            beside = statistics.median(abs(parts.beside) for parts in found)
            print(f"| {rate}bit/s, {rtt} | {len(found)} | {' | '.join(cells)} | {beside:.2%} |")


if __name__ == "__main__":
    main()
