"""The parameter of the controller for fibre error rates."""

from __future__ import annotations

from longfat._longfat import quantity
from longfat.scenario import PICOSECONDS

MARGIN = 10
"""Kavak and Kunniyur: alpha lies an order of magnitude or two above the losses of the fibre, and one below the
marks that TCP meets where the flow is to be friendly."""

AMPLE = 100
"""Two orders of magnitude: corruption by the fibre then costs a hundredth of the growth."""


def fiber_alpha(
    rate: str,
    rtt: str,
    packet: str = "1500 B",
    fibre_loss: float = 1e-9,
    friendly_below: str = "10 Mbit/s",
) -> float:
    """Chooses `alpha` of the controller `fiber` for a path, or says why there is none.

    Three bounds, two of them from the paper (section III.A):

    - alpha is at least 10 times `fibre_loss`, so that corruption by the fibre is lost in the noise;
    - alpha is at most a tenth of 1.5/w^2, the loss rate that TCP meets at `friendly_below` with w segments per
      round trip, so that the flow takes hardly more than TCP there;
    - alpha times the window that fills the path is at most 1. Beyond that, a sender that reacts once per round
      trip gives up less than it gains in one, and no longer controls its rate.

    Within these bounds it takes 100 times `fibre_loss`, or as much as the upper two allow: a larger alpha only
    costs more losses.

    Args:
        rate: Capacity of the path, such as `"10 Gbit/s"`.
        rtt: Its round trip.
        packet: Size of the packets.
        fibre_loss: Probability that the path corrupts a packet, above 0.
        friendly_below: The rate up to which the flow should take hardly more than TCP.

    Returns:
        alpha, a probability.

    Raises:
        ValueError: A quantity is wrong, or no alpha satisfies all three bounds; the message says which two
            exclude each other.

    >>> f"{fiber_alpha('10 Gbit/s', '100 ms'):.1e}"
    '1.0e-07'
    """
    if not 0 < fibre_loss < 1:
        message = (
            f"fibre_loss is a probability above 0 and below 1, not {fibre_loss}. A path without corruption "
            "needs no bound: alpha = 0 is Reno"
        )
        raise ValueError(message)
    window = _segments(rate, rtt, packet)
    if not window > 0:
        message = (
            f"nothing is in flight at {rate} with a round trip of {rtt}: both have to be above 0"
        )
        raise ValueError(message)
    friendly = _segments(friendly_below, rtt, packet)
    if friendly < 1:
        message = f"{friendly_below} is less than one packet of {packet} per round trip of {rtt}"
        raise ValueError(message)
    least = MARGIN * fibre_loss
    most_friendly = 1.5 / friendly**2 / MARGIN
    most_controlled = 1 / window
    reasons = []
    if least > most_friendly:
        reasons.append(
            f"to be friendly below {friendly_below}, where TCP has a loss rate of {1.5 / friendly**2:.2g}, "
            f"it must be at most {most_friendly:.2g}"
        )
    if least > most_controlled:
        reasons.append(
            f"to keep control of {window:.3g} segments at {rate} it must be at most {most_controlled:.2g}"
        )
    if reasons:
        message = (
            f"no alpha will do: to stand out from fibre losses of {fibre_loss:.2g} it must be at least "
            f"{least:.2g}, but {', and '.join(reasons)}"
        )
        raise ValueError(message)
    return min(AMPLE * fibre_loss, most_friendly, most_controlled)


def _segments(rate: str, rtt: str, packet: str) -> float:
    """Packets per round trip."""
    size = quantity("size", packet)
    if not size > 0:
        message = f"a packet of {packet} is none: it has to have a size"
        raise ValueError(message)
    return quantity("rate", rate) * (quantity("time", rtt) / PICOSECONDS) / (8 * size)
