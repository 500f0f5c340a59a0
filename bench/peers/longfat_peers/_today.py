"""Controllers and queues of today, which longfat and ns-3 have, and what was changed to explain differences."""

from __future__ import annotations

from longfat_peers._cells import CONTROL_KEY, QUEUE_KEY, QUEUES, RATES, SAME, Cell, Change

_RACK = ("RACK and PRR", (("flow.forward.recovery", '"rack"'),))
_HELD = (
    "delayed acknowledgments",
    (("flow.forward.delayed_ack", "true"), ("flow.forward.ack_delay", '"40 ms"')),
)
_SOON = ("target 20 ms", (("flow.forward.control.target", '"20 ms"'),))
"""LEDBAT's default target is more than the buffer holds."""
_DEEP = ("a buffer of 200 packets", (("link.bottleneck.buffer", '"200 packets"'),))
"""As much as four flows of BBR keep in flight: nothing is lost."""
_PLAIN: tuple[str, tuple[tuple[str, str], ...]] = ("", ())

_SLOW = RATES[0]
_TAIL = "drop tail"
_WINDOWS = ("bic", "h-tcp", "illinois", "veno", "westwood", "yeah", "hybla")

TODAY = tuple(
    Cell(control, _SLOW, queue, more=more)
    for control, queue, more in (
        ("reno", _TAIL, _RACK),
        *(("reno", queue, _HELD) for queue in QUEUES),
        *(("cubic", queue, _PLAIN) for queue in QUEUES),
        ("dctcp", "step", _PLAIN),
        *(("reno", queue, _PLAIN) for queue in ("CoDel", "FQ-CoDel", "PIE")),
        *((control, _TAIL, _PLAIN) for control in _WINDOWS),
        ("vegas", _TAIL, _PLAIN),
        ("bbr1", _TAIL, _PLAIN),
        ("bbr1", _TAIL, _DEEP),
        ("ledbat", _TAIL, _SOON),
    )
)

_CREDIT, _COUNTED, _DEVICE = ("credit", 0), ("counted", 0), ("device_packet", 0)


def _change(cell: Cell, what: str, *theirs: tuple[str, object], ours: str | None = None) -> Change:
    """A change of what ns-3 does, or of the controller or queue of both, as TOML."""
    key = QUEUE_KEY if cell.queue == "PIE" else CONTROL_KEY
    return Change(what, cell, "ns3", theirs=theirs, ours=((key, ours),) if ours else ())


def _cell(control: str, queue: str = _TAIL) -> Cell:
    (found,) = (
        each for each in TODAY if (each.control, each.queue, each.more) == (control, queue, _PLAIN)
    )
    return found


_RACK_CELL = Cell("reno", _SLOW, _TAIL, more=_RACK)
_LEDBAT_CELL = Cell("ledbat", _SLOW, _TAIL, more=_SOON)
_DEEP_CELL = Cell("bbr1", _SLOW, _TAIL, more=_DEEP)
_BEGIN = ("elapsed", 0)
_HELD_CELL = Cell("reno", _SLOW, _TAIL, more=_HELD)

TODAY_CHANGES = (
    _change(
        Cell("reno", _SLOW, "RED, bytes", more=_HELD),
        "the queue of ns-3 without the packet in its device (delayed)",
        _DEVICE,
    ),
    _change(
        _cell("cubic", "RED, bytes"),
        "CUBIC of ns-3 with a Reno-friendly region",
        ("friendly", 1),
    ),
    _change(
        _cell("cubic", "RED, bytes"),
        f"{SAME}without the packet in its device (cubic)",
        ("friendly", 1),
        _DEVICE,
    ),
    _change(_cell("dctcp", "step"), "DCTCP of ns-3 grows after a cut too", ("marked", 1)),
    _change(
        _cell("dctcp", "step"),
        f"{SAME}grows by 1/w with every acknowledgment (dctcp)",
        ("marked", 1),
        _COUNTED,
    ),
    *(
        _change(
            _cell("reno", queue),
            f"the queue of ns-3 without the packet in its device ({queue})",
            _DEVICE,
        )
        for queue in ("CoDel", "FQ-CoDel")
    ),
    _change(
        _cell("reno", "PIE"),
        "PIE tosses without smoothing, in both",
        ours='{ kind = "pie", derandomize = false }',
    ),
    _change(_cell("bic"), "BIC of ns-3 searches as its paper says", _COUNTED),
    _change(
        _cell("bic"),
        f"{SAME}grows after a recovery by what is new (bic)",
        _COUNTED,
        _CREDIT,
    ),
    _change(
        _cell("h-tcp"),
        "H-TCP without its clock in both, and without adaptive back-off in longfat",
        ours='{ kind = "h-tcp", delta_l = "1 h", adaptive_backoff = false }',
    ),
    _change(
        _cell("illinois"),
        "Illinois of both adds a segment per round trip or more",
        ours='{ kind = "illinois", alpha_min = 1 }',
    ),
    _change(_cell("westwood"), "Westwood+ of ns-3 estimates as its paper says", ("estimate", 0)),
    _change(_cell("veno"), "Veno of ns-3 grows half as fast where its segments wait", _COUNTED),
    _change(
        _cell("veno"),
        f"{SAME}grows after a recovery by what is new (veno)",
        _COUNTED,
        _CREDIT,
    ),
    _change(
        _LEDBAT_CELL,
        "LEDBAT of ns-3 may grow by a segment beyond what is in flight",
        ("allowed", 1),
    ),
    _change(
        _cell("bbr1"), "BBRv1 of ns-3 counts the time of a sample from where it begins", _BEGIN
    ),
    _change(
        _cell("bbr1"),
        f"{SAME}takes no samples while a time-out is repaired",
        _BEGIN,
        ("repairs", 0),
    ),
    _change(
        _DEEP_CELL, "BBRv1 of ns-3 counts the time of a sample from where it begins (deep)", _BEGIN
    ),
    _change(
        _DEEP_CELL,
        f"{SAME}is told each round trip (deep)",
        _BEGIN,
        ("averaged", 0),
    ),
    _change(
        _cell("yeah"),
        "YeAH of ns-3 takes no more than is in flight",
        ("wraps", 0),
    ),
    *(
        _change(cell, f"{what} ({title})", *theirs)
        for title, cell in (("RACK", _RACK_CELL), ("delayed", _HELD_CELL))
        for what, theirs in (
            ("ns-3 grows after a recovery by what is new", (_CREDIT,)),
            (f"{SAME}grows by 1/w with every acknowledgment", (_CREDIT, _COUNTED)),
        )
    ),
)
