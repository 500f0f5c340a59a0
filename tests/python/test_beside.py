"""Numbers of one's own beside a paper's claims."""

from __future__ import annotations

import pytest

from longfat.errors import RoomError
from longfat.paper import beside
from longfat.paper._results import results
from longfat.paper._room import rooms

SETTLES, SLOPE = "figure-1/tcp/settles", "figure-1/packets/slope"


def test_own_numbers_stand_beside_those_of_the_room() -> None:
    found = beside("fiber-tcp", {SETTLES: 44.72, SLOPE: [0.50, 0.52, 0.54]})
    own, slope = found.here[SETTLES], found.here[SLOPE]
    assert (own.value, own.interval, own.verdict) == (44.72, None, "reproduced")
    # t = 4.303 at two degrees of freedom: 0.02 * 4.303 / sqrt(3).
    assert slope.interval == pytest.approx((0.52 - 0.0497, 0.52 + 0.0497), abs=1e-4)
    (room,) = (each for each in rooms() if each.slug == "fiber-tcp")
    committed = {entry["id"]: entry for entry in (results(room, "full") or {})["claims"]}
    for name in (SETTLES, SLOPE):
        assert found.committed[name].value == committed[name]["value"]
    markdown = str(found)
    assert "0.52 ± 0.05, differs" in markdown
    assert "means of 3 runs" in markdown
    html = found._repr_html_()
    assert html.count("<tr>") == 3
    assert "papers/fiber-tcp, at full scale" in html


def test_the_other_scale_has_its_own_numbers() -> None:
    full, quick = (beside("fiber-tcp", {SLOPE: 0.5}, scale=scale) for scale in ("full", "quick"))
    assert full.committed[SLOPE].value != quick.committed[SLOPE].value
    assert "runs" not in full.legend


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(RoomError, match=r"there is no paper fibre: the papers are .*fiber-tcp"):
        beside("fibre", {})
    with pytest.raises(RoomError, match="no claim figure-1/nothing; it has figure-1/tcp/settles"):
        beside("fiber-tcp", {"figure-1/nothing": 1.0})
    with pytest.raises(RoomError, match="no claim other; it has "):
        beside("fiber-tcp", {"other": 1.0})
