//! Losses found by duplicate acknowledgments alone: Reno (RFC 5681, section 3.2), NewReno (RFC 6582), and bursts.
//!
//! Without selective acknowledgments a sender knows only that something arrived, not what. The first two duplicates
//! each release a new segment (RFC 3042); the third retransmits the first unacknowledged segment; during recovery each
//! raises the window by one segment, to replace what has left the network. After a time-out the sender repeats much
//! that the receiver already has; the duplicates this causes mean nothing (RFC 6582, section 4).

use longfat_units::Time;

/// The third duplicate starts the recovery (RFC 5681, section 3.2, step 2).
pub(crate) const THRESHOLD: u64 = 3;

/// What duplicates have revealed so far. What acknowledgments need comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Duplicates {
    /// Segments allowed in flight beyond the window.
    inflation: u64,
    /// Duplicates in a row.
    count: u64,
    /// Was there a partial acknowledgment in this recovery?
    partial: bool,
    /// How many in a row indicate a loss.
    threshold: u64,
    /// Anything sent up to then may be a copy of a segment the receiver has.
    copies_until: Option<Time>,
    /// Of what is below, much may have arrived that no duplicate has reported.
    obscure_below: u64,
}

impl Duplicates {
    /// `threshold` duplicates in a row indicate a loss.
    pub(crate) fn new(threshold: u64) -> Self {
        Self {
            threshold,
            count: 0,
            inflation: 0,
            copies_until: None,
            partial: false,
            obscure_below: 0,
        }
    }

    /// Segments allowed in flight beyond the window.
    #[inline]
    pub(crate) fn inflation(&self) -> u64 {
        self.inflation
    }

    /// Counts a duplicate. True if it is the one that reaches the threshold.
    pub(crate) fn see(&mut self) -> bool {
        self.count += 1;
        self.inflation += 1;
        self.count == self.threshold
    }

    /// New data was acknowledged outside recovery, or recovery has ended.
    #[inline]
    pub(crate) fn clear(&mut self) {
        let Self { threshold, copies_until, obscure_below, .. } = *self;
        *self = Self { copies_until, obscure_below, ..Self::new(threshold) };
    }

    /// From now on duplicates do not report everything that arrives of what is below `next`.
    pub(crate) fn obscure(&mut self, next: u64) {
        self.obscure_below = next;
    }

    /// May segments from this one on have arrived earlier, unreported?
    #[inline]
    pub(crate) fn obscures(&self, first: u64) -> bool {
        first < self.obscure_below
    }

    /// How many of `news` segments from this one on, acknowledged in order and not reported by duplicates, have certainly
    /// arrived just now: where there was a hole, only what has filled it.
    pub(crate) fn certain(&self, first: u64, news: u64) -> u64 {
        if self.obscures(first) { news.min(1) } else { news }
    }

    /// Something was retransmitted after a time-out.
    pub(crate) fn copied(&mut self, now: Time) {
        self.copies_until = Some(now);
    }

    /// Did the segment that caused this duplicate leave after all copies? Only then is something before it missing.
    pub(crate) fn mind(&self, left: Time) -> bool {
        self.copies_until.is_none_or(|copies| left > copies)
    }

    /// NewReno: `acked` segments were acknowledged, but not the whole recovery (RFC 6582, section 3.2, step 3). Returns
    /// whether to restart the retransmission timer: only on the first such acknowledgment.
    pub(crate) fn partial(&mut self, acked: u64) -> bool {
        self.inflation = self.inflation.saturating_sub(acked) + 1;
        !std::mem::replace(&mut self.partial, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_duplicate_alone_begins_a_recovery() {
        let mut duplicates = Duplicates::new(THRESHOLD);
        let begins: Vec<bool> = (0..5).map(|_| duplicates.see()).collect();
        assert_eq!(begins, [false, false, true, false, false]);
        assert_eq!(duplicates.inflation(), 5);
    }

    #[test]
    fn a_partial_acknowledgment_deflates_and_adds_one_back() {
        // RFC 6582, section 3.2, step 3: five duplicates, then three segments are acknowledged, one, and many.
        let mut duplicates = Duplicates::new(THRESHOLD);
        for _ in 0..5 {
            duplicates.see();
        }
        let restarts = [3, 1, 10].map(|acked| (duplicates.partial(acked), duplicates.inflation()));
        assert_eq!(restarts, [(true, 3), (false, 3), (false, 1)]);
    }

    #[test]
    fn beyond_what_was_obscured_everything_is_certain() {
        let mut duplicates = Duplicates::new(THRESHOLD);
        duplicates.obscure(10);
        assert_eq!((duplicates.certain(9, 5), duplicates.certain(10, 5)), (1, 5));
        duplicates.clear();
        assert_eq!(duplicates.certain(9, 5), 1, "as long as it is not acknowledged");
    }
}
