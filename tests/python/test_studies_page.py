"""The page of the studies: its numbers are those of the studies that it tells of.

After `longfat study studies/NAME.toml` of one of them UPDATE=1 takes over what came out.
"""

from __future__ import annotations

import re
import statistics
import sys

import polars as pl

import longfat
from study_support import ROOT, kept

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = ROOT / "docs/studies.md"


def section(title: str) -> str:
    """What the page says under this title."""
    return PAGE.read_text("utf-8").split(f"## {title}\n")[1].split("\n## ")[0]


def in_order(text: str) -> list[str]:
    """Means with half of their intervals, as they come."""
    return re.findall(r"-?\d\.\d\d ± \d\.\d\d", text)


def with_intervals(text: str) -> set[str]:
    """The same, each once."""
    return set(in_order(text))


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


def used(table: pl.DataFrame, flows: int, buffer: str, pacing: str) -> str:
    """What so many flows use of the link with this buffer."""
    (found,) = shown(
        table.filter(
            pl.col("flows") == flows, pl.col("buffer") == buffer, pl.col("pacing") == pacing
        ),
        "used",
    )
    return found


def test_how_small_a_buffer_may_be_is_what_the_study_found() -> None:
    names = {
        "flow.reno.count": "flows",
        "link.bottleneck.buffer": "buffer",
        "flow.reno.pacing": "pacing",
    }
    link = "links.bottleneck.forward"
    numbers = {
        f"{link}.utilisation": "used",
        f"{link}.utilisation_half_width": "used_half_width",
        f"{link}.drop_rate": "dropped",
        "flows.reno.timeouts": "time_outs",
        "rule": "rule",
    }
    table = kept("buffers", names, tuple(numbers)).rename(numbers)
    told = " ".join(section("How small a buffer may be").split())
    rule, below, small, paced = told.split("- ")[1:]

    assert "at least 98 % busy" in rule
    unpaced = table.filter(pl.col("pacing") == "none")
    by_rule = unpaced.filter(pl.col("rule") > 0.9)
    assert set(by_rule["flows"]) == {1, 10, 100, 300, 1000}
    assert min(by_rule["used"].to_list()) >= 0.98

    assert in_order(below) == [
        used(table, 1, "0.3 bdp", "none"),
        used(table, 10, "0.1 bdp", "none"),
        used(table, 100, "0.03 bdp", "none"),
    ]
    assert in_order(small) == [
        used(table, flows, "0.01 bdp", pacing) for pacing in ("none", "spread") for flows in (10, 1)
    ]
    (crowd,) = unpaced.filter(pl.col("flows") == 1000, pl.col("buffer") == "0.01 bdp").to_dicts()
    assert f"{crowd['used']:.0%}" == "99%"
    assert 0.18 < crowd["dropped"] < 0.22
    assert crowd["time_outs"] / 1000 / 80 > 1

    assert in_order(paced) == [
        used(table, flows, buffer, pacing)
        for pacing in ("spread", "none")
        for flows, buffer in ((10, "0.3 bdp"), (100, "0.1 bdp"))
    ]
    assert "three times that buffer gives them 0.97" in paced
    for flows in (10, 100):
        enough = table.filter(
            pl.col("pacing") == "spread", pl.col("flows") == flows, pl.col("used") > 0.97
        )
        assert 3 <= min(enough["rule"].to_list()) < 3.5


def test_windows_of_paced_flows_go_together() -> None:
    told = " ".join(section("How small a buffer may be").split())
    (varies,) = re.findall(r"varies by (\d+) % \(standard deviation\), and by (\d+) %", told)
    scenario = tomllib.loads((ROOT / "studies/buffers.toml").read_text("utf-8"))["scenario"]
    (reno,) = scenario["flow"]
    scenario["link"]["bottleneck"]["buffer"] = "0.1 bdp"
    scenario["sample"] = "100 ms"
    found = []
    for pacing in ("spread", "none"):
        reno.update(count=100, pacing=pacing)
        series = longfat.run(scenario).flow_series.to_polars()
        sums = series.filter(pl.col("time_s") >= 40).group_by("time_s").agg(pl.col("window").sum())
        windows = sums["window"].to_list()
        found.append(f"{statistics.stdev(windows) / statistics.mean(windows) * 100:.0f}")
    assert varies == tuple(found)


def test_what_random_losses_cost_is_what_the_studies_found() -> None:
    losses = {"link.fibre.loss": "loss", "flow.flow.control": "control"}
    table = kept("random-losses", losses, ("goodput", "goodput_half_width"))
    told = " ".join(section("What random losses cost BBRv3, and need not").split())
    draft, tolerant, beside = told.split("- ")[1:]

    def goodput(control: str, loss: float) -> float:
        (found,) = table.filter(pl.col("control") == control, pl.col("loss") == loss)["goodput"]
        return float(found)

    by_draft = table.filter(pl.col("control") == "bbr3")
    assert len(with_intervals(draft)) == 3
    assert with_intervals(draft) <= shown(by_draft, "goodput")
    assert f"{goodput('bbr1', 0.01):.2f}" == draft.rstrip(". ").split()[-1]
    with_tolerance = "bbr3, loss_tolerance = 0.02"
    assert re.findall(r"0\.9\d", tolerant) == [
        f"{goodput(with_tolerance, loss):.2f}" for loss in (0.003, 0.01, 0.015)
    ]
    assert goodput("bbr3", 0.02) < 0.5
    assert goodput(with_tolerance, 0.02) < 0.5

    rates = ("links.bottleneck.forward.drop_rate", "share", "share_half_width")
    neighbours = {"link.bottleneck.buffer": "buffer", "flow.bbr.control": "control"}
    tolerance = kept("tolerance", neighbours, rates)
    assert in_order(beside) == [
        found
        for control in ("bbr3", with_tolerance)
        for buffer in ("0.1 bdp", "0.5 bdp", "2 bdp")
        for found in shown(
            tolerance.filter(pl.col("control") == control, pl.col("buffer") == buffer), "share"
        )
    ]
    least, most = re.findall(r"\((\d\.\d) to (\d\.\d) in a thousand\)", beside)[0]
    drops = (tolerance[rates[0]] * 1000).to_list()
    assert (least, most) == (f"{min(drops):.1f}", f"{max(drops):.1f}")
