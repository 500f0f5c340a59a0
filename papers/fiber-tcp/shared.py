"""Shared by the experiments: one link with fibre losses, in packets and as a fluid."""

from collections.abc import Mapping
from typing import Any

import longfat
from longfat.study import Measured, Point, Row

RTT_S = 0.1
PACKET_BIT = 12_000
BDP = 1e8 * RTT_S / PACKET_BIT
"""Segments that the paper's link of 100 Mbit/s holds."""

ALPHA, FIBRE = 1e-4, 1e-5
UTILISATION = 0.98
QUEUES: dict[str, dict[str, Any]] = {
    "drop-tail": {"kind": "drop-tail"},
    "avq": {"kind": "avq", "utilisation": UTILISATION},
}


def fiber(alpha: float = ALPHA, *, per_mark: bool = False) -> dict[str, Any]:
    """The controller of the paper."""
    return {"kind": "fiber", "alpha": alpha, "per_mark": per_mark}


def single(
    control: str | Mapping[str, Any],
    *,
    rate_bit_s: float = 1e8,
    queue: Mapping[str, Any] | None = None,
    loss: float = FIBRE,
    duration_s: float = 400,
    warmup_s: float = 100,
    **flow: object,
) -> dict[str, Any]:
    """The scenario of section IV: one flow, one link, 100 ms, 1500 bytes, a buffer of half a product."""
    return {
        "duration": f"{duration_s:g} s",
        "warmup": f"{warmup_s:g} s",
        "sample": "1 s",
        "link": {
            "bottleneck": {
                "rate": f"{rate_bit_s:.0f} bit/s",
                "delay": "10 ms",
                "loss": loss,
                "buffer": "0.5 bdp",
                "queue": dict(queue or QUEUES["drop-tail"]),
            }
        },
        "flow": [
            {"name": "flow", "control": control, "path": ["bottleneck"], "rtt": "100 ms"} | flow
        ],
    }


def unit(
    controls: Mapping[str, Any], capacity: float, duration: int, joins: int = 0
) -> dict[str, Any]:
    """In the fluid's own units: with a round trip of 1 s, a window of w packets is a rate of w per second."""
    return {
        "duration": f"{duration} s",
        "sample": "1 s",
        "link": {
            "bottleneck": {
                "rate": f"{capacity * PACKET_BIT:.0f} bit/s",
                "delay": "0 s",
                "loss": 1e-3,
                "buffer": "0.5 bdp",
            }
        },
        "flow": [
            {
                "name": name,
                "control": control,
                "path": ["bottleneck"],
                "rtt": "1 s",
                "initial_window": 1,
                "initial_threshold": 2,
                "rto_min": "3 s",
                "start": f"{index * joins} s",
            }
            for index, (name, control) in enumerate(controls.items())
        ],
    }


def solved(scenario: dict[str, Any]) -> list[Row]:
    """The mean field without feedback delay, as in the paper: a row per flow and instant."""
    summary = longfat.fluid(scenario, price="avq", delay=False).summary
    price = summary["links"]["bottleneck"]["price"]
    return [
        {"flow": flow["name"].partition("[")[0], "time_s": t, "window": w, "price": p}
        for flow in summary["flows"]
        for t, w, p in zip(summary["t"], flow["window"], price, strict=True)
    ]


def sections(scale: str, rate_bit_s: float) -> list[Point]:
    """The points of Figures 3 to 5: TCP and the modified controller, both queues."""
    return [
        Point(
            single(law, rate_bit_s=rate_bit_s, queue=QUEUES[queue], duration_s=400),
            labels={"control": control, "queue": queue},
            seeds=5 if scale == "quick" else 15,
            tables=("flow_series", "link_series"),
        )
        for queue in QUEUES
        for control, law in (("reno", "reno"), ("fiber", fiber()))
    ]


def outcome(run: Measured) -> Row:
    """Averages of the flow and its link."""
    (flow,) = run.flows()
    link = run.link()
    return {
        "window": flow["window_mean"],
        "utilisation": link["utilisation"],
        "false": FIBRE * link["arrived"] / max(1, flow["congestion_events"]),
        "signals": link["drop_rate"] + link["mark_rate"],
        "queue_mean": link["queue_mean"],
    }
