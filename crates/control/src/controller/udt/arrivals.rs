//! What receivers of UDT measure: how fast packets arrive, and what a pair of them says of the slowest link.

use longfat_units::{Span, Time};

/// How many intervals of each kind are kept.
const KEPT: usize = 16;
/// How many of them must be near their median for an arrival speed: more than this.
const ENOUGH: usize = KEPT / 2;
/// What is near: less than this many times the median, and more than the median over it.
const NEAR: f64 = 8.0;

/// The last intervals of one kind, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Intervals {
    values: [f64; KEPT],
    count: usize,
    next: usize,
}

impl Intervals {
    #[inline]
    fn push(&mut self, seconds: f64) {
        self.values[self.next] = seconds;
        self.next = (self.next + 1) % KEPT;
        self.count = (self.count + 1).min(KEPT);
    }

    /// Those that are known, in order, and the one in the middle; none before there is one.
    fn sorted(&self) -> Option<([f64; KEPT], f64)> {
        let mut sorted = self.values;
        let known = &mut sorted[..self.count];
        known.sort_unstable_by(f64::total_cmp);
        let median = *known.get(self.count / 2)?;
        Some((sorted, median))
    }
}

/// Data that has arrived, as its acknowledgments tell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrivals {
    /// When the last one left and arrived.
    last: Option<(Time, Time)>,
    between: Intervals,
    pairs: Intervals,
}

impl Arrivals {
    /// An acknowledgment of so many segments says that one that left at `sent` took `transit`, by a clock of which only
    /// differences mean anything.
    #[inline]
    pub(super) fn hear(&mut self, sent: Time, transit: Span, segments: u64) {
        let arrived = sent.saturating_add(transit);
        if let Some((sent_before, before)) = self.last.replace((sent, arrived))
            && arrived > before
        {
            let interval = arrived.since(before).seconds();
            self.between.push(interval / segments as f64);
            if sent == sent_before && segments == 1 {
                self.pairs.push(interval);
            }
        }
    }

    /// Packets per second that arrive: over the mean of the intervals that are near their median. None where there are too
    /// few of these.
    pub(super) fn speed(&self) -> Option<f64> {
        let (sorted, median) = self.between.sorted()?;
        let near = |interval: &f64| *interval < median * NEAR && *interval > median / NEAR;
        let (mut count, mut sum) = (0, 0.0);
        for interval in sorted[..self.between.count].iter().filter(|each| near(each)) {
            count += 1;
            sum += interval;
        }
        (count > ENOUGH).then(|| f64::from(count as u32) / sum)
    }

    /// Packets per second that the slowest link of the path takes: over the median of the intervals of pairs.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.pairs.sorted().map(|(_, median)| 1.0 / median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that leave and arrive at these milliseconds, one acknowledgment each.
    fn heard(packets: &[(u64, u64)]) -> Arrivals {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut arrivals = Arrivals::default();
        for &(sent, arrived) in packets {
            arrivals.hear(at(sent), at(arrived).since(at(sent)), 1);
        }
        arrivals
    }

    #[test]
    fn an_arrival_speed_is_the_mean_of_what_is_near_the_median() {
        // Sixteen intervals of 100 ms, but one of 700 and one of 900 ms, and two of 10 ms: 700 is less than eight times the
        // median, 900 and 10 are not near it. So 13 intervals count, of (12 * 100 + 700)/13 ms.
        let mut at = 0;
        let mut packets = vec![(0, 0)];
        for interval in [100, 700, 100, 900, 100, 10, 10].into_iter().chain([100; 9]) {
            at += interval;
            packets.push((2 * at, 2 * at + at));
        }
        let speed = heard(&packets).speed().expect("most are near it");
        // What took three times as long as it was sent apart: the arrivals are 3 * interval apart.
        let mean = 3.0 * (12.0 * 100.0 + 700.0) / 13.0;
        assert!((speed - 1e3 / mean).abs() < 1e-6 * speed, "{speed}");
    }

    #[test]
    fn too_few_near_the_median_are_no_speed() {
        // Eight of sixteen are near 100 ms, eight are far above.
        let mut at = 0;
        let mut packets = vec![(0, 0)];
        for interval in [100, 9000].into_iter().cycle().take(16) {
            at += interval;
            packets.push((at, at));
        }
        assert_eq!(heard(&packets).speed(), None);
    }

    #[test]
    fn a_pair_is_what_left_at_once() {
        // Pairs that arrive 12 ms apart, every second: 83.3 packets per second. One of them has another packet
        // between its own, and takes 24: the median does not mind.
        let mut packets = Vec::new();
        for pair in 0..5 {
            let at = 1000 * pair;
            packets.push((at, at + 500));
            packets.push((at, at + if pair == 2 { 524 } else { 512 }));
        }
        let capacity = heard(&packets).capacity().expect("there are pairs");
        assert!((capacity - 1e3 / 12.0).abs() < 1e-6, "{capacity}");
        // What did not leave together is none.
        assert_eq!(heard(&[(0, 500), (1, 512), (2, 524)]).capacity(), None);
    }

    #[test]
    fn one_acknowledgment_of_two_is_no_pair() {
        let mut arrivals = Arrivals::default();
        for at in [0, 24, 48] {
            arrivals.hear(Time::ZERO, Span::from_millis(at), 2);
        }
        assert_eq!(arrivals.capacity(), None);
    }
}
