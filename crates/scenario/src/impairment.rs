//! What a link does to packets beyond queueing, delaying and corrupting them: jitter, reordering, duplicates, bursts of
//! losses, token buckets, fewer and later acknowledgments.

use longfat_units::{Bytes, Rate, Span};
use serde_json::{Map, Value as Json, json};

use crate::error::{Problem, Problems};
use crate::fields::{Field, Fields};
use crate::keys;
use crate::lengths::Ruler;
use crate::tree::{TomlTable, Value};
use crate::value::{count, flag, number, quantity, rate, wait, word};
use crate::written::number as written;

const JITTER_KEYS: &[&str] = &["kind", "most", "ordered", "interval", "packets"];
const GAUSSIAN: &str = "gaussian";
const WIFI: &str = "wifi";
const REORDER_KEYS: &[&str] = &keys::names(&keys::REORDER);
const BURST_KEYS: &[&str] = &keys::names(&keys::BURST_LOSS);
const BUCKET_KEYS: &[&str] = &keys::names(&keys::BUCKET);
const ACKNOWLEDGMENT_KEYS: &[&str] = &keys::names(&keys::ACKNOWLEDGMENTS);
const ALL: &str = "all";
const NEWEST: &str = "newest";
const KEPT: &str = "kept";
const BLEACHED: &str = "bleached";
const ECT0: &str = "ect0";

/// The frames of a block acknowledgment of IEEE 802.11n.
const AGGREGATED: u64 = 64;

/// What a wire does to packets.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Impairments {
    /// How delays vary.
    pub jitter: Option<Jitter>,
    /// Packets that come late.
    pub reorder: Option<Reorder>,
    /// The probability that a packet arrives twice.
    pub duplicate: f64,
    /// Losses that come in bursts.
    pub burst_loss: Option<GilbertElliott>,
    /// What of the arrivals is let in.
    pub policer: Option<TokenBucket>,
    /// When packets may leave.
    pub shaper: Option<TokenBucket>,
    /// What becomes of acknowledgments.
    pub acknowledgments: Option<Thinning>,
    /// What becomes of the ECN field.
    pub ecn: EcnField,
}

/// How the delay of a wire varies from packet to packet. It never becomes shorter than that of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Gaussian with mean `most`/2 and standard deviation `most`/6, truncated at 0 and `most`: three standard
    /// deviations on either side, after RFC 8868.
    Gaussian {
        /// The longest additional delay.
        most: Span,
        /// Does a packet wait for the one before it? Otherwise it may pass it.
        ordered: bool,
    },
    /// As on a shared radio channel: a sender gets the channel after half to one and a half times `interval`, evenly
    /// distributed, and then sends what it has, up to `packets` packets, in one frame.
    Wifi {
        /// The mean time between two frames.
        interval: Span,
        /// How many packets fit into a frame.
        packets: u64,
    },
}

/// A token bucket: it fills at `rate`, holds `burst`, and a packet takes its size from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenBucket {
    /// How fast it fills.
    pub rate: Rate,
    /// How much it holds; full at the start.
    pub burst: Bytes,
}

/// Which acknowledgments a link lets pass, and when: those that the newest one makes superfluous may go (RFC 3449,
/// section 5.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thinning {
    /// How long acknowledgments are held, from the first one on, before all of them join the queue together; `None`:
    /// they join it at once.
    pub hold: Option<Span>,
    /// Which of them remain where they wait: of those that are held or, if none are, of those in the queue.
    pub keep: Keep,
}

/// Which of the acknowledgments of a flow that wait in the same place remain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Every one.
    #[default]
    All,
    /// The newest.
    Newest,
    /// One for so many, 2 or more.
    OneOf(u64),
}

/// What a link does to the ECN field of packets that leave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Nothing.
    #[default]
    Kept,
    /// It is cleared, marks included: routers and receivers behind this link see no ECN.
    Bleached,
    /// ECT(1) becomes ECT(0).
    Ect0,
}

/// Some packets come late.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reorder {
    /// The probability that a packet is one of them.
    pub probability: f64,
    /// How much later it comes.
    pub distance: Span,
}

/// The model of Gilbert (1960) and Elliott (1963): a Markov chain of two states, one step for each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GilbertElliott {
    /// The probability of going from the good to the bad state.
    pub p: f64,
    /// The probability of going from the bad to the good state.
    pub r: f64,
    /// The probability of a loss in the good state.
    pub good: f64,
    /// The probability of a loss in the bad state.
    pub bad: f64,
}

impl Impairments {
    /// Does the wire do nothing of this?
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// How fast packets leave a line of this rate in the long run, as its queue should know: a shaper stands between the
    /// two.
    pub fn slowed(&self, rate: Rate) -> Rate {
        self.shaper.map_or(rate, |shaper| shaper.rate.min(rate))
    }

    /// May packets pass one another?
    pub fn reorder_packets(&self) -> bool {
        self.reorder.is_some()
            || matches!(self.jitter, Some(Jitter::Gaussian { ordered: false, .. }))
    }
}

impl Thinning {
    fn written(self) -> Json {
        let keep = match self.keep {
            Keep::All => ALL.into(),
            Keep::Newest => NEWEST.into(),
            Keep::OneOf(count) => format!("1/{count}"),
        };
        match self.hold {
            None => json!({ "keep": keep }),
            Some(hold) => json!({ "keep": keep, "hold": hold.to_string() }),
        }
    }
}

/// Reads the impairments in the table of a direction. What has a problem, which is noted, counts as absent.
pub(crate) fn impairments(
    table: &TomlTable,
    ruler: Option<Ruler>,
    problems: &mut Problems,
) -> Impairments {
    let field = |name: &'static str| table.node(name).map(|node| Field { name, node });
    Impairments {
        jitter: field("jitter").and_then(|field| jitter(field, problems)),
        reorder: field("reorder").and_then(|field| reorder(field, ruler, problems)),
        duplicate: field("duplicate")
            .and_then(|field| problems.keep(number(field, 0.0, 1.0)))
            .unwrap_or(0.0),
        burst_loss: field("burst_loss").and_then(|field| burst_loss(field, problems)),
        policer: field("policer").and_then(|field| bucket(field, "a policer", ruler, problems)),
        shaper: field("shaper").and_then(|field| bucket(field, "a shaper", ruler, problems)),
        acknowledgments: field("acknowledgments")
            .and_then(|field| acknowledgments(field, problems)),
        ecn: field("ecn").and_then(|field| problems.keep(ecn(field))).unwrap_or_default(),
    }
}

/// The table that a field is; `None` if it is false, or if there is a problem, which is noted.
fn table<'a>(
    field: Field<'a>,
    class: &'static str,
    keys: &'static [&'static str],
    example: &str,
    problems: &mut Problems,
) -> Option<Fields<'a>> {
    match &field.node.value {
        Value::Flag(false) => None,
        Value::Table(table) => {
            let owner = format!("`{}`", field.name);
            let fields = Fields { owner, class, home: field.node.place, keys, table };
            fields.refuse_strangers(problems);
            Some(fields)
        }
        _ => {
            problems.add(field.wrong(&format!("false, or a table such as {example}")));
            None
        }
    }
}

fn jitter(field: Field<'_>, problems: &mut Problems) -> Option<Jitter> {
    if field.node.text().is_some() {
        let most = problems.keep(wait(field))?;
        return Some(Jitter::Gaussian { most, ordered: true });
    }
    let example = "{ kind = \"gaussian\", most = \"30 ms\" }";
    let fields = table(field, "a jitter", JITTER_KEYS, example, problems)?;
    let kind = fields.or("kind", GAUSSIAN, problems, |field| word(field, &[GAUSSIAN, WIFI]))?;
    let is_wifi = kind == WIFI;
    let strange: &[&str] = if is_wifi { &["most", "ordered"] } else { &["interval", "packets"] };
    for field in strange.iter().filter_map(|name| fields.find(name)) {
        let reason = format!("a jitter of the kind \"{kind}\" has no `{}`", field.name);
        problems.add(field.problem(reason));
    }
    if is_wifi {
        let interval = fields.required("interval", "interval = \"4 ms\"", problems, positive)?;
        let packets =
            fields.or("packets", AGGREGATED, problems, |field| count(field, 1, 1_000_000))?;
        return Some(Jitter::Wifi { interval, packets });
    }
    let most = fields.required("most", "most = \"30 ms\"", problems, wait)?;
    let ordered = fields.or("ordered", true, problems, flag)?;
    Some(Jitter::Gaussian { most, ordered })
}

fn positive(field: Field<'_>) -> Result<Span, Problem> {
    let span = wait(field)?;
    if span == Span::ZERO {
        return Err(field.problem(format!("`{}` must be longer than zero", field.name)));
    }
    Ok(span)
}

fn reorder(field: Field<'_>, ruler: Option<Ruler>, problems: &mut Problems) -> Option<Reorder> {
    let example = "{ probability = 0.01, distance = \"3 packets\" }";
    let fields = table(field, "a reordering", REORDER_KEYS, example, problems)?;
    let probability = fields
        .required("probability", "probability = 0.01", problems, |field| number(field, 0.0, 1.0));
    let distance = fields
        .required("distance", "distance = \"3 packets\"", problems, |field| distance(field, ruler));
    Some(Reorder { probability: probability?, distance: distance? })
}

/// A time, or the time that the link takes for so many of its largest packets; one picosecond more for each, so that
/// rounding does not bring the packet back before the last of them.
fn distance(field: Field<'_>, ruler: Option<Ruler>) -> Result<Span, Problem> {
    let text = field.node.text().unwrap_or_default();
    let Some(packets) = text.strip_suffix("packets").or(text.strip_suffix("packet")) else {
        return if text.is_empty() {
            Err(field.wrong("a time, or a distance such as \"3 packets\""))
        } else {
            wait(field)
        };
    };
    let packets = packets.trim().parse().ok().filter(|packets| (1..=1_000_000).contains(packets));
    let Some(packets) = packets else {
        return Err(field.wrong("a whole number of packets from 1 to 1000000, or a time"));
    };
    let Some(ruler) = ruler else { return Ok(Span::ZERO) };
    let time = ruler.rate.time_for(Bytes(ruler.packet.0 * packets));
    if time >= crate::value::LONGEST_WAIT {
        let takes =
            if time == Span(u64::MAX) { "more than 213 days".into() } else { time.to_string() };
        return Err(
            field.problem(format!("so many packets take {takes}, and at most one day is possible"))
        );
    }
    Ok(time + Span(packets))
}

fn burst_loss(field: Field<'_>, problems: &mut Problems) -> Option<GilbertElliott> {
    let example = "{ p = 0.01, r = 0.3 }";
    let fields = table(field, "a model of losses in bursts", BURST_KEYS, example, problems)?;
    let positive = |field: Field<'_>| number(field, f64::MIN_POSITIVE, 1.0);
    let share = |field: Field<'_>| number(field, 0.0, 1.0);
    let p = fields.required("p", "p = 0.01", problems, positive);
    let r = fields.required("r", "r = 0.3", problems, positive);
    let good = fields.or("good", 0.0, problems, share);
    let bad = fields.or("bad", 1.0, problems, share);
    Some(GilbertElliott { p: p?, r: r?, good: good?, bad: bad? })
}

fn bucket(
    field: Field<'_>,
    class: &'static str,
    ruler: Option<Ruler>,
    problems: &mut Problems,
) -> Option<TokenBucket> {
    let example = "{ rate = \"5 Mbit/s\", burst = \"30 kB\" }";
    let fields = table(field, class, BUCKET_KEYS, example, problems)?;
    let filling = fields.required("rate", "rate = \"5 Mbit/s\"", problems, rate);
    let burst = fields.required("burst", "burst = \"30 kB\"", problems, |field| {
        let burst: Bytes = quantity(field)?;
        match ruler {
            Some(Ruler { packet, .. }) if burst < packet => Err(field.problem(format!(
                "no packet of {packet}, the largest that crosses this link, would ever find so many tokens"
            ))),
            _ => Ok(burst),
        }
    });
    Some(TokenBucket { rate: filling?, burst: burst? })
}

fn acknowledgments(field: Field<'_>, problems: &mut Problems) -> Option<Thinning> {
    let example = "{ keep = \"newest\" }, { keep = \"1/4\" } or { hold = \"5 ms\" }";
    let fields =
        table(field, "what becomes of acknowledgments", ACKNOWLEDGMENT_KEYS, example, problems)?;
    let keep = fields.or("keep", Keep::All, problems, keep);
    let hold = fields.or("hold", None, problems, |field| positive(field).map(Some));
    let thinning = Thinning { hold: hold?, keep: keep? };
    if thinning == Thinning::default() {
        let reason = "every acknowledgment would pass at once, as without this table";
        problems.add(field.problem(reason).help(format!("write {example}, or leave it out")));
        return None;
    }
    Some(thinning)
}

/// A word, or one of a number.
fn keep(field: Field<'_>) -> Result<Keep, Problem> {
    let text = field.node.text().unwrap_or_default();
    let count =
        || text.strip_prefix("1/")?.parse().ok().filter(|count| (2..=65_535).contains(count));
    match text {
        ALL => Ok(Keep::All),
        NEWEST => Ok(Keep::Newest),
        _ => count().map(Keep::OneOf).ok_or_else(|| {
            field.wrong(
                "\"all\", \"newest\", or one of up to 65535 acknowledgments, such as \"1/4\"",
            )
        }),
    }
}

fn ecn(field: Field<'_>) -> Result<EcnField, Problem> {
    word(field, &[KEPT, BLEACHED, ECT0]).map(|word| match word {
        BLEACHED => EcnField::Bleached,
        ECT0 => EcnField::Ect0,
        _ => EcnField::Kept,
    })
}

/// Adds to `pairs` what differs from a wire without impairments. Where the `other` direction
/// has an impairment that this one lacks, this one says so.
pub(crate) fn write_impairments(
    given: &Impairments,
    other: &Impairments,
    pairs: &mut Map<String, Json>,
) {
    let Impairments {
        jitter,
        reorder,
        duplicate,
        burst_loss,
        policer,
        shaper,
        acknowledgments,
        ecn,
    } = given;
    let off = || Json::Bool(false);
    if jitter.is_some() || other.jitter.is_some() {
        let value = jitter.map_or_else(off, |jitter| match jitter {
            Jitter::Gaussian { most, ordered } => {
                json!({ "kind": GAUSSIAN, "most": most.to_string(), "ordered": ordered })
            }
            Jitter::Wifi { interval, packets } => {
                json!({ "kind": WIFI, "interval": interval.to_string(), "packets": packets })
            }
        });
        pairs.insert("jitter".into(), value);
    }
    if reorder.is_some() || other.reorder.is_some() {
        let value = reorder.map_or_else(off, |Reorder { probability, distance }| {
            json!({ "probability": written(probability), "distance": distance.to_string() })
        });
        pairs.insert("reorder".into(), value);
    }
    if *duplicate > 0.0 || other.duplicate > 0.0 {
        pairs.insert("duplicate".into(), written(*duplicate));
    }
    if burst_loss.is_some() || other.burst_loss.is_some() {
        let value = burst_loss.map_or_else(off, |GilbertElliott { p, r, good, bad }| {
            json!({ "p": written(p), "r": written(r), "good": written(good), "bad": written(bad) })
        });
        pairs.insert("burst_loss".into(), value);
    }
    let buckets = [("policer", policer, &other.policer), ("shaper", shaper, &other.shaper)];
    for (key, bucket, other) in buckets {
        if bucket.is_some() || other.is_some() {
            let value = bucket.map_or_else(off, |TokenBucket { rate, burst }| {
                json!({ "rate": rate.to_string(), "burst": burst.to_string() })
            });
            pairs.insert(key.into(), value);
        }
    }
    if acknowledgments.is_some() || other.acknowledgments.is_some() {
        let value = acknowledgments.map_or_else(off, Thinning::written);
        pairs.insert("acknowledgments".into(), value);
    }
    if [*ecn, other.ecn] != [EcnField::Kept; 2] {
        let word = match ecn {
            EcnField::Kept => KEPT,
            EcnField::Bleached => BLEACHED,
            EcnField::Ect0 => ECT0,
        };
        pairs.insert("ecn".into(), word.into());
    }
}
