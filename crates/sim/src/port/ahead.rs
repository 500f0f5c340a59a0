//! The server that knows each departure on arrival.

use longfat_units::{Bytes, Span, Time};

use super::{Arrived, Gate, Transmitter};
use crate::packet::Packet;
use crate::ring::Ring;

/// Departures to come.
#[derive(Debug)]
pub(super) struct Ahead {
    /// The packet in service; `Time::NEVER` if there is none.
    served: ScheduledDeparture,
    /// The packets that are waiting.
    waiting: Ring<ScheduledDeparture>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ScheduledDeparture {
    at: Time,
    bytes: u32,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { served: ScheduledDeparture { at: Time::NEVER, bytes: 0 }, waiting: Ring::default() }
    }
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
        let departure =
            ScheduledDeparture { at: transmitter.send(now, packet.bytes), bytes: packet.bytes };
        if idle_since.is_none() {
            gate.enter(now, packet.size());
            self.waiting.put(departure);
        } else {
            self.served = departure;
        }
        let at = departure.at;
        if transmitter.corruption.happens() {
            gate.gauge.corrupted_at(at);
            return Arrived::Corrupted(at + delay);
        }
        Arrived::Through(at + delay)
    }

    /// Lets the policy sample the queue at every tick up to `now`, playing the departures in between. At the same
    /// instant the tick comes before the departure.
    pub(super) fn tick(&mut self, now: Time, gate: &mut Gate) {
        while gate.clock.next() <= now {
            self.play(Time(gate.clock.next().0 - 1), gate);
            gate.tick(self.served.at.min(now));
        }
    }

    /// The same as [`Self::settle`], with a policy that may watch.
    pub(super) fn play(&mut self, now: Time, gate: &mut Gate) {
        if !gate.watches_departures {
            return self.settle(now, gate);
        }
        while self.served.at <= now {
            let at = self.served.at;
            let remaining = gate.backlog.packets;
            self.settle(at, gate);
            if let Some(policy) = &mut gate.policy {
                policy.on_departure(at, remaining);
            }
        }
    }

    /// Plays the departures up to `now`.
    #[expect(
        clippy::inline_always,
        reason = "once for every arrival, and all its registers are in use"
    )]
    #[inline(always)]
    pub(super) fn settle(&mut self, now: Time, gate: &mut Gate) {
        while self.served.at <= now {
            let ScheduledDeparture { at, bytes } = self.served;
            gate.gauge.departed(at, bytes);
            if let Some(next) = self.waiting.take() {
                self.served = next;
                gate.leave(at, Bytes(u64::from(next.bytes)));
            } else {
                self.served.at = Time::NEVER;
                self.waiting.rewind();
            }
        }
    }
}
