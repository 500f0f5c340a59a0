//! Reading ahead, for networks that are larger than the caches.
//!
//! With very many flows, what an event needs was used a round trip ago and has left the caches since: its place in the
//! wheel, its pipe, the packet in it, and both ends of its flow, each of which is found through the one before. So what
//! some of the next events need is read before its turn, a step further each time: these reads wait for memory together,
//! not one after another. Nothing depends on what they read.

use std::hint::black_box;

use super::Simulation;
use crate::flow::Flow;
use crate::pipe::Slot;

/// A network of so many slots, of some ten thousand flows, is larger than the near caches.
pub(super) const LARGE: usize = 1 << 15;

impl Simulation {
    /// Reads something of each of the next events.
    #[inline(never)]
    pub(super) fn read_ahead(&self) {
        let pipes = &self.network.pipes;
        if let Some(slot) = self.heads.glance(8) {
            self.heads.read(slot);
            pipes[slot].read();
        }
        if let Some((flow, end)) = self.heads.glance(5).and_then(|slot| self.flow_at(slot, true)) {
            flow.read(matches!(end, Slot::Out(_)));
        }
        if let Some((flow, end)) = self.heads.glance(2).and_then(|slot| self.flow_at(slot, false)) {
            let onward = match end {
                Slot::Out(_) => flow.slots.back,
                Slot::Back(_) if flow.homeward > 0 => flow.slots.home,
                _ => {
                    flow.read_control();
                    flow.slots.out
                }
            };
            self.heads.read(onward);
            pipes[onward].read_last();
        }
    }

    /// The flow of a slot, and what happens there. Reads the first packet of its pipe, if that is `wanted`.
    #[inline]
    fn flow_at(&self, slot: usize, wanted: bool) -> Option<(&Flow, Slot)> {
        let pipe = &self.network.pipes[slot];
        if wanted {
            pipe.read_first();
        }
        Some((self.network.flows.get(pipe.flow as usize)?, pipe.end))
    }
}

impl Flow {
    /// Reads what a packet needs that is on its way to the receiver, or to the sender.
    #[inline]
    fn read(&self, to_receiver: bool) {
        black_box((self.slots.out, self.out.after, self.homeward, self.outlet.in_transit));
        if to_receiver {
            self.receiver.read();
        } else if let Some(sender) = self.source.windowed() {
            sender.read();
        }
    }

    /// Reads the controller.
    #[inline]
    fn read_control(&self) {
        if let Some(sender) = self.source.windowed() {
            black_box(sender.control().window());
        }
    }
}
