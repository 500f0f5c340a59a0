//! Events of small probability: count down to the next one instead of trying each time.

use longfat_scenario::chance::{Stream, uniform};
use longfat_units::math;

/// Bernoulli trials of small probability, as a countdown to the next success: only successes cost a random number.
#[derive(Clone, Debug)]
pub(crate) struct Rare {
    /// ln(1 - p)
    log_failure: f64,
    /// Failures left before the next success.
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
        // No run has 2^63 trials.
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
    use longfat_scenario::chance::stream;

    use super::*;

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
