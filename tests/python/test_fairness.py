from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

import longfat
from longfat import fairness
from longfat.paper import Measured
from longfat.scenario import PICOSECONDS, Direction, Group, Link, Quantities, read
from support import SMALL

# Pan, Su, Lü and Ping, CW-HSTCP.


@pytest.mark.parametrize(
    ("rtts", "expected"), [((80, 140, 200), 0.872), ((60, 80, 140, 160, 200), 0.824)]
)
def test_jain_of_equal_windows(rtts: tuple[int, ...], expected: float) -> None:
    # Equal windows give rates inverse to round trips: the least that CW-HSTCP aims at. 35 : 20 : 14 and 28 : 21
    # : 12 : 10.5 : 8.4 make 4761/5463 = 0.8715 and 6384/7749 = 0.8239.
    assert fairness.jain(1 / rtt for rtt in rtts) == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        # Table 3, c = 5, 10 and 20: not the 87.93, 94.54 and 95.01 that it prints, which are sums.
        ((29.79, 16.80, 14.38), 0.900),
        ((32.22, 26.61, 19.36), 0.961),
        ((44.85, 24.69, 19.92), 0.884),
        # Table 2, in its three intervals.
        ((38.98, 20.96, 18.24, 2.38, 1.06), 0.580),
        ((48.10, 21.35, 14.10, 1.77, 0.84), 0.500),
        ((52.97, 21.39, 11.56, 1.52, 0.80), 0.458),
        # Three STCP flows.
        ((91, 2.73, 0.77), 0.359),
    ],
)
def test_jain_of_the_papers_shares(shares: tuple[float, ...], expected: float) -> None:
    assert fairness.jain(shares) == pytest.approx(expected, abs=5e-4)


def test_jain_has_its_bounds() -> None:
    assert fairness.jain([7, 7, 7]) == 1
    assert fairness.jain([1, 0, 0, 0]) == 0.25
    for unit in (1e200, 1e-200, 5e-324):  # whose squares are beyond all numbers, or none
        assert fairness.jain([3 * unit, unit]) == pytest.approx(0.8, rel=1e-15)
    assert fairness.jain([0, 0]) is None
    assert fairness.jain([]) is None


def test_an_exponent_and_its_interval_by_hand() -> None:
    # Logarithms 0, 1, 2 and 0, -1, -3: the line falls by 1.5 and misses by 1/6, 1/3 and 1/6. The sum of squares
    # is 1/6 with one degree of freedom, over a spread of 2: an error of sqrt(1/12), and t is 12.706.
    e = 2.718281828459045
    found = fairness.fit_exponent([1, e, e**2], [1, e**-1, e**-3])
    assert found.value == pytest.approx(1.5)
    assert found.half_width == pytest.approx(12.7062 / 12**0.5, rel=1e-5)
    assert (found.n, found.starved) == (3, 0)


def test_an_exponent_needs_two_round_trips() -> None:
    assert fairness.fit_exponent([0.05, 0.2], [16, 1]).value == pytest.approx(2)
    for goodputs in ([4, 4, 4], [1, 0, 0]):
        with pytest.raises(ValueError, match="two different round trips"):
            fairness.fit_exponent([0.1, 0.1, 0.1], goodputs)


def flow(name: str, **changes: Any) -> dict[str, Any]:
    described = {
        "name": name,
        "rtt_s": 0.1,
        "goodput_bit_s": 1e6,
        "queueing_delay_mean_s": 0.0,
        "data_sent": 1000,
        "data_dropped": 1,
        "start_s": 0.0,
        "completion_s": None,
    }
    return {**described, **changes}


def group(name: str, **changes: Any) -> dict[str, Group]:
    plain: dict[str, Any] = {
        "short": False,
        "path": ("wire",),
        "backwards": (False,),
        "packet_bytes": 1500,
        "count": 1,
        "size_bytes": None,
        "stop_ps": None,
        "rto_min_ps": 0,
    }
    return {name: Group(**{**plain, **changes})}


@dataclass
class Fake:
    """A run of ten seconds on 10 Mbit/s out and 5 Mbit/s back, with a warm-up of two seconds."""

    flows: list[dict[str, Any]]
    groups: dict[str, Group]
    rates: dict[str, list[float]] = field(default_factory=dict)
    traffic: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def summary(self) -> dict[str, Any]:
        return {"flows": self.flows, "traffic": self.traffic}

    @property
    def quantities(self) -> Quantities:
        there, back = (
            Direction(rate, 5 * 10**9, None, "packets", {}, rate)
            for rate in (10_000_000, 5_000_000)
        )
        short = {name: group(name, short=True)[name] for name in self.traffic}
        return Quantities(
            duration_ps=10 * PICOSECONDS,
            warmup_ps=2 * PICOSECONDS,
            sample_ps=PICOSECONDS // 2,
            links={"wire": Link(there, back)},
            groups=self.groups | short,
        )

    def table(self, name: str) -> pl.DataFrame:
        assert name == "flow_series"
        rows = [
            {"time_s": 0.5 * (20 - len(rates) + row + 1), "flow": one, "throughput_bit_s": rate}
            for one, rates in self.rates.items()
            for row, rate in enumerate(rates)
        ]
        types = {"time_s": pl.Float64, "flow": pl.Categorical, "throughput_bit_s": pl.Float64}
        return pl.DataFrame(rows, schema=types).sort("time_s")


def alternating() -> Fake:
    """Two flows that take turns: for one second one has everything, then the other."""
    first = [8e6 if row // 2 % 2 == 0 else 0.0 for row in range(20)]
    return Fake(
        [flow("a[0]"), flow("a[1]")],
        group("a"),
        {"a[0]": first, "a[1]": [8e6 - rate for rate in first]},
    )


def test_what_takes_turns_is_fair_at_long_scales_only() -> None:
    table = fairness.by_time_scale(alternating(), scales=(0.5, 1, 2, 3, 5, 50))
    # Eight seconds of steady state. Out of three seconds one flow has two, the other one: 9/(2·5).
    assert table["scale_s"].to_list() == [0.5, 1, 2, 3, 5, 50]
    assert table["jain"].to_list() == pytest.approx([0.5, 0.5, 1, 0.9, 25 / 26, None])
    assert table["windows"].to_list() == [16, 8, 4, 2, 1, 0]


def test_the_steady_part_can_be_chosen() -> None:
    # From one second on, windows of two seconds begin in the middle of a turn of two.
    run = alternating()
    first = [8e6 if row // 4 % 2 == 0 else 0.0 for row in range(20)]
    run.rates = {"a[0]": first, "a[1]": [8e6 - rate for rate in first]}
    assert fairness.by_time_scale(run, scales=(2,)).row(0) == (2.0, 0.5, 4)
    shifted = fairness.by_time_scale(run, scales=(2,), from_s=1, until_s=9)
    assert shifted.row(0) == (2.0, 1.0, 4)


def test_a_flow_counts_in_the_windows_through_which_it_is_active() -> None:
    rates = {"a[0]": [6e6] * 20, "late[0]": [2e6] * 13, "brief[0]": [2e6] * 20}
    run = Fake(
        [flow("a[0]"), flow("late[0]", start_s=3.5), flow("brief[0]", completion_s=5.0)],
        group("a") | group("late", stop_ps=8 * PICOSECONDS) | group("brief"),
        rates,
    )
    table = fairness.by_time_scale(run, scales=(2,))
    # 2 to 4 s: a and brief, (6 + 2)²/(2·40) = 0.8; 4 to 8 s: a and late, twice; 8 to 10 s: a alone.
    assert table.row(0) == (2.0, pytest.approx((0.8 + 0.8 + 0.8 + 1) / 4), 4)
    assert fairness.by_time_scale(run, "late", scales=(1,)).row(0) == (1.0, 1.0, 4)


def test_utilisation_is_that_of_the_papers_formula() -> None:
    run = alternating()
    run.flows[1]["name"] = "b[0]"
    run.groups |= group("b", backwards=(True,))
    run.rates["b[0]"] = run.rates.pop("a[1]")
    table = fairness.utilisation(run, edges=(2, 3, 5, 10))
    assert table.columns == ["from_s", "until_s", "flow", "group", "utilisation"]
    assert table["from_s"].to_list() == [2, 2, 3, 3, 5, 5]
    # Of 10 Mbit/s out: 8 Mbit/s for 1 of 1 s, 1 of 2 s, 2 of 5 s. The rest of 5 Mbit/s back.
    assert table.filter(flow="a[0]")["utilisation"].to_list() == pytest.approx([0.8, 0.4, 0.32])
    assert table.filter(flow="b[0]")["utilisation"].to_list() == pytest.approx([0, 0.8, 0.96])
    whole = fairness.utilisation(run, "a")
    assert whole.rows() == [(2.0, 10.0, "a[0]", "a", pytest.approx(0.4))]


def test_a_flow_without_rows_uses_nothing() -> None:
    run = alternating()
    run.flows.append(flow("a[2]", start_s=9.9))
    assert fairness.utilisation(run, edges=(2, 4))["utilisation"].to_list()[2] == 0


def with_traffic() -> Fake:
    web = {"goodput_bit_s": 5e5, "data_sent": 100, "data_dropped": 20}
    return Fake(
        [
            flow("long[0]", goodput_bit_s=4e6, data_sent=3000, data_dropped=3),
            # Active for half of the measured interval.
            flow("half[0]", goodput_bit_s=2e6, data_sent=900, data_dropped=17, start_s=6.0),
        ],
        group("long") | group("half"),
        traffic={"web": web},
    )


def test_losses_and_shares_of_groups_add_up() -> None:
    run = with_traffic()
    assert fairness.loss_rate(run, "long") == pytest.approx(0.001)
    assert fairness.loss_rate(run, "half", "web") == pytest.approx(0.037)
    assert fairness.loss_rate(run) == pytest.approx(0.01)
    assert fairness.share(run, "half") == pytest.approx(0.1)
    assert fairness.share(run, "half", "web", "web") == pytest.approx(0.15)
    assert fairness.share(run) == pytest.approx(0.55)
    silent = Fake([flow("a[0]", data_sent=0, data_dropped=0)], group("a"))
    assert fairness.loss_rate(silent) is None


def test_an_index_leaves_out_who_is_not_active() -> None:
    run = with_traffic()
    assert fairness.index(run) == pytest.approx(36 / 40)
    run.flows.append(flow("long[1]", goodput_bit_s=0.0, completion_s=1.0))
    assert fairness.index(run) == pytest.approx(36 / 40)
    assert fairness.index(run, "half") == 1


def test_round_trips_may_have_queueing_in_them() -> None:
    # 50 and 350 ms, goodputs 4:1; with 50 ms of queue 100 and 400 ms.
    run = Fake(
        [
            flow("a[0]", rtt_s=0.05, queueing_delay_mean_s=0.05, goodput_bit_s=4e6),
            flow("a[1]", rtt_s=0.35, queueing_delay_mean_s=0.05, goodput_bit_s=1e6),
        ],
        group("a"),
    )
    assert fairness.rtt_exponent(run, queueing=True).value == pytest.approx(1)
    assert fairness.rtt_exponent(run).value == pytest.approx(0.712, abs=5e-4)


def test_what_cannot_be_measured_is_refused() -> None:
    run = alternating()
    cases: list[tuple[Any, str]] = [
        (lambda: fairness.index(run, "b"), "no group of long flows called `b`: choose one of a"),
        (lambda: fairness.loss_rate(run, "b"), "no group called `b`"),
        (lambda: fairness.share(run, link="x"), "no link called `x`: choose one of wire"),
        (lambda: fairness.by_time_scale(run, scales=(0.7,)), "spacing of the time series, 0.5 s"),
        (lambda: fairness.by_time_scale(run, scales=(0,)), "a time scale of 0 s"),
        (lambda: fairness.utilisation(run, edges=(2, 2)), "each later than the one before"),
        (lambda: fairness.utilisation(run, edges=(2,)), "at least two instants"),
        (lambda: fairness.utilisation(run, edges=(2, 11)), "ends at 10 s"),
    ]
    for measure, reason in cases:
        with pytest.raises(ValueError, match=reason):
            measure()
    bare = longfat.run(SMALL, record=False)
    with pytest.raises(ValueError, match="record=True"):
        fairness.by_time_scale(bare)


def test_without_a_name_a_link_is_shared_by_those_who_cross_it() -> None:
    lot = longfat.run(
        {
            "duration": "6 s",
            "warmup": "2 s",
            "sample": "500 ms",
            "link": {
                name: {"rate": rate, "delay": "1 ms", "buffer": "20 packets"}
                for name, rate in (
                    ("first", "2 Mbit/s"),
                    ("second", "3 Mbit/s"),
                    ("third", "1 Mbit/s"),
                )
            },
            "flow": [
                {"name": name, "control": "reno", "path": path, "rtt": "20 ms"}
                for name, path in (("long", ["first", "second"]), ("short", ["second"]))
            ],
        }
    )
    first = fairness.utilisation(lot, link="first")
    assert first["group"].to_list() == ["long"]
    assert fairness.utilisation(lot, link="second")["group"].to_list() == ["long", "short"]
    assert fairness.share(lot, link="first") == pytest.approx(
        fairness.share(lot, "long", link="first")
    )
    assert fairness.share(lot, link="first") == pytest.approx(first["utilisation"].sum())
    assert fairness.utilisation(lot, link="third").is_empty()
    assert fairness.share(lot, link="third") == 0
    with pytest.raises(ValueError, match="do not cross the link `first`"):
        fairness.share(lot, "short", link="first")


def test_what_a_paper_measures_will_do() -> None:
    run = longfat.run(SMALL, set={"sample": "100 ms"})
    scenario, _ = read(run.scenario)
    tables = {"flow_series": run.flow_series}
    measured = Measured({}, 1, run.summary, _scenario=scenario, _tables=tables)
    assert fairness.by_time_scale(measured, scales=(1,)).equals(
        fairness.by_time_scale(run, scales=(1,))
    )
    assert fairness.loss_rate(measured) == fairness.loss_rate(run)


def test_a_real_run_agrees_with_its_summary() -> None:
    run = longfat.run(SMALL, set={"sample": "100 ms"})
    assert fairness.index(run, "forward") == pytest.approx(run.summary["jain"]["forward"])
    slices = fairness.utilisation(run)
    goodputs = [flow["goodput_bit_s"] for flow in run.summary["flows"]]
    assert (slices["utilisation"] * 10e6).to_list() == pytest.approx(goodputs)
    assert fairness.share(run) == pytest.approx(sum(goodputs) / 10e6)
    whole = fairness.by_time_scale(run, scales=(3,))
    assert whole["jain"].to_list() == pytest.approx([fairness.index(run)])
    sent, lost = (sum(run.table("flows")[name]) for name in ("data_sent", "data_dropped"))
    assert lost > 0
    assert fairness.loss_rate(run) == pytest.approx(lost / sent)


def test_no_more_than_a_link_can_carry_is_a_share_of_it() -> None:
    """5015 packets fit into a minute of 1.003 Mbit/s. 5016 arrive: the first left in part before it began."""
    flow = {"control": "cubic", "path": ["b"], "rtt": "40 ms"}
    run = longfat.run(
        {
            "duration": "90 s",
            "warmup": "30 s",
            "link": {"b": {"rate": "1.003 Mbit/s", "delay": "10 ms", "buffer": "20 packets"}},
            "flow": [
                {"name": "a", **flow, "count": 4},
                {"name": "z", **flow, "rtt": "400 ms"},
            ],
        }
    )
    got = sum(each["goodput_bit_s"] for each in run.summary["flows"])
    assert got * 60 / 12_000 == pytest.approx(5016)
    assert fairness.share(run) == 1.0
    assert fairness.share(run, "a") < 1.0
