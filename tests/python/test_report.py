from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.results import _tables

if TYPE_CHECKING:
    from longfat.tables import TextTable


def drawn(table: TextTable) -> str:
    return table.markdown


def test_short_flows_have_their_completion_times() -> None:
    row = {
        "completed": 4000,
        "goodput_bit_s": 1e6,
        "drop_rate": 1e-4,
        "completion_s": {"mean": 0.4, "p50": 0.3, "p99": 2.0},
    }
    none = {**row, "completed": 0, "completion_s": {"mean": None, "p50": None, "p99": None}}
    text = drawn(_tables.traffic({"web": row, "quiet": none}))
    for cell in ("web", "4,000", "1.00 Mbit/s", "1.0e-4", "400 ms", "300 ms", "2.00 s", "–"):
        assert cell in text


def test_absent_numbers_are_dashes() -> None:
    flow = {
        "name": "late[0]",
        "control": "reno",
        "rtt_s": 0.04,
        "goodput_bit_s": None,
        "retransmit_rate": None,
        "timeouts": 0,
        "queueing_delay_mean_s": None,
    }
    assert drawn(_tables.flows([flow])).count("–") == 3
    many = [{**flow, "name": f"late[{index}]"} for index in range(9)]
    assert "late × 9, mean" in drawn(_tables.flows(many))


def test_percentiles_of_delay_are_told_where_they_are_known() -> None:
    flow = {
        "control": "reno",
        "rtt_s": 0.04,
        "goodput_bit_s": 1e6,
        "retransmit_rate": 0.0,
        "timeouts": 0,
        "queueing_delay_mean_s": 0.002,
        "queueing_delay_p50_s": 0.001,
        "queueing_delay_p90_s": 0.004,
        "queueing_delay_p99_s": 0.0095,
    }
    few = drawn(_tables.flows([{**flow, "name": "f[0]"}]))
    for cell in ("p50", "p90", "p99", "1.00 ms", "4.00 ms", "9.50 ms"):
        assert cell in few
    many = [
        {**flow, "name": f"f[{index}]", "queueing_delay_p99_s": index / 1e3} for index in range(9)
    ]
    cells = [
        [cell.strip() for cell in line.split("|") if cell.strip()]
        for line in drawn(_tables.flows(many)).splitlines()
    ]
    assert [row[-1] for row in cells if "×" in row[0] or row[0] in ("least", "most")] == [
        "4.00 ms",
        "0.00 ms",
        "8.00 ms",
    ]


def test_a_starved_flow_is_not_rounded_away() -> None:
    flow = {
        "control": "reno",
        "rtt_s": 0.04,
        "retransmit_rate": 0.0,
        "timeouts": 3,
        "queueing_delay_mean_s": 0.0,
    }
    rows = [{**flow, "name": f"f[{i}]", "goodput_bit_s": rate} for i, rate in enumerate((2e9, 3e6))]
    text = drawn(_tables.flows(rows))
    assert "2 Gbit/s" in text
    assert "3 Mbit/s" in text


def test_what_came_of_anti_ecn_is_told_by_group() -> None:
    flow: dict[str, Any] = {"anti_ecn": True, "unaware_link": None}
    far: dict[str, Any] = {"anti_ecn": False, "unaware_link": "old"}
    plain: dict[str, Any] = {"anti_ecn": None, "unaware_link": None}
    rows = {"near[0]": flow, "near[1]": flow, "far[0]": far, "plain[0]": plain}
    summary = {
        "flows": [{"name": name, **row} for name, row in rows.items()],
        "traffic": {"web": far, "mail": flow},
    }
    assert _tables.anti_ecn(summary) == [
        "AntiECN is in use: near, mail",
        "link old does not support AntiECN, so this is plain TCP: far, web",
    ]
    assert _tables.anti_ecn({"flows": [{"name": "plain[0]", **plain}], "traffic": {}}) == []


def test_of_very_many_groups_a_table_has_the_controllers() -> None:
    """500 rows are read, if at all; more are not."""
    flow = {
        "rtt_s": 0.04,
        "retransmit_rate": 0.0,
        "timeouts": 0,
        "queueing_delay_mean_s": 0.002,
    }
    flows = [
        {
            **flow,
            "name": f"f{at}[0]",
            "control": "cubic" if at % 4 else "reno",
            "goodput_bit_s": at * 1e6,
        }
        for at in range(600)
    ]
    assert len(_tables.flows(flows[:500]).rows) == 500
    told = _tables.flows(flows).rows
    assert [row[0].strip() for row in told] == [
        "reno × 150, mean",
        "least",
        "most",
        "cubic × 450, mean",
        "least",
        "most",
    ]
    assert told[2][3] == "596 Mbit/s"


def test_of_very_many_links_and_groups_of_short_flows_a_table_says_how_many_are_elsewhere() -> None:
    row = {
        "completed": 4,
        "goodput_bit_s": 1e6,
        "drop_rate": 0.0,
        "completion_s": {"mean": 0.4, "p50": 0.3, "p99": 2.0},
    }
    told = _tables.traffic({f"s{at}": row for at in range(1800)}).rows
    assert (len(told), told[-1][0]) == (501, "1,300 more: summary.json")
    way = {
        "utilisation": 0.5,
        "queue_mean": 0.1,
        "queue_p99": 0.2,
        "drop_rate": 0.0,
        "mark_rate": 0.0,
    }
    link = {"forward": way, "reverse": way}
    told = _tables.links({f"l{at}": link for at in range(1250)}).rows
    assert (len(told), told[-1][0]) == (501, "1,000 more: links.parquet")
    assert len(_tables.links({f"l{at}": link for at in range(250)}).rows) == 500


def test_a_line_of_very_many_names_says_how_many_there_are_besides() -> None:
    names = [f"n{at}" for at in range(30)]
    assert _tables.few_of(names) == ", ".join([*names[:20], "10 more"])
    assert _tables.few_of(names[:20]) == ", ".join(names[:20])
