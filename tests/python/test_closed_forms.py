"""Queueing theory and TCP's throughput formulas, with numbers from books and papers: docs/closed-forms.md.

No tolerance is chosen. A mean over seeds has a confidence interval, here of 99.9 %, since there are many; the
theory must lie within, and the 95 % interval must be narrow enough to tell: 2 % for queues.
"""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from longfat.study import Estimate, t_quantile
from longfat_forms import laws
from longfat_forms.experiments import Experiment, Found, buffers, losses, queues, run, shares, small
from longfat_forms.report import COMMAND, TABLES, filled
from support import ROOT

SURE = 0.999


def half(found: Estimate, confidence: float = SURE) -> float:
    assert found.half_width is not None
    assert found.n > 1
    return found.half_width * t_quantile(found.n - 1, confidence) / t_quantile(found.n - 1)


def mean(found: Estimate) -> float:
    assert found.mean is not None
    return found.mean


def agrees(found: Found, *, within: float) -> None:
    """Theory lies in the interval of 99.9 %, and the one of 95 % is no wider than it may be."""
    for what, theory in found.experiment.theory.items():
        value = found.values[what]
        told = f"{found.experiment.name}: {what} {value}, {theory} by theory"
        assert half(value, 0.95) <= within * theory, f"too few seeds to tell: {told}"
        assert abs(mean(value) - theory) <= half(value), told


def test_the_page_has_the_tables_of_the_committed_rows() -> None:
    rows = json.loads((ROOT / "bench/closed-forms.json").read_text("utf-8"))
    page = (ROOT / "docs/closed-forms.md").read_text("utf-8")
    tables = {name: made(rows) for name, made in TABLES.items()}
    assert filled(page, tables, COMMAND) == page
    # Each law has a table, and each row is in one.
    assert {row["law"] for row in rows} == set(TABLES)


def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for `queues`"):
        filled("# Closed forms\n", {"queues": ""}, COMMAND)


def test_laws_give_the_numbers_of_their_sources() -> None:
    # Kleinrock 1975: M/D/1 waits half as long as M/M/1, at 1/2 a quarter and a half; at 9/10 4.05 and 8.1.
    assert laws.waiting(0.9) == pytest.approx(4.05)
    assert laws.waiting(0.9, laws.LAGUERRE) == pytest.approx(8.1)
    moments = [sum(share * x**k for x, share in laws.LAGUERRE) for k in range(8)]
    assert moments == pytest.approx([1, 1, 2, 6, 24, 120, 720, 5040])
    # Appenzeller, Keslassy, McKeown 2004: a buffer of once and twice D/√n for 10 000 flows.
    assert [laws.small_buffer(10_000, size) for size in (1.0, 2.0)] == pytest.approx(
        [0.9899, 0.9997], abs=3e-4
    )
    # Padhye et al. 1998: where time-outs are rare √(3/2p) packets per round trip, and the two forms agree.
    assert laws.pftk(1e-7, 0.1, 0.1) * 0.1 * 1e-7**0.5 == pytest.approx(1.5**0.5, rel=2e-3)
    for p in (0.001, 0.003, 0.01, 0.02, 0.03):
        assert laws.pftk(p, 0.1, 1.0) == pytest.approx(laws.pftk_short(p, 0.1, 1.0), rel=0.015)


# Queues


@pytest.mark.long
def test_packets_that_arrive_at_random_wait_as_in_a_textbook() -> None:
    for found in run(queues((0.3, 0.6), seconds=600), 6):
        agrees(found, within=0.02)


@pytest.mark.long
def test_packets_that_arrive_at_random_wait_as_in_a_textbook_even_at_high_load() -> None:
    for found in run(queues(), 16):
        agrees(found, within=0.02)


def test_an_experiment_that_is_wrong_would_be_found() -> None:
    (right,) = run(queues((0.6,), seconds=600)[:1], 6)
    wrong = {name: 1.04 * theory for name, theory in right.experiment.theory.items()}
    experiment = Experiment("queues", "wrong", {}, right.experiment.measure, wrong, {})
    with pytest.raises(AssertionError, match="by theory"):
        agrees(Found(experiment, right.values), within=0.02)


# Sharing


@pytest.mark.long
def test_transfers_with_large_windows_share_the_processor() -> None:
    equal, exponential = run(shares((0.5,), seconds=500)[:2], 6)
    agrees(equal, within=0.02)
    agrees(exponential, within=0.04)


@pytest.mark.long
def test_transfers_share_the_processor_whatever_their_sizes() -> None:
    for found in run(shares(), 8):
        agrees(found, within=0.03)


# Losses


def test_independent_losses_leave_more_than_the_formula_and_less_than_no_timeouts() -> None:
    chosen = [each for each in losses(4000) if each.at["recovery"] and each.at["p"] >= 0.01]
    ratios = []
    for found in run(chosen, 4):
        p, formula = found.experiment.at["p"], found.experiment.theory["packets_per_s"]
        rate = found.values["packets_per_s"]
        assert formula < mean(rate) - half(rate), found
        assert mean(rate) + half(rate) < laws.SQUARE_ROOT / (0.1 * p**0.5), found
        ratios.append(mean(rate) / formula)
    # The more losses, the more of those that the formula takes together come apart.
    assert all(one < other for one, other in pairwise(ratios)), ratios


# Small buffers


def test_flows_that_keep_apart_need_a_buffer_over_the_root_of_their_number() -> None:
    chosen = [each for each in buffers() if each.at["window"] == 12 and each.at["flows"] <= 64]
    for found in run([each for each in chosen if each.at["buffers"] <= 1], 5):
        used = found.values["utilisation"]
        assert mean(used) - half(used, 0.95) >= found.experiment.theory["utilisation"], found


@pytest.mark.long
def test_the_rule_holds_as_far_as_flows_keep_apart() -> None:
    apart = [small(n, size, 12) for n in (256, 1024) for size in (0.5, 1.0)]
    for found in run(apart, 5):
        used, in_step = found.values["utilisation"], found.values["in_step"]
        assert mean(used) - half(used, 0.95) >= found.experiment.theory["utilisation"], found
        assert mean(in_step) + half(in_step, 0.95) <= 1.25, found
    (together,) = run([small(256, 1.0, 50)], 5)
    used, in_step = together.values["utilisation"], together.values["in_step"]
    assert mean(in_step) - half(in_step, 0.95) > 1.5, together
    assert mean(used) + half(used, 0.95) < together.experiment.theory["utilisation"], together
