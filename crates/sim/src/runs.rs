//! Which segments above a base have arrived, as maximal runs.
//!
//! The sender's scoreboard and the receiver's reassembly ask the same question, so they share the answer. Each segment
//! has one word in a ring: zero if absent, the length of its run at either end of the run, and any nonzero value
//! inside. Adding a segment and skipping a run are O(1) at any window, and nothing is allocated unless the window
//! outgrows the ring.

/// A set of segments at or above a moving base, kept as maximal runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    words: Vec<u32>,
    count: u64,
}

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

    fn at(&self, segment: u64) -> usize {
        segment as usize & (self.words.len() - 1)
    }

    /// Is `segment` present? It must lie within the range reserved by [`Runs::reserve`].
    #[inline]
    pub(crate) fn contains(&self, segment: u64) -> bool {
        self.count > 0 && self.words[self.at(segment)] != 0
    }

    /// Is `segment` present? It may lie anywhere at or above `base`.
    pub(crate) fn contains_reserved(&self, base: u64, segment: u64) -> bool {
        segment - base < self.words.len() as u64 && self.contains(segment)
    }

    /// Makes room for segments from `base` up to `end`, plus a gap on either side.
    #[inline]
    pub(crate) fn reserve(&mut self, base: u64, end: u64) {
        let needed = (end - base) as usize + 2;
        if needed > self.words.len() {
            self.grow(base, needed);
        }
    }

    #[cold]
    fn grow(&mut self, base: u64, needed: usize) {
        let mut larger = vec![0; needed.next_power_of_two().max(16)];
        if self.count > 0 {
            let mask = larger.len() - 1;
            for segment in base..base + self.words.len() as u64 {
                larger[segment as usize & mask] = self.words[self.at(segment)];
            }
        }
        self.words = larger;
    }

    /// The maximal run that begins at `first`.
    pub(crate) fn starting_at(&self, first: u64) -> SegmentRun {
        debug_assert!(self.contains(first) && !self.contains(first.wrapping_sub(1)));
        SegmentRun { first, end: first + u64::from(self.words[self.at(first)]) }
    }

    /// Adds an absent `segment` and returns the maximal run that now contains it. The ring must have been reserved.
    pub(crate) fn insert(&mut self, segment: u64) -> SegmentRun {
        debug_assert!(!self.contains(segment), "segment {segment} is present already");
        let before = self.words[self.at(segment.wrapping_sub(1))];
        let after = self.words[self.at(segment + 1)];
        let run =
            SegmentRun { first: segment - u64::from(before), end: segment + 1 + u64::from(after) };
        let length = before + 1 + after;
        let (first, middle, last) = (self.at(run.first), self.at(segment), self.at(run.end - 1));
        self.words[middle] = length;
        self.words[first] = length;
        self.words[last] = length;
        self.count += 1;
        run
    }

    /// Forgets a present segment below the new base. Segments must be forgotten in order, starting with the first of a
    /// run; the rest of that run must not be queried until it has been forgotten too.
    #[inline]
    pub(crate) fn forget(&mut self, segment: u64) {
        let at = self.at(segment);
        debug_assert_ne!(self.words[at], 0);
        self.words[at] = 0;
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a plain set: insertions anywhere in a sliding window, with the base moving past complete runs.
        #[test]
        fn runs_are_what_a_plain_set_says(
            start in 0_u64..1000,
            offsets in prop::collection::vec((0_u64..80, any::<bool>()), 1..300),
        ) {
            let mut runs = Runs::default();
            let mut set = BTreeSet::new();
            let mut base = start;
            for (offset, slide) in offsets {
                let segment = base + 1 + offset;
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
                for segment in base..base + 82 {
                    runs.reserve(base, segment + 1);
                    prop_assert_eq!(runs.contains(segment), set.contains(&segment));
                }
            }
        }
    }
}
