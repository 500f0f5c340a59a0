//! The draft of Compound TCP.

use longfat_control::{Cause, Feedback, Limited};
use longfat_units::Span;
use longfat_units::math::sqrt;
use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near};

/// Section 4: 0.255/p^0.8 where there is no queue; Reno's below 38 segments.
#[test]
fn compound_has_the_response_function_of_its_draft() {
    for (p, window) in [(1e-4, 404.0), (1e-5, 2550.0), (1e-6, 16_090.0)] {
        let epochs = if p < 1e-5 { 8 } else { 40 };
        let mean = ClockedFlow::new("compound", &[], window).mean_window(p, epochs);
        assert_near(mean, window, 0.1, &format!("Compound at p = {p}"));
    }
}

/// Without a queue 0.125·10⁴^0.75 = 125 segments per round trip, of which Reno's one is part.
#[test]
fn without_a_queue_it_adds_an_eighth_of_a_power() {
    let mut flow = ClockedFlow::new("compound", &[], 10_000.0);
    flow.round();
    assert_near(flow.window() - 10_000.0, 125.0, 0.01, "a round trip at 10 000 segments");
    for (window, more) in [(37.0, 1.0 / 37.0), (38.0, 0.125 / sqrt(sqrt(38.0)))] {
        let mut flow = ClockedFlow::new("compound", &[], window);
        flow.ack();
        assert_near(flow.window() - window, more, 1e-9, "below 38 segments it is Reno");
    }
}

/// 29 segments in the queue: it goes on. 30 and more: the delay window loses them, once per round trip, until only
/// Reno's window is left, which has gained one segment in each round trip.
#[test]
fn thirty_segments_in_the_queue_end_its_growth() {
    let mut flow = ClockedFlow::new("compound", &[], 1000.0);
    let mut reno = 1000.0;
    while flow.window() < 2000.0 {
        flow.round();
        reno += 1.0;
    }
    let ends_round = |ack| Feedback { round_starts: true, acked: 0, ..ack };
    let mut queue = |segments: f64| {
        let before = flow.window();
        flow.queueing = Span::from_seconds_f64(0.1 * segments / (before - segments));
        flow.ack_with(ends_round);
        before - flow.window()
    };
    assert_eq!(queue(29.0), 0.0);
    assert_near(queue(31.0), 31.0, 1e-6, "what is queued");
    while queue(31.0) > 0.0 {}
    assert_near(flow.window(), reno, 0.001, "what is left is Reno's window");
    assert!(reno > 1030.0, "{reno}");
}

/// A flow of 1000 segments with a delay window of about half of that, and no queue.
fn with_a_delay_window() -> ClockedFlow {
    let mut flow = ClockedFlow::new("compound", &[], 500.0);
    while flow.window() < 1000.0 {
        flow.round();
    }
    flow
}

/// Section 6: while losses are repaired no decision falls, however long the queue is.
#[test]
fn nothing_is_decided_while_losses_are_repaired() {
    for (limited, falls) in [(Limited::Recovery, false), (Limited::Window, true)] {
        let mut flow = with_a_delay_window();
        flow.queueing = Span::from_millis(30);
        let before = flow.window();
        flow.ack_with(|ack| Feedback { round_starts: true, limited, acked: 0, ..ack });
        assert_eq!(flow.window() < before, falls, "{limited:?}: {before} to {}", flow.window());
    }
}

/// Section 3: after a time-out the base is measured anew, or a path that has become longer would be taken for a queue for
/// good.
#[test]
fn a_time_out_forgets_the_base() {
    let mut flow = with_a_delay_window();
    flow.queueing = Span::from_millis(60);
    flow.congestion(Cause::Timeout);
    while flow.window() < 1000.0 {
        flow.ack_with(|ack| Feedback { round_starts: true, ..ack });
        flow.round();
    }
    assert!(flow.variable("dwnd").expect("it is shown") > 100.0, "the longer path is the base");
}

/// The delay window of a flow of 10 000 segments after a round trip in which it has grown.
fn grown(beta: f64) -> ClockedFlow {
    let changes = [("beta", Setting::Number(beta))];
    let mut flow = ClockedFlow::new("compound", &changes, 10_000.0);
    flow.round();
    flow
}

fn dwnd(flow: &ClockedFlow) -> f64 {
    flow.variable("dwnd").expect("it is shown")
}

/// Section 3: a loss leaves (1 - β) of both windows together, of which half of Reno's share is Reno's. Of 10 125 with 124 in
/// the delay window and β = 1/2 that is half of these 124; with β = 1/8 it is what 5000 lack of 8859.
#[test]
fn the_delay_window_is_what_reno_lacks() {
    for beta in [0.5, 0.125] {
        let mut flow = grown(beta);
        let (window, delay) = (flow.window(), dwnd(&flow));
        assert_near(delay, 124.0, 0.01, "all but a segment");
        flow.lose();
        assert_near(flow.window(), (1.0 - beta) * window, 1e-9, "both");
        assert_near(dwnd(&flow), (1.0 - beta) * window - (window - delay) / 2.0, 1e-9, "dwnd");
    }
}

/// While more than 30 segments wait it grows as Reno does; below 38 segments, and after a time-out, there is no delay window.
#[test]
fn the_delay_window_waits_for_an_empty_queue() {
    let mut flow = grown(0.5);
    flow.queueing = Span::from_millis(1);
    // 100 of 10 100 segments wait.
    flow.ack_with(|ack| Feedback { acked: 0, round_starts: true, ..ack });
    let before = flow.window();
    flow.ack();
    assert_near((flow.window() - before) * before, 1.0, 1e-6, "Reno");
    // A time-out: the path is taken as it then is.
    let mut flow = grown(0.5);
    flow.congestion(Cause::Timeout);
    assert_eq!(dwnd(&flow), 0.0);
    // In a window of 40 it has grown; a loss at 38 leaves 19 and one, of which nothing is the delay window's, below 38 neither.
    let mut flow = ClockedFlow::new("compound", &[], 40.0);
    flow.round();
    flow.lose();
    assert!(dwnd(&flow) > 0.0, "{}", dwnd(&flow));
    flow.lose();
    assert_eq!(dwnd(&flow), 0.0);
}

/// Section 2: below `Low_Window`, 38 segments, it is Reno, to whom the whole window belongs. With β = 1/8 a loss at 40 leaves 35,
/// of which a good 15 are the delay window's; the next one leaves half of 35, not half of the other 20.
#[test]
fn a_loss_below_38_segments_takes_half_of_both_windows() {
    let mut flow = ClockedFlow::new("compound", &[("beta", Setting::Number(0.125))], 40.0);
    flow.ack();
    flow.lose();
    assert_near(flow.window(), 35.0, 0.01, "7/8 of 40");
    assert!(dwnd(&flow) > 15.0, "{}", dwnd(&flow));
    let window = flow.window();
    flow.lose();
    assert_near(flow.window(), window / 2.0, 1e-9, "Reno's half");
    assert_eq!(dwnd(&flow), 0.0);
}

/// A pause ends the memory of a queue too: 20 736^0.75/8 = 216 segments per round trip.
#[test]
fn another_window_begins_with_an_empty_queue() {
    let mut flow = grown(0.5);
    flow.queueing = Span::from_millis(1);
    flow.ack_with(|ack| Feedback { acked: 0, round_starts: true, ..ack });
    flow.adjust(20_736.0);
    flow.queueing = Span::ZERO;
    let before = flow.window();
    flow.ack();
    assert_near((flow.window() - before) * before, 216.0, 1e-6, "an eighth of the power");
}

/// Section 3: the delay window grows below γ = 30 segments in the queue, not at 30: half of a window of 60 where the
/// round trip has doubled.
#[test]
fn thirty_segments_are_not_below_thirty() {
    let mut flow = ClockedFlow::new("compound", &[], 60.0).with_rtt(Span::from_millis(500));
    flow.ack_with(|ack| Feedback { acked: 0, ..ack });
    flow.queueing = Span::from_millis(500);
    flow.ack_with(|ack| Feedback { acked: 0, round_starts: true, ..ack });
    flow.ack();
    assert_eq!((flow.window(), dwnd(&flow)), (60.0 + 1.0 / 60.0, 0.0));
}

/// max(α win^k - 1, 0): 10^0.75/8 = 0.70 is less than Reno's segment, and takes nothing from it.
#[test]
fn the_delay_window_does_not_slow_reno_down() {
    let low = [("low_window", Setting::Number(2.0))];
    let mut flow = ClockedFlow::new("compound", &low, 10.0);
    flow.ack();
    assert_eq!((flow.window(), dwnd(&flow)), (10.1, 0.0));
}
