from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import longfat
from longfat import plot
from longfat._longfat import Scenario
from longfat.plot import style
from support import ROOT, SMALL

UNIT = {
    "duration": "200 s",
    "sample": "1 s",
    "link": {"link": {"rate": "1.2 Mbit/s", "delay": "0 s", "loss": 1e-3, "buffer": "1 packet"}},
    "flow": [
        {
            "name": "flow",
            "control": "reno",
            "path": ["link"],
            "rtt": "1 s",
            "initial_window": 2,
            "initial_threshold": 2,
        }
    ],
}
"""A round trip of a second and a hundred packets per second: windows are rates, as in Kavak and Kunniyur."""


def window(solved: longfat.Fluid) -> np.ndarray[Any, Any]:
    return np.array(solved.summary["flows"][0]["window"])


def test_the_object_keeps_the_names_of_the_contract() -> None:
    summary = longfat.fluid(SMALL, stability=True).summary
    assert set(summary) >= {"t", "flows", "links", "equilibrium", "stable", "margin"}
    assert set(summary["flows"][0]) >= {"name", "window", "rate_bit_s"}
    assert [flow["name"] for flow in summary["flows"]] == ["forward[0]", "forward[1]"]
    rows = len(summary["t"])
    assert rows > 100
    assert (
        len(summary["flows"][0]["window"]) == len(summary["links"]["bottleneck"]["price"]) == rows
    )
    assert summary["stable"] in {True, False}
    json.dumps(summary, allow_nan=False)


def test_the_tables_have_their_columns() -> None:
    solved = longfat.fluid(SMALL)
    assert solved.flow_series.columns == ["time_s", "flow", "group", "window", "rate_bit_s"]
    assert solved.link_series.columns == [
        "time_s",
        "link",
        "direction",
        "price",
        "load",
        "queue_s",
    ]
    frame = solved.flows.to_polars()
    assert frame.columns == [
        "name",
        "group",
        "control",
        "rtt_s",
        "start_s",
        "window_mean",
        "rate_mean_bit_s",
        "events",
    ]
    # Two flows on 10 Mbit/s.
    assert 8e6 < frame["rate_mean_bit_s"].sum() < 10.5e6


def test_flows_start_when_the_packets_do() -> None:
    run, solved = longfat.run(SMALL, seed=3), longfat.fluid(SMALL, seed=3)
    starts = [table.to_polars()["start_s"].to_list() for table in (run.flows, solved.flows)]
    assert starts[0] == starts[1]
    first = solved.flow_series.to_polars().filter(pl.col("flow") == "forward[1]")["time_s"][0]
    assert first >= starts[0][1]


@pytest.mark.parametrize("loss", [1e-3, 1e-4])
def test_an_independent_solver_finds_the_same_windows(loss: float) -> None:
    """Equation (4) of the paper and its virtual queue in SciPy: x' = 1 - p x^2/2, C~' = (C - x)/2, C~ <= C."""

    def slopes(_: float, state: np.ndarray[Any, Any]) -> list[float]:
        x, virtual = state
        p = loss + max(0.0, 1 - virtual / x)
        adapts = 0.5 * (100 - x)
        return [1 - p * x * x / 2, 0.0 if virtual >= 100 and adapts > 0 else adapts]

    solved = longfat.fluid(UNIT, price="avq", delay=False, set={"link.link.loss": loss})
    reference = solve_ivp(
        slopes,
        (0, 200),
        [2.0, 100.0],
        t_eval=np.arange(201),
        rtol=1e-9,
        atol=1e-9,
        max_step=0.05,
    )
    assert window(solved) == pytest.approx(reference.y[0], rel=1e-3)


def test_an_independent_delay_solver_finds_the_same_windows() -> None:
    """The same a round trip late, x' = x(t-1) (1/x - p(t-1) x/2), in a thousand steps of Heun per round trip.

    On a link of 30 the flow overshoots and oscillates: the delay decides its course.
    """
    steps, capacity, loss = 1000, 30.0, 1e-3
    h = 1 / steps
    count = 60 * steps
    x, virtual, price = [2.0] * (count + 1), capacity, [0.0] * (count + 1)

    def slope(now: float, then: int) -> float:
        return x[then] * (1 / now - (loss + price[then]) * now / 2) if then >= 0 else 0.0

    for at in range(count):
        price[at] = max(0.0, 1 - virtual / x[at])
        first = slope(x[at], at - steps)
        second = slope(x[at] + h * first, at + 1 - steps)
        x[at + 1] = x[at] + h * (first + second) / 2
        virtual = min(capacity, virtual + h * 0.5 * (capacity - (x[at] + x[at + 1]) / 2))
    solved = longfat.fluid(
        UNIT, price="avq", set={"duration": "60 s", "link.link.rate": "0.36 Mbit/s"}
    )
    reference = np.array(x[::steps])
    assert reference.max() > capacity > 1.2 * reference[40:].min()
    assert window(solved) == pytest.approx(reference, rel=5e-3)


def test_jumping_windows_have_the_mean_of_the_packets() -> None:
    """Independent losses of 1e-3: 1.31/sqrt(p) = 41.4 for both; the mean field has sqrt(2/p) = 44.7."""
    changes = {
        "duration": "300 s",
        "link.link.rate": "10 Gbit/s",
        "link.link.buffer": "unlimited",
        "link.link.reverse.loss": 0,
        "flow.flow.rtt": "10 ms",
    }
    packets = longfat.run(UNIT, set=changes, record=False).summary["flows"][0]["window_mean"]
    jumping = longfat.fluid(UNIT, set=changes, model="hybrid", price="loss")
    mean = jumping.summary["flows"][0]["window_mean"]
    assert mean == pytest.approx(packets, rel=0.05)
    assert mean == pytest.approx(1.31 / math.sqrt(1e-3), rel=0.05)
    rest = longfat.fluid(UNIT, set=changes, price="loss", integrate=False, equilibrium=True)
    assert rest.equilibrium is not None
    assert rest.equilibrium["flows"][0]["window"] == pytest.approx(44.72, rel=1e-3)


def test_only_the_hybrid_model_is_random() -> None:
    def solved(model: Any, seed: int) -> str:
        made = longfat.fluid(SMALL.replace("uniform", "spread"), model=model, seed=seed)
        return json.dumps({**made.summary, "seed": 0})

    assert solved("mean-field", 1) == solved("mean-field", 2)
    assert solved("hybrid", 1) == solved("hybrid", 1)
    assert solved("hybrid", 1) != solved("hybrid", 2)


def test_red_is_taken_from_the_scenario() -> None:
    changes = {
        "link.bottleneck.buffer": "100 packets",
        "link.bottleneck.queue": {"kind": "red", "min": "5 packets", "max": "45 packets"},
        "flow.forward.rtt": "80 ms",
    }
    solved = longfat.fluid(SMALL, set=changes, price="red", integrate=False, equilibrium=True)
    assert solved.equilibrium is not None
    link = solved.equilibrium["links"]["bottleneck"]
    # p = 0.1 (q - 5)/40 = 2/w^2 where 2 w = 66.67 + q: q = 5.6125 packets, 6.735 ms of 1500 bytes.
    assert link["queue_s"] == pytest.approx(6.735e-3, rel=1e-3)
    assert link["load"] == pytest.approx(1)


def test_reverse_directions_have_prices_of_their_own() -> None:
    both = SMALL + SMALL[SMALL.index("[[flow]]") :].replace("forward", "back") + "reverse = true\n"
    links = longfat.fluid(both).summary["links"]
    assert set(links["bottleneck"]) == {"price", "load", "queue_s", "reverse"}
    only = SMALL + "reverse = true\n"
    assert set(longfat.fluid(only).summary["links"]["bottleneck"]) == {"reverse"}


def test_short_flows_are_a_load() -> None:
    traffic = """
[[traffic]]
name = "web"
control = "cubic"
path = ["bottleneck"]
arrivals = { poisson = "10 /s" }
size = "50 kB"
rtt = "20 ms"
"""
    rest = longfat.fluid(
        SMALL + traffic, price="avq", integrate=False, equilibrium=True
    ).equilibrium
    assert rest is not None
    # Of 10 Mbit/s 4.08 are in use: ten flows each second, each with 34 packets of 1500 bytes.
    assert sum(flow["rate_bit_s"] for flow in rest["flows"]) == pytest.approx(5.92e6)


@pytest.mark.parametrize(
    ("changes", "options", "reason"),
    [
        ({"flow.forward.control": "cubic"}, {}, "`cubic` has no window law"),
        ({"flow.forward.size": "1 MB"}, {}, "has a size"),
        ({}, {"price": "red"}, "has no RED queue"),
        ({}, {"price": "loss", "equilibrium": True}, "nothing holds the window of flow `forward"),
        ({"flow.forward.count": 1000}, {"equilibrium": True}, "link `bottleneck` is too small"),
        ({}, {"model": "synchronised", "stability": True}, "never settle"),
    ],
)
def test_what_the_fluid_cannot_do_is_refused(
    changes: dict[str, Any], options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(longfat.FluidError, match=reason):
        longfat.fluid(SMALL, set=changes, **{"price": "avq", **options})


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no model 'fluid': there are mean-field"):
        longfat.fluid(SMALL, model="fluid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no price 'codel'"):
        longfat.fluid(SMALL, price="codel")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not solved in time"):
        _ = longfat.fluid(SMALL, integrate=False, equilibrium=True).flow_series


def test_a_solution_is_a_folder() -> None:
    solved = longfat.fluid(SMALL)
    folder = solved.save()
    assert folder == Path("runs/scenario-fluid")
    assert {path.name for path in folder.iterdir()} == {
        ".longfat.json",
        "scenario.toml",
        "fluid.json",
        "flows.parquet",
        "flow_series.parquet",
        "link_series.parquet",
    }
    assert json.loads((folder / "fluid.json").read_text("utf-8")) == solved.summary
    again = Scenario.parse((folder / "scenario.toml").read_text("utf-8"))
    assert again == Scenario.parse(SMALL)
    rows = pl.read_parquet(folder / "flow_series.parquet")
    assert rows.equals(solved.flow_series.to_polars().with_columns(pl.col("flow", "group")))


@pytest.mark.parametrize("count", [2, 9])
def test_a_picture_has_both(count: int) -> None:
    changes = {"flow.forward.count": count}
    solved = longfat.fluid(SMALL, set=changes, equilibrium=True)
    alone = solved.plot()
    both = solved.plot("both.png", packets=longfat.run(SMALL, set=changes))
    assert [axes.get_ylabel() for axes in both.axes[:3]] == [
        "window (segments)",
        "rate (Mbit/s)",
        "price (marked or lost)",
    ]
    added = len(both.axes[0].lines) - len(alone.axes[0].lines)
    assert added == (count if count == 2 else 1)
    assert Path("both.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("count", [1, 4])
def test_a_picture_has_one_colour_for_each_flow(count: int) -> None:
    """The file lists first what starts second; the flow that starts first has a window first."""
    late = {"name": "late", "control": "reno", "path": ["link"], "rtt": "40 ms", "start": "1 s"}
    early = {**late, "name": "early", "start": "0 s"}
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "buffer": "1 bdp"}
    flows = [{**flow, "count": count} for flow in (late, early)]
    source = {"duration": "4 s", "warmup": "2 s", "link": {"link": link}, "flow": flows}
    solved = longfat.fluid(source, equilibrium=True)
    figure = solved.plot(packets=longfat.run(source))
    for panel in figure.axes[:2]:
        first = {"late": 1.0, "early": 0.0}
        named = [line for line in panel.lines if line.get_color() in style.COLOURS[:2]]
        begun = {colour: set[float]() for colour in style.COLOURS[:2]}
        for line in named:
            if line.get_linestyle() != ":":
                begun[str(line.get_color())].add(round(float(np.min(line.get_xdata()))))
        assert begun == {style.COLOURS[0]: {first["late"]}, style.COLOURS[1]: {first["early"]}}
    if count > 1:
        return
    window = figure.axes[0]
    assert solved.equilibrium is not None
    rest = {flow["name"]: flow["window"] for flow in solved.equilibrium["flows"]}
    dotted = [line for line in window.lines if line.get_linestyle() == ":"]
    assert [(line.get_color(), line.get_ydata()[0]) for line in dotted] == [  # type: ignore[index]
        (style.COLOURS[0], rest["late[0]"]),
        (style.COLOURS[1], rest["early[0]"]),
    ]
    legend = window.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["late[0]", "early[0]"]


def test_an_overshoot_of_the_warm_up_does_not_set_the_scale() -> None:
    """On three links in a row slow start overshoots to several times the window that Reno has afterwards."""
    source = ROOT / "scenarios/parking-lot.toml"
    short = {"warmup": "5 s", "duration": "15 s"}
    solved = longfat.fluid(source, set=short)
    panel = solved.plot().axes[0]
    late = pl.col("time_s") > 5
    series = solved.flow_series.to_polars()
    highest = [float(series.filter(part)["window"].to_numpy().max()) for part in (~late, late)]
    assert highest[0] > 3 * highest[1]
    assert panel.get_ylim() == pytest.approx((0, 1.5 * highest[1]))
    (note,) = [text.get_text() for text in panel.texts if text.get_text().startswith("cut")]
    assert note == f"cut: up to {highest[0] / 1e3:.2g} k in the warm-up"
    # Nothing is cut where nothing is left out of averages, nor where a level lies higher.
    whole = longfat.fluid(source, set={**short, "warmup": "0 s"}).plot().axes[0]
    assert whole.get_ylim()[1] > highest[0]
    settled = longfat.fluid(source, set=short, equilibrium=True)
    assert settled.equilibrium is not None
    level = max(flow["window"] for flow in settled.equilibrium["flows"])
    assert settled.plot().axes[0].get_ylim()[1] == pytest.approx(1.5 * level)


def test_flows_that_lose_together() -> None:
    """Chiu and Jain: with each loss two Reno windows come closer; those of STCP keep their ratio."""
    shares = {}
    for control in ("reno", "stcp"):
        solved = longfat.synchronised(
            control, rate="120 Mbit/s", rtt="100 ms", window=[800, 100], duration="200 s"
        )
        series = solved.flow_series.to_polars().pivot(
            "flow", index="time_s", values="window", aggregate_function="last"
        )
        shares[control] = series["flow-0[0]"][-1] / series["flow-1[0]"][-1]
    assert shares["reno"] == pytest.approx(1, rel=0.02)
    assert shares["stcp"] == pytest.approx(8, rel=1e-2)
    with pytest.raises(ValueError, match="one round trip are needed for each"):
        longfat.synchronised(["reno"], rate="1 Gbit/s", rtt="10 ms", window=[1, 2], duration="10 s")
    for wrong in (1, 0, float("nan")):
        with pytest.raises(ValueError, match=f"a window of {wrong} segments"):
            longfat.synchronised(
                "reno", rate="1 Gbit/s", rtt="10 ms", window=[wrong, 2], duration="10 s"
            )


def test_the_phase_plane_has_both_lines() -> None:
    """500 Mbit/s in packets of 1000 B is 62,500 per second: 10,000 in 160 ms, 5,000 in 80 ms."""
    solved = longfat.synchronised(
        ["hstcp", "stcp"],
        rate="500 Mbit/s",
        rtt=["160 ms", "80 ms"],
        window=[3000, 600],
        duration="20 s",
        packet="1000 B",
    )
    lines = [
        np.asarray(line.get_xydata()) for line in solved.phase_plane("plane.png").axes[0].lines
    ]
    efficiency, fairness, path = lines[:3]
    assert efficiency.ravel().tolist() == pytest.approx([0, 5_000, 10_000, 0])
    assert fairness[1, 1] / fairness[1, 0] == pytest.approx(0.5)
    assert path[0].tolist() == [3000, 600]
    equal = np.asarray(solved.phase_plane(fair=1).axes[0].lines[1].get_xydata())
    assert equal[1, 0] == pytest.approx(equal[1, 1])
    lone = longfat.synchronised("reno", rate="1 Mbit/s", rtt="10 ms", window=[2], duration="1 s")
    with pytest.raises(ValueError, match="two flows on one link, not 1 flow on 1 link"):
        lone.phase_plane()


def test_a_phase_plane_takes_several_starts_and_a_panel() -> None:
    """Windows of different round trips meet under CW-HSTCP (Pan et al., section IV), from either side."""
    paths = {
        name: longfat.synchronised(
            "cw-hstcp",
            rate="500 Mbit/s",
            rtt=["160 ms", "80 ms"],
            window=window,
            duration="400 s",
            packet="1000 B",
        )
        for name, window in (("A", [6000, 1000]), ("G", [1000, 3500]))
    }
    panel = Figure().subplots()
    drawn = plot.phase_plane(paths, fair=1, panel=panel)
    assert drawn is panel.figure
    texts = [text.get_text() for text in panel.texts]
    assert texts == ["link full", "equal windows", "A", "G"]
    every = [np.asarray(line.get_xydata()) for line in panel.lines]
    trajectories = [path for path in every if len(path) > 2]
    assert [path[0].tolist() for path in trajectories] == [[6000, 1000], [1000, 3500]]
    for path in trajectories:
        assert path[-1, 1] / path[-1, 0] == pytest.approx(1, rel=0.1)


def test_xcp_as_a_fluid_is_xcp_as_packets() -> None:
    """Ten flows over 40 to 300 ms get a tenth of the link each, in both models."""
    source = ROOT / "scenarios/xcp-rtts.toml"
    fluid, packets = longfat.fluid(source), longfat.run(source, record=False)
    assert fluid.options["price"] == "xcp"
    simulated = [flow["goodput_bit_s"] for flow in packets.summary["flows"]]
    assert fluid.flows.to_polars()["rate_mean_bit_s"].to_list() == pytest.approx(
        simulated, rel=0.01
    )
    last = fluid.link_series.to_polars().tail(1)
    assert last["price"].item() == pytest.approx(0, abs=1e-4)
    assert last["load"].item() == pytest.approx(1, rel=1e-4)


def test_vcp_as_a_fluid_lacks_the_sawtooth_of_its_packets() -> None:
    """The equations follow the load factor itself, and rest at γ C and what additive increase adds to it.

    Two bits make a sawtooth below that, which uses nine tenths of the link. Rates are as equal in both.
    """
    source = ROOT / "scenarios/vcp.toml"
    fluid, packets = longfat.fluid(source, equilibrium=True), longfat.run(source, record=False)
    rates = fluid.flows.to_polars()["rate_mean_bit_s"]
    simulated = [flow["goodput_bit_s"] for flow in packets.summary["flows"]]
    assert fluid.equilibrium is not None
    load = fluid.equilibrium["links"]["bottleneck"]["load"]
    assert load == pytest.approx(0.98 + 10 * 4 / (0.2 * 100e6 / 12_000), rel=1e-9)
    assert rates.sum() == pytest.approx(load * 100e6, rel=1e-3)
    assert 0.85 < sum(simulated) / rates.sum() < 0.95
    assert max(simulated) / min(simulated) < 1.15
    assert max(rates) / min(rates) < 1.15


def test_what_is_saved_is_what_was_solved(tmp_path: Path) -> None:
    solved = longfat.fluid(SMALL, equilibrium=True)
    assert solved.equilibrium is not None
    rate = solved.equilibrium["flows"][0]["rate_bit_s"]
    solved.equilibrium["flows"].clear()
    solved.summary["equilibrium"]["flows"][0]["rate_bit_s"] = -1
    saved = json.loads((solved.save(tmp_path / "solved") / "fluid.json").read_bytes())
    assert saved["equilibrium"]["flows"][0]["rate_bit_s"] == rate
