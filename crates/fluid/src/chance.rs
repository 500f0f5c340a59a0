//! Chance: one stream of random numbers per flow, derived from the seed and the flow's name as in the simulator.

use std::hash::Hasher;

use longfat_units::math;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use siphasher::sip128::{Hasher128, SipHasher24};

/// Losses of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Pcg64);

impl Stream {
    pub(crate) fn new(seed: u64, flow: &str) -> Self {
        let digest = |part: u8| {
            let mut hasher = SipHasher24::new_with_keys(seed, u64::from(part));
            hasher.write(b"fluid/");
            hasher.write(flow.as_bytes());
            hasher.finish128().as_bytes()
        };
        let mut bytes = <Pcg64 as SeedableRng>::Seed::default();
        bytes[..16].copy_from_slice(&digest(0));
        bytes[16..].copy_from_slice(&digest(1));
        Self(Pcg64::from_seed(bytes))
    }

    /// A number in [0, 1): 53 random bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// An exponential number of mean 1: how many expected losses pass until the next.
    pub(crate) fn exponential(&mut self) -> f64 {
        -math::ln_1p(-self.uniform())
    }
}
