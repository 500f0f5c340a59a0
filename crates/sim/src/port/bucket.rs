//! Token buckets, which refuse what comes too fast or make it wait, and take no rounding error along.

use longfat_scenario::TokenBucket;
use longfat_units::{PICOSECONDS_PER_SECOND, Span, Time};

/// A token bucket in exact numbers: tokens are bits times picoseconds per second.
#[derive(Debug)]
pub(super) struct Bucket {
    config: TokenBucket,
    tokens: u128,
    filled_at: Time,
}

impl Bucket {
    /// A full one.
    pub(super) fn new(config: TokenBucket) -> Self {
        Self { config, tokens: Self::for_bytes(config.burst.0), filled_at: Time::ZERO }
    }

    fn for_bytes(bytes: u64) -> u128 {
        u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND)
    }

    fn fill(&mut self, now: Time) {
        let fresh = u128::from(self.config.rate.0) * u128::from(now.since(self.filled_at).0);
        self.tokens = (self.tokens + fresh).min(Self::for_bytes(self.config.burst.0));
        self.filled_at = now;
    }

    /// Takes tokens for so many bytes, all or none. Are there too few?
    pub(super) fn refuses(&mut self, now: Time, bytes: u32) -> bool {
        self.fill(now);
        let needed = Self::for_bytes(u64::from(bytes));
        if self.tokens < needed {
            return true;
        }
        self.tokens -= needed;
        false
    }

    /// Takes tokens for so many bytes as soon as there are enough; returns when that is. The bucket must be large
    /// enough, and is not asked again for a time before that.
    pub(super) fn wait(&mut self, now: Time, bytes: u32) -> Time {
        self.fill(now);
        let needed = Self::for_bytes(u64::from(bytes));
        let missing = needed.saturating_sub(self.tokens);
        let then = now + Span(missing.div_ceil(u128::from(self.config.rate.0)) as u64);
        self.fill(then);
        self.tokens -= needed;
        then
    }
}

#[cfg(test)]
mod tests {
    use longfat_scenario::Scenario;
    use proptest::prelude::*;

    use super::*;

    const MILLISECOND: u64 = 1_000_000_000;

    fn bucket(rate: &str, burst: &str) -> Bucket {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nrate = \"12 Mbit/s\"\ndelay = \"1 ms\"\n\
             shaper = {{ rate = \"{rate}\", burst = \"{burst}\" }}\n[[flow]]\nname = \"f\"\ncontrol = \"reno\"\n\
             path = [\"l\"]\nrtt = \"2 ms\"\n"
        );
        let scenario = Scenario::read(&text, "bucket.toml", &[], None).expect("it is right");
        Bucket::new(scenario.links[0].forward.impairments.shaper.expect("it has one"))
    }

    /// Tokens for 4000 bytes, and 1000 bytes more every millisecond.
    #[test]
    fn a_policer_lets_a_burst_in_and_then_its_rate() {
        let mut bucket = bucket("8 Mbit/s", "4 kB");
        let at = |bucket: &mut Bucket, now: u64, bytes| {
            bucket.refuses(Time(now * MILLISECOND / 2), bytes)
        };
        assert_eq!(
            [0; 5].map(|now| at(&mut bucket, now, 1000)),
            [false, false, false, false, true]
        );
        assert_eq!([1, 2, 3, 4].map(|now| at(&mut bucket, now, 1000)), [true, false, true, false]);
        assert!(!at(&mut bucket, 1000, 4000) && at(&mut bucket, 1000, 1));
        // Arrivals of 1500 bytes at four times the rate for ten seconds.
        let mut let_in = 0_u64;
        for packet in 0..26_667 {
            let now = Time(MILLISECOND * 1000 + packet * 375 * MILLISECOND / 1000);
            let_in += 1500 * u64::from(!bucket.refuses(now, 1500));
        }
        let rate = let_in as f64 * 8.0 / 10.0;
        assert!((rate / 8e6 - 1.0).abs() < 1e-3, "{rate}");
    }

    /// The same for a shaper: four packets at once, then one every millisecond. After 2.5 ms without any there are
    /// tokens for two and a half.
    #[test]
    fn a_shaper_lets_a_burst_pass_and_then_its_rate() {
        let mut bucket = bucket("8 Mbit/s", "4 kB");
        let mut now = Time::ZERO;
        let mut next = |wanted: u64| {
            now = bucket.wait(now.max(Time(wanted)), 1000);
            now.0 as f64 / MILLISECOND as f64
        };
        assert_eq!([0; 6].map(&mut next), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!([4_500_000_000; 4].map(&mut next), [4.5, 4.5, 5.0, 6.0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// R. L. Cruz, "A calculus for network delay, part I" (1991): what a shaper lets pass in any interval of length
        /// t is at most burst + rate t. And it is never later than that requires: what waits, waits because the
        /// interval since some earlier packet is full.
        #[test]
        fn any_interval_carries_at_most_a_burst_and_its_rate(
            rate in 1_000_u64..1_000_000_000,
            gaps in prop::collection::vec((0_u64..40_000_000_000, 40_u32..1500), 1..60),
        ) {
            let mut bucket = bucket(&format!("{rate} bit/s"), "4 kB");
            let (mut arrived, mut last) = (0, Time::ZERO);
            let mut passed: Vec<(Time, u64)> = Vec::new();
            for (gap, bytes) in gaps {
                arrived += gap;
                let wanted = last.max(Time(arrived));
                last = bucket.wait(wanted, bytes);
                passed.push((last, u64::from(bytes)));
                // Room before and after the last picosecond of waiting, over intervals that begin with each packet, and
                // at the start, when the bucket was full.
                let room = |until: Time| {
                    let mut sum = 0_u128;
                    let mut least = i128::MAX;
                    for &(from, bytes) in passed.iter().rev() {
                        sum += u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
                        let most = 4000 * 8 * u128::from(PICOSECONDS_PER_SECOND)
                            + u128::from(rate) * u128::from((until - from.min(until)).0);
                        least = least.min(most.cast_signed() - sum.cast_signed());
                    }
                    least
                };
                prop_assert!(room(last) >= 0, "{passed:?}");
                if last > wanted {
                    prop_assert!(room(Time(last.0 - 1)) < 0, "{passed:?}");
                }
            }
        }
    }
}
