//! Chance: one stream of random numbers per component, all derived from the seed.
//!
//! The generator is PCG XSL RR 128/64 (O'Neill 2014), named and portable. A component's stream is seeded with
//! the SipHash-2-4 of its name under the seed as key, so that adding a flow does not change the luck of the
//! others.

use std::hash::Hasher;

use longfat_units::math;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use siphasher::sip128::{Hasher128, SipHasher24};

/// The stream of random numbers of one component.
pub(crate) type Stream = Pcg64;

/// The stream of the component called `name` in runs with `seed`.
pub(crate) fn stream(seed: u64, name: &str) -> Stream {
    let digest = |part: u8| {
        let mut hasher = SipHasher24::new_with_keys(seed, u64::from(part));
        hasher.write(name.as_bytes());
        hasher.finish128().as_bytes()
    };
    let mut bytes = <Stream as SeedableRng>::Seed::default();
    bytes[..16].copy_from_slice(&digest(0));
    bytes[16..].copy_from_slice(&digest(1));
    Stream::from_seed(bytes)
}

/// A number in [0, 1): 53 random bits.
pub(crate) fn uniform(stream: &mut impl Rng) -> f64 {
    (stream.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Bernoulli trials of small probability, counted instead of tried: only a success costs a random number.
#[derive(Clone, Debug)]
pub(crate) struct Rare {
    /// ln(1 - p)
    log_failure: f64,
    /// Trials that will fail before the next success.
    failures_left: u64,
    stream: Stream,
}

impl Rare {
    /// Trials that succeed with probability `p`, 0 ≤ p < 1.
    pub(crate) fn new(p: f64, stream: Stream) -> Self {
        let mut rare = Self { log_failure: math::ln_1p(-p), failures_left: u64::MAX, stream };
        if p > 0.0 {
            rare.draw();
        }
        rare
    }

    /// The number of failures before a success is geometric: ⌊ln U / ln(1 - p)⌋ with U in (0, 1].
    fn draw(&mut self) {
        let failures = math::ln(1.0 - uniform(&mut self.stream)) / self.log_failure;
        // 2^63 trials take longer than any run.
        self.failures_left = failures.min((1_u64 << 63) as f64) as u64;
    }

    /// One trial.
    #[expect(clippy::inline_always, reason = "once for every packet that a link sends")]
    #[inline(always)]
    pub(crate) fn happens(&mut self) -> bool {
        if self.failures_left > 0 {
            self.failures_left -= 1;
            return false;
        }
        self.draw();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_seed_and_nothing_else() {
        let first = |seed, name| stream(seed, name).next_u64();
        assert_eq!(first(1, "link a"), first(1, "link a"));
        assert_ne!(first(1, "link a"), first(1, "link b"));
        assert_ne!(first(1, "link a"), first(2, "link a"));
    }

    #[test]
    fn the_streams_are_pinned() {
        // If these change, every published result changes.
        let mut pinned = stream(1, "golden");
        assert_eq!([pinned.next_u64(), pinned.next_u64()], GOLDEN);
    }

    const GOLDEN: [u64; 2] = [7_913_011_769_702_623_345, 373_058_450_937_346_289];

    #[test]
    fn rare_events_come_as_often_as_they_should() {
        for p in [0.3, 0.01, 1e-4] {
            let mut rare = Rare::new(p, stream(7, "rare"));
            let trials = (40_000.0 / p) as u64;
            let successes = (0..trials).filter(|_| rare.happens()).count() as f64;
            // 40 000 expected; five standard deviations are 1000.
            assert!((successes - 40_000.0).abs() < 1000.0, "{successes} at p = {p}");
        }
    }

    #[test]
    fn what_is_impossible_never_happens() {
        let mut never = Rare::new(0.0, stream(7, "never"));
        assert!((0..100_000).all(|_| !never.happens()));
    }
}
