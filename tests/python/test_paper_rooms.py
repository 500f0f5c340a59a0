"""What holds in every paper's room, without running it."""

from __future__ import annotations

from typing import Any

import pytest

from longfat.paper._causes import committed_facts, filled, unfounded
from longfat.paper._claims import SCALES, Scale, quoted
from longfat.paper._commit import readme
from longfat.paper._results import results
from longfat.paper._room import Room
from longfat.paper._verdict import explained, from_dict
from longfat.study import Plan, Sweep
from support import ROOT

ROOMS = [Room(path.parent) for path in sorted(ROOT.glob("papers/*/claims.toml"))]
EVERY = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.slug)
WITHOUT_FACTS: tuple[str, ...] = ()
"""Rooms whose causes still quote numbers by hand; a room that is done goes from this list."""
LARGEST_PICTURE = 300_000


def committed(room: Room) -> list[tuple[Scale, dict[str, Any]]]:
    found = [(scale, results(room, scale)) for scale in SCALES]
    return [(scale, content) for scale, content in found if content is not None]


@EVERY
def test_claims_deviations_and_scenarios_can_be_read(room: Room) -> None:
    assert room.paper.title
    assert room.claims
    for claim in room.claims:
        assert claim.id.startswith(f"{claim.figure}/") or claim.figure is None, claim.id
    names = {claim.id for claim in room.claims} | set(room.figure_ids)
    for deviation in room.deviations:
        assert deviation.shown_by is None or deviation.shown_by in names, deviation.id
    for scale in SCALES:
        for module in room.modules.values():
            sweep = Sweep(module.about.id, list(module.points(scale)), module.measure, room.path)
            assert Plan([sweep]).runs


@EVERY
def test_every_claim_has_a_committed_verdict_by_its_criterion(room: Room) -> None:
    assert committed(room), f"{room.slug}: run `longfat paper {room.slug} --commit`"
    for scale, content in committed(room):
        verdicts = {claim["id"]: claim for claim in content["claims"]}
        for claim in room.claims:
            entry = verdicts.get(claim.id)
            place = f"{room.slug}/results/{scale}.json, {claim.id}"
            assert entry is not None, f"{place} is not there"
            assert entry["criterion"] == claim.criterion, f"{place} was judged by another criterion"
            if entry["verdict"] == "differs":
                assert claim.cause, f"{place} differs, and claims.toml has no cause"
                assert not claim.requirement, f"{place}: a requirement that does not hold"


@EVERY
def test_committed_causes_have_the_numbers_of_their_runs(room: Room) -> None:
    for scale, content in committed(room):
        numbers = committed_facts(room, content)
        entries = {entry["id"]: entry for entry in content["claims"]}
        for claim in room.claims:
            found = explained(from_dict(claim, entries[claim.id]), filled(claim, numbers))
            place = f"{room.slug}/results/{scale}.json, {claim.id}: commit it again"
            assert entries[claim.id]["reason"] == found.reason, place
            if found.verdict == "differs":
                missing = [name for name in quoted(claim) if name not in numbers]
                assert not missing, f"{place}: its cause quotes {missing}"


@pytest.mark.parametrize(
    "room",
    [
        pytest.param(room, marks=pytest.mark.xfail(strict=True, reason="written before facts"))
        if room.slug in WITHOUT_FACTS
        else room
        for room in ROOMS
    ],
    ids=lambda room: room.slug,
)
def test_causes_rest_on_experiments_of_their_room(room: Room) -> None:
    complaints = unfounded(room)
    assert not complaints, "\n" + "\n".join(complaints)


@EVERY
def test_the_readme_is_made_from_the_committed_results(room: Room) -> None:
    text = (room.path / "README.md").read_text("utf-8")
    assert text == readme(room), f"write it again: longfat paper {room.slug} --commit"


@EVERY
def test_committed_pictures_are_there_and_small(room: Room) -> None:
    for _, content in committed(room):
        for account in content["figures"].values():
            for stem in account["pictures"]:
                size = (room.path / "results" / f"{stem}.svg").stat().st_size
                assert size < LARGEST_PICTURE, f"{stem}.svg has {size} bytes"
