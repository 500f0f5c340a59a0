//! What is simulated: links, flows, and for how long.
//!
//! A [`Scenario`] is checked and complete: every default is filled in, every reference resolved, every
//! length converted. It comes from a scenario file and can be written as one.
//!
//! Every model reads the same file and the same [`Scenario`]: the packet simulator and the fluid model sit above this
//! crate and take from a scenario what they support. Their random numbers come from here too ([`chance`]), so that a
//! flow whose start is random starts at the same time in both.

mod anti_ecn;
mod application;
mod catalogue;
pub mod chance;
mod change;
mod choice;
mod control;
mod course;
mod error;
mod fields;
mod flow;
mod group;
mod impairment;
mod interval;
pub mod keys;
mod lengths;
mod link;
mod overrides;
mod profile;
mod read;
mod receive_window;
mod replay;
mod size;
mod spans;
mod trace;
mod traffic;
mod transport;
mod tree;
mod value;
mod write;
mod written;

use std::sync::Arc;

pub use longfat_control::SendQuantum;
use longfat_control::{Controller, Pacing, SlowStart};
use longfat_queue::{Capacity, Discipline, Site};
use longfat_units::fault::Member;
use longfat_units::parameter::{Entry, Settings};
use longfat_units::{Bytes, Ecn, Rate, Span};

pub use application::{Application, BitRateRule, Objects, Video, Writes};
pub use catalogue::{Catalogue, CatalogueError, Code};
pub use change::{Change, LinkCourse};
pub use course::{Between, Course, Step, Tidings};
pub use error::{Diagnostic, Location, ScenarioError};
pub use impairment::{
    EcnField, GilbertElliott, Impairments, Jitter, Keep, Reorder, Thinning, TokenBucket,
};
pub use interval::Interval;
pub use profile::{PROFILES, Profile};
pub use receive_window::{ReceiveBuffer, ReceiveWindow};
pub use replay::{ListedFlow, ListedKind, Replay};
pub use trace::{Files, OPPORTUNITY, Trace};

/// The smallest packet there is: an acknowledgment, or the headers of a data packet.
pub const ACK: Bytes = Bytes(40);

/// A complete, checked description of one simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// How long to simulate.
    pub duration: Span,
    /// How much of the beginning is left out of every average; shorter than `duration`.
    pub warmup: Span,
    /// The seed of every stream of random numbers.
    pub seed: u64,
    /// Spacing of the time series.
    pub sample: Span,
    /// Do the time series hold the variables of controllers ([`observe`](longfat_control::CongestionControl::observe))?
    pub observe: bool,
    /// Are percentiles of the queueing delay of each long flow told, besides its mean?
    pub delay_percentiles: bool,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
    /// The groups of long flows, in the order of the file.
    pub flows: Vec<FlowGroup>,
    /// The groups of short flows, which arrive at random, in the order of the file.
    pub traffic: Vec<TrafficGroup>,
    /// What the scenario could choose from.
    pub catalogue: Catalogue,
}

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// Its name, unique among links.
    pub name: String,
    /// The direction in which paths cross it unless they are reversed.
    pub forward: Direction,
    /// The other direction.
    pub reverse: Direction,
    /// How they change in time, in the order of the file.
    pub changes: Vec<Change>,
}

/// One direction of a link: a queue, a transmitter, a wire.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Direction {
    /// How fast bits leave, before the first change; of a link that follows a trace, what lengths are converted with.
    pub rate: Rate,
    /// Propagation delay of the wire, before the first change.
    pub delay: Span,
    /// Probability that a packet is corrupted on the wire, before the first change.
    pub loss: f64,
    /// When packets may leave, instead of at `rate`; `None`: at any time.
    pub trace: Option<Arc<Trace>>,
    /// What else happens to packets on the wire.
    pub impairments: Impairments,
    /// How much the queue can hold.
    pub buffer: Capacity,
    /// The round trip behind `"bdp"`; `None` where no flow crosses and none was given.
    pub bdp: Option<Span>,
    /// The queue discipline, and its settings.
    pub queue: Choice<Discipline>,
    /// How it tells packets that there is capacity to spare; `None`: it does not know AntiECN.
    pub anti_ecn: Option<AntiEcnMarker>,
}

impl Direction {
    /// Where its queue stands; `packet` is the largest that crosses the link.
    pub fn site(&self, packet: Bytes) -> Site {
        let rate = self.impairments.slowed(self.rate);
        Site { rate, packet, capacity: self.buffer, round_trip: self.bdp }
    }
}

/// The AntiECN marker of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AntiEcnMarker {
    /// The share of the rate at which its virtual queue is drained, above 0 and at most 1.
    pub threshold: f64,
    /// How much the virtual queue holds, in bytes; infinite if unbounded.
    pub buffer: f64,
    /// What it writes.
    pub mode: AntiEcnMode,
}

/// What an AntiECN link writes into the bit of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AntiEcnMode {
    /// Clears it unless there is capacity to spare.
    And,
    /// Sets it to what this link finds, whatever the links before it said.
    Overwrite,
}

/// A controller or a queue discipline, with a value for each of its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice<T> {
    /// Its entry in the catalogue.
    pub entry: Arc<T>,
    /// Its settings, complete.
    pub settings: Settings,
}

impl<T: Entry> Choice<T> {
    /// Its name, `kind` in a scenario file.
    pub fn kind(&self) -> &str {
        self.entry.name()
    }
}

/// A link of a path, and which way data crosses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Index into [`Scenario::links`].
    pub link: usize,
    /// Is the link crossed backwards?
    pub reverse: bool,
}

/// Flows that differ only in round trip and start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlowGroup {
    /// The name of the group, unique among flow groups and traffic.
    pub name: String,
    /// The controller of each flow.
    pub control: Choice<Controller>,
    /// How many flows, or clients with as many flows as they have connections.
    pub count: u64,
    /// The links that data crosses, in the order of travel.
    pub path: Vec<Hop>,
    /// Is the path written from its end? (`path` is in the order of travel all the same.)
    pub reverse: bool,
    /// Round-trip propagation delays, links included.
    pub rtt: Spans,
    /// Start times.
    pub start: Spans,
    /// When the flows stop sending new data; `None`: never.
    pub stop: Option<Span>,
    /// How much each flow has to send; `None`: without end, or what an application writes.
    pub size: Option<Bytes>,
    /// What writes the data of the flows; `None`: all of it is there from the start.
    pub application: Option<Application>,
    /// How each flow sends.
    pub transport: Transport,
}

/// Short flows that arrive at random and differ only in arrival, size and round trip.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrafficGroup {
    /// The name of the group, unique among flow groups and traffic.
    pub name: String,
    /// The controller of each flow.
    pub control: Choice<Controller>,
    /// The links that data crosses, in the order of travel.
    pub path: Vec<Hop>,
    /// Is the path written from its end? (`path` is in the order of travel all the same.)
    pub reverse: bool,
    /// Arrivals per second, a Poisson process.
    pub arrivals: f64,
    /// How many arrive in total; `None`: as many as do while the run lasts.
    pub count: Option<u64>,
    /// How much each has to send.
    pub size: Size,
    /// The flows one by one, instead of random ones; `arrivals` and `size` are then the means of the list.
    pub replay: Option<Arc<Replay>>,
    /// Round-trip propagation delays, links included: the same for all, or drawn uniformly.
    pub rtt: Spans,
    /// When arrivals begin.
    pub start: Span,
    /// When arrivals end; `None`: never.
    pub stop: Option<Span>,
    /// How each flow sends.
    pub transport: Transport,
}

/// How much a short flow has to send, in bytes; at least one packet is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// The same for all.
    Fixed(Bytes),
    /// Pareto: a mean, and a shape above 1; the variance is infinite at 2 and below.
    Pareto {
        /// Mean in bytes.
        mean: f64,
        /// Shape.
        shape: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean in bytes.
        mean: f64,
    },
    /// Log-normal.
    LogNormal {
        /// Mean in bytes.
        mean: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Uniform between two bounds.
    Uniform(Bytes, Bytes),
}

impl Size {
    /// The mean in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(bytes) => bytes.0 as f64,
            Self::Pareto { mean, .. }
            | Self::Exponential { mean }
            | Self::LogNormal { mean, .. } => *mean,
            Self::Uniform(low, high) => f64::midpoint(low.0 as f64, high.0 as f64),
        }
    }
}

/// One time for each flow of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Spans {
    /// The same for all.
    Same(Span),
    /// Evenly spaced from the first to the second, ends included.
    Spread(Span, Span),
    /// One for each flow.
    Each(Vec<Span>),
    /// Drawn uniformly between two bounds, from the seed.
    Uniform(Span, Span),
}

/// How a sender and its receiver work.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transport {
    /// Size of a data packet on the wire, headers included.
    pub packet: Bytes,
    /// Initial window in segments.
    pub initial_window: f64,
    /// Initial slow-start threshold in segments; `None`: as high as needed.
    pub initial_threshold: Option<f64>,
    /// How the window grows below the threshold.
    pub slow_start: SlowStart,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Does the receiver hold acknowledgments back?
    pub delayed_ack: bool,
    /// How many segments one acknowledgment then covers.
    pub ack_every: u64,
    /// How long it then waits for these.
    pub ack_delay: Span,
    /// Smallest retransmission time-out.
    pub rto_min: Span,
    /// Tick of the clock that times retransmissions; `None`: exact.
    pub rto_tick: Option<Span>,
    /// How round trips become a retransmission time-out.
    pub rto_estimator: RtoEstimator,
    /// Which retransmissions restart the timer.
    pub rto_restart: RtoRestart,
    /// The ECN field of its new data, never CE. Routers may mark what is ECT(0) or ECT(1) instead of dropping it.
    pub ecn: Ecn,
    /// How its receiver reports marks.
    pub ecn_feedback: EcnFeedback,
    /// How fast the window may be sent, whatever the controller says; `None`: as the controller says.
    pub pacing: Option<Pacing>,
    /// How much leaves at a time where packets are paced evenly; `None`: one packet.
    pub send_quantum: Option<SendQuantum>,
    /// What becomes of a window that has not been used.
    pub window_validation: WindowValidation,
    /// What an earlier flow has learned of the path; `None`: nothing.
    pub careful_resume: Option<SavedPath>,
    /// The most that may be in flight, in segments; `None`: whatever the controller says.
    pub max_window: Option<u64>,
    /// How much the receiver lets it send; `None`: any amount.
    pub receive_window: Option<ReceiveWindow>,
    /// The most that the sender's host takes for a packet before it leaves, each time a random part of it; `None`: no
    /// time.
    pub host_jitter: Option<Span>,
    /// Rate of the sender's own link, an unbounded queue; `None`: no serialisation before the first link.
    pub access: Option<Rate>,
}

/// How a receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnFeedback {
    /// That there was one, on every acknowledgment until the sender says that it has answered (RFC 3168).
    Echo,
    /// How many there were in total, on every acknowledgment (Accurate ECN).
    Accurate,
}

/// What becomes of a window that the application has not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// It is kept.
    None,
    /// The restart window of RFC 5681, section 4.1: after a time-out without sending, the initial window at most.
    Rfc5681,
    /// RFC 2861, as in Linux: halved for each time-out without sending, and where only a part of it was used reduced to
    /// the middle between the two.
    Rfc2861,
    /// RFC 7661: kept for five minutes, then halved if less than half of it was used; a reaction to congestion starts from
    /// what was used.
    Rfc7661,
    /// It is kept, and grows at acknowledgments that find it not full as far as the most that was in flight since it last
    /// fell allows (draft-ietf-ccwg-ratelimited-increase-10, section 3).
    RateLimitedIncrease,
}

/// What a flow may know of its path from an earlier one (RFC 9959).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedPath {
    /// `saved_cwnd`, in segments.
    pub window: f64,
    /// `saved_rtt`
    pub rtt: Span,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Selective acknowledgments (RFC 6675).
    Sack,
    /// Partial acknowledgments (RFC 6582).
    NewReno,
    /// One fast retransmission per window (RFC 5681).
    Reno,
    /// Selective acknowledgments, with losses found by time (RFC 8985).
    Rack,
    /// As in QUIC: each packet has a number of its own, and acknowledgments report all that have arrived (RFC 9002).
    Quic,
}

/// How round trips become a retransmission time-out (RTO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoEstimator {
    /// RFC 6298: one sample per round trip; the minimum is one of the whole time-out.
    Rfc6298,
    /// Linux (Sarolahti & Kuznetsov 2002): a sample per acknowledgment; the minimum is one of the margin above the
    /// smoothed round trip.
    Linux,
}

/// Which retransmissions restart the retransmission timer. New data being acknowledged always does (RFC 6298, section
/// 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRestart {
    /// None: RFC 6298 to the letter.
    Never,
    /// Those of the first unacknowledged segment, as in the stacks in use: its acknowledgment is what the timer waits
    /// for.
    First,
    /// All that leave during recovery: the variant that RFC 6675, section 6, calls the more careful one.
    Each,
}

impl EcnFeedback {
    /// The names in scenario files.
    pub(crate) const NAMES: &[(&str, Self)] = &[("echo", Self::Echo), ("accurate", Self::Accurate)];
}

impl Recovery {
    /// The names in scenario files.
    pub(crate) const NAMES: &[(&str, Self)] = &[
        ("sack", Self::Sack),
        ("newreno", Self::NewReno),
        ("reno", Self::Reno),
        ("rack", Self::Rack),
        ("quic", Self::Quic),
    ];

    /// Does the receiver report what has arrived out of order?
    pub fn is_selective(self) -> bool {
        matches!(self, Self::Sack | Self::Rack | Self::Quic)
    }
}

impl WindowValidation {
    /// The names in scenario files.
    pub(crate) const NAMES: &[(&str, Self)] = &[
        ("none", Self::None),
        ("rfc5681", Self::Rfc5681),
        ("rfc2861", Self::Rfc2861),
        ("rfc7661", Self::Rfc7661),
        ("ratelimited-increase", Self::RateLimitedIncrease),
    ];
}

impl RtoEstimator {
    /// The names in scenario files.
    pub(crate) const NAMES: &[(&str, Self)] = &[("rfc6298", Self::Rfc6298), ("linux", Self::Linux)];
}

impl RtoRestart {
    /// The names in scenario files.
    pub(crate) const NAMES: &[(&str, Self)] =
        &[("first", Self::First), ("each", Self::Each), ("never", Self::Never)];
}

/// Scenarios are equal if they say the same, whatever else they could have chosen from.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            duration,
            warmup,
            seed,
            sample,
            observe,
            delay_percentiles,
            links,
            flows,
            traffic,
            catalogue: _,
        } = self;
        (*duration, *warmup) == (other.duration, other.warmup)
            && (*seed, *sample, *observe) == (other.seed, other.sample, other.observe)
            && *delay_percentiles == other.delay_percentiles
            && *links == other.links
            && *flows == other.flows
            && *traffic == other.traffic
    }
}

impl TrafficGroup {
    /// The paths that its flows take.
    pub fn paths(&self) -> impl Iterator<Item = &[Hop]> {
        let listed = self.replay.as_ref().map_or(&[][..], |replay| replay.kinds());
        let listed = listed.iter().map(|kind| kind.path.as_slice());
        std::iter::once(self.path.as_slice()).chain(listed)
    }
}

impl FlowGroup {
    /// How many flows it has in all.
    pub fn flows(&self) -> u64 {
        self.count * self.connections()
    }

    /// How many flows belong together, because one client uses them all.
    pub fn connections(&self) -> u64 {
        self.application.as_ref().map_or(1, Application::connections)
    }
}

impl Scenario {
    /// For each link, the size of the largest packet that crosses it in either direction.
    pub fn largest_packets(&self) -> Vec<Bytes> {
        largest_packets(&self.flows, &self.traffic, self.links.len())
    }

    /// What tables and messages call a flow: `forward[0]`.
    pub fn flow_name(&self, flow: Member) -> String {
        match flow {
            Member::Long(group, index) => format!("{}[{index}]", self.flows[group].name),
            Member::Short(group, index) => format!("{}[{index}]", self.traffic[group].name),
        }
    }

    /// When flow `index` of a group starts, and its round trip: drawn from the seed where the scenario asks for that.
    /// The connections of one client have both in common.
    pub fn start_and_rtt(&self, group: &FlowGroup, index: u64) -> (Span, Span) {
        let index = index / group.connections();
        let draw = |what: &str| {
            let mut stream =
                chance::stream(self.seed, &format!("flow/{}/{index}/{what}", group.name));
            move || chance::uniform(&mut stream)
        };
        let start = group.start.get(index, group.count, draw("start"));
        (start, group.rtt.get(index, group.count, draw("rtt")))
    }
}

/// The size of the largest packet on each of `links` links, or the usual size where nothing crosses it.
fn largest_packets(flows: &[FlowGroup], traffic: &[TrafficGroup], links: usize) -> Vec<Bytes> {
    let mut largest = vec![None; links];
    let flows = flows.iter().map(|flow| (flow.path.as_slice(), &flow.transport));
    let traffic =
        traffic.iter().flat_map(|group| group.paths().map(|path| (path, &group.transport)));
    for (path, transport) in flows.chain(traffic) {
        for hop in path {
            largest[hop.link] = largest[hop.link].max(Some(transport.packet));
        }
    }
    largest.into_iter().map(|packet| packet.unwrap_or(Bytes(1500))).collect()
}

impl Spans {
    /// The time of flow `index` of `count`; if one is drawn, `uniform` yields a number in [0, 1).
    pub fn get(&self, index: u64, count: u64, uniform: impl FnOnce() -> f64) -> Span {
        match self {
            Self::Same(span) => *span,
            Self::Each(spans) => spans[index as usize],
            Self::Spread(first, last) => {
                between(*first, *last, index, count.saturating_sub(1).max(1))
            }
            Self::Uniform(low, high) => Span(low.0 + ((high.0 - low.0) as f64 * uniform()) as u64),
        }
    }

    /// The mean over the group, which is what "the round trip of the flows" means before any is drawn.
    pub fn mean(&self) -> Span {
        match self {
            Self::Same(span) => *span,
            Self::Spread(a, b) | Self::Uniform(a, b) => Span(a.0 / 2 + b.0 / 2 + (a.0 & b.0 & 1)),
            Self::Each(spans) => {
                let sum: u128 = spans.iter().map(|span| u128::from(span.0)).sum();
                Span((sum / spans.len() as u128) as u64)
            }
        }
    }

    /// The smallest value possible.
    pub fn least(&self) -> Span {
        match self {
            Self::Same(span) => *span,
            Self::Spread(a, b) | Self::Uniform(a, b) => *a.min(b),
            Self::Each(spans) => spans.iter().copied().min().unwrap_or_default(),
        }
    }

    /// A value that none exceeds.
    pub fn greatest(&self) -> Span {
        match self {
            Self::Same(span) => *span,
            Self::Spread(a, b) | Self::Uniform(a, b) => *a.max(b),
            Self::Each(spans) => spans.iter().copied().max().unwrap_or_default(),
        }
    }
}

/// The point `step`/`steps` of the way from `first` to `last`, which may be the smaller one.
fn between(first: Span, last: Span, step: u64, steps: u64) -> Span {
    let part = |distance: u64| (u128::from(distance) * u128::from(step) / u128::from(steps)) as u64;
    if last >= first {
        first + Span(part(last.0 - first.0))
    } else {
        first - Span(part(first.0 - last.0))
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
