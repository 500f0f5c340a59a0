"""What `make fast` learns from: everything it names is there, and is a good scenario."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

from longfat import _longfat
from support import ROOT

if TYPE_CHECKING:
    import pytest


def test_every_run_is_a_good_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[_longfat.Scenario] = []
    recorded: list[bool] = []

    def simulate(scenario: _longfat.Scenario, *, record: bool) -> None:
        seen.append(scenario)
        recorded.append(record)

    monkeypatch.setattr(_longfat, "simulate", simulate)
    training = runpy.run_path(str(ROOT / "bench/training.py"), run_name="__main__")
    shipped = list((ROOT / "scenarios").glob("*.toml"))
    others = training["SECONDS"].keys() | {*training["CONTROLLERS"], *training["RECOVERIES"]}
    assert recorded == [True] * len(shipped) + [False] * (len(others) + 1)
    assert all(0 < each.warmup_s < each.duration_s for each in seen[len(shipped) :])
