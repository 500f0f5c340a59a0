//! One direction of a link: a queue, a transmitter, a wire.
//!
//! There are two kinds of server. A first-in-first-out queue whose policy acts on arrival knows, the moment a packet
//! arrives, when it will leave ([`ahead`]): departures need no events, and the ring of departure times answers every
//! question about the queue. A queue that owns its packets must be asked for each of them ([`stepwise`]). Both share
//! the code in this file and, for the same queue, give the same results to the byte.

mod ahead;
mod bucket;
mod gauge;
mod rare;
mod stepwise;
mod thinner;
mod varying;
mod wire;

use longfat_queue::{Arrival, Backlog, Built, Capacity, Clock, Policy, Verdict};
use longfat_scenario::chance::Stream;
use longfat_units::{Bytes, Ecn, PICOSECONDS_PER_SECOND, Rate, Span, Time};

pub(crate) use gauge::Gauge;
pub(crate) use rare::Rare;
pub(crate) use varying::{Variation, VaryingLine};

use crate::cargo::Hold;
use crate::explicit::Marker;
use crate::member::Identity;
use crate::packet::Packet;
use stepwise::{Constant, Hands, Stepwise};
use thinner::{Thinned, Thinner};
use varying::Varying;

/// The latest time at which a transmitter becomes free. No run lasts this long, so anything it would send later is in
/// flight at the end anyway; and the clock still has room for the largest packet at one bit per second (six days) and
/// for the delays that follow (at most a day each).
pub(crate) const LATEST: Time = Time(204 * 24 * 3600 * PICOSECONDS_PER_SECOND);

/// What a link is made from.
#[derive(Debug)]
pub(crate) struct PortConfig {
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    /// The line of a link that is no constant.
    pub(crate) varying: Option<VaryingLine>,
    pub(crate) capacity: Capacity,
    pub(crate) queue: Built,
    pub(crate) marker: Option<Marker>,
    pub(crate) corruption: Rare,
    pub(crate) chance: Stream,
    /// Serve packet by packet even where departures are known on arrival.
    pub(crate) stepwise: bool,
    pub(crate) gauge: Gauge,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Port {
    delay: Span,
    marker: Option<Marker>,
    gate: Gate,
    transmitter: Transmitter,
    server: Server,
}

#[derive(Debug)]
enum Server {
    Ahead(ahead::Ahead),
    /// The same, with something to do at each arrival before the packet is admitted.
    Attended(ahead::Ahead),
    Stepwise(Stepwise),
    /// The same for a link that changes.
    Varying(Box<Varying>),
}

/// What becomes of a packet that arrives at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrived {
    /// It will be at the far end of the wire at this time.
    Through(Time),
    /// The queue has it. If the transmitter was idle and has now begun to send, the departure must be scheduled for
    /// this time. There may be packets to collect with [`Port::take_dropped`], including this one.
    Waits(Option<Time>),
    /// It is an acknowledgment that the link holds. If it is the first, [`Port::release`] is due at this time.
    Held(Option<Time>),
    /// It was dropped.
    Dropped,
    /// It is sent and destroyed on the wire: nothing usable reaches the far end at this time.
    Corrupted(Time),
}

/// A packet that leaves a link served packet by packet. There may be packets to collect with [`Port::take_dropped`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departed {
    pub(crate) packet: Packet,
    /// When it will be at the far end.
    pub(crate) arrives: Time,
    pub(crate) fate: Fate,
    /// When the next packet departs, if one is waiting.
    pub(crate) next: Option<Time>,
}

/// What becomes of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives, after those before it.
    Arrives,
    /// It is destroyed.
    Destroyed,
    /// The wire has impairments.
    Impaired {
        /// Is it destroyed?
        destroyed: bool,
        /// Does it arrive twice?
        twice: bool,
        /// May packets pass one another?
        unordered: bool,
    },
}

impl Port {
    pub(crate) fn new(config: PortConfig) -> Self {
        let PortConfig {
            rate,
            delay,
            varying,
            capacity,
            queue,
            marker,
            corruption,
            chance,
            stepwise,
            gauge,
        } = config;
        let (policy, server) = match (queue, varying) {
            (queue, Some(line)) => {
                let server = Stepwise::new(queue.into_queue(capacity));
                let thinner = line.thinning.map(Thinner::new);
                (None, Server::Varying(Box::new(Varying { server, line, thinner })))
            }
            (Built::Fifo(policy), None) if !stepwise => {
                let minds = policy.as_ref().is_some_and(|policy| {
                    policy.period().is_some()
                        || policy.reads_headers()
                        || policy.watches_departures()
                });
                let ahead = ahead::Ahead::default();
                let attended = minds || marker.is_some() || may_outlast_clock(rate, capacity);
                (policy, if attended { Server::Attended(ahead) } else { Server::Ahead(ahead) })
            }
            (queue, None) => (None, Server::Stepwise(Stepwise::new(queue.into_queue(capacity)))),
        };
        Self {
            delay,
            marker,
            gate: Gate {
                capacity,
                clock: Clock::new(policy.as_ref().and_then(|policy| policy.period())),
                reads_headers: policy.as_ref().is_some_and(|policy| policy.reads_headers()),
                watches_departures: policy
                    .as_ref()
                    .is_some_and(|policy| policy.watches_departures()),
                policy,
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
        matches!(self.server, Server::Stepwise(_) | Server::Varying(_))
    }

    /// Does it change in time?
    pub(crate) fn is_varying(&self) -> bool {
        matches!(self.server, Server::Varying(_))
    }

    /// Does it write explicit signals?
    pub(crate) fn has_marker(&self) -> bool {
        self.marker.is_some()
    }

    /// Its propagation delay, before any change.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// Does its propagation delay change in time?
    pub(crate) fn shifts(&self) -> bool {
        matches!(&self.server, Server::Varying(varying) if varying.line.shifts())
    }

    /// Its propagation delay at `now`.
    pub(crate) fn delay_at(&self, now: Time) -> Span {
        match &self.server {
            Server::Varying(varying) => varying.line.delay_at(now),
            Server::Ahead(_) | Server::Attended(_) | Server::Stepwise(_) => self.delay,
        }
    }

    /// May packets of one flow pass one another, in its queue or on its wire?
    pub(crate) fn reorders(&self) -> bool {
        match &self.server {
            Server::Varying(varying) => varying.line.reorders() || varying.server.reorders(),
            Server::Stepwise(server) => server.reorders(),
            Server::Ahead(_) | Server::Attended(_) => false,
        }
    }

    /// How much shorter its delay becomes at some time.
    pub(crate) fn shortening(&self) -> Span {
        match &self.server {
            Server::Varying(varying) => {
                Span(self.delay.0.saturating_sub(varying.line.least_delay().0))
            }
            Server::Ahead(_) | Server::Attended(_) | Server::Stepwise(_) => Span::ZERO,
        }
    }

    /// A packet arrives, and may be marked. `identities` holds what queues know each flow by.
    #[expect(clippy::inline_always, reason = "once for data and once for acknowledgments")]
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        packet: &mut Packet,
        identities: &[Identity],
        hold: &mut Hold,
    ) -> Arrived {
        match &mut self.server {
            Server::Ahead(server) => {
                server.arrive(now, packet, &mut self.gate, &mut self.transmitter, self.delay)
            }
            Server::Attended(_) | Server::Stepwise(_) | Server::Varying(_) => {
                // Only the copy's address is taken, so that the packet itself can stay in registers.
                let mut copy = *packet;
                let arrived = self.attend(now, &mut copy, identities, hold);
                packet.flags = copy.flags;
                arrived
            }
        }
    }

    /// An arrival at a link with any of the extras: a marker, a policy with a clock, a queue that owns its packets, or
    /// one that may take months to drain. Kept apart so that links without them do not pay for them.
    #[inline(never)]
    fn attend(
        &mut self,
        now: Time,
        packet: &mut Packet,
        identities: &[Identity],
        hold: &mut Hold,
    ) -> Arrived {
        if let Server::Varying(varying) = &mut self.server {
            varying.tell(now, &mut self.marker);
        }
        if let Some(marker) = &mut self.marker {
            marker.see(now, packet);
        }
        self.transmitter.saturate();
        match &mut self.server {
            Server::Ahead(server) | Server::Attended(server) => {
                server.tick(now, &mut self.gate);
                let gate = &mut self.gate;
                if gate.watches_departures {
                    server.play(now, gate);
                }
                let arrived = server.arrive(now, packet, gate, &mut self.transmitter, self.delay);
                if gate.reads_headers && !matches!(arrived, Arrived::Dropped) {
                    gate.show_header(packet, hold);
                }
                arrived
            }
            Server::Stepwise(server) => {
                let identity = identities[packet.flow as usize];
                let line = Constant { transmitter: &mut self.transmitter, delay: self.delay };
                server.arrive(now, packet, identity, Hands { gate: &mut self.gate, line, hold }).1
            }
            Server::Varying(varying) => {
                let identity = identities[packet.flow as usize];
                let Varying { server, line, thinner } = &mut **varying;
                if line.refuses(now, packet.bytes) {
                    self.gate.gauge.arrived(now);
                    self.gate.gauge.dropped();
                    return Arrived::Dropped;
                }
                let mut thinner = thinner.as_mut().filter(|_| packet.is_ack());
                match thinner.as_mut().map(|thinner| thinner.arrive(now, packet, server)) {
                    Some(Thinned::Held(release)) => return Arrived::Held(release),
                    Some(Thinned::Replaces(older)) => {
                        self.gate.gauge.arrived(now);
                        self.gate.gauge.dropped();
                        server.discard(older);
                        return Arrived::Waits(None);
                    }
                    Some(Thinned::Passes) | None => {}
                }
                let hands = Hands { gate: &mut self.gate, line, hold };
                let (key, arrived) = server.arrive(now, packet, identity, hands);
                if let Some(thinner) = thinner {
                    thinner.joined(packet.flow, key);
                }
                arrived
            }
        }
    }

    /// The acknowledgments that the link has held join its queue. As for [`Arrived::Waits`].
    pub(crate) fn release(
        &mut self,
        now: Time,
        identities: &[Identity],
        hold: &mut Hold,
    ) -> Option<Time> {
        let Server::Varying(varying) = &mut self.server else { return None };
        varying.tell(now, &mut self.marker);
        let Varying { server, line, thinner } = &mut **varying;
        let thinner = thinner.as_mut()?;
        let released = thinner.release();
        let mut departure = None;
        for packet in &released {
            let identity = identities[packet.flow as usize];
            let hands = Hands { gate: &mut self.gate, line: &mut *line, hold };
            if let (_, Arrived::Waits(Some(time))) = server.arrive(now, packet, identity, hands) {
                departure = Some(time);
            }
        }
        thinner.reuse(released);
        departure
    }

    /// Does it hold acknowledgments?
    pub(crate) fn holds(&self) -> bool {
        match &self.server {
            Server::Varying(varying) => varying.thinner.as_ref().is_some_and(Thinner::holds),
            Server::Ahead(_) | Server::Attended(_) | Server::Stepwise(_) => false,
        }
    }

    /// The packet in service departs. Only for links whose departures are events.
    pub(crate) fn depart(&mut self, now: Time, hold: &mut Hold) -> Departed {
        match &mut self.server {
            Server::Ahead(_) | Server::Attended(_) => {
                unreachable!("departures of this port are no events")
            }
            Server::Stepwise(server) => {
                let line = Constant { transmitter: &mut self.transmitter, delay: self.delay };
                server.depart(now, Hands { gate: &mut self.gate, line, hold })
            }
            Server::Varying(varying) => {
                varying.tell(now, &mut self.marker);
                let Varying { server, line, .. } = &mut **varying;
                let mut departed =
                    server.depart(now, Hands { gate: &mut self.gate, line: &mut *line, hold });
                let flags = departed.packet.flags;
                departed.packet.flags = flags.with_ecn(line.ecn(flags.ecn()));
                departed
            }
        }
    }

    /// One of the packets dropped by a queue that owns its packets and not yet collected.
    pub(crate) fn take_dropped(&mut self) -> Option<Packet> {
        match &mut self.server {
            Server::Ahead(_) | Server::Attended(_) => None,
            Server::Stepwise(server) => server.take_dropped(),
            Server::Varying(varying) => varying.server.take_dropped(),
        }
    }

    /// Brings every count up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        match &mut self.server {
            Server::Ahead(server) | Server::Attended(server) => {
                server.tick(now, &mut self.gate);
                server.play(now, &mut self.gate);
            }
            Server::Stepwise(server) => server.advance(now),
            Server::Varying(varying) => {
                varying.tell(now, &mut self.marker);
                varying.server.advance(now);
            }
        }
        self.gate.gauge.advance(now);
    }

    pub(crate) fn gauge(&self) -> &Gauge {
        &self.gate.gauge
    }

    pub(crate) fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.gate.gauge
    }

    /// The packets that are waiting.
    #[cfg(test)]
    pub(crate) fn backlog(&self) -> Backlog {
        self.gate.backlog
    }

    /// How many of the packets held by the server satisfy `which`; zero for a server that holds none.
    pub(crate) fn inside(&self, which: fn(&Packet) -> bool) -> usize {
        match &self.server {
            Server::Ahead(_) | Server::Attended(_) => 0,
            Server::Stepwise(server) => server.inside(which),
            Server::Varying(varying) => {
                let held = varying.thinner.iter().flat_map(Thinner::held);
                varying.server.inside(which) + held.filter(|packet| which(packet)).count()
            }
        }
    }
}

/// Could a full queue take longer to drain than the clock has left after the longest run? That is thirteen days, half
/// of which are kept for what comes after the queue.
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

/// The way into the queue: capacity, policy, and backlog.
#[derive(Debug)]
struct Gate {
    capacity: Capacity,
    policy: Option<Box<dyn Policy>>,
    clock: Clock,
    /// What the policy wants to know.
    reads_headers: bool,
    watches_departures: bool,
    chance: Stream,
    backlog: Backlog,
    gauge: Gauge,
}

impl Gate {
    /// Is the packet admitted? Marks it if the verdict says so.
    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
    fn admits(&mut self, now: Time, packet: &mut Packet, idle_since: Option<Time>) -> bool {
        match self.judge(now, packet.size(), packet.flags.ecn(), idle_since) {
            Verdict::Keep => true,
            Verdict::Mark => {
                packet.flags = packet.flags.with_ecn(Ecn::Ce);
                true
            }
            Verdict::Drop => false,
        }
    }

    /// Decides what becomes of a packet. Takes only the fields it needs, so that the packet can stay in registers.
    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
    fn judge(&mut self, now: Time, bytes: Bytes, ecn: Ecn, idle_since: Option<Time>) -> Verdict {
        self.gauge.arrived(now);
        if idle_since.is_none() && !self.capacity.admits(self.backlog, bytes) {
            return self.overflow(now, bytes, ecn);
        }
        let Some(policy) = &mut self.policy else { return Verdict::Keep };
        let arrival = Arrival { now, bytes, ecn, backlog: self.backlog, idle_since };
        match policy.on_arrival(&arrival, &mut self.chance) {
            Verdict::Keep => Verdict::Keep,
            Verdict::Mark if ecn.is_capable() => {
                self.gauge.marked();
                Verdict::Mark
            }
            Verdict::Mark | Verdict::Drop => {
                self.gauge.dropped();
                Verdict::Drop
            }
        }
    }

    /// Shows the policy the header of a packet that it has let in. That of an acknowledgment is the echo of the opposite
    /// direction.
    fn show_header(&mut self, packet: &Packet, hold: &mut Hold) {
        if packet.is_ack() {
            return;
        }
        let header = packet.cargo().and_then(|handle| hold.header(handle));
        if let (Some(policy), Some(header)) = (&mut self.policy, header) {
            policy.on_header(packet.size(), header);
        }
    }

    /// A packet does not fit.
    #[cold]
    fn overflow(&mut self, now: Time, bytes: Bytes, ecn: Ecn) -> Verdict {
        if let Some(policy) = &mut self.policy {
            let backlog = self.backlog;
            policy.on_overflow(&Arrival { now, bytes, ecn, backlog, idle_since: None });
        }
        self.gauge.dropped();
        Verdict::Drop
    }

    /// Does the backlog fit into the buffer?
    fn is_within_capacity(&self) -> bool {
        match self.capacity {
            Capacity::Packets(limit) => self.backlog.packets <= limit,
            Capacity::Bytes(limit) => self.backlog.bytes <= limit,
            Capacity::Unbounded => true,
        }
    }

    /// Gives the policy the ticks that are due up to `now`. They see the present backlog, so they must come before
    /// anything that changes it.
    fn tick(&mut self, now: Time) {
        let count = self.clock.take_due(now);
        if let Some(policy) = self.policy.as_mut().filter(|_| count > 0) {
            policy.on_ticks(count, self.backlog);
        }
    }

    /// A packet joins the queue.
    #[inline]
    fn enter(&mut self, now: Time, bytes: Bytes) {
        self.backlog.enter(bytes);
        self.gauge.queue(now, self.backlog);
    }

    /// A packet leaves the queue.
    #[inline]
    fn leave(&mut self, now: Time, bytes: Bytes) {
        self.backlog.leave(bytes);
        self.gauge.queue(now, self.backlog);
    }
}

/// Sends one packet after another, at the exact rate.
#[derive(Debug)]
struct Transmitter {
    rate: Rate,
    /// When the last of the packets accepted so far will have left.
    free_at: Time,
    /// What the last transmission time was rounded down by, in 1/rate picoseconds.
    carry: u64,
    /// Transmission times of the last two sizes looked up.
    known: [Transmission; 2],
    corruption: Rare,
}

/// How long a packet of `bytes` bytes takes: whole picoseconds, and the remainder in 1/rate picoseconds.
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
    /// The remainder of the division is carried over, so that rounding does not distort the rate.
    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
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

    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
    fn transmission(&mut self, bytes: u32) -> Transmission {
        // Data and acknowledgments come in no predictable order, so the choice between them must not be a branch.
        let known = self.known[usize::from(self.known[1].bytes == bytes)];
        if known.bytes == bytes { known } else { self.learn(bytes) }
    }

    #[cold]
    fn learn(&mut self, bytes: u32) -> Transmission {
        self.known.swap(0, 1);
        let bit_picoseconds = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
        let rate = u128::from(self.rate.0);
        self.known[0] = Transmission {
            bytes,
            whole: (bit_picoseconds / rate) as u64,
            remainder: (bit_picoseconds % rate) as u64,
        };
        self.known[0]
    }

    /// Caps the time at which the transmitter is free, so that the clock cannot overflow.
    fn saturate(&mut self) {
        self.free_at = self.free_at.min(LATEST);
    }

    /// Since when the transmitter has been idle, if it is idle at `now`.
    #[inline]
    fn idle_since(&self, now: Time) -> Option<Time> {
        (self.free_at <= now).then_some(self.free_at)
    }
}

#[cfg(test)]
mod tests;
