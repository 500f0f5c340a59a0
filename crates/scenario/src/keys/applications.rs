//! What writes data, and what is drawn at random.

use super::Accepts::{
    Count, Flag, Frequency, List, Number, Packets, Pair, Percent, Rate, Size, Table, Time, Word,
};
use super::Key;
use super::Usual::{Required, Told, Value};

use Key as K;

const ANY: u64 = u64::MAX;
/// Any number that is large enough.
const HUGE: f64 = f64::MAX;

const KIND: &str = "which of the kinds it is";
const REQUEST: Key = K::new(
    "request",
    &[Size, Packets],
    Value("\"400 B\""),
    "size of a request on the wire: more than 40 bytes",
);
const THINK: Key = K::new(
    "think",
    &[Time, Table("interval")],
    Value("\"0 s\""),
    "from the end of what was asked for to the next request",
);
const WRITE: Key = K::new(
    "write",
    &[Size, Packets],
    Value("\"1 packets\""),
    "size of a write: whole packets, so that the rate on the wire is the rate written",
);

pub(crate) const CONSTANT: [Key; 4] = [
    K::new("kind", &[Word("constant")], Required, KIND),
    K::new("rate", &[Rate], Required, "mean rate of the writes"),
    WRITE,
    K::new(
        "poisson",
        &[Flag],
        Value("false"),
        "`true`: exponential times between writes; `false`: always the same, and the first at `start`",
    ),
];

pub(crate) const ON_OFF: [Key; 5] = [
    K::new("kind", &[Word("on-off")], Required, KIND),
    K::new("rate", &[Rate], Required, "rate of the writes while it is on"),
    WRITE,
    K::new("on", &[Time, Table("interval")], Required, "how long it is on; it begins on"),
    K::new("off", &[Time, Table("interval")], Required, "how long it is off, in turns"),
];

pub(crate) const REQUEST_RESPONSE: [Key; 4] = [
    K::new("kind", &[Word("request-response")], Required, KIND),
    REQUEST,
    K::new(
        "response",
        &[Size, Packets, Table("sizes")],
        Required,
        "size of a response: as `size` of [short flows](#short-flows)",
    ),
    THINK,
];

pub(crate) const WEB: [Key; 6] = [
    K::new("kind", &[Word("web")], Required, KIND),
    REQUEST,
    K::new(
        "objects",
        &[Count(1, ANY), Table("numbers")],
        Required,
        "how many objects a page has, the page itself included: 20, `{ uniform = [1, 40] }` or `{ geometric = 20 }`, the \
         mean",
    ),
    K::new(
        "object",
        &[Size, Packets, Table("sizes")],
        Required,
        "size of an object: as `size` of [short flows](#short-flows)",
    ),
    K::new(
        "connections",
        &[Count(1, 100)],
        Value("6"),
        "connections of a client, 1 to 100; each of them is a flow",
    ),
    THINK,
];

pub(crate) const VIDEO: [Key; 9] = [
    K::new("kind", &[Word("video")], Required, KIND),
    REQUEST,
    K::new(
        "ladder",
        &[List(&[Rate])],
        Required,
        "the bit rates there are, as a list in increasing order",
    ),
    K::new("chunk", &[Time], Value("\"4 s\""), "how long a chunk plays"),
    K::new(
        "buffer",
        &[Time],
        Value("\"240 s\""),
        "how much the client holds at most: two chunks or more",
    ),
    K::new(
        "rule",
        &[Word("buffer"), Word("throughput")],
        Value("\"buffer\""),
        "how it chooses a bit rate, see below; or `\"throughput\"`",
    ),
    K::new(
        "reservoir",
        &[Time],
        Told("3/8 of `buffer`"),
        "with `\"buffer\"`: up to here it asks for the lowest rate",
    ),
    K::new(
        "cushion",
        &[Time],
        Told("21/40 of `buffer`"),
        "with `\"buffer\"`: over this, above the reservoir, the rate climbs to the highest",
    ),
    K::new(
        "margin",
        &[Number(0.0, HUGE)],
        Value("0.85"),
        "with `\"throughput\"`: the share of the throughput that a bit rate may have",
    ),
];

pub(crate) const TIMES: [Key; 2] = [
    K::new(
        "spread",
        &[Pair(&[Time])],
        Required,
        "even steps from the first to the second, both included; the first may be the larger",
    ),
    K::new("uniform", &[Pair(&[Time])], Required, "drawn evenly between the two, from the seed"),
];

pub(crate) const DRAWN_TIME: [Key; 1] =
    [K::new("uniform", &[Pair(&[Time])], Required, "drawn evenly between the two for each flow")];

pub(crate) const INTERVAL: [Key; 3] = [
    K::new("exponential", &[Time], Required, "exponential times with this mean"),
    K::new("pareto", &[Table("pareto_time")], Required, "heavy-tailed times"),
    K::new("uniform", &[Pair(&[Time])], Required, "drawn evenly between the two"),
];

pub(crate) const PARETO_TIME: [Key; 2] = [
    K::new("mean", &[Time], Required, "the mean"),
    K::new("shape", &[Number(1.0, HUGE)], Required, "above 1; up to 2 the variance is infinite"),
];

pub(crate) const ARRIVALS: [Key; 2] = [
    K::new("poisson", &[Frequency], Required, "the mean number per second"),
    K::new(
        "load",
        &[Percent, Number(0.0, 10.0)],
        Required,
        "the share of the first link of the path that their data would fill",
    ),
];

pub(crate) const SIZES: [Key; 4] = [
    K::new("pareto", &[Table("pareto_size")], Required, "heavy-tailed"),
    K::new("exponential", &[Table("mean_size")], Required, "exponential"),
    K::new("lognormal", &[Table("lognormal_size")], Required, "lognormal"),
    K::new("uniform", &[Pair(&[Size, Packets])], Required, "evenly between the two"),
];

pub(crate) const PARETO_SIZE: [Key; 2] = [
    K::new("mean", &[Size, Packets], Required, "the mean"),
    K::new("shape", &[Number(1.0, HUGE)], Required, "above 1; up to 2 the variance is infinite"),
];

pub(crate) const MEAN_SIZE: [Key; 1] = [K::new("mean", &[Size, Packets], Required, "the mean")];

pub(crate) const LOGNORMAL_SIZE: [Key; 2] = [
    K::new("mean", &[Size, Packets], Required, "the mean"),
    K::new("sigma", &[Number(0.0, HUGE)], Required, "the standard deviation of the logarithm"),
];

pub(crate) const NUMBERS: [Key; 2] = [
    K::new("uniform", &[Pair(&[Count(1, ANY)])], Required, "drawn evenly between the two"),
    K::new("geometric", &[Number(1.0, HUGE)], Required, "the mean of a geometric distribution"),
];
