//! Kelly's paper.

use crate::drive::{ClockedFlow, assert_near};

/// Section 2: log(1 - b)/log(1 + a) round trips, 13.4, at any window.
#[test]
fn recovery_takes_13_4_round_trips_at_every_window() {
    for window in [100.0, 1e3, 1e4, 1e5, 1e6] {
        let mut flow = ClockedFlow::new("stcp", &[], window);
        flow.lose();
        let rounds = flow.rounds_until(window);
        assert_near(rounds, 13.42, 0.01, &format!("STCP at {window}"));
    }
}

/// Evenly spaced losses: w grows by 0.01/p between two, and gives up an eighth of that peak.
#[test]
fn the_peak_of_the_sawtooth_is_0_08_over_p() {
    let mut flow = ClockedFlow::new("stcp", &[], 700.0);
    for _ in 0..200 {
        (0..10_000).for_each(|_| flow.ack());
        assert!(flow.window() < 900.0, "it runs away");
        flow.lose();
    }
    assert_near(flow.window() / 0.875, 0.08 / 1e-4, 0.001, "the peak at p = 1e-4");
}

/// Multiplicative increase and decrease: two windows that lose together keep their ratio.
#[test]
fn synchronised_windows_never_converge() {
    let [mut large, mut small] =
        [ClockedFlow::new("stcp", &[], 9000.0), ClockedFlow::new("stcp", &[], 1000.0)];
    for _ in 0..50 {
        large.lose();
        small.lose();
        for _ in 0..13 {
            large.round();
            small.round();
        }
    }
    assert_near(large.window() / small.window(), 9.0, 0.005, "the ratio after 50 losses");
}

#[test]
fn up_to_16_segments_it_is_reno() {
    let mut flow = ClockedFlow::new("stcp", &[], 16.0);
    flow.ack();
    assert_eq!(flow.window(), 16.0 + 1.0 / 16.0);
    let mut flow = ClockedFlow::new("stcp", &[], 16.0);
    flow.lose();
    assert_eq!(flow.window(), 8.0);
}
