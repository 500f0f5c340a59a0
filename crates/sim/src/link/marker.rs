//! AntiECN on a link: its virtual queue, and the bit in the header.

use longfat_queue::AntiEcn;
use longfat_scenario::AntiEcnMode;
use longfat_units::{Rate, Time};

use crate::packet::{Flags, Packet};

/// What tells packets that there is room, beside whatever queue the link has.
#[derive(Debug)]
pub(crate) struct Marker {
    queue: AntiEcn,
    mode: AntiEcnMode,
}

impl Marker {
    pub(crate) fn new(settings: longfat_scenario::AntiEcn, rate: Rate) -> Self {
        let longfat_scenario::AntiEcn { threshold, buffer, mode } = settings;
        Self { queue: AntiEcn::new(rate, threshold, buffer), mode }
    }

    /// A packet arrives. All of them enter the virtual queue; data has its bit written, and acknowledgments, whose bit
    /// is the echo of another way, keep it.
    pub(crate) fn see(&mut self, now: Time, packet: &mut Packet) {
        let room = self.queue.has_room(now, packet.size());
        if packet.is_ack() {
            return;
        }
        match self.mode {
            _ if !room => packet.flags = packet.flags.without(Flags::ROOM),
            AntiEcnMode::And => {}
            AntiEcnMode::Overwrite => packet.flags = packet.flags.with(Flags::ROOM),
        }
    }
}
