"""The results that a room keeps, and the parts of its README made from them."""

from __future__ import annotations

import datetime as dt
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from longfat import _longfat, foreign, frames, shipped
from longfat.errors import RoomError
from longfat.paper import _files
from longfat.paper._causes import Fact, committed_facts, filled
from longfat.paper._claims import SCALES
from longfat.paper._results import results, results_file
from longfat.paper._verdict import counts, explained, from_dict
from longfat.plot import style
from longfat.results._folder import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from longfat.paper._claims import Claim, Scale
    from longfat.paper._remake import FigureResult, Remade
    from longfat.paper._room import Room
    from longfat.paper._verdict import ClaimVerdict

Move = tuple[str, str, str]
"""A claim whose verdict is not the committed one: its id, the old verdict and the new one."""

_BLOCK = r"<!-- made: {name} -->\n(.*?)<!-- end: {name} -->\n?"


def changes(remade: Remade) -> list[Move]:
    """The claims whose verdict is not the committed one."""
    committed = results(remade.room, remade.scale)
    if committed is None:
        return []
    old = {claim["id"]: claim["verdict"] for claim in committed["claims"]}
    return [
        (verdict.claim.id, old.get(verdict.claim.id, "not there"), verdict.verdict)
        for verdict in remade.verdicts
        if old.get(verdict.claim.id) != verdict.verdict
    ]


def commit_room(remade: Remade) -> list[Move]:
    """Writes the results into the room and brings its README up to date.

    Returns:
        No moves: nothing differs from what is committed now.

    Raises:
        RoomError: The room is that of an installed package.
        OSError: It cannot be written.
    """
    room, scale = remade.room, remade.scale
    refuse_installed(room)
    committed = results(room, scale) or {"claims": [], "figures": {}}
    facts = committed.get("facts", {}) | {
        name: fact.to_dict() for name, fact in remade.facts.items()
    }
    known = {claim["id"]: claim for claim in committed["claims"]}
    known |= {verdict.claim.id: verdict.to_dict() for verdict in remade.verdicts}
    figures = committed["figures"] | {
        figure.module.about.id: _account(figure) for figure in remade.figures
    }
    content: dict[str, Any] = {
        "paper": room.slug,
        "scale": scale,
        "figures": {name: figures[name] for name in room.figure_ids if name in figures},
        "claims": [known[claim.id] for claim in room.claims if claim.id in known],
    }
    if facts:
        content["facts"] = {name: facts[name] for name in sorted(facts)}
    numbers = committed_facts(room, content)
    content["claims"] = [
        _with_reason(claim, known[claim.id], numbers) for claim in room.claims if claim.id in known
    ]
    folder = room.path / "results"
    folder.mkdir(exist_ok=True)
    better = None if scale == "full" else results(room, "full")
    for figure in remade.figures:
        # The room shows one picture of each figure: at full scale, if there is one.
        if better is None or figure.module.about.id not in better["figures"]:
            _write_figure(folder, figure)
    write_whole(results_file(room, scale), lambda path: _files.write_json(path, content))
    write_readme(room)
    return []


def _with_reason(
    claim: Claim, entry: dict[str, Any], numbers: Mapping[str, Fact]
) -> dict[str, Any]:
    """The entry of a claim with its cause as it is now; what it quotes may be of another figure."""
    found = explained(from_dict(claim, entry), filled(claim, numbers))
    return entry | {"hindsight": claim.hindsight, "reason": found.reason}


def refuse_installed(room: Room) -> None:
    """Refuses to commit into a room that came with the package.

    Raises:
        RoomError: It did.
    """
    if shipped.is_installed(room.path):
        message = (
            f"{room.path} came with the installed package, where nothing can be committed: copy the folder "
            "and give the path of the copy, or commit in a checkout"
        )
        raise RoomError(message)


def _account(figure: FigureResult) -> dict[str, Any]:
    return {
        "version": _longfat.__version__,
        "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
        "runs": figure.rows.spent.runs,
        "data_packets": figure.rows.spent.data_packets,
        "core_s": round(figure.rows.spent.core_s, 1),
        "pictures": list(figure.pictures),
    }


def _write_figure(folder: Path, figure: FigureResult) -> None:
    for stem, picture in figure.pictures.items():
        write_whole(folder / f"{stem}.svg", partial(style.save, picture))
    about = figure.module.about
    means = _files.aggregate(figure.rows.frame, (*figure.rows.labels, *about.by))
    write_whole(folder / f"{about.id}.csv", partial(frames.write_csv, means))


def write_readme(room: Room) -> None:
    """Rewrites the generated parts of the README of a room, and leaves the rest as it is.

    Raises:
        OSError: It cannot be written.
    """
    text = readme(room)
    write_whole(room.path / "README.md", lambda path: path.write_text(text, encoding="utf-8"))


def readme(room: Room) -> str:
    """The README of a room as it should be: what people wrote, with its generated parts up to date.

    A part stands between `<!-- made: NAME -->` and `<!-- end: NAME -->`, wherever its author puts it; NAME is
    `paper`, `deviations`, `claims` (those of no figure) or the id of a figure. A part without a place yet goes
    to the end.
    """
    path = room.path / "README.md"
    text = path.read_text("utf-8") if path.exists() else f"# {foreign.markdown(room.paper.title)}\n"
    for name, body in _parts(room).items():
        block = f"<!-- made: {name} -->\n{body}<!-- end: {name} -->\n"
        pattern = re.compile(_BLOCK.format(name=re.escape(name)), re.DOTALL)
        if pattern.search(text):
            text = pattern.sub(block.replace("\\", r"\\"), text, count=1)
        else:
            text = f"{text.rstrip()}\n\n{block}"
    return text


def _parts(room: Room) -> dict[str, str]:
    """The generated parts of the README, in order."""
    found = {scale: results(room, scale) for scale in SCALES}
    claims = {claim.id: claim for claim in room.claims}
    verdicts = {
        scale: {
            entry["id"]: from_dict(claims[entry["id"]], entry)
            for entry in (content or {"claims": []})["claims"]
            if entry["id"] in claims
        }
        for scale, content in found.items()
    }
    parts = {"paper": _paper(room, verdicts)}
    for module in room.modules.values():
        parts[module.about.id] = _figure(room, module.about.id, found, verdicts)
    loose = [claim.id for claim in room.claims if claim.figure is None]
    if loose:
        scale = _best(found, None)
        rows = [verdicts[scale][name] for name in loose if name in verdicts[scale]]
        parts["claims"] = f"\n## Claims that no figure answers\n\n{_files.markdown(rows)}\n"
    if room.deviations:
        parts["deviations"] = _deviations(room)
    return parts


def _paper(room: Room, verdicts: dict[Scale, dict[str, ClaimVerdict]]) -> str:
    paper = room.paper
    year = f", {paper.year}" if paper.year else ""
    told = f"{', '.join(paper.authors)}: *{paper.title}*. {paper.venue}{year}."
    lines = ["", foreign.markdown(told), ""]
    lines += [
        f"- `longfat paper {room.slug} --scale {scale}`: {counts(list(verdicts[scale].values()))}"
        for scale in SCALES
        if verdicts[scale]
    ]
    if any(claim.hindsight for claim in room.claims):
        lines += [
            "",
            "A claim *in hindsight* got its criterion after its number had been seen; it says how.",
        ]
    return "\n".join([*lines, ""]) + "\n"


def _figure(
    room: Room,
    name: str,
    found: dict[Scale, dict[str, Any] | None],
    verdicts: dict[Scale, dict[str, ClaimVerdict]],
) -> str:
    about = room.modules[name].about
    heading = name.replace("-", " ").capitalize()
    lines = ["", f"## {heading}: {about.title}", "", about.question, ""]
    scale = _best(found, name)
    account = ((found[scale] or {}).get("figures") or {}).get(name)
    if account is None:
        return "\n".join([*lines, f"Not run yet: `longfat paper {room.slug} --figure {name}`.\n\n"])
    for stem in account["pictures"]:
        lines += [f"![{about.title}](results/{stem}.svg)", ""]
    rows = [verdict for verdict in verdicts[scale].values() if verdict.claim.figure == name]
    lines.append(_files.markdown(rows))
    packets = f"{account['data_packets']:,} packets"
    lines.append(
        f"{scale.capitalize()} scale, {account['runs']} runs, {packets}, longfat {account['version']}, "
        f"{account['date']}. The numbers: [{name}.csv](results/{name}.csv).\n"
    )
    return "\n".join(lines) + "\n"


def _deviations(room: Room) -> str:
    lines = [
        "",
        "## Where we deviate from the paper",
        "",
        "| | the paper | here | why |",
        "|---|---|---|---|",
    ]
    for each in room.deviations:
        shown = f" Shown by `{each.shown_by}`." if each.shown_by else ""
        cells = (f"`{each.id}`", each.paper, each.here, each.why + shown)
        lines.append("| " + " | ".join(_files.cell(text) for text in cells) + " |")
    return "\n".join([*lines, ""]) + "\n"


def _best(found: dict[Scale, dict[str, Any] | None], figure: str | None) -> Scale:
    """The scale that the README shows: full, if it has been run."""
    full = found["full"]
    there = full is not None and (figure is None or figure in full["figures"])
    return "full" if there else "quick"
