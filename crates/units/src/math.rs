//! Logarithms, powers and roots with the same bits on every machine.
//!
//! The functions of `std` call the platform's mathematics library, and those libraries differ in the last bit.
//! Simulations must not: these functions come from the `libm` crate.

pub use libm::{
    atan2, cbrt, cos, erfc, exp, expm1, log as ln, log1p as ln_1p, log2, pow, sin, tanh,
};

/// Square root. IEEE 754 asks for the correctly rounded result, so `std` is portable here.
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// A number in [0, 1) from the highest 53 of 64 random bits.
#[inline]
pub fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}
