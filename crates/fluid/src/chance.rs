//! When a flow loses: at random, from the flow's own stream.

use longfat_scenario::chance::{self, Stream};
use longfat_units::math;

/// Losses of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Losses(Stream);

impl Losses {
    pub(crate) fn new(seed: u64, flow: &str) -> Self {
        Self(chance::stream(seed, &format!("fluid/{flow}")))
    }

    /// A number in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        chance::uniform(&mut self.0)
    }

    /// An exponentially distributed number of mean 1: how many expected losses pass until the next loss.
    pub(crate) fn exponential(&mut self) -> f64 {
        -math::ln_1p(-self.uniform())
    }
}
