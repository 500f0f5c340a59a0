from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from longfat.errors import MeasureError, ScenarioError
from longfat.scenario import read
from longfat.study import Computation, Measured, Plan, Point, Sweep, run_points
from longfat.study._plan import estimate_s
from support import SMALL


def test_points_that_share_a_run_share_its_tables() -> None:
    def count(run: Measured) -> dict[str, Any]:
        return {"rows": run.table("flow_series").height, "seed_of_run": run.summary["seed"]}

    def used(run: Measured) -> dict[str, Any]:
        return run.link()

    Path("link.toml").write_text(SMALL, "utf-8")
    plan = Plan(
        [
            Sweep("one", [Point("link.toml", labels={"x": 1}, seeds=[1, 2])], used),
            Sweep(
                "two",
                [Point("link.toml", labels={"y": 2}, seeds=[2], tables=("flow_series",))],
                count,
            ),
        ]
    )
    assert plan.runs == 2
    one, two = plan.run(workers=2)
    assert one.frame["seed"].to_list() == [1, 2]
    assert two.frame.select("y", "seed", "seed_of_run").rows() == [(2, 2, 2)]
    assert two.frame["rows"][0] > 100
    assert plan.spent.runs == 2
    assert one.spent.runs + two.spent.runs == 3


def test_a_measure_that_changes_its_run_changes_no_other() -> None:
    def twice(run: Measured) -> dict[str, Any]:
        (link, *_) = run.summary["links"].values()
        link["forward"]["arrived"] *= 2
        arrived = link["forward"]["arrived"]
        run.summary.clear()
        return {"arrived": arrived}

    Path("link.toml").write_text(SMALL, "utf-8")
    points = [Point("link.toml", labels={"x": x}, seeds=1) for x in (1, 2, 3)]
    found = run_points(points, twice)["arrived"].to_list()
    assert len(set(found)) == 1
    assert run_points(points, twice)["arrived"].to_list() == found


def test_progress_is_weighted_with_cost() -> None:
    def wait(seconds: float) -> None:
        time.sleep(seconds)

    points = [
        Computation({"n": n}, wait, {"seconds": 0.05}, seconds=cost)
        for n, cost in enumerate([1.0, 98.0, 1.0])
    ]
    shares: list[float] = []
    Plan([Sweep("waits", points, lambda run: {"value": run.value})]).run(
        workers=1, progress=lambda _finished, _total, share: shares.append(round(share, 2))
    )
    assert sorted(set(shares)) == shares == [0.98, 0.99, 1.0]


def test_a_computation_that_fails_is_named() -> None:
    def fail() -> None:
        message = "no root"
        raise ValueError(message)

    plan = Plan([Sweep("roots", [Computation({"n": 3}, fail)], lambda _: {})])
    with pytest.raises(MeasureError, match="roots, n = 3: ValueError: no root"):
        plan.run()


def test_the_estimate_counts_every_direction_that_data_cross() -> None:
    # 10 Mbit/s for 4 s is 3333 packets of 1500 B; three million of them take a second.
    one = estimate_s(read(SMALL.replace("10 Mbit/s", "1 Gbit/s"))[0])
    assert one == pytest.approx(333_333 / 3e6, rel=1e-3)
    back = SMALL[SMALL.index("[[flow]]") :].replace("forward", "back") + "reverse = true\n"
    both = estimate_s(read((SMALL + back).replace("10 Mbit/s", "1 Gbit/s"))[0])
    assert both == pytest.approx(2 * one)


def test_the_estimate_counts_short_flows_that_are_counted() -> None:
    # 300 transfers of 100 kB in packets of 500 B are 60,000 packets, however long the scenario may last.
    files = """\
duration = "20000 s"

[link.bottleneck]
rate = "1 Gbit/s"
delay = "1 ms"
buffer = "100 packets"

[[traffic]]
name = "files"
control = "reno"
path = ["bottleneck"]
rtt = "30 ms"
packet = "500 B"
arrivals = { poisson = "0.02 /s" }
count = 300
size = "100 kB"
"""
    assert estimate_s(read(files)[0]) == pytest.approx(60_000 / 3e6)


def test_the_estimate_knows_of_windows_that_losses_keep_small() -> None:
    # Reno at a loss of 1e-3 keeps 1.31/√p = 41 segments in a round trip of 20 ms, whatever the link could
    # carry: 830,000 packets in 400 s. The engine promises a factor of three.
    lossy = SMALL.replace("10 Mbit/s", "10 Gbit/s").replace('delay = "', 'loss = 1e-3\ndelay = "')
    estimated = estimate_s(read(lossy, changes=["duration=400 s"])[0])
    assert 0.83 / 3 / 3 < estimated < 3 * 0.83 / 3


def test_rows_come_in_the_order_of_the_points_whatever_they_cost() -> None:
    Path("link.toml").write_text(SMALL, "utf-8")
    points = [
        Point("link.toml", set={"duration": f"{n} s"}, labels={"n": n}, seeds=2) for n in (2, 9, 4)
    ]
    rows = run_points(points, lambda run: {"sent": run.summary["engine"]["data_packets"]})
    assert rows.columns == ["n", "seed", "sent"]
    assert rows["n"].to_list() == [2, 2, 9, 9, 4, 4]
    assert rows["seed"].to_list() == [1, 2] * 3
    assert rows["sent"][2] > 3 * rows["sent"][0]


def test_a_computation_may_be_left_to_chance() -> None:
    points = [Computation({"of": 3}, lambda seed, of: seed * of, {"of": 3}, seeds=[4, 5])]
    assert run_points(points, lambda run: {"value": run.value})["value"].to_list() == [12, 15]


def test_what_is_measured_must_not_hide_a_label() -> None:
    points = [Computation({"n": 1}, int)]
    with pytest.raises(MeasureError, match="`n` is measured, but it is already a label"):
        run_points(points, lambda _: {"n": 2})


@pytest.mark.parametrize(
    ("labels", "measured", "named"),
    [
        ([[], 1.0], [0, 0], r"points: \[\] and 1.0, values of `x`, make no column of a table"),
        ([1, 2], ["many", {}], "values of `y`, make no column of a table"),
    ],
)
def test_rows_that_make_no_table_are_refused_with_their_column(
    labels: list[Any], measured: list[Any], named: str
) -> None:
    points = [
        Computation({"x": label}, lambda value: value, {"value": value})
        for label, value in zip(labels, measured, strict=True)
    ]
    with pytest.raises(MeasureError, match=named):
        run_points(points, lambda run: {"y": run.value})


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64])
def test_a_seed_that_no_scenario_could_have_is_refused(seed: int) -> None:
    Path("link.toml").write_text(SMALL, "utf-8")
    with pytest.raises(ScenarioError, match=f"the seed is {seed}, not a whole number from 0 to"):
        run_points([Point("link.toml", seeds=[1, seed])], lambda run: run.link())
