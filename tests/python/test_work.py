"""Work and memory, estimated before they are spent; and whatever is running can be stopped."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import longfat as package
from longfat.results._simulate import free_memory
from longfat.scenario import read
from support import ENDLESS, ROOT, SMALL

if TYPE_CHECKING:
    from support import Command

EXAMPLES = sorted(
    [*(ROOT / "scenarios").glob("*.toml"), *(ROOT / "bench/scenarios").glob("*.toml")]
)

MOST_PACKETS = 1.3e7
"""Examples that send more are for the long tests."""


def in_turn(path: Path) -> object:
    long = read(path)[0].estimate()["packets"] > MOST_PACKETS
    return pytest.param(path, id=path.stem, marks=[pytest.mark.long] * long)


@pytest.mark.parametrize("path", [in_turn(path) for path in EXAMPLES])
def test_packets_are_estimated_within_a_factor_of_three(path: Path) -> None:
    needed = read(path)[0].estimate()["packets"]
    run = package.run(path, record=False)
    short = sum(group["data_sent"] for group in run.summary["traffic"].values())
    sent = run.flows.to_polars()["sent"].sum() + short
    assert needed / 3 <= sent <= 3 * needed


MEMORY = """\
import sys
from longfat import _longfat
from longfat.scenario import read
scenario, _ = read(sys.argv[1])
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
before = peak()
recording = _longfat.simulate(scenario)
print(peak() - before, scenario.estimate()["memory"])
"""


@pytest.mark.parametrize(
    "change",
    [
        SMALL.replace("count = 2", "count = 2000"),
        SMALL.replace('"1 s"', '"1 s"\nsample = "10 us"'),
        SMALL.replace("count = 2", "count = 10\ninitial_window = 100000"),
        SMALL.replace("[[flow]]", "[[traffic]]")
        .replace("count = 2", 'arrivals = { poisson = "100000 /s" }\nsize = "100 B"')
        .replace('start = { uniform = ["0 s", "100 ms"] }', "")
        .replace("10 Mbit/s", "10 Gbit/s"),
    ],
    ids=["flows", "rows", "packets", "transfers"],
)
def test_memory_is_estimated_within_a_factor_of_three(change: str) -> None:
    Path("large.toml").write_text(change, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, "large.toml"], capture_output=True, text=True, check=True
    )
    took, told = map(float, done.stdout.split())
    assert told / 3 <= took <= told * 3, (
        f"{took / 1e6:.0f} MB, and {told / 1e6:.0f} MB were estimated"
    )


@pytest.mark.parametrize(
    ("sample", "count", "told"),
    [
        ("2 ms", "100\ninitial_window = 10000000", "`initial_window`"),
        ("4 us", "1000", "`sample`"),
        ("2 ms", '100000\naccess = "1 Mbit/s"', "`sample`"),
    ],
)
def test_what_the_machine_cannot_hold_is_refused(
    longfat: Command, sample: str, count: str, told: str
) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))

    scenario = SMALL.replace('"1 s"', f'"1 s"\nsample = "{sample}"')
    scenario = scenario.replace("count = 2", f"count = {count}")
    Path("large.toml").write_text(scenario, encoding="utf-8")
    done = longfat("run", "large.toml", preexec_fn=little)
    assert done.returncode == 2, done.stderr
    assert "this run needs about" in done.stderr
    assert told in done.stderr
    assert [path.name for path in Path().iterdir()] == ["large.toml"]


def test_arrivals_beyond_all_bounds_are_refused(longfat: Command) -> None:
    traffic = SMALL.partition("[[flow]]")[0] + (
        '[[traffic]]\nname = "web"\ncontrol = "reno"\npath = ["bottleneck"]\nrtt = "20 ms"\nsize = "1 kB"\n'
        'arrivals = { poisson = "1e9 /s" }\n'
    )
    Path("large.toml").write_text(traffic, encoding="utf-8")
    done = longfat("run", "large.toml")
    assert done.returncode == 2
    assert "`arrivals`" in done.stderr


def test_free_memory_is_that_of_this_process() -> None:
    assert 0 < free_memory() < 2**50


def test_long_work_is_told_and_stopped_at_once(own_folder: Path) -> None:
    Path("endless.toml").write_text(ENDLESS, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "longfat", "run", "endless.toml", "--set", "warmup=0 s"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told = process.stderr.readline()
    assert told.startswith("at most about 83.3 G packets, 6 hours of one core")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    process.stderr.close()
    assert [path.name for path in own_folder.iterdir()] == ["endless.toml"]


DEAR = (
    SMALL.replace("count = 2", "count = 20000")
    .replace("10 Mbit/s", "2 Gbit/s")
    .replace("4 s", "1000 s")
)


def test_progress_comes_by_the_clock_however_dear_an_event_is(small: Path) -> None:
    small.write_text(DEAR.replace("warmup", 'sample = "10 s"\nwarmup'), encoding="utf-8")
    calls: list[float] = []

    class EnoughError(Exception):
        pass

    def progress(_share: float) -> None:
        calls.append(time.monotonic())
        if len(calls) == 10:
            raise EnoughError

    with pytest.raises(EnoughError):
        package.run(small, progress=progress)
    assert len(calls) == 10


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"set": {"flow.forward.count": 1_000_000, "sample": "4 us"}}, "a longer `sample`"),
        ({"stability": True, "integrate": False}, "for each pair of links"),
    ],
)
def test_a_fluid_that_the_machine_cannot_hold_is_refused(
    options: dict[str, Any], told: str
) -> None:
    links = range(60_000 if "stability" in options else 1)
    scenario = SMALL + "".join(
        f'[link.l{index}]\nrate = "1 Gbit/s"\ndelay = "0 s"\nbuffer = "1 packet"\n'
        for index in links
    )
    path = ", ".join(f'"l{index}"' for index in links)
    scenario = scenario.replace('"bottleneck"]', f'"bottleneck", {path}]')
    with pytest.raises(package.ScenarioError, match="this run needs about") as refused:
        package.fluid(scenario, **options)
    assert told in str(refused.value)


LARGE = 'duration = "1 s"\n' + "x = [" + "[]," * 5_000_000 + "]\n"
"""Reading it takes most of a second on any machine."""


def test_ctrl_c_is_answered_while_a_scenario_is_read() -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            read(LARGE)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
