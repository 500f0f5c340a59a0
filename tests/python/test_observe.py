"""Variables of controllers: in the series, in the result folder, in pictures, and in the reference."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import longfat
from support import ROOT, SMALL, Command

OBSERVED = {"observe": True}
ROW = re.compile(r"^\| (`[^|]+|window laws) \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`([a-z_]+)`")
SENDS_WITHOUT_WINDOW = {"blitz"}
NEEDS = {
    "xcp": {"link.bottleneck.queue": "xcp", "flow.0.access": "1 Gbit/s"},
    "vcp": {"link.bottleneck.queue": "vcp"},
    "decbit": {"link.bottleneck.queue": "decbit"},
    "prague": {"flow.0.ecn_feedback": "accurate"},
    "sized-start": {"flow.0.access": "1 Gbit/s", "flow.0.size": "1 MB"},
}


def test_variables_are_columns_by_their_names() -> None:
    run = longfat.run(SMALL, set={"flow.0.control": "cubic", **OBSERVED})
    assert set(run.variables) == {"w_max", "k", "w_est"}
    series = run.flow_series.to_polars().drop_nulls("w_max")
    # CUBIC leaves 0.7 of the window at a loss, and comes back to where it was after K (RFC 9438).
    at_its_start = series.filter(pl.col("window") < 0.75 * pl.col("w_max"))
    assert at_its_start.height > 0
    assert (series["window"] > 0.5 * series["w_max"]).all()


def test_nothing_else_changes() -> None:
    plain, observed = longfat.run(SMALL), longfat.run(SMALL, set=OBSERVED)
    assert plain.variables == []
    assert plain.summary["flows"] == observed.summary["flows"]
    assert "observe" not in plain.scenario
    assert "observe = true" in observed.scenario
    both = plain.flow_series.columns
    told = observed.flow_series.to_polars().select(both)
    assert told.equals(plain.flow_series.to_polars())


def test_the_result_folder_has_them() -> None:
    longfat.run(SMALL, set=OBSERVED).save("kept")
    kept = pl.read_parquet("kept/flow_series.parquet")
    assert kept["epoch_window"].drop_nulls().len() > 0
    again = longfat.run("kept/scenario.toml")
    assert again.flow_series.to_polars().equals(
        longfat.run(SMALL, set=OBSERVED).flow_series.to_polars()
    )


def test_a_picture_has_a_panel_for_each_variable_that_changes() -> None:
    run = longfat.run(SMALL, set={"flow.0.control": "bbr3", "duration": "10 s", **OBSERVED})
    labels = [axes.get_ylabel() for axes in run.plot().axes]
    assert "bw" in labels
    assert "idle_restart" not in labels, "it never changes"
    assert len([label for label in labels if label in run.variables]) == 8
    figure = run.plot("chosen.png", variables=["inflight_longterm"])
    assert Path("chosen.png").stat().st_size > 10_000
    panel = next(axes for axes in figure.axes if axes.get_ylabel() == "inflight_longterm")
    assert panel.get_shared_x_axes().joined(panel, figure.axes[0])
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in panel.lines])
    assert not np.isinf(drawn).any(), "what has no bound has no line"
    assert panel.get_xlabel() == "time (s)"


def test_a_variable_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"`w_max`.*observe"):
        longfat.run(SMALL).plot(variables=["w_max"])
    with pytest.raises(ValueError, match="`w_max`: it has epoch_window"):
        longfat.run(SMALL, set=OBSERVED).plot(variables=["w_max"])


def test_the_command_draws_and_writes_them(longfat: Command) -> None:
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    done = longfat(
        "run", "small.toml", "--set", "observe=true", "--plot", "--quiet", "--out", "own"
    )
    assert done.returncode == 0, done.stderr
    assert "epoch_window" in pl.read_parquet_schema("own/flow_series.parquet")
    assert "epoch_window" in Path("own/run.svg").read_text("utf-8")
    wrong = longfat("run", "small.toml", "--set", 'observe="yes"')
    assert wrong.returncode == 2
    assert "true or false" in wrong.stderr


def documented() -> dict[str, set[str]]:
    text = (ROOT / "docs/guides/results.md").read_text("utf-8")
    section = text.split("#### Variables of controllers")[1].split("\n### ")[0]
    rows = {}
    for names, variables in ROW.findall(section):
        for name in re.findall(r"`([^`]+)`", names) or [names]:
            rows[name] = set(NAME.findall(variables))
    return rows


@pytest.mark.parametrize("control", [each["name"] for each in longfat.controllers()])
def test_the_reference_has_the_variables_of_each_controller(control: str) -> None:
    if control in SENDS_WITHOUT_WINDOW:
        pytest.skip("it has no window, and nothing to show")
    path = {"link.bottleneck.queue": "step", "duration": "20 s"} | NEEDS.get(control, {})
    shown = set(longfat.run(SMALL, set={**path, "flow.0.control": control, **OBSERVED}).variables)
    rows = documented()
    expected = rows.get(control, rows["window laws"])
    if control not in rows:
        assert shown <= expected
    else:
        assert shown == expected
