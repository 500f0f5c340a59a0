//! One direction of a link: a queue, a transmitter, a wire.
//!
//! There are two kinds of server. A first-in-first-out queue whose policy acts on arrival knows when each packet
//! will leave the moment it arrives ([`ahead`]): no event is needed for departures, and the ring of departure times
//! answers every question about the queue. Storage that orders or evicts must be served packet by packet
//! ([`stepwise`]). Both share what is here and, for the same queue, give the same results to the byte.

mod ahead;
mod gauge;
mod marker;
mod stepwise;

use longfat_queue::{Arrival, Backlog, Built, Capacity, Policy, Storage, Verdict};
use longfat_units::{Bytes, PICOSECONDS_PER_SECOND, Rate, Span, Time};

pub(crate) use gauge::Gauge;
pub(crate) use marker::Marker;

use crate::chance::{Rare, Stream};
use crate::packet::{Flags, Packet};

/// A transmitter is free by then at the latest. No run lasts as long, so that what it would send later is in flight at
/// the end; and the clock still holds the largest packet at a bit per second, six days, and the delays that follow, a
/// day each at most.
pub(crate) const LATEST: Time = Time(204 * 24 * 3600 * PICOSECONDS_PER_SECOND);

/// What a link is made from.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) capacity: Capacity,
    pub(crate) queue: Built,
    pub(crate) anti_ecn: Option<Marker>,
    pub(crate) corruption: Rare,
    pub(crate) chance: Stream,
    /// Serve packet by packet even where that is not needed.
    pub(crate) stepwise: bool,
    pub(crate) gauge: Gauge,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    anti_ecn: Option<Marker>,
    gate: Gate,
    transmitter: Transmitter,
    server: Server,
}

#[derive(Debug)]
enum Server {
    Ahead(ahead::Ahead),
    /// The same, with something to do at each arrival before it asks to enter.
    Attended(ahead::Ahead),
    Stepwise(stepwise::Stepwise),
}

/// What becomes of a packet that arrives at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrived {
    /// It will be at the far end of the wire then.
    Through(Time),
    /// It waits; if the transmitter was idle, its departure must be scheduled for then.
    Waits(Option<Time>),
    /// It was dropped.
    Dropped,
    /// The queue was full, and there is something to take from [`Link::take_pushed_out`]: what it discarded, maybe this
    /// packet too. The transmitter was busy.
    PushedOut,
    /// It is sent, and destroyed on the wire: nothing of use will be at the far end then.
    Corrupted(Time),
}

/// A packet that leaves a transmitter that is served packet by packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departed {
    pub(crate) packet: Packet,
    /// When it will be at the far end.
    pub(crate) arrives: Time,
    /// Is it destroyed on the wire?
    pub(crate) corrupted: bool,
    /// When the next packet departs, if one waits.
    pub(crate) next: Option<Time>,
}

impl Link {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings {
            rate,
            delay,
            capacity,
            queue,
            anti_ecn,
            corruption,
            chance,
            stepwise,
            gauge,
        } = settings;
        let period = queue.policy.as_ref().and_then(|policy| policy.period());
        let attended = anti_ecn.is_some() || period.is_some() || may_outlast_clock(rate, capacity);
        let server = match queue.storage {
            Storage::Fifo if !stepwise && attended => Server::Attended(ahead::Ahead::default()),
            Storage::Fifo if !stepwise => Server::Ahead(ahead::Ahead::default()),
            storage => Server::Stepwise(stepwise::Stepwise::new(storage)),
        };
        Self {
            delay,
            anti_ecn,
            gate: Gate {
                capacity,
                policy: queue.policy,
                next_tick: period.map_or(Time::NEVER, |period| Time::ZERO + period),
                period: period.unwrap_or(Span::ZERO),
                chance,
                backlog: Backlog::default(),
                gauge,
            },
            transmitter: Transmitter::new(rate, corruption),
            server,
        }
    }

    /// Are departures events of their own?
    pub(crate) fn has_departures(&self) -> bool {
        matches!(self.server, Server::Stepwise(_))
    }

    /// Does it take part in AntiECN?
    pub(crate) fn knows_anti_ecn(&self) -> bool {
        self.anti_ecn.is_some()
    }

    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// A packet arrives; a mark may be written into it.
    #[expect(clippy::inline_always, reason = "once for data and once for acknowledgments")]
    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, packet: &mut Packet) -> Arrived {
        match &mut self.server {
            Server::Ahead(server) => {
                server.arrive(now, packet, &mut self.gate, &mut self.transmitter, self.delay)
            }
            Server::Attended(_) | Server::Stepwise(_) => {
                // A copy has an address, so that the packet itself needs none.
                let mut copy = *packet;
                let arrived = self.attend(now, &mut copy);
                packet.flags = copy.flags;
                arrived
            }
        }
    }

    /// An arrival with all that a link can have: a marker, a policy that looks by the clock, departures that are events, a
    /// queue that may take months. Apart, so that links with none of it do not pay for it.
    #[inline(never)]
    fn attend(&mut self, now: Time, packet: &mut Packet) -> Arrived {
        if let Some(marker) = &mut self.anti_ecn {
            marker.see(now, packet);
        }
        self.tick(now);
        self.transmitter.saturate();
        match &mut self.server {
            Server::Ahead(server) | Server::Attended(server) => {
                server.arrive(now, packet, &mut self.gate, &mut self.transmitter, self.delay)
            }
            Server::Stepwise(server) => {
                server.arrive(now, packet, &mut self.gate, &mut self.transmitter)
            }
        }
    }

    /// The policy looks at the queue as often as is due until `now`.
    fn tick(&mut self, now: Time) {
        match &mut self.server {
            Server::Ahead(server) | Server::Attended(server) => server.tick(now, &mut self.gate),
            Server::Stepwise(_) => self.gate.tick(now),
        }
    }

    /// The packet in service departs. Only for links whose departures are events.
    pub(crate) fn depart(&mut self, now: Time) -> Departed {
        match &mut self.server {
            Server::Ahead(_) | Server::Attended(_) => {
                unreachable!("departures of this link are no events")
            }
            Server::Stepwise(server) => {
                server.depart(now, &mut self.gate, &mut self.transmitter, self.delay)
            }
        }
    }

    /// What the queue has discarded for [`Arrived::PushedOut`].
    pub(crate) fn take_pushed_out(&mut self) -> Option<Packet> {
        match &mut self.server {
            Server::Ahead(_) | Server::Attended(_) => None,
            Server::Stepwise(server) => server.take_pushed_out(),
        }
    }

    /// Brings every count up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        self.tick(now);
        if let Server::Ahead(server) | Server::Attended(server) = &mut self.server {
            server.settle(now, &mut self.gate);
        }
        self.gate.gauge.advance(now);
    }

    pub(crate) fn gauge(&self) -> &Gauge {
        &self.gate.gauge
    }

    pub(crate) fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.gate.gauge
    }

    /// Packets that wait.
    #[cfg(test)]
    pub(crate) fn backlog(&self) -> Backlog {
        self.gate.backlog
    }

    /// How many of the packets inside a server that keeps packets are such.
    pub(crate) fn inside(&self, which: fn(&Packet) -> bool) -> usize {
        match &self.server {
            Server::Ahead(_) | Server::Attended(_) => 0,
            Server::Stepwise(server) => server.inside(which),
        }
    }
}

/// May what waits take longer than the clock lasts after the longest run? Thirteen days are left then; half of them are
/// kept for what comes after the queue.
fn may_outlast_clock(rate: Rate, capacity: Capacity) -> bool {
    const LARGEST_PACKET: u64 = 65_535;
    // More packets than any memory holds.
    const MOST_PACKETS: u64 = 1 << 32;
    let bytes = match capacity {
        Capacity::Packets(packets) => packets.saturating_mul(LARGEST_PACKET),
        Capacity::Bytes(bytes) => bytes.0,
        Capacity::Unbounded => u64::MAX,
    };
    let bytes = Bytes(bytes.min(MOST_PACKETS * LARGEST_PACKET));
    let days = 6 * 24 * 3600;
    u128::from(bytes.0) * 8 > u128::from(rate.0) * days
}

/// The way into the queue: capacity, policy, and what waits.
#[derive(Debug)]
struct Gate {
    capacity: Capacity,
    policy: Option<Box<dyn Policy>>,
    /// When the policy looks at the queue by the clock next; never if it does not.
    next_tick: Time,
    period: Span,
    chance: Stream,
    backlog: Backlog,
    gauge: Gauge,
}

impl Gate {
    /// Does the packet get in? Writes the mark if there is one.
    #[inline]
    fn admits(&mut self, now: Time, packet: &mut Packet, idle_since: Option<Time>) -> bool {
        let ecn_capable = packet.flags.has(Flags::ECN_CAPABLE);
        match self.judge(now, packet.size(), ecn_capable, idle_since) {
            Verdict::Keep => true,
            Verdict::Mark => {
                packet.flags = packet.flags.with(Flags::CONGESTION);
                true
            }
            Verdict::Drop => false,
        }
    }

    /// What becomes of a packet. Told no more than it needs, so that the packet itself can stay in registers.
    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
    fn judge(
        &mut self,
        now: Time,
        bytes: Bytes,
        ecn_capable: bool,
        idle_since: Option<Time>,
    ) -> Verdict {
        self.gauge.arrived(now);
        if idle_since.is_none() && !self.capacity.admits(self.backlog, bytes) {
            return self.overflow(now, bytes, ecn_capable);
        }
        let Some(policy) = &mut self.policy else { return Verdict::Keep };
        let arrival = Arrival { now, bytes, ecn_capable, backlog: self.backlog, idle_since };
        match policy.on_arrival(&arrival, &mut self.chance) {
            Verdict::Keep => Verdict::Keep,
            Verdict::Mark if ecn_capable => {
                self.gauge.marked();
                Verdict::Mark
            }
            Verdict::Mark | Verdict::Drop => {
                self.gauge.dropped();
                Verdict::Drop
            }
        }
    }

    /// A packet does not fit.
    #[cold]
    fn overflow(&mut self, now: Time, bytes: Bytes, ecn_capable: bool) -> Verdict {
        if let Some(policy) = &mut self.policy {
            let backlog = self.backlog;
            policy.on_overflow(&Arrival { now, bytes, ecn_capable, backlog, idle_since: None });
        }
        self.gauge.dropped();
        Verdict::Drop
    }

    /// Is there room for a packet behind those that wait?
    fn has_room(&self, packet: &Packet) -> bool {
        self.capacity.admits(self.backlog, packet.size())
    }

    /// Lets the policy have the looks at the queue that are due until `now`. They find what waits, so they come before
    /// anything that changes it.
    fn tick(&mut self, now: Time) {
        if self.next_tick > now {
            return;
        }
        let count = (now - self.next_tick).0 / self.period.0 + 1;
        // The next look may lie beyond the end of time.
        self.next_tick = Time(self.next_tick.0.saturating_add(self.period.0.saturating_mul(count)));
        if let Some(policy) = &mut self.policy {
            policy.on_ticks(count, self.backlog);
        }
    }

    /// A packet begins to wait.
    #[inline]
    fn enter(&mut self, now: Time, bytes: Bytes) {
        self.backlog.packets += 1;
        self.backlog.bytes += bytes;
        self.gauge.queue(now, self.backlog);
    }

    /// A packet ends its wait.
    #[inline]
    fn leave(&mut self, now: Time, bytes: Bytes) {
        self.backlog.packets -= 1;
        self.backlog.bytes = Bytes(self.backlog.bytes.0 - bytes.0);
        self.gauge.queue(now, self.backlog);
    }
}

/// Sends one packet after the other, at the exact rate.
#[derive(Debug)]
struct Transmitter {
    rate: Rate,
    /// When the packets accepted so far have left.
    free_at: Time,
    /// What the last transmission time was rounded down by, in 1/rate picoseconds.
    carry: u64,
    /// Transmission times of the two sizes seen last.
    known: [Transmission; 2],
    corruption: Rare,
}

/// How long a packet of so many bytes takes: whole picoseconds, and the remainder in 1/rate picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Transmission {
    bytes: u32,
    whole: u64,
    remainder: u64,
}

impl Transmitter {
    fn new(rate: Rate, corruption: Rare) -> Self {
        Self {
            rate,
            free_at: Time::ZERO,
            carry: 0,
            known: [Transmission::default(); 2],
            corruption,
        }
    }

    /// Sends a packet as soon as the transmitter is free, at `now` or later; returns when its last bit has left.
    /// The remainder of the division is carried on, so that no rate is bent by rounding.
    #[inline]
    fn send(&mut self, now: Time, bytes: u32) -> Time {
        let Transmission { whole, remainder, .. } = self.transmission(bytes);
        let mut duration = whole;
        self.carry += remainder;
        if self.carry >= self.rate.0 {
            self.carry -= self.rate.0;
            duration += 1;
        }
        self.free_at = self.free_at.max(now) + Span(duration);
        self.free_at
    }

    #[inline]
    fn transmission(&mut self, bytes: u32) -> Transmission {
        // Data and acknowledgments come in no order: choosing between them must not be a branch.
        let known = usize::from(self.known[1].bytes == bytes);
        if self.known[known].bytes != bytes {
            self.known.swap(0, 1);
            let bit_picoseconds = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
            let rate = u128::from(self.rate.0);
            self.known[0] = Transmission {
                bytes,
                whole: (bit_picoseconds / rate) as u64,
                remainder: (bit_picoseconds % rate) as u64,
            };
            return self.known[0];
        }
        self.known[known]
    }

    /// Keeps within the clock what has no room there.
    fn saturate(&mut self) {
        self.free_at = self.free_at.min(LATEST);
    }

    /// Since when nothing has been sent, if nothing is being sent at `now`.
    #[inline]
    fn idle_since(&self, now: Time) -> Option<Time> {
        (self.free_at <= now).then_some(self.free_at)
    }
}

#[cfg(test)]
mod tests;
