//! How much work to do before the next check for Ctrl-C and report of progress.

use std::time::{Duration, Instant};

/// Time between two checks: short enough for Ctrl-C and a progress bar, long enough to cost nothing.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// The most by which a portion may outgrow the one before, because steps vary in cost.
const MOST_GROWTH: u64 = 2;

/// Portions of work that take about [`LOOK`] each by the wall clock, whatever a step costs.
///
/// Results do not depend on how the work is divided.
#[derive(Debug)]
pub(crate) struct Pace {
    steps: u64,
    begun: Instant,
}

impl Pace {
    /// Begins with `steps` at a time.
    pub(crate) fn new(steps: u64) -> Self {
        Self { steps, begun: now() }
    }

    /// How many steps to take next. The time until the next call counts as what they took.
    pub(crate) fn next(&mut self) -> u64 {
        let begun = now();
        let took = begun.duration_since(self.begun);
        if took > LOOK {
            let share = LOOK.as_secs_f64() / took.as_secs_f64();
            self.steps = ((self.steps as f64 * share) as u64).max(1);
        } else if took < LOOK / 2 {
            self.steps = self.steps.saturating_mul(MOST_GROWTH);
        }
        self.begun = begun;
        self.steps
    }
}

/// The wall clock: speed is measured here, at the rim, and enters nothing but `engine`.
#[expect(clippy::disallowed_methods, reason = "the rim measures the speed of the engine")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
