//! Sending without a window: in bursts, each from a lost segment on (Kim & Farber 1995; `Sending::Bursts`).

use longfat_units::Time;

use crate::packet::Packet;

/// The bursts of a sender, if it sends its data so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// The segment from which ranks count. Where there are none it is beyond any, so that every rank is 0.
    first: u64,
    are_sent: bool,
    priorities: bool,
    /// When a segment that had been sent before last left.
    sent_again: Time,
    /// By then the first segment that is not acknowledged had left in this burst.
    first_sent: Time,
}

impl Bursts {
    /// A sender with a window sends none.
    pub(crate) const NONE: Self = Self {
        first: u64::MAX,
        are_sent: false,
        priorities: false,
        sent_again: Time::ZERO,
        first_sent: Time::NEVER,
    };

    /// The first burst of a flow.
    pub(crate) fn new(priorities: bool) -> Self {
        let mut bursts = Self { are_sent: true, priorities, ..Self::NONE };
        bursts.begin(0);
        bursts
    }

    /// Does data leave in bursts?
    pub(crate) fn are_sent(&self) -> bool {
        self.are_sent
    }

    /// A new burst begins at `segment`.
    pub(crate) fn begin(&mut self, segment: u64) {
        self.first_sent = Time::NEVER;
        if self.priorities {
            self.first = segment;
        }
    }

    /// The rank of the priority of a segment, 0 the highest.
    #[inline]
    pub(crate) fn rank(&self, segment: u64) -> u32 {
        u32::try_from(segment.saturating_sub(self.first)).unwrap_or(u32::MAX)
    }

    /// A segment that had been sent before leaves, maybe the first that is not acknowledged.
    pub(crate) fn sent_again(&mut self, now: Time, is_first: bool) {
        self.sent_again = now;
        if is_first {
            self.first_sent = now;
        }
    }

    /// While everything goes again another segment has become the first that is not acknowledged. Has it left in this
    /// burst already?
    pub(crate) fn advanced(&mut self, now: Time, has_left: bool) {
        self.first_sent = if has_left { now } else { Time::NEVER };
    }

    /// Can a duplicate acknowledgment tell of a loss? Not if what caused it left before the restart, or is a copy of what
    /// was there. In a burst segments leave in order: what left after the first one that is missing lies above it, and so
    /// does what left after the last copy.
    pub(crate) fn minds(&self, duplicate: &Packet) -> bool {
        duplicate.sent > self.sent_again.min(self.first_sent)
    }
}
