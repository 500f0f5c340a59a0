//! The server that sends packet by packet: each departure is an event.

use longfat_units::{Span, Time};

use super::{Arrived, Departed, Gate, Transmitter};
use crate::packet::Packet;
use crate::ring::Ring;

/// The packets that wait, and the one in service.
#[derive(Debug, Default)]
pub(super) struct Stepwise {
    waiting: Ring<Packet>,
    in_service: Option<Packet>,
}

impl Stepwise {
    pub(super) fn arrive(
        &mut self,
        now: Time,
        packet: &mut Packet,
        gate: &mut Gate,
        transmitter: &mut Transmitter,
    ) -> Arrived {
        let idle_since = if self.in_service.is_none() { transmitter.idle_since(now) } else { None };
        if !gate.admit(now, packet, idle_since) {
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

    pub(super) fn data_inside(&self) -> u64 {
        self.waiting.iter().chain(&self.in_service).filter(|packet| packet.is_live_data()).count()
            as u64
    }
}
