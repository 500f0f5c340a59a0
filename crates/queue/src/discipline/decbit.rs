//! DECbit: a router that sets a bit while its mean queue is one packet or more.
//!
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990, section 4; SIGCOMM 1988; RFC 1254, section 3.3.
//!
//! # The problem
//!
//! The load at which a network gives most throughput for its delay is the knee: above it hardly anything but queues is
//! gained. For a single server whose arrivals and service times are exponential, power, the ratio of throughput and
//! response time, is greatest where on average one packet is there. But the queue of an instant says nothing, since
//! packets come in bursts, and an average over a fixed time is confused by its own past.
//!
//! # The algorithm
//!
//! The queue is averaged over *regeneration cycles*. A cycle is a busy period of the link and the idle time after it.
//! When a packet arrives, the mean is taken over the last whole cycle and what there has been of the present one, so
//! that it remembers as much as is needed for a long busy period to show, and no more:
//!
//! ```text
//!     q̄ = (area of the last cycle + area of this one so far)/(their duration)
//!     the bit is set if q̄ ≥ 1
//! ```
//!
//! where the area is the time integral of the number of packets, with the one being sent. The bit is the code 1 of the
//! header; a router never clears it. What senders make of it is in the controller `decbit`.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `threshold` | C | 1 | 1990, section 5.3: with half of the bits as the cutoff of the senders |
//!
//! # Domain
//!
//! Links with other packets in their queue, such as acknowledgments: they count like any packet, whatever their size.
//! Trains of packets that come as fast as they leave get bits only where they fill the link. The segment that a growing
//! window adds makes all those behind it in its train wait, so a lone flow is told early: at ten segments on the
//! paper's own network, where 15.5 would be best, while two flows are told at 11 to 15, depending on when they begin. The
//! mean grows towards the end of a busy period, and so do the bits; what that makes of shares is in the controller.
//!
//! # Deviations
//!
//! * Before the first cycle is over the average is that of the present one, and a packet that arrives at the very
//!   beginning finds none.
//! * Packets that come exactly as fast as they leave make one busy period, even if rounding leaves up to a nanosecond
//!   between two of them. The other way round each would be a cycle of its own with a mean of one, and the bit would be
//!   set for any evenly spaced train, however short.
//!
//! # What the paper promises
//!
//! * The mean over cycles (`tests/decbit.rs`).
//! * Up to the knee of its own network, in the tests of the simulator (`crates/sim/tests/explicit.rs`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, RouterHeader, Span, Time};
use rand_core::Rng;

use crate::{Arrival, Built, Discipline, Policy, Probe, Verdict};

/// `DECbit`'s entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("decbit", |settings, _| Built::Fifo(Some(Box::new(DecBit::new(settings)))))
        .title("DECbit: tells the flows of the controller of the same name when the mean queue is a packet or more")
        .source("Ramakrishnan & Jain 1990; RFC 1254")
        .parameters([Parameter::number(
            "threshold",
            1.0,
            0.0,
            1e9,
            "mean number of packets from which the bit is set, with the one being sent",
        )])
}

/// A link that is idle for no longer has been busy all the time: packets came as fast as they left.
const ROUNDING: Span = Span(1000);

/// The policy. Areas are in packets times picoseconds, times in picoseconds: whole numbers up to two hours and a half
/// of one packet.
#[derive(Debug)]
struct DecBit {
    threshold: f64,
    /// Packets that are waiting or being sent.
    packets: u64,
    /// Up to when the area is counted.
    counted: Time,
    /// When the present cycle began, if there has been a packet, and its area.
    began: Option<Time>,
    area: f64,
    /// When the last one began, and its area; in the first one, when that did.
    last_began: Time,
    last_area: f64,
    /// The area and the duration of both at the last arrival.
    both: (f64, Span),
}

impl DecBit {
    fn new(settings: &Settings) -> Self {
        Self {
            threshold: settings.number("threshold"),
            packets: 0,
            counted: Time::ZERO,
            began: None,
            area: 0.0,
            last_began: Time::ZERO,
            last_area: 0.0,
            both: (0.0, Span::ZERO),
        }
    }

    /// Time passes.
    #[inline]
    fn pass(&mut self, now: Time) {
        // Signed: processors convert that in one instruction.
        let (packets, span) = (self.packets.cast_signed(), (now - self.counted).0.cast_signed());
        self.area += packets as f64 * span as f64;
        self.counted = now;
    }
}

impl Policy for DecBit {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        let now = arrival.now;
        let is_idle = self.packets == 0 && now - self.counted > ROUNDING;
        self.pass(now);
        if is_idle || self.began.is_none() {
            // A busy period begins, and with it a cycle. What was idle before the first of them belongs to none.
            (self.last_began, self.last_area) = (self.began.unwrap_or(now), self.area);
            (self.began, self.area) = (Some(now), 0.0);
        }
        self.both = (self.last_area + self.area, now - self.last_began);
        self.packets += 1;
        Verdict::Keep
    }

    fn reads_headers(&self) -> bool {
        true
    }

    fn on_header(&mut self, _: Bytes, header: &mut RouterHeader) {
        let (area, duration) = self.both;
        if duration > Span::ZERO && area >= self.threshold * duration.0.cast_signed() as f64 {
            header.code = header.code.max(1);
        }
    }

    fn watches_departures(&self) -> bool {
        true
    }

    fn on_departure(&mut self, now: Time, remaining: u64) {
        self.pass(now);
        self.packets = remaining;
    }

    /// q̄ at the last arrival.
    fn observe(&self, probe: &mut dyn Probe) {
        let (area, duration) = self.both;
        let is_known = duration > Span::ZERO;
        probe.value("mean_queue", if is_known { area / duration.0 as f64 } else { 0.0 });
    }
}
