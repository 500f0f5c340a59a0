//! The MulTCP paper.

use longfat_control::Start;
use longfat_units::Segments;
use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near};

const EIGHT: [(&str, Setting); 1] = [("n", Setting::Number(8.0))];

/// n segments per round trip, and a loss takes half of one of n flows.
#[test]
fn it_adds_n_and_gives_up_half_of_an_nth() {
    let mut flow = ClockedFlow::new("multcp", &EIGHT, 10_000.0);
    flow.round();
    assert_near(flow.window(), 10_008.0, 1e-5, "a round trip");
    let before = flow.window();
    flow.lose();
    assert_near(flow.window() / before, 0.9375, 1e-12, "a loss");
}

/// n √(2 - 1/(2n))/√p; with n = 1 Reno's 122.5 segments at 10⁻⁴ (RFC 9438, section 4.3).
#[test]
fn the_mean_window() {
    for (n, window) in [(1.0, 122.5), (2.0, 264.6), (8.0, 1113.6)] {
        let changes = [("n", Setting::Number(n))];
        let mean = ClockedFlow::new("multcp", &changes, window).mean_window(1e-4, 60);
        assert_near(mean, window, 0.02, &format!("n = {n}"));
    }
}

/// Eight flows that start with one segment each have 8·2⁶ = 512 after six round trips; one that triples has caught up.
#[test]
fn slow_start_catches_up_with_n_flows() {
    let start = Start { window: Segments(1.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("multcp", &EIGHT, &start);
    for after in [3.0, 9.0, 27.0] {
        flow.round();
        assert_eq!(flow.window(), after);
    }
    (0..3).for_each(|_| flow.round());
    assert_near(flow.window(), 512.0, 0.02, "six round trips");
    flow.round();
    assert_near(flow.window(), 1024.0, 0.02, "and on as they would");
}

/// One flow of one is Reno, in slow start too: one segment becomes two.
#[test]
fn one_flow_is_reno_from_its_first_segment_on() {
    let start = Start { window: Segments(1.0), ..Start::default() };
    let one = [("n", Setting::Number(1.0))];
    let mut flow = ClockedFlow::starting("multcp", &one, &start);
    flow.round();
    assert_eq!(flow.window(), 2.0);
}

/// A window below n grows as in slow start, by one segment for each, not by 8/4.
#[test]
fn a_window_below_n_doubles() {
    let mut flow = ClockedFlow::new("multcp", &EIGHT, 4.0);
    flow.ack();
    assert_eq!(flow.window(), 5.0);
}
