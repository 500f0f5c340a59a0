//! The quantities themselves, and the operations that make physical sense.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Picoseconds in a second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

const BITS_PER_BYTE: u128 = 8;

/// An instant of simulated time: picoseconds since the start of the run.
///
/// 64 bits cover 213 days. A 1500-byte packet at 100 Gbit/s takes 120 000 ps; rounding to nanoseconds would distort
/// the rate of faster links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A data rate in bit/s (decimal prefixes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A window, or part of one, in segments. Real-valued: only formulas use it.
///
/// At 10^7 segments the spacing of an `f64` is 2·10⁻⁹ segments, and Reno's increase per acknowledgment is 10⁻⁷:
/// nothing is rounded away.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Segments(pub f64);

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The span since an earlier instant; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The instant a span later; [`Time::NEVER`] if that is past the end of the clock.
    #[must_use]
    pub fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        Span(self.0).seconds()
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Whole seconds.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds * PICOSECONDS_PER_SECOND)
    }

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * (PICOSECONDS_PER_SECOND / 1000))
    }

    /// The span nearest to a number of seconds, which must be finite and not negative; beyond 213 days, the longest
    /// span there is.
    pub fn from_seconds_f64(seconds: f64) -> Self {
        debug_assert!(seconds.is_finite() && seconds >= 0.0, "{seconds} s is no span");
        let picoseconds = seconds * PICOSECONDS_PER_SECOND as f64;
        if picoseconds >= (1_u64 << 53) as f64 {
            return Self(picoseconds as u64);
        }
        // Without a call: few processors have an instruction that rounds halves away from zero. Signed: processors
        // convert that in one instruction.
        let whole = (picoseconds as i64).max(0);
        Self(whole.cast_unsigned() + u64::from(picoseconds - whole as f64 >= 0.5))
    }

    /// Its length in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
}

impl Rate {
    /// The time that `bytes` take at this rate, rounded to the nearest picosecond; beyond 213 days, the longest span there
    /// is.
    ///
    /// A link that sends packets back to back must carry the remainder over instead, or its rate would be off by up to
    /// half a picosecond per packet.
    pub fn time_for(self, bytes: Bytes) -> Span {
        let bit_picoseconds =
            u128::from(bytes.0) * BITS_PER_BYTE * u128::from(PICOSECONDS_PER_SECOND);
        let rate = u128::from(self.0);
        let time = (bit_picoseconds + rate / 2) / rate;
        Span(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// The whole bytes that pass in `span`: the bandwidth-delay product when `span` is a round trip.
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.0) / u128::from(PICOSECONDS_PER_SECOND);
        Bytes((bits / BITS_PER_BYTE) as u64)
    }

    /// The rate at which `bytes` pass in `span`, in bit/s; zero for an empty span.
    pub fn of(bytes: Bytes, span: Span) -> f64 {
        if span == Span::ZERO { 0.0 } else { bytes.0 as f64 * 8.0 / span.seconds() }
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0 * count)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, count: u64) -> Self {
        Self(self.0 / count)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0 * count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fattest_path_fits() {
        // 100 Gbit/s and 100 ms: 1.25 GB, 833 333 packets of 1500 B, one every 120 ns.
        let rate = Rate(100_000_000_000);
        assert_eq!(rate.bytes_in(Span::from_millis(100)), Bytes(1_250_000_000));
        assert_eq!(rate.time_for(Bytes(1500)), Span(120_000));
        assert_eq!(rate.time_for(Bytes(40)), Span(3_200));
    }

    #[test]
    fn what_the_clock_does_not_reach_is_never() {
        let days = |count: u64| Span::from_seconds(24 * 3600 * count);
        assert_eq!(Time::ZERO.saturating_add(days(200)), Time::ZERO + days(200));
        assert_eq!((Time::ZERO + days(200)).saturating_add(days(14)), Time::NEVER);
        assert_eq!(Span::from_seconds_f64(1e9), Span(u64::MAX));
    }

    #[test]
    fn what_takes_longer_than_the_clock_reaches_takes_as_long_as_it_reaches() {
        // A million packets of 1500 bytes at 650 bit/s: 1.846·10⁷ s, four hours more than 2⁶⁴ ps.
        assert_eq!(Rate(650).time_for(Bytes(1_500_000_000)), Span(u64::MAX));
        assert_eq!(Rate(651).time_for(Bytes(1_500_000_000)), Span(18_433_179_723_502_304_147));
    }

    #[test]
    fn no_time_has_passed_since_a_later_instant() {
        assert_eq!(Time(5).since(Time(3)), Span(2));
        assert_eq!(Time(3).since(Time(5)), Span::ZERO);
        assert_eq!(Time(1_500_000_000_000).seconds(), 1.5);
        assert_eq!(Span(7) / 2, Span(3));
    }

    #[test]
    fn only_whole_bytes_have_passed() {
        // 7.9 bits in 100 ms at 79 bit/s, and 15 bits in a second at 15 bit/s.
        assert_eq!(Rate(79).bytes_in(Span::from_millis(100)), Bytes(0));
        assert_eq!(Rate(15).bytes_in(Span::from_seconds(1)), Bytes(1));
        assert_eq!(Rate(16).bytes_in(Span::from_seconds(1)), Bytes(2));
        // 1250 bytes in a millisecond are 10 Mbit/s.
        assert_eq!(Rate::of(Bytes(1250), Span::from_millis(1)), 1e7);
        assert_eq!(Rate::of(Bytes(1250), Span::ZERO), 0.0);
    }

    #[test]
    fn a_number_of_seconds_is_rounded_like_any_other_number() {
        let halves = (0..1000).map(|count| (f64::from(count) + 0.5) * 1e-12);
        let near_halves = halves.flat_map(|half| [half.next_down(), half, half.next_up()]);
        let powers = (0..62).map(|power| f64::from(power).exp2() / 3e12);
        for seconds in near_halves.chain(powers).chain([0.0, 9_007.199_254_740_99, 12_345.678_9]) {
            let rounded = (seconds * 1e12).round() as u64;
            assert_eq!(Span::from_seconds_f64(seconds), Span(rounded), "{seconds}");
        }
    }

    #[test]
    fn a_time_is_rounded_to_the_nearest_picosecond() {
        // 8 bits at 3 bit/s take 2.666… s.
        assert_eq!(Rate(3).time_for(Bytes(1)), Span(2_666_666_666_667));
        // 16 bits take 5.333… s; 8 bits at 16 Tbit/s half a picosecond.
        assert_eq!(Rate(3).time_for(Bytes(2)), Span(5_333_333_333_333));
        assert_eq!(Rate(16_000_000_000_000).time_for(Bytes(1)), Span(1));
    }
}
