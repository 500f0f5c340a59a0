"""Controllers on real stacks beside their simulations: the numbers of docs/reality.md.

    sudo .venv/bin/python bench/reality/measure.py                what bench/reality.jsonl lacks: 90 minutes
    sudo .venv/bin/python bench/reality/measure.py --only 200M    of these, those whose name holds a text
    sudo .venv/bin/python bench/reality/measure.py --list         what is lacking
    .venv/bin/python bench/reality/measure.py --simulate          what runs/reality has, simulated anew

Each measurement makes its link, sends, takes the link down, and is put beside the simulation of the same. What
the link refuses, because the machine was too busy, is tried again later and never kept.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import longfat
from longfat.live._course import of_flow, responses

if TYPE_CHECKING:
    import polars as pl

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "bench/reality.jsonl"
LONGFAT = Path(sys.executable).with_name("longfat")
FOLDERS = Path("runs/reality")
RESPONSES = 8
"""Of how many responses to congestion it is kept when they were, from the first packet on."""

SECONDS = {
    ("200M", "40ms"): (55, 45, 30, 80, 30, 150, 170),
    ("200M", "100ms"): (165, 125, 60, 100, 40, 150, 60),
    ("1G", "40ms"): (75, 60, 30, 110, 120, 120, 60),
    ("1G", "100ms"): (110, 80, 60, 100, 40, 150, 60),
    ("5G", "40ms"): (110, 75, 30, 80, 30, 120, 60),
    ("5G", "100ms"): (110, 80, 60, 80, 40, 150, 60),
    ("10G", "40ms"): (85, 65, 30, 80, 0, 0, 0),
    ("10G", "100ms"): (110, 80, 0, 0, 0, 0, 0),
}
"""How long each of `CONTROLS` is measured, if it is: ten epochs, where a minute or two hold so many."""

JUMBO = {"10G": "9000B"}
"""Links with larger packets than the usual ones, of which two processors cannot send as many."""

CONTROLS = ("hstcp", "exp", "stcp", "cw-hstcp", "fiber", "cubic", "reno")
PLAIN = ("200M", "40ms")
UNPACED = '{ kind = "exp", pacing = false }'


Row = dict[str, Any]
"""A line of the kept file."""


@dataclass(frozen=True)
class Cell:
    """A measurement.

    Attributes:
        rate: Of the link, as `200M`.
        rtt: Without a queue, as `40ms`.
        stack: As `longfat live` takes it.
        control: As `longfat live` takes it.
        flows: How many.
    """

    rate: str
    rtt: str
    stack: str
    control: str
    flows: int = 1

    @property
    def name(self) -> str:
        """What it is called in files."""
        control = re.sub(r"\W*(kind)?\W+", "-", self.control.strip("{} "), flags=re.ASCII).strip(
            "-"
        )
        return f"{self.rate}-{self.rtt}-{self.stack}-{control}-{self.flows}"

    @property
    def seconds(self) -> int:
        """How long it is measured."""
        if self.flows > 1 or self.control == "bbr":
            return 60
        control = "exp" if self.control == UNPACED else self.control
        return SECONDS[self.rate, self.rtt][CONTROLS.index(control)]


MORE = [
    Cell("10G", "40ms", "tcp", UNPACED),
    Cell("1G", "40ms", "quic", "fiber"),
    Cell("200M", "100ms", "linux", "bbr"),
    Cell("200M", "100ms", "linux", "reno"),
    Cell("1G", "100ms", "linux", "reno"),
    Cell("5G", "40ms", "linux", "reno"),
    Cell("5G", "100ms", "linux", "reno"),
]
"""With one thing changed: without the daemon, without pacing, by another stack, over a longer path."""


def cells() -> list[Cell]:
    """Whatever is measured, the slow links first."""
    found = [Cell(*path, "tcp", control) for path in SECONDS for control in CONTROLS]
    # On other links it is Linux's own CUBIC that is measured.
    found = [
        each
        for each in found
        if each.seconds and (each.control != "cubic" or (each.rate, each.rtt) == PLAIN)
    ]
    found += [Cell(*PLAIN, "tcp", control, 2) for control in ("exp", "hstcp")]
    found += [Cell(*path, "linux", "cubic") for path in SECONDS if path[0] not in JUMBO]
    found += [Cell(*PLAIN, "linux", "bbr")]
    found += [Cell(*PLAIN, "tcp-kernel", control) for control in CONTROLS[:5]]
    found += [
        Cell(*PLAIN, "quic", control) for control in ("hstcp", "exp", "stcp", "fiber", "cubic")
    ]
    return found + MORE


def run(*arguments: str) -> tuple[int, str]:
    """A command of longfat: its exit code and all that it said."""
    command = [str(LONGFAT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - longfat itself
    return done.returncode, (done.stdout + done.stderr).strip()


def measured(cell: Cell) -> Row | str:
    """A row of the table, or why there is none."""
    folder = FOLDERS / cell.name
    shutil.rmtree(folder, ignore_errors=True)
    packet = JUMBO.get(cell.rate, "1500B")
    code, said = run(
        "link", "up", f"--rate={cell.rate}bit/s", f"--rtt={cell.rtt}", f"--packet={packet}"
    )
    if code != 0:
        return said
    try:
        code, said = run(
            *("live", "--stack", cell.stack, "--control", cell.control),
            *("--flows", str(cell.flows), "--for", f"{cell.seconds}s", "--out", str(folder)),
        )
        lateness = json.loads(run("link", "status", "--json")[1])
    finally:
        run("link", "down")
    if code != 0:
        return said
    told = json.loads((folder / "summary.json").read_text("utf-8"))
    row = {
        "cell": cell.name,
        **vars(cell),
        "seconds": cell.seconds,
        "kernel": os.uname().release,
        "load": round(os.getloadavg()[1], 1),
        "lateness": lateness["lateness_s"],
        "processor_share": told.get("processor_share"),
    }
    return row | beside(cell.name)


def beside(name: str) -> Row:
    """What comes of a measurement and a simulation of the same."""
    found = longfat.overlay(FOLDERS / name)
    found.save(FOLDERS / f"{name}-overlay")
    keys = ("verdict", "measured", "least", "most", "difference", "tolerance")
    findings = {each.name: {key: getattr(each, key) for key in keys} for each in found.findings}
    both = {"measured": found.measured, "simulated": found.simulated}
    when = {key: fallen(own, found.rtt_s) for key, own in both.items()}
    return {"findings": findings, "responses": when}


def fallen(series: pl.DataFrame, rtt_s: float) -> list[tuple[float, float]]:
    """When a lone flow answered congestion, from the first packet on, and with which window it met it."""
    if series["flow"].n_unique() > 1:
        return []
    times, windows, trips = of_flow(series, rtt_s)
    found = responses(times, windows, trips)[:RESPONSES]
    return [(round(float(times[each]), 2), float(windows[each - 1])) for each in found]


def simulate_again(rows: list[Row], only: str) -> None:
    """Puts new simulations beside those measurements whose folders are there, if their names hold this."""
    for row in rows:
        if only in row["cell"] and (FOLDERS / row["cell"]).is_dir():
            row.update(beside(row["cell"]))
            print(f"{row['cell']}: {verdicts(row)}", flush=True)
    lines = [f"{json.dumps(row)}\n" for row in rows]
    KEPT.write_text("".join(lines), "utf-8")


def verdicts(row: Row) -> dict[str, str]:
    """Of each number."""
    return {name: each["verdict"] for name, each in row["findings"].items()}


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="only those whose names hold this")
    parser.add_argument("--list", action="store_true", help="list them, and measure nothing")
    parser.add_argument("--tries", type=int, default=3, help="how often each is tried [3]")
    again = "put new simulations beside what was measured"
    parser.add_argument("--simulate", action="store_true", help=again)
    given = parser.parse_args()
    rows = (
        [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()] if KEPT.exists() else []
    )
    if given.simulate:
        simulate_again(rows, given.only)
        return
    known = {row["cell"] for row in rows}
    wanted = [each for each in cells() if given.only in each.name and each.name not in known]
    if given.list:
        for each in wanted:
            print(f"{each.name}: {each.seconds} s")
        return
    for turn in range(given.tries):
        refused = []
        for cell in wanted:
            found = measured(cell)
            if isinstance(found, str):
                refused.append(cell)
                print(
                    f"{cell.name}: {found.splitlines()[-1] if found else 'nothing was said'}",
                    flush=True,
                )
                # Somebody else may use the link, or the processors.
                time.sleep(5 * (turn + 1))
                continue
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            print(f"{cell.name}: {verdicts(found)}", flush=True)
        wanted = refused


if __name__ == "__main__":
    main()
