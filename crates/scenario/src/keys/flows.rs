//! Long and short flows, and how they send.

use super::Accepts::{
    Controller, Count, Flag, Frequency, List, Name, Number, Packets, Profile, Rate, Resolved, Size,
    Table, Text, Time, Word,
};
use super::Usual::{Required, Told, Value};
use super::{Key, Usual, joined};

use Key as K;

const ANY: u64 = u64::MAX;
/// Any number that is large enough.
const HUGE: f64 = f64::MAX;
const NONE: Usual = Value("\"none\"");

pub(crate) const FLOW: [Key; 33] = joined(&LONG, &TRANSPORT);

pub(crate) const LONG: [Key; 10] = [
    K::new("name", &[Name], Required, "the name of the group"),
    K::new(
        "control",
        &[Controller],
        Required,
        "the controller: a name, or a table with its `kind` and its parameters, or [code](#code-of-your-own)",
    ),
    K::new("count", &[Count(1, 1_000_000)], Value("1"), "how many flows: at most a million"),
    K::new(
        "path",
        &[List(&[Name, Table("hop")])],
        Required,
        "the links to cross, in order; each at most once, and no more than 65 535; `{ link = \"b\", reverse = true }` \
         crosses one backwards",
    ),
    K::new(
        "reverse",
        &[Flag],
        Value("false"),
        "the whole path is crossed backwards: from its last link to its first, each the other way",
    ),
    K::new(
        "rtt",
        &[Time, List(&[Time]), Table("times")],
        Required,
        "round-trip propagation delay, links included: a time for each flow",
    ),
    K::new(
        "start",
        &[Time, List(&[Time]), Table("times")],
        Value("\"0 s\""),
        "when the flow begins to send: a time for each flow",
    ),
    K::new(
        "stop",
        &[Time, Word("none")],
        NONE,
        "when it stops sending new data; losses of what is already sent are still repaired",
    ),
    K::new(
        "size",
        &[Size, Packets, Word("unlimited")],
        Value("\"unlimited\""),
        "how much it has to send: bytes or `\"1000 packets\"`; it sends whole packets, rounded up",
    ),
    K::new(
        "application",
        &[Word("none"), Table("application")],
        NONE,
        "what writes its data, see [Applications](#applications); none: all of it is there from the start",
    ),
];

/// What long and short flows have in common.
pub(crate) const TRANSPORT: [Key; 23] = [
    K::new(
        "profile",
        &[Profile, Word("none")],
        NONE,
        "a named set of defaults for the keys below, see [Profiles](#profiles)",
    ),
    K::new(
        "packet",
        &[Size],
        Value("\"1500 B\""),
        "size of a data packet on the wire, headers included: 41 to 65 535 bytes",
    ),
    K::new("initial_window", &[Number(1.0, 1e7)], Value("10"), "in segments, 1 to 10⁷"),
    K::new(
        "initial_threshold",
        &[Number(2.0, HUGE), Size, Word("none")],
        NONE,
        "where slow start ends, in segments, 2 or more, or as a size such as `\"64 kB\"`; none: at the first congestion \
         event",
    ),
    K::new(
        "slow_start",
        &[Word("standard"), Word("limited"), Word("hystart"), Word("hystart++")],
        Value("\"standard\""),
        "or `\"limited\"`: at most 50 segments per round trip above a window of 100 (RFC 3742); or `\"hystart\"`: ended \
         by acknowledgments that come for half a round trip on end, or by round trips that grow (Ha & Rhee 2011; CUBIC in \
         Linux); or `\"hystart++\"`: slower once round trips grow, and ended by them (RFC 9406)",
    ),
    K::new(
        "recovery",
        &[Word("sack"), Word("newreno"), Word("reno"), Word("rack"), Word("quic")],
        Value("\"sack\""),
        "or `\"newreno\"`, `\"reno\"`, `\"rack\"`, `\"quic\"`: how losses are found and repaired, and \
         with `\"rack\"` for which controllers a needless reaction is undone, see [the \
         simulator](../concepts/simulator.md#the-sender)",
    ),
    K::new(
        "delayed_ack",
        &[Flag],
        Value("false"),
        "hold acknowledgments back as the next two keys say; at once if out of order or marked",
    ),
    K::new(
        "ack_every",
        &[Count(1, 1_000_000)],
        Value("2"),
        "with `delayed_ack`: how many segments one acknowledgment covers: at most a million",
    ),
    K::new(
        "ack_delay",
        &[Time],
        Value("\"100 ms\""),
        "with `delayed_ack`: how long it waits for these: at most one day",
    ),
    K::new(
        "rto_min",
        &[Time],
        Value("\"200 ms\""),
        "smallest retransmission time-out: at most one day",
    ),
    K::new(
        "rto_tick",
        &[Time, Word("none")],
        NONE,
        "tick of the time-out clock; time-outs last whole ticks: at most one day; none: exact",
    ),
    K::new(
        "rto_estimator",
        &[Word("rfc6298"), Word("linux")],
        Value("\"rfc6298\""),
        "how round trips become a time-out; or `\"linux\"`, see [Time-outs](../concepts/time-outs.md)",
    ),
    K::new(
        "rto_restart",
        &[Word("first"), Word("each"), Word("never")],
        Value("\"first\""),
        "which retransmissions restart the timer: those of the first unacknowledged segment, `\"each\"` in recovery, or \
         `\"never\"`",
    ),
    K::new(
        "ecn",
        &[Flag, Word("ect0"), Word("ect1")],
        Value("true"),
        "routers may mark the flow's data instead of dropping it, which is then ECT(0); `\"ect1\"`: ECT(1), with which \
         queues such as `dualpi2` give it low latency (L4S, RFC 9331); `prague` uses ECT(1) by default",
    ),
    K::new(
        "ecn_feedback",
        &[Word("echo"), Word("accurate")],
        Value("\"echo\""),
        "how its receiver reports marks: that there was one, until the sender has answered (RFC 3168); or `\"accurate\"`: \
         how many, on every acknowledgment (Accurate ECN), the default for controllers that need it",
    ),
    K::new(
        "pacing",
        &[Word("controller"), Word("none"), Word("spread"), Table("pacing")],
        Value("\"controller\""),
        "how packets that the window allows are held back: as the controller asks, or see [Pacing](#pacing)",
    ),
    K::new(
        "send_quantum",
        &[Count(1, ANY), Time, Word("none")],
        NONE,
        "how much leaves at a time where packets are paced evenly, see [Pacing](#pacing); none: one packet",
    ),
    K::new(
        "window_validation",
        &[
            Word("none"),
            Word("rfc5681"),
            Word("rfc2861"),
            Word("rfc7661"),
            Word("ratelimited-increase"),
        ],
        NONE,
        "what becomes of a window that is not used: it is kept, or see [Unused windows](#unused-windows)",
    ),
    K::new(
        "careful_resume",
        &[Word("none"), Table("careful_resume")],
        NONE,
        "what an earlier flow has learned of the path, see [Known paths](#known-paths)",
    ),
    K::new(
        "max_window",
        &[Count(1, ANY), Word("none")],
        NONE,
        "the most that may be in flight, in segments, whatever the controller says; none: a flow with 2^25 of them \
         ends the run with an error",
    ),
    K::new(
        "receive_window",
        &[Word("none"), Word("auto"), Size, Packets, Table("receive_window")],
        NONE,
        "how much the receiver lets it send, see [Receive windows](#receive-windows); none: any amount",
    ),
    K::new(
        "host_jitter",
        &[Time, Word("none")],
        NONE,
        "what the sender's host takes for each packet: a random time up to this, at most a packet time on the slowest \
         link; it breaks [phase effects](../concepts/phase-effects.md)",
    ),
    K::new(
        "access",
        &[Rate, Word("none")],
        NONE,
        "rate of the sender's own link, which has an unbounded queue; none: packets leave at once",
    ),
];

pub(crate) const HOP: [Key; 2] = [
    K::new("link", &[Name], Required, "the name of the link"),
    K::new("reverse", &[Flag], Value("false"), "it is crossed backwards"),
];

pub(crate) const TRAFFIC: [Key; 34] = joined(&SHORT, &TRANSPORT);

pub(crate) const SHORT: [Key; 11] = [
    K::new("name", &[Name], Required, "the name of the group"),
    K::new("control", &[Controller], Required, "the controller of each flow"),
    K::new("path", &[List(&[Name, Table("hop")])], Required, "the links to cross, in order"),
    K::new("reverse", &[Flag], Value("false"), "the links are crossed backwards"),
    K::new(
        "arrivals",
        &[Table("arrivals")],
        Told("required, unless there is a `replay`"),
        "how often a flow arrives: a table with `poisson` or `load`",
    ),
    K::new(
        "count",
        &[Count(1, ANY), Word("none")],
        NONE,
        "how many arrive in total; none: arrivals last as long as the run",
    ),
    K::new(
        "size",
        &[Size, Packets, Table("sizes")],
        Told("required, unless there is a `replay`"),
        "how much each sends: a size or `\"30 packets\"`, or a distribution",
    ),
    K::new(
        "rtt",
        &[Time, Table("drawn_time")],
        Required,
        "round-trip propagation delay, links included: a time, or `{ uniform = [..] }` drawn for each flow",
    ),
    K::new("start", &[Time], Value("\"0 s\""), "when arrivals begin"),
    K::new("stop", &[Time, Word("none")], NONE, "when arrivals end; flows in progress continue"),
    K::new(
        "replay",
        &[Text, Resolved],
        NONE,
        "the flows one by one, instead of `arrivals`, `count` and `size`: the name of a file, see [Lists of \
         flows](#lists-of-flows)",
    ),
];

pub(crate) const PACING: [Key; 4] = [
    K::new(
        "spread",
        &[Number(0.01, 100.0)],
        Required,
        "so many windows spread evenly over a smoothed round trip: 0.01 to 100",
    ),
    K::new("blocks", &[Count(1, ANY)], Required, "a window in so many blocks; not in slow start"),
    K::new(
        "loose_blocks",
        &[Count(1, ANY)],
        Required,
        "the same, but an acknowledgment lets the next block begin before its time",
    ),
    K::new("rate", &[Frequency], Required, "at most this many packets per second"),
];

pub(crate) const CAREFUL_RESUME: [Key; 2] = [
    K::new("window", &[Number(2.0, 1e7)], Required, "the window of the earlier flow, in segments"),
    K::new("rtt", &[Time], Required, "its round trip"),
];

pub(crate) const RECEIVE_WINDOW: [Key; 5] = [
    K::new(
        "kind",
        &[Word("right-sizing"), Word("sender-tuned"), Word("fixed")],
        Value("\"right-sizing\""),
        "who chooses the size: `\"fixed\"`; `\"right-sizing\"`: the receiver, twice what arrives in a round trip; \
         `\"sender-tuned\"`: the sender, two to four congestion windows",
    ),
    K::new("size", &[Size, Packets], Told("required"), "of a fixed one"),
    K::new(
        "initial",
        &[Size, Packets],
        Value("\"65535 B\""),
        "what others begin with; less if `most` is",
    ),
    K::new("most", &[Size, Packets], Value("\"6 MB\""), "what they grow to"),
    K::new(
        "scale",
        &[Count(0, 14)],
        Told("as needed"),
        "the window scale of RFC 7323, 0 to 14: windows are told in units of 2^`scale` bytes, rounded down, and at most \
         65 535 of these",
    ),
];
