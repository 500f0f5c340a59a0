"""Formulas with their sources. Times are in seconds; loads, probabilities and shares have no unit."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SQUARE_ROOT = 1.3098
"""E[W] √p of Reno under independent losses (Ott, Kemperman, Mathis 1996)."""

LAGUERRE = (
    (0.322547689619, 0.603154104342),
    (1.745761101158, 0.357418692438),
    (4.536620296921, 0.0388879085150),
    (9.395070912301, 0.000539294705561),
)
"""Lengths and shares with the first seven moments of the exponential distribution of mean 1.

Gauss-Laguerre quadrature of four points (Abramowitz and Stegun, table 25.9).
"""


def waiting(load: float, sizes: Sequence[tuple[float, float]] = ((1.0, 1.0),)) -> float:
    """Mean number of waiting customers in M/G/1, the one in service not counted.

    ρ²(1 + C²)/(2(1 - ρ)), where C² is the squared coefficient of variation of the service time: 0 in M/D/1,
    1 in M/M/1. Pollaczek and Khinchine, in Kleinrock, *Queueing Systems* volume 1 (1975), section 5.6.

    Args:
        load: Share of the time that the server is busy, below 1.
        sizes: Service times, in any unit, and the share of the customers that has each.

    >>> waiting(0.5), round(waiting(0.5, LAGUERRE), 9)
    (0.25, 0.5)
    """
    mean = sum(size * share for size, share in sizes)
    square = sum(size * size * share for size, share in sizes)
    return load * load * square / mean**2 / (2 * (1 - load))


def shared(size_s: float, load: float) -> float:
    """Mean response time of M/G/1 processor sharing for a customer who takes `size_s` when alone.

    x/(1 - ρ), whatever the distribution of sizes: Kleinrock, *Queueing Systems* volume 2 (1976), equation 4.17.

    >>> shared(2.0, 0.75)
    8.0
    """
    return size_s / (1 - load)


def timeout_share(p: float, window: float) -> float:
    """Q̂(w): the share of loss indications that are time-outs, with losses that take the rest of a round along.

    Padhye et al. 1998, equation 24.

    >>> timeout_share(0.01, 3.0)
    1.0
    """
    if window <= 3:  # noqa: PLR2004 - three duplicates need more than three packets
        return 1.0
    kept = 1 - p
    rest = math.pow(kept, window - 3)
    return min(1.0, (1 - kept**3) * (1 + kept**3 * (1 - rest)) / (1 - kept**3 * rest))


def pftk(p: float, rtt_s: float, timeout_s: float) -> float:
    """Packets per second that Reno sends, an acknowledgment for each packet and no limit of the window.

    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Throughput", SIGCOMM 1998: equation 32 with
    b = 1, and the mean window of equation 13.

    >>> round(pftk(0.01, 0.1, 1.0), 2)
    98.83
    """
    window = 1 + math.sqrt(8 * (1 - p) / (3 * p) + 1)
    share = timeout_share(p, window)
    backed_off = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    packets = (1 - p) / p + window + share / (1 - p)
    return packets / (rtt_s * (window / 2 + 1) + share * timeout_s * backed_off / (1 - p))


def pftk_short(p: float, rtt_s: float, timeout_s: float) -> float:
    """The same in short: equation 30 of the same paper with b = 1.

    >>> round(pftk_short(0.01, 0.1, 1.0), 2)
    99.92
    """
    rounds = rtt_s * math.sqrt(2 * p / 3)
    waits = timeout_s * min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return 1 / (rounds + waits)


def pftk_process(p: float, rtt_s: float, timeout_s: float, cycles: int, seed: int) -> float:
    """Packets per second in the process that `pftk` describes, simulated round by round.

    The formula puts the mean window where the window of each cycle should be. Here it is that of the cycle; a
    window that is not whole is rounded up or down at random, so that its mean is right.

    Args:
        p: The probability that a packet is lost, if the one before it in its round was not.
        rtt_s: Length of a round.
        timeout_s: The first time-out; each further one is twice as long, up to 64 times.
        cycles: How many losses to simulate.
        seed: The origin of the random numbers.
    """
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    window, sent, elapsed = 4.0, 0, 0.0

    def through(packets: int) -> int:
        """How many pass before one is lost; all, if none is."""
        return min(packets, int(math.log(1 - chance.random()) / math.log1p(-p)))

    for _ in range(cycles):
        while True:
            packets = max(1, int(window + chance.random()))
            passed = through(packets)
            sent += packets
            elapsed += rtt_s
            if passed < packets:
                break
            window += 1
        # Those that passed send as many in the next round, whose acknowledgments are the duplicates.
        sent += passed
        elapsed += rtt_s
        if through(passed) < 3:  # noqa: PLR2004 - three duplicates are a loss
            wait = timeout_s
            while True:
                sent += 1
                elapsed += wait
                if chance.random() >= p:
                    break
                wait = min(2 * wait, 64 * timeout_s)
        window = max(window / 2, 1.0)
    return sent / elapsed


def small_buffer(flows: int, buffers: float) -> float:
    """Utilisation that independent Reno flows reach at least.

    G. Appenzeller, I. Keslassy, N. McKeown, "Sizing Router Buffers", SIGCOMM 2004, section 3: the sum of n
    windows is normal, each a sawtooth from 2/3 to 4/3 of its mean. With a buffer B the link is idle only if
    the sum is below the bandwidth-delay product D: erf(3√3/(2√2) B √n/(D + B)).

    Args:
        flows: n
        buffers: The buffer in units of D/√n.

    >>> round(small_buffer(10_000, 1.0), 4)
    0.9899
    """
    share = buffers / math.sqrt(flows)
    return math.erf(3 * math.sqrt(3) / (2 * math.sqrt(2)) * buffers / (1 + share))
