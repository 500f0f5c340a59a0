//! Which segments above a base have arrived, as maximal runs.
//!
//! The sender's scoreboard and the receiver's reassembly ask the same question, so they share the answer. While the
//! segments in question are few, each has a bit of one word: with many flows most windows never need more, and what
//! is known of them takes no memory of its own. Beyond that each segment has a number in a ring: zero if absent, the
//! length of its run at either end of the run, and inside how far back an earlier segment of the run is. Adding a segment
//! and skipping a run are O(1) at any window, and nothing is allocated unless the window outgrows the ring. Who looks for
//! the run around a segment goes back from one to the next, and shortens the way for who comes after.

/// A set of segments at or above a moving base, kept as maximal runs. The place of a segment is its number, modulo how
/// many places there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// The ring of numbers, whose size is a power of two; empty while a word is enough.
    lengths: Vec<u32>,
    /// Until then, a bit for each of [`FEW`] segments.
    bits: u64,
    count: u64,
}

const FEW: u64 = u64::BITS as u64;

/// A maximal run: first segment, and the one after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentRun {
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl SegmentRun {
    /// In the blocks of an acknowledgment: a segment that has arrived twice (RFC 2883). It is written backwards, which
    /// makes it empty for all that do not ask.
    pub(crate) fn duplicate(segment: u64) -> Self {
        Self { first: segment + 1, end: segment }
    }

    /// The segment that has arrived twice, if this says so.
    pub(crate) fn as_duplicate(self) -> Option<u64> {
        (self.end < self.first).then_some(self.end)
    }
}

impl Runs {
    /// How many segments are present.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn are_few(&self) -> bool {
        self.lengths.is_empty()
    }

    /// How many segments there are places for.
    #[inline]
    fn places(&self) -> u64 {
        if self.are_few() { FEW } else { self.lengths.len() as u64 }
    }

    #[inline]
    fn at(&self, segment: u64) -> usize {
        segment as usize & self.lengths.len().wrapping_sub(1)
    }

    /// The bits, turned so that the one of `segment` comes first.
    #[inline]
    fn bits_from(&self, segment: u64) -> u64 {
        self.bits.rotate_right((segment % FEW) as u32)
    }

    /// Is `segment` present? It must lie within the range reserved by [`Runs::reserve`].
    #[inline]
    pub(crate) fn contains(&self, segment: u64) -> bool {
        if self.are_few() {
            self.bits_from(segment) & 1 == 1
        } else {
            self.lengths[self.at(segment)] != 0
        }
    }

    /// Is `segment` present? It may lie anywhere at or above `base`.
    pub(crate) fn contains_reserved(&self, base: u64, segment: u64) -> bool {
        segment - base < self.places() && self.contains(segment)
    }

    /// Makes room for segments from `base` up to `end`, plus a gap on either side.
    #[inline]
    pub(crate) fn reserve(&mut self, base: u64, end: u64) {
        let needed = end - base + 2;
        if needed > self.places() {
            self.grow(base, needed);
        }
    }

    #[cold]
    fn grow(&mut self, base: u64, needed: u64) {
        let lengths = vec![0; needed.next_power_of_two() as usize];
        let mut larger = Self { lengths, bits: 0, count: 0 };
        for segment in base..base + self.places() {
            if self.contains(segment) {
                larger.insert(segment);
            }
        }
        *self = larger;
    }

    /// The maximal run that begins at `first`.
    pub(crate) fn starting_at(&self, first: u64) -> SegmentRun {
        debug_assert!(self.contains(first) && !self.contains(first.wrapping_sub(1)));
        let length = if self.are_few() {
            self.bits_from(first).trailing_ones()
        } else {
            self.lengths[self.at(first)]
        };
        SegmentRun { first, end: first + u64::from(length) }
    }

    /// Is this one of the maximal runs? None begins at or below `base`.
    pub(crate) fn has(&self, run: SegmentRun, base: u64) -> bool {
        run.first > base
            && self.contains(run.first)
            && !self.contains(run.first - 1)
            && self.starting_at(run.first) == run
    }

    /// The maximal run that contains a present `segment`.
    pub(crate) fn around(&mut self, segment: u64) -> SegmentRun {
        debug_assert!(self.contains(segment), "segment {segment} is absent");
        if self.are_few() {
            return self.around_bits(segment);
        }
        let mut first = segment;
        while let Some(back) = self.back(first) {
            first -= back;
        }
        let mut passed = segment;
        while let Some(back) = self.back(passed) {
            // The number of the last segment is the length.
            if self.contains(passed + 1) {
                let at = self.at(passed);
                self.lengths[at] = (passed - first) as u32;
            }
            passed -= back;
        }
        self.starting_at(first)
    }

    /// How far back an earlier segment of the same run is; `None` if there is none.
    fn back(&self, segment: u64) -> Option<u64> {
        if !self.contains(segment - 1) {
            return None;
        }
        let number = u64::from(self.lengths[self.at(segment)]);
        Some(if self.contains(segment + 1) { number } else { number - 1 })
    }

    /// The same as [`Self::around`] while there are few.
    fn around_bits(&self, segment: u64) -> SegmentRun {
        let bits = self.bits_from(segment);
        let (before, onward) = (bits.leading_ones(), bits.trailing_ones());
        SegmentRun { first: segment - u64::from(before), end: segment + u64::from(onward) }
    }

    /// Adds an absent `segment` and returns the maximal run that now contains it. Its place must have been reserved.
    pub(crate) fn insert(&mut self, segment: u64) -> SegmentRun {
        debug_assert!(!self.contains(segment), "segment {segment} is present already");
        self.count += 1;
        if self.are_few() {
            self.bits |= 1 << (segment % FEW);
            return self.around_bits(segment);
        }
        let (left, right) = (self.at(segment.wrapping_sub(1)), self.at(segment + 1));
        let (before, after) = (self.lengths[left], self.lengths[right]);
        let run =
            SegmentRun { first: segment - u64::from(before), end: segment + 1 + u64::from(after) };
        let length = before + 1 + after;
        let (first, middle, last) = (self.at(run.first), self.at(segment), self.at(run.end - 1));
        // What are ends of the new run get its length below.
        self.lengths[left] = before.saturating_sub(1);
        self.lengths[middle] = before;
        if after > 0 {
            self.lengths[right] = before + 1;
        }
        self.lengths[first] = length;
        self.lengths[last] = length;
        run
    }

    /// Forgets a present segment below the new base. Segments must be forgotten in order, starting with the first of a
    /// run; the rest of that run must not be queried until it has been forgotten too.
    #[inline]
    pub(crate) fn forget(&mut self, segment: u64) {
        debug_assert!(self.contains(segment));
        if self.are_few() {
            self.bits &= !(1 << (segment % FEW));
        } else {
            let at = self.at(segment);
            self.lengths[at] = 0;
        }
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a plain set: insertions anywhere in a sliding window, with the base moving past complete runs. The
        /// window fits into a word, or does not, or fits for a while.
        #[test]
        fn runs_are_what_a_plain_set_says(
            start in 0_u64..1000,
            windows in prop::array::uniform2(1_u64..80),
            offsets in prop::collection::vec((0_u64..80, any::<bool>()), 1..300),
        ) {
            let mut runs = Runs::default();
            let mut set = BTreeSet::new();
            let mut base = start;
            for (count, (offset, slide)) in offsets.into_iter().enumerate() {
                let window = windows[usize::from(count > 40)];
                let segment = base + 1 + offset % window;
                runs.reserve(base, segment + 1);
                if set.insert(segment) {
                    let run = runs.insert(segment);
                    prop_assert!((run.first..run.end).all(|s| set.contains(&s)));
                    prop_assert!(!set.contains(&(run.first - 1)) && !set.contains(&run.end));
                    prop_assert_eq!(runs.starting_at(run.first), run);
                }
                if slide {
                    base += 1;
                    while set.remove(&base) {
                        runs.forget(base);
                        base += 1;
                    }
                }
                prop_assert_eq!(runs.count(), set.len() as u64);
                for segment in base..base + window + 2 {
                    runs.reserve(base, segment + 1);
                    prop_assert_eq!(runs.contains(segment), set.contains(&segment));
                }
                if let Some(&segment) = set.iter().nth(count % set.len().max(1)) {
                    let run = runs.around(segment);
                    prop_assert!((run.first..run.end).contains(&segment));
                    prop_assert!((run.first..run.end).all(|s| set.contains(&s)));
                    prop_assert!(!set.contains(&(run.first - 1)) && !set.contains(&run.end));
                    prop_assert!(runs.has(run, base));
                    let longer = SegmentRun { end: run.end + 1, ..run };
                    let later = SegmentRun { first: run.first + 1, ..run };
                    prop_assert!(!runs.has(longer, base) && !runs.has(later, base));
                }
            }
        }
    }

    /// There are places for 64 segments, so that the place of 70 is that of 6.
    #[test]
    fn what_has_no_place_is_not_present() {
        let mut runs = Runs::default();
        runs.reserve(5, 10);
        runs.insert(6);
        assert!(runs.contains_reserved(5, 6));
        assert!(!runs.contains_reserved(5, 7) && !runs.contains_reserved(5, 70));
    }

    #[test]
    fn an_empty_block_is_no_segment_that_has_arrived_twice() {
        assert_eq!(SegmentRun::default().as_duplicate(), None);
        assert_eq!(SegmentRun { first: 4, end: 5 }.as_duplicate(), None);
        assert_eq!(SegmentRun::duplicate(0).as_duplicate(), Some(0));
    }
}
