"""Controllers on real stacks beside their simulations: the numbers of docs/reality.md.

    sudo .venv/bin/python bench/reality/measure.py                what bench/reality.jsonl lacks: an hour
    sudo .venv/bin/python bench/reality/measure.py --only 200M    of these, those whose name holds a text
    sudo .venv/bin/python bench/reality/measure.py --list         what there is

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
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "bench/reality.jsonl"
LONGFAT = Path(sys.executable).with_name("longfat")
FOLDERS = Path("runs/reality")

ROUND_TRIPS = ("40ms", "100ms")
RATES = ("200M", "1G", "5G")

SECONDS = {
    "hstcp": (50, 110),
    "exp": (45, 80),
    "stcp": (30, 60),
    "cw-hstcp": (80, 140),
    "fiber": (30, 40),
    "cubic": (120, 150),
    "reno": (60, 60),
}
"""How long each is measured at either round trip: ten epochs, where a minute or two hold so many."""

LONGER = {("200M", "40ms", "reno"): 280}
"""Whose epochs take most of a minute; on faster links and longer ones those of Reno take many."""

OTHERS = {
    "tcp-kernel": {"hstcp": 50, "exp": 45, "stcp": 30, "cw-hstcp": 80, "fiber": 30},
    "linux": {"cubic": 150, "bbr": 60},
    "quic": {"hstcp": 50, "exp": 45, "stcp": 30, "fiber": 30, "cubic": 120},
}
"""What is measured on other stacks, at 200 Mbit/s and 40 ms, and for how long."""


@dataclass(frozen=True)
class Cell:
    """A measurement.

    Attributes:
        rate: Of the link, as `200M`.
        rtt: Without a queue, as `40ms`.
        stack: As `longfat live` takes it.
        control: As `longfat live` takes it.
        flows: How many.
        seconds: How long.
        again: Whether it repeats one that differed.
    """

    rate: str
    rtt: str
    stack: str
    control: str
    flows: int
    seconds: int
    again: bool = False

    @property
    def name(self) -> str:
        """What it is called in files."""
        control = re.sub(r"\W*(kind)?\W+", "-", self.control.strip("{} "), flags=re.ASCII).strip(
            "-"
        )
        plain = f"{self.rate}-{self.rtt}-{self.stack}-{control}-{self.flows}"
        return f"{plain}-again" if self.again else plain


AGAIN = [
    Cell("200M", "100ms", "tcp", "hstcp", 1, 160, again=True),
    Cell("200M", "100ms", "tcp-kernel", "hstcp", 1, 160),
    Cell("1G", "40ms", "tcp", "fiber", 1, 120, again=True),
    Cell("1G", "40ms", "quic", "fiber", 1, 60),
    Cell("200M", "40ms", "tcp-kernel", '{ kind = "exp", pacing = false }', 1, 45),
    Cell("5G", "40ms", "tcp", '{ kind = "exp", pacing = false }', 1, 45),
    Cell("5G", "40ms", "tcp-kernel", "hstcp", 1, 50),
    Cell("5G", "40ms", "tcp", "hstcp", 1, 50, again=True),
    Cell("5G", "40ms", "tcp", "exp", 1, 45, again=True),
    Cell("200M", "40ms", "tcp-kernel", "exp", 1, 45, again=True),
    Cell("200M", "100ms", "linux", "bbr", 1, 60),
    Cell("200M", "40ms", "linux", "bbr", 1, 60, again=True),
    Cell("1G", "100ms", "linux", "reno", 1, 60),
    Cell("5G", "40ms", "linux", "reno", 1, 60),
    Cell("5G", "40ms", "linux", "reno", 1, 60, again=True),
    Cell("5G", "100ms", "linux", "reno", 1, 60),
]
"""What differed, with one thing changed: for longer, without the daemon, without pacing, by another stack."""


def cells() -> list[Cell]:
    """Whatever is measured, the slow links first."""
    found = [
        Cell(rate, rtt, "tcp", control, 1, LONGER.get((rate, rtt, control), seconds[place]))
        for rate in RATES
        for place, rtt in enumerate(ROUND_TRIPS)
        for control, seconds in SECONDS.items()
    ]
    found += [Cell("200M", "40ms", "tcp", control, 2, 60) for control in ("exp", "hstcp")]
    found += [
        Cell(rate, rtt, "linux", "cubic", 1, SECONDS["cubic"][place])
        for rate in RATES
        for place, rtt in enumerate(ROUND_TRIPS)
        if (rate, rtt) != ("200M", "40ms")
    ]
    for stack, controls in OTHERS.items():
        found += [
            Cell("200M", "40ms", stack, control, 1, seconds)
            for control, seconds in controls.items()
        ]
    return found + AGAIN


def run(*arguments: str) -> tuple[int, str]:
    """A command of longfat: its exit code and all that it said."""
    command = [str(LONGFAT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - longfat itself
    return done.returncode, (done.stdout + done.stderr).strip()


def measured(cell: Cell) -> dict[str, Any] | str:
    """A row of the table, or why there is none."""
    folder, beside = FOLDERS / cell.name, FOLDERS / f"{cell.name}-overlay"
    for each in (folder, beside):
        shutil.rmtree(each, ignore_errors=True)
    code, said = run("link", "up", "--rate", f"{cell.rate}bit/s", "--rtt", cell.rtt)
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
    code, said = run("overlay", str(folder), "--out", str(beside), "--json")
    if not said.startswith("{"):
        return said
    told = json.loads((folder / "summary.json").read_text("utf-8"))
    keys = ("verdict", "measured", "least", "most", "difference", "tolerance")
    return {
        "cell": cell.name,
        **vars(cell),
        "kernel": os.uname().release,
        "load": round(os.getloadavg()[1], 1),
        "lateness": lateness["lateness_s"],
        "processor_share": told.get("processor_share"),
        "findings": {
            each["name"]: {key: each[key] for key in keys} for each in json.loads(said)["findings"]
        },
    }


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="measure those whose names hold this")
    parser.add_argument("--list", action="store_true", help="list them, and measure nothing")
    parser.add_argument("--tries", type=int, default=3, help="how often each is tried [3]")
    given = parser.parse_args()
    rows = (
        [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()] if KEPT.exists() else []
    )
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
            told = {name: each["verdict"] for name, each in found["findings"].items()}
            print(f"{cell.name}: {told}", flush=True)
        wanted = refused


if __name__ == "__main__":
    main()
