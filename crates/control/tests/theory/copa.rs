//! Arun and Balakrishnan, NSDI 2018.

use longfat_control::Cause;
use longfat_units::Span;
use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near};

const TEN_MS: Span = Span::from_millis(10);

/// In congestion avoidance, with a round trip of 100 ms known and a delay of 10 ms from now on.
fn waiting(window: f64, competitive: bool) -> ClockedFlow {
    let changes = [("competitive", Setting::Flag(competitive))];
    let mut flow = ClockedFlow::new("copa", &changes, window);
    flow.round_with_delay(Span::ZERO);
    flow
}

/// Section 2.1: with 10 ms of waiting and δ = 1/2 the target is 1/(0.5 · 0.01 s) = 200 packets per second, 22 in a round
/// trip of 110 ms. The window moves towards it by 1/δ = 2 packets per round trip.
#[test]
fn the_window_moves_towards_the_target_rate() {
    for (window, change) in [(14.0, 2.0), (30.0, -2.0)] {
        let mut flow = waiting(window, false);
        let before = flow.window();
        flow.round_with_delay(TEN_MS);
        assert_near(flow.window() - before, change, 0.1, &format!("from {window}"));
    }
    let mut flow = waiting(21.0, false);
    let mut sum = 0.0;
    for _ in 0..50 {
        flow.round_with_delay(TEN_MS);
        sum += flow.window();
    }
    assert_near(sum / 50.0, 22.0, 0.05, "in the mean");
}

/// After three round trips in one direction v doubles with each: 2, 2, 2, 4, 8, 16 packets.
#[test]
fn v_doubles_after_three_round_trips_in_one_direction() {
    let mut flow = ClockedFlow::new("copa", &[], 1000.0);
    let mut steps = Vec::new();
    for _ in 0..6 {
        let before = flow.window();
        flow.round_with_delay(Span::ZERO);
        steps.push((flow.window() - before).round());
    }
    assert_eq!(steps, [2.0, 2.0, 2.0, 4.0, 8.0, 16.0]);
}

/// Section 2.2: where the queue never empties in five round trips, 1/δ grows by one with each, and halves at a loss, to no
/// less than 2.
#[test]
fn in_competitive_mode_delta_follows_losses() {
    let mut flow = waiting(30.0, true);
    // Five round trips of the 100 ms that the host knows are 500 ms.
    let mut seen = Vec::new();
    for _ in 0..10 {
        flow.round_with_delay(TEN_MS);
        seen.push((1.0 / flow.variable("delta").expect("it is shown")).round());
    }
    assert_eq!(seen, [2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    flow.congestion(Cause::Loss);
    assert_near(flow.variable("delta").expect("it is shown"), 1.0 / 3.5, 1e-9, "after a loss");
    flow.congestion(Cause::Loss);
    assert_eq!(flow.variable("delta"), Some(0.5), "no less than in the default mode");
    for _ in 0..2 {
        flow.round_with_delay(Span::ZERO);
    }
    assert_eq!(flow.variable("delta"), Some(0.5), "nobody else fills the queue");
}
