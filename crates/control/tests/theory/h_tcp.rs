//! The paper and the draft of H-TCP.

use longfat_control::{Cause, Operating, Phase, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near, law, listed, operating};
use crate::synchronised::Bottleneck;

const HALVING: [(&str, Setting); 1] = [("adaptive_backoff", Setting::Flag(false))];

/// Seconds until the window reaches `goal`.
fn seconds_until(flow: &mut ClockedFlow, goal: f64) -> f64 {
    let from = flow.now;
    while flow.window() < goal {
        flow.slice(100);
    }
    flow.now.since(from).seconds()
}

/// 1 up to a second, then 1 + 10 (Δ - 1) + ((Δ - 1)/2)²; with the draft's equation (1), section 3, 0.5 (Δ - 1)².
#[test]
fn the_increase_grows_with_the_square_of_the_time() {
    let controller = listed("h-tcp");
    let settings = controller.defaults();
    let mut draft = settings.clone();
    draft.set("square", Setting::Number(0.5));
    for (seconds, increase, in_the_draft) in
        [(0, 1.0, 1.0), (1, 1.0, 1.0), (2, 11.25, 11.5), (5, 45.0, 49.0), (11, 126.0, 151.0)]
    {
        let at = Operating {
            rtt: Span::from_millis(200),
            since_event: Some(Span::from_seconds(seconds)),
            ..operating(10_000.0)
        };
        // Half of the round trip is queue: β = 1/2, and 2 (1 - β) = 1.
        for (settings, expected) in [(&settings, increase), (&draft, in_the_draft)] {
            let law = controller.law.as_ref().expect("a law")(settings);
            assert_near(law.gain(&at) * 10_000.0, expected, 1e-12, &format!("f({seconds} s)"));
        }
    }
}

/// Where nothing has been lost yet there is no throughput to compare with: a segment per round trip, and half at the first
/// loss, in the law as in the rule.
#[test]
fn before_the_first_event_the_law_is_reno() {
    let controller = listed("h-tcp");
    let law = controller.law.as_ref().expect("a law")(&controller.defaults());
    let at = Operating { since_event: None, ..operating(100.0) };
    assert_eq!(law.gain(&at), 0.01);
    assert_eq!(law.give_up(&at, Cause::Loss), 0.5);
}

/// With β = 1/2, 500 segments at 100 ms: 10 in the first second, then 10 τ + 50 τ² + (10/3) c τ³ = 490 at τ = 2.96 with
/// c = 1/4 and 2.90 with 1/2. Ten times the window tells them apart: 4990 at τ = 9.21 and 8.72.
#[test]
fn a_window_of_1000_is_back_after_4_seconds() {
    for (square, window, seconds) in [
        (0.25, 1000.0, 3.962),
        (0.5, 1000.0, 3.900),
        (0.25, 10_000.0, 10.215),
        (0.5, 10_000.0, 9.717),
    ] {
        let changes = [HALVING[0].clone(), ("square", Setting::Number(square))];
        let mut flow = ClockedFlow::new("h-tcp", &changes, window);
        flow.lose();
        assert_eq!(flow.window(), window / 2.0);
        let found = seconds_until(&mut flow, window);
        assert_near(found, seconds, 0.01, &format!("{window} segments with {square}"));
    }
}

/// The mean window that f gives at 100 ms and β = 1/2: an epoch of D seconds adds 10 (D + 5 (D-1)² + (D-1)³/12)
/// segments, half of its last window, and sends 1/p.
#[test]
fn the_mean_window_follows_from_the_increase() {
    for (p, window) in [(1e-3, 57.5), (1e-4, 323.4), (1e-5, 1707.7), (1e-6, 8651.0)] {
        let epochs = if p < 1e-5 { 12 } else { 40 };
        let mean = ClockedFlow::new("h-tcp", &HALVING, window).mean_window(p, epochs);
        assert_near(mean, window, 0.05, &format!("H-TCP at p = {p}"));
    }
}

/// Adaptive back-off keeps `RTT_min`/`RTT_max` between 0.5 and 0.8, once there is a throughput to compare with.
#[test]
fn it_keeps_the_ratio_of_the_round_trips() {
    for (millis, kept) in [(100, 0.8), (110, 0.8), (160, 0.625), (250, 0.5)] {
        let mut flow = ClockedFlow::new("h-tcp", &[], 1000.0);
        flow.lose();
        assert_eq!(flow.window(), 500.0, "the first loss has nothing to compare with");
        flow.queueing = Span::from_millis(millis - 100);
        flow.ack();
        flow.queueing = Span::ZERO;
        seconds_until(&mut flow, 1000.0);
        let before = flow.window();
        flow.lose();
        assert_near(flow.window() / before, kept, 1e-9, &format!("round trips to {millis} ms"));
    }
}

/// Throughput that has fallen by half asks for a half, whatever the round trips.
#[test]
fn a_change_of_throughput_halves() {
    let mut flow = ClockedFlow::new("h-tcp", &[], 1000.0);
    flow.lose();
    flow.lose();
    assert_eq!(flow.window(), 250.0);
}

/// Two flows that lose together, of 9000 and 1000 segments: additive increase that is the same for both, and a share
/// given up, leave a tenth of the difference after a few losses.
#[test]
fn synchronised_flows_converge_within_a_few_losses() {
    let mut link =
        Bottleneck::new(100_000.0).with("h-tcp", &[], 100, 9000.0).with("h-tcp", &[], 100, 1000.0);
    link.epochs(10);
    let windows = link.windows();
    let apart = windows[0] - windows[1];
    assert!(apart.abs() < 800.0, "still {apart} segments apart: {windows:?}");
}

/// A slow start that ends without a loss is followed by H-TCP's increase, not by Reno's.
#[test]
fn time_counts_from_the_end_of_slow_start() {
    let start = Start { threshold: Some(Segments(1000.0)), ..Start::default() };
    let mut flow = ClockedFlow::starting("h-tcp", &[], &start);
    seconds_until(&mut flow, 1000.0);
    assert_near(seconds_until(&mut flow, 1500.0), 3.963, 0.02, "500 segments more");
}

/// A flow of 100 segments that has given up half of a window of 100 on 100 ms, 1000 segments per second, and has it again
/// when the round trip is 123 ms: 813 per second. In between the round trip has once been 140 ms.
fn steady() -> ClockedFlow {
    let mut flow = ClockedFlow::new("h-tcp", &[], 100.0);
    flow.lose();
    assert_near(flow.window(), 50.0, 1e-9, "of the first loss nothing is known: half");
    while flow.window() < 100.0 {
        flow.ack();
    }
    flow.queueing = Span::from_millis(40);
    flow.ack();
    flow.queueing = Span::from_millis(23);
    flow
}

/// Section 2 of the draft: where the throughput has changed by no more than a fifth of the last one, `RTT_min/RTT_max` =
/// 100/140 of the window stay, and the increase is 2 (1 - β) times as much.
#[test]
fn a_steady_flow_keeps_what_empties_the_queue() {
    let mut flow = steady();
    let before = flow.window();
    flow.lose();
    assert_near(flow.window(), before / 1.4, 1e-9, "100 of 140 ms");
    let reduced = flow.window();
    flow.ack();
    assert_near(
        (flow.window() - reduced) * reduced,
        2.0 * (1.0 - 1.0 / 1.4),
        1e-9,
        "per round trip",
    );
    // The largest round trip is that since the last loss: 100 ms, and β is 0.8 at most.
    flow.queueing = Span::ZERO;
    while flow.window() < 75.0 {
        flow.ack();
    }
    let before = flow.window();
    flow.lose();
    assert_near(flow.window(), 0.8 * before, 1e-9, "no queue in between");
}

/// 100 segments are 1000 per second on 100 ms, 806 on 124 and 794 on 126: a fifth less is 800.
#[test]
fn a_throughput_that_has_changed_by_more_than_a_fifth_asks_for_half() {
    for (queueing, kept) in [(24, 1.0 / 1.4), (26, 0.5)] {
        let mut flow = steady();
        flow.queueing = Span::from_millis(queueing);
        let before = flow.window();
        assert_near(before, 100.0, 0.001, "the window");
        flow.lose();
        assert_near(flow.window(), kept * before, 1e-9, &format!("{queueing} ms of queue"));
    }
}

/// After a time-out nothing is known again, and Δ counts from there: 3 s after the loss before it adds no more than Reno.
#[test]
fn a_time_out_begins_anew() {
    let mut flow = steady();
    flow.lose();
    flow.now += Span::from_seconds(3);
    flow.congestion(Cause::Timeout);
    flow.queueing = Span::ZERO;
    while flow.window() < 80.0 {
        let before = flow.window();
        flow.ack();
        if before > 36.0 {
            assert_near((flow.window() - before) * before, 1.0, 1e-6, "beyond slow start");
        }
    }
    let before = flow.window();
    flow.lose();
    assert_near(
        flow.window(),
        before / 2.0,
        1e-9,
        "the throughput before the time-out is none of its",
    );
}

/// The draft, section 3: `Δ_L` is a second or more.
#[test]
fn a_second_is_allowed_and_less_is_not() {
    let controller = listed("h-tcp");
    for (millis, allowed) in [(999, false), (1000, true)] {
        let mut settings = controller.defaults();
        settings.set("delta_l", Setting::Span(Span::from_millis(millis)));
        assert_eq!((controller.check)(&settings).is_ok(), allowed, "{millis} ms");
    }
}

/// Adaptive back-off is for congestion avoidance, where an empty queue lets 0.8 stay. A loss in slow start halves (RFC
/// 5681).
#[test]
fn a_loss_in_slow_start_halves() {
    let law = law("h-tcp", &[]);
    for (phase, share) in [(Phase::CongestionAvoidance, 0.2), (Phase::SlowStart, 0.5)] {
        let since_event = Some(Span::from_seconds(10));
        let given_up =
            law.give_up(&Operating { phase, since_event, ..operating(100.0) }, Cause::Loss);
        assert_near(given_up, share, 1e-12, &format!("{phase:?}"));
    }
}
