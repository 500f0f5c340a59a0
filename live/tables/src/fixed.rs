//! Whole numbers in the place of real ones, with the operations of `tables.h`: bit for bit the same.

/// A number of segments, microseconds or plain ones, in units of 2⁻³⁶.
pub type Fixed = u64;

/// How many bits are behind the point. A segment gained at the largest window, 2⁻²⁴, still has 12 bits.
pub const POINT: u32 = 36;
/// 1.
pub const ONE: Fixed = 1 << POINT;
/// Windows end below 2²⁴ segments: 25 GB in flight with 1500 bytes each.
pub const LARGEST: Fixed = (1 << 60) - 1;

/// Bits of the place between two nodes.
pub(crate) const FRACTION: u32 = 24;
/// Bits of the window that a division uses.
const DIVISOR: u32 = 26;
/// Bits of a factor that a multiplication uses.
const FACTOR: u32 = 31;

/// The nearest number, as far as there is one.
pub fn to_fixed(real: f64) -> Fixed {
    // A float becomes the nearest integer that there is.
    (real * ONE as f64).round() as Fixed
}

/// As a real number.
pub fn to_real(fixed: Fixed) -> f64 {
    fixed as f64 / ONE as f64
}

/// The whole part of the logarithm; 0 for 0.
pub(crate) fn log2(x: u64) -> u32 {
    x.checked_ilog2().unwrap_or(0)
}

/// `delta · fraction`, the latter in units of 2⁻²⁴.
pub(crate) fn part(delta: i64, fraction: u64) -> i64 {
    let (high, low) = (delta >> FRACTION, delta & ((1 << FRACTION) - 1));
    let fraction = fraction.cast_signed();
    high * fraction + ((low * fraction) >> FRACTION)
}

/// `part / whole` for a whole of [`ONE`] or more; no more than 2.
pub(crate) fn ratio(part: Fixed, whole: Fixed) -> Fixed {
    let whole = whole.clamp(ONE, LARGEST);
    let shift = log2(whole) - (DIVISOR - 1);
    (part.min(2 * whole) << (POINT - shift)) / (whole >> shift)
}

/// `a · b`, to nine digits; no more than [`LARGEST`].
pub(crate) fn product(a: Fixed, b: Fixed) -> Fixed {
    let shift = |x| (log2(x) + 1).saturating_sub(FACTOR);
    let (a_shift, b_shift) = (shift(a), shift(b));
    let product = (a >> a_shift) * (b >> b_shift);
    let shift = a_shift + b_shift;
    if shift <= POINT {
        return (product >> (POINT - shift)).min(LARGEST);
    }
    let shift = shift - POINT;
    if log2(product) + shift >= 60 { LARGEST } else { product << shift }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_those_of_wide_numbers(delta in -(1_i64 << 61)..1 << 61, fraction in 0_u64..1 << FRACTION) {
            let wide = (i128::from(delta) * i128::from(fraction)) >> FRACTION;
            prop_assert_eq!(i128::from(part(delta, fraction)), wide);
        }

        #[test]
        fn ratios_are_those_of_real_numbers(whole in ONE..LARGEST, share in 0.0_f64..2.0) {
            let part = (whole as f64 * share) as u64;
            let expected = part as f64 / whole as f64;
            let found = to_real(ratio(part, whole));
            prop_assert!((found - expected).abs() <= expected * 4e-8 + 2e-11, "{} for {}", found, expected);
        }

        #[test]
        fn products_are_those_of_real_numbers(a in 0_u32..60, b in 0_u32..60, low in any::<u64>()) {
            let (a, b) = ((1_u64 << a) | (low & ((1 << a) - 1)), (1_u64 << b) | (low.rotate_left(31) & ((1 << b) - 1)));
            let expected = (to_real(a) * to_real(b)).min(to_real(LARGEST));
            let found = to_real(product(a, b));
            prop_assert!((found - expected).abs() <= expected * 2e-9 + 2e-11, "{} for {}", found, expected);
        }
    }

    #[test]
    fn halves_and_doubles() {
        assert_eq!(ratio(ONE, 4 * ONE), ONE / 4);
        assert_eq!(ratio(9 * ONE, 4 * ONE), 2 * ONE, "never more");
        assert_eq!(product(ONE / 2, 8 * ONE), 4 * ONE);
        assert_eq!(product(LARGEST, LARGEST), LARGEST);
        assert_eq!(log2(0), 0);
    }
}
