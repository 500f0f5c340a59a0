//! Randomness: one stream of random numbers per component, all derived from the seed.
//!
//! The generator is PCG XSL RR 128/64 (O'Neill 2014), named and portable. A component's stream is seeded with the
//! SipHash-2-4 of its name under the seed as key, so that adding a flow does not change the luck of the others.

use std::hash::Hasher;

use longfat_units::math;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use siphasher::sip128::{Hasher128, SipHasher24};

/// The stream of random numbers of one component.
pub type Stream = Pcg64;

/// The stream of the component called `name` in runs with `seed`.
pub fn stream(seed: u64, name: &str) -> Stream {
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
pub fn uniform(stream: &mut impl Rng) -> f64 {
    math::uniform(stream.next_u64())
}
