"""Where time-outs and phase effects come from: the pages, and what they promise on small examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longfat_forms.report import filled
from longfat_transport.experiments import PACKET_TIME_S, TIMERS, measured, paced, shares, timers
from longfat_transport.report import COMMAND, PAGES, TABLES
from support import ROOT

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found: list[Row] = json.loads((ROOT / "bench/time-outs.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_tables_of_the_committed_rows(name: str, rows: list[Row]) -> None:
    page = (ROOT / f"docs/concepts/{name}.md").read_text("utf-8")
    assert filled(page, {part: TABLES[part](rows) for part in PAGES[name]}, COMMAND) == page


def _means(found: list[Row], what: str) -> dict[Any, float]:
    return {tuple(row["at"].values()): row["mean"] for row in found if row["what"] == what}


def test_the_restart_and_the_margin_decide_how_often_flows_time_out(rows: list[Row]) -> None:
    # As the page says of 16 flows on 100 ms and a tenth of a bandwidth-delay product, with one seed.
    few = [each for each in timers(seeds=1) if (each.at["rtt"], each.at["flows"]) == (0.1, 16)]
    chosen = [each for each in few if each.at["buffer"] == 0.1]
    found = _means(measured(chosen), "timeouts")
    assert found[0.1, 16, 0.1, "never"] > 0
    assert all(found[0.1, 16, 0.1, timer] == 0 for timer in TIMERS if timer != "never")
    # And on the page itself: only the margin of Linux helps a hundred flows on 300 ms.
    known = _means([row for row in rows if row["part"] == "timers"], "timeouts")
    assert known[0.3, 100, 0.1, "first"] > 100 * (1 + known[0.3, 100, 0.1, "linux"])


def test_a_quarter_of_a_packet_time_decides_who_gets_the_link() -> None:
    places = (0.5, 0.75)
    chosen = [each for each in shares(step=0.25, seeds=2) if each.at["longer"] in places]
    found = _means(measured(chosen), "share")
    assert PACKET_TIME_S == 0.01
    assert abs(found["drop tail", 0.75] - found["drop tail", 0.5]) > 0.3
    assert abs(found["drop tail, jitter", 0.75] - found["drop tail, jitter", 0.5]) < 0.2
    assert abs(found["RED", 0.75] - found["RED", 0.5]) < 0.1


def test_a_paced_flow_is_locked_to_its_buffer(rows: list[Row]) -> None:
    known = _means([row for row in rows if row["part"] == "paced"], "timeouts")
    assert set(known) == {tuple(each.at.values()) for each in paced()}
    # The time-outs that revealed an unpaced retransmission are gone, and one buffer still locks.
    assert [known["none", buffer] for buffer in (675, 680, 685)] == [0, 0, 0]
    assert known["none", 690] > 2 * known["60 us", 690] > 0
