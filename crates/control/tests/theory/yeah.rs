//! The YeAH paper.

use longfat_control::Feedback;
use longfat_units::Span;

use crate::drive::{ClockedFlow, assert_near};

/// Ends a round trip in which so many segments of the window were queued. Returns what it took from the window.
fn end_round(flow: &mut ClockedFlow, queued: f64) -> f64 {
    let before = flow.window();
    flow.queueing = Span::from_seconds_f64(0.1 * queued / (before - queued));
    flow.ack_with(|ack| Feedback { acked: 0, ..ack });
    flow.queueing = Span::ZERO;
    flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
    before - flow.window()
}

fn step(flow: &mut ClockedFlow) -> f64 {
    let before = flow.window();
    flow.round();
    flow.window() - before
}

/// Fast up to 80 segments in the queue and an eighth of the base round trip; slow beyond either.
#[test]
fn the_queue_decides_between_scalable_tcp_and_reno() {
    for (window, queued, added) in [
        (10_000.0, 79.9, 100.0),
        // 80 segments of 10 000, but of 500 an eighth of the base round trip are 500/9 = 55.6.
        (500.0, 55.5, 5.0),
        (500.0, 55.6, 1.0),
    ] {
        let mut flow = ClockedFlow::new("yeah", &[], window);
        assert_eq!(end_round(&mut flow, queued), 0.0, "nothing is taken up to 80 segments");
        assert_near(step(&mut flow), added, 0.01, &format!("{queued} of {window} queued"));
    }
}

/// More than 80 segments in the queue are taken back, at most half of the window; then it is slow.
#[test]
fn a_long_queue_is_taken_back() {
    for queued in [80.1, 200.0] {
        let mut flow = ClockedFlow::new("yeah", &[], 10_000.0);
        let taken = end_round(&mut flow, queued);
        assert_near(taken, queued, 1e-6, &format!("{queued} of 10 000"));
        assert_near(step(&mut flow), 1.0, 0.01, "as Reno");
    }
    let mut flow = ClockedFlow::new("yeah", &[], 1000.0);
    assert_eq!(end_round(&mut flow, 700.0), 500.0, "half at most");
}

/// A flow after so many rounds without a queue, and so many slow ones after a first, which has left 580 of 700 segments,
/// and 290 for Reno. 75 of 580 in the queue are more than an eighth of the base round trip.
fn beside_reno(alone: u32, slow: u32) -> ClockedFlow {
    let mut flow = ClockedFlow::new("yeah", &[], 700.0);
    fast(&mut flow, alone);
    assert_near(end_round(&mut flow, 120.0), 120.0, 1e-6, "the queue");
    for _ in 0..slow {
        assert_eq!(end_round(&mut flow, 75.0), 0.0);
    }
    flow
}

/// Rounds without a queue.
fn fast(flow: &mut ClockedFlow, rounds: u32) {
    for _ in 0..rounds {
        assert_eq!(end_round(flow, 0.0), 0.0);
    }
}

/// The window is not taken below an estimate of Reno's: half of it in the first slow round, a segment more in each further
/// one. A loss halves the estimate, and more than fifty fast rounds end it.
#[test]
fn the_window_is_not_taken_below_what_reno_would_have() {
    assert_near(end_round(&mut beside_reno(0, 10), 285.0), 280.0, 1e-6, "580 to 300");
    for (rounds, taken) in [(50, 280.0), (51, 285.0)] {
        let mut flow = beside_reno(0, 10);
        fast(&mut flow, rounds);
        assert_near(end_round(&mut flow, 285.0), taken, 1e-6, &format!("{rounds} fast rounds"));
    }
    let mut flow = beside_reno(0, 100);
    flow.lose();
    assert_near(flow.window(), 290.0, 1e-6, "half of 580, as Reno's");
    assert_near(end_round(&mut flow, 130.0), 95.0, 1e-6, "290 to half of 390");
}

/// Thirty fast rounds before a loss and thirty after it are not more than fifty; and once 51 have ended an estimate, one more
/// does not end the next.
#[test]
fn fast_rounds_are_counted_anew() {
    let mut flow = beside_reno(30, 100);
    flow.lose();
    fast(&mut flow, 30);
    assert_near(end_round(&mut flow, 130.0), 95.0, 1e-6, "290 to half of 390");
    let mut flow = beside_reno(51, 10);
    fast(&mut flow, 1);
    assert_near(end_round(&mut flow, 285.0), 280.0, 1e-6, "580 to 300");
}

/// Where the host asks for the same 580 segments, nothing is known of Reno's share.
#[test]
fn another_window_ends_the_estimate() {
    let mut flow = beside_reno(0, 10);
    flow.adjust(580.0);
    assert_near(end_round(&mut flow, 285.0), 285.0, 1e-6, "the queue");
}

/// A loss takes an eighth, or the queue if that is longer, up to half.
#[test]
fn a_loss_takes_the_queue_and_at_least_an_eighth() {
    for (queued, left) in [(0.0, 875.0), (79.0, 875.0)] {
        let mut flow = ClockedFlow::new("yeah", &[], 1000.0);
        end_round(&mut flow, queued);
        flow.lose();
        assert_near(flow.window(), left, 1e-9, &format!("{queued} queued"));
    }
    let mut flow = ClockedFlow::new("yeah", &[], 300.0);
    end_round(&mut flow, 75.0);
    flow.lose();
    assert_near(flow.window(), 225.0, 1e-6, "the queue of 75 is more than an eighth of 300");
    let mut flow = ClockedFlow::new("yeah", &[], 100.0);
    end_round(&mut flow, 60.0);
    flow.lose();
    assert_near(flow.window(), 50.0, 1e-6, "the queue of 60 is more than half");
}

/// Sixteen slow rounds in a row mean that others hold the queue: a loss halves, as Reno's do.
#[test]
fn competition_is_answered_as_reno_does() {
    for (rounds, left) in [(15, 0.8), (16, 0.5)] {
        let mut flow = ClockedFlow::new("yeah", &[], 300.0);
        for _ in 0..rounds {
            end_round(&mut flow, 60.0);
        }
        flow.lose();
        assert_near(flow.window(), 300.0 * left, 1e-6, &format!("after {rounds} slow rounds"));
    }
}

/// Slow rounds count in a row: fifteen, a fast one and fifteen more are no competition.
#[test]
fn a_fast_round_ends_the_count_of_slow_ones() {
    let mut flow = ClockedFlow::new("yeah", &[], 300.0);
    for round in 0..31 {
        end_round(&mut flow, if round == 15 { 0.0 } else { 60.0 });
    }
    flow.lose();
    assert_near(flow.window(), 240.0, 1e-6, "the queue of 60");
}

/// What was taken from the window before a loss no longer waits: the loss takes an eighth. The queue is that of the smallest
/// round trip of a round.
#[test]
fn what_has_been_taken_waits_no_more() {
    let mut flow = ClockedFlow::new("yeah", &[], 1000.0);
    assert_near(end_round(&mut flow, 300.0), 300.0, 1e-6, "the queue");
    flow.lose();
    assert_near(flow.window(), 700.0 * 0.875, 1e-6, "an eighth of 700");
    let mut flow = ClockedFlow::new("yeah", &[], 1000.0);
    flow.ack_with(|ack| Feedback { acked: 0, rtt: ack.rtt.map(|rtt| rtt * 2), ..ack });
    assert_eq!(end_round(&mut flow, 50.0), 0.0, "50 of them, not 500");
}

/// After a time-out there is no queue, no Reno and no slow round: it is as fast as at the start, and a loss takes an eighth.
#[test]
fn a_time_out_begins_anew() {
    let mut flow = ClockedFlow::new("yeah", &[], 300.0);
    (0..20).for_each(|_| {
        end_round(&mut flow, 60.0);
    });
    flow.congestion(longfat_control::Cause::Timeout);
    while flow.window() < 200.0 {
        flow.ack();
    }
    let before = flow.window();
    flow.lose();
    assert_near(flow.window(), before * 0.875, 1e-9, "an eighth");
}
