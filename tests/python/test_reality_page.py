"""The page on real networks: its tables are those of what was measured, and what differs has its reason."""

from __future__ import annotations

import pytest

import reality


def rows(verdict: str) -> list[tuple[str, str]]:
    return [
        (row["cell"], name)
        for row in reality.kept()
        for name, finding in row["findings"].items()
        if finding["verdict"] == verdict
    ]


@pytest.mark.parametrize("name", [*reality.STACKS, "beginnings"])
def test_the_table_is_that_of_the_measurements(name: str) -> None:
    text = reality.PAGE.read_text("utf-8")
    told = text.split(reality.BEGIN.format(name))[1].split(reality.END.format(name))[0]
    assert told == reality.tables(reality.kept())[name], "bench/reality/reality.py writes it"
    assert told.count("\n") > 2


def test_cubic_begins_as_in_linux() -> None:
    # Its first three responses, where the program that sends keeps up from the first round trip on.
    for rtt in ("40ms", "100ms"):
        (row,) = (row for row in reality.kept() if row["cell"] == f"200M-{rtt}-linux-cubic-1")
        both = (row["responses"][which][:3] for which in ("measured", "simulated"))
        for (time, window), (simulated, there) in zip(*both, strict=True):
            assert time == pytest.approx(simulated, abs=0.2)
            assert window == pytest.approx(there, rel=0.005)


def test_what_differs_is_named_with_its_reason() -> None:
    reasons = reality.PAGE.read_text("utf-8").partition("## Where they differ")[2]
    assert reasons
    for cell, name in rows("differs"):
        assert f"`{cell}`" in reasons, f"{name} of {cell} differs, and nothing is said of it"


def test_nothing_that_the_link_refused_was_kept() -> None:
    for row in reality.kept():
        bound = int(row["rtt"].removesuffix("ms")) / 1000 / 100
        assert row["lateness"]["p99"] <= bound, row["cell"]
        assert {"window_mean", "throughput_bit_s", "epoch_s"} <= row["findings"].keys()


def test_most_agree() -> None:
    assert len(rows("agrees")) > 5 * len(rows("differs"))


def test_one_version_of_linux_was_measured() -> None:
    # What follows the version tells one build of it from another.
    (version,) = {row["kernel"].partition("-")[0] for row in reality.kept()}
    assert f"\nLinux {version.rpartition('.')[0]} " in reality.PAGE.read_text("utf-8")
