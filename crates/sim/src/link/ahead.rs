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
    #[inline]
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
