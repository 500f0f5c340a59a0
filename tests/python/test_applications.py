"""Applications and lists of flows, from Python: tables, summaries, what is printed, and Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import longfat
from longfat.scenario import Template
from longfat.study import study

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command


@pytest.fixture(name="command")
def _command(longfat: Command) -> Command:
    """The command line, by a name that leaves the package its own."""
    return longfat


LINK = """\
duration = "4 s"
warmup = "1 s"
[link.access]
rate = "8 Mbit/s"
delay = "5 ms"
"""

CLIENTS = (
    LINK
    + """
[[flow]]
name = "calls"
control = "cubic"
count = 2
path = ["access"]
rtt = "20 ms"
application = { kind = "request-response", response = "20 kB", think = { exponential = "50 ms" } }
[[flow]]
name = "film"
control = "cubic"
path = ["access"]
rtt = "20 ms"
application = { kind = "video", ladder = ["500 kbit/s", "2 Mbit/s"], chunk = "500 ms", buffer = "3 s" }
[[flow]]
name = "voice"
control = "reno"
path = ["access"]
rtt = "20 ms"
packet = "200 B"
application = { kind = "constant", rate = "80 kbit/s" }
"""
)

LISTED = (
    LINK
    + """
[[traffic]]
name = "listed"
control = "reno"
path = ["access"]
rtt = "20 ms"
replay = "flows.{kind}"
"""
)


def test_what_clients_were_given_is_a_table() -> None:
    run = longfat.run(CLIENTS)
    told = run.summary["applications"]
    frame = run.exchanges.to_polars()
    calls = frame.filter(
        (pl.col("group") == "calls") & (pl.col("start_s") + pl.col("response_s") >= 1)
    )
    assert told["calls"]["completed"] == calls.height > 20
    mean = calls["response_s"].mean()
    assert told["calls"]["response_s"]["mean"] == pytest.approx(mean, rel=1e-9)
    assert set(calls["index"]) == {0, 1}
    assert calls["bit_rate_bit_s"].null_count() == calls.height
    film = frame.filter(pl.col("group") == "film")
    assert film.filter(pl.col("buffer_s") > 3).height == 0
    assert set(film["bit_rate_bit_s"]) <= {5e5, 2e6}
    assert told["voice"]["goodput_bit_s"] == pytest.approx(80e3, rel=0.01)
    assert run.table("exchanges").equals(frame)


def test_a_run_without_applications_says_nothing_of_them() -> None:
    run = longfat.run(
        CLIENTS, set={"flow.0.application": "none", "flow.1.application": "none"}, record=False
    )
    assert list(run.summary["applications"]) == ["voice"]
    assert run.exchanges.to_polars().height == 0
    plain = longfat.run(
        CLIENTS, set={f"flow.{at}.application": "none" for at in range(3)}, record=False
    )
    assert "applications" not in plain.summary
    with pytest.raises(KeyError, match="exchanges"):
        _ = plain.exchanges


def test_the_command_prints_and_writes_what_applications_saw(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "clients.toml").write_text(CLIENTS, "utf-8")
    done = command("run", tmp_path / "clients.toml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for word in ("calls", "request-response", "response", "film", "chunk", "stalled", "delay"):
        assert word in done.stdout
    written = pl.read_parquet(tmp_path / "out/exchanges.parquet")
    assert written.height > 20
    again = longfat.run(tmp_path / "out/scenario.toml")
    assert again.table("exchanges").equals(written)


def test_a_list_is_the_same_as_text_and_as_parquet(tmp_path: Path) -> None:
    flows = pl.DataFrame(
        {
            "time_s": [0.0, 0.25, 0.5, 1.1],
            "remark": ["left", "out", "of", "it"],
            "size_bytes": [1500, 300_000, 10, 70_000],
            "control": ["cubic", None, None, "cubic"],
            "rtt": [None, "40 ms", None, None],
        }
    )
    flows.write_parquet(tmp_path / "flows.parquet")
    flows.drop("remark").write_csv(tmp_path / "flows.csv")
    runs = {}
    for kind in ("csv", "parquet"):
        path = tmp_path / f"{kind}.toml"
        path.write_text(LISTED.format(kind=kind), "utf-8")
        runs[kind] = longfat.run(path)
    assert runs["csv"].scenario == runs["parquet"].scenario
    transfers = runs["csv"].transfers.to_polars().sort("index")
    assert transfers["start_s"].to_list() == [0.0, 0.25, 0.5, 1.1]
    assert transfers["packets"].to_list() == [1, 200, 1, 47]
    again = longfat.run(runs["csv"].scenario)
    assert again.table("transfers").equals(runs["parquet"].table("transfers"))


def test_what_is_wrong_in_a_parquet_file_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "parquet.toml"
    path.write_text(LISTED.format(kind="parquet"), "utf-8")
    (tmp_path / "flows.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(longfat.ScenarioError, match="not a Parquet file"):
        longfat.run(path)
    flows = pl.DataFrame({"time_s": [0.0, 1.0], "size_bytes": [1500, -1]})
    flows.write_parquet(tmp_path / "flows.parquet")
    with pytest.raises(longfat.ScenarioError, match=r"flows\.parquet:3:5") as caught:
        longfat.run(path)
    assert "not a whole number of bytes" in str(caught.value)


DAMAGE = {
    "a length before the first value": {12: 9},
    "the length of the schema": {-8: 255},
    "a length in the schema": {-60: 255, -61: 255},
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_parquet_file_is_refused_and_ends_nothing(
    command: Command, tmp_path: Path, damage: dict[int, int]
) -> None:
    """By the first of them its reader asks for more memory than there is, which ends the process it is in."""
    (tmp_path / "damaged.toml").write_text(LISTED.format(kind="parquet"), "utf-8")
    path = tmp_path / "flows.parquet"
    pl.DataFrame({"time_s": [0.0, 1.0], "size_bytes": [100, 200]}).write_parquet(path)
    content = bytearray(path.read_bytes())
    for place, value in damage.items():
        content[place] = value
    path.write_bytes(content)
    done = command("run", tmp_path / "damaged.toml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("error: this list cannot be read: ")
    assert "Parquet file" in done.stderr
    assert "panicked" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_name_of_a_list_is_no_pattern(tmp_path: Path) -> None:
    for name, size in (("[f]lows", 1500), ("flows", 150_000)):
        pl.DataFrame({"time_s": [0.0], "size_bytes": [size]}).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    scenario = LISTED.format(kind="parquet").replace("flows.", "[f]lows.")
    (tmp_path / "named.toml").write_text(scenario, "utf-8")
    transfers = longfat.run(tmp_path / "named.toml").transfers.to_polars()
    assert transfers["packets"].to_list() == [1]


def test_a_scenario_that_is_read_many_times_reads_its_parquet_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def once(path: Path, *_: object, **__: object) -> str:
        read.append(path)
        return "time_s,size_bytes\n0,1500\n"

    monkeypatch.setattr("longfat.parquet.csv_of", once)
    (tmp_path / "flows.parquet").touch()
    (tmp_path / "many.toml").write_text(LISTED.format(kind="parquet"), "utf-8")
    template = Template(tmp_path / "many.toml")
    assert [template.read(seed=seed).seed for seed in (1, 2, 3)] == [1, 2, 3]
    assert read == [tmp_path / "flows.parquet"]


def test_the_fluid_model_says_why_it_does_not_take_them(tmp_path: Path) -> None:
    with pytest.raises(longfat.FluidError, match="has an application"):
        longfat.fluid(CLIENTS.replace("cubic", "reno"))
    (tmp_path / "flows.csv").write_text("time_s,size_bytes\n0,1\n", "utf-8")
    bulk = '[[flow]]\nname = "bulk"\ncontrol = "reno"\npath = ["access"]\nrtt = "20 ms"\n'
    (tmp_path / "csv.toml").write_text(LISTED.format(kind="csv") + bulk, "utf-8")
    with pytest.raises(longfat.FluidError, match="replays a list"):
        longfat.fluid(tmp_path / "csv.toml")


def test_a_study_has_what_applications_wait_for(own_folder: Path) -> None:
    """Under the paths of the summary, also where the runs of a study have different applications."""
    (own_folder / "clients.toml").write_text(CLIENTS, "utf-8")
    films = [
        {"kind": "constant", "rate": "80 kbit/s"},
        {"kind": "video", "ladder": ["500 kbit/s"], "chunk": "500 ms", "buffer": "3 s"},
    ]
    waited, rate = "applications.calls.response_s.p99", "applications.film.bit_rate_bit_s"
    key = "flow.film.application"
    given = {
        "scenario": "clients.toml",
        "seeds": 1,
        "vary": {key: films},
        "plot": [{"x": key, "y": waited}, {"x": key, "y": rate}],
        "derive": {"ms": f'1000 * "{waited}"'},
    }
    found = study(given, workers=1)
    assert found.failed == 0
    summary = longfat.run("clients.toml", set={key: films[1]}).summary["applications"]
    last = found.rows.row(1, named=True)
    assert last[waited] == summary["calls"]["response_s"]["p99"]
    assert last["ms"] == 1000 * last[waited]
    assert last[rate] == summary["film"]["bit_rate_bit_s"] == 500_000
    assert found.rows[rate].to_list()[0] is None
    of = [name.partition(".")[0] for name in found.numbers]
    assert list(dict.fromkeys(of)) == ["links", "flows", "applications", "jain", "engine", "ms"]
    assert waited in (found.folder / "table.csv").read_text("utf-8").splitlines()[0]
