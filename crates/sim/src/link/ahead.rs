//! The server that knows each departure on arrival.

use longfat_units::{Bytes, Span, Time};

use super::{Arrived, Gate, Transmitter};
use crate::packet::Packet;
use crate::ring::Ring;

/// Departures to come: the packet in service first, then those that wait.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    departures: Ring<Departure>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    at: Time,
    bytes: u32,
}

impl Ahead {
    #[expect(
        clippy::inline_always,
        reason = "twice in the program, and once on the way of every packet"
    )]
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        now: Time,
        packet: &mut Packet,
        gate: &mut Gate,
        transmitter: &mut Transmitter,
        delay: Span,
    ) -> Arrived {
        self.settle(now, gate);
        let idle_since = transmitter.idle_since(now);
        if !gate.admit(now, packet, idle_since) {
            return Arrived::Dropped;
        }
        let at = transmitter.send(now, packet.bytes);
        if idle_since.is_none() {
            gate.enter(now, packet.size());
        }
        self.departures.put(Departure { at, bytes: packet.bytes });
        if transmitter.corruption.happens() {
            gate.gauge.corrupted_at(at);
            return Arrived::Corrupted(at + delay);
        }
        Arrived::Through(at + delay)
    }

    /// Lets the policy have its looks at the queue up to `now`, with the departures between them. At the same instant a
    /// look comes before a departure.
    pub(super) fn tick(&mut self, now: Time, gate: &mut Gate) {
        while gate.next_tick <= now {
            self.settle(Time(gate.next_tick.0 - 1), gate);
            let changes = self.departures.first().map_or(Time::NEVER, |departure| departure.at);
            gate.tick(changes.min(now));
        }
    }

    /// Plays the departures up to `now`.
    #[inline]
    pub(super) fn settle(&mut self, now: Time, gate: &mut Gate) {
        while let Some(&Departure { at, bytes }) = self.departures.first() {
            if at > now {
                break;
            }
            self.departures.take();
            gate.gauge.departed(at, bytes);
            if let Some(next) = self.departures.first() {
                gate.leave(at, Bytes(u64::from(next.bytes)));
            }
        }
    }
}
