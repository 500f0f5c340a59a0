//! The TCP-Illinois paper.

use longfat_control::Feedback;
use longfat_units::Span;
use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near};

/// A round trip with a queue of so many seconds; α after it.
fn end_round(flow: &mut ClockedFlow, queueing: f64) -> f64 {
    flow.queueing = Span::from_seconds_f64(queueing);
    flow.ack_with(|ack| Feedback { acked: 0, ..ack });
    flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
    variable(flow, "alpha")
}

/// A flow of 10 000 segments on 100 ms that has seen a queue of 100 ms, and then round trips with a queue of this share
/// of it.
fn after_a_queue_of(share: f64, rounds: u32) -> ClockedFlow {
    let mut flow = ClockedFlow::new("illinois", &[], 10_000.0);
    end_round(&mut flow, 0.1);
    for _ in 0..rounds {
        end_round(&mut flow, 0.1 * share);
    }
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
    for _ in 0..2 {
        assert_near(end_round(&mut flow, 0.1), 0.3, 1e-9, "at the largest delay");
        (0..4).for_each(|_| assert_near(end_round(&mut flow, 0.0), 0.3, 1e-9, "it waits"));
    }
    assert_near(end_round(&mut flow, 0.0), 10.0, 1e-9, "the fifth in a row");
}

/// After a time-out it is Reno, and α waits again for five round trips without a queue.
#[test]
fn after_a_time_out_it_is_reno() {
    let mut flow = after_a_queue_of(0.0, 10);
    assert_eq!((variable(&flow, "alpha"), variable(&flow, "beta")), (10.0, 0.125));
    flow.congestion(longfat_control::Cause::Timeout);
    assert_eq!((variable(&flow, "alpha"), variable(&flow, "beta")), (1.0, 0.5));
    let alphas = [(); 5].map(|()| end_round(&mut flow, 0.0));
    assert_eq!(alphas, [1.0, 1.0, 1.0, 1.0, 10.0]);
}

/// α is that of a short queue at d₁ itself: of 100 s one second, in each of five round trips.
#[test]
fn a_hundredth_of_the_largest_delay_is_no_queue() {
    let mut flow = ClockedFlow::new("illinois", &[], 100.0).with_rtt(Span::from_seconds(1));
    assert_near(end_round(&mut flow, 100.0), 0.3, 1e-9, "at the largest delay");
    let largest = end_round(&mut flow, 100.0);
    let alphas = [(); 5].map(|()| end_round(&mut flow, 1.0));
    assert_eq!(alphas, [largest, largest, largest, largest, 10.0]);
}

/// Delays count as shares of the largest, however short that is: half a millisecond of half a millisecond is all of it.
#[test]
fn the_largest_delay_may_be_short() {
    let mut flow = ClockedFlow::new("illinois", &[], 100.0);
    assert_near(end_round(&mut flow, 0.0005), 0.3, 1e-6, "at the largest delay");
    assert_near(variable(&flow, "beta"), 0.5, 1e-9, "at the largest delay");
}

/// With α the same at every delay there is no curve: Reno's segment per round trip, at a full queue and at a half.
#[test]
fn without_a_range_of_alpha_delay_makes_no_difference() {
    let flat = [("alpha_min", Setting::Number(1.0)), ("alpha_max", Setting::Number(1.0))];
    let mut flow = ClockedFlow::new("illinois", &flat, 100.0);
    assert_eq!([0.1, 0.05].map(|queueing| end_round(&mut flow, queueing)), [1.0, 1.0]);
    flow.ack();
    assert_eq!(flow.window(), 100.01);
}

/// `w_thresh`: below ten segments it is Reno, at ten no more: without a queue α = 10 and β = 1/8.
#[test]
fn ten_segments_are_not_below_ten() {
    let mut flow = ClockedFlow::new("illinois", &[], 10.0);
    for _ in 0..5 {
        end_round(&mut flow, 0.0);
    }
    let mut lossy = flow.clone();
    lossy.lose();
    assert_eq!(lossy.window(), 8.75);
    flow.ack();
    assert_eq!(flow.window(), 11.0);
}
