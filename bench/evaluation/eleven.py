"""Eleven controllers on the whole suite: the table and the picture of docs/evaluation.md.

    .venv/bin/python bench/evaluation/eleven.py         from what is kept in bench/evaluation.jsonl
    .venv/bin/python bench/evaluation/eleven.py --take  from evaluations in runs/
    .venv/bin/python bench/evaluation/eleven.py --run   evaluates first: 70 minutes of a core
    .venv/bin/python bench/evaluation/eleven.py --cell 'starvation/*'  only these again; the others stay
    .venv/bin/python bench/evaluation/eleven.py --cell 'queues/*' --control prague  of this one alone

An interrupted run goes on where it stopped; incumbents are simulated once for all.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "bench/evaluation.jsonl"
PAGE = ROOT / "docs/evaluation.md"
PICTURE = ROOT / "docs/images/evaluation.png"

CONTROLLERS = (
    "exp",
    "anti-ecn",
    "fiber",
    "cw-hstcp",
    "blitz",
    "hstcp",
    "stcp",
    "cubic",
    "bbr3",
    "copa",
    "prague",
)
INCUMBENTS = ("reno", "cubic", "bbr3")

COMPARED = ("better", "as good", "mixed", "worse", "undecided")
COLOURS = {
    "better": "#0072B2",
    "as good": "#9CCBEB",
    "mixed": "#CC79A7",
    "worse": "#D55E00",
    "undecided": "#E8E8E4",
}
BEGIN = "<!-- verdicts: written by bench/evaluation/eleven.py -->\n"
END = "<!-- end of verdicts -->"

Row = dict[str, Any]
"""What a cell found: `control`, `cell`, `group`, `title`, `verdict`, `against`, `judged`, `story`."""


def rows(evaluated: dict[str, Any]) -> Iterator[Row]:
    """What is kept of an `evaluate.json`."""
    for cell in evaluated["cells"]:
        judged = [each["judged"] for each in cell["measures"] if each["judged"]]
        yield {
            "control": evaluated["subject"]["name"],
            "cell": cell["id"],
            "group": cell["group"],
            "title": cell["title"],
            "verdict": cell["verdict"],
            "against": cell["against"],
            "judged": judged,
            "story": cell["story"] or cell["why"],
        }


def take(folders: Iterable[Path]) -> None:
    """Keeps what evaluations in these folders found."""
    contents = (json.loads((folder / "evaluate.json").read_text("utf-8")) for folder in folders)
    keep(row for content in contents for row in rows(content))


def replace(
    controls: Iterable[str], cells: Sequence[str], *, seeds: int | None, workers: int | None
) -> None:
    """Evaluates only these controllers in only these cells, and keeps what was found of all others."""
    anew: dict[tuple[str, str], Row] = {}
    for name in controls:
        evaluated = evaluate(
            name, against=INCUMBENTS, scale="full", cells=cells, seeds=seeds, workers=workers
        )
        anew |= {(name, row["cell"]): row for row in rows(evaluated.to_dict())}
        print(evaluated, flush=True)
    keep([anew.get((row["control"], row["cell"]), row) for row in kept()])


def keep(found: Iterable[Row]) -> None:
    """Writes what cells found, a line for each."""
    lines = [json.dumps(row, ensure_ascii=False) for row in found]
    KEPT.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def kept() -> list[Row]:
    """What came out the last time, in the order of the controllers."""
    return [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()]


def of(found: Sequence[Row], control: str) -> list[Row]:
    """The cells of a controller."""
    return [row for row in found if row["control"] == control]


def table(found: Sequence[Row]) -> str:
    """How often each controller is better, as good, mixed, worse, and undecided, against each incumbent."""
    head = [f"against `{name}`" for name in INCUMBENTS]
    lines = [f"| | {' | '.join(head)} | stated numbers |", "|---|" + "---|" * (len(head) + 1)]
    for control in CONTROLLERS:
        cells = of(found, control)
        counts = [
            Counter(cell["against"].get(name) for cell in cells if cell["against"])
            for name in INCUMBENTS
        ]
        told = [" · ".join(str(count[verdict]) for verdict in COMPARED) for count in counts]
        judged = Counter(each for cell in cells for each in cell["judged"])
        numbers = ", ".join(f"{count} {verdict}" for verdict, count in sorted(judged.items()))
        lines.append(f"| `{control}` | {' | '.join(told)} | {numbers} |")
    return "\n".join(lines) + "\n"


def picture(found: Sequence[Row]) -> Figure:
    """A row for each controller and incumbent, a column for each cell, the groups apart."""
    from matplotlib.patches import Patch

    from longfat.plot import style

    cells = list(dict.fromkeys((row["group"], row["cell"]) for row in found))
    groups = list(dict.fromkeys(group for group, _ in cells))
    place: dict[str, float] = {}
    widths: dict[str, tuple[float, float]] = {}
    at = 0.0
    for group in groups:
        names = [cell for each, cell in cells if each == group]
        widths[group] = (at, at + len(names))
        place |= {cell: at + index for index, cell in enumerate(names)}
        at += len(names) + 2
    with style.applied():
        drawn = style.figure(15.0, 9.2, 1.1)
        drawn.subplots_adjust(left=0.13, right=0.99, bottom=0.2)
        axes = drawn.add_subplot()
        for index, control in enumerate(CONTROLLERS):
            _band(axes, of(found, control), place, top=index * (len(INCUMBENTS) + 1))
        middle = (len(INCUMBENTS) - 1) / 2
        axes.set_yticks(
            [index * (len(INCUMBENTS) + 1) + middle for index in range(len(CONTROLLERS))],
            CONTROLLERS,
        )
        centres = [sum(widths[group]) / 2 for group in groups]
        axes.set_xticks(centres, groups, rotation=35, ha="right")
        axes.set(xlim=(-1, at - 1), ylim=(len(CONTROLLERS) * (len(INCUMBENTS) + 1) - 0.5, -0.8))
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        handles = [Patch(color=colour, label=verdict) for verdict, colour in COLOURS.items()]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=5)
        style.title(
            drawn,
            "What would be shown before they are deployed",
            f"a column is one of {len(cells)} cells; a controller's three rows are its verdicts against "
            f"{INCUMBENTS[0]}, {INCUMBENTS[1]} and {INCUMBENTS[2]}; blank: nothing to compare",
        )
    return drawn


def _band(axes: Axes, cells: Sequence[Row], place: dict[str, float], top: float) -> None:
    for below, incumbent in enumerate(INCUMBENTS):
        for verdict, colour in COLOURS.items():
            x = [place[cell["cell"]] for cell in cells if cell["against"].get(incumbent) == verdict]
            axes.bar(x, 0.92, 0.86, bottom=top + below - 0.46, color=colour, align="edge")


def write(found: Sequence[Row]) -> None:
    """Puts the table into the page, and draws the picture."""
    from longfat.plot import style

    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + table(found) + END + after, "utf-8")
    style.save(picture(found), PICTURE)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--take", action="store_true", help="take over what is in runs/")
    parser.add_argument("--run", action="store_true", help="evaluate, and take that over")
    parser.add_argument(
        "--cell", action="append", default=[], help="evaluate only this again: a name, or a pattern"
    )
    parser.add_argument(
        "--control",
        action="append",
        choices=CONTROLLERS,
        help="with --cell, evaluate only this controller again",
    )
    parser.add_argument("--seeds", type=int, help="runs of each [8]; those of before are known")
    parser.add_argument("--workers", type=int, help="runs at a time [one for each core]")
    asked = parser.parse_args()
    if asked.control and not asked.cell:
        parser.error("--control says of whom the cells of --cell are evaluated again")
    folders = {name: ROOT / f"runs/evaluate-{name}-full" for name in CONTROLLERS}
    if asked.run:
        for name, folder in folders.items():
            evaluated = evaluate(
                name, against=INCUMBENTS, scale="full", seeds=asked.seeds, workers=asked.workers
            )
            evaluated.save(folder)
            print(evaluated, flush=True)
    if asked.run or asked.take:
        take(folders.values())
    elif asked.cell:
        controls = asked.control or CONTROLLERS
        replace(controls, asked.cell, seeds=asked.seeds, workers=asked.workers)
    write(kept())


if __name__ == "__main__":
    main()
