//! Losses found by duplicate acknowledgments alone: Reno (RFC 5681, section 3.2), NewReno (RFC 6582), and bursts.
//!
//! Without selective acknowledgments a sender knows only that something arrived, not what. The first two duplicates let
//! a new segment go each (RFC 3042); the third one sends the first unacknowledged segment again; in recovery each lifts
//! the window by one segment, so that what has left the network is replaced. After a time-out much is sent that the
//! receiver has: its duplicates tell nothing (RFC 6582, section 4).

use longfat_units::Time;

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
    /// What left by then may be a copy of what the receiver has.
    copies_until: Option<Time>,
    /// Was there a partial acknowledgment in this recovery?
    partial: bool,
}

impl Duplicates {
    /// So many duplicates in a row tell of a loss.
    pub(crate) fn new(threshold: u64) -> Self {
        Self { threshold, count: 0, inflation: 0, copies_until: None, partial: false }
    }

    /// Segments that may be in flight above the window.
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
        *self = Self { copies_until: self.copies_until, ..Self::new(self.threshold) };
    }

    /// After a time-out something was sent again.
    pub(crate) fn copied(&mut self, now: Time) {
        self.copies_until = Some(now);
    }

    /// Did what caused this duplicate leave after all copies? Only then something before it is missing.
    pub(crate) fn mind(&self, left: Time) -> bool {
        self.copies_until.is_none_or(|copies| left > copies)
    }

    /// NewReno: `acked` segments were acknowledged, but not all of the recovery (RFC 6582, section 3.2, step 3).
    /// Returns whether the retransmission timer starts again: on the first such acknowledgment only.
    pub(crate) fn partial(&mut self, acked: u64) -> bool {
        self.inflation = self.inflation.saturating_sub(acked) + 1;
        !std::mem::replace(&mut self.partial, true)
    }
}
