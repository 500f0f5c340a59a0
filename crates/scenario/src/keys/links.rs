//! The top of a scenario file, and its links.

use super::Accepts::{
    Count, Flag, Length, List, Number, Only, Packets, Pattern, Queue, Rate, Resolved, Size, Table,
    Tables, Text, Time, Word,
};
use super::Usual::{Required, Told, Value};
use super::{Key, Usual};

use Key as K;

const ANY: u64 = u64::MAX;
const BELOW_ONE: f64 = 1.0 - f64::EPSILON;
const SWITCHED_OFF: Usual = Value("false");
const NONE: Usual = Value("\"none\"");

pub(crate) const SCENARIO: [Key; 9] = [
    K::new("duration", &[Time], Required, "how long to simulate: more than 0, at most 200 days"),
    K::new(
        "warmup",
        &[Time],
        Value("\"0 s\""),
        "how much of the beginning is left out of every average: less than `duration`",
    ),
    K::new(
        "seed",
        &[Count(0, ANY)],
        Value("1"),
        "the origin of all random numbers: a whole number",
    ),
    K::new(
        "sample",
        &[Time],
        Told("about 500 rows"),
        "spacing of the time series, at most a million rows; changes nothing else",
    ),
    K::new(
        "observe",
        &[Flag],
        Value("false"),
        "whether the time series hold the [variables of controllers](results.md#variables-of-controllers); changes \
         nothing else",
    ),
    K::new(
        "delay_percentiles",
        &[Flag],
        Value("false"),
        "whether long flows tell [percentiles of their queueing delay](results.md#percentiles-of-delay), besides its \
         mean; changes nothing else",
    ),
    K::new("link", &[Tables("link")], Required, "the [links](#links), by their names"),
    K::new("flow", &[List(&[Table("flow")])], Told("no flows"), "groups of [long flows](#flows)"),
    K::new(
        "traffic",
        &[List(&[Table("traffic")])],
        Told("no flows"),
        "groups of [short flows](#short-flows)",
    ),
];

/// The last two are not those of a reverse direction.
pub(crate) const LINK: [Key; 18] = [
    K::new(
        "rate",
        &[Rate],
        Told("required, unless there is a `trace`"),
        "how fast bits leave: more than 0, at most 320 Tbit/s; with a `trace`: its mean",
    ),
    K::new("delay", &[Time], Required, "propagation delay in one direction: at most one day"),
    K::new(
        "loss",
        &[Number(0.0, BELOW_ONE)],
        Value("0"),
        "probability that a packet is corrupted on the wire, after the queue, whatever its kind: below 1",
    ),
    K::new(
        "buffer",
        &[Length, Word("unlimited")],
        Value("\"1 bdp\""),
        "how much the queue can hold, not counting the packet in service: a length, or `\"unlimited\"`",
    ),
    K::new("bdp", &[Time], Told("mean round trip"), "the round trip behind lengths in `bdp`"),
    K::new(
        "queue",
        &[Queue],
        Value("\"drop-tail\""),
        "the queue discipline: a name, or a table with its `kind` and its parameters",
    ),
    K::new(
        "anti_ecn",
        &[Flag, Table("anti_ecn")],
        SWITCHED_OFF,
        "how the link tells packets that it has room, see [AntiECN](#antiecn); `false`: it does not",
    ),
    K::new(
        "trace",
        &[Text, Resolved],
        NONE,
        "when packets may leave, instead of at `rate`, or a table of changes, see [Traces](#traces)",
    ),
    K::new(
        "jitter",
        &[Only(false), Time, Table("jitter")],
        SWITCHED_OFF,
        "how the delay differs from packet to packet, see [Impairments](#impairments)",
    ),
    K::new(
        "reorder",
        &[Only(false), Table("reorder")],
        SWITCHED_OFF,
        "packets that come late, see there",
    ),
    K::new("duplicate", &[Number(0.0, 1.0)], Value("0"), "probability that a packet arrives twice"),
    K::new(
        "burst_loss",
        &[Only(false), Table("burst_loss")],
        SWITCHED_OFF,
        "losses that come in bursts, see there",
    ),
    K::new(
        "policer",
        &[Only(false), Table("bucket")],
        SWITCHED_OFF,
        "which arrivals are let in, see there",
    ),
    K::new(
        "shaper",
        &[Only(false), Table("bucket")],
        SWITCHED_OFF,
        "when packets may leave, see there",
    ),
    K::new(
        "acknowledgments",
        &[Only(false), Table("acknowledgments")],
        SWITCHED_OFF,
        "which acknowledgments pass, and when, see there",
    ),
    K::new(
        "ecn",
        &[Word("kept"), Word("bleached"), Word("ect0")],
        Value("\"kept\""),
        "what becomes of the ECN field: `\"bleached\"`: cleared as a packet leaves, marks included; `\"ect0\"`: ECT(1) \
         becomes ECT(0)",
    ),
    K::new(
        "reverse",
        &[Table("reverse")],
        Told("nothing"),
        "a table of the same keys: what is different in the reverse direction",
    ),
    K::new(
        "change",
        &[List(&[Table("change")])],
        Told("nothing"),
        "a list of tables: what the link is from when on, see [Links that change](#links-that-change)",
    ),
];

pub(crate) const CHANGE: [Key; 7] = [
    K::new("at", &[Time], Required, "when the change begins"),
    K::new(
        "over",
        &[Time],
        Value("\"0 s\""),
        "how long it takes: a straight line to the new values; zero: a jump",
    ),
    K::new(
        "every",
        &[Time, Word("none")],
        NONE,
        "how often it begins again: at `at`, `at` + `every`, `at` + 2 `every`, …",
    ),
    K::new("rate", &[Rate], Told("as it is"), "the new rate; `\"0 bit/s\"` is an outage"),
    K::new("delay", &[Time], Told("as it is"), "the new propagation delay"),
    K::new(
        "loss",
        &[Number(0.0, 1.0)],
        Told("as it is"),
        "the new probability of corruption, at most 1",
    ),
    K::new(
        "reverse",
        &[Flag],
        Told("both"),
        "`true`: only the reverse direction changes; `false`: only the forward one",
    ),
];

pub(crate) const GAUSSIAN: [Key; 3] = [
    K::new("kind", &[Word("gaussian")], Value("\"gaussian\""), "a truncated Gaussian"),
    K::new(
        "most",
        &[Time],
        Required,
        "the longest additional delay: the Gaussian around half of it, with a sixth of it as its standard deviation, is \
         truncated at 0 and here, three standard deviations on either side",
    ),
    K::new(
        "ordered",
        &[Flag],
        Value("true"),
        "a packet waits for the one before it; `false`: it may pass it",
    ),
];

pub(crate) const WIFI: [Key; 3] = [
    K::new("kind", &[Word("wifi")], Required, "frames on a shared radio channel"),
    K::new(
        "interval",
        &[Time],
        Required,
        "mean time between two frames on a shared radio channel: half of it to one and a half, evenly distributed",
    ),
    K::new(
        "packets",
        &[Count(1, ANY)],
        Value("64"),
        "how many packets fit into a frame; all of them arrive at once",
    ),
];

pub(crate) const REORDER: [Key; 2] = [
    K::new("probability", &[Number(0.0, 1.0)], Required, "that a packet is late"),
    K::new(
        "distance",
        &[Time, Packets],
        Required,
        "how late: a time, or `\"3 packets\"`, which is the time that the link takes for three of the largest ones",
    ),
];

pub(crate) const BURST_LOSS: [Key; 4] = [
    K::new(
        "p",
        &[Number(0.0, 1.0)],
        Required,
        "probability of going from the good to the bad state, with each packet",
    ),
    K::new("r", &[Number(0.0, 1.0)], Required, "probability of going back"),
    K::new("good", &[Number(0.0, 1.0)], Value("0"), "probability of a loss in the good state"),
    K::new("bad", &[Number(0.0, 1.0)], Value("1"), "probability of a loss in the bad state"),
];

pub(crate) const BUCKET: [Key; 2] = [
    K::new("rate", &[Rate], Required, "how fast its token bucket fills"),
    K::new(
        "burst",
        &[Size],
        Required,
        "how much the bucket holds, at least the largest packet that crosses; it is full at the start",
    ),
];

pub(crate) const ACKNOWLEDGMENTS: [Key; 2] = [
    K::new(
        "keep",
        &[Word("all"), Word("newest"), Pattern("1/[0-9]+")],
        Value("\"all\""),
        "which acknowledgments of a flow remain where they wait: `\"newest\"`, or one for several, such as `\"1/4\"`",
    ),
    K::new(
        "hold",
        &[Time],
        Told("none"),
        "how long acknowledgments are held before the queue: from the first one that comes, then all of them join it \
         together",
    ),
];

pub(crate) const ANTI_ECN: [Key; 3] = [
    K::new(
        "threshold",
        &[Number(0.0, 1.0)],
        Value("0.5"),
        "the share of the rate at which the virtual queue drains: above 0, at most 1",
    ),
    K::new(
        "buffer",
        &[Length, Word("unlimited")],
        Value("\"1 bdp\""),
        "how much the virtual queue holds: a length of at least one packet, or `\"unlimited\"`",
    ),
    K::new(
        "mode",
        &[Word("and"), Word("overwrite")],
        Value("\"and\""),
        "`\"and\"`: clear the bit where there is no room; `\"overwrite\"`: set it to what this link says, as the paper \
         words it",
    ),
];
