"""The page of the studies: its numbers are those of the studies that it tells of.

After `longfat study studies/rtt-fairness.toml`, `friendliness.toml` or `copa-turns.toml`, UPDATE=1 takes
over what came out.
"""

from __future__ import annotations

import re

import polars as pl

from study_support import ROOT, kept

PAGE = ROOT / "docs/studies.md"


def section(title: str) -> str:
    """What the page says under this title."""
    return PAGE.read_text("utf-8").split(f"## {title}\n")[1].split("\n## ")[0]


def with_intervals(text: str) -> set[str]:
    """Means with half of their intervals."""
    return set(re.findall(r"-?\d\.\d\d ± \d\.\d\d", text))


def shown(table: pl.DataFrame, mean: str) -> set[str]:
    """The same of a table."""
    rows = table.select(mean, f"{mean}_half_width").drop_nulls().rows()
    return {f"{mean + 0.0:.2f} ± {half:.2f}".replace("-0.00", "0.00") for mean, half in rows}


def test_exponents_of_round_trips_are_those_of_the_study() -> None:
    names = {
        "link.bottleneck.queue": "queue",
        "flow.far.rtt": "far",
        "flow.near.control": "control",
    }
    table = kept("rtt-fairness", names, ("exponent", "exponent_half_width", "ratio"))
    table = table.filter(pl.col("far") == "320 ms")
    told = section("Who gets more at which round trip")
    behind_red, behind_drop_tail = told.split("- Behind drop tail")
    drop_tail = pl.col("queue") == "drop-tail"
    for text, rows in (
        (behind_red, table.filter(~drop_tail)),
        (behind_drop_tail, table.filter(drop_tail)),
    ):
        assert len(with_intervals(text)) > 5
        assert with_intervals(text) <= shown(rows, "exponent")
    ratios = dict(table.filter(drop_tail).select("control", "ratio").rows())
    words = " ".join(behind_drop_tail.split())
    least, most = re.findall(r"(\d+) times \((\S+)\)", words)
    assert least == (f"{ratios['h-tcp']:.0f}", "H-TCP")
    assert most == (f"{ratios['bic']:.0f}", "BIC")


def test_what_exp_tcp_leaves_is_what_the_study_found() -> None:
    names = {
        "engine": "engine",
        "flow.other.control": "other",
        "link.bottleneck.rate": "rate",
    }
    table = kept("friendliness", names, ("share", "share_half_width"))
    told = " ".join(section("What EXP-TCP leaves to others").split())
    assert len(with_intervals(told)) > 2
    assert with_intervals(told) <= shown(table, "share")
    reno = table.filter(pl.col("other") == "reno")
    shares = {
        engine: dict(reno.filter(pl.col("engine") == engine).select("rate", "share").rows())
        for engine in ("packets", "fluid")
    }
    fluid = re.search(r"The fluid model .*", told)
    assert fluid is not None
    at = re.findall(r"(0\.\d\d) at (\d+ [MG]bit/s)", fluid[0])
    assert len(at) == 3
    for share, rate in at:
        assert share == f"{shares['fluid'][rate]:.2f}"
    times = [found / shares["packets"][rate] for rate, found in shares["fluid"].items()]
    bounds = re.search(r"(\d\.\d) to (\d\.\d) times", fluid[0])
    assert bounds is not None
    assert bounds.groups() == (f"{min(times):.1f}", f"{max(times):.1f}")


def test_what_copa_leaves_idle_is_what_the_study_found() -> None:
    names = {
        "flow.copa.count": "flows",
        "link.bottleneck.rate": "rate",
        "flow.copa.control": "control",
    }
    numbers = ("used", "used_half_width", "fairness", "fairness_half_width")
    table = kept("copa-turns", names, numbers)
    told = " ".join(section("Why several Copa flows leave a long path idle, and need not").split())
    paper, meta, shares, lone = told.split("- ")[1:]
    turns = pl.col("control") != "copa"
    assert len(with_intervals(paper)) == len(with_intervals(meta)) == 3
    assert with_intervals(paper) <= shown(table.filter(~turns), "used")
    assert with_intervals(meta) <= shown(table.filter(turns), "used")
    assert with_intervals(shares) <= shown(table.filter(pl.col("flows") == 6), "fairness")
    assert with_intervals(lone) <= shown(table.filter(turns, pl.col("flows") == 1), "used")
