//! The receiving half of a transport that numbers its packets, as QUIC does.
//!
//! Data carries a packet number, and the segment in it where TCP has a time stamp. Acknowledgments report every packet
//! that has arrived, in ranges without limit. The model of that is a log of arrivals: an acknowledgment says how many
//! packets had arrived when it left, and the sender reads the log up to there ([`Log::read`]), so that neither side works
//! or allocates in proportion to the window. Each entry tells whether the packet was marked, which is what the counts of
//! marks in QUIC's acknowledgments amount to.
//!
//! A packet that arrives twice, because a wire repeats it, is acknowledged at once the second time, as one out of order;
//! QUIC discards it (RFC 9000, section 12.3). To the sender it is no news.

use std::collections::VecDeque;

use longfat_units::{Ecn, Time};

use crate::packet::Packet;
use crate::runs::Runs;

/// What a receiver knows of numbered packets.
#[derive(Debug, Default)]
pub(crate) struct NumberedArrivals {
    /// The next number in order: one more than the largest that has arrived.
    next: u64,
    /// When that one arrived.
    largest_at: Time,
    /// The first segment that has not arrived, and those above it that have.
    expected: u64,
    early: Runs,
    log: Log,
}

/// Packets in the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Those that the sender has not read yet: number, and whether it was marked.
    entries: VecDeque<(u64, bool)>,
    read: u64,
}

impl Log {
    /// How many packets have arrived.
    fn count(&self) -> u64 {
        self.read + self.entries.len() as u64
    }

    /// Reads on until so many have been read in all.
    pub(crate) fn read(&mut self, count: u64) -> impl Iterator<Item = (u64, bool)> + '_ {
        let more = count.saturating_sub(self.read).min(self.entries.len() as u64);
        self.read += more;
        self.entries.drain(..more as usize)
    }
}

/// What is to be known of one arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberedArrival {
    /// Has its segment arrived for the first time?
    pub(crate) is_new: bool,
    /// Must it be acknowledged at once: is it out of order, or marked (RFC 9000, section 13.2.1)?
    pub(crate) urgent: bool,
}

impl NumberedArrivals {
    /// A packet arrives.
    pub(crate) fn take(&mut self, data: &Packet, at: Time) -> NumberedArrival {
        let marked = data.flags.ecn() == Ecn::Ce;
        self.log.entries.push_back((data.number, marked));
        let in_order = data.number == self.next;
        if data.number >= self.next {
            (self.next, self.largest_at) = (data.number + 1, at);
        }
        let is_new = self.assemble(data.sent.0);
        NumberedArrival { is_new, urgent: !in_order || marked }
    }

    /// A segment has arrived. False if it had before.
    fn assemble(&mut self, segment: u64) -> bool {
        if segment < self.expected || self.early.contains_reserved(self.expected, segment) {
            return false;
        }
        if segment > self.expected {
            self.early.reserve(self.expected, segment + 1);
            self.early.insert(segment);
            return true;
        }
        self.expected += 1;
        while self.early.contains(self.expected) {
            self.early.forget(self.expected);
            self.expected += 1;
        }
        true
    }

    /// The first segment that has not arrived.
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// What an acknowledgment that leaves at `at` says: how many packets have arrived, and for how long the largest of
    /// them has waited for it, in the place of a time stamp.
    pub(crate) fn report(&self, at: Time) -> (u64, Time) {
        (self.log.count(), Time(at.since(self.largest_at).0))
    }

    /// The log, for the sender.
    pub(crate) fn log(&mut self) -> &mut Log {
        &mut self.log
    }
}
