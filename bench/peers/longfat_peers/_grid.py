"""The scenarios in which all three simulators are compared, and what was changed to explain differences."""

from __future__ import annotations

from itertools import product

from longfat_peers._cells import CONTROL_KEY, QUEUE_KEY, QUEUES, RATES, SAME, Cell, Change

CONTROLS = ("reno", "hstcp", "stcp")

GRID = tuple(Cell(*each) for each in product(CONTROLS, RATES, QUEUES))

NEWCOMERS = tuple(Cell(*each, newcomer=True) for each in product(CONTROLS, RATES, QUEUES))
"""How fast flows converge."""

_UNEVEN = '["30.0137 ms", "36.6921 ms", "43.3519 ms", "50.0291 ms"]'
_SMALL_BUFFER = (("link.bottleneck.buffer", '"10 packets"'),)
_CROWD = (*_SMALL_BUFFER, ("flow.forward.count", "30"))
_TWELVE = (("flow.forward.count", "12"),)
_MARKS = ((QUEUE_KEY, '{ kind = "red", mode = "bytes", mark_above_max = true }'),)

_NO_LEGACY = ((CONTROL_KEY, '{ kind = "stcp", legacy_window = 0 }'),)
_AS_RENO = ((CONTROL_KEY, '{ kind = "stcp", legacy_window = 100, b = 0.5 }'),)
_TAIL, _RED = (Cell("reno", "10 Mbit/s", queue) for queue in QUEUES)

CHANGES = (
    Change(
        "ns-2 is told the limit as it is: it then stores one packet less",
        _TAIL,
        "ns2",
        theirs=(("spare_place", 0),),
        both=_SMALL_BUFFER,
    ),
    Change(
        "ns-2 measures round trips and time-outs in ticks of 10 ms, its default",
        _TAIL,
        "ns2",
        theirs=(("tick", 0.01),),
        both=_CROWD,
    ),
    Change(
        "ns-2 has time stamps: a retransmission that arrives ends the doubling of time-outs",
        _TAIL,
        "ns2",
        theirs=(("timestamps", 1),),
        both=_CROWD,
    ),
    Change(
        f"{SAME}neither has selective acknowledgments (NewReno)",
        _TAIL,
        "ns2",
        ours=(("flow.forward.recovery", '"newreno"'),),
        theirs=(("timestamps", 1),),
        both=_CROWD,
    ),
    Change(
        "STCP of longfat without its legacy window, as in ns-2",
        Cell("stcp", "10 Mbit/s", "drop tail"),
        "ns2",
        ours=_NO_LEGACY,
    ),
    Change(
        "STCP of longfat without its legacy window, as in ns-2 (RED)",
        Cell("stcp", "10 Mbit/s", "RED, bytes"),
        "ns2",
        ours=_NO_LEGACY,
    ),
    Change(
        "both cut by half and grow by 1/w up to 100 segments: Reno by another name",
        Cell("stcp", "10 Mbit/s", "RED, bytes"),
        "ns3",
        ours=_AS_RENO,
    ),
    Change(
        f"{SAME}the queue of ns-3 without the packet in its device",
        Cell("stcp", "10 Mbit/s", "RED, bytes"),
        "ns3",
        ours=_AS_RENO,
        theirs=(("device_packet", 0),),
    ),
    Change(
        "HSTCP of longfat with the low_p of ns-2, 1.5/38²",
        Cell("hstcp", "100 Mbit/s", "drop tail"),
        "ns2",
        ours=((CONTROL_KEY, '{ kind = "hstcp", low_p = 0.00103878 }'),),
    ),
    *(
        Change(
            f"round trips that are no whole number of packet times, in both ({control})",
            Cell(control, "100 Mbit/s", "drop tail"),
            "ns2",
            ours=(("flow.forward.rtt", _UNEVEN),),
        )
        for control in CONTROLS
    ),
    Change(
        "RED marks above max too, in both",
        _RED,
        "ns2",
        ours=_MARKS,
        both=_TWELVE,
    ),
    Change(
        "RED counts packets, in both",
        _RED,
        "ns2",
        ours=((QUEUE_KEY, '"red"'),),
        both=_TWELVE,
    ),
    Change(
        "RED of longfat marks above max too, as in ns-3",
        _RED,
        "ns3",
        ours=_MARKS,
        both=_TWELVE,
    ),
    Change(
        f"{SAME}without the packet in the device of ns-3",
        _RED,
        "ns3",
        ours=_MARKS,
        theirs=(("device_packet", 0),),
        both=_TWELVE,
    ),
    Change(
        f"{SAME}ns-3 grows by 1/w with every acknowledgment",
        _RED,
        "ns3",
        ours=_MARKS,
        theirs=(("device_packet", 0), ("counted", 0)),
        both=_TWELVE,
    ),
    Change(
        "the queue of ns-3 without the packet in its device, which its RED does not see",
        _RED,
        "ns3",
        theirs=(("device_packet", 0),),
    ),
    Change(
        "ns-3 recovers by proportional rate reduction, its default",
        _TAIL,
        "ns3",
        theirs=(("recovery", "prr"),),
    ),
    *(
        Change(
            f"{what} ({title})",
            Cell(control, "10 Mbit/s", "drop tail"),
            "ns3",
            theirs=told,
            both=both,
        )
        for title, control, both in (
            ("reno", "reno", ()),
            ("lone reno", "reno", (("flow.forward.count", "1"),)),
            ("hstcp", "hstcp", ()),
        )
        for what, told in (
            ("ns-3 grows by 1/w with every acknowledgment", (("counted", 0),)),
            ("ns-3 grows after a recovery by what is new", (("credit", 0),)),
            (f"{SAME}grows by 1/w with every acknowledgment", (("credit", 0), ("counted", 0))),
        )
    ),
    Change(
        f"{SAME}HSTCP of ns-3 has the formulas of its RFC instead of the table",
        Cell("hstcp", "10 Mbit/s", "drop tail"),
        "ns3",
        theirs=(("credit", 0), ("counted", 0), ("table", 0)),
    ),
    *(
        Change(
            what,
            Cell("stcp", "10 Mbit/s", "drop tail"),
            "ns3",
            ours=_AS_RENO,
            theirs=told,
        )
        for what, told in (
            ("both cut by half and grow by 1/w up to 100 segments (drop tail)", ()),
            (f"{SAME}ns-3 grows after a recovery by what is new (stcp)", (("credit", 0),)),
            (
                f"{SAME}grows by 1/w with every acknowledgment (stcp)",
                (("credit", 0), ("counted", 0)),
            ),
        )
    ),
)
