//! The TCP-Illinois paper.

use longfat_control::Feedback;
use longfat_units::Span;

use crate::drive::{ClockedFlow, assert_near};

/// A flow of 10 000 segments on 100 ms that has seen a queue of 100 ms, and then round trips with a queue of this share
/// of it.
fn after_a_queue_of(share: f64, rounds: u32) -> ClockedFlow {
    let mut flow = ClockedFlow::new("illinois", &[], 10_000.0);
    let mut end_round = |queueing: f64| {
        flow.queueing = Span::from_seconds_f64(0.1 * queueing);
        flow.ack_with(|ack| Feedback { acked: 0, ..ack });
        flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
    };
    end_round(1.0);
    (0..rounds).for_each(|_| end_round(share));
    flow
}

/// What a round trip adds, and the share of the window that a loss takes.
fn step_and_share(mut flow: ClockedFlow) -> (f64, f64) {
    let before = flow.window();
    flow.round();
    let step = flow.window() - before;
    let before = flow.window();
    flow.lose();
    (step, 1.0 - flow.window() / before)
}

/// Section 2: 10 up to 1 % of the largest delay and 0.3 at all of it; in between κ₁/(κ₂ + d), with κ₁ = 0.99·3/9.7 and
/// κ₂ = 0.99·0.3/9.7 - 0.01 of the largest delay. 1/8 up to 10 % and 1/2 from 80 % on, a straight line between.
#[test]
fn increase_and_decrease_follow_the_delay() {
    for (share, alpha, beta) in [
        (0.005, 10.0, 0.125),
        (0.1, 2.5386, 0.125),
        (0.45, 0.650_5, 0.3125),
        (0.8, 0.373_1, 0.5),
        (1.0, 0.3, 0.5),
    ] {
        let (step, given_up) = step_and_share(after_a_queue_of(share, 6));
        assert_near(step, alpha, 0.001, &format!("the increase at {share}"));
        assert_near(given_up, beta, 0.001, &format!("the decrease at {share}"));
    }
}

/// θ: α is 10 again only after five round trips in a row without a queue.
#[test]
fn the_largest_step_waits_for_five_round_trips_without_a_queue() {
    for (rounds, alpha) in [(1, 0.3), (4, 0.3), (5, 10.0)] {
        let (step, _) = step_and_share(after_a_queue_of(0.0, rounds));
        assert_near(step, alpha, 0.001, &format!("after {rounds} round trips"));
    }
}

#[test]
fn below_ten_segments_it_is_reno() {
    let mut flow = ClockedFlow::new("illinois", &[], 9.0);
    flow.ack_with(|ack| Feedback { acked: 0, ..ack });
    flow.ack_with(|ack| Feedback { round_starts: true, ..ack });
    assert_eq!(flow.window(), 9.0 + 1.0 / 9.0);
    let before = flow.window();
    flow.lose();
    assert_eq!(flow.window(), before / 2.0);
}

fn variable(flow: &ClockedFlow, name: &str) -> f64 {
    flow.variable(name).expect("it is shown")
}

/// α waits for five round trips without a queue, and these have to follow one another: after four, one with a queue and four
/// more it still waits.
#[test]
fn round_trips_without_a_queue_follow_one_another() {
    let mut flow = ClockedFlow::new("illinois", &[], 100.0);
    let mut end_round = |queueing: f64| {
        flow.queueing = Span::from_seconds_f64(0.1 * queueing);
        flow.ack_with(|ack| Feedback { acked: 0, ..ack });
        flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
        variable(&flow, "alpha")
    };
    let with_a_queue = end_round(1.0);
    assert_near(with_a_queue, 0.3, 1e-9, "at the largest delay");
    for short in 0..2 {
        (0..4).for_each(|_| assert_near(end_round(0.0), 0.3, 1e-9, &format!("{short}")));
        if short == 0 {
            assert_near(end_round(1.0), 0.3, 1e-9, "a queue");
        }
    }
    assert_near(end_round(0.0), 10.0, 1e-9, "the fifth in a row");
}

/// After a time-out it is Reno, and α waits again for five round trips without a queue.
#[test]
fn after_a_time_out_it_is_reno() {
    let mut flow = after_a_queue_of(0.0, 10);
    assert_eq!((variable(&flow, "alpha"), variable(&flow, "beta")), (10.0, 0.125));
    flow.congestion(longfat_control::Cause::Timeout);
    assert_eq!((variable(&flow, "alpha"), variable(&flow, "beta")), (1.0, 0.5));
    flow.queueing = Span::ZERO;
    let mut alphas = Vec::new();
    for _ in 0..5 {
        flow.ack_with(|ack| Feedback { acked: 0, ..ack });
        flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
        alphas.push(variable(&flow, "alpha"));
    }
    assert_eq!(alphas, [1.0, 1.0, 1.0, 1.0, 10.0]);
}
