"""The page of a paper: what it claims, what we found, and the pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from longfat.errors import ResultError
from longfat.foreign import shown
from longfat.page import _kit
from longfat.paper._claims import SCALES, Claim
from longfat.paper._results import results
from longfat.paper._room import Room, rooms
from longfat.paper._verdict import (
    ClaimVerdict,
    counts,
    from_dict,
    show,
    show_criterion,
    show_estimate,
)
from longfat.results._json import decoded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CLAIMS = "claims.json"
_WORDS = ("reproduced", "differs", "not testable")


class _Entry(msgspec.Struct):
    id: str
    verdict: str
    value: float | None
    interval: tuple[float, float] | None
    seeds: int | None
    decided: bool | None
    reason: str


class _Results(msgspec.Struct):
    paper: str
    scale: str
    claims: list[_Entry]
    figures: dict[str, dict[str, Any]] = {}
    files: list[str] = []


@dataclass(frozen=True)
class Row:
    """A claim with its verdict, in words.

    Attributes:
        where: Where the paper says it.
        claim: What it says, in our words.
        measured: What our number is.
        expected: The criterion.
        found: Our number.
        verdict: The verdict.
        undecided: Whether more seeds could turn it.
        requirement: Whether the number comes from theory.
        reason: Why it differs, or is undecided or not testable.
        hindsight: How the criterion was chosen, if its number was known by then.
        id: Its id.
    """

    where: str
    claim: str
    measured: str
    expected: str
    found: str
    verdict: str
    undecided: bool
    requirement: bool
    reason: str
    hindsight: str
    id: str


@dataclass(frozen=True)
class Part:
    """The claims of a figure, and its pictures.

    Attributes:
        id: Of the figure.
        rows: Its claims.
        pictures: Its pictures, each with its name.
        note: What it took.
    """

    id: str
    rows: list[Row]
    pictures: list[tuple[str, str]]
    note: str = ""


def room_page(room: Room) -> str:
    """The page of a room, with what it keeps of each paper: the results at full scale, or else at quick scale.

    Raises:
        ResultError: It keeps no results, or not those of its claims.
        RoomError: The room is wrong.
    """
    for scale in reversed(SCALES):
        content = results(room, scale)
        if content is not None:
            return _page(room, content, room.path / "results", str(room.path))
    message = (
        f"the room {shown(str(room.path))} keeps no results: `longfat paper {shown(room.slug)}` makes some "
        "in a folder, which has a page as well"
    )
    raise ResultError(message)


def remade_page(folder: Path) -> str:
    """The page of a folder that `longfat paper` wrote.

    Raises:
        ResultError: Its claims are not those of a room with a name.
        RoomError: The room is wrong.
    """
    try:
        content = decoded((folder / CLAIMS).read_bytes())
    except (OSError, ValueError) as error:
        message = (
            f"{shown(str(folder / CLAIMS))} cannot be read: {shown(str(error))}; make it again"
        )
        raise ResultError(message) from error
    slug = content.get("paper") if isinstance(content, dict) else None
    room = next((each for each in rooms() if each.slug == slug), None)
    if room is None:
        message = (
            f"{shown(str(folder))} has verdicts on the paper {shown(str(slug))}, whose room is not here: "
            "run this where `papers` has it"
        )
        raise ResultError(message)
    return _page(room, content, folder, str(folder))


def _page(room: Room, content: dict[str, Any], pictures: Path, place: str) -> str:
    try:
        kept = msgspec.convert(content, _Results)
    except msgspec.ValidationError as error:
        message = (
            f"{shown(place)}: its verdicts cannot be read: {shown(str(error))}; make them again"
        )
        raise ResultError(message) from error
    claims = {claim.id: claim for claim in room.claims}
    verdicts = [
        from_dict(claims[entry.id], msgspec.to_builtins(entry))
        for entry in kept.claims
        if entry.id in claims
    ]
    paper = room.paper
    words: list[str] = [verdict.verdict for verdict in verdicts]
    year = f", {paper.year}" if paper.year is not None else ""
    return _kit.page(
        "paper.html",
        kind="paper",
        title=paper.title,
        about=f"{', '.join(paper.authors)}. {paper.venue}{year}.",
        counts=[(word, words.count(word)) for word in _WORDS],
        told=counts(verdicts),
        changes=_changes(content),
        scale=kept.scale,
        parts_of_paper=_parts(verdicts, kept, pictures),
        deviations=room.deviations,
        unknown=len(kept.claims) - len(verdicts),
        slug=room.slug,
        folder=place,
    )


def _changes(content: dict[str, Any]) -> str:
    """What was changed in the room, as it is kept."""
    told = content.get("changes")
    return "" if not told else msgspec.json.encode(told).decode()


def _parts(verdicts: Sequence[ClaimVerdict], kept: _Results, folder: Path) -> list[Part]:
    by_figure: dict[str, list[ClaimVerdict]] = {name: [] for name in kept.figures}
    for verdict in verdicts:
        by_figure.setdefault(verdict.claim.figure or "", []).append(verdict)
    return [
        Part(
            name,
            [_row(verdict) for verdict in some],
            _pictures(name, kept, folder),
            _note(kept.figures.get(name, {})),
        )
        for name, some in by_figure.items()
        if some or name
    ]


def _pictures(figure: str, kept: _Results, folder: Path) -> list[tuple[str, str]]:
    """The pictures of a figure that are there."""
    if not figure:
        return []
    told = kept.figures.get(figure, {}).get("pictures")
    if isinstance(told, list):
        stems = [stem for stem in told if isinstance(stem, str)]
    else:
        stems = [
            name.removesuffix(".svg")
            for name in kept.files
            if name == f"{figure}.svg" or (name.startswith(f"{figure}-") and name.endswith(".svg"))
        ]
    paths = [folder / f"{stem}.svg" for stem in stems if "/" not in stem and "\\" not in stem]
    return [(path.stem, _kit.picture(path)) for path in paths if path.is_file()]


def _note(figure: dict[str, Any]) -> str:
    """What a figure took."""
    if not {"runs", "version", "date"} <= figure.keys():
        return ""
    return f"{figure['runs']} runs, longfat {figure['version']}, {figure['date']}"


def _row(verdict: ClaimVerdict) -> Row:
    claim = verdict.claim
    return Row(
        where=claim.where,
        claim=claim.claim,
        measured=claim.measured,
        expected=_expected(claim),
        found=show_estimate(verdict),
        verdict=verdict.verdict,
        undecided=verdict.decided is False,
        requirement=claim.requirement,
        reason=verdict.reason,
        hindsight=claim.hindsight or "",
        id=claim.id,
    )


def _expected(claim: Claim) -> str:
    if claim.paper_value is None or claim.paper_value == claim.equals:
        return show_criterion(claim)
    return f"{show_criterion(claim)}; paper: {show(claim.paper_value, claim.unit)}"
