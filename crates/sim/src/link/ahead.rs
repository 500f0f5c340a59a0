//! The server that knows each departure on arrival.

use longfat_units::{Bytes, Span, Time};

use super::{Arrived, Gate, Transmitter};
use crate::packet::Packet;
use crate::ring::Ring;

/// Departures to come: the packet in service first, then those that wait.
#[derive(Debug)]
pub(super) struct Ahead {
    departures: Ring<Departure>,
    /// The first of them; never if there is none.
    next: Time,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { departures: Ring::default(), next: Time::NEVER }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    at: Time,
    bytes: u32,
}

impl Ahead {
    #[expect(
        clippy::inline_always,
        reason = "few times in the program, and once on the way of every packet"
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
        if !gate.admits(now, packet, idle_since) {
            return Arrived::Dropped;
        }
        let at = transmitter.send(now, packet.bytes);
        if idle_since.is_none() {
            gate.enter(now, packet.size());
        } else {
            self.next = at;
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
            gate.tick(self.next.min(now));
        }
    }

    /// Plays the departures up to `now`.
    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
    pub(super) fn settle(&mut self, now: Time, gate: &mut Gate) {
        while self.next <= now {
            let Some(Departure { at, bytes }) = self.departures.take() else { return };
            gate.gauge.departed(at, bytes);
            if let Some(&Departure { at: then, bytes }) = self.departures.first() {
                self.next = then;
                gate.leave(at, Bytes(u64::from(bytes)));
            } else {
                self.next = Time::NEVER;
            }
        }
    }
}
