//! What senders do and hear, packet by packet: for files that other tools read.
//!
//! A flow is traced at its sender: what leaves it, and the acknowledgments that reach it. [`Simulation::trace`] chooses
//! the flows before the run, [`Simulation::take_trace`] hands over what they have done since the last call, in the order
//! of time. Nothing else changes: a run gives the same bytes with and without.
//!
//! [`Simulation::trace`]: crate::Simulation::trace
//! [`Simulation::take_trace`]: crate::Simulation::take_trace

use longfat_units::{Bytes, Ecn, Segments, Span, Time};

use crate::member::Member;

/// A traced flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// A long flow: its group, and its number in it.
    Long(usize, u64),
    /// What carries the requests to a long flow: its group, and its number in it.
    Requests(usize, u64),
    /// A short flow: its group of traffic, and how many flows of it came before.
    Short(usize, u64),
}

/// Something that the sender of a traced flow did or heard.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TraceEvent {
    /// When.
    pub time: Time,
    /// Which flow.
    pub stream: Stream,
    /// What.
    pub what: What,
}

/// What a sender did or heard.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// The flow begins.
    Begins(Begun),
    /// A packet leaves.
    Sent(SentPacket),
    /// An acknowledgment arrives.
    Heard(HeardAck),
    /// A packet is found lost. Only in detail.
    Lost(PacketNumber),
    /// The sender has other numbers than it last had. Only in detail.
    Metrics(Metrics),
    /// The controller enters another phase. Only in detail.
    Phase(Phase),
    /// A short flow is over.
    Ends,
}

/// What is known of a flow when it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Begun {
    /// Size of its data packets on the wire, headers included.
    pub packet: Bytes,
    /// The ECN field of its new data.
    pub ecn: Ecn,
    /// Does the receiver tell how many packets were marked (RFC 9768), and not only that some were (RFC 3168)?
    pub counts_marks: bool,
    /// Does it acknowledge selectively (RFC 2018)?
    pub selective: bool,
    /// Have packets numbers of their own, as in QUIC (RFC 9002)?
    pub numbered: bool,
    /// Has it a congestion window?
    pub windowed: bool,
    /// The window scale of the receiver (RFC 7323), if it tells a window.
    pub window_scale: Option<u64>,
    /// Round trip without queues.
    pub propagation: Span,
}

/// The number of a packet and the segment of data in it. Where packets have none of their own, they are counted as they
/// leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketNumber {
    /// Of the packet.
    pub packet: u64,
    /// Of the data in it.
    pub segment: u64,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentPacket {
    /// Its numbers.
    pub number: PacketNumber,
    /// Has its data left before?
    pub again: bool,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Does it tell the receiver that the window was reduced (RFC 3168: CWR)?
    pub reduced: bool,
}

/// An acknowledgment that arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeardAck {
    /// Everything below this segment has arrived. Nothing where packets are numbered.
    pub below: u64,
    /// What has arrived above, as its receiver reports it, from the first segment of a block to the one after its last;
    /// empty where both are equal. A segment that has arrived twice comes first (RFC 2883).
    pub blocks: [(u64, u64); 3],
    /// Does it echo a mark (RFC 3168: ECE)?
    pub echo: bool,
    /// How many marked packets have arrived so far, modulo 2³², where the receiver counts them.
    pub marks: Option<u32>,
    /// The receive window in segments, if there is one.
    pub window: Option<u64>,
    /// The packets whose arrival it reports for the first time: the first and the last of each range. Only in detail.
    pub packets: Vec<(u64, u64)>,
}

/// The numbers of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// Congestion window; none where there is no window.
    pub window: Option<Segments>,
    /// Slow-start threshold, if it has one.
    pub threshold: Option<Segments>,
    /// Segments in flight.
    pub in_flight: u64,
    /// The shortest, the smoothed and the latest round trip, once there is one.
    pub round_trips: Option<[Span; 3]>,
}

/// What a controller is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The window is below its threshold.
    SlowStart,
    /// It is not.
    CongestionAvoidance,
    /// There is nothing to send.
    ApplicationLimited,
    /// Losses are being repaired.
    Recovery,
}

impl Stream {
    /// The stream of this flow of the network.
    pub(crate) fn of(member: Member) -> Self {
        match member {
            Member::Long(group, index) => Self::Long(group, index),
            Member::Requests(group, index) => Self::Requests(group, index),
            Member::Short(group, index) => Self::Short(group, index),
        }
    }
}
