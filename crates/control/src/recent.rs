//! The smallest or largest value of the last while, in constant memory.

use longfat_units::{Span, Time};

/// The smallest value of the last `PARTS` parts of a while; of `Reverse` values the largest. What is older than the while
/// is forgotten a part at a time, so the oldest value that counts is up to one part younger than it could be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recent<T, const PARTS: usize> {
    /// The smallest value of each part.
    parts: [Option<T>; PARTS],
    at: usize,
    /// When the present part began.
    since: Option<Time>,
    least: Option<T>,
}

impl<T: Copy + Ord, const PARTS: usize> Recent<T, PARTS> {
    pub(crate) const NOTHING: Self = Self { parts: [None; PARTS], at: 0, since: None, least: None };

    /// A value, where a part is `part` long.
    #[inline]
    pub(crate) fn see(&mut self, now: Time, part: Span, value: T) {
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= part {
            self.advance(now, part);
        }
        let least = &mut self.parts[self.at];
        *least = Some(least.map_or(value, |least| least.min(value)));
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
    }

    /// The smallest value seen.
    #[inline]
    pub(crate) fn least(&self) -> Option<T> {
        self.least
    }

    fn advance(&mut self, now: Time, part: Span) {
        let Some(since) = self.since else { return };
        let passed = now.since(since).0 / part.0.max(1);
        for _ in 0..passed.min(PARTS as u64) {
            self.at = (self.at + 1) % PARTS;
            self.parts[self.at] = None;
        }
        self.since = Some(Time(since.0.saturating_add(passed.saturating_mul(part.0))));
        self.least = self.parts.iter().copied().flatten().min();
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_value_counts_until_its_while_is_over() {
        let part = Span::from_millis(10);
        let mut least = Recent::<u32, 3>::NOTHING;
        let mut most = Recent::<Reverse<u32>, 3>::NOTHING;
        let mut seen = Vec::new();
        for (millis, value) in [(0, 5), (12, 7), (22, 6), (29, 8), (31, 9), (42, 9), (200, 4)] {
            least.see(at(millis), part, value);
            most.see(at(millis), part, Reverse(value));
            seen.push((least.least(), most.least().map(|Reverse(value)| value)));
        }
        let expected = [(5, 5), (5, 7), (5, 7), (5, 8), (6, 9), (6, 9), (4, 4)];
        assert_eq!(seen, expected.map(|(least, most)| (Some(least), Some(most))));
    }

    /// A part of 10 ms ends where the next one begins. What comes at 10 ms is in the second of three parts, and
    /// forgotten at 40 ms, not at 30.
    #[test]
    fn a_part_ends_where_the_next_one_begins() {
        let part = Span::from_millis(10);
        let mut least = Recent::<u32, 3>::NOTHING;
        let seen = [(0, 5), (10, 7), (30, 9), (40, 9)].map(|(millis, value)| {
            least.see(at(millis), part, value);
            least.least()
        });
        assert_eq!(seen, [5, 5, 7, 9].map(Some));
    }
}
