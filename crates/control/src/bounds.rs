//! The bounds of every window, whatever the law and whatever the host.

use longfat_units::Segments;

/// The window never falls below this at a loss or a mark (RFC 5681, equation 4).
pub const FLOOR: f64 = 2.0;

/// The window after a time-out (RFC 5681, section 3.1: the loss window).
pub const AFTER_TIMEOUT: f64 = 1.0;

/// More than any path holds: 10¹² segments of 1500 bytes are 12 Pbit. It keeps a law that grows
/// exponentially finite through days without a loss.
pub const CEILING: f64 = 1e12;

/// The first window of a flow, whatever was asked for.
pub fn first_window(asked: Segments) -> f64 {
    if asked.0.is_nan() { AFTER_TIMEOUT } else { asked.0.clamp(AFTER_TIMEOUT, CEILING) }
}

/// Half of a window, but no less than the floor, and never more than the window.
pub fn halved(window: f64) -> f64 {
    (window / 2.0).max(FLOOR).min(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5681, equation 4: half, but two segments at the least. A smaller window is not lifted.
    #[test]
    fn half_of_a_window_is_at_least_two_segments() {
        assert_eq!([10.0, 3.0, 2.0, 1.0].map(halved), [5.0, 2.0, 2.0, 1.0]);
    }
}
