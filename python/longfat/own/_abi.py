"""`longfat.h` in Python: its structures and codes, for compiled code. A test compares them with the header."""

from __future__ import annotations

import ctypes as c
from enum import IntEnum
from typing import Any

VERSION = 1
"""Of the interface."""

RAISED = 0x7FF8_6C6F_6E67_6661
"""The bits of the NaN that stands for an exception in compiled code."""

SILENT = (
    "begin",
    "on_feedback",
    "on_congestion",
    "on_adjustment",
    "on_recovered",
    "on_restart",
    "on_lost",
    "on_sent",
    "on_timer",
    "on_overflow",
    "on_departure",
    "on_ticks",
)
"""The functions that answer nothing: for an exception in one of them stand these bits and its place, from 1."""


class Cause(IntEnum):
    """What signalled congestion.

    Attributes:
        LOSS: A segment found lost by acknowledgments.
        MARK: A segment marked by a router (RFC 3168).
        TIMEOUT: The retransmission timer ran out. A law is not asked then.
    """

    LOSS = 0
    MARK = 1
    TIMEOUT = 2


class Limited(IntEnum):
    """What keeps a sender from having more in flight. The window may grow only with the first two.

    Attributes:
        WINDOW: The window.
        PACING: Pacing delays what the window allows.
        APPLICATION: There is nothing more to send.
        RECEIVER: A bound outside the controller.
        RECOVERY: Losses are being repaired.
    """

    WINDOW = 0
    PACING = 1
    APPLICATION = 2
    RECEIVER = 3
    RECOVERY = 4


class Pacing(IntEnum):
    """How data leaves: what `pacing` returns, with a number, as in `return Pacing.RATE, 1000.0`.

    Attributes:
        UNPACED: As the window allows; the number is ignored.
        SPREAD: At the number times the window per round trip, 0.001 to 1e6.
        RATE: At so many segments per second, 0.001 to 1e12.
        BLOCKS: The window in so many blocks per round trip, a whole number.
        LOOSE_BLOCKS: The same; an acknowledgment lets the next block begin early.
    """

    UNPACED = 0
    SPREAD = 1
    RATE = 2
    BLOCKS = 3
    LOOSE_BLOCKS = 4


class Phase(IntEnum):
    """The phases of RFC 5681.

    Attributes:
        SLOW_START: Below the threshold.
        CONGESTION_AVOIDANCE: At or above it.
    """

    SLOW_START = 0
    CONGESTION_AVOIDANCE = 1


class Verdict(IntEnum):
    """What happens to a packet that arrives at a queue.

    Attributes:
        KEEP: It is let in.
        MARK: It is let in with the mark of RFC 3168; a packet that cannot carry one is dropped.
        DROP: It is discarded.
    """

    KEEP = 0
    MARK = 1
    DROP = 2


KINDS = {"number": 0, "count": 1, "flag": 2, "time": 3, "length": 4}
NEEDS = {"ecn": 1, "accurate_ecn": 2, "ect1": 4, "spare": 8, "pacing": 16}
WANTS = {
    "pacing": 1,
    "delivery_rate": 2,
    "losses": 4,
    "departures": 8,
    "timer": 16,
    "own_recovery": 32,
    "spurious": 64,
    "one_way_delay": 128,
    "chance": 256,
}
PER_MARK, HEEDS_DELAY, LOSSES_APART = 1, 2, 4

_F, _I, _U, _P, _S = c.c_double, c.c_int64, c.c_uint64, c.c_void_p, c.c_char_p

Fields = list[tuple[str, Any]]

EVENTS: dict[str, Fields] = {
    "operating": [
        ("window", _F),
        ("epoch_window", _F),
        ("rtt", _F),
        ("base_rtt", _F),
        ("since_event", _F),
        ("spare", _F),
        ("phase", _I),
    ],
    "path": [("rtt", _F), ("base_rtt", _F), ("rtt_ps", _U), ("base_rtt_ps", _U)],
    "start": [
        ("window", _F),
        ("threshold", _F),
        ("packet_bytes", _F),
        ("access", _F),
        ("transfer", _F),
        ("round_trip", _F),
        ("chance", _U),
    ],
    "feedback": [
        ("now", _F),
        ("now_ps", _U),
        ("acked", _I),
        ("sacked", _I),
        ("lost", _I),
        ("marked", _I),
        ("in_flight", _I),
        ("rtt", _F),
        ("one_way_delay", _F),
        ("spare", _F),
        ("limited", _I),
        ("round_starts", _I),
        ("recovery_begins", _I),
        ("spurious", _I),
        ("rate_interval", _F),
        ("rate_delivered", _I),
        ("rate_delivered_before", _I),
        ("rate_delivered_total", _I),
        ("rate_lost", _I),
        ("rate_in_flight", _I),
        ("rate_application_limited", _I),
    ],
    "congestion": [("now", _F), ("now_ps", _U), ("cause", _I), ("in_flight", _I), ("again", _I)],
    "adjustment": [("now", _F), ("now_ps", _U), ("window", _F), ("threshold", _F)],
    "lost": [
        ("now", _F),
        ("now_ps", _U),
        ("segment", _I),
        ("in_flight", _I),
        ("lost", _I),
        ("delivered_total", _I),
        ("application_limited", _I),
        ("sent", _F),
        ("sent_ps", _U),
    ],
    "sent": [("now", _F), ("now_ps", _U), ("again", _I), ("in_flight", _I)],
    "site": [
        ("rate", _F),
        ("packet_bytes", _F),
        ("capacity", _F),
        ("round_trip", _F),
        ("in_bytes", _I),
    ],
    "arrival": [
        ("now", _F),
        ("now_ps", _U),
        ("bytes", _I),
        ("ecn", _I),
        ("waiting_packets", _I),
        ("waiting_bytes", _I),
        ("idle_since", _F),
        ("chance", _F),
    ],
    "pacing": [("kind", _I), ("value", _F)],
}
"""What longfat fills in, and what it is answered, without the `longfat_` of the header."""

_HEAD: Fields = [
    ("size", _U),
    ("name", _S),
    ("title", _S),
    ("source", _S),
    ("parameters", _P),
    ("parameter_count", _U),
]


class ParameterTable(c.Structure):
    """`longfat_parameter`."""

    _fields_ = [
        ("name", _S),
        ("about", _S),
        ("text", _S),
        ("value", _F),
        ("least", _F),
        ("most", _F),
        ("kind", _I),
    ]


class LawTable(c.Structure):
    """`longfat_law`."""

    _fields_ = [
        *_HEAD,
        ("needs", _U),
        ("manner", _U),
        *[(name, _P) for name in ("gain", "give_up", "slow_start", "pacing")],
    ]


class ControllerTable(c.Structure):
    """`longfat_controller`."""

    _fields_ = [
        *_HEAD,
        ("needs", _U),
        ("wants", _U),
        ("manner", _U),
        ("state_size", _U),
        ("observed", _P),
        ("observed_count", _U),
        *[
            (name, _P)
            for name in (
                "begin",
                "on_feedback",
                "on_congestion",
                "window",
                "pacing",
                "threshold",
                "on_adjustment",
                "on_recovered",
                "on_restart",
                "on_lost",
                "on_sent",
                "timer",
                "on_timer",
                "observe",
            )
        ],
    ]


class QueueTable(c.Structure):
    """`longfat_queue`."""

    _fields_ = [
        *_HEAD,
        ("wants", _U),
        ("state_size", _U),
        ("observed", _P),
        ("observed_count", _U),
        *[
            (name, _P)
            for name in (
                "on_arrival",
                "begin",
                "on_overflow",
                "on_departure",
                "period",
                "on_ticks",
                "observe",
            )
        ],
    ]


TABLES = {"law": LawTable, "controller": ControllerTable, "queue": QueueTable}
"""What a compiler fills in."""
