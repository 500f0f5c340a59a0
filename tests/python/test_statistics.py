from __future__ import annotations

import math

import polars as pl
import pytest

from longfat.study import Estimate, estimate, t_quantile
from longfat.study._differences import differences


@pytest.mark.parametrize(
    ("freedom", "published"),
    # Abramowitz and Stegun, table 26.10: two-sided 95 %.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (120, 1.980)],
)
def test_the_quantiles_are_the_published_ones(freedom: int, published: float) -> None:
    assert t_quantile(freedom) == pytest.approx(published, abs=5e-4)


def test_one_degree_of_freedom_is_a_cauchy_distribution() -> None:
    assert t_quantile(1, 0.99) == pytest.approx(math.tan(0.99 * math.pi / 2), rel=1e-12)


def test_many_degrees_of_freedom_are_nearly_normal() -> None:
    assert t_quantile(100_001) == pytest.approx(1.959964, abs=1e-4)


def test_equal_values_are_certain() -> None:
    # A third of 0.1 + 0.1 + 0.1 is more than 0.1.
    assert estimate([0.1] * 3) == Estimate(0.1, 0.0, 3)
    assert repr(estimate([5, 5]).mean) == "5.0", "no whole number, since others are none"
    assert estimate([5.0, 5.0, 5.0]) == Estimate(5.0, 0.0, 3)


def test_little_is_known_from_little() -> None:
    assert estimate([]) == Estimate(None, None, 0)
    assert estimate([None, 2.0]) == Estimate(2.0, None, 1)


def test_the_largest_numbers_have_a_mean() -> None:
    """Squares of 1e300 and sums of 1.7e308 are beyond all numbers;
    with one degree of freedom half the interval is 12.706 · s/√2, and s is 1e300/√2."""
    found = estimate([1e300, 2e300])
    assert found.mean == 1.5e300
    assert found.half_width == pytest.approx(12.706 * 0.5e300, rel=1e-4)
    assert estimate([1.7e308, 1.7e308]) == Estimate(1.7e308, 0.0, 2)


def test_the_smallest_numbers_have_an_interval() -> None:
    """Squares of 1e-300 are 0, which would be certainty; by hand as above."""
    found = estimate([1e-300, 2e-300])
    assert found.mean == 1.5e-300
    assert found.half_width == pytest.approx(12.706 * 0.5e-300, rel=1e-4)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_a_paired_comparison_knows_no_unit(unit: float) -> None:
    """Differences 1, 1.1 and 0.9: t = 1/(0.1/√3) = 17.3 with two degrees of freedom, so p = 0.0033."""
    x = [1.0, 1.1, 1.2, 2.0, 2.2, 2.1]
    rows = pl.DataFrame(
        {"k": [*"aaabbb"], "seed": [1, 2, 3] * 2, "x": [unit * value for value in x]}
    )
    found = differences(rows, ["k"], "x", "k")
    assert found["p"].to_list() == pytest.approx([0.0033], abs=5e-5)
    assert found["verdict"].to_list() == ["greater"]


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_has_no_mean(value: float) -> None:
    for values in ([value], [1.0, value], [math.inf, -math.inf, value]):
        found = estimate(values)
        assert found.mean is not None
        assert math.isnan(found.mean)
        assert found.n == len(values)


def test_no_freedom_is_refused() -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        t_quantile(0)
