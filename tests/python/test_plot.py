from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Drawing

import longfat
from longfat import plot
from longfat.paper import _looks
from longfat.paper.plots import grid, over
from longfat.plot import style
from longfat.plot._intervals import reach
from longfat.plot._panels import flow_lines
from longfat.plot.style import Picture
from longfat.study._comparison import compare_all
from longfat.study._setup import Setup
from support import ROOT, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.study._comparison import Contender

SERIES = ("flow_series", "link_series")


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


@pytest.mark.parametrize("change", [[], [{"at": "1.2 s", "rate": "5 Gbit/s"}]])
def test_a_picture_of_short_flows_alone_has_no_empty_panel(change: list[dict[str, str]]) -> None:
    changes = {"duration": "2 s", "warmup": "1 s", "link.bottleneck.change": change}
    figure = longfat.run(ROOT / "bench/scenarios/short-flows.toml", set=changes).plot()
    labels = ["throughput (Gbit/s)"] if change else []
    labels = [*labels, "queue (% of buffer)", "utilisation (%)"]
    assert [panel.get_ylabel() for panel in figure.axes] == labels
    for panel in figure.axes:
        assert panel.lines
        assert np.max(panel.lines[0].get_ydata()) <= panel.get_ylim()[1]


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


@pytest.mark.parametrize("rate", ["0 bit/s", "2 Mbit/s", "40 Mbit/s"])
def test_flows_never_exceed_what_their_link_can_carry(rate: str) -> None:
    """Both are averaged alike; the line of the capacity is in its panel, or the panel says how far it goes."""
    change = [{"at": "10 s", "rate": rate}, {"at": "15 s", "rate": "10 Mbit/s"}]
    changes = {
        "duration": "30 s",
        "sample": "50 ms",
        "flow.0.count": 1,
        "link.bottleneck.change": change,
    }
    figure = longfat.run(SMALL, set=changes).plot()
    panel = figure.axes[1]
    flow, capacity = panel.lines[:2]
    assert capacity.get_label() == "bottleneck: capacity"
    throughput, most = (np.asarray(line.get_ydata()) for line in (flow, capacity))
    # It arrives a round trip later at the most, queues and all, which hardly moves a mean over a second.
    assert (throughput <= most + 0.08 * most.max()).all()
    top = panel.get_ylim()[1]
    cut = [text.get_text() for text in panel.texts if text.get_text().startswith("cut: ")]
    assert (most.max() <= top) != bool(cut)
    assert throughput.max() < top
    assert any(
        "throughput and capacity: moving means over" in each.get_text() for each in figure.texts
    )


def test_a_line_that_hardly_changes_is_not_on_the_edge_of_its_panel() -> None:
    """From 100 to 101, drawn from zero: a margin of a twentieth of the range would be no room for the line."""
    rows = {"time_s": [0.0, 1.0], "flow": ["a", "a"], "group": ["a", "a"], "window": [100.0, 101.0]}
    panel = Drawing().subplots()
    flow_lines(panel, pl.DataFrame(rows), "window", "window")
    low, high = panel.get_ylim()
    assert low == 0
    assert high > 104


def test_of_many_groups_none_is_left_out() -> None:
    """There are eight colours: of more groups, lines go by controllers."""
    flow = {"control": "reno", "path": ["bottleneck"], "rtt": "20 ms"}
    flows = [
        {"name": f"f{place}", **flow, "control": "cubic" if place % 3 else "reno"}
        for place in range(12)
    ]
    scenario = {
        "duration": "4 s",
        "warmup": "1 s",
        "link": {"bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"}},
        "flow": flows,
    }
    legend = longfat.run(scenario).plot().axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "reno: mean of 4",
        "cubic: mean of 8",
    ]


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


def test_the_line_of_a_window_ends_with_its_transfer() -> None:
    text = {"flow.forward.size": "300 kB", "sample": "100 ms"}
    run = longfat.run(SMALL, set=text)
    first = run.summary["flows"][0]
    lines = [line for line in run.plot().axes[0].get_lines() if line.get_label() == "forward[0]"]
    times, windows = (np.asarray(each, dtype=float) for each in lines[0].get_data())
    last = times[np.isfinite(windows)].max()
    end = first["start_s"] + first["completion_s"]
    assert end - 0.1 <= last <= end < run.duration_s - 1


BURSTS = """
duration = "20 s"
warmup = "5 s"
sample = "20 ms"
link.bottleneck = { rate = "50 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flow]]
name = "f"
control = "cubic"
count = 2
path = ["bottleneck"]
rtt = "200 ms"
"""
"""Windows leave in bursts: a row of 20 ms holds packets of one flow alone."""


def test_throughput_is_averaged_over_round_trips_and_the_picture_says_so() -> None:
    run = longfat.run(BURSTS)
    figure = run.plot()
    series = run.flow_series.to_polars().filter(pl.col("flow") == "f[0]")
    raw = series["throughput_bit_s"].to_numpy() / 1e6
    line = figure.axes[1].lines[0]
    drawn = np.asarray(line.get_ydata(), dtype=float)
    settled = np.asarray(line.get_xdata(), dtype=float) > 10
    # 50 Mbit/s or nothing; averaged, little changes within a tenth of a second.
    assert (np.min(raw[settled]), np.max(raw[settled])) == pytest.approx((0, 50), abs=1)
    assert np.mean(np.abs(raw[settled][5:] - raw[settled][:-5])) > 10
    assert np.mean(np.abs(drawn[settled][5:] - drawn[settled][:-5])) < 2
    assert np.mean(drawn) == pytest.approx(np.mean(raw), rel=0.02)
    (detail,) = [text.get_text() for text in figure.texts if "means over" in text.get_text()]
    # Two of at least 200 ms, of at most 400 ms with a full buffer, each and a row or two of 20 ms.
    assert 400 <= float(detail.rpartition("means over ")[2].removesuffix(" ms")) <= 880
    # Rows that are longer than a round trip are left as they are.
    rough = longfat.run(BURSTS, set={"sample": "1 s"})
    figure = rough.plot()
    assert not [text for text in figure.texts if "means over" in text.get_text()]
    fine = rough.flow_series.to_polars().filter(pl.col("flow") == "f[0]")["throughput_bit_s"]
    drawn = np.asarray(figure.axes[1].lines[0].get_ydata(), dtype=float)
    assert (1e6 * drawn).tolist() == pytest.approx(fine.to_list())


@pytest.mark.parametrize(("sample", "width"), [("20 ms", "280 ms"), ("200 ms", None)])
def test_throughput_is_averaged_over_seven_rows_or_none(sample: str, width: str | None) -> None:
    """Round trips of 40 to 80 ms: a row of 20 ms holds a burst or none, and one of 200 ms many."""
    figure = longfat.run(BURSTS, set={"flow.f.rtt": "40 ms", "sample": sample}).plot()
    details = [text.get_text() for text in figure.texts if "moving means" in text.get_text()]
    assert [detail.rpartition(" over ")[2] for detail in details] == ([width] if width else [])


def test_columns_of_a_comparison_are_averaged_over_the_same_time() -> None:
    setup = Setup("50 Mbit/s", "200 ms", flows=2, duration="8 s", warmup="2 s")
    figure = compared(setup, "reno", "vegas")
    details = [text.get_text() for text in figure.texts if "moving means over" in text.get_text()]
    assert len(details) == 1


MARKED = {
    "link.bottleneck.queue": {"kind": "step", "threshold": "0.2 bdp"},
    "flow.forward.control": "dctcp",
}


def test_a_run_shows_marks_apart_from_drops() -> None:
    run = longfat.run(SMALL, set=MARKED)
    figure = run.plot()
    panel = figure.axes[4]
    counted = run.link_series.to_polars().filter(pl.col("direction") == "forward")["marked"]
    assert counted.sum() > 10
    assert np.asarray(panel.lines[0].get_ydata()).tolist() == counted.to_list()
    assert panel.get_ylabel().startswith("marks (in ")
    assert panel.get_xlabel() == "time (s)"
    assert not figure.axes[3].get_xlabel()
    plain = longfat.run(SMALL).plot()
    assert not [axes for axes in plain.axes if "marks" in axes.get_ylabel()]


def test_a_comparison_shows_marks_of_all_columns_on_one_scale() -> None:
    setup = Setup("10 Mbit/s", "20 ms", duration="2 s", warmup="1 s", queue="step")
    figure = compared(setup, "dctcp", "reno")
    first, second = [axes for axes in figure.axes if axes.get_subplotspec()][-2:]
    assert first.get_ylabel().startswith("marks (in ")
    assert not second.get_ylabel()
    highest = max(float(np.max(np.asarray(each.lines[0].get_ydata()))) for each in (first, second))
    assert highest > 0
    assert first.get_ylim() == second.get_ylim() == pytest.approx((0, 1.05 * highest))


def test_a_run_without_series_says_so() -> None:
    with pytest.raises(ValueError, match="record=True"):
        longfat.run(SMALL, record=False).plot()


def test_a_run_shorter_than_its_sample_says_what_to_choose() -> None:
    run = longfat.run(SMALL, set={"sample": "5 s"})
    with pytest.raises(ValueError, match="`sample`, 5 s, is longer than the run; choose a smaller"):
        run.plot()


def test_a_comparison_has_a_column_for_each() -> None:
    setup = Setup("10 Mbit/s", "20 ms", flows=2, duration="4 s", warmup="1 s")
    controls = ["reno", '{ kind = "reno" }']
    figure = compare_all([setup], controls, seeds=2, tables=SERIES).plot()
    panels = [axes for axes in figure.axes if axes.get_subplotspec()]
    assert len(panels) == 8
    assert all(axes.lines for axes in panels)


def test_a_comparison_that_failed_still_makes_a_picture() -> None:
    setup = Setup("10 Mbit/s", "20 ms", duration="4 s", warmup="1 s")
    found = compare_all([setup], ["reno"], seeds=1)
    assert plot.comparison(setup, found.paths[0].contenders).axes
    with pytest.raises(ValueError, match="record=True"):
        found.plot()


def compared(setup: Setup, *controls: str) -> Picture:
    figure = compare_all([setup], controls, seeds=1, tables=SERIES).plot()
    assert isinstance(figure, Picture)
    return figure


def columns(figure: Figure) -> list[list[Axes]]:
    """The panels of a comparison, column by column: window, throughput, queue, utilisation."""
    panels = [axes for axes in figure.axes if axes.get_subplotspec()]
    count = len(panels) // 4
    return [panels[index::count] for index in range(count)]


def slowed(contender: Contender, factor: float) -> Contender:
    """The same with windows and throughputs a fraction as large."""
    first = contender.results[0]
    columns = ("window", "throughput_bit_s")
    series = first.tables["flow_series"].to_polars().with_columns(pl.col(columns) * factor)
    tables = {**first.tables, "flow_series": longfat.Table(series)}
    return replace(contender, results=(replace(first, tables=tables),))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_row_of_a_comparison_has_one_unit_and_one_scale(order: tuple[int, int]) -> None:
    setup = Setup("1 Gbit/s", "20 ms", duration="1 s", warmup="100 ms")
    (fast,) = compare_all([setup], ["cubic"], seeds=1, tables=SERIES).paths[0].contenders
    both = [fast, slowed(fast, 1e-3)]
    found = columns(plot.comparison(setup, [both[index] for index in order]))
    assert [panels[1].get_ylabel() for panels in found] == ["throughput (Gbit/s)", ""]
    for row in (0, 1):
        lines = [panels[row].get_lines()[0] for panels in found]
        tops = [float(np.max(np.asarray(line.get_ydata(), dtype=float))) for line in lines]
        assert tops[order.index(1)] == pytest.approx(1e-3 * tops[order.index(0)])
        for panels in found:
            assert panels[row].get_ylim() == pytest.approx((0, 1.05 * max(tops)))
    assert max(tops) == pytest.approx(1, rel=0.01)


def test_a_comparison_says_what_was_set_and_names_its_flows() -> None:
    setup = Setup(
        "10 Mbit/s", "20 ms", flows=2, duration="2 s", warmup="1 s", loss=1e-4, packet="9000 B"
    )
    assert setup.title == (
        "2 flows on 10 Mbit/s, round trip 20 ms, buffer 1 bdp, drop-tail, loss 0.0001, packets of 9000 B"
    )
    assert "loss 2 %" in Setup("10 Mbit/s", "20 ms", loss=0.02).title
    assert Setup("10 Mbit/s", "20 ms", packet="1.5 kB").title == Setup("10 Mbit/s", "20 ms").title
    figure = compared(setup, "reno", "cubic")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["flow[0]", "flow[1]"]
    many = compared(Setup("10 Mbit/s", "20 ms", flows=8, duration="2 s", warmup="1 s"), "reno")
    assert [text.get_text() for text in many.legends[0].get_texts()] == ["flow: mean of 8"]


@pytest.mark.parametrize("words", [3, 30, 60])
def test_long_titles_are_wrapped_within_the_picture(words: int) -> None:
    figure = style.figure(9, 5, head=1.15)
    panel = figure.subplots()
    height = panel.get_position().height * figure.get_figheight()
    style.title(figure, "heading " * words + "x" * 200, "detail " * words)
    assert panel.get_position().height * figure.get_figheight() == pytest.approx(height)
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    boxes = [text.get_window_extent(renderer) for text in figure.texts]
    assert all(box.x0 > 0 and box.x1 < figure.bbox.x1 for box in boxes)
    tops = [*(box.y0 for box in boxes), panel.get_window_extent(renderer).y1]
    bottoms = [figure.bbox.y1, *(box.y0 for box in boxes)]
    assert all(top < bottom for top, bottom in zip(tops, bottoms, strict=True))


def test_a_heading_that_is_too_wide_for_its_column_is_cut() -> None:
    setup = Setup("10 Mbit/s", "20 ms", duration="2 s", warmup="1 s")
    long = '{ kind = "exp", gamma = 0.1, beta = 0.25, w_ref = 50, rtt_fair = true }'
    figure = compared(setup, "reno", long, "cubic")
    heading = columns(figure)[1][0].texts[0].get_text()
    assert heading.startswith("exp, gamma = 0.1")
    assert heading.endswith("…")


def test_a_study_has_room_for_long_settings_and_for_each_number_on_its_axis() -> None:
    losses = [1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.015, 0.02]
    settings = ["bbr3", "bbr3, loss_tolerance = 0.02", "x" * 90]
    rows = [(loss, setting, 0.9) for loss in losses for setting in settings]
    table = pl.DataFrame(rows, schema=["loss", "control", "used"], orient="row").with_columns(
        used_half_width=0.01, used_n=3
    )
    chosen = SimpleNamespace(x="loss", y="used", colour="control", panel=None, title=None)
    figure = plot.study(chosen, table, ["loss", "control"])
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw(renderer)
    (legend,) = figure.legends
    assert legend.get_window_extent(renderer).x1 <= figure.bbox.x1
    (panel,) = figure.axes
    assert legend.get_window_extent(renderer).x0 >= panel.get_window_extent(renderer).x1
    labels = [tick.label1.get_window_extent(renderer) for tick in panel.xaxis.get_major_ticks()]
    assert all(left.x1 < right.x0 for left, right in pairwise(labels))
    assert [text.get_text() for text in panel.get_xticklabels()][-3:] == ["0.003", "0.01", "0.02"]


def advised(*used: tuple[str, float]) -> Figure:
    choices = [
        SimpleNamespace(
            control="reno",
            streams=1,
            buffer=buffer,
            utilisation=(share, 0.01),
            delay_s=(0.01, None),
        )
        for buffer, share in used
    ]
    return plot.advice(choices, choices[:1], choices[0], "Which?")


def test_an_advice_shows_buffers_and_the_part_of_the_axis_that_tells_them_apart() -> None:
    (panel,) = advised(("1 bdp", 0.99), ("0.25 bdp", 0.9), ("0.5 bdp", 0.95)).axes
    legend = panel.get_legend()
    assert legend is not None
    buffers = [text.get_text() for text in legend.get_texts()][-3:]
    assert buffers == ["buffer 0.25 bdp", "buffer 0.5 bdp", "buffer 1 bdp"]
    drawn = {
        (float(np.asarray(line.get_ydata())[0]), line.get_fillstyle())
        for line in panel.lines
        if line.get_markersize() == 8
    }
    assert {fill for _, fill in drawn} == {"full", "none", "bottom"}
    assert dict(drawn)[99.0] == "full"
    assert dict(drawn)[90.0] == "none"
    # The lowest interval ends at 89 %.
    assert panel.get_ylim() == pytest.approx((85, 100.75))
    (panel,) = advised(("1 bdp", 0.99), ("0.25 bdp", 0.3)).axes
    assert panel.get_ylim() == pytest.approx((0, 105))


def settings(table: pl.DataFrame, **looks: str) -> Figure:
    """A number `used` over what else is in a table."""
    keys = table.columns
    drawn: dict[str, str | None] = {"colour": None, "panel": None, "title": None, **looks}
    chosen = SimpleNamespace(y="used", **drawn)
    whole = table.with_columns(used=0.9, used_half_width=0.01, used_n=3)
    return plot.study(chosen, whole, keys)


LONG = ", ".join(f"parameter_{index} = {index}" for index in range(9))


@pytest.mark.parametrize(
    ("controls", "names"),
    [
        (
            [f"python = /tmp/some/where/mine.py:TargetDelay, target = {n} ms" for n in (5, 1)],
            ["mine.py:TargetDelay, target = 5 ms", "mine.py:TargetDelay, target = 1 ms"],
        ),
        (["library = /a/librules.so", "python = rules:gentle"], ["librules.so", "rules:gentle"]),
        # The same name in two folders.
        (
            ["python = /a/x.py:X", "python = /b/x.py:X"],
            ["python = /a/x.py:X", "python = /b/x.py:X"],
        ),
        # What they share goes, and not what they do not.
        ([f"exp, {LONG}, z = {n}" for n in (5, 6)], ["exp, …, z = 5", "exp, …, z = 6"]),
        (["reno", "x" * 90], ["reno", "x" * 43 + "…"]),
        (["x" * 90 + "1", "x" * 90 + "2"], ["x" * 90 + "1", "x" * 90 + "2"]),
    ],
)
def test_settings_are_named_by_what_tells_them_apart(controls: list[str], names: list[str]) -> None:
    losses = pl.DataFrame({"loss": [1e-3, 1e-2]})
    table = losses.join(pl.DataFrame({"control": controls}), how="cross")
    (legend,) = settings(table, x="loss", colour="control").legends
    assert [text.get_text() for text in legend.get_texts()] == names
    above = [
        panel.get_title(loc="left") for panel in settings(table, x="loss", panel="control").axes
    ]
    assert len(set(above)) == len(controls)
    (panel,) = settings(table, x="control", colour="loss").axes
    assert [text.get_text() for text in panel.get_xticklabels()] == names


@pytest.mark.parametrize(("size", "unit"), [(10, "ms"), (0.01, "bdp")])
@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_numbers_below_panels_do_not_run_into_those_of_the_next(
    count: int, size: float, unit: str
) -> None:
    values = [f"{size * 2**index} {unit}" for index in range(5 - count, 5)]
    set_to = pl.DataFrame({"value": values})
    table = set_to.join(pl.DataFrame({"control": ["reno", "cubic", "bbr3"]}), how="cross")
    figure = settings(table, x="value", panel="control")
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw(renderer)
    ticks = [
        (tick.label1, tick.label1.get_window_extent(renderer))
        for panel in figure.axes
        for tick in panel.xaxis.get_major_ticks()
    ]
    assert len(ticks) == 3 * count
    for (one, left), (_, right) in pairwise(ticks):
        if one.get_rotation():
            # Slanted by 30 degrees, lines of text are half as far apart as their ticks.
            assert (right.x1 - left.x1) / 2 > float(one.get_fontsize()) / 72 * figure.dpi
        else:
            assert left.x1 + 5 < right.x0
    for panel in figure.axes:
        assert panel.xaxis.label.get_window_extent(renderer).y0 > 0


def frontier(delays: dict[str, list[float]], **looks: str) -> Figure:
    """Goodput against a delay that was measured at growing buffers, for each controller."""
    rows = [
        (control, f"{buffer} bdp", delay, 1e6 * (buffer + 1))
        for control, some in delays.items()
        for buffer, delay in enumerate(some)
    ]
    goodput, delay = "flows.f.goodput_bit_s", "flows.f.queueing_delay_mean_s"
    table = pl.DataFrame(rows, schema=["control", "buffer", delay, goodput], orient="row")
    table = table.with_columns(
        pl.col(delay).mul(0.1).alias(f"{delay}_half_width"),
        pl.col(goodput).mul(0.1).alias(f"{goodput}_half_width"),
        pl.lit(3).alias(f"{goodput}_n"),
    )
    drawn: dict[str, str | None] = {"colour": None, "panel": None, "title": None, **looks}
    chosen = SimpleNamespace(x=delay, y=goodput, **drawn)
    keys = ["control", "buffer"]
    return plot.study(chosen, table.drop(f"{delay}_half_width"), keys, table)


def shown_ticks(panel: Axes) -> list[str]:
    """What stands along x, which does not run into one another."""
    figure = panel.figure.figure
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw(renderer)
    left, right = panel.get_xlim()
    ticks = [tick for tick in panel.xaxis.get_major_ticks() if left <= tick.get_loc() <= right]
    labels = [tick.label1 for tick in ticks]
    boxes = [label.get_window_extent(renderer) for label in labels]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    return [label.get_text() for label in labels]


@pytest.mark.parametrize(
    ("delays", "ticks"),
    [
        ([0.0011, 0.0042, 0.0213, 0.0987], ["1", "2", "5", "10", "20", "50", "100"]),
        ([0.0211, 0.0222, 0.0263, 0.0287], ["20", "22.5", "25", "27.5", "30"]),
        ([3e-7, 0.0042, 0.0213, 1.1], ["1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1"]),
    ],
)
def test_along_a_measured_number_there_are_round_ones(
    delays: list[float], ticks: list[str]
) -> None:
    (panel,) = frontier({"reno": delays}, colour="control").axes
    assert shown_ticks(panel) == ticks
    unit = "s" if delays[-1] > 1 else "ms"
    assert panel.get_xlabel() == f"queueing delay mean of f ({unit})"
    assert panel.get_ylabel() == "goodput of f (Mbit/s)"


def test_a_measured_number_has_its_intervals_along_x() -> None:
    (panel,) = frontier({"reno": [0.001, 0.1]}, colour="control").axes
    upright, across = [
        np.array(each.get_segments())
        for each in panel.collections
        if isinstance(each, LineCollection)
    ]
    assert np.ptp(upright[:, :, 0], axis=1) == pytest.approx(0)
    assert across[:, :, 0] == pytest.approx(np.array([[0.9, 1.1], [90, 110]]))


def test_points_of_measured_numbers_are_joined_in_the_order_of_what_varies() -> None:
    """A larger buffer may mean less delay: the line goes back, as the points do."""
    delays = {"reno": [0.02, 0.04, 0.03, 0.05], "cubic": [0.05, 0.04, 0.03, 0.02]}
    figure = frontier(delays, colour="control")
    (panel,) = figure.axes
    lines = [line for line in panel.lines if line.get_linestyle() == "-"]
    drawn = [np.asarray(line.get_xdata(), dtype=float).tolist() for line in lines]
    assert drawn == [pytest.approx(1e3 * np.array(each)) for each in delays.values()]
    assert "lines: in the order of buffer" in " ".join(text.get_text() for text in figure.texts)
    # Of two controllers in one colour there is no such order.
    (panel,) = frontier(delays).axes
    joined = {line.get_linestyle() for line in panel.lines if line.get_marker() == "o"}
    assert joined == {"None"}


def test_pictures_keep_their_text() -> None:
    figure = longfat.run(SMALL).plot()
    for suffix in ("svg", "pdf", "png"):
        figure.savefig(f"house.{suffix}")
        plot.save(figure, f"again.{suffix}")
        assert Path(f"again.{suffix}").read_bytes() == Path(f"house.{suffix}").read_bytes()
    text = Path("house.svg").read_text("utf-8")
    assert ">throughput (Mbit/s)</text>" in text
    assert "<dc:date>" not in text
    content = Path("house.pdf").read_bytes()
    assert b"/CIDFontType2" in content  # TrueType, whole
    assert b"/Type3" not in content


def test_a_notebook_shows_figures() -> None:
    figure = longfat.run(SMALL).plot()
    assert isinstance(figure, Picture)
    shown = figure._repr_mimebundle_()
    assert shown["image/png"].startswith(b"\x89PNG")
    assert "</svg>" in shown["image/svg+xml"]
    assert set(figure._repr_mimebundle_(include={"image/png"})) == {"image/png"}
    assert set(figure._repr_mimebundle_(exclude={"image/png"})) == {"image/svg+xml"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.05, "0.05"), (999, "999"), (1500, "1.5 k"), (2e6, "2 M"), (-3e9, "−3 G")],
)
def test_axes_have_plain_numbers(value: float, text: str) -> None:
    assert style.thousands(value) == text


def test_intervals_stay_within_what_a_number_can_be() -> None:
    below, above = reach("links.x.forward.utilisation", [0.98, 0.5], [0.1, 0.1])
    assert below == pytest.approx([0.1, 0.1])
    assert above == pytest.approx([0.02, 0.1])
    assert reach("utilisation", [98.0], [5.0], 100.0) == ([5.0], [2.0])
    assert reach("flows.goodput_bit_s", [2.0], [5.0]) == ([2.0], [5.0])
    assert reach("lead", [0.5], [5.0]) == ([5.0], [5.0])
    assert reach("utilisation", [1.0000001], [0.5]) == ([0.5], [0.0])
    rows = pl.DataFrame(
        {
            "control": ["mine"] * 4,
            "x": [1, 1, 2, 2],
            "seed": [1, 2] * 2,
            "utilisation": [0.2, 1, 0.1, 1],
        }
    )
    figure, axes = grid()
    over(axes[0, 0], rows, x="x", y="utilisation", percent=True)
    (bars,) = [each for each in axes[0, 0].collections if isinstance(each, LineCollection)]
    reached = np.concatenate(bars.get_segments())[:, 1]
    assert (reached.min(), reached.max()) == (0.0, 100.0)
    plot.save(figure, "over.png")


def test_an_unknown_controller_has_a_colour_of_its_own() -> None:
    known = {tint for tint, _, _ in _looks.LOOKS.values()}
    assert not known & set(_looks.OTHERS)
    assert len(set(_looks.OTHERS)) == len(_looks.OTHERS)
    labels = ["reno", *(f"mine-{index}" for index in range(len(_looks.OTHERS)))]
    tints = [tint for tint, _, _ in _looks.looks(labels, "control")]
    assert len(set(tints)) == len(labels)
    assert not known & set(tints[1:])
    assert _looks.colour("mine-0") == tints[1]
