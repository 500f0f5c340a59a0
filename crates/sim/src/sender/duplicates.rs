//! Losses found by duplicate acknowledgments alone: Reno (RFC 5681, section 3.2), NewReno (RFC 6582), and bursts.
//!
//! Without selective acknowledgments a sender knows only that something arrived, not what. Each duplicate lifts the
//! window by one segment, so that what has left the network is replaced; the third one sends the first
//! unacknowledged segment again.

/// The third duplicate starts the recovery (RFC 5681, section 3.2, step 2).
pub(crate) const THRESHOLD: u64 = 3;

/// What duplicates have told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicates {
    /// How many in a row tell of a loss.
    threshold: u64,
    /// Duplicates in a row.
    count: u64,
    /// Segments that may be in flight above the window.
    inflation: u64,
    /// Was there a partial acknowledgment in this recovery?
    partial: bool,
}

impl Duplicates {
    /// So many duplicates in a row tell of a loss.
    pub(crate) fn new(threshold: u64) -> Self {
        Self { threshold, count: 0, inflation: 0, partial: false }
    }

    /// Segments that may be in flight above the window. The first two duplicates are limited transmit (RFC 3042).
    #[inline]
    pub(crate) fn inflation(&self) -> u64 {
        self.inflation
    }

    /// One more duplicate. True when with it there are as many in a row as tell of a loss.
    pub(crate) fn see(&mut self) -> bool {
        self.count += 1;
        self.inflation += 1;
        self.count == self.threshold
    }

    /// New data was acknowledged outside of recovery, or recovery has ended.
    #[inline]
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.threshold);
    }

    /// NewReno: `acked` segments were acknowledged, but not all of the recovery (RFC 6582, section 3.2, step 3).
    /// Returns whether the retransmission timer starts again: on the first such acknowledgment only.
    pub(crate) fn partial(&mut self, acked: u64) -> bool {
        self.inflation = self.inflation.saturating_sub(acked) + 1;
        !std::mem::replace(&mut self.partial, true)
    }
}
