//! RFC 5681, and what RFC 9438 says of it.

use crate::drive::{ClockedFlow, assert_near};

/// RFC 9438, section 4.3, has 122.5 segments when every ten-thousandth segment is lost, which is √(3/2)/√p.
#[test]
fn the_mean_window_with_losses_evenly_spaced() {
    for (p, window) in [(1e-3, 38.73), (1e-4, 122.5), (1e-6, 1224.7)] {
        let mean = ClockedFlow::new("reno", &[], window).mean_window(p, 25);
        assert_near(mean, window, 0.01, &format!("p = {p}"));
    }
}
