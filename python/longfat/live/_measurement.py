"""Samples of a stack become a table and averages, and these a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat import frames
from longfat.foreign import json_text
from longfat.live._course import mean_over_time
from longfat.results._folder import ResultFolder
from longfat.results._table import writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MEASUREMENT = "a measurement"
"""The kind of its folders, as messages and lists of files have it."""

NO_THRESHOLD = 0x7FFF_FFFF
"""What Linux says where there is no threshold."""

Sample = tuple[float, int, float, float | None, float, float, int, int, int]
"""Time in seconds, number of the flow, and what `_ends.sampled` returns.

Over QUIC segments are datagrams of full size, the bytes are those of acknowledged packets, and in the place of
segments resent are packets lost, whose data is sent again in others.
"""


def series(samples: Sequence[Sample]) -> dict[str, list[Any]]:
    """The columns of the table `flow_series`, with units and names as in those of runs.

    The throughput of a row is that of the time since the row before it of the same flow, without headers.
    """
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "time_s",
            "flow",
            "window",
            "threshold",
            "in_flight",
            "rtt_s",
            "throughput_bit_s",
            "retransmitted",
        )
    }
    before: dict[int, tuple[float, int]] = {}
    for now, flow, window, threshold, in_flight, rtt_us, acknowledged, resent, _ in samples:
        then, had = before.get(flow, (now, acknowledged))
        before[flow] = now, acknowledged
        row = (
            now,
            f"flow[{flow}]",
            window,
            None if threshold is None or threshold >= NO_THRESHOLD else threshold,
            in_flight,
            rtt_us / 1e6,
            8 * (acknowledged - had) / (now - then) if now > then else None,
            resent,
        )
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return columns


def averages(samples: Sequence[Sample], warmup_s: float) -> list[dict[str, Any]]:
    """For each flow what it did after the warm-up: windows and round trips are averages over time.

    Raises:
        ValueError: There are not two samples of each flow after the warm-up.
    """
    flows: dict[int, list[Sample]] = {}
    for sample in samples:
        flows.setdefault(sample[1], [])
        if sample[0] >= warmup_s:
            flows[sample[1]].append(sample)
    found = []
    for flow, own in flows.items():
        if len(own) < 2:  # noqa: PLR2004 - an interval has two ends
            message = f"flow[{flow}] was not sampled twice after the first {warmup_s:g} s: measure for longer"
            raise ValueError(message)
        first, last = own[0], own[-1]
        seconds = last[0] - first[0]
        times = [sample[0] for sample in own]
        found.append(
            {
                "name": f"flow[{flow}]",
                "window_mean": mean_over_time(times, [sample[2] for sample in own]),
                "rtt_mean_s": mean_over_time(times, [sample[5] for sample in own]) / 1e6,
                "throughput_bit_s": 8 * (last[6] - first[6]) / seconds,
                "retransmitted": last[7] - first[7],
                "segment_payload_B": last[8],
            }
        )
    return found


def filled(samples: Sequence[Sample], warmup_s: float) -> float:
    """What share of their windows flows had in flight after the warm-up, on average over the samples."""
    late = [sample for sample in samples if sample[0] >= warmup_s]
    return sum(sample[4] for sample in late) / sum(sample[2] for sample in late)


def write(target: Path, summary: dict[str, Any], columns: dict[str, list[Any]]) -> None:
    """Writes `summary.json` and `flow_series.parquet` into a folder, whole or not at all.

    Raises:
        OSError: The folder cannot be written, or is something else.
    """
    import polars as pl

    with ResultFolder(target, MEASUREMENT) as folder:
        text = json_text(summary, indent=2) + "\n"
        (folder.path / "summary.json").write_text(text, encoding="utf-8")
        path = folder.path / "flow_series.parquet"
        with writing(path):
            frames.write(pl.DataFrame(columns), path)
        folder.commit()
