//! Brakmo and Peterson 1995.

use longfat_control::Start;
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near};

/// Vegas-1,3 at 100 segments, after `rounds` round trips in which so many of its segments wait.
fn after(waiting: f64, rounds: u32) -> f64 {
    let mut flow = ClockedFlow::new("vegas", &[], 100.0);
    for _ in 0..rounds {
        let window = flow.window();
        flow.round_with_delay(Span::from_seconds_f64(0.1 * waiting / (window - waiting)));
    }
    flow.window()
}

/// One segment per round trip, up below one segment that waits, down above three, and neither between.
#[test]
fn the_window_moves_by_one_segment_per_round_trip() {
    for (waiting, expected) in [(0.5, 110.0), (1.5, 100.0), (2.5, 100.0), (3.5, 90.0)] {
        assert_near(after(waiting, 10), expected, 1e-3, &format!("{waiting} waiting"));
    }
}

/// Section III.C: the window doubles every other round trip, and stops where more than one segment waits.
#[test]
fn slow_start_takes_two_round_trips_to_double() {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("vegas", &[], &start);
    let mut seen = Vec::new();
    for _ in 0..6 {
        flow.round_with_delay(Span::ZERO);
        seen.push(flow.window());
    }
    assert_eq!(seen, [8.0, 8.0, 16.0, 16.0, 32.0, 32.0]);
    assert_eq!(flow.threshold(), None);
    // A path that holds 24 segments: of 32 in flight, 8 wait, and the round trip is 32/24 of the base.
    flow.round_with_delay(Span::from_seconds_f64(0.1 * 8.0 / 24.0));
    let left = flow.threshold().expect("slow start is over");
    assert_near(left, 25.0, 1e-6, "what the path holds, and alpha");
}

/// The thresholds of a scenario in the wrong order are those of α alone.
#[test]
fn beta_is_never_below_alpha() {
    let changes = [("alpha", Setting::Number(5.0)), ("beta", Setting::Number(2.0))];
    let mut flow = ClockedFlow::new("vegas", &changes, 100.0);
    // 4 of 100 segments wait: fewer than α.
    flow.round_with_delay(Span::from_seconds_f64(0.1 * 4.0 / 96.0));
    assert_near(flow.window(), 101.0, 1e-3, "it grows");
}
