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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bits_make_numbers_below_one() {
        assert_eq!(uniform(0), 0.0);
        // The highest bit is a half, and the lowest of 53 the smallest step; the eleven below it say nothing.
        assert_eq!(uniform(1 << 63), 0.5);
        assert_eq!(uniform(1 << 11), pow(2.0, -53.0));
        assert_eq!(uniform((1 << 11) - 1), 0.0);
        assert_eq!(uniform(u64::MAX), 1.0_f64.next_down());
    }
}
