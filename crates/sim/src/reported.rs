//! Which runs of segments out of order a receiver tells of: the newest first (RFC 2018, section 4).
//!
//! An acknowledgment has room for three. Those that had to make room for others are kept, newest last, and come back when
//! runs become one, or nothing of them is out of order any more. A run that has grown since it was put there has other ends
//! now, and is somewhere else: such entries are skipped when their turn comes, and removed when there is no room for more.
//! That sorts them, as many as half of the room at the most, so that of n runs a segment costs O(log n) on average; and there
//! is room for no more than twice the most runs there have been, and eight.

use crate::cargo::Blocks;
use crate::runs::{Runs, SegmentRun};

/// For how many entries there is room at first.
const FEW: usize = 8;

/// The runs told of, in the order in which each was the first block for the last time.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// The newest ones, newest first; those that are left are empty.
    newest: Blocks,
    /// The others, newest last.
    older: Vec<SegmentRun>,
}

impl Reported {
    /// What an acknowledgment tells.
    #[inline]
    pub(crate) fn blocks(&self) -> &Blocks {
        &self.newest
    }

    /// What it tells if a segment has arrived twice: that first, then the run around it if it is out of order (RFC 2883,
    /// section 4), then the newest others.
    pub(crate) fn with_duplicate(&self, segment: u64, around: Option<SegmentRun>) -> Blocks {
        let others = self.newest.iter().filter(|run| Some(**run) != around).copied();
        let mut runs = around.into_iter().chain(others);
        let mut next = || runs.next().unwrap_or_default();
        [SegmentRun::duplicate(segment), next(), next()]
    }

    /// Puts one of `runs`, which are above `base`, first. Those with which it has become one are gone.
    pub(crate) fn put_first(&mut self, run: SegmentRun, runs: &Runs, base: u64) {
        let newest = self.newest[0];
        let grown = run.first <= newest.first && newest.end <= run.end;
        if grown && run.end - run.first == newest.end - newest.first + 1 {
            self.newest[0] = run;
            return;
        }
        let apart =
            |other: &SegmentRun| other.end != 0 && (other.end < run.first || other.first > run.end);
        let mut kept = self.newest.into_iter().filter(apart);
        let mut next = || kept.next().unwrap_or_default();
        self.newest = [run, next(), next()];
        if let Some(displaced) = kept.next() {
            self.keep(displaced, runs, base);
        } else {
            self.fill(runs, base);
        }
    }

    /// Everything up to `base` is in order now; `runs` are out of order.
    pub(crate) fn advance(&mut self, runs: &Runs, base: u64) {
        for run in &mut self.newest {
            if run.end <= base {
                *run = SegmentRun::default();
            }
        }
        self.newest.sort_by_key(|run| run.end == 0);
        self.fill(runs, base);
    }

    /// Fills the places that are left.
    #[inline]
    fn fill(&mut self, runs: &Runs, base: u64) {
        if self.newest[2].end == 0 && !self.older.is_empty() {
            self.bring_back(runs, base);
        }
    }

    #[cold]
    fn bring_back(&mut self, runs: &Runs, base: u64) {
        for place in 0..self.newest.len() {
            while self.newest[place].end == 0 {
                let Some(run) = self.older.pop() else { return };
                if runs.has(run, base) && !self.newest.contains(&run) {
                    self.newest[place] = run;
                }
            }
        }
    }

    /// Keeps a run for which there is no room.
    #[inline(never)]
    fn keep(&mut self, run: SegmentRun, runs: &Runs, base: u64) {
        if self.older.len() == self.older.capacity() {
            self.tidy(runs, base);
        }
        self.older.push(run);
    }

    /// Removes what is no run any more, and what was put first again by a segment that had arrived before. There is room for
    /// as many again then.
    #[cold]
    fn tidy(&mut self, runs: &Runs, base: u64) {
        let Self { newest, older } = self;
        older.retain(|run| runs.has(*run, base) && !newest.contains(run));
        let places = older.iter().enumerate().map(|(place, run)| (run.first, place));
        let mut places: Vec<(u64, usize)> = places.collect();
        places.sort_unstable();
        for twice in places.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            older[twice[0].1] = SegmentRun::default();
        }
        older.retain(|run| run.end > 0);
        older.reserve_exact(older.len().max(FEW));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a list of all segments out of order, from the one that arrived last to the one that arrived first:
        /// the runs around them, each where it comes first. Segments arrive anywhere in a window, also such as have
        /// arrived before, and what is missing first does now and then.
        #[test]
        fn the_newest_runs_are_told_of(
            window in 2_u64..150,
            arrivals in prop::collection::vec((0_u64..150, 0_u8..20), 1..400),
        ) {
            let (mut runs, mut reported) = (Runs::default(), Reported::default());
            let (mut base, mut order, mut most) = (0, Vec::<u64>::new(), 0);
            for (offset, fills) in arrivals {
                let segment = base + 1 + offset % window;
                order.retain(|other| *other != segment);
                order.push(segment);
                runs.reserve(base, segment + 1);
                let run =
                    if runs.contains(segment) { runs.around(segment) } else { runs.insert(segment) };
                reported.put_first(run, &runs, base);
                if fills == 0 {
                    base += 1;
                    while runs.contains_reserved(base, base) {
                        runs.forget(base);
                        base += 1;
                    }
                    order.retain(|segment| *segment > base);
                    reported.advance(&runs, base);
                }
                let mut expected = Vec::new();
                for segment in order.iter().rev() {
                    let run = runs.around(*segment);
                    if !expected.contains(&run) {
                        expected.push(run);
                    }
                }
                most = most.max(expected.len());
                prop_assert!(reported.older.capacity() <= 2 * most + FEW);
                expected.resize(3.max(expected.len()), SegmentRun::default());
                prop_assert_eq!(&reported.blocks()[..], &expected[..3]);
            }
        }
    }
}
