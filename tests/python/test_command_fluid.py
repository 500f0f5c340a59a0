from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import ROOT

if TYPE_CHECKING:
    from support import Command

XCP = ROOT / "scenarios/xcp-rtts.toml"


def test_it_prints_means_and_writes_a_folder(longfat: Command, small: Path) -> None:
    done = longfat("fluid", small)
    assert done.returncode == 0, done.stderr
    assert "forward[0]" in done.stdout
    assert "results in runs/small-fluid" in done.stdout
    assert Path("runs/small-fluid/fluid.json").exists()


def test_packets_without_series_are_left_out_of_the_picture(longfat: Command, small: Path) -> None:
    done = longfat(
        "fluid", small, "--set", "sample=5 s", "--with-packets", "--quiet", "--out", "long"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("no picture of the run: its `sample`, 5 s, is longer than it")
    assert Path("long/fluid.png").exists()


def test_json_is_one_object(longfat: Command, small: Path) -> None:
    done = longfat(
        "fluid", small, "--json", "--model", "hybrid", "--price", "overflow", "--no-delay"
    )
    summary = json.loads(done.stdout)
    assert (summary["model"], summary["price"], summary["delay"]) == ("hybrid", "overflow", False)
    assert summary["equilibrium"] is None
    assert summary["stable"] is None


def test_an_equilibrium_needs_no_folder(longfat: Command, small: Path) -> None:
    done = longfat("fluid", small, "--equilibrium", "--stability", "--json")
    summary = json.loads(done.stdout)
    assert summary["t"] == []
    assert len(summary["equilibrium"]["flows"]) == 2
    assert summary["stable"] is False
    assert 0 < summary["margin"] < 1
    assert not Path("runs").exists()
    told = longfat("fluid", small, "--stability")
    assert "unstable: it would take a feedback delay" in told.stdout


def test_without_delay_nothing_is_said_of_delays(longfat: Command, small: Path) -> None:
    """The same network is unstable with its delay, so "stable, with any feedback delay" would be wrong."""
    told = longfat("fluid", small, "--stability", "--no-delay")
    assert told.stdout.splitlines()[-1] == "stable, without feedback delay"
    summary = json.loads(longfat("fluid", small, "--stability", "--no-delay", "--json").stdout)
    assert (summary["stable"], summary["margin"]) == (True, None)


def test_one_picture_has_the_packets_too(longfat: Command, small: Path) -> None:
    done = longfat("fluid", small, "--with-packets", "--out", "both")
    assert done.returncode == 0, done.stderr
    assert "goodput of packets" in done.stdout
    assert Path("both/fluid.png").read_bytes().startswith(b"\x89PNG")


def test_wrong_input_ends_with_2(longfat: Command, small: Path) -> None:
    for arguments, reason in (
        (
            ("--set", "flow.forward.control=cubic"),
            "error: flow `forward`: `cubic` has no window law",
        ),
        (("--price", "red"), "has no RED queue"),
        (("--set", "flow.forward.rtt=1"), "a time"),
        (("--model", "gas"), "'gas' is not one of"),
    ):
        done = longfat("fluid", small, *arguments)
        assert done.returncode == 2, done.stderr
        assert reason in done.stderr
    assert longfat("fluid", "smal.toml").returncode == 2
    taken = Path("taken")
    taken.mkdir()
    (taken / "letter.txt").write_text("mine")
    refused = longfat("fluid", small, "--out", "taken")
    assert refused.returncode == 2
    assert "it has no `.longfat.json`" in refused.stderr


def test_routers_that_say_how_rates_change_need_no_price(longfat: Command) -> None:
    """XCP's margin is that of theorem 1, π/(4 √2 · 0.4) = 1.388, with the paper's rounded β of 0.226."""
    found = json.loads(longfat("fluid", XCP, "--stability", "--json").stdout)
    assert (found["price"], found["stable"]) == ("xcp", True)
    assert found["margin"] == pytest.approx(1.388, rel=2e-3)
    rates = [flow["rate_bit_s"] for flow in found["equilibrium"]["flows"]]
    assert rates == pytest.approx([10e6] * 10)
    drawn = longfat("fluid", XCP, "--plot", "--set", "duration=5 s", "--set", "warmup=2 s")
    assert drawn.returncode == 0, drawn.stderr
    assert next(Path("runs").glob("xcp-rtts-fluid-*/fluid.png")).read_bytes().startswith(b"\x89PNG")


def test_what_their_equations_do_not_cover_ends_with_2(longfat: Command) -> None:
    for arguments, reason in (
        (("--set", "link.bottleneck.loss=1e-6"), "do not cover corrupted packets"),
        (("--model", "hybrid"), "choose the model mean-field"),
        (("--stability", "--set", "link.bottleneck.queue.gamma=0"), "settle nowhere in particular"),
    ):
        done = longfat("fluid", XCP, *arguments)
        assert done.returncode == 2, done.stderr
        assert reason in done.stderr


def test_the_price_is_that_of_the_queue(longfat: Command) -> None:
    """On a drop-tail link the windows land where those of packets do, half of which wait in the buffer."""
    first = ROOT / "scenarios/first.toml"
    done = longfat("fluid", first, "--json", "--out", "fluid")
    found = json.loads(done.stdout)
    assert (found["price"], found["stand_ins"]) == ("overflow", {})
    packets = json.loads(longfat("run", first, "--json", "--out", "packets").stdout)
    fluid = sum(flow["window_mean"] for flow in found["flows"])
    assert fluid == pytest.approx(sum(flow["window_mean"] for flow in packets["flows"]), rel=0.05)
    virtual = json.loads(longfat("fluid", first, "--price", "avq", "--json", "--out", "avq").stdout)
    assert sum(flow["window_mean"] for flow in virtual["flows"]) < 0.6 * fluid


def test_a_queue_without_equations_is_told(longfat: Command, small: Path) -> None:
    done = longfat("fluid", small, "--set", 'link.bottleneck.queue="codel"')
    assert done.returncode == 0, done.stderr
    told = "a virtual queue (avq) stands in for codel on bottleneck, of which the model has no equations"
    assert f"price: avq\n{told}" in done.stdout
    asked = longfat("fluid", small, "--set", 'link.bottleneck.queue="codel"', "--price", "avq")
    assert "stands in" not in asked.stdout
