//! The Westwood+ paper.

use longfat_control::{Cause, Feedback};
use longfat_units::Span;

use crate::drive::{ClockedFlow, assert_near};

/// A flow of 1000 segments whose path delivers 100 per 10 ms: 1000 in a round trip of 100 ms.
fn delivering(round_trips: u32) -> ClockedFlow {
    let mut flow = ClockedFlow::new("westwood", &[], 1000.0);
    for _ in 0..10 * round_trips {
        flow.ack_with(|ack| Feedback { acked: 0, sacked: 100, ..ack });
        flow.now += Span::from_millis(10);
    }
    flow
}

/// The window after a loss is the rate times the smallest round trip, whatever the window was: 10 000 /s · 100 ms.
#[test]
fn a_loss_leaves_what_the_path_delivers_in_the_smallest_round_trip() {
    let mut flow = delivering(3);
    (0..2000).for_each(|_| flow.ack());
    assert!(flow.window() > 1001.0);
    flow.lose();
    assert_near(flow.window(), 1000.0, 1e-9, "no queue, no loss of rate");
    // With a queue as long as the path, the window of twice as much comes back to the path.
    let mut flow = delivering(3);
    while flow.window() < 2000.0 {
        flow.ack_with(|ack| Feedback { acked: 1000, ..ack });
    }
    flow.queueing = Span::from_millis(100);
    flow.lose();
    assert_near(flow.window(), 1000.0, 1e-9, "what the path holds without its queue");
}

/// Two filters of 7/8 each: a rate that halves shows as 1 - 1/128 of it after one sample, and is down to about a half
/// after 32.
#[test]
fn the_rate_passes_two_filters() {
    for (samples, left) in
        [(1, 1.0 - 0.5 / 64.0), (2, 1.0 - 0.5 * (0.015_625 + 0.027_343_75)), (64, 0.5)]
    {
        let mut flow = delivering(3);
        for _ in 0..=10 * samples {
            flow.ack_with(|ack| Feedback { acked: 0, sacked: 50, ..ack });
            flow.now += Span::from_millis(10);
        }
        flow.lose();
        assert_near(flow.window(), 1000.0 * left, 0.005, &format!("after {samples} samples"));
    }
}

/// In slow start the rate doubles with each sample, and a filter of 1/8 has (1/8)/(1 - 7/16) = 2/9 of it: two have 4/81.
#[test]
fn of_a_rate_that_doubles_a_twentieth_is_seen() {
    let mut flow = ClockedFlow::new("westwood", &[], 1e6);
    for round in 0..16 {
        for _ in 0..10 {
            flow.ack_with(|ack| Feedback { acked: 0, sacked: 1 << round, ..ack });
            flow.now += Span::from_millis(10);
        }
    }
    // The next acknowledgment ends the last sample, of 10 · 2¹⁵ segments in 100 ms.
    flow.ack_with(|ack| Feedback { acked: 0, sacked: 1, ..ack });
    flow.lose();
    let last = 10.0 * f64::from(1 << 15);
    assert_near(flow.window(), last * 4.0 / 81.0, 0.001, "of a product of the last rate");
}

/// A time-out ends in slow start up to the same window.
#[test]
fn a_time_out_leaves_the_measured_window_as_threshold() {
    let mut flow = delivering(3);
    flow.congestion(Cause::Timeout);
    assert_eq!(flow.window(), 1.0);
    assert_near(flow.threshold().expect("a threshold"), 1000.0, 1e-9, "the threshold");
}

#[test]
fn before_the_first_sample_a_loss_halves() {
    let mut flow = ClockedFlow::new("westwood", &[], 1000.0);
    flow.lose();
    assert_eq!(flow.window(), 500.0);
}

/// A sample is no shorter than 50 ms: where ten segments arrive in each round trip of 10 ms, the rate of 1000 per second is
/// known after five.
#[test]
fn a_sample_takes_50_ms() {
    let mut flow = ClockedFlow::new("westwood", &[], 100.0).with_rtt(Span::from_millis(10));
    for _ in 0..5 {
        flow.ack_with(|ack| Feedback { acked: 0, sacked: 10, ..ack });
        assert_eq!(flow.variable("bandwidth"), None, "at {:?}", flow.now);
        flow.pass_round_trip();
    }
    flow.ack();
    assert_near(flow.variable("bandwidth").expect("a sample"), 1000.0, 1e-9, "segments per second");
}
