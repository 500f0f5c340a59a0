"""What is told of papers in prose: its numbers are those of the results at full scale."""

from __future__ import annotations

import json
import re

import pytest

from support import ROOT

OTHERS = ("reno", "hstcp", "stcp")
NAMES = {"TCP": "reno", "HSTCP": "hstcp", "HighSpeed TCP": "hstcp", "STCP": "stcp"}
NAMES |= {"Scalable TCP": "stcp", "EXP-TCP": "exp"}
FOUND = "papers/exp-tcp/README.md"
PAGE = "docs/papers.md"
EITHER = pytest.mark.parametrize("path", [FOUND, PAGE])


def told(path: str, paper: str = "EXP-TCP: ") -> str:
    """What was written by hand of a paper, on one line."""
    text = (ROOT / path).read_text("utf-8")
    if path == PAGE:
        text = text.split(f"\n## {paper}")[1].split("\n## ")[0]
    else:
        text = text.split("\n## What we found\n")[1].split("<!-- made: ")[0]
    return " ".join(text.split())


def found(room: str, name: str, scale: str = "full") -> tuple[float, float]:
    """A fact of a room, or what one of its claims measured, and half of its interval."""
    results = json.loads((ROOT / f"papers/{room}/results/{scale}.json").read_text("utf-8"))
    claims = {claim["id"]: claim for claim in results["claims"]}
    entry = {**claims, **results["facts"]}[name]
    low, high = entry["interval"] or (0.0, 0.0)
    return float(entry["value"]), (high - low) / 2


def number(name: str) -> float:
    """The same of the room of EXP-TCP, without its interval."""
    return found("exp-tcp", name)[0]


def percent(place: str, control: str, pacing: str) -> str:
    """What a controller uses somewhere, with all paced or with none."""
    return f"{100 * number(f'all-or-none/{place}/{control}/{pacing}'):.0f}"


@EITHER
def test_what_pacing_lifts_is_what_was_found(path: str) -> None:
    (sentence,) = re.findall(r"At 640 Mbit/s[^.]*pacing lifts ([^.]*)\.", told(path))
    lifted = re.findall(r"([A-Z][A-Za-z -]*TCP|TCP) from (\d+) to (\d+) %", sentence)
    assert len(lifted) >= 3
    for name, unpaced, paced in lifted:
        control = NAMES[name]
        assert unpaced == percent("640M", control, "unpaced"), name
        assert paced == percent("640M", control, "paced"), name


@EITHER
def test_how_long_a_change_takes_is_what_was_found(path: str) -> None:
    (sentence,) = re.findall(r"with all paced EXP-TCP takes up (.*? s)(?:\. |, and)", told(path))
    times = re.findall(r"(\d+\.\d) s", sentence)
    found = [
        number(f"all-or-none/response/{who}/paced") for who in ("exp", "hstcp", "stcp", "reno")
    ]
    assert times == [f"{time:.1f}" for time in found]


@EITHER
def test_what_is_used_where_windows_are_small_is_what_was_found(path: str) -> None:
    (most, *others) = re.findall(
        r"(\d+) % of [^.]*? of which the others use (\d+) or (\d+) %", told(path)
    )[0]
    assert most == percent("10M", "exp", "paced")
    assert set(others) == {percent("10M", who, "paced") for who in OTHERS}


def test_where_stcp_equals_exp_tcp() -> None:
    for place in ("40M", "640M", "10G", "two", "few"):
        exp, stcp = (number(f"all-or-none/{place}/{who}/paced") for who in ("exp", "stcp"))
        assert abs(stcp - exp) < 0.01, place
    words = told(FOUND)
    (drop,) = re.findall(
        r"uses (\d+) % at 40 Mbit/s, (\d+) % at 640 Mbit/s and (\d+) % there", words
    )
    assert drop == tuple(percent(place, "stcp", "paced") for place in ("40M", "640M", "10G"))


def test_other_numbers_of_what_was_found() -> None:
    words = told(FOUND)
    assert f"it recovers in {number('figure-7/response/exp'):.1f} s" in words
    for name in ("reached/reno", "reached/hstcp", "reached/stcp"):
        assert number(f"figure-7/{name}") <= 1
    for who in (*OTHERS, "exp"):
        assert number(f"all-or-none/reached/{who}/unpaced") == 0
    assert number("figure-3/ahead/256") < 0 < number("figure-3/ahead/512")
    assert abs(number("figure-3/ahead/128")) < 0.001
    assert f"proportional to p^-{number('bottlenecks/exp/law'):.2f}" in words
    rates = [
        number(f"rtt-fair/{queue}/{law}")
        for law in ("plain", "fair")
        for queue in ("red", "droptail")
    ]
    red, drop_tail, fair_red, fair_drop_tail = (f"{rate:.1f} : 1" for rate in rates)
    assert f"{red} under RED and {drop_tail} with drop-tail" in words
    assert f"`rtt_fair` they are {fair_red} and {fair_drop_tail}" in words
    assert f"ends near {20.6 * number('friendliness/exp/end'):.0f} packets" in words


def test_the_lower_bound_on_losses() -> None:
    words = told(PAGE, "A lower bound on losses")
    assert f"after {found('fiber-tcp', 'figure-1/fiber/full')[0]:.0f} round trips" in words
    assert "half a packet per round trip instead of nine tenths" in words
    assert found("fiber-tcp", "figure-1/packets/slope")[0] == pytest.approx(0.5, abs=0.05)
    assert found("fiber-tcp", "figure-1/fiber/slope")[0] == pytest.approx(0.9, abs=0.01)
    law, half = found("fiber-tcp", "figure-1/packets/law")
    assert abs(law - 1) + half < 0.05
    used = [found("fiber-tcp", f"figure-4/fiber/{queue}")[0] for queue in ("avq", "drop-tail")]
    assert (
        "it uses {:.0f} to {:.0f} % of the same link".format(*(100 * share for share in used))
        in words
    )


def test_losses_that_come_together() -> None:
    words = told(PAGE, "CW-HSTCP: ")
    together = found("cw-hstcp", "figure-6/lose-together")[0]
    assert f"Flows lose together in {100 * together:.0f} % of all losses" in words
    explained, half = found("cw-hstcp", "figure-6/explained")
    assert abs(explained - 1) < half
    assert "makes them five times as large" in words
    assert found("cw-hstcp", "pacing/bursts")[0] == pytest.approx(5, abs=0.5)
    equal, half = found("cw-hstcp", "access/lose-as-often")
    assert abs(equal - 1) < half

    words = told("papers/cw-hstcp/README.md")
    background = found("cw-hstcp", "table-3/loss/5")[0]
    assert f"with c = 5 barely more, {background * 1e4:.1f}e-4 instead of" in words
    slow, fast = (
        found("cw-hstcp", f"hunt/1.25/{place}/index", scale)[0]
        for place, scale in (("20", "quick"), ("15", "full"))
    )
    used = [
        100 * found("cw-hstcp", f"hunt/1.25/{place}/used", scale)[0]
        for place, scale in (("20", "quick"), ("15", "full"))
    ]
    assert f"{slow:.2f} with 20 ms of buffer at {used[0]:.0f} % of 100 Mbit/s" in words
    assert f"{fast:.2f} with 15 ms at {used[1]:.0f} % of 1 Gbit/s" in words
    assert (
        "by {:.2f} ± {:.2f} of the index".format(*found("cw-hstcp", "table-3/large-c/fairness"))
        in words
    )


def test_what_room_gains() -> None:
    words = told(PAGE, "AntiECN: ")
    start, _ = found("anti-ecn", "figure-8/start")
    assert f"Three flows are {100 * start:.0f} points ahead in the first 100 s" in words
    later, half = found("anti-ecn", "figure-8/settled")
    assert abs(later) < half


def test_what_bursts_win() -> None:
    words = told(PAGE, "Blitz: ")
    gaps = (found("blitz", f"figure-4/gap/{rate}")[0] for rate in (30, 90, 150))
    assert (
        "{:.0f}, {:.0f} and {:.0f} times with bottlenecks".format(*(10**gap for gap in gaps))
        in words
    )
