"""Compares the trained policy with Reno, CUBIC and EXP-TCP on paths that it has not seen.

    python examples/gym/compare.py            # some minutes
    python examples/gym/compare.py --seeds 2  # to see that it works

Two flows of the same controller share each path, and on the last one the second flow is Reno. Writes
`results.csv`, `results.md` and `results.svg`: means over seeds with 95 % confidence intervals (Student's t).
"""

from __future__ import annotations

import argparse
import csv
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

import longfat
from longfat.fairness import jain
from longfat.gym import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
TITLE = "# A trained controller beside others"
CONTROLLERS = ["learned", "reno", "cubic", "exp"]
MEASURES = {
    "utilisation": "share of the link",
    "delay": "queueing delay / round trip",
    "loss": "share of packets dropped",
    "fairness": "Jain's index",
}
BASE = {"duration": "60 s", "warmup": "20 s"}
PATHS: dict[str, dict[str, Any]] = {
    "like those of the training": {
        "link.bottleneck.rate": "25 Mbit/s",
        "flow.learner.rtt": "50 ms",
        "link.bottleneck.loss": 1e-5,
    },
    "eight times the rate": {"link.bottleneck.rate": "500 Mbit/s", "flow.learner.rtt": "60 ms"},
    "three times the round trip": {
        "link.bottleneck.rate": "25 Mbit/s",
        "flow.learner.rtt": "360 ms",
    },
    "a tenth of a buffer": {
        "link.bottleneck.rate": "50 Mbit/s",
        "flow.learner.rtt": "50 ms",
        "link.bottleneck.buffer": "0.1 bdp",
    },
    "ten buffers": {
        "link.bottleneck.rate": "25 Mbit/s",
        "flow.learner.rtt": "50 ms",
        "link.bottleneck.buffer": "10 bdp",
    },
    "losses of 0.5 %": {
        "link.bottleneck.rate": "50 Mbit/s",
        "flow.learner.rtt": "50 ms",
        "link.bottleneck.loss": 5e-3,
    },
    "CoDel": {
        "link.bottleneck.rate": "50 Mbit/s",
        "flow.learner.rtt": "50 ms",
        "link.bottleneck.queue": "codel",
        "link.bottleneck.buffer": "4 bdp",
    },
    "beside Reno": {"link.bottleneck.rate": "25 Mbit/s", "flow.learner.rtt": "50 ms"},
}
BESIDE = "beside Reno"
RENO = """
[[flow]]
name = "reno"
control = "reno"
path = ["bottleneck"]
rtt = "50 ms"
start = { uniform = ["0 s", "3 s"] }
"""


def measured(path: str, controller: str, seed: int, policy: Policy) -> dict[str, float]:
    """What two flows of a controller make of a path, or one of them beside a Reno flow."""
    text = (HERE / "two-flows.toml").read_text("utf-8")
    changes = {**BASE, **PATHS[path], "flow.learner.control": controller}
    if path == BESIDE:
        text += RENO
        changes["flow.learner.count"] = 1
    run = longfat.run(text, controllers=[policy], set=changes, seed=seed, record=False)
    flows = run.summary["flows"]
    goodputs: list[float] = [flow["goodput_bit_s"] for flow in flows]
    capacity = run.quantities.links["bottleneck"].forward.capacity_bit_s
    rtt = flows[0]["rtt_s"]
    found = {
        "utilisation": sum(goodputs) / capacity,
        "delay": float(np.mean([flow["queueing_delay_mean_s"] for flow in flows])) / rtt,
        "loss": sum(flow["data_dropped"] for flow in flows)
        / sum(flow["data_sent"] for flow in flows),
        "fairness": jain(goodputs),
    }
    if path == BESIDE:
        found["reno's share"] = goodputs[-1] / sum(goodputs)
    return found


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % confidence interval."""
    count = len(values)
    spread = float(np.std(values, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    return float(np.mean(values)), float(stats.t.ppf(0.975, max(1, count - 1))) * spread


def draw(rows: list[dict[str, Any]], out: Path) -> None:
    """Throughput against delay, a panel for each path."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "longfat", "svg.fonttype": "none"}
    from matplotlib import pyplot as plt

    from longfat.plot import style

    figure, panels = plt.subplots(2, 4, figsize=(11, 5.2), sharey=True, layout="constrained")
    for panel, path in zip(panels.flat, PATHS, strict=True):
        for controller, colour in zip(CONTROLLERS, style.COLOURS, strict=False):
            at = {
                row["measure"]: (row["mean"], row["half width"])
                for row in rows
                if (row["path"], row["controller"]) == (path, controller)
            }
            (delay, off), (share, by) = at["delay"], at["utilisation"]
            panel.errorbar(
                delay,
                share,
                xerr=off,
                yerr=by,
                fmt="o",
                ms=5,
                capsize=2,
                color=colour,
                label=controller,
            )
        panel.set_title(path, fontsize=9)
        panel.set_xlim(left=0)
    figure.supxlabel("queueing delay / round trip", fontsize=9)
    figure.supylabel("share of the link", fontsize=9)
    figure.legend(
        *panels.flat[0].get_legend_handles_labels(), loc="outside lower right", ncols=4, fontsize=8
    )
    figure.savefig(out, metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs everything, and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--policy", type=Path, default=HERE / "policy.json")
    parser.add_argument("--out", type=Path, default=HERE)
    asked = parser.parse_args(arguments)

    policy = Policy.read(asked.policy)
    tasks = [
        (path, controller, seed)
        for path in PATHS
        for controller in CONTROLLERS
        for seed in range(1, asked.seeds + 1)
    ]
    with ThreadPoolExecutor(asked.threads) as pool:
        found = list(pool.map(lambda it: measured(it[0], it[1], it[2], policy), tasks))
    rows: list[dict[str, Any]] = []
    for path in PATHS:
        for controller in CONTROLLERS:
            own = [
                it for task, it in zip(tasks, found, strict=True) if task[:2] == (path, controller)
            ]
            for measure in own[0]:
                mean, half = interval([it[measure] for it in own])
                rows.append(
                    {
                        "path": path,
                        "controller": controller,
                        "measure": measure,
                        "mean": mean,
                        "half width": half,
                    }
                )
    asked.out.mkdir(parents=True, exist_ok=True)
    with (asked.out / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {**row, "mean": f"{row['mean']:.6g}", "half width": f"{row['half width']:.3g}"}
            )
    (asked.out / "results.md").write_text(f"{TITLE}\n\n{table(rows)}", "utf-8")
    draw(rows, asked.out / "results.svg")
    print(table(rows))


def table(rows: list[dict[str, Any]]) -> str:
    """The results for people."""
    lines = [
        "| path | controller | utilisation | queueing delay / round trip | packets dropped | Jain's index |"
    ]
    lines.append("|---|---|---|---|---|---|")
    for path in PATHS:
        for controller in CONTROLLERS:
            at = {
                row["measure"]: row
                for row in rows
                if (row["path"], row["controller"]) == (path, controller)
            }
            cells = [
                f"{at['utilisation']['mean']:.3f} ± {at['utilisation']['half width']:.3f}",
                f"{at['delay']['mean']:.2f} ± {at['delay']['half width']:.2f}",
                f"{100 * at['loss']['mean']:.3f} ± {100 * at['loss']['half width']:.3f} %",
                f"{at['fairness']['mean']:.2f} ± {at['fairness']['half width']:.2f}",
            ]
            lines.append(f"| {path} | {controller} | {' | '.join(cells)} |")
    lines += ["", "| beside Reno | Reno's share of what both get |", "|---|---|"]
    for row in rows:
        if row["measure"] == "reno's share":
            lines.append(f"| {row['controller']} | {row['mean']:.2f} ± {row['half width']:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
