from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import longfat as package
from longfat.results._transfers import TransferFile

if TYPE_CHECKING:
    from support import Command

WEB = """\
duration = "20 s"

[link.bottleneck]
rate = "100 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"

[[traffic]]
name = "web"
control = "reno"
path = ["bottleneck"]
arrivals = { poisson = "RATE /s" }
size = { exponential = { mean = "3 packets" } }
rtt = { uniform = ["10 ms", "20 ms"] }
profile = "ns2-2005"
"""


def test_short_flows_are_told_and_kept(longfat: Command) -> None:
    Path("web.toml").write_text(WEB.replace("RATE", "200"), "utf-8")
    done = longfat("run", "web.toml", "--out", "web", "--json")
    assert done.returncode == 0, done.stderr
    web = json.loads(done.stdout)["traffic"]["web"]
    transfers = pl.read_parquet("web/transfers.parquet")
    assert transfers.height == web["arrived"]
    assert transfers["completion_s"].count() == web["completed"]
    assert set(transfers["group"]) == {"web"}
    assert abs(transfers["completion_s"].mean() / web["completion_s"]["mean"] - 1) < 1e-9


def test_a_table_names_the_short_flows(longfat: Command) -> None:
    Path("web.toml").write_text(WEB.replace("RATE", "200"), "utf-8")
    done = longfat("run", "web.toml")
    assert done.returncode == 0, done.stderr
    assert "short flows" in done.stdout
    assert "web" in done.stdout


def test_many_transfers_are_written_in_parts_and_joined(longfat: Command) -> None:
    # Enough for several parts of a hundred thousand rows.
    Path("web.toml").write_text(
        WEB.replace("RATE", "12000").replace("3 packets", "1 packets"), "utf-8"
    )
    done = longfat(
        "run", "web.toml", "--out", "web", "--json", "--set", "link.bottleneck.rate=1 Gbit/s"
    )
    assert done.returncode == 0, done.stderr
    completed = json.loads(done.stdout)["traffic"]["web"]["completed"]
    transfers = pl.read_parquet("web/transfers.parquet")
    assert completed > 200_000
    assert transfers["completion_s"].count() == completed
    assert not list(Path("web").glob(".transfers*")), "the parts are gone"
    # The same rows as a run that keeps them all in memory.
    run = package.run("web.toml", set={"link.bottleneck.rate": "1 Gbit/s"})
    whole = run.transfers.to_polars()
    assert transfers["start_s"].equals(whole["start_s"])
    assert transfers["completion_s"].equals(whole["completion_s"])


def test_transfers_in_parts_are_in_the_order_of_all_others(longfat: Command) -> None:
    text = """
duration = "40 s"
[link.a]
rate = "1 Gbit/s"
delay = "1 ms"
[[flow]]
name = "long"
control = "reno"
path = ["a"]
rtt = "5 ms"
size = "100 packets"
count = 3
"""
    for name, start in (("zeta", "0 s"), ("alpha", "10 s")):
        text += f"""
[[traffic]]
name = "{name}"
control = "reno"
path = ["a"]
rtt = "5 ms"
start = "{start}"
arrivals = {{ poisson = "4000 /s" }}
size = "1 packets"
"""
    Path("several.toml").write_text(text, "utf-8")
    done = longfat("run", "several.toml", "--out", "several", "--quiet")
    assert done.returncode == 0, done.stderr
    written = pl.read_parquet("several/transfers.parquet")
    whole = package.run("several.toml").transfers.to_polars()
    assert written.height > 200_000
    assert list(written["group"].unique(maintain_order=True)) == ["long", "zeta", "alpha"]
    texts = pl.col("group").cast(pl.String)
    assert written.with_columns(texts).equals(whole.with_columns(texts))


def test_a_run_without_parts_writes_the_file_at_once(tmp_path: Path) -> None:
    run = package.run(WEB.replace("RATE", "50"))
    TransferFile(tmp_path).finish(run.transfers, ["web"])
    assert pl.read_parquet(tmp_path / "transfers.parquet").height == len(run.transfers)
