//! AntiECN on one direction of the link: the virtual queue of the simulator, and what it writes.
//!
//! The queue is the simulator's own (`AntiEcnQueue` in `crates/queue`, which says when a link has capacity to spare), and
//! all packets enter it. The bit is written into data alone: that of an acknowledgment is the echo of the other
//! direction, and stays. Where the bit is, and which packets take part, says [`Shape::spare`].

use longfat_queue::AntiEcnQueue;
use longfat_scenario::{AntiEcnMarker, AntiEcnMode};
use longfat_units::{Bytes, Rate, Time};

use crate::packet::Shape;

/// The marker of one direction.
#[derive(Debug)]
pub struct Marker {
    queue: AntiEcnQueue,
    mode: AntiEcnMode,
}

impl Marker {
    /// A marker with nothing in its virtual queue, beside a link of this rate.
    pub fn new(settings: AntiEcnMarker, rate: Rate) -> Self {
        let AntiEcnMarker { threshold, buffer, mode, .. } = settings;
        Self { queue: AntiEcnQueue::new(rate, threshold, buffer), mode }
    }

    /// The link has this rate from `now` on.
    pub fn on_rate(&mut self, now: Time, rate: Rate) {
        self.queue.on_rate(now, rate);
    }

    /// A segment of `bytes` arrives. Returns the bit with which it goes on; false where it takes no part.
    pub fn see(&mut self, now: Time, shape: &Shape, bytes: Bytes) -> bool {
        let spare = self.queue.has_spare_capacity(now, bytes);
        let Some(had) = shape.spare else { return false };
        match self.mode {
            _ if !shape.data => had,
            AntiEcnMode::And => had && spare,
            AntiEcnMode::Overwrite => spare,
        }
    }
}
