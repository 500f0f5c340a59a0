from __future__ import annotations

import pytest

import longfat
from longfat.fiber import _segments


@pytest.mark.parametrize(
    ("rate", "packet", "loss"),
    [
        ("100 Gbit/s", "1000 B", 9.6e-13),  # section I: "of 10^-12"
        ("10 Mbit/s", "1500 B", 2.16e-4),  # section III.A: 2 x 10^-4
    ],
)
def test_losses_of_tcp_are_those_of_the_paper(rate: str, packet: str, loss: float) -> None:
    assert 1.5 / _segments(rate, "100 ms", packet) ** 2 == pytest.approx(loss, rel=0.01)


def test_the_example_of_the_paper_has_a_smaller_alpha() -> None:
    """100 Gbit/s is 833 333 segments, so alpha is at most 1.2e-6: the paper's 2e-6 loses control."""
    # Two orders of magnitude above the fibre.
    alpha = longfat.fiber_alpha("100 Gbit/s", "100 ms", "1500 B", 1e-9, "10 Mbit/s")
    assert alpha == pytest.approx(1e-7)
    # With more corruption the bound of control decides.
    bound = longfat.fiber_alpha("100 Gbit/s", "100 ms", "1500 B", 5e-8, "10 Mbit/s")
    assert bound == pytest.approx(1.2e-6)
    # On the slower path friendliness is the bound: a tenth of 2.16e-4.
    friendly = longfat.fiber_alpha("1 Gbit/s", "100 ms", "1500 B", 1e-6, "10 Mbit/s")
    assert friendly == pytest.approx(2.16e-5)


def test_the_packet_simulations_of_the_paper_are_not_friendly() -> None:
    """100 Mbit/s and 1e-5: alpha >= 1e-4, half of the 2.16e-4 that TCP meets at 10 Mbit/s."""
    with pytest.raises(
        ValueError, match=r"no alpha will do: .* at least 0\.0001, but to be friendly"
    ):
        longfat.fiber_alpha("100 Mbit/s", "100 ms", "1500 B", 1e-5, "10 Mbit/s")
    assert longfat.fiber_alpha("100 Mbit/s", "100 ms", "1500 B", 1e-5, "2 Mbit/s") > 1e-4


def test_control_is_a_reason_too() -> None:
    with pytest.raises(ValueError, match=r"keep control of 8.33e\+05 segments at 100 Gbit/s"):
        longfat.fiber_alpha("100 Gbit/s", "100 ms", "1500 B", 1e-6, "1 Mbit/s")
    with pytest.raises(ValueError, match=r"friendly below .* and to keep control"):
        longfat.fiber_alpha("100 Gbit/s", "100 ms", "1500 B", 1e-5, "10 Mbit/s")


@pytest.mark.parametrize("loss", [0.0, -1e-9, 1.0, float("nan")])
def test_a_fibre_that_loses_nothing_needs_no_bound(loss: float) -> None:
    with pytest.raises(ValueError, match="alpha = 0 is Reno"):
        longfat.fiber_alpha("1 Gbit/s", "100 ms", fibre_loss=loss)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (("0 Gbit/s", "100 ms"), "nothing is in flight at 0 Gbit/s"),
        (("10 Gbit/s", "0 ms"), "a round trip of 0 ms"),
        (("10 Gbit/s", "100 ms", "0 B"), "a packet of 0 B is none"),
    ],
)
def test_a_path_that_carries_nothing_is_refused(path: tuple[str, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        longfat.fiber_alpha(*path)  # type: ignore[arg-type]


def test_quantities_have_units() -> None:
    with pytest.raises(ValueError, match="did you mean"):
        longfat.fiber_alpha("1 gbit/s", "100 ms")
    with pytest.raises(ValueError, match="less than one packet"):
        longfat.fiber_alpha("1 Gbit/s", "1 ms", friendly_below="1 Mbit/s")
