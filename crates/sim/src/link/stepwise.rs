//! The server that sends packet by packet: each departure is an event.

use longfat_queue::{Pushout, Storage};
use longfat_units::{Span, Time};

use super::{Arrived, Departed, Gate, Transmitter};
use crate::packet::Packet;
use crate::ring::Ring;

/// The packets that wait, and the one in service.
#[derive(Debug)]
pub(super) struct Stepwise {
    waiting: Waiting,
    in_service: Option<Packet>,
    pushed_out: Vec<Packet>,
}

/// How packets wait: each kind of [`Storage`].
#[derive(Debug)]
enum Waiting {
    Fifo(Ring<Packet>),
    Pushout(Pushout<Packet>),
}

impl Waiting {
    fn put(&mut self, packet: Packet) {
        match self {
            Self::Fifo(waiting) => waiting.put(packet),
            Self::Pushout(waiting) => waiting.put(packet.rank(), packet),
        }
    }

    fn take(&mut self) -> Option<Packet> {
        match self {
            Self::Fifo(waiting) => waiting.take(),
            Self::Pushout(waiting) => waiting.take(),
        }
    }

    fn count(&self, which: fn(&Packet) -> bool) -> usize {
        match self {
            Self::Fifo(waiting) => waiting.iter().filter(|packet| which(packet)).count(),
            Self::Pushout(waiting) => waiting.iter().filter(|packet| which(packet)).count(),
        }
    }
}

impl Stepwise {
    pub(super) fn new(storage: Storage) -> Self {
        let waiting = match storage {
            Storage::Fifo => Waiting::Fifo(Ring::default()),
            Storage::Pushout => Waiting::Pushout(Pushout::default()),
        };
        Self { waiting, in_service: None, pushed_out: Vec::new() }
    }

    pub(super) fn arrive(
        &mut self,
        now: Time,
        packet: &mut Packet,
        gate: &mut Gate,
        transmitter: &mut Transmitter,
    ) -> Arrived {
        let idle_since = if self.in_service.is_none() { transmitter.idle_since(now) } else { None };
        if idle_since.is_none()
            && let Waiting::Pushout(waiting) = &mut self.waiting
            && !gate.has_room(packet)
        {
            push_out(waiting, now, *packet, gate, &mut self.pushed_out);
            return Arrived::PushedOut;
        }
        if !gate.admits(now, packet, idle_since) {
            return Arrived::Dropped;
        }
        if self.in_service.is_some() {
            self.waiting.put(*packet);
            gate.enter(now, packet.size());
            return Arrived::Waits(None);
        }
        self.in_service = Some(*packet);
        Arrived::Waits(Some(transmitter.send(now, packet.bytes)))
    }

    pub(super) fn depart(
        &mut self,
        now: Time,
        gate: &mut Gate,
        transmitter: &mut Transmitter,
        delay: Span,
    ) -> Departed {
        let packet =
            self.in_service.take().expect("a departure is scheduled while a packet is in service");
        gate.tick(now);
        gate.gauge.departed(now, packet.bytes);
        let next = self.waiting.take().map(|next| {
            gate.leave(now, next.size());
            self.in_service = Some(next);
            transmitter.send(now, next.bytes)
        });
        let corrupted = transmitter.corruption.happens();
        if corrupted {
            gate.gauge.corrupted_at(now);
        }
        Departed { packet, arrives: now + delay, corrupted, next }
    }

    /// One of the packets that the last arrival has pushed out.
    pub(super) fn take_pushed_out(&mut self) -> Option<Packet> {
        self.pushed_out.pop()
    }

    /// How many of the packets inside are such.
    pub(super) fn inside(&self, which: fn(&Packet) -> bool) -> usize {
        self.waiting.count(which) + usize::from(self.in_service.as_ref().is_some_and(which))
    }
}

/// A packet finds the queue full: the lowest priorities go until the rest fits, the arriving packet among them.
#[cold]
fn push_out(
    waiting: &mut Pushout<Packet>,
    now: Time,
    packet: Packet,
    gate: &mut Gate,
    pushed_out: &mut Vec<Packet>,
) {
    gate.gauge.arrived(now);
    while !gate.has_room(&packet) {
        gate.gauge.dropped();
        if waiting.lowest() <= Some(packet.rank()) {
            pushed_out.push(packet);
            return;
        }
        let lowest = waiting.push_out().expect("something waits");
        gate.leave(now, lowest.size());
        pushed_out.push(lowest);
    }
    waiting.put(packet.rank(), packet);
    gate.enter(now, packet.size());
}
