from __future__ import annotations

import math

import polars as pl
import pytest

import longfat
from longfat import power

# The reference network of Kim and Farber (1995), with files of 100 kB.
NETWORK = """\
duration = "DURATION s"

[link.bottleneck]
rate = "RATE Mbit/s"
delay = "1 us"
buffer = "1125 packets"
queue = "pushout"

[link.exit]
rate = "150 Mbit/s"
delay = "1 us"
buffer = "1125 packets"
queue = "pushout"

[[traffic]]
name = "files"
control = "blitz"
path = ["bottleneck", "exit"]
rtt = "30 ms"
access = "150 Mbit/s"
profile = "1995"
arrivals = ARRIVALS
count = COUNT
size = "100 kB"
"""
SIZE_BITS = 800_000


def files(rate: int, arrivals: str, count: int, duration: int = 10_000) -> longfat.Run:
    text = NETWORK.replace("RATE", str(rate)).replace("ARRIVALS", arrivals)
    text = text.replace("COUNT", str(count)).replace("DURATION", str(duration))
    return longfat.run(text, record=False)


def alone_s(rate: int) -> float:
    """Half a round trip, the file at the rate of the bottleneck, and a packet on the two other hops."""
    return 15e-3 + SIZE_BITS / (rate * 1e6) + 2 * 4000 / 150e6


def test_at_low_load_power_is_arrivals_times_size_over_response() -> None:
    measured = power.of_run(files(150, '{ poisson = "0.05 /s" }', 200))
    assert (measured.arrivals, measured.completed, measured.unfinished) == (100, 100, 0)
    exact = measured.arrivals_per_s * SIZE_BITS / alone_s(150)
    assert measured.power_bit_s2 == pytest.approx(exact, rel=1e-8)
    assert measured.response_s is not None
    assert measured.acknowledged_s is not None
    # The last acknowledgment has half a round trip to go, and may be held back for a second packet.
    assert measured.acknowledged_s.p50 - measured.response_s.p50 == pytest.approx(15e-3, rel=1e-2)


def test_power_rises_to_a_knee_and_falls_beyond() -> None:
    rising = [power.of_run(files(150, f'{{ load = "{load} %" }}', 400)) for load in (10, 50, 150)]
    low, knee, over = [measured.power_bit_s2 or math.nan for measured in rising]
    # Five times the load, and queues of a few packets; in overload, less power than at a tenth of the load.
    assert 4 * low < knee < 5.5 * low
    assert over < low


def test_overload_measures_what_completes_and_no_more_than_can() -> None:
    # Twice what the bottleneck carries: the last of 400 arrives after about 5.3 s. One run ends at 6 s.
    whole = power.of_run(files(30, '{ load = "200 %" }', 400))
    assert whole.unfinished == 0
    assert 0 < whole.throughput_bit_s <= 30e6
    cut = power.of_run(files(30, '{ load = "200 %" }', 400, 6))
    assert cut.unfinished > 0
    # What happens after the measured part only changes what is known about its arrivals.
    assert cut.throughput_bit_s == whole.throughput_bit_s
    assert cut.response_s == whole.response_s


def table(times: list[float | None]) -> pl.DataFrame:
    """Transfers of 1000 bits, one every ten seconds; their last acknowledgment takes a second more."""
    count = len(times)
    return pl.DataFrame(
        {
            "index": range(count),
            "start_s": [10.0 * index for index in range(count)],
            "completion_s": times,
            "acknowledged_s": [None if time is None else time + 1 for time in times],
            "bytes": [125] * count,
        }
    ).sort("completion_s")


def test_the_middle_part_by_hand() -> None:
    # Eight arrive; 3 never completes, 1 is slow. The middle half runs from 2, at 20 s, to 6, at 60 s: in it 1,
    # 2, 4 and 5 complete, after 25, 4, 6 and 5 s.
    measured = power.measure(table([5.0, 25.0, 4.0, None, 6.0, 5.0, 5.0, 5.0]))
    assert (measured.duration_s, measured.arrivals, measured.unfinished) == (40.0, 4, 1)
    assert (measured.completed, measured.throughput_bit_s) == (4, 100.0)
    assert measured.response_s == power.Times(mean=10.0, p50=5.0, p90=25.0, p99=25.0)
    assert measured.acknowledged_s == power.Times(mean=11.0, p50=6.0, p90=26.0, p99=26.0)
    assert measured.power_bit_s2 == 10.0
    whole = power.measure(table([5.0] * 8), part=(0, 1))
    assert (whole.duration_s, whole.completed, whole.arrivals_per_s) == (70.0, 7, 0.1)
    nothing = power.measure(table([None] * 8))
    assert (nothing.throughput_bit_s, nothing.response_s, nothing.power_bit_s2) == (0.0, None, None)


@pytest.mark.parametrize(
    ("rate", "size", "bottleneck", "decades"),
    # log10 of the largest power in Mbit/s², worked out for each network independently of this code.
    [
        (150, 100_000, 30, 2.35),
        (150, 100_000, 90, 3.16),
        (150, 100_000, 150, 3.51),
        (1000, 100_000, 200, 3.69),
        (1000, 100_000, 1000, 4.62),
        (150, 10_000, 30, 2.94),
        (150, 1_000_000, 150, 2.79),
    ],
)
def test_the_yardstick_of_the_papers_networks(
    rate: int, size: int, bottleneck: int, decades: float
) -> None:
    alone = 15e-3 + 8 * size / (bottleneck * 1e6) + 2 * 4000 / (rate * 1e6)
    sharing = power.ProcessorSharing(bottleneck * 1e6, size, alone)
    assert math.log10(sharing.best_power_bit_s2 / 1e6) == pytest.approx(decades, abs=0.006)
    # It is the largest, and at the load that it reports.
    powers = [sharing.power_bit_s2(load / 1000) for load in range(1000)]
    assert max(powers) <= sharing.best_power_bit_s2
    assert max(powers) == pytest.approx(sharing.best_power_bit_s2, rel=1e-4)
    assert sharing.power_bit_s2(sharing.best_load) == pytest.approx(sharing.best_power_bit_s2)
    assert sharing.power_bit_s2(1.0) == 0.0


def test_what_cannot_be_measured_is_refused() -> None:
    run = files(150, '{ poisson = "1 /s" }', 3)
    with pytest.raises(ValueError, match="no short flows are called 'web': there are files"):
        power.of_run(run, "web")
    with pytest.raises(ValueError, match=r"not from 0\.5 to 0\.5"):
        power.of_run(run, part=(0.5, 0.5))
    with pytest.raises(ValueError, match="of 3 arrivals"):
        power.of_run(run, part=(0, 0.3))
    with pytest.raises(ValueError, match="cannot be done in"):
        power.ProcessorSharing(1e6, 1e6, 1.0)
