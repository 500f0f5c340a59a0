//! Changes of the window that are decided once per round trip, and made segment by segment over the next one.

use crate::Ramp;
use crate::bounds::{CEILING, FLOOR};

/// A change under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gradual {
    /// What each acknowledged segment brings, below or above zero.
    step: f64,
    /// What is still to come, of the same sign.
    left: f64,
}

impl Gradual {
    /// A change by `total`, spread over the acknowledgments of `window` segments.
    pub(crate) fn over(total: f64, window: f64) -> Self {
        Self { step: total / window.max(1.0), left: total }
    }

    /// The share of the next acknowledged segment.
    #[inline]
    fn next(&mut self) -> f64 {
        let step = if self.left.abs() < self.step.abs() { self.left } else { self.step };
        self.left -= step;
        step
    }

    /// The window after so many acknowledged segments, within its bounds. One that falls does not begin slow start again.
    #[inline]
    pub(crate) fn apply(&mut self, mut window: f64, mut acked: u64, ramp: &mut Ramp) -> f64 {
        while acked > 0 && self.left != 0.0 {
            window = (window + self.next()).clamp(FLOOR, CEILING);
            acked -= 1;
            if ramp.holds(window) {
                ramp.leave(window);
            }
        }
        window
    }
}
