//! The Hybla paper.

use longfat_control::{Cause, Start};
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near};

/// Its aim: the rate of a connection of 25 ms, √(3/2)/√p segments per 25 ms, at any longer round trip. Every
/// ten-thousandth segment is lost: 122.5 segments (RFC 9438, section 4.3), 4899 per second.
#[test]
fn the_rate_is_that_of_25_ms_at_any_round_trip() {
    for millis in [25, 50, 100, 200, 400] {
        let rho = millis as f64 / 25.0;
        let flow = ClockedFlow::new("hybla", &[], 122.5 * rho);
        let mean = flow.with_rtt(Span::from_millis(millis)).mean_window(1e-4, 40);
        let rate = mean * 1000.0 / millis as f64;
        assert_near(rate, 4899.0, 0.02, &format!("segments per second at {millis} ms"));
    }
}

/// Below RTT₀ it is Reno.
#[test]
fn short_round_trips_are_renos() {
    let mut flow = ClockedFlow::new("hybla", &[], 100.0).with_rtt(Span::from_millis(10));
    flow.ack();
    assert_eq!(flow.window(), 100.01);
}

/// Slow start doubles every 25 ms: at 100 ms 2⁴-fold in a round trip, as one of 25 ms in four.
#[test]
fn slow_start_doubles_every_25_ms() {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("hybla", &[], &start);
    flow.round();
    assert_near(flow.window(), 64.0, 1e-9, "one round trip of 100 ms");
    flow.lose();
    assert_near(flow.window(), 32.0, 1e-9, "a loss halves");
    flow.congestion(Cause::Mark);
    assert_near(flow.window(), 16.0, 1e-9, "and so does a mark");
}

/// ρ times the threshold of the short connection, 176 segments at 100 ms, and standard slow start from there; at 600 ms
/// a single acknowledgment gets as far as 24 times.
#[test]
fn beyond_the_threshold_of_the_short_connection_slow_start_is_standard() {
    for (millis, until) in [(100, 176.0), (600, 1056.0)] {
        let flow = ClockedFlow::starting("hybla", &[], &Start::default());
        let mut flow = flow.with_rtt(Span::from_millis(millis));
        flow.rounds_until(until);
        assert_eq!(flow.window(), until, "it does not leap over the threshold");
        flow.round();
        assert_eq!(flow.window(), 2.0 * until);
    }
}

/// ρ is that of the smallest round trip: a queue as long as the path leaves it at 4, and the growth at 16 segments per
/// round trip.
#[test]
fn a_queue_makes_it_no_greedier() {
    let mut flow = ClockedFlow::new("hybla", &[], 1000.0);
    flow.queueing = Span::from_millis(100);
    flow.ack();
    assert_near((flow.window() - 1000.0) * 1000.0, 16.0, 1e-9, "per round trip");
}
