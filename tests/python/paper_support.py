"""A made-up paper for tests: one link, one figure, a claim of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat import commands
from support import SMALL, Command, Finished

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CLAIMS = """\
[paper]
title = "On Links"
authors = ["A. Author"]
venue = "Proceedings"
year = 2001

[[claim]]
id = "figure-1/used"
figure = "figure-1"
where = "Fig. 1"
claim = "Two flows use the link."
measured = "utilisation"
unit = "%"
paper_value = 0.9
at_least = 0.5
because = "half is more than nothing"

[[claim]]
id = "figure-1/empty"
figure = "figure-1"
where = "Fig. 1"
claim = "They leave it empty."
measured = "utilisation"
at_most = 0.01
because = "empty"
cause = "They do not: {figure-1/used} are used, {~figure-1/cubic:%} with CUBIC on 10 Mbit/s."

[[claim]]
id = "figure-1/noisy"
figure = "figure-1"
where = "Fig. 1"
claim = "Something is zero."
measured = "-1, 0 and 1"
between = [-0.5, 0.5]
because = "made up"

[[claim]]
id = "figure-1/large"
figure = "figure-1"
where = "Fig. 2"
claim = "It also holds for larger ones."
measured = "utilisation"
equals = 0.9
tolerance = 0.1
because = "made up"
untestable.quick = "needs the full scale"

[[claim]]
id = "figure-1/gone"
figure = "figure-1"
where = "Fig. 1"
claim = "Something that never happens is good."
measured = "how good"
at_least = 1.0
because = "made up"

[[claim]]
id = "theory/third"
figure = "theory"
where = "Eq. 1"
claim = "A third of three is one."
measured = "one"
equals = 1.0
relative_tolerance = 1e-9
requirement = true
because = "arithmetic"

[[claim]]
id = "weeks"
where = "Section 3"
claim = "It took weeks."
untestable.quick = "not our weeks"
untestable.full = "not our weeks"
"""

DEVIATIONS = """\
[[deviation]]
id = "seeds"
paper = "Says nothing | at all."
here = "Three."
why = "To have intervals."
shown_by = "figure-1"
"""

FIGURE = """\
from longfat.paper import Experiment, Point, Untestable, per_seed, plots

FIGURE = Experiment("figure-1", "Utilisation", "Is the link used?")


def points(scale):
    for control in ("reno", "cubic"):
        changes = {"flow.forward.control": control}
        yield Point("link.toml", set=changes, labels={"control": control, "rate": 1e7})


def measure(run):
    return {"utilisation": run.link()["utilisation"]}


def claims(rows):
    return {
        "figure-1/used": per_seed(rows, "utilisation", control="reno"),
        "figure-1/empty": per_seed(rows, "utilisation", control="reno"),
        "figure-1/noisy": [-1.0, 0.0, 1.0],
        "figure-1/gone": Untestable("it never happened"),
    }


def facts(rows):
    return {"figure-1/cubic": per_seed(rows, "utilisation", control="cubic")}


def draw(rows):
    figure, axes = plots.grid(width=4, height=3)
    plots.over(axes[0, 0], rows, x="rate", y="utilisation", log=True, percent=True)
    plots.legend(figure, axes[0, 0])
    return figure
"""

THEORY = """\
from longfat.paper import Computation, Experiment, Point
from matplotlib.figure import Figure
from shared import THREE

FIGURE = Experiment("theory", "Thirds", "How much is a third?", by=("time_s",))


def third(of):
    return of / 3


def points(scale):
    yield Computation({"of": THREE}, third, {"of": THREE})
    yield Point("link.toml", labels={"of": 0}, seeds=1, tables=("flow_series",))


def measure(run):
    if run.seed is None:
        return {"third": run.value}
    series = run.table("flow_series")
    return [{"time_s": time} for time in series["time_s"].unique().sort()[:3]]


def claims(rows):
    return {"theory/third": rows["third"][0]}


def draw(rows):
    return {"one": Figure((1, 1)), "two": Figure((1, 1))}
"""


def make_room(papers: Path, slug: str = "links") -> Path:
    """A room below the folder `papers`."""
    room = papers / slug
    room.mkdir(parents=True)
    files = {
        "claims.toml": CLAIMS,
        "deviations.toml": DEVIATIONS,
        "link.toml": SMALL,
        "figure_1.py": FIGURE,
        "theory.py": THEORY,
        "shared.py": "THREE = 3\n",
    }
    for name, text in files.items():
        (room / name).write_text(text, encoding="utf-8")
    return room


def in_process(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process, so that the libraries need not be loaded again for each test."""

    def run(*arguments: str) -> Finished:
        code = commands._run(arguments)  # noqa: SLF001 - `main` without leaving the process
        out, err = capsys.readouterr()
        return Finished(arguments, code, out, err)

    return run


def edit(path: Path, old: str, new: str) -> None:
    """Changes a file, which must contain `old`."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
