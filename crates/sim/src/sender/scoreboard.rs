//! What the sender knows of the segments in flight (RFC 6675).
//!
//! Three frontiers advance over the window, each passing every segment once, so the cost per acknowledgment is O(1)
//! amortised at any window:
//!
//! ```text
//!     unacknowledged ≤ … lost_below … highest selectively acknowledged … next new
//!                    ≤ … retransmitted_below …
//! ```
//!
//! All segments have the same size, so RFC 6675's `IsLost(S)` (three discontiguous blocks above S, or more than two
//! segments' worth of bytes) becomes: at least three segments above S are selectively acknowledged. An unacknowledged
//! segment is thus lost exactly when it lies below the third-highest of these. `Pipe` is kept as running counts rather
//! than summed over the window.

use crate::cargo::Blocks;
use crate::runs::Runs;

/// RFC 6675, section 2: `DupThresh`.
pub(crate) const DUPLICATE_THRESHOLD: usize = 3;

/// The state of the segments from the first unacknowledged one to the last one sent. What every acknowledgment needs comes
/// first.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    sacked: Runs,
    /// How many unacknowledged segments are not in the network: selectively acknowledged or lost, less those
    /// retransmitted. Asked for at every acknowledgment, so it is a sum kept, not one made. A segment repaired by
    /// rule 3 is retransmitted without being lost, so the sum may be negative.
    absent: i64,
    /// Is any of the counts above zero?
    broken: bool,
    lost_below: u64,
    /// The highest segment found lost so far.
    last_lost: u64,
    /// Segments below `lost_below` that are not selectively acknowledged.
    lost: u64,
    retransmitted_below: u64,
    /// Segments below `retransmitted_below` that are not selectively acknowledged.
    retransmitted: u64,
    /// Segments that duplicate acknowledgments have reported without saying which, where there are no selective ones.
    unplaced: u64,
    /// The highest selectively acknowledged segments, highest first, each plus one; 0 where there are fewer.
    highest: [u64; DUPLICATE_THRESHOLD],
    /// RFC 6675's `RescueRxt`: no further rescue until everything below is acknowledged.
    rescued_below: u64,
}

impl Scoreboard {
    /// Is the window in flight unbroken, with nothing lost, retransmitted, selectively acknowledged or reported by a
    /// duplicate?
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        !self.broken
    }

    /// The counts have changed.
    fn settle(&mut self) {
        let (sacked, lost, retransmitted) = (self.sacked.count(), self.lost, self.retransmitted);
        self.absent = (sacked + lost).cast_signed() - retransmitted.cast_signed();
        self.broken = sacked + lost + retransmitted + self.unplaced > 0;
    }

    /// Losses are found elsewhere, by time: `lost` segments are lost and have not been sent again since.
    pub(crate) fn set_lost(&mut self, lost: u64) {
        self.lost = lost;
        self.settle();
    }

    /// Packets are numbered, and counted elsewhere: of so many `outstanding` segments so many packets are in flight.
    pub(crate) fn set_in_flight(&mut self, outstanding: u64, in_flight: u64, broken: bool) {
        self.absent = outstanding.cast_signed() - in_flight.cast_signed();
        self.broken = broken;
    }

    /// Segments selectively acknowledged.
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked.count()
    }

    /// RFC 6675's `Pipe`: an estimate of what is in the network, for `outstanding` unacknowledged segments.
    #[inline]
    pub(crate) fn pipe(&self, outstanding: u64) -> u64 {
        outstanding.wrapping_sub(self.absent.cast_unsigned())
    }

    /// The same, less what duplicates have reported: what is in the network where there are no selective
    /// acknowledgments.
    pub(crate) fn in_flight(&self, outstanding: u64) -> u64 {
        self.pipe(outstanding) - self.unplaced
    }

    /// A duplicate acknowledgment: one of the `outstanding` segments has arrived, and it is not the first (RFC 5681,
    /// section 3.2).
    pub(crate) fn on_duplicate(&mut self, outstanding: u64) {
        self.unplaced = (self.unplaced + 1).min(outstanding - 1);
        self.settle();
    }

    /// Recovery begins (section 5, step 4.3): nothing is rescued before more than the first retransmission has been
    /// acknowledged.
    pub(crate) fn begin_recovery(&mut self, unacknowledged: u64) {
        self.rescued_below = unacknowledged + 2;
    }

    /// The highest segment found lost so far, but for those of a time-out; 0 if none was.
    pub(crate) fn last_lost(&self) -> u64 {
        self.last_lost
    }

    /// RFC 6675's `IsLost(HighACK + 1)`.
    pub(crate) fn first_is_lost(&self, unacknowledged: u64) -> bool {
        self.lost_below > unacknowledged
    }

    /// Has the first unacknowledged segment already been retransmitted?
    pub(crate) fn first_was_retransmitted(&self, unacknowledged: u64) -> bool {
        self.retransmitted_below > unacknowledged
    }

    /// Everything below `to` is acknowledged, and everything below `next` has been sent. Returns how many of these
    /// segments had not been reported before.
    #[inline]
    pub(crate) fn advance(&mut self, from: u64, to: u64, next: u64) -> u64 {
        if self.is_clear() { to - from } else { self.advance_among(from, to, next) }
    }

    /// The same where the window is broken.
    #[inline(never)]
    fn advance_among(&mut self, from: u64, to: u64, next: u64) -> u64 {
        let mut news = 0_u64;
        for segment in from..to {
            // What has been sent since the last report, for which there is no room yet, comes after all that has.
            if self.sacked.contains(segment) {
                self.sacked.forget(segment);
            } else {
                news += 1;
                self.lost -= u64::from(segment < self.lost_below);
                self.retransmitted -= u64::from(segment < self.retransmitted_below);
            }
        }
        // The first one was missing; duplicates have reported the others, as far as there were so many.
        let known = self.unplaced.min(news.saturating_sub(1));
        self.unplaced = (self.unplaced - known).min((next - to).saturating_sub(1));
        self.settle();
        news - known
    }

    /// Takes in blocks of RFC 2018; `unacknowledged` is the first segment not cumulatively acknowledged, `next` the
    /// next new one. `stale`: may the blocks be older than what is known, because acknowledgments have passed one
    /// another? Calls `arrived` for each segment reported for the first time, and returns how many there are.
    pub(crate) fn acknowledge(
        &mut self,
        blocks: &Blocks,
        unacknowledged: u64,
        next: u64,
        stale: bool,
        mut arrived: impl FnMut(u64),
    ) -> u64 {
        let before = self.sacked.count();
        self.sacked.reserve(unacknowledged, next);
        for block in blocks {
            let mut segment = block.first.max(unacknowledged);
            while segment < block.end.min(next) {
                if self.sacked.contains(segment) {
                    if stale && self.sacked.contains(segment.wrapping_sub(1)) {
                        // An older block may begin anywhere in a run.
                        segment += 1;
                        continue;
                    }
                    // The sender knows a subset of what the receiver has, and blocks are maximal: a known segment here
                    // is the first of its run.
                    segment = self.sacked.starting_at(segment).end;
                    continue;
                }
                let run = self.sacked.insert(segment);
                arrived(segment);
                self.lost -= u64::from(segment < self.lost_below);
                self.retransmitted -= u64::from(segment < self.retransmitted_below);
                self.note_highest(segment + 1);
                segment = run.end;
            }
        }
        let news = self.sacked.count() - before;
        if news > 0 {
            self.settle();
        }
        news
    }

    fn note_highest(&mut self, mut value: u64) {
        for highest in &mut self.highest {
            if value > *highest {
                std::mem::swap(&mut value, highest);
            }
        }
    }

    /// Raises the loss frontier to the third-highest selectively acknowledged segment. Calls `lost` for each segment
    /// that is newly lost, and returns how many there are.
    pub(crate) fn detect_losses(&mut self, unacknowledged: u64, mut lost: impl FnMut(u64)) -> u64 {
        let third = self.highest[DUPLICATE_THRESHOLD - 1].saturating_sub(1);
        let from = self.lost_below.max(unacknowledged);
        let mut found = 0;
        for segment in from..third {
            if !self.has_arrived(unacknowledged, segment) {
                found += 1;
                self.last_lost = segment;
                lost(segment);
            }
        }
        self.lost_below = self.lost_below.max(third);
        if found > 0 {
            self.lost += found;
            self.settle();
        }
        found
    }

    /// Has this segment, not yet cumulatively acknowledged, been reported selectively? It may have been sent after the last
    /// report, for which there is no room yet.
    #[inline]
    pub(crate) fn has_arrived(&self, unacknowledged: u64, segment: u64) -> bool {
        self.sacked.contains_reserved(unacknowledged, segment)
    }

    /// Is this segment, sent and not yet cumulatively acknowledged, in the network as far as is known?
    pub(crate) fn is_in_flight(&self, unacknowledged: u64, segment: u64) -> bool {
        let repaired = segment < self.retransmitted_below;
        (repaired || segment >= self.lost_below) && !self.has_arrived(unacknowledged, segment)
    }

    /// The retransmission timer expired: everything unacknowledged counts as lost and not yet retransmitted.
    pub(crate) fn all_lost(&mut self, unacknowledged: u64, next: u64) {
        self.lost_below = next;
        self.lost = next - unacknowledged - self.sacked.count();
        self.retransmitted_below = unacknowledged;
        self.retransmitted = 0;
        self.rescued_below = 0;
        self.unplaced = 0;
        self.settle();
    }

    /// `NextSeg`, rule 1: takes the first lost segment not yet retransmitted.
    pub(crate) fn take_lost(&mut self, unacknowledged: u64) -> Option<u64> {
        self.take_hole(unacknowledged, self.lost_below)
    }

    /// `NextSeg`, rule 3: takes the first segment below the highest selectively acknowledged one that has not been
    /// retransmitted, lost or not.
    pub(crate) fn take_unsacked(&mut self, unacknowledged: u64) -> Option<u64> {
        self.take_hole(unacknowledged, self.highest[0].saturating_sub(1))
    }

    #[inline(never)]
    fn take_hole(&mut self, unacknowledged: u64, below: u64) -> Option<u64> {
        let mut segment = self.retransmitted_below.max(unacknowledged);
        while segment < below && self.has_arrived(unacknowledged, segment) {
            segment += 1;
        }
        let found = segment < below;
        if found {
            self.retransmitted += 1;
            self.retransmitted_below = segment + 1;
            self.settle();
        } else {
            self.retransmitted_below = self.retransmitted_below.max(below);
        }
        found.then_some(segment)
    }

    /// `NextSeg`, rule 4: once per recovery, the highest unacknowledged segment, when nothing else can be sent. It does
    /// not count as in flight (`HighRxt` stays).
    pub(crate) fn rescue(&mut self, unacknowledged: u64, next: u64) -> Option<u64> {
        if self.rescued_below > unacknowledged || self.retransmitted_below >= next {
            return None;
        }
        let mut sent = (unacknowledged..next).rev();
        let segment = sent.find(|&segment| !self.has_arrived(unacknowledged, segment))?;
        self.rescued_below = next;
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::SegmentRun;

    fn blocks(runs: &[(u64, u64)]) -> Blocks {
        let mut blocks = Blocks::default();
        for (block, &(first, end)) in blocks.iter_mut().zip(runs) {
            *block = SegmentRun { first, end };
        }
        blocks
    }

    /// Ten segments have left, of which those of the blocks have arrived. What is lost by then is known.
    fn ten(runs: &[(u64, u64)]) -> Scoreboard {
        let mut scoreboard = Scoreboard::default();
        scoreboard.acknowledge(&blocks(runs), 0, 10, false, |_| {});
        scoreboard.detect_losses(0, |_| {});
        scoreboard
    }

    #[test]
    fn a_rescue_waits_for_more_than_the_first_retransmission() {
        // RFC 6675, section 5, step 4.3: `RescueRxt` is the first segment that was sent again, 0, and only when `HighACK`
        // is beyond it may the highest segment that is missing, 9, leave once more; rule 4: once.
        let mut scoreboard = ten(&[(2, 5)]);
        scoreboard.begin_recovery(0);
        assert_eq!(scoreboard.take_lost(0), Some(0));
        assert_eq!(scoreboard.take_lost(0), Some(1));
        assert_eq!((scoreboard.take_lost(0), scoreboard.rescue(0, 10)), (None, None));
        scoreboard.advance(0, 1, 10);
        assert_eq!(scoreboard.rescue(1, 10), None, "0 alone");
        scoreboard.advance(1, 5, 10);
        let before = scoreboard.in_flight(5);
        assert_eq!(scoreboard.rescue(5, 10), Some(9));
        assert_eq!(scoreboard.in_flight(5), before, "`HighRxt` stays as it is");
        assert_eq!(scoreboard.rescue(5, 10), None);
        // 1 is all that is needed beyond it.
        let mut scoreboard = ten(&[(5, 8)]);
        scoreboard.begin_recovery(0);
        scoreboard.advance(0, 2, 10);
        assert_eq!(scoreboard.rescue(2, 10), Some(9));
        // What has arrived is not missing: here the highest one is 7.
        let mut scoreboard = ten(&[(2, 5), (8, 10)]);
        scoreboard.begin_recovery(0);
        scoreboard.advance(0, 5, 10);
        assert_eq!(scoreboard.rescue(5, 10), Some(7));
    }

    #[test]
    fn what_leaves_again_unlost_counts_twice() {
        // RFC 6675, section 4, `SetPipe`: 0 and 1 are not lost, with two segments above them, so 8 of 10 are in the
        // network. Sent again by rule 3 of `NextSeg`, each of them counts once more.
        let mut scoreboard = ten(&[(2, 4)]);
        assert_eq!((scoreboard.in_flight(10), scoreboard.take_lost(0)), (8, None));
        assert_eq!(scoreboard.take_unsacked(0), Some(0));
        assert_eq!(scoreboard.take_unsacked(0), Some(1));
        assert_eq!(scoreboard.take_unsacked(0), None, "4 is above everything that has arrived");
        assert_eq!(scoreboard.in_flight(10), 10);
    }

    #[test]
    fn what_has_left_again_unlost_does_not_leave_again_once_it_is_lost() {
        // RFC 6675, section 4, `NextSeg`, rule 1.a: only above `HighRxt`. Third from above is 3, so 0 and 1 are lost and leave
        // again; rule 3 sends 5. Then 7 and 8 arrive: 5 is lost, and has left again already, so that 0, 1, 5 and 9 are
        // in the network.
        let mut scoreboard = ten(&[(2, 5), (6, 7)]);
        let again: Vec<u64> = std::iter::from_fn(|| scoreboard.take_lost(0)).collect();
        assert_eq!(again, [0, 1]);
        assert_eq!(scoreboard.take_unsacked(0), Some(5));
        scoreboard.acknowledge(&blocks(&[(6, 9)]), 0, 10, false, |_| {});
        let mut lost = Vec::new();
        scoreboard.detect_losses(0, |segment| lost.push(segment));
        assert_eq!(lost, [5]);
        assert_eq!((scoreboard.take_lost(0), scoreboard.take_unsacked(0)), (None, None));
        assert_eq!(scoreboard.in_flight(10), 4);
    }

    #[test]
    fn what_was_sent_after_the_last_report_has_not_arrived() {
        // 3 and 4 have arrived, which is kept in 64 places; then 190 more leave, 67 and 68 in the places of 3 and 4. After a
        // time-out all but two leave again, in their order, and the last of all is what a rescue would send.
        let mut scoreboard = Scoreboard::default();
        scoreboard.acknowledge(&blocks(&[(3, 5)]), 0, 10, false, |_| {});
        let arrived: Vec<u64> = (0..200).filter(|&it| scoreboard.has_arrived(0, it)).collect();
        assert_eq!(arrived, [3, 4]);
        assert!((5..200).all(|it| scoreboard.is_in_flight(0, it)));
        assert_eq!(scoreboard.rescue(0, 200), Some(199));
        scoreboard.all_lost(0, 200);
        let again: Vec<u64> = std::iter::from_fn(|| scoreboard.take_lost(0)).collect();
        let expected: Vec<u64> = (0..200).filter(|it| ![3, 4].contains(it)).collect();
        assert_eq!(again, expected);
        assert_eq!(scoreboard.in_flight(200), 198);
        // All of it is acknowledged at once: two were known.
        assert_eq!(scoreboard.advance(0, 200, 200), 198);
        assert!(scoreboard.is_clear());
    }

    #[test]
    fn what_is_lost_or_has_arrived_is_not_in_flight() {
        // 2, 3 and 4 have arrived, so 0 and 1 are lost; 0 leaves again.
        let mut scoreboard = ten(&[(2, 5)]);
        assert_eq!(scoreboard.take_lost(0), Some(0));
        let in_flight: Vec<u64> = (0..10).filter(|&it| scoreboard.is_in_flight(0, it)).collect();
        assert_eq!(in_flight, [0, 5, 6, 7, 8, 9]);
        assert_eq!(scoreboard.in_flight(10), 6);
    }

    #[test]
    fn old_blocks_report_nothing_twice() {
        // 3 to 7 have arrived. An acknowledgment that was overtaken knows 5 and 6 only; another one knows 8 as well but
        // lacks 3 and 4. Its block of 2 and 3 comes when everything below 3 is acknowledged.
        let mut scoreboard = ten(&[(3, 8)]);
        let mut arrived = Vec::new();
        let mut hear = |scoreboard: &mut Scoreboard, run, unacknowledged| {
            scoreboard.acknowledge(&blocks(&[run]), unacknowledged, 10, true, |it| arrived.push(it))
        };
        assert_eq!(hear(&mut scoreboard, (5, 7), 0), 0);
        assert_eq!(hear(&mut scoreboard, (5, 9), 0), 1);
        let mut scoreboard = ten(&[]);
        scoreboard.advance(0, 3, 10);
        assert_eq!(hear(&mut scoreboard, (2, 4), 3), 1);
        assert_eq!(arrived, [8, 3]);
    }

    #[test]
    fn duplicates_cannot_report_the_first_segment() {
        // RFC 5681, section 3.2. Of five outstanding segments, 0 to 4, four may have arrived; a fifth duplicate, of one
        // that was doubled on its way, changes nothing.
        let mut scoreboard = Scoreboard::default();
        let left: Vec<u64> = (0..5)
            .map(|_| {
                scoreboard.on_duplicate(5);
                scoreboard.in_flight(5)
            })
            .collect();
        assert_eq!(left, [4, 3, 2, 1, 1]);
        // 0 and 1 are acknowledged, one of which was known; 2 is missing, so no more than 3 and 4 have arrived.
        assert_eq!(scoreboard.advance(0, 2, 5), 1);
        assert_eq!(scoreboard.in_flight(3), 1);
        // All is acknowledged: only 2 is news.
        assert_eq!(scoreboard.advance(2, 5, 5), 1);
        assert!(scoreboard.is_clear());
    }
}
