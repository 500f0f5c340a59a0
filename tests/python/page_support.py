"""Folders for the tests of pages: an evaluation made by hand, with every kind of verdict."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

AGAINST = ("reno", "cubic", "bbr3")


def wave(name: str, samples: int, *, level: float = 1e9, period: float = 7.0) -> dict[str, Any]:
    """A line of a chart: a throughput that swings about its level, with a second in which there is none."""
    times = [0.1 * index for index in range(samples)]
    values = [
        None if 5.0 <= time < 6.0 else level * (0.9 + 0.1 * math.sin(time / period))
        for time in times
    ]
    return {"name": name, "t": times, "v": values}


def estimate(mean: float | None, half: float | None = None) -> dict[str, Any]:
    return {"mean": mean, "half": half, "n": 3}


def measure(title: str, mean: float | None, unit: str, **more: Any) -> dict[str, Any]:
    """A measure in which each incumbent has a little less than the one before."""
    others = {
        name: estimate(None if mean is None else mean * (1 - 0.02 * index), 0.01)
        for index, name in enumerate(AGAINST)
    }
    return {
        "id": title.replace(" ", "-"),
        "title": title,
        "unit": unit,
        "better": None,
        "value": estimate(mean, 0.004),
        "incumbents": others,
        "against": {},
        "threshold": None,
        "judged": None,
        **more,
    }


def cell(
    name: str, kind: str, verdict: str, against: dict[str, str], **more: Any
) -> dict[str, Any]:
    group, _, rest = name.partition("/")
    verdicts = {
        other: {"verdict": word, "difference": 0.02, "half": 0.01}
        for other, word in against.items()
    }
    better = "more" if against else None
    first = measure("utilisation", 0.972, "%", better=better, against=verdicts)
    if kind == "pass or fail":
        first |= {"threshold": {"at_least": 0.95}, "judged": verdict}
    return {
        "id": name,
        "group": group,
        "title": rest.replace("-", ", "),
        "source": {"document": "RFC 9743", "section": "5.1.4", "says": "shares should be explored"},
        "question": "How much of the link is used, and how long is the queue?",
        "scenario": f"scenarios/{name.replace('/', '-')}.toml",
        "measures": [first, measure("queue, 99th percentile", 0.0341, "s")],
        "kind": kind,
        "verdict": verdict,
        "against": against,
        "story": "exp uses 97.2 % of 1 Gbit/s and its queue reaches 34.1 ms; reno uses 97.2 %.",
        "charts": [
            {
                "title": title,
                "x": "time",
                "x_unit": "s",
                "y": title,
                "y_unit": unit,
                "series": [
                    wave(each, 300, level=level * (1 - 0.1 * index))
                    for index, each in enumerate(("exp", *AGAINST))
                ],
            }
            for title, unit, level in (("throughput", "bit/s", 1e9), ("queue", "s", 0.03))
        ],
        **more,
    }


def evaluation() -> dict[str, Any]:
    """What a small `evaluate.json` holds: three groups, and every verdict there is."""
    words = ("better", "as good", "worse", "mixed", "undecided")
    cells = [
        cell(
            f"range/{rate}-100ms-{buffer}bdp",
            "comparative",
            words[index % 5],
            {name: words[(index + shift) % 5] for shift, name in enumerate(AGAINST)},
        )
        for index, (rate, buffer) in enumerate(
            (rate, buffer)
            for rate in ("1Mbit", "1Gbit", "100Gbit")
            for buffer in ("0.1", "1", "10")
        )
    ]
    cells += [
        cell("loss/1-percent", "pass or fail", "pass", {"reno": "better", "cubic": "better"}),
        cell("loss/20-percent", "pass or fail", "fail", {"bbr3": "worse"}),
        cell("loss/burst", "pass or fail", "undecided", {}),
        cell("fluid/equilibrium", "evidence", "evidence", {}),
        cell(
            "fluid/margin",
            "evidence",
            "skipped",
            {},
            measures=[],
            charts=[],
            scenario=None,
            why="it has no window law",
        ),
    ]
    return {
        "format": "longfat evaluation 1",
        "longfat": "0.1.0",
        "subject": {"name": "exp", "control": "exp", "source": "registry", "digest": None, "network": None},
        "against": list(AGAINST),
        "scale": "quick",
        "seeds": 3,
        "runs": 412,
        "wall_s": 131.0,
        "groups": [
            {"id": "range", "title": "Range", "about": "Round trips, rates and buffers far apart."},
            {"id": "loss", "title": "Loss", "about": "Packets lost at random and in bursts."},
            {"id": "fluid", "title": "Equations", "about": "Where the law settles."},
        ],
        "cells": cells,
        "not_tested": [
            {"what": "Multipath", "why": "There is one path.", "source": "RFC 9743, section 7.2"}
        ],
    }  # fmt: skip


def write_evaluate_json(folder: Path, content: dict[str, Any], scenario: str) -> None:
    """Writes the folder of an evaluation, with the same scenario for each cell."""
    (folder / "scenarios").mkdir(parents=True)
    (folder / "evaluate.json").write_text(json.dumps(content), encoding="utf-8")
    for each in content["cells"]:
        if each["scenario"] is not None:
            (folder / each["scenario"]).write_text(scenario, encoding="utf-8")
