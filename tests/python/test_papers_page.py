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


def told(path: str) -> str:
    """What was written by hand of EXP-TCP, on one line."""
    text = (ROOT / path).read_text("utf-8")
    if path == PAGE:
        text = text.split("\n## EXP-TCP: ")[1].split("\n## ")[0]
    else:
        text = text.split("\n## What we found\n")[1].split("<!-- made: ")[0]
    return " ".join(text.split())


def number(name: str) -> float:
    """A fact of the room of EXP-TCP, or what one of its claims measured."""
    results = json.loads((ROOT / "papers/exp-tcp/results/full.json").read_text("utf-8"))
    claims = {claim["id"]: claim for claim in results["claims"]}
    return float({**claims, **results["facts"]}[name]["value"])


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
