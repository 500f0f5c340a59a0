"""What is made of samples of `tcp_info`: by hand."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import polars as pl
import pytest

from longfat.live._ends import agreed_on_ecn, sampled
from longfat.live._measurement import NO_THRESHOLD, averages, series, write

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.live._measurement import Sample


def sample(now: float, window: int, acknowledged: int = 0, resent: int = 0) -> Sample:
    return now, 0, window, NO_THRESHOLD, window - 1, 20_000, acknowledged, resent, 1448


def test_the_kernel_is_read_where_it_writes() -> None:
    # linux/tcp.h: 8 bytes, 24 numbers of 32 bits, two of 64 for pacing, then the bytes acknowledged.
    numbers = list(range(100, 124))
    info = bytes(8) + struct.pack("=24I", *numbers) + struct.pack("=3Q", 0, 0, 987_654)
    # snd_mss 2, unacked 4, sacked 5, lost 6, retrans 7, rtt 15, snd_ssthresh 17, snd_cwnd 18, total_retrans 23
    assert sampled(info) == (118, 117, 104 - 105 - 106 + 107, 115, 987_654, 123, 102)


@pytest.mark.parametrize(("options", "ecn"), [(0b0000_0111, False), (0b0000_1111, True), (8, True)])
def test_ecn_is_read_from_what_both_ends_agreed_on(options: int, *, ecn: bool) -> None:
    # linux/tcp.h: two states, retransmits, probes, backoff, then options: 1 is for time stamps, 2 for selective
    # acknowledgments, 4 for the scale of windows, 8 for ECN.
    info = bytes([1, 0, 0xFF, 0xFF, 0xFF, options, 0x77]) + bytes(185)
    assert agreed_on_ecn(info) is ecn


def test_an_average_is_over_time_and_after_the_warmup() -> None:
    samples = [
        sample(0.0, 1000),
        sample(1.0, 10, acknowledged=1000, resent=3),
        sample(2.0, 20, acknowledged=2000, resent=4),
        # A pause of the machine: what held before it held for longer.
        sample(5.0, 99, acknowledged=5000, resent=7),
    ]
    (row,) = averages(samples, 1.0)
    assert row["window_mean"] == pytest.approx((10 * 1 + 20 * 3) / 4)
    assert row["throughput_bit_s"] == pytest.approx(8 * 4000 / 4)
    assert (row["retransmitted"], row["segment_payload_B"]) == (4, 1448)


def test_what_was_hardly_sampled_has_no_average() -> None:
    with pytest.raises(ValueError, match=r"flow\[0\].*measure for longer"):
        averages([sample(0.0, 10), sample(1.0, 10)], 0.5)


def test_a_row_tells_what_arrived_since_the_one_before() -> None:
    table = series([sample(0.0, 10), sample(0.5, 11, acknowledged=1000)])
    assert table["throughput_bit_s"] == [None, 16_000]
    assert table["threshold"] == [None, None]
    assert table["flow"] == ["flow[0]"] * 2


def test_a_folder_holds_it_all(tmp_path: Path) -> None:
    target = tmp_path / "live"
    table = series([sample(0.0, 10), sample(0.5, 11, acknowledged=1000)])
    for _ in range(2):  # the second replaces the first
        write(target, {"what": "a test"}, table)
    assert json.loads((target / "summary.json").read_text("utf-8")) == {"what": "a test"}
    assert pl.read_parquet(target / "flow_series.parquet")["window"].to_list() == [10, 11]
    (target / "summary.json").write_text("mine", "utf-8")
    with pytest.raises(FileExistsError):
        write(target, {"what": "a test"}, table)
