//! What a queue asks its policy, and what the policy answers.

use std::fmt;

use longfat_units::{Bytes, Ecn, Probe, Rate, RouterHeader, Span, Time};
use rand_core::Rng;

/// Decides the fate of each packet that arrives; never stores one.
pub trait Policy: fmt::Debug + Send {
    /// A packet asks to enter a queue that has space for it. `backlog` does not include it yet.
    fn on_arrival(&mut self, arrival: &Arrival, chance: &mut dyn Rng) -> Verdict;

    /// A packet found the queue full. It is dropped whatever the policy says; some policies keep count of that.
    fn on_overflow(&mut self, _arrival: &Arrival) {}

    /// Does it read the headers of flows that routers assist?
    fn reads_headers(&self) -> bool {
        false
    }

    /// The packet of the last `on_arrival`, which is let in, has such a header. Only with [`Self::reads_headers`].
    fn on_header(&mut self, _bytes: Bytes, _header: &mut RouterHeader) {}

    /// Does it watch packets leave?
    fn watches_departures(&self) -> bool {
        false
    }

    /// A packet has left the link, and so many remain, with the one that now begins to be sent. Only with
    /// [`Self::watches_departures`]. The call may come late, but always before the next arrival.
    fn on_departure(&mut self, _now: Time, _remaining: u64) {}

    /// How often the policy looks at the queue by the clock, if at all: at every whole multiple of this.
    fn period(&self) -> Option<Span> {
        None
    }

    /// The policy looks at the queue `count` times in a row and finds `backlog` each time: what was waiting just before
    /// that instant. The call may come late, but always before the next arrival and before the queue changes.
    fn on_ticks(&mut self, _count: u64, _backlog: Backlog) {}

    /// From `now` on packets leave at another rate, which is not zero: an outage is no rate, and whoever comes out of one
    /// is told what holds then if it differs from what held before. The call may come late, but always before the next
    /// arrival, and after the ticks up to `now`.
    fn on_rate(&mut self, _now: Time, _rate: Rate) {}

    /// Names the variables worth plotting.
    fn observe(&self, _probe: &mut dyn Probe) {}
}

/// A packet that asks to enter.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Time,
    /// Its size on the wire.
    pub bytes: Bytes,
    /// Its ECN field.
    pub ecn: Ecn,
    /// What is waiting ahead of it, not counting the packet in service.
    pub backlog: Backlog,
    /// Since when the link has been idle, if it is.
    pub idle_since: Option<Time>,
}

/// What is waiting in a queue, not counting the packet in service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

impl Backlog {
    /// A packet starts waiting.
    #[inline]
    pub fn enter(&mut self, bytes: Bytes) {
        self.packets += 1;
        self.bytes += bytes;
    }

    /// A packet stops waiting.
    #[inline]
    pub fn leave(&mut self, bytes: Bytes) {
        self.packets -= 1;
        self.bytes = Bytes(self.bytes.0 - bytes.0);
    }
}

/// When a policy looks at its queue by the clock: at every whole multiple of its period.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    next: Time,
    period: Span,
}

impl Clock {
    /// The clock of a policy with this [`Policy::period`].
    pub fn new(period: Option<Span>) -> Self {
        let next = period.map_or(Time::NEVER, |period| Time::ZERO + period);
        Self { next, period: period.unwrap_or(Span::ZERO) }
    }

    /// When the next look is due; never, if the policy does not look.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The time from one look to the next; zero, if the policy does not look.
    pub fn period(&self) -> Span {
        self.period
    }

    /// The number of looks due up to and including `now`, which are then counted as done.
    pub fn take_due(&mut self, now: Time) -> u64 {
        if self.next > now || self.next == Time::NEVER {
            return 0;
        }
        let count = (now - self.next).0 / self.period.0 + 1;
        // The next look may lie beyond the end of time.
        self.next = Time(self.next.0.saturating_add(self.period.0.saturating_mul(count)));
        count
    }
}

/// What a policy decides about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it in.
    Keep,
    /// Let it in with the mark of RFC 3168; a packet that cannot carry one is dropped.
    Mark,
    /// Discard it.
    Drop,
}

/// How much a queue can hold, not counting the packet in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// This many packets of any size.
    Packets(u64),
    /// This many bytes.
    Bytes(Bytes),
    /// No limit.
    Unbounded,
}

impl Capacity {
    /// Is there space for a packet of `bytes` behind `backlog`?
    pub fn admits(self, backlog: Backlog, bytes: Bytes) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + bytes <= limit,
            Self::Unbounded => true,
        }
    }
}
