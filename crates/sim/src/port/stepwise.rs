//! The server that sends packet by packet: each departure is an event.

use longfat_queue::{Host, Item, PacketQueue};
use longfat_units::{Ecn, Rate, RouterHeader, Span, Time};
use rand_core::Rng;
use slab::Slab;

use super::{Arrived, Departed, Fate, Gate, Transmitter};
use crate::cargo::Hold;
use crate::member::Identity;
use crate::packet::Packet;

/// The packets that are waiting, and the one in service.
#[derive(Debug)]
pub(super) struct Stepwise {
    queue: Box<dyn PacketQueue>,
    /// The packets themselves; the queue refers to them by key.
    waiting: Slab<Packet>,
    in_service: Option<Packet>,
    /// Packets that the queue has dropped and nobody has collected yet.
    dropped: Vec<Packet>,
}

/// What a link lends its server for each packet.
#[derive(Debug)]
pub(super) struct Hands<'a, L> {
    pub(super) gate: &'a mut Gate,
    pub(super) line: L,
    pub(super) hold: &'a mut Hold,
}

/// A transmitter and a wire.
pub(super) trait Line {
    /// Sends a packet; nothing else is being sent at `now`. Returns when its last bit leaves. `waited`: was it there
    /// before this instant?
    fn send(&mut self, now: Time, bytes: u32, waited: bool) -> Time;

    /// What becomes of the packet that leaves at `now`.
    fn fate(&mut self, now: Time) -> Fate;

    /// When a packet that leaves at `now` is at the far end.
    fn arrival(&mut self, now: Time) -> Time;
}

/// A line that never changes.
#[derive(Debug)]
pub(super) struct Constant<'a> {
    pub(super) transmitter: &'a mut Transmitter,
    pub(super) delay: Span,
}

impl<L: Line> Line for &mut L {
    fn send(&mut self, now: Time, bytes: u32, waited: bool) -> Time {
        (**self).send(now, bytes, waited)
    }

    fn fate(&mut self, now: Time) -> Fate {
        (**self).fate(now)
    }

    fn arrival(&mut self, now: Time) -> Time {
        (**self).arrival(now)
    }
}

impl Line for Constant<'_> {
    fn send(&mut self, now: Time, bytes: u32, _: bool) -> Time {
        self.transmitter.send(now, bytes)
    }

    fn fate(&mut self, _: Time) -> Fate {
        if self.transmitter.corruption.happens() { Fate::Destroyed } else { Fate::Arrives }
    }

    fn arrival(&mut self, now: Time) -> Time {
        now + self.delay
    }
}

impl Stepwise {
    pub(super) fn new(queue: Box<dyn PacketQueue>) -> Self {
        Self { queue, waiting: Slab::new(), in_service: None, dropped: Vec::new() }
    }

    /// `identity` is what the queue knows the packet's flow by. Also returns the key under which [`Self::waiting`] finds it.
    pub(super) fn arrive<L: Line>(
        &mut self,
        now: Time,
        packet: &Packet,
        identity: Identity,
        mut hands: Hands<'_, L>,
    ) -> (u32, Arrived) {
        hands.gate.gauge.arrived(now);
        self.queue.advance(now);
        let item = item(self.waiting.insert(*packet) as u32, packet, identity, now);
        let (queue, mut desk) = self.desk(now, Some(item.id), &mut hands);
        queue.enqueue(now, item, &mut desk);
        if desk.arriving.is_some() {
            hands.gate.enter(now, item.bytes);
        }
        let departure =
            if self.in_service.is_none() { self.serve(now, false, &mut hands) } else { None };
        debug_assert!(hands.gate.is_within_capacity(), "the queue is within the buffer");
        (item.id, Arrived::Waits(departure))
    }

    /// The packet that waits under `key`, which may be another one by now.
    pub(super) fn waiting(&mut self, key: u32) -> Option<&mut Packet> {
        self.waiting.get_mut(key as usize)
    }

    /// Counts a packet among those that the queue has dropped.
    pub(super) fn discard(&mut self, packet: Packet) {
        self.dropped.push(packet);
    }

    pub(super) fn depart<L: Line>(&mut self, now: Time, mut hands: Hands<'_, L>) -> Departed {
        let packet =
            self.in_service.take().expect("a departure is scheduled while a packet is in service");
        hands.gate.gauge.departed(now, packet.bytes);
        self.queue.advance(now);
        let next = self.serve(now, true, &mut hands);
        let fate = hands.line.fate(now);
        if matches!(fate, Fate::Destroyed | Fate::Impaired { destroyed: true, .. }) {
            hands.gate.gauge.corrupted_at(now);
        }
        Departed { packet, arrives: hands.line.arrival(now), fate, next }
    }

    /// The link is free: the next packet is sent, if there is one. Returns when it departs.
    fn serve<L: Line>(
        &mut self,
        now: Time,
        waited: bool,
        hands: &mut Hands<'_, L>,
    ) -> Option<Time> {
        let (queue, mut desk) = self.desk(now, None, hands);
        let Some(item) = queue.dequeue(now, &mut desk) else {
            debug_assert!(self.waiting.is_empty(), "a port is idle while packets wait");
            return None;
        };
        let packet = self.waiting.remove(item.id as usize);
        hands.gate.leave(now, item.bytes);
        self.in_service = Some(packet);
        Some(hands.line.send(now, packet.bytes, waited))
    }

    fn desk<'a, L>(
        &'a mut self,
        now: Time,
        arriving: Option<u32>,
        hands: &'a mut Hands<'_, L>,
    ) -> (&'a mut dyn PacketQueue, Desk<'a>) {
        let Self { queue, waiting, dropped, .. } = self;
        (&mut **queue, Desk { now, arriving, gate: hands.gate, hold: hands.hold, waiting, dropped })
    }

    /// Brings the queue's own clock up to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        self.queue.advance(now);
    }

    /// The queue is told of a rate that begins at `now`.
    pub(super) fn learn(&mut self, now: Time, rate: Rate) {
        self.queue.advance(now);
        self.queue.on_rate(now, rate);
    }

    /// May packets pass one another in the queue?
    pub(super) fn reorders(&self) -> bool {
        self.queue.reorders()
    }

    /// One of the packets dropped by the queue and not yet collected.
    pub(super) fn take_dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// How many of the packets inside satisfy `which`.
    pub(super) fn inside(&self, which: fn(&Packet) -> bool) -> usize {
        let waiting = self.waiting.iter().filter(|(_, packet)| which(packet)).count();
        waiting + usize::from(self.in_service.as_ref().is_some_and(which))
    }
}

/// What a queue sees of a packet.
fn item(id: u32, packet: &Packet, Identity { host, flow }: Identity, now: Time) -> Item {
    let source = host ^ u32::from(packet.is_ack());
    Item {
        id,
        flow,
        source,
        destination: source ^ 1,
        rank: packet.rank(),
        ecn: packet.flags.ecn(),
        bytes: packet.size(),
        arrived: now,
    }
}

/// The host that a queue sees: every drop and mark is carried out and counted in one step.
struct Desk<'a> {
    now: Time,
    /// The packet that is arriving and does not count as waiting yet.
    arriving: Option<u32>,
    gate: &'a mut Gate,
    hold: &'a mut Hold,
    waiting: &'a mut Slab<Packet>,
    dropped: &'a mut Vec<Packet>,
}

impl Host for Desk<'_> {
    fn drop(&mut self, item: Item) {
        if self.arriving == Some(item.id) {
            self.arriving = None;
        } else {
            self.gate.leave(self.now, item.bytes);
        }
        self.gate.gauge.dropped();
        self.dropped.push(self.waiting.remove(item.id as usize));
    }

    fn mark(&mut self, item: &mut Item) -> bool {
        if !item.ecn.is_capable() {
            return false;
        }
        item.ecn = Ecn::Ce;
        let packet = &mut self.waiting[item.id as usize];
        packet.flags = packet.flags.with_ecn(Ecn::Ce);
        self.gate.gauge.marked();
        true
    }

    fn header(&mut self, item: &Item) -> Option<&mut RouterHeader> {
        let packet = &self.waiting[item.id as usize];
        if packet.is_ack() { None } else { self.hold.header(packet.cargo()?) }
    }

    fn chance(&mut self) -> &mut dyn Rng {
        &mut self.gate.chance
    }
}
