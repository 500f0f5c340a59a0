//! Times of which there may be very many: what is kept of them, and what is told.

use hdrhistogram::Histogram;
use longfat_units::Span;
use serde_json::json;

/// Times of transfers are recorded to three significant digits.
const DIGITS: u8 = 3;
/// Those of which each flow has a histogram to two: some twenty kilobytes.
const DIGITS_OF_FLOWS: u8 = 2;
const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// Times: a histogram in nanoseconds, and their sum in picoseconds.
#[derive(Debug)]
pub(crate) struct Durations {
    counts: Histogram<u64>,
    sum: u128,
}

impl Durations {
    pub(crate) fn new() -> Self {
        Self::with_digits(DIGITS)
    }

    /// Those of one flow among many.
    pub(crate) fn of_flow() -> Self {
        Self::with_digits(DIGITS_OF_FLOWS)
    }

    fn with_digits(digits: u8) -> Self {
        // No upper bound.
        let mut counts = Histogram::new(digits).expect("so few digits are possible");
        counts.auto(true);
        Self { counts, sum: 0 }
    }

    pub(crate) fn add(&mut self, time: Span) {
        let nanoseconds = time.0 / PICOSECONDS_PER_NANOSECOND;
        self.counts.record(nanoseconds).expect("the histogram grows");
        self.sum += u128::from(time.0);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.counts.len()
    }

    /// In seconds.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 * 1e-12 / self.count() as f64)
    }

    /// What this share of them does not exceed, in seconds.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.counts.value_at_quantile(share) as f64 * 1e-9)
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.counts.reset();
        self.sum = 0;
    }

    pub(crate) fn told(&self) -> serde_json::Value {
        json!({
            "mean": self.mean(),
            "p50": self.quantile(0.5),
            "p90": self.quantile(0.9),
            "p99": self.quantile(0.99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand times, of 1 to 1000 ms.
    fn thousand(mut durations: Durations) -> Durations {
        for millis in 1..=1000 {
            durations.add(Span::from_millis(millis));
        }
        durations
    }

    #[test]
    fn a_share_of_the_times_does_not_exceed_its_quantile() {
        for (durations, error) in [(Durations::new(), 1e-3), (Durations::of_flow(), 1e-2)] {
            let told = thousand(durations).told();
            assert_eq!(told["mean"], 0.5005, "the mean is exact");
            for (key, expected) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                let found = told[key].as_f64().expect("a number") / expected - 1.0;
                assert!((0.0..error).contains(&found), "{key}: {found}");
            }
        }
    }

    #[test]
    fn of_no_times_there_is_no_mean() {
        let mut durations = Durations::new();
        assert_eq!((durations.mean(), durations.quantile(0.5)), (None, None));
        durations = thousand(durations);
        durations.clear();
        assert_eq!((durations.count(), durations.mean(), durations.quantile(0.5)), (0, None, None));
        durations.add(Span(2_999));
        assert_eq!(durations.mean(), Some(2.999e-9), "less than a nanosecond counts as well");
    }
}
