from __future__ import annotations

import json
import pickle
import subprocess
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import longfat
from support import SMALL

SERIES = {"flow_series", "link_series"}
TABLES = {
    "flows": {"name", "group", "control", "rtt_s", "start_s", "goodput_bit_s", "completion_s"},
    "links": {"link", "direction", "utilisation", "queue_mean", "queue_p99", "drop_rate"},
    "transfers": {"group", "start_s", "completion_s", "packets", "bytes"},
    "flow_series": {"time_s", "flow", "group", "window", "throughput_bit_s"},
    "link_series": {"time_s", "link", "direction", "queue", "queue_packets", "utilisation"},
}


@pytest.fixture(scope="module")
def run() -> longfat.Run:
    return longfat.run(SMALL)


def test_the_summary_keeps_the_names_of_the_contract(run: longfat.Run) -> None:
    summary = run.summary
    assert set(summary) >= {"seed", "scenario", "links", "flows", "traffic", "jain", "engine"}
    link = summary["links"]["bottleneck"]
    assert set(link) == {"forward", "reverse"}
    keys = {"utilisation", "queue_mean", "queue_p99", "drop_rate", "mark_rate"}
    assert set(link["forward"]) >= keys
    assert set(summary["flows"][0]) >= {
        "name",
        "control",
        "rtt_s",
        "goodput_bit_s",
        "retransmit_rate",
        "timeouts",
        "queueing_delay_mean_s",
    }
    assert [flow["name"] for flow in summary["flows"]] == ["forward[0]", "forward[1]"]
    assert set(summary["jain"]) == {"forward"}
    engine = summary["engine"]
    assert set(engine) >= {"data_packets", "events", "wall_s", "packets_per_s"}
    assert engine["packets_per_s"] == pytest.approx(engine["data_packets"] / engine["wall_s"])


def test_two_flows_share_the_link(run: longfat.Run) -> None:
    goodput = sum(flow["goodput_bit_s"] for flow in run.summary["flows"])
    assert 9e6 < goodput <= 10e6
    assert run.summary["links"]["bottleneck"]["forward"]["utilisation"] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_its_columns(run: longfat.Run, name: str) -> None:
    table: longfat.Table = getattr(run, name)
    assert set(table.columns) >= TABLES[name]
    assert table.to_polars().shape == (len(table), len(table.columns))
    assert name == "transfers" or len(table) > 0


def test_the_tables_agree_with_the_summary(run: longfat.Run) -> None:
    flows = run.flows.to_polars()
    expected = [flow["goodput_bit_s"] for flow in run.summary["flows"]]
    assert flows["goodput_bit_s"].to_list() == expected
    assert flows["completion_s"].null_count() == len(flows)
    forward = run.links.to_polars().filter(pl.col("direction") == "forward")
    measured = run.summary["links"]["bottleneck"]["forward"]["utilisation"]
    assert forward["utilisation"].to_list() == [measured]


def test_a_table_is_read_through_the_arrow_interface_twice(run: longfat.Run) -> None:
    first, second = pl.DataFrame(run.flow_series), pl.DataFrame(run.flow_series)
    assert first.equals(second)
    assert "rows of time_s" in repr(run.flow_series)


def test_pandas_gets_numbers_and_categories(run: longfat.Run) -> None:
    frame = run.flow_series.to_pandas()
    assert list(frame.columns) == run.flow_series.columns
    assert frame["flow"].dtype.name == "category"
    assert frame["window"].tolist() == run.flow_series.to_polars()["window"].to_list()


def test_without_pandas_the_error_says_what_to_install(
    run: longfat.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        run.flows.to_pandas()


def test_the_resolved_scenario_gives_the_same_run(run: longfat.Run) -> None:
    again = longfat.run(run.scenario)
    assert again.scenario == run.scenario
    assert _without_engine(again) == _without_engine(run)
    assert again.flow_series.to_polars().equals(run.flow_series.to_polars())


def test_recording_changes_nothing_else(run: longfat.Run) -> None:
    bare = longfat.run(SMALL, record=False)
    assert _without_engine(bare) == _without_engine(run)
    for name in TABLES:
        table = getattr(bare, name)
        assert table.columns == getattr(run, name).columns
        assert (len(table) == 0) == (name in SERIES or name == "transfers")


def test_a_path_a_text_and_a_dictionary_mean_the_same(run: longfat.Run, small: Path) -> None:
    content = {
        "duration": "4 s",
        "warmup": "1 s",
        "link": {"bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"}},
        "flow": [
            {
                "name": "forward",
                "control": "reno",
                "count": 2,
                "path": ["bottleneck"],
                "rtt": "20 ms",
                "start": {"uniform": ["0 s", "100 ms"]},
            }
        ],
    }
    for source in (small, str(small), content):
        assert longfat.run(source).scenario == run.scenario


@pytest.mark.parametrize(
    "changes",
    [{"link.bottleneck.rate": "20 Mbit/s"}, ["link.bottleneck.rate=20 Mbit/s"]],
)
def test_fields_are_set_before_the_check(changes: Any) -> None:
    changed = longfat.run(SMALL, set=changes)
    assert changed.summary["scenario"]["link"]["bottleneck"]["rate"] == "20 Mbit/s"
    assert sum(flow["goodput_bit_s"] for flow in changed.summary["flows"]) > 15e6


def test_set_takes_every_kind_of_value() -> None:
    changes = {
        "flow.forward.count": 3,
        "flow.forward.delayed_ack": True,
        "flow.forward.rtt": {"spread": ["20 ms", "30 ms"]},
    }
    run = longfat.run(SMALL, set=changes)
    assert [flow["rtt_s"] for flow in run.summary["flows"]] == [0.02, 0.025, 0.03]


def test_the_seed_decides() -> None:
    first, second = longfat.run(SMALL, seed=1), longfat.run(SMALL, seed=2)
    assert second.summary["seed"] == 2
    assert (
        first.flows.to_polars()["start_s"].to_list()
        != second.flows.to_polars()["start_s"].to_list()
    )


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    longfat.run(SMALL, progress=shares.append)
    assert shares
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_an_error_in_the_progress_callback_stops_the_run() -> None:
    def fail(_: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        longfat.run(SMALL, progress=fail)


def test_a_wrong_scenario_is_refused_with_its_place() -> None:
    with pytest.raises(longfat.ScenarioError) as caught:
        longfat.run(SMALL.replace("rate", "rat"))
    assert isinstance(caught.value, ValueError)
    assert "rat" in str(caught.value)
    assert "scenario:5" in str(caught.value)


def test_a_refusal_can_be_read_by_a_program() -> None:
    with pytest.raises(longfat.ScenarioError) as caught:
        longfat.run(SMALL.replace("rate", "rat"), set=["warmup=1"])
    wrong, unit = caught.value.diagnostics
    assert (wrong["message"], wrong["help"]) == (
        "`rat` is not a key of a link",
        "did you mean `rate`?",
    )
    assert (wrong["file"], wrong["override"]) == ("scenario", None)
    assert (wrong["line"], wrong["column"], wrong["length"]) == (5, 1, 3)
    assert unit["message"] == "`warmup` is a time, and the number 1 has no unit"
    assert (unit["file"], unit["override"]) == ("--set", 0)
    assert (unit["line"], unit["column"], unit["length"]) == (1, 8, 1)


def test_a_dictionary_that_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(longfat.ScenarioError, match="TOML") as caught:
        longfat.run({"duration": object()})
    assert caught.value.diagnostics == ()


def test_what_is_no_scenario_and_no_change_is_refused_in_words() -> None:
    with pytest.raises(longfat.ScenarioError, match="an empty text is neither the path of a scen"):
        longfat.run("")
    with pytest.raises(longfat.ScenarioError, match="a change is a text such as 'seed=2', not 1"):
        longfat.run(SMALL, set=["seed=2", 1])  # type: ignore[list-item]


def test_tables_go_to_other_processes_and_runs_say_what_can(run: longfat.Run) -> None:
    for table in (run.flows, run.link_series):
        copy = pickle.loads(pickle.dumps(table))  # noqa: S301 - made here
        assert isinstance(copy, longfat.Table)
        assert copy.to_polars().equals(table.to_polars())
    with pytest.raises(
        TypeError, match=r"a run cannot be pickled: .*`run\.summary`.*`longfat\.study`"
    ):
        pickle.dumps(run)


def test_a_missing_file_is_a_missing_file() -> None:
    with pytest.raises(FileNotFoundError):
        longfat.run("nowhere.toml")


def test_a_run_is_saved_whole(run: longfat.Run) -> None:
    folder = run.save()
    assert folder == Path("runs/scenario-1")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [
            ".longfat.json",
            "scenario.toml",
            "summary.json",
            *(f"{name}.parquet" for name in (*TABLES, "limits")),
        ]
    )
    assert json.loads((folder / "summary.json").read_text("utf-8")) == run.summary
    head, _, text = (folder / "scenario.toml").read_text("utf-8").partition("\n\n")
    assert head == f"# longfat {longfat.__version__}: scenario, with every default filled in."
    assert text == run.scenario
    for name in TABLES:
        assert pl.read_parquet(folder / f"{name}.parquet").equals(getattr(run, name).to_polars())


def test_what_is_saved_is_what_was_simulated(tmp_path: Path) -> None:
    run = longfat.run(SMALL)
    goodput = run.summary["flows"][0]["goodput_bit_s"]
    run.summary["flows"][0]["goodput_bit_s"] = -1
    saved = json.loads((run.save(tmp_path / "run") / "summary.json").read_bytes())
    assert saved["flows"][0]["goodput_bit_s"] == goodput


def test_the_same_run_writes_the_same_bytes(run: longfat.Run) -> None:
    first = run.save("first", pictures=True)
    second = longfat.run(SMALL).save("second", pictures=True)
    for path in first.iterdir():
        # One holds wall-clock times, and the other the checksum of the first.
        if path.name not in ("summary.json", ".longfat.json"):
            assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def printed(code: str) -> str:
    """What an interpreter of its own prints."""
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return finished.stdout.strip()


def test_importing_longfat_is_light() -> None:
    loaded = printed("import sys, longfat; print(*(name for name in sys.modules))").split()
    assert not {"click", "matplotlib", "msgspec", "numpy", "polars", "rich"} & set(loaded)
    ours = {name for name in loaded if name.startswith("longfat.")}
    assert ours == {"longfat._fork", "longfat._longfat", "longfat.errors", "longfat.units"}


def test_a_command_brings_only_what_it_needs() -> None:
    loaded = printed("import sys, longfat.commands; print(*(name for name in sys.modules))").split()
    other = {"attack", "conformance", "evaluate", "live", "paper", "playground", "results", "study"}
    assert not {f"longfat.{name}" for name in other} & set(loaded)


@pytest.mark.parametrize("name", longfat.__all__)
def test_every_name_is_there_when_it_is_asked_for(name: str) -> None:
    assert name in dir(longfat)
    getattr(longfat, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}x'"):
        getattr(longfat, f"{name}x")


def test_the_registries_describe_themselves() -> None:
    assert "reno" in [entry["name"] for entry in longfat.controllers()]
    families = groupby(longfat.controllers(), key=itemgetter("family"))
    for names in [[entry["name"] for entry in some] for _, some in families]:
        assert names == sorted(names)
    queues = [entry["name"] for entry in longfat.queues()]
    assert queues == sorted(queues)
    for entry in [*longfat.controllers(), *longfat.queues()]:
        assert entry["title"]
        assert entry["source"]
        for parameter in entry["parameters"]:
            assert {"name", "kind", "default", "minimum", "maximum", "words", "about"} <= set(
                parameter
            )
            assert parameter["about"]


@pytest.mark.parametrize("entry", longfat.controllers(), ids=itemgetter("name"))
def test_what_lists_say_a_controller_needs_is_all_it_is_refused_without(
    entry: dict[str, Any],
) -> None:
    plain = SMALL.replace('control = "reno"', f'control = "{entry["name"]}"\nsize = "1 MB"')
    needed = [f"link.bottleneck.queue={entry['queue']}"] if entry["queue"] else []
    if "access" in entry["needs"]:
        needed.append("flow.forward.access=5 Mbit/s")
    longfat.run(plain, set=needed, record=False)
    for without in range(len(needed)):
        with pytest.raises(longfat.ScenarioError):
            longfat.run(plain, set=needed[:without] + needed[without + 1 :], record=False)


def _without_engine(run: longfat.Run) -> dict[str, Any]:
    return {key: value for key, value in run.summary.items() if key != "engine"}


def test_a_scenario_tells_its_quantities_as_numbers() -> None:
    text = SMALL + (
        '\n[[traffic]]\nname = "web"\ncontrol = "reno"\npath = ["bottleneck"]\nreverse = true\n'
        'rtt = "20 ms"\npacket = "500 B"\narrivals = { poisson = "2 /s" }\n'
        'size = { pareto = { mean = "30 packets", shape = 1.5 } }\nstop = "3 s"\n'
    )
    red = '{ kind = "red", mode = "bytes" }'
    run = longfat.run(text, set=[f"link.bottleneck.queue={red}"], record=False)
    given = run.quantities
    assert (given.duration_ps, given.warmup_ps) == (4 * 10**12, 10**12)
    assert given.measured_s == 3.0
    assert list(given.groups) == ["forward", "web"]
    link = given.links["bottleneck"].forward
    # 10 Mbit/s · 20 ms is 25 kB; RED's thresholds are a tenth and three tenths of that.
    assert (link.rate_bit_s, link.delay_ps) == (10_000_000, 5 * 10**9)
    assert (link.buffer, link.unit) == (25_000, "bytes")
    assert (link.queue["min"], link.queue["max"]) == (2500.0, 7500.0)
    web = given.groups["web"]
    assert (web.short, web.crossed) == (True, {"bottleneck": True})
    assert (web.packet_bytes, web.size_bytes, web.count) == (500, 15_000.0, None)
    assert web.stop_ps == 3 * 10**12
    assert given.groups["forward"].count == 2
    assert given.groups["forward"].stop_ps is None


def test_every_public_name_is_there_without_another_import() -> None:
    code = (
        "import longfat, types\n"
        "missing = [name for name in longfat.__all__ if not hasattr(longfat, name)]\n"
        "assert not missing, missing\n"
        "modules = [m for m in vars(longfat).values() if isinstance(m, types.ModuleType)]\n"
        "for module in modules:\n"
        "    for name in getattr(module, '__all__', ()):\n"
        "        assert hasattr(module, name), (module, name)\n"
        "print(len(modules), hasattr(longfat, 'plots'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, misspelt = done.stdout.split()
    assert int(count) >= 10
    assert misspelt == "False"
