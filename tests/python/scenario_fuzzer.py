"""Wrong and odd inputs without end, for runs, fluid solutions, studies and rooms of papers.

    python tests/python/scenario_fuzzer.py --minutes 60 --seed 7 --workers 2

takes the scenarios and the rooms of this repository, changes them as trees and as texts, asks for what is
right and small, and looks at the answers. Of each way to panic, to take too long or too much memory, and to end
in numbers that cannot be, it prints the smallest input. It begins with all pairs of extreme settings of each
controller and each queue. A few hundred inputs go through the tests, always the same ones.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

from fuzzer.hunt import Hunted, hunt_together

TELL_S = 60.0


def main() -> None:
    """The command line."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--count", type=float, default=math.inf, help="the most inputs")
    asked.add_argument("--workers", type=int, default=1)
    given = asked.parse_args()
    begun = told = time.monotonic()
    shown: set[str] = set()

    def tell(hunted: Hunted) -> None:
        nonlocal told
        for how in hunted.found.keys() - shown:
            shown.add(how)
            print(f"{hunted.found[how]}\n", flush=True)
        now = time.monotonic()
        if now - told > TELL_S:
            told = now
            line = f"{hunted.examined:,} inputs in {now - begun:,.0f} s, {len(hunted.found)} found"
            print(line, file=sys.stderr, flush=True)

    hunted = hunt_together(given.seed, given.count, 60 * given.minutes, given.workers, tell)
    print(f"seed {given.seed}: {json.dumps(dict(sorted(hunted.done.items())), indent=1)}")
    print(f"{hunted.examined:,} inputs; a worker kept {hunted.kept / 1e6:.0f} MB at most")
    sys.exit(bool(hunted.found))


if __name__ == "__main__":
    main()
