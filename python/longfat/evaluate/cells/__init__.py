"""The cells: one file for each group of them."""

from __future__ import annotations

from longfat.evaluate.cells import (
    disturbances,
    equations,
    fairness,
    harm,
    long_fat,
    queues,
    ranges,
    short_flows,
    starvation,
    topologies,
)

GROUPS = (
    ranges.GROUP,
    long_fat.GROUP,
    fairness.GROUP,
    harm.GROUP,
    disturbances.GROUP,
    short_flows.GROUP,
    queues.GROUP,
    topologies.GROUP,
    starvation.GROUP,
    equations.GROUP,
)
"""The groups, in the order in which they are shown."""

NOT_TESTED: tuple[dict[str, str], ...] = (
    {
        "what": "tunnels",
        "why": "a packet has one header here; where marks are lost on the way, a link can clear them (`ecn`)",
        "source": "RFC 9743, 6.2",
    },
    {
        "what": "circuit breakers",
        "why": "there is no model of one; a policer is the nearest cell",
        "source": "RFC 9743, 7.2",
    },
    {
        "what": "constrained nodes",
        "why": "processors, memory and energy of hosts are not simulated",
        "source": "RFC 9743, 7.4",
    },
    {
        "what": "misbehaving nodes",
        "why": "receivers, routers and other senders do as they should",
        "source": "RFC 9743, 7.6",
    },
    {
        "what": "several paths for one connection",
        "why": "a flow has one path",
        "source": "RFC 9743, 7.10",
    },
    {
        "what": "widely deployed real-time controllers as neighbours",
        "why": "their specifications are not public enough; `--against scream` compares with one that is",
        "source": "RFC 9743, 5.2.2",
    },
    {
        "what": "differences from the principles of congestion control, and incremental deployment",
        "why": "these are explained in words, not measured",
        "source": "RFC 9743, 5.3",
    },
    {
        "what": "experience at the scale of the Internet",
        "why": "this is a simulator",
        "source": "RFC 9743, 3.1",
    },
)
"""What sources ask for and this does not test, with the reasons."""
