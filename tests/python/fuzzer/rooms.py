"""Rooms of papers in a temporary folder: files of claims that are judged, and whole rooms that are remade."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from fuzzer.absurd import refuse
from longfat.errors import RoomError
from longfat.foreign import json_text
from longfat.paper._claims import read_claims, read_deviations
from longfat.paper._files import markdown
from longfat.paper._remake import Remaking
from longfat.paper._room import Room
from longfat.paper._verdict import from_dict, judge
from longfat.study import Cache

if TYPE_CHECKING:
    from pathlib import Path

    from fuzzer.trees import Tree

SCENARIO = """\
duration = "300 ms"
[link.link]
rate = "5 Mbit/s"
delay = "2 ms"
[[flow]]
name = "data"
control = "reno"
path = ["link"]
rtt = "10 ms"
"""

CLAIMS = """\
[paper]
title = "On Links"
authors = ["A. Author"]
venue = "Proceedings"

[[claim]]
id = "figure-1/used"
figure = "figure-1"
where = "Fig. 1"
claim = "The link is used."
measured = "utilisation"
unit = "%"
equals = 0.9
relative_tolerance = 0.1
because = "made up"
"""

EXPERIMENT = """\
import json
from pathlib import Path

from longfat.paper import Experiment, Point
from matplotlib.figure import Figure

FIGURE = Experiment("figure-1", "Use", "Is the link used?")
ASKED = json.loads((Path(__file__).parent / "asked.json").read_text("utf-8"))


def points(scale):
    yield Point("link.toml", set=ASKED["set"], labels={"point": 1}, seeds=2)


def measure(run):
    return {"used": next(iter(run.summary["links"].values()))["forward"]["utilisation"]}


def claims(rows):
    answer = ASKED["answers"]
    return {"figure-1/used": rows["used"].to_list() if answer is None else answer}


def draw(rows):
    return Figure((1, 1))
"""


def judge_file(folder: Path, text: str, tree: Tree) -> str:
    """Reads a file of claims or of deviations, and judges the claims by the answers of the tree."""
    path = folder / "claims.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        if tree["deviations"]:
            read_deviations(path)
            return "run"
        _, claims = read_claims(path)
    except RoomError as error:
        refuse(not str(error).startswith(str(path)), "a refused room", f"no place in {error}")
        return "refused"
    verdicts = [
        judge(claim, answer, scale)
        for claim in claims
        for answer in tree["answers"]
        for scale in ("quick", "full")
    ]
    for verdict in verdicts:
        told = verdict.to_dict()
        read = json.loads(json_text(told))
        refuse(
            from_dict(verdict.claim, read).to_dict() != told,
            verdict.claim.id,
            "reads back to another",
        )
        value = verdict.value
        refuse(value is not None and not math.isfinite(value), verdict.claim.id, f"value = {value}")
    refuse(markdown(verdicts).count("\n") < len(verdicts), "the table", "rows are missing")
    return "run"


def remake(folder: Path, tree: Tree) -> str:
    """Remakes a small room whose experiment sets what the tree says and answers with it."""
    room = folder / "papers/links"
    room.mkdir(parents=True, exist_ok=True)
    asked: dict[str, Any] = {"set": tree.get("set", {}), "answers": tree.get("answers")}
    for name, text in (
        ("claims.toml", CLAIMS),
        ("link.toml", SCENARIO),
        ("figure_1.py", EXPERIMENT),
        ("asked.json", json.dumps(asked)),
    ):
        (room / name).write_text(text, encoding="utf-8")
    (remade,) = Remaking([Room(room)], "quick", cache=Cache(folder / "cache")).run(workers=1)
    out = folder / "out"
    out.mkdir(exist_ok=True)
    names = remade.write_files(out)
    missing = [name for name in names if not (out / name).is_file()]
    refuse(missing, "a remade room", f"it does not write {missing}")
    told = (out / "claims.json").read_text("utf-8")
    refuse("NaN" in told or "Infinity" in told, "claims.json", "it holds what is no JSON")
    return "run"
