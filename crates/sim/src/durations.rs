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
