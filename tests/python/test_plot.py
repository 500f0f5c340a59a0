from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import longfat
from longfat import plot
from longfat.study._comparison import Setup, compare
from support import ROOT, SMALL


@pytest.mark.parametrize("count", [1, 6, 7, 70])
def test_every_number_of_flows_makes_a_picture(count: int) -> None:
    figure = longfat.run(SMALL, set={"flow.forward.count": count}).plot()
    window, throughput, queue, utilisation = figure.axes[:4]
    assert window.get_ylabel() == "window (segments)"
    assert "bit/s)" in throughput.get_ylabel()
    assert queue.get_ylabel() == "queue (% of buffer)"
    assert utilisation.get_xlabel() == "time (s)"
    assert window.lines
    assert all(len(line.get_xdata()) > 5 for line in window.lines)  # type: ignore[arg-type]
    assert window.get_ylim()[1] > 1


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_ending_chooses_the_format(suffix: str) -> None:
    path = Path(f"picture.{suffix}")
    longfat.run(SMALL).plot(path)
    beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    content = path.read_bytes()
    assert content.startswith(beginnings[suffix])
    assert len(content) > 10_000


def test_a_picture_has_the_promised_size() -> None:
    figure = longfat.run(SMALL).plot()
    assert (figure.get_size_inches() * figure.dpi).tolist() == [1200, 1000]


@pytest.mark.parametrize("name", ["two-way", "parking-lot"])
def test_several_links_and_directions_are_named(name: str) -> None:
    run = longfat.run(
        ROOT / "scenarios" / f"{name}.toml", set={"duration": "10 s", "warmup": "1 s"}
    )
    legend = run.plot().axes[2].get_legend()
    assert legend is not None
    assert len(legend.get_texts()) >= 2


def test_a_picture_shows_how_links_change() -> None:
    handover = longfat.run(ROOT / "scenarios/handover.toml", set={"duration": "70 s"}).plot()
    # Rows after 15, 30, 45 and 60 s, in each of four panels.
    marks = [len(axes.collections[-1].get_paths()) for axes in handover.axes[:2]]
    assert marks == [4, 4]
    cellular = longfat.run(ROOT / "scenarios/cellular.toml", set={"duration": "12 s"}).plot()
    legend = cellular.axes[1].get_legend()
    assert legend is not None
    assert "cell: capacity" in [text.get_text() for text in legend.get_texts()]
    constant = longfat.run(SMALL).plot()
    assert constant.axes[1].get_legend() is None


def test_a_picture_shows_receive_windows() -> None:
    text = {"flow.0.receive_window": {"kind": "right-sizing", "most": "30 kB"}}
    panel = longfat.run(SMALL, set=text).plot().axes[0]
    told = [line for line in panel.get_lines() if "receive window" in str(line.get_label())]
    assert [line.get_label() for line in told] == [
        "forward[0]: receive window",
        "forward[1]: receive window",
    ]
    # 1460 bytes of data to a packet of 1500.
    assert np.max(np.asarray(told[0].get_ydata(), dtype=float)) == 30_000 // 1460


def test_a_run_without_series_says_so() -> None:
    with pytest.raises(ValueError, match="record=True"):
        longfat.run(SMALL, record=False).plot()


def test_a_comparison_has_a_column_for_each() -> None:
    setup = Setup("10 Mbit/s", "20 ms", flows=2, duration="4 s", warmup="1 s")
    found = compare(
        setup, ["reno", '{ kind = "reno" }'], seeds=2, tables=("flow_series", "link_series")
    )
    figure = plot.comparison(setup, found)
    panels = [axes for axes in figure.axes if axes.get_subplotspec()]
    assert len(panels) == 8
    assert all(axes.lines for axes in panels)


def test_a_comparison_that_failed_still_makes_a_picture() -> None:
    setup = Setup("10 Mbit/s", "20 ms", duration="4 s", warmup="1 s")
    found = compare(setup, ["reno"], seeds=1)
    assert plot.comparison(setup, found).axes
